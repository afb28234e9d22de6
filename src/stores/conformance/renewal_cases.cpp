// renew: a lease lives on, and nothing else changes.
#include "domain/decide.h"
#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;

Renewal renewal_of(const Record& held, Duration lease = Duration{0}) {
    Renewal r;
    r.id = held.header.id;
    r.fence = held.header.fence();
    r.lease = lease;
    return r;
}

TEST_P(Renewals, P19_a_stale_fence_is_not_held_and_writes_nothing) {
    submit();
    const Record first = claim_one();
    yield(first);
    const Record second = claim_one();
    const Sight before = look({{second.header.key()}, {}, {}});
    Renewal wrong_attempt = renewal_of(second, 1h);
    ++wrong_attempt.fence.attempt;
    Renewal wrong_epoch = renewal_of(second, 1h);
    wrong_epoch.fence.epoch = domain::Epoch{static_cast<std::int64_t>(second.header.epoch) + 1};
    Renewal late = renewal_of(first, 1h);
    late.progress = 0.5F;
    late.note = "I am still at it";
    const auto answers = ask(store().renew({wrong_attempt, wrong_epoch, late}));
    ASSERT_EQ(answers.size(), 3U);
    for (const Renewed& answer : answers) EXPECT_FALSE(answer.held);
    EXPECT_EQ(look({{second.header.key()}, {}, {}}), before);
}

TEST_P(Renewals, P19_a_task_that_is_not_held_is_not_renewed) {
    const Record queued = submit("queued");
    EXPECT_FALSE(renew(queued, 1h).held);
    submit("done");
    const Record held = claim_one("done");
    const Record done = complete(held);
    EXPECT_FALSE(renew(held, 1h).held);
    EXPECT_EQ(load(done.header.id), done);
    EXPECT_EQ(load(queued.header.id), queued);
    Record unknown = held;
    unknown.header.id = new_id();
    EXPECT_FALSE(renew(unknown, 1h).held);
}

TEST_P(Renewals, P19_one_answer_per_item_in_order) {
    submit();
    submit();
    const std::vector<Record> held = claim(asking("default", 2));
    Renewal stale = renewal_of(held[0]);
    ++stale.fence.attempt;
    const auto answers =
        ask(store().renew({renewal_of(held[1], 2h), stale, renewal_of(held[0], 3h)}));
    ASSERT_EQ(answers.size(), 3U);
    EXPECT_TRUE(answers[0].held);
    EXPECT_FALSE(answers[1].held);
    EXPECT_TRUE(answers[2].held);
    EXPECT_EQ(load(held[1].header.id).header.lease_until, answers[0].lease_until);
    EXPECT_EQ(load(held[0].header.id).header.lease_until, answers[2].lease_until);
    EXPECT_GT(answers[2].lease_until, answers[0].lease_until + 30min);
}

TEST_P(Renewals, P19_only_the_fence_counts_also_when_the_lease_has_ended) {
    submit();
    ClaimRequest request = asking("default");
    request.lease = moment();
    const Record held = claim(request).at(0);
    pass(2 * moment());
    EXPECT_TRUE(renew(held, 1h).held) << "nobody has taken it back yet";
    EXPECT_TRUE(due().empty());
}

TEST_P(Renewals, P20_the_lease_reaches_from_the_stores_clock_on) {
    submit();
    const Record held = claim_one();
    pass(moment());
    const Time before = now();
    const Renewed answer = renew(held, 2h);
    EXPECT_TRUE(answer.held);
    EXPECT_GE(answer.lease_until, before + 2h);
    EXPECT_LE(answer.lease_until, now() + 2h);
    Record expected = held;
    expected.header.lease_until = answer.lease_until;
    expected.header.wake_at = answer.lease_until;
    EXPECT_EQ(difference(load(held.header.id), expected), "") << "stored; expected";
}

TEST_P(Renewals, P20_a_renewal_that_names_no_lease_gives_as_much_as_the_claim_was_given) {
    domain::Submission own = new_task("own");
    own.lease = 2h;
    submit(own);
    submit(own);
    submit("usual");
    const Record by_task = claim_one("own");
    ClaimRequest request = asking("own");
    request.lease = 3h;
    const Record by_request = claim(request).at(0);
    const Record by_default = claim_one("usual");
    pass(moment());
    const auto expect = [&](const Record& held, Duration lease) {
        const Time before = now();
        const Time until = renew(held, Duration{0}).lease_until;
        EXPECT_GE(until, before + lease);
        EXPECT_LE(until, now() + lease);
    };
    expect(by_task, 2h);
    expect(by_request, 3h);
    expect(by_default, domain::kDefaultLease);
}

TEST_P(Renewals, P20_the_timer_follows_the_lease) {
    submit();
    ClaimRequest request = asking("default");
    request.lease = 2 * moment();
    const Record held = claim(request).at(0);
    pass(moment());
    renew(held, 3 * moment());
    pass(2 * moment());
    EXPECT_TRUE(due().empty()) << "the old end of the lease";
    pass(moment() + moment() / 2);
    EXPECT_EQ(due_ids(), std::vector{held.header.id});
}

TEST_P(Renewals, P20_a_deadline_before_the_end_of_the_lease_stays_the_timer) {
    domain::Submission s = new_task();
    s.policy.timeout = 2 * moment();
    submit(s);
    const Record held = claim_one();
    ASSERT_TRUE(renew(held, 24h).held);
    EXPECT_EQ(load(held.header.id).header.wake_at, held.header.deadline);
    pass(2 * moment() + moment() / 2);
    EXPECT_EQ(due_ids(), std::vector{held.header.id});
}

