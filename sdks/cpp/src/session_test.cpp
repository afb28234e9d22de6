#include "session.h"

#include <gtest/gtest.h>

#include "job_state.h"

namespace holdfast::client {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

const Fence kA{"a", 1, 100};
const Fence kB{"b", 1, 200};
constexpr std::string_view kWelcome = R"({"op":"welcome","instance":"i","lease":"30s"})";

struct NoOffice : JobOffice {
    void progress(const Fence&, double, std::string) override {}
    void checkpoint(const Fence&, std::string) override {}
    bool can_wait() const override { return true; }
};

struct SessionTest : ::testing::Test {
    Session::News receive(std::string_view text) { return session.receive(text, now, {}); }
    std::shared_ptr<JobState> hold(const Fence& fence, milliseconds lease = 30s) {
        auto job = std::make_shared<JobState>(office, Assignment{.fence = fence});
        session.hold(fence, job, lease, now);
        return job;
    }
    /// The frames that go out, without the heartbeat of a new connection.
    std::vector<std::string> take() {
        auto frames = session.take();
        std::erase_if(frames, [](const auto& frame) { return frame.contains("heartbeat"); });
        return frames;
    }

    NoOffice office;
    Session session{{.worker = "w", .queues = {"q"}, .slots = 4}};
    Session::Clock::time_point now{1h};
};

TEST_F(SessionTest, nothing_goes_out_before_the_welcome) {
    session.finish(kA, Final::done, done_item(kA, "1"));
    session.tick(now);
    EXPECT_TRUE(session.take().empty());
    receive(kWelcome);
    EXPECT_EQ(take(),
              std::vector<std::string>{
                  R"({"op":"done","items":[{"id":"a","attempt":1,"epoch":100,"result":1}]})"});
}

TEST_F(SessionTest, outcomes_that_finish_together_go_in_one_frame) {
    receive(kWelcome);
    session.finish(kA, Final::done, done_item(kA, "1"));
    session.finish(kB, Final::done, done_item(kB, "2"));
    const auto frames = take();
    ASSERT_EQ(frames.size(), 1U);
    EXPECT_TRUE(frames[0].contains("\"a\"") && frames[0].contains("\"b\""));
    EXPECT_TRUE(take().empty()) << "sent once";
}

TEST_F(SessionTest,
       an_outcome_is_owed_until_it_is_answered_and_sent_again_after_a_lost_connection) {
    receive(kWelcome);
    session.finish(kA, Final::done, done_item(kA, "1"));
    const auto first = take();
    session.lost();
    EXPECT_TRUE(session.hello().contains(R"("running":[{"id":"a","attempt":1,"epoch":100}])"));
    receive(kWelcome);
    EXPECT_EQ(take(), first);
    receive(
        R"({"op":"outcome","of":"done","items":[{"id":"a","attempt":1,"epoch":99,"outcome":"ok"}]})");
    EXPECT_EQ(session.owed(), 1U) << "that was another lease";
    receive(
        R"({"op":"outcome","of":"done","items":[{"id":"a","attempt":1,"epoch":100,"outcome":"ok"}]})");
    EXPECT_EQ(session.owed(), 0U);
    session.lost();
    receive(kWelcome);
    EXPECT_TRUE(take().empty());
}

TEST_F(SessionTest, running_tasks_are_named_and_beaten_for_after_a_reconnection) {
    receive(kWelcome);
    hold(kA);
    session.lost();
    EXPECT_TRUE(session.hello().contains(R"("running":[{"id":"a","attempt":1,"epoch":100}])"));
    receive(kWelcome);
    session.tick(now);
    EXPECT_EQ(session.take(),
              std::vector<std::string>{
                  R"({"op":"heartbeat","items":[{"id":"a","attempt":1,"epoch":100}]})"});
}

TEST_F(SessionTest, leases_are_renewed_at_a_third_of_the_shortest) {
    receive(kWelcome);
    session.tick(now);
    session.take();
    hold(kA, 30s);
    EXPECT_LE(session.tick(now), now + 10s);
    hold(kB, 3s);
    EXPECT_EQ(session.tick(now), now + 1s);
    EXPECT_TRUE(session.take().empty());
    now += 1s;
    EXPECT_EQ(session.tick(now), now + 1s);
    const auto frames = session.take();
    ASSERT_EQ(frames.size(), 1U);
    EXPECT_TRUE(frames[0].contains("\"a\"") && frames[0].contains("\"b\""));
}

TEST_F(SessionTest, a_task_with_a_shorter_lease_of_its_own_is_given_that_one) {
    receive(kWelcome);
    const auto news = receive(
        R"({"op":"assign","tasks":[{"id":"a","attempt":1,"epoch":100,"lease_until":"1970-01-01T00:00:05.000Z"},)"
        R"({"id":"b","attempt":1,"epoch":200,"lease_until":"1970-01-01T09:00:00.000Z"}]})");
    ASSERT_EQ(news.assigned.size(), 2U);
    EXPECT_EQ(news.assigned[0].second, 5s);
    EXPECT_EQ(news.assigned[1].second, 30s);
}

TEST_F(SessionTest, an_idle_worker_gives_a_sign_of_life) {
    receive(kWelcome);
    const auto next = session.tick(now);
    EXPECT_EQ(session.take(), std::vector<std::string>{R"({"op":"heartbeat","items":[]})"});
    EXPECT_EQ(next, now + 10s);
}

TEST_F(SessionTest, the_answer_to_a_beat_cancels_pauses_and_takes_away) {
    receive(kWelcome);
    const auto a = hold(kA);
    const auto b = hold(kB);
    auto news = receive(
        R"({"op":"heartbeat","items":[{"id":"a","attempt":1,"epoch":100,"cancel_requested":true,"pause_requested":true},)"
        R"({"id":"b","attempt":1,"epoch":200,"outcome":"stale_lease"}]})");
    EXPECT_EQ(news.cancelled, std::vector{a});
    EXPECT_EQ(news.to_pause, std::vector{a});
    EXPECT_EQ(news.gone, std::vector{b});
    EXPECT_EQ(session.running(), 1U);
    EXPECT_FALSE(session.holds(kB));
}

TEST_F(SessionTest, a_cancel_for_an_older_lease_cancels_nothing) {
    receive(kWelcome);
    const auto a = hold(kA);
    EXPECT_TRUE(receive(R"({"op":"cancel","id":"a","attempt":1,"epoch":99})").cancelled.empty());
    EXPECT_EQ(receive(R"({"op":"cancel","id":"a","attempt":1,"epoch":100})").cancelled,
              std::vector{a});
    EXPECT_EQ(receive(R"({"op":"pause","id":"a"})").to_pause, std::vector{a});
}

TEST_F(SessionTest, a_checkpoint_is_asked_again_after_a_lost_connection) {
    receive(kWelcome);
    const auto a = hold(kA);
    session.checkpoint(kA, checkpoint_item(kA, "s", "{}"));
    const auto first = take();
    ASSERT_EQ(first.size(), 1U);
    session.lost();
    receive(kWelcome);
    EXPECT_EQ(take(), first);
    const auto news = receive(
        R"({"op":"outcome","of":"checkpoint","items":[{"id":"a","attempt":1,"epoch":100,"outcome":"ok"}]})");
    ASSERT_EQ(news.checkpoints.size(), 1U);
    EXPECT_EQ(news.checkpoints[0].second, "ok");
    EXPECT_TRUE(session.holds(kA));
}

TEST_F(SessionTest, a_task_that_was_paused_at_its_checkpoint_is_held_no_more) {
    receive(kWelcome);
    hold(kA);
    session.checkpoint(kA, checkpoint_item(kA, "s", "{}"));
    const auto news = receive(
        R"({"op":"outcome","of":"checkpoint","items":[{"id":"a","attempt":1,"epoch":100,"outcome":"pause"}]})");
    EXPECT_EQ(news.checkpoints.at(0).second, "pause");
    EXPECT_FALSE(session.holds(kA));
}

TEST_F(SessionTest, what_the_server_could_not_take_is_sent_again_a_little_later) {
    receive(kWelcome);
    session.tick(now);
    session.finish(kA, Final::done, done_item(kA, "1"));
    const auto first = take();
    receive(
        R"({"op":"outcome","of":"done","items":[{"id":"a","attempt":1,"epoch":100,"outcome":"unavailable"}]})");
    EXPECT_EQ(session.owed(), 1U);
    EXPECT_TRUE(take().empty()) << "not at once";
    now = session.tick(now);
    session.tick(now);
    EXPECT_EQ(take(), first);
}

TEST_F(SessionTest, a_result_that_the_server_refuses_becomes_a_failure_that_says_so) {
    receive(kWelcome);
    session.finish(kA, Final::done, done_item(kA, "1"));
    take();
    receive(
        R"({"op":"outcome","of":"done","items":[{"id":"a","attempt":1,"epoch":100,"outcome":"invalid_argument","detail":"too large"}]})");
    const auto frames = take();
    ASSERT_EQ(frames.size(), 1U);
    EXPECT_TRUE(frames[0].contains(R"("op":"fail")") && frames[0].contains("permanent") &&
                frames[0].contains("too large"));
}

TEST_F(SessionTest, a_draining_worker_says_so_and_gives_back_what_still_comes) {
    receive(kWelcome);
    session.drain();
    EXPECT_EQ(take(), std::vector<std::string>{R"({"op":"drain"})"});
    const auto news = receive(R"({"op":"assign","tasks":[{"id":"a","attempt":1,"epoch":100}]})");
    EXPECT_TRUE(news.assigned.empty());
    EXPECT_EQ(take(), std::vector<std::string>{
                          R"({"op":"yield","items":[{"id":"a","attempt":1,"epoch":100}]})"});
    session.lost();
    receive(kWelcome);
    EXPECT_EQ(take().at(0), R"({"op":"drain"})") << "the new connection must know";
}

TEST_F(SessionTest, an_error_before_the_welcome_is_about_this_worker) {
    const auto news = receive(
        R"({"op":"error","code":"invalid_argument","detail":"no such queue","field":"queues"})");
    EXPECT_EQ(news.refused, "no such queue (queues)");
}

TEST_F(SessionTest, an_item_that_the_server_cannot_read_is_not_sent_for_ever) {
    session.finish(kA, Final::done, done_item(kA, "1"));
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(session.owed(), 1U);
        receive(kWelcome);
        EXPECT_FALSE(receive(R"({"op":"bye","reason":"protocol: bad frame"})").refused);
        session.lost();
    }
    EXPECT_EQ(session.owed(), 0U);
}

TEST_F(SessionTest, only_the_last_progress_is_sent) {
    receive(kWelcome);
    session.tick(now);
    session.take();
    hold(kA);
    session.progress(kA, 0.25, "", now);
    session.progress(kA, 0.5, "half", now);
    EXPECT_TRUE(take().empty());
    now = session.tick(now);
    session.tick(now);
    const auto frames = take();
    ASSERT_EQ(frames.size(), 1U);
    EXPECT_TRUE(frames[0].starts_with(R"({"op":"progress")") && frames[0].contains("0.5") &&
                frames[0].contains("half") && !frames[0].contains("0.25"));
}

}  // namespace
}  // namespace holdfast::client
