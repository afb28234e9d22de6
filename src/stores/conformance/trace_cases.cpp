// commit: what a refused Change leaves (nothing) and what a committed one writes (everything).
#include "domain/decide.h"
#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;

/// What stands in the way of a Change: one of each thing it can fail on.
struct Ground {
    Record paused;
    Record stale;  ///< As it was before `paused`.
    Uuid elsewhere;
};

constexpr std::string_view kScope = "scope";

/// One of everything, and nothing in it to object to.
Change full_change(const Header& fresh, const Ground& ground) {
    Change change = rewrite(fresh);
    change.puts.push_back(rewrite(ground.paused.header).puts[0]);
    change.puts[1].header.note = "touched";
    const Uuid& id = fresh.id;
    change.appends.push_back({"ledger", ground.paused.header.id, "new row", Bytes("x"), {}});
    change.adds.push_back({"credits", -1, 0, std::nullopt});
    change.binds.push_back({std::string(kScope), "free", id, sha256("free"), 1h});
    change.permits.push_back({domain::Permit::Act::acquire, "desk", id, domain::Epoch{1}, 1, 1h});
    change.notes.push_back({fresh.key(), "noticed", Bytes("{}")});
    return change;
}

struct Spoiler {
    std::string what;
    Verdict verdict;
    std::string reason;  ///< Empty: none is promised.
    std::function<void(Change&, const Ground&)> spoil;
};

std::vector<Spoiler> spoilers() {
    using domain::Append;
    using domain::Permit;
    return {
        {"a stale put", Verdict::conflict, "",
         [](Change& c, const Ground& g) {
             c.puts[1].expected_version = g.stale.header.version;
             c.puts[1].header.version = g.stale.header.version + 1;
         }},
        {"a put in another partition", Verdict::refused, "",
         [](Change& c, const Ground& g) {
             Header h = c.puts[0].header;
             h.id = g.elsewhere;
             h.version = 0;
             c.puts.push_back(rewrite(h).puts[0]);
         }},
        {"a binding that is taken", Verdict::duplicate, "",
         [](Change& c, const Ground&) {
             c.binds.push_back(
                 {std::string(kScope), "taken", c.puts[0].header.id, sha256("mine"), 1h});
         }},
        {"an append that may not repeat", Verdict::duplicate, "ledger",
         [](Change& c, const Ground& g) {
             c.appends.push_back({"ledger", g.paused.header.id, "old row", Bytes("again"),
                                  Append::Existing::refuse});
         }},
        {"a counter below its bound", Verdict::refused, "credits",
         [](Change& c, const Ground&) { c.adds.push_back({"credits", -100, 0, std::nullopt}); }},
        {"a permit that is not to be had", Verdict::refused, "seat",
         [](Change& c, const Ground&) {
             c.permits.push_back(
                 {Permit::Act::acquire, "seat", c.puts[0].header.id, domain::Epoch{1}, 1, 1h});
         }},
    };
}

/// The change that makes the ground on which each spoiler fails.
Change groundwork(Change change) {
    const Uuid id = change.puts.at(0).header.id;
    change.appends.push_back({"ledger", id, "old row", Bytes("y"), {}});
    change.adds.push_back({"credits", 5, std::nullopt, std::nullopt});
    change.binds.push_back({std::string(kScope), "taken", id, sha256("first"), 1h});
    change.permits.push_back({domain::Permit::Act::acquire, "seat", id, domain::Epoch{1}, 1, 1h});
    return change;
}

TEST_P(Commit, P2_every_way_to_be_refused_leaves_no_trace) {
    HOLDFAST_NEEDS(Ability::logs, Ability::counters, Ability::bindings, Ability::permits,
                   Ability::feed, Ability::history, Ability::list, Ability::stats);
    const Record stale = apply(groundwork(decided(new_task("old"))));
    const Ground ground{step(stale, domain::Pause{}), stale, new_id(kElsewhere)};
    Header fresh = decided(new_task("fresh")).puts[0].header;
    fresh.version = 0;
    fresh.wake_at = fresh.deadline = now() + moment() / 2;
    const Key key = ground.paused.header.key();
    using Of = Tally::Of;
    const Look all{{key, fresh.key(), {domain::Kind::task, ground.elsewhere}},
                   {{"ledger", key.id}},
                   {{Of::counter, kHome, "credits"},
                    {Of::permit, kHome, "seat"},
                    {Of::permit, kHome, "desk"}}};
    const Sight before = look(all);
    for (const Spoiler& spoiler : spoilers()) {
        SCOPED_TRACE(spoiler.what);
        Change change = full_change(fresh, ground);
        spoiler.spoil(change, ground);
        const Outcome outcome = commit(change);
        EXPECT_EQ(outcome.verdict, spoiler.verdict);
        if (!spoiler.reason.empty()) EXPECT_EQ(outcome.reason, spoiler.reason);
        EXPECT_EQ(look(all), before);
        EXPECT_TRUE(claim(asking("fresh")).empty()) << "it is in a lane";
    }
    pass(moment());
    EXPECT_TRUE(due().empty()) << "a timer was left";
    // Whatever it wanted is still to be had: nothing was bound, taken or appended in secret.
    const Outcome outcome = commit(full_change(fresh, ground));
    EXPECT_EQ(outcome.verdict, Verdict::committed);
    EXPECT_TRUE(outcome.skipped.empty());
}

