#include "holdfast/worker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/json/parse.hpp>
#include <future>
#include <thread>

#include "fake_server.h"

namespace holdfast::client {
namespace {

using namespace std::chrono_literals;

std::string assign(const std::string& id, const std::string& payload = "{}") {
    return R"({"op":"assign","tasks":[{"id":")" + id +
           R"(","type":"t","queue":"q","attempt":1,"epoch":7,"payload":)" + payload + "}]}";
}
std::string outcome(const std::string& of, const std::string& id, const std::string& what = "ok") {
    return R"({"op":"outcome","of":")" + of + R"(","items":[{"id":")" + id +
           R"(","attempt":1,"epoch":7,"outcome":")" + what + R"("}]})";
}

struct WorkerTest : ::testing::Test {
    void begin(Handler handler) {
        options.server = server.url();
        options.worker = "w";
        options.reconnect_base = 1ms;
        options.reconnect_max = 5ms;
        worker = std::make_unique<Worker>(options);
        worker->handle("t", std::move(handler));
        running = std::async(std::launch::async, [this] { worker->run(); });
    }
    /// The worker leaves by itself; fails when it does not.
    void expect_end() { ASSERT_EQ(running.wait_for(10s), std::future_status::ready); }

    FakeServer server;
    WorkerOptions options;
    std::unique_ptr<Worker> worker;
    std::future<void> running;
};

TEST_F(WorkerTest, a_task_is_run_and_its_result_sent) {
    begin([](Job& job) -> boost::json::value {
        return {{"double", job.payload().at("n").as_int64() * 2}};
    });
    auto stream = server.accept_stream();
    EXPECT_EQ(stream.welcome(), R"({"op":"hello","worker":"w","queues":["default"],"slots":8})");
    stream.write(assign("a", R"({"n":21})"));
    EXPECT_EQ(stream.next(),
              R"({"op":"done","items":[{"id":"a","attempt":1,"epoch":7,"result":{"double":42}}]})");
    stream.write(outcome("done", "a"));
    worker->drain();
    EXPECT_EQ(stream.next(), R"({"op":"drain"})");
    stream.bye();
    stream.ends();
    expect_end();
    EXPECT_EQ(worker->counts().done, 1U);
}

TEST_F(WorkerTest, what_a_handler_throws_decides_the_kind_of_failure) {
    begin([](Job& job) -> boost::json::value {
        const auto what = job.payload().as_string();
        if (what == "permanent") throw PermanentError("p");
        if (what == "down") throw DependencyDown("d");
        if (what == "later") throw GiveBack{.after = 2s};
        if (what == "odd") throw 5;
        throw std::runtime_error("r");
    });
    auto stream = server.accept_stream();
    stream.welcome();
    const std::pair<std::string, std::string> rows[]{
        {"permanent", R"("kind":"permanent","message":"p")"},
        {"down", R"("kind":"dependency_down","message":"d")"},
        {"other", R"("kind":"transient","message":"r")"},
        {"odd", R"("kind":"transient")"},
        {"later", R"({"op":"yield","items":[{"id":"later","attempt":1,"epoch":7,"after":"2s"}]})"}};
    for (const auto& [payload, expected] : rows) {
        stream.write(assign(payload, "\"" + payload + "\""));
        const auto frame = stream.next();
        EXPECT_TRUE(frame.contains(expected)) << frame;
        stream.write(outcome("fail", payload));
    }
    worker->stop();
    stream.ends();
    expect_end();
}

TEST_F(WorkerTest, a_running_task_survives_a_lost_connection_and_is_completed_under_its_old_fence) {
    std::atomic<int> runs = 0;
    std::promise<void> go;
    auto may_go = go.get_future().share();
    begin([&](Job&) -> boost::json::value {
        ++runs;
        may_go.wait();
        return 1;
    });
    {
        auto stream = server.accept_stream();
        stream.welcome();
        stream.write(assign("a"));
        while (runs == 0) std::this_thread::yield();
    }
    auto stream = server.accept_stream();
    EXPECT_TRUE(stream.welcome().contains(R"("running":[{"id":"a","attempt":1,"epoch":7}])"));
    EXPECT_TRUE(stream.read().contains(R"("id":"a")")) << "its lease is renewed at once";
    go.set_value();
    EXPECT_TRUE(stream.next().contains(R"("op":"done","items":[{"id":"a","attempt":1,"epoch":7)"));
    stream.write(outcome("done", "a"));
    worker->drain();
    stream.ends();
    expect_end();
    EXPECT_EQ(runs, 1);
}

TEST_F(WorkerTest, an_outcome_without_answer_is_sent_again_over_the_next_connection) {
    begin([](Job&) -> boost::json::value { return "once"; });
    std::string first;
    {
        auto stream = server.accept_stream();
        stream.welcome();
        stream.write(assign("a"));
        first = stream.next();
    }
    auto stream = server.accept_stream();
    stream.welcome();
    EXPECT_EQ(stream.next(), first);
    stream.write(outcome("done", "a"));
    worker->drain();
    stream.ends();
    expect_end();
}

TEST_F(WorkerTest, a_checkpoint_is_stored_or_ends_the_task) {
    std::promise<std::string> interrupted;
    begin([&](Job& job) -> boost::json::value {
        job.checkpoint("one", 1);
        EXPECT_EQ(*job.checkpoint("one"), 1);
        try {
            job.checkpoint("two", 2);
        } catch (const Interrupted& error) {
            interrupted.set_value(error.what());
            throw;
        }
        return nullptr;
    });
    auto stream = server.accept_stream();
    stream.welcome();
    stream.write(assign("a"));
    EXPECT_TRUE(stream.next().contains(R"("stage":"one","data":1)"));
    stream.write(outcome("checkpoint", "a"));
    EXPECT_TRUE(stream.next().contains(R"("stage":"two","data":2)"));
    stream.write(outcome("checkpoint", "a", "pause"));
    EXPECT_EQ(interrupted.get_future().get(), "the task was paused");
    worker->drain();
    EXPECT_EQ(stream.next(), R"({"op":"drain"})") << "nothing is said about the task";
    stream.bye();
    stream.ends();
    expect_end();
}

