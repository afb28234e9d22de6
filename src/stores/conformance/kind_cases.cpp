// Records that are no tasks, and ids that are derived: what plans, schedules, accounts, deliveries
// and cursors will be made of.
#include "domain/decide.h"
#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;
using domain::Kind;

constexpr std::array kOthers{Kind::plan,     Kind::schedule, Kind::account,
                             Kind::delivery, Kind::cursor,   Kind::queue,
                             Kind::bulk,     Kind::series,   Kind::audit};

TEST_P(OtherKinds, P1_a_record_of_any_kind_is_made_changed_and_guarded_like_a_task) {
    for (const Kind kind : kOthers) {
        SCOPED_TRACE(domain::to_string(kind));
        const Change creation = make_record(kind, new_id(), now());
        const Record first = apply(creation);
        EXPECT_EQ(first.header.kind, kind);
        EXPECT_EQ(first.body, *creation.puts[0].body);
        EXPECT_EQ(verdict(creation), Verdict::conflict);
        Header header = first.header;
        header.note = "changed";
        const Record second = apply(rewrite(header));
        EXPECT_EQ(second.header.version, 2U);
        EXPECT_EQ(second.header.note, "changed");
        EXPECT_EQ(second.body, first.body);
        EXPECT_EQ(verdict(rewrite(first.header)), Verdict::conflict);
    }
}

TEST_P(OtherKinds, P22_one_id_may_name_a_record_of_each_kind) {
    const Uuid id = new_id();
    for (const Kind kind : kOthers) apply(make_record(kind, id, now()));
    apply(domain::decide_submit(new_task(), id, now()));
    for (const Kind kind : kOthers)
        EXPECT_EQ(find({kind, id})->body, Bytes("a " + std::string(domain::to_string(kind))));
    EXPECT_EQ(load(id).header.state, State::queued);
}

TEST_P(OtherKinds, P4_P23_their_timers_ring_like_those_of_tasks) {
    std::vector<Uuid> ids;
    for (const Kind kind : kOthers) {
        Change change = make_record(kind, new_id(), now());
        only_put(change).header.wake_at = now() + moment() * static_cast<int>(ids.size() + 1) / 16;
        ids.push_back(apply(change).header.id);
    }
    pass(moment());
    EXPECT_EQ(due_ids(), ids);
    EXPECT_TRUE(due().empty());
    // The next firing is another put with another moment.
    Header next = find({kOthers[0], ids[0]})->header;
    next.wake_at = now() + 2 * moment();
    apply(rewrite(next));
    pass(kDuePush + moment() / 2);
    std::vector<Uuid> again = due_ids();
    std::erase(again, ids[0]);  // moment() may be longer than the push
    EXPECT_EQ(again, std::vector(ids.begin() + 1, ids.end()));
}

TEST_P(OtherKinds, P3_P11_they_are_in_no_lane_and_in_no_count_of_a_queue) {
    for (const Kind kind : kOthers) {
        Change change = make_record(kind, new_id(), now());
        only_put(change).header.queue = "default";
        only_put(change).header.type = "work";
        only_put(change).header.state = State::queued;  // only a task's state has a place
        apply(change);
    }
    EXPECT_TRUE(claim(asking("default", 10)).empty());
    submit();
    if (can(Ability::stats))
        EXPECT_EQ(counts(), (Counted{{{"default", "work", State::queued}, 1}}));
    EXPECT_EQ(claim(asking("default", 10)).size(), 1U);
}

TEST_P(OtherKinds, P25_each_kind_is_listed_for_itself) {
    HOLDFAST_NEEDS(Ability::list);
    submit();
    for (const Kind kind : kOthers) apply(make_record(kind, new_id(), now()));
    for (const Kind kind : kOthers) {
        Filter filter;
        filter.kind = kind;
        const auto rows = list_all(filter);
        ASSERT_EQ(rows.size(), 1U) << domain::to_string(kind);
        EXPECT_EQ(rows[0].header.kind, kind);
    }
    EXPECT_EQ(list_all().size(), 1U);
}

TEST_P(OtherKinds, P10_P27_P29_they_have_history_and_feed) {
    HOLDFAST_NEEDS(Ability::history, Ability::feed);
    const Change creation = make_record(Kind::plan, new_id(), now());
    const Record plan = apply(creation);
    const Change change = rewrite(plan.header);
    apply(change);
    EXPECT_EQ(history(plan.header.key()),
              (std::vector{creation.puts[0].transition, change.puts[0].transition}));
    const auto events = feed_of(plan.header.key());
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1], event_of(change.puts[0].header, change.puts[0].transition));
}