TEST_P(Renewals, P20_no_version_no_history_and_no_feed) {
    HOLDFAST_NEEDS(Ability::history, Ability::feed);
    submit();
    const Record held = claim_one();
    const auto rows = history(held.header.key());
    const auto events = whole_feed();
    ASSERT_TRUE(renew(held, 1h).held);
    EXPECT_EQ(load(held.header.id).header.version, held.header.version);
    EXPECT_EQ(history(held.header.key()), rows);
    EXPECT_EQ(whole_feed(), events);
    EXPECT_EQ(complete(held).header.state, State::succeeded)
        << "what was decided before the renewal is no conflict";
}

TEST_P(Renewals, P20_progress_and_note_are_kept_and_stay_unless_given) {
    submit();
    const Record held = claim_one();
    Renewal told = renewal_of(held);
    told.progress = 0.25F;
    told.note = "a quarter";
    ask(store().renew({told}));
    EXPECT_EQ(load(held.header.id).header.progress, 0.25F);
    EXPECT_EQ(load(held.header.id).header.note, "a quarter");
    Renewal silent = renewal_of(held);
    ask(store().renew({silent}));
    EXPECT_EQ(load(held.header.id).header.progress, 0.25F);
    EXPECT_EQ(load(held.header.id).header.note, "a quarter");
    silent.note = "";
    ask(store().renew({silent}));
    EXPECT_EQ(load(held.header.id).header.note, "") << "given, and empty";
}

TEST_P(Renewals, P20_it_tells_the_holder_what_is_asked_of_it) {
    for (const char* queue : {"cancel", "pause", "none"}) submit(queue);
    const Record cancelled = step(claim_one("cancel"), domain::Cancel{});
    const Record paused = step(claim_one("pause"), domain::Pause{});
    const Renewed to_cancel = renew(cancelled, Duration{0});
    EXPECT_TRUE(to_cancel.held && to_cancel.cancel_requested && !to_cancel.pause_requested);
    const Renewed to_pause = renew(paused, Duration{0});
    EXPECT_TRUE(to_pause.held && to_pause.pause_requested && !to_pause.cancel_requested);
    const Renewed nothing = renew(claim_one("none"), Duration{0});
    EXPECT_TRUE(nothing.held && !nothing.cancel_requested && !nothing.pause_requested);
}

TEST_P(Renewals, P21_a_lease_is_never_made_shorter) {
    submit();
    ClaimRequest request = asking("default");
    request.lease = 2h;
    const Record held = claim(request).at(0);
    const Renewed answer = renew(held, 1s);
    EXPECT_TRUE(answer.held);
    EXPECT_EQ(answer.lease_until, held.header.lease_until);
    EXPECT_EQ(load(held.header.id), held);
}

// ---- a put that was decided before a renewal ----

TEST_P(Renewals, P34_a_put_decided_before_a_renewal_does_not_undo_it) {
    submit();
    ClaimRequest request = asking("default");
    request.lease = 2 * moment();
    const Record held = claim(request).at(0);
    const Change stale = decided(held, domain::Pause{});
    Renewal told = renewal_of(held, 1h);
    told.progress = 0.5F;
    told.note = "half";
    const Time until = ask(store().renew({told})).at(0).lease_until;
    const Record after = apply(stale);
    Header expected = stale.puts[0].header;
    expected.nonce = after.header.nonce;
    expected.lease_until = expected.wake_at = until;
    expected.progress = 0.5F;
    expected.note = "half";
    EXPECT_EQ(difference(after.header, expected), "") << "stored; expected";
    pass(3 * moment());
    EXPECT_TRUE(due().empty()) << "the timer went back to the old lease";
    EXPECT_TRUE(renew(held, Duration{0}).pause_requested);
}

TEST_P(Renewals, P34_a_put_with_a_later_lease_is_taken_as_it_is) {
    submit();
    const Record held = claim_one();
    Header longer = held.header;
    longer.lease_until = longer.wake_at = held.header.lease_until + 1h;
    EXPECT_EQ(apply(rewrite(longer)).header.lease_until, longer.lease_until);
}

TEST_P(Renewals, P34_a_put_that_ends_the_attempt_ends_the_lease) {
    submit("done");
    submit("again");
    const Record done = claim_one("done");
    const Record again = claim_one("again");
    const Change completion = decided(done, domain::Complete{done.header.fence(), {}});
    const Change yielding =
        decided(again, domain::Yield{again.header.fence(), std::nullopt, false});
    ASSERT_TRUE(renew(done, 1h).held);
    ASSERT_TRUE(renew(again, 1h).held);
    const Record finished = apply(completion);
    EXPECT_FALSE(is_set(finished.header.lease_until));
    EXPECT_FALSE(is_set(finished.header.wake_at));
    EXPECT_EQ(finished.header.progress, 1);
    apply(yielding);
    // Another claim is another fence: its lease owes nothing to the old one.
    ClaimRequest request = asking("again");
    request.lease = moment();
    const Header second = claim(request).at(0).header;
    EXPECT_EQ(second.lease_until - second.updated_at, moment());
}

}  // namespace
}  // namespace holdfast::stores::conformance