TEST_F(WorkerTest, stages_of_earlier_attempts_are_there) {
    begin([](Job& job) -> boost::json::value {
        return {job.checkpoint("s") != nullptr ? *job.checkpoint("s") : "none",
                job.checkpoint("t") == nullptr};
    });
    auto stream = server.accept_stream();
    stream.welcome();
    stream.write(
        R"({"op":"assign","tasks":[{"id":"a","type":"t","attempt":2,"epoch":7,"checkpoints":[{"stage":"s","data":{"x":1}}]}]})");
    EXPECT_TRUE(stream.next().contains(R"("result":[{"x":1},true])"));
    stream.write(
        R"({"op":"outcome","of":"done","items":[{"id":"a","attempt":2,"epoch":7,"outcome":"ok"}]})");
    worker->stop();
    stream.ends();
    expect_end();
}

TEST_F(WorkerTest, a_cancel_reaches_the_handler) {
    begin([](Job& job) -> boost::json::value {
        while (!job.cancelled()) std::this_thread::sleep_for(1ms);
        throw TransientError("cancelled");
    });
    auto stream = server.accept_stream();
    stream.welcome();
    stream.write(assign("a"));
    stream.write(R"({"op":"cancel","id":"a","attempt":1,"epoch":7})");
    EXPECT_TRUE(stream.next().contains("cancelled"));
    stream.write(outcome("fail", "a"));
    worker->drain();
    stream.ends();
    expect_end();
}

TEST_F(WorkerTest, draining_finishes_what_runs_and_gives_back_what_takes_too_long) {
    options.grace = 100ms;
    std::atomic<int> begun = 0;
    begin([&](Job& job) -> boost::json::value {
        ++begun;
        while (job.id() == "slow" && !job.cancelled()) std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(10ms);
        return nullptr;
    });
    auto stream = server.accept_stream();
    stream.welcome();
    stream.write(assign("quick"));
    stream.write(assign("slow"));
    while (begun < 2) std::this_thread::yield();
    worker->drain();
    std::string all;
    while (!all.contains("yield") || !all.contains("done") || !all.contains("drain"))
        all += stream.next();
    EXPECT_TRUE(all.contains(R"({"op":"yield","items":[{"id":"slow")"));
    EXPECT_TRUE(all.contains(R"({"op":"done","items":[{"id":"quick")"));
    stream.write(outcome("done", "quick"));
    stream.write(outcome("yield", "slow"));
    stream.bye();
    stream.ends();
    expect_end();
    EXPECT_EQ(worker->counts().given_back, 1U);
}

TEST_F(WorkerTest, a_server_that_is_not_there_yet_is_waited_for) {
    begin([](Job&) -> boost::json::value { return nullptr; });
    server.accept().close();
    auto stream = server.accept_stream();
    stream.welcome();
    worker->drain();
    stream.ends();
    expect_end();
}

TEST_F(WorkerTest, a_worker_that_the_server_refuses_ends_with_the_reason) {
    begin([](Job&) -> boost::json::value { return nullptr; });
    auto stream = server.accept_stream();
    stream.read();
    stream.write(
        R"({"op":"error","code":"invalid_argument","detail":"bad name","field":"worker"})");
    stream.ends();
    expect_end();
    EXPECT_THROW(
        try { running.get(); } catch (const Error& error) {
            EXPECT_TRUE(error.detail.contains("bad name (worker)"));
            throw;
        },
        Error);
}

TEST_F(WorkerTest, a_page_without_a_stream_ends_the_worker) {
    begin([](Job&) -> boost::json::value { return nullptr; });
    auto socket = server.accept();
    FakeServer::read_request(socket);
    FakeServer::answer(socket, "404 Not Found", "{}");
    expect_end();
    EXPECT_THROW(running.get(), Error);
}

TEST_F(WorkerTest, heartbeats_go_on_while_handlers_run) {
    std::promise<void> go;
    auto may_go = go.get_future().share();
    begin([&](Job&) -> boost::json::value {
        may_go.wait();
        return nullptr;
    });
    auto stream = server.accept_stream();
    stream.welcome("600ms");
    stream.write(assign("a"));
    int beats = 0;
    while (beats < 3) beats += stream.read().contains(R"("id":"a")") ? 1 : 0;
    go.set_value();
    EXPECT_TRUE(stream.next().contains("done"));
    stream.write(outcome("done", "a"));
    worker->stop();
    stream.ends();
    expect_end();
}

TEST_F(WorkerTest, inline_handlers_answer_a_whole_assignment_in_one_frame) {
    options.inline_handlers = true;
    begin([](Job& job) -> boost::json::value { return job.payload(); });
    auto stream = server.accept_stream();
    stream.welcome();
    stream.write(
        R"({"op":"assign","tasks":[{"id":"a","type":"t","payload":1,"attempt":1,"epoch":7},)"
        R"({"id":"b","type":"t","payload":2,"attempt":1,"epoch":7}]})");
    EXPECT_EQ(stream.next(), R"({"op":"done","items":[{"id":"a","attempt":1,"epoch":7,"result":1},)"
                             R"({"id":"b","attempt":1,"epoch":7,"result":2}]})");
    stream.write(outcome("done", "a"));
    stream.write(outcome("done", "b"));
    worker->drain();
    stream.ends();
    expect_end();
}

}  // namespace
}  // namespace holdfast::client
