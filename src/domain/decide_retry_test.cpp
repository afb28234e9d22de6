// What becomes of a task that fails: R4, R6, R8, R10, I5.
#include <gtest/gtest.h>

#include "domain/decide.h"
#include "domain/draft.h"
#include "domain/sample_tasks.h"

namespace holdfast::domain {
namespace {

using namespace samples;

Submission with(const Policy& policy) {
    Submission s = submission();
    s.policy = policy;
    return s;
}

/// The delay that a failure now would bring.
Duration delay_of(const Record& task, ErrorKind kind = ErrorKind::transient) {
    const Time now = task.header.updated_at;
    return after(task, failure(task, kind), now).header.due_at - now;
}

/// Its lease ends, and the next worker has it at once.
Record crashed_and_claimed(const Record& task) {
    const Time end = task.header.lease_until;
    return claimed(after(task, Tick{}, end), end);
}

TEST(Retry, with_max_3_the_third_failure_suspends) {
    Record task = running();
    task = failed_and_claimed(task);
    EXPECT_EQ(task.header.retry_count, 1);
    task = failed_and_claimed(task);
    EXPECT_EQ(task.header.retry_count, 2);
    const Record parked = after(task, failure(task), kNow + 1h);
    EXPECT_EQ(parked.header.state, State::suspended);
    EXPECT_EQ(parked.header.retry_count, 3);
    EXPECT_EQ(parked.header.attempt, 3U);
    EXPECT_FALSE(is_set(parked.header.wake_at));
}

TEST(Retry, a_suspended_task_keeps_its_payload_and_its_error_with_the_stack) {
    const Record task = running();
    const Fail fail{
        task.header.fence(), {ErrorKind::permanent, "no such user", "at f:12", "E404"}, {}};
    const auto change = decide(task, fail, kNow);
    ASSERT_TRUE(change);
    const std::string error =
        R"({"kind":"permanent","message":"no such user","code":"E404","stack":"at f:12"})";
    EXPECT_EQ(change->puts.front().outcome->view(), "{\"error\":" + error + "}");
    EXPECT_EQ(change->puts.front().transition.error.view(), error);
    EXPECT_EQ(change->puts.front().transition.message, "no such user");
    EXPECT_EQ(applied(task, *change).body, task.body);
    EXPECT_EQ(change->puts.front().header.fingerprint, fingerprint("image.resize", fail.failure));
}

TEST(Retry, a_permanent_failure_parks_at_once) {
    const Record task = running();
    const Record parked = after(task, failure(task, ErrorKind::permanent));
    EXPECT_EQ(parked.header.state, State::suspended);
    EXPECT_EQ(parked.header.retry_count, 1);
}

TEST(Retry, on_exhausted_fail_ends_the_task) {
    const Record task = running(with({.max = 1, .on_exhausted = Ending::fail}));
    EXPECT_EQ(after(task, failure(task)).header.state, State::failed);
    EXPECT_EQ(after(task, failure(task, ErrorKind::permanent)).header.state, State::failed);
    EXPECT_EQ(after(task, failure(task)).header.finished_at, kNow);
}

TEST(Retry, with_max_0_failures_never_park_it) {
    Record task = running(with({.backoff = {.schedule = {1s}}, .max = 0}));
    for (int i = 0; i < 100; ++i) task = failed_and_claimed(task);
    EXPECT_EQ(task.header.retry_count, 100);
    EXPECT_EQ(after(task, failure(task, ErrorKind::permanent)).header.state, State::suspended);
}

TEST(Retry, the_schedule_is_followed_and_its_last_value_repeats) {
    Record task = running(with({.backoff = {.schedule = {1min, 5min}}, .max = 5}));
    for (const Duration expected : {1min, 5min, 5min, 5min}) {
        EXPECT_EQ(delay_of(task), expected);
        task = failed_and_claimed(task);
    }
}

TEST(Retry, exponential_delays_are_base_times_two_to_the_n_minus_1_up_to_the_cap) {
    Record task = running(with(*preset("ingest")));
    for (const Duration expected : {1s, 2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s}) {
        EXPECT_EQ(delay_of(task), expected);
        task = failed_and_claimed(task);
    }
    EXPECT_EQ(after(task, failure(task)).header.state, State::suspended) << "the tenth of ten";
}

TEST(Retry, a_worker_may_say_when_to_try_again) {
    const Record task = running();
    Fail fail = failure(task);
    fail.retry_after = 42s;
    const Record retrying = after(task, fail);
    EXPECT_EQ(retrying.header.due_at, kNow + 42s);
    EXPECT_EQ(retrying.header.wake_at, kNow + 42s);
    EXPECT_EQ(retrying.header.retry_count, 1);
    fail.failure.kind = ErrorKind::permanent;
    EXPECT_EQ(after(task, fail).header.state, State::suspended) << "not for what never works";
}

TEST(Retry, a_retry_is_woken_when_it_is_due_and_not_before) {
    const Record retrying = after(running(), failure(running()));
    const Time due = retrying.header.due_at;
    EXPECT_EQ(decide(retrying, Tick{}, due - 1us).error(), Refusal::not_due);
    const Record queued = after(retrying, Tick{}, due);
    EXPECT_EQ(queued.header.state, State::queued);
    EXPECT_EQ(queued.header.retry_count, 1);
    EXPECT_EQ(decide(queued, Tick{}, due).error(), Refusal::not_due) << "never twice";
}

TEST(Retry, an_outage_that_is_held_uses_up_no_attempt) {
    Record task =
        running(with({.backoff = {.schedule = {1s, 10s}}, .max = 2, .on_outage = OnOutage::hold}));
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(delay_of(task, ErrorKind::dependency_down), 1s);
        task = failed_and_claimed(task, ErrorKind::dependency_down);
    }
    EXPECT_EQ(task.header.retry_count, 0);
    task = failed_and_claimed(task);
    EXPECT_EQ(delay_of(task, ErrorKind::dependency_down), 10s);
    task = failed_and_claimed(task, ErrorKind::dependency_down);
    EXPECT_EQ(task.header.retry_count, 1);
    EXPECT_EQ(after(task, failure(task)).header.state, State::suspended);
}

TEST(Retry, an_outage_that_is_counted_ends_like_anything_else) {
    const Record task = running(with({.max = 1}));
    EXPECT_EQ(after(task, failure(task, ErrorKind::dependency_down)).header.state,
              State::suspended);
}

TEST(Retry, timeouts_and_crashes_of_an_attempt_are_retried_like_transient_failures) {
    const Record task = running();
    EXPECT_EQ(after(task, failure(task, ErrorKind::timeout)).header.state, State::retrying);
    EXPECT_EQ(after(task, failure(task, ErrorKind::timeout)).header.retry_count, 1);
}

TEST(Retry, a_lost_worker_loses_nothing_and_counts_no_failure) {
    const Record task = running();
    EXPECT_EQ(decide(task, Tick{}, task.header.lease_until - 1us).error(), Refusal::not_due);
    const auto change = decide(task, Tick{}, task.header.lease_until);
    ASSERT_TRUE(change);
    const Put& put = change->puts.front();
    EXPECT_EQ(put.header.state, State::queued);
    EXPECT_EQ(put.header.retry_count, 0);
    EXPECT_EQ(put.header.crashes, 1);
    EXPECT_TRUE(put.header.worker.empty());
    EXPECT_EQ(put.transition.event, Event::lease_ended);
    EXPECT_EQ(put.transition.actor, kWorker) << "the history names whom we lost";
    EXPECT_NE(put.transition.error.view().find("\"crash\""), std::string_view::npos);
}

TEST(Retry, a_task_that_keeps_killing_workers_is_poison) {
    Record task = running();
    task = crashed_and_claimed(task);
    task = crashed_and_claimed(task);
    EXPECT_EQ(task.header.state, State::running);
    const auto change = decide(task, Tick{}, task.header.lease_until);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->puts.front().header.state, State::suspended);
    EXPECT_EQ(change->puts.front().header.crashes, 3);
    EXPECT_EQ(change->puts.front().transition.message, "poison: 3 workers were lost with it");
}