TEST_P(OtherKinds, P4_P6_an_erased_record_ends_with_its_timer_and_its_logs) {
    Change creation = make_record(Kind::delivery, new_id(), now());
    const Key key = only_put(creation).header.key();
    only_put(creation).header.wake_at = now() + moment();
    creation.appends.push_back({"attempts", key.id, "1", Bytes("x"), {}});
    const Record record = apply(creation);
    Change erasure = rewrite(record.header);
    only_put(erasure).erase = true;
    ASSERT_EQ(verdict(erasure), Verdict::committed);
    EXPECT_FALSE(find(key));
    if (can(Ability::logs)) EXPECT_TRUE(log("attempts", key.id).empty());
    if (can(Ability::feed)) EXPECT_EQ(feed_of(key).size(), 2U) << "its end is news too";
    EXPECT_EQ(verdict(rewrite(record.header)), Verdict::conflict) << "it is no more";
    pass(2 * moment());
    EXPECT_TRUE(due().empty());
    only_put(creation).header.wake_at = kNoTime;
    EXPECT_TRUE(commit(creation).skipped.empty()) << "made again, its log is empty";
    EXPECT_TRUE(find(key));
}

TEST_P(OtherKinds, P1_erasing_is_guarded_by_the_version) {
    const Record first = apply(make_record(Kind::plan, new_id(), now()));
    apply(rewrite(first.header));
    Change erasure = rewrite(first.header);
    only_put(erasure).erase = true;
    EXPECT_EQ(verdict(erasure), Verdict::conflict);
    EXPECT_TRUE(find(first.header.key()));
}

TEST_P(OtherKinds, P3_an_erased_task_leaves_its_lane) {
    const Record task = submit();
    Change erasure = rewrite(task.header);
    only_put(erasure).erase = true;
    ASSERT_EQ(verdict(erasure), Verdict::committed);
    EXPECT_TRUE(claim(asking("default")).empty());
    if (can(Ability::list)) EXPECT_TRUE(list_all().empty());
    if (can(Ability::stats)) EXPECT_TRUE(counts().empty());
}

TEST_P(OtherKinds, P8_a_key_may_name_a_record_of_any_kind) {
    HOLDFAST_NEEDS(Ability::bindings);
    for (const Kind kind : {Kind::plan, Kind::schedule}) {
        SCOPED_TRACE(domain::to_string(kind));
        const auto bound = [&] {
            Change change = make_record(kind, new_id(), now());
            change.binds.push_back({std::string(domain::to_string(kind)), "key",
                                    only_put(change).header.id, sha256("x"), 1h});
            return change;
        };
        const Record first = apply(bound());
        const Outcome rival = commit(bound());
        EXPECT_EQ(rival.verdict, Verdict::duplicate);
        EXPECT_EQ(rival.bound_to, first.header.id);
        Change erasure = rewrite(first.header);
        only_put(erasure).erase = true;
        ASSERT_EQ(verdict(erasure), Verdict::committed);
        EXPECT_EQ(verdict(bound()), Verdict::committed) << "free again";
    }
}

TEST_P(OtherKinds, P7_a_payment_is_one_step_with_what_it_pays_for) {
    HOLDFAST_NEEDS(Ability::counters, Ability::logs);
    const Record account = apply(make_record(Kind::account, Uuid::named(kHome, "acme"), now()));
    const auto pay = [&](Change change, std::int64_t price) {
        change.adds.push_back({"credits:acme", -price, 0, std::nullopt});
        change.appends.push_back({"ledger", account.header.id,
                                  change.puts.at(0).header.id.text() + "/reserve",
                                  Bytes(std::to_string(price)), domain::Append::Existing::refuse});
        return change;
    };
    Change deposit;
    deposit.partition = kHome;
    deposit.adds.push_back({"credits:acme", 10, std::nullopt, std::nullopt});
    ASSERT_EQ(verdict(deposit), Verdict::committed);
    EXPECT_EQ(verdict(pay(decided(new_task()), 7)), Verdict::committed);
    const Change too_dear = pay(decided(new_task()), 7);
    EXPECT_EQ(verdict(too_dear), Verdict::refused);
    EXPECT_FALSE(find(too_dear.puts[0].header.key()));
    EXPECT_EQ(tally(Tally::Of::counter, "credits:acme"), 3);
    EXPECT_EQ(log("ledger", account.header.id).size(), 1U);
}

TEST_P(OtherKinds, P14_a_plan_and_its_children_by_derived_ids_are_one_change_and_never_made_twice) {
    constexpr int kChildren = 100;
    const Uuid plan = new_id();
    Change change = make_record(Kind::plan, plan, now());
    for (int i = 0; i < kChildren; ++i) {
        const Uuid child = Uuid::derived(plan, std::to_string(i));
        change.puts.push_back(domain::decide_submit(new_task(), child, now()).puts[0]);
    }
    ASSERT_EQ(verdict(change), Verdict::committed);
    EXPECT_EQ(verdict(change), Verdict::conflict) << "replayed";
    // A replay by somebody who made another plan of the same children.
    Change other = change;
    other.puts[0] = make_record(Kind::plan, new_id(), now()).puts[0];
    EXPECT_EQ(verdict(other), Verdict::conflict);
    const std::vector<Record> claimed = claim(asking("default", 2 * kChildren));
    ASSERT_EQ(claimed.size(), std::size_t{kChildren});
    EXPECT_EQ(claimed[7].header.id, Uuid::derived(plan, "7"));
    if (can(Ability::stats))
        EXPECT_EQ((counts()[{"default", "work", State::running}]), std::uint64_t{kChildren});
}

}  // namespace
}  // namespace holdfast::stores::conformance