TEST_P(Commit, P10_every_put_writes_its_transition_to_history_and_feed) {
    HOLDFAST_NEEDS(Ability::history, Ability::feed);
    const Change creation = decided(new_task());
    const Record task = apply(creation);
    Change change = decided(task, domain::Cancel{{"ann", "no longer needed"}});
    only_put(change).transition.error = Bytes(R"({"kind":"crash"})");
    apply(change);
    const std::vector<domain::Transition> rows{creation.puts[0].transition,
                                               only_put(change).transition};
    EXPECT_EQ(history(task.header.key()), rows);
    const std::vector<domain::FeedEvent> events{event_of(creation.puts[0].header, rows[0]),
                                                event_of(only_put(change).header, rows[1])};
    EXPECT_EQ(feed_of(task.header.key()), events);
}

TEST_P(Commit, P10_a_step_without_audit_is_in_the_feed_and_not_in_the_history) {
    HOLDFAST_NEEDS(Ability::history, Ability::feed);
    const Record task = submit();
    Change poll = decided(task, domain::Signal{"poll", {}});
    only_put(poll).audit = false;
    apply(poll);
    EXPECT_EQ(history(task.header.key()).size(), 1U);
    const auto events = feed_of(task.header.key());
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1], event_of(only_put(poll).header, only_put(poll).transition));
}

TEST_P(Commit, P10_every_note_is_in_the_feed) {
    HOLDFAST_NEEDS(Ability::feed);
    Change change = decided(new_task());
    const Key subject = only_put(change).header.key();
    change.notes.push_back({subject, "node_joined", Bytes("one")});
    change.notes.push_back({{domain::Kind::queue, new_id()}, "queue_paused", Bytes("two")});
    const Time before = now();
    apply(change);
    Change alone;  // a Change may consist of nothing else
    alone.partition = kHome;
    alone.notes.push_back({subject, "node_left", Bytes()});
    ASSERT_EQ(verdict(alone), Verdict::committed);
    std::map<std::string, domain::FeedEvent> notes;
    for (const domain::FeedEvent& event : whole_feed()) notes[event.name] = event;
    EXPECT_EQ(notes.size(), 4U);  // with "submitted"
    EXPECT_EQ(notes["node_joined"].subject, subject);
    EXPECT_EQ(notes["node_joined"].data, Bytes("one"));
    EXPECT_EQ(notes["queue_paused"].subject, change.notes[1].subject);
    EXPECT_EQ(notes["queue_paused"].data, Bytes("two"));
    EXPECT_EQ(notes["node_left"].subject, subject);
    EXPECT_GE(notes["node_left"].at, before);
    EXPECT_LE(notes["node_left"].at, now());
}

TEST_P(Commit, P12_what_was_committed_is_to_be_seen_and_its_durability_has_a_name) {
    const Change creation = decided(new_task());
    ASSERT_EQ(verdict(creation), Verdict::committed);
    const Record seen = load(creation.puts[0].header.id);
    Header expected = creation.puts[0].header;
    expected.nonce = seen.header.nonce;
    EXPECT_EQ(difference(seen.header, expected), "");
    EXPECT_EQ(seen.body, *creation.puts[0].body);
    EXPECT_FALSE(store().durability().empty());
}

TEST_P(Commit, P12_every_field_of_a_header_comes_back_as_it_was_written) {
    const Header old = submit().header;
    Header h = old;
    h.state = State::waiting;
    h.priority = 0;
    h.ended_by = domain::Event::cancel_requested;
    h.pause_requested = h.cancel_requested = h.until_signal = h.signal_pending = true;
    h.lane_by_type = h.holds_gate = h.holds_queue_permit = true;
    h.retry_count = h.crashes = h.revision = h.checkpoints = h.signals = UINT16_MAX;
    h.attempt = h.gate_limit = UINT32_MAX;
    h.progress = 0.375F;
    h.fingerprint = UINT64_MAX;
    h.epoch = domain::Epoch{(std::int64_t{1} << 52) + 1};
    h.lease = 24h + 1us;
    h.lease_granted = 23h + 1us;
    h.created_at += 1us;
    h.updated_at += 2us;
    h.started_at = h.created_at + 3us;
    h.finished_at = h.created_at + 4us;
    h.run_at = h.created_at + 3650 * 24h + 5us;
    h.due_at = h.deadline = h.lease_until = h.wake_at = h.run_at + 6us;
    h.queue = std::string(64, 'q');
    h.type = std::string(64, 't');
    h.tenant = std::string(64, 'n');
    h.gate = "gate:with;odd|characters{} \"'\\";
    h.worker = std::string(128, 'w');
    h.labels = "\nk=a=b,c\nz=\xE2\x82\xAC\n";
    h.note = std::string("zero\0byte, \xF0\x9F\x8C\x8A\r\n\xff", 18);
    Change change = rewrite(h, old);
    change.nonce = UINT64_MAX;
    Header expected = only_put(change).header;
    expected.nonce = UINT64_MAX;
    EXPECT_EQ(difference(apply(change).header, expected), "");
}