TEST(Retry, poison_ends_the_task_where_exhaustion_would) {
    const Record task = running(with({.poison = 1, .on_exhausted = Ending::fail}));
    EXPECT_EQ(after(task, Tick{}, task.header.lease_until).header.state, State::failed);
}

TEST(Retry, resume_starts_the_counts_again) {
    Record task = running(with({.max = 1, .poison = 2}));
    task = crashed_and_claimed(task);
    const Record parked = after(task, failure(task), kNow + 1h);
    EXPECT_EQ(parked.header.state, State::suspended);
    const Record resumed = after(parked, Resume{{"ann", "mended"}, {}}, kNow + 2h);
    EXPECT_EQ(resumed.header.state, State::queued);
    EXPECT_EQ(resumed.header.retry_count, 0);
    EXPECT_EQ(resumed.header.crashes, 0);
    EXPECT_EQ(resumed.header.attempt, 2U) << "attempts are never counted back";
}

TEST(Retry, counts_stay_at_their_end_instead_of_beginning_again) {
    Record task = running(with({.backoff = {.schedule = {1s}}, .max = 0, .poison = UINT16_MAX}));
    Header& h = task.header;
    h.retry_count = h.crashes = UINT16_MAX;
    EXPECT_EQ(after(task, failure(task)).header.retry_count, UINT16_MAX);
    EXPECT_EQ(after(task, Tick{}, h.lease_until).header.crashes, UINT16_MAX);
}

TEST(Retry, a_policy_text_that_cannot_be_read_means_the_default_policy) {
    Record task = running();
    task.header.policy = "max=many";
    EXPECT_EQ(policy_of(task.header), Policy{});
    EXPECT_EQ(after(task, failure(task)).header.state, State::retrying);
}

TEST(Retry, a_long_error_is_cut_and_kept) {
    const Record task = running();
    const Fail fail{task.header.fence(),
                    {ErrorKind::transient, std::string(100'000, 'm'), std::string(100'000, 's'),
                     std::string(1000, 'c')},
                    {}};
    const auto change = decide(task, fail, kNow);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->puts.front().transition.message.size(), kLongestMessage);
    EXPECT_LT(change->puts.front().outcome->size(), kLongestMessage + kLongestStack + 300);
}

}  // namespace
}  // namespace holdfast::domain
