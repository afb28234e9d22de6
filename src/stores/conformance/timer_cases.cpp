// load, due and the clock.
#include "domain/decide.h"
#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;

TEST_P(Loads, P22_one_answer_per_key_in_order_and_none_for_what_does_not_exist) {
    const Record a = submit("a");
    const Record b = submit("b");
    const Key nowhere{domain::Kind::task, new_id()};
    const Key no_plan{domain::Kind::plan, a.header.id};
    const auto records =
        ask(store().load({b.header.key(), nowhere, a.header.key(), b.header.key(), no_plan}));
    ASSERT_EQ(records.size(), 5U);
    EXPECT_EQ(records[0], b);
    EXPECT_FALSE(records[1]);
    EXPECT_EQ(records[2], a);
    EXPECT_EQ(records[3], b);
    EXPECT_FALSE(records[4]) << "an id is one of a kind";
    EXPECT_TRUE(ask(store().load({})).empty());
}

domain::Submission delayed(Duration by) {
    domain::Submission s = new_task();
    s.delay = by;
    return s;
}

TEST_P(Timers, P23_what_is_due_is_handed_out_once_and_again_after_the_push) {
    const Uuid id = submit(delayed(moment())).header.id;
    pass(moment() + moment() / 2);
    EXPECT_EQ(due_ids(), std::vector{id});
    EXPECT_TRUE(due().empty()) << "another caller does not see it";
    pass(kDuePush - 1s);
    EXPECT_TRUE(due().empty()) << "not yet";
    pass(1s + moment());
    EXPECT_EQ(due_ids(), std::vector{id}) << "whoever had it has died";
}

TEST_P(Timers, P23_the_push_is_to_be_seen_and_tells_the_time_of_the_call) {
    submit(delayed(moment()));
    pass(moment() + moment() / 2);
    const Time before = now();
    const Record rung = due().at(0);
    EXPECT_GE(rung.header.wake_at - kDuePush, before);
    EXPECT_LE(rung.header.wake_at - kDuePush, now());
    EXPECT_EQ(difference(load(rung.header.id), rung), "");
    if (can(Ability::list)) EXPECT_EQ(difference(list_all().at(0).header, rung.header), "");
}

TEST_P(Timers, P23_the_push_is_no_step_of_the_record) {
    submit(delayed(moment()));
    pass(moment() + moment() / 2);
    const Record rung = due().at(0);
    EXPECT_EQ(load(rung.header.id).header.version, rung.header.version);
    if (can(Ability::history)) EXPECT_EQ(history(rung.header.key()).size(), 1U);
    const Record woken = step(rung, domain::Tick{});
    EXPECT_EQ(woken.header.state, State::queued);
    EXPECT_EQ(claim_ids(asking("default")), std::vector{rung.header.id});
}

TEST_P(Timers, P23_a_step_of_the_record_ends_the_push) {
    const Record task = submit(delayed(moment()));
    pass(moment() + moment() / 2);
    const Record rung = due().at(0);
    const Record queued = step(rung, domain::Tick{});
    EXPECT_FALSE(is_set(queued.header.wake_at));
    pass(kDuePush + moment());
    EXPECT_TRUE(due().empty()) << "it has no timer any more";
    ASSERT_EQ(load(task.header.id), queued);
}

TEST_P(Timers, P23_earliest_first_and_no_more_than_asked_for) {
    std::vector<Uuid> ids(6);
    for (const int n : {4, 1, 6, 3, 5, 2})
        ids[static_cast<std::size_t>(n - 1)] = submit(delayed(n * moment() / 8)).header.id;
    pass(moment());
    EXPECT_EQ(due_ids(2), (std::vector{ids[0], ids[1]}));
    EXPECT_EQ(due_ids(3), (std::vector{ids[2], ids[3], ids[4]}));
    EXPECT_EQ(due_ids(3), std::vector{ids[5]});
    EXPECT_TRUE(due_ids(3).empty());
}

TEST_P(Timers, P23_leases_deadlines_and_retries_ring_as_well) {
    submit("held");
    ClaimRequest request = asking("held");
    request.lease = moment();
    const Uuid held = claim(request).at(0).header.id;
    domain::Submission limited = new_task("limited");
    limited.policy.timeout = moment() + moment() / 8;
    const Uuid late = submit(limited).header.id;
    submit("failing");
    const Record failing = claim_one("failing");
    const Uuid retrying =
        step(failing, domain::Fail{failing.header.fence(), {}, moment() + moment() / 2}).header.id;
    pass(2 * moment());
    EXPECT_EQ(due_ids(), (std::vector{held, late, retrying}));
    EXPECT_EQ(claim_ids(asking("limited")), std::vector{late})
        << "a timer that rang leaves a queued task where it stands";
}

TEST_P(Timers, P24_a_timer_in_the_future_is_never_returned) {
    EXPECT_TRUE(due().empty());
    const Record task = submit(delayed(2 * moment()));
    submit(delayed(1h));
    EXPECT_TRUE(due().empty());
    pass(moment());
    EXPECT_TRUE(due().empty());
    if (can(Ability::time_control)) {
        pass(moment() - 1us);
        EXPECT_TRUE(due().empty()) << "one microsecond too early";
        pass(1us);
        EXPECT_EQ(due_ids(), std::vector{task.header.id}) << "and at the moment itself";
    } else {
        pass(moment() + moment() / 2);
        EXPECT_EQ(due_ids(), std::vector{task.header.id});
    }
}

TEST_P(Timers, P24_what_is_finished_or_parked_does_not_ring) {
    const Record cancelled = step(submit(delayed(moment())), domain::Cancel{});
    const Record paused = step(submit(delayed(moment())), domain::Pause{});
    submit("done");
    complete(claim_one("done"));
    pass(2 * moment());
    if (can(Ability::time_control)) pass(24h);
    EXPECT_TRUE(due().empty());
}

TEST_P(StoreClock, P33_the_clock_never_runs_backwards_and_goes_on) {
    Time last = now();
    EXPECT_GT(last, Time{std::chrono::sys_days{std::chrono::January / 1 / 2020}});
    for (int i = 0; i < 50; ++i) {
        const Time then = now();
        ASSERT_GE(then, last);
        last = then;
    }
    pass(moment());
    EXPECT_GE(now(), last + moment());
}

TEST_P(StoreClock, P33_leases_due_times_and_epochs_go_by_it) {
    submit();
    const Time before = now();
    const Record held = claim_one();
    const Time after = now();
    const auto between = [&](Time t) { return t >= before && t <= after; };
    EXPECT_TRUE(between(held.header.updated_at));
    EXPECT_TRUE(between(held.header.lease_until - domain::kDefaultLease));
    EXPECT_TRUE(between(Time{Duration{static_cast<std::int64_t>(held.header.epoch)}}));
}

}  // namespace
}  // namespace holdfast::stores::conformance