TEST_P(Commit, P12_what_was_committed_is_there_when_the_store_is_opened_again) {
    HOLDFAST_NEEDS(Ability::reopen);
    const Record queued = submit("queued");
    submit("done");
    submit("held");
    const Record done = complete(claim_one("done"));
    const Record held = claim_one("held");
    domain::Submission later = new_task("later");
    later.delay = moment();
    const Record waiting = submit(later);
    const Look all{{queued.header.key(), done.header.key(), waiting.header.key()}, {}, {}};
    const Sight before = look(all);
    fixture().reopen();
    const Sight after = look(all);
    EXPECT_EQ(after.records, before.records);
    EXPECT_EQ(after.histories, before.histories);
    EXPECT_EQ(after.feed, before.feed);
    EXPECT_EQ(after.counts, before.counts);
    const Record still_held = load(held.header.id);
    EXPECT_EQ(still_held.header.fence(), held.header.fence());
    EXPECT_GE(still_held.header.lease_until, held.header.lease_until);
    EXPECT_EQ(complete(still_held).header.state, State::succeeded);
    EXPECT_EQ(claim_one("queued").header.id, queued.header.id);
    pass(2 * moment());
    EXPECT_EQ(due_ids(), std::vector{waiting.header.id});
}

TEST_P(Commit, P12_logs_counters_bindings_and_permits_are_there_when_it_is_opened_again) {
    HOLDFAST_NEEDS(Ability::reopen, Ability::logs, Ability::counters, Ability::bindings,
                   Ability::permits);
    const Record task = apply(groundwork(decided(new_task())));
    const Look all{{task.header.key()},
                   {{"ledger", task.header.id}},
                   {{Tally::Of::counter, kHome, "credits"}, {Tally::Of::permit, kHome, "seat"}}};
    const Sight before = look(all);
    fixture().reopen();
    EXPECT_EQ(look(all), before);
    Change rival = decided(new_task());
    rival.binds.push_back({std::string(kScope), "taken", rival.puts[0].header.id, {}, 1h});
    const Outcome outcome = commit(rival);
    EXPECT_EQ(outcome.verdict, Verdict::duplicate);
    EXPECT_EQ(outcome.bound_to, task.header.id);
    EXPECT_EQ(outcome.bound_hash, sha256("first"));
}

TEST_P(Commit, P13_the_nonce_is_in_every_record_that_was_put) {
    Change change = decided(new_task("a"));
    change.puts.push_back(decided(new_task("b")).puts[0]);
    change.puts[0].header.nonce = 12345;  // whatever stood there before
    change.nonce = 0xfedc'ba98'7654'3210U;
    ASSERT_EQ(verdict(change), Verdict::committed);
    for (const domain::Put& put : change.puts)
        EXPECT_EQ(load(put.header.id).header.nonce, change.nonce);
}

TEST_P(Commit, P14_a_put_outside_the_partition_of_its_change_is_refused) {
    Change one = decided(new_task());
    one.partition = kElsewhere;
    EXPECT_EQ(verdict(one), Verdict::refused);
    Change two = decided(new_task());
    Header stranger = two.puts[0].header;
    stranger.id = new_id(kElsewhere);
    stranger.version = 0;
    two.puts.push_back(rewrite(stranger).puts[0]);
    EXPECT_EQ(verdict(two), Verdict::refused);
    EXPECT_FALSE(find(two.puts[0].header.key()));
    EXPECT_FALSE(find(two.puts[1].header.key()));
    EXPECT_TRUE(claim(asking("default", 10)).empty());
}

TEST_P(Commit, P14_changes_of_one_call_may_be_of_several_partitions) {
    std::vector<Change> changes;
    for (std::uint16_t p = 0; p < kPartitions; p += 585)
        changes.push_back(domain::decide_submit(new_task(), new_id(Partition{p}), now()));
    for (const Outcome& outcome : commit_all(changes))
        EXPECT_EQ(outcome.verdict, Verdict::committed);
    for (const Change& change : changes)
        EXPECT_TRUE(find(change.puts[0].header.key())) << static_cast<int>(change.partition);
}

}  // namespace
}  // namespace holdfast::stores::conformance
