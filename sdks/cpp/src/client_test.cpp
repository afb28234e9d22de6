#include "holdfast/client.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <future>

#include "fake_server.h"

namespace holdfast::client {
namespace {

using namespace std::chrono_literals;

struct ClientTest : ::testing::Test {
    ClientTest() {
        options.server = server.url();
        options.retry_base = 1ms;
        options.retry_max = 1s;
    }
    template <class Play>
    std::future<void> play(Play play) {
        return std::async(std::launch::async, play);
    }

    FakeServer server;
    ClientOptions options;
};

std::string key_in(const std::string& request) {
    const auto at = request.find("auto-");
    return at == std::string::npos ? "" : request.substr(at, 37);
}

TEST_F(ClientTest, calls_share_a_connection_that_is_kept_alive) {
    auto served = play([&] {
        auto socket = server.accept();
        for (int i = 0; i < 3; ++i) {
            EXPECT_TRUE(FakeServer::read_request(socket).starts_with("GET /v1/stats HTTP/1.1\r\n"));
            FakeServer::answer(socket, "200 OK", R"({"n":1})");
        }
    });
    Client client(options);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(client.stats().at("n"), 1);
    served.get();
}

TEST_F(ClientTest, a_lost_reply_makes_one_task_because_the_key_stays_the_same) {
    std::string first, second;
    auto served = play([&] {
        {
            auto socket = server.accept();
            first = FakeServer::read_request(socket);
        }
        auto socket = server.accept();
        second = FakeServer::read_request(socket);
        FakeServer::answer(socket, "202 Accepted",
                           R"({"id":"x","state":"queued","duplicate":true})");
    });
    Client client(options);
    const auto receipt = client.submit(Submission{.type = "t"});
    served.get();
    EXPECT_EQ(receipt.id, "x");
    EXPECT_TRUE(receipt.duplicate);
    EXPECT_EQ(key_in(first).size(), 37U);
    EXPECT_EQ(key_in(first), key_in(second));
}

TEST_F(ClientTest, a_call_that_may_have_happened_is_not_repeated_unless_that_is_harmless) {
    auto served = play([&] {
        auto socket = server.accept();
        FakeServer::read_request(socket);
    });
    Client client(options);
    try {
        client.discard("x");
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code, Code::unavailable);
    }
    served.get();
}

TEST_F(ClientTest, overload_is_waited_out_and_the_call_repeated) {
    auto served = play([&] {
        auto socket = server.accept();
        FakeServer::read_request(socket);
        FakeServer::answer(socket, "429 Too Many Requests", R"({"code":"overloaded"})",
                           "Retry-After: 0\r\n");
        FakeServer::read_request(socket);
        FakeServer::answer(socket, "200 OK", R"({"state":"discarded"})");
    });
    Client client(options);
    EXPECT_EQ(client.discard("x").at("state"), "discarded");
    served.get();
}

TEST_F(ClientTest, an_overload_that_lasts_is_told) {
    auto served = play([&] {
        auto socket = server.accept();
        FakeServer::read_request(socket);
        FakeServer::answer(socket, "503 Service Unavailable", R"({"code":"overloaded"})",
                           "Retry-After: 60\r\n");
    });
    Client client(options);
    try {
        client.stats();
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code, Code::overloaded);
        EXPECT_EQ(error.retry_after, 60s);
    }
    served.get();
}

TEST_F(ClientTest, a_problem_is_thrown_as_it_was_told) {
    auto served = play([&] {
        auto socket = server.accept();
        FakeServer::read_request(socket);
        FakeServer::answer(socket, "404 Not Found",
                           R"({"code":"not_found","detail":"no task x","request_id":"r7"})");
    });
    Client client(options);
    try {
        client.get("x");
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code, Code::not_found);
        EXPECT_EQ(error.status, 404);
        EXPECT_EQ(error.request_id, "r7");
    }
    served.get();
}

TEST(Client, a_server_that_is_not_there_has_a_code_of_its_own) {
    std::string url;
    {
        const FakeServer gone;
        url = gone.url();
    }
    Client client(ClientOptions{.server = url, .attempts = 2, .retry_base = 1ms});
    try {
        client.stats();
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_EQ(error.code, Code::unreachable);
        EXPECT_TRUE(error.detail.contains(url)) << error.detail;
    }
}

TEST_F(ClientTest, a_server_that_says_nothing_is_given_up) {
    options.timeout = 50ms;
    options.attempts = 1;
    auto served = play([&] {
        auto socket = server.accept();
        FakeServer::read_request(socket);
        char byte = 0;
        boost::system::error_code failed;
        socket.read_some(boost::asio::buffer(&byte, 1), failed);
    });
    {
        Client client(options);
        try {
            client.stats();
            ADD_FAILURE();
        } catch (const Error& error) {
            EXPECT_EQ(error.code, Code::timed_out);
        }
    }
    served.get();
}

TEST_F(ClientTest, a_large_batch_is_sent_in_pieces_and_each_item_answered_in_order) {
    auto served = play([&] {
        auto socket = server.accept();
        for (const std::size_t expected : {1000U, 5U}) {
            const auto request = FakeServer::read_request(socket);
            const auto body = boost::json::parse(request.substr(request.find("\r\n\r\n") + 4));
            EXPECT_EQ(body.as_array().size(), expected);
            std::string answer = R"({"tasks":[)";
            for (const auto& task : body.as_array())
                answer.append(answer.ends_with('[') ? "" : ",")
                    .append(R"({"id":")")
                    .append(task.at("type").as_string().c_str())
                    .append(R"("})");
            FakeServer::answer(socket, "202 Accepted", answer + "]}");
        }
    });
    Client client(options);
    std::vector<Submission> submissions;
    for (int i = 0; i < 1005; ++i) submissions.push_back({.type = "t" + std::to_string(i)});
    const auto receipts = client.submit(submissions);
    served.get();
    ASSERT_EQ(receipts.size(), 1005U);
    EXPECT_EQ(receipts[1004].id, "t1004");
}

TEST_F(ClientTest, events_go_on_where_a_lost_connection_broke) {
    const std::string head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    auto served = play([&] {
        {
            auto socket = server.accept();
            EXPECT_TRUE(FakeServer::read_request(socket).starts_with("GET /v1/events?since=s0 "));
            const std::string chunk = "id: s1\nevent: task\ndata: {\"v\":1}\n\n";
            boost::asio::write(socket, boost::asio::buffer(head + "22\r\n" + chunk + "\r\n"));
            ASSERT_EQ(chunk.size(), 0x22U);
        }
        auto socket = server.accept();
        EXPECT_TRUE(FakeServer::read_request(socket).starts_with("GET /v1/events?since=s1 "));
        boost::asio::write(socket,
                           boost::asio::buffer(head + "1a\r\nid: s2\ndata: {\"v\":2}\n\n: hb\r\n"));
    });
    Client client(options);
    std::vector<std::string> seen;
    client.events({.since = "s0"}, [&](const Event& event) {
        seen.push_back(event.id + event.kind + std::to_string(event.data.at("v").as_int64()));
        return seen.size() < 2;
    });
    served.get();
    EXPECT_EQ(seen, (std::vector<std::string>{"s1task1", "s2message2"}));
}

TEST_F(ClientTest, listening_ends_at_once_when_it_is_asked_to) {
    auto served = play([&] {
        auto socket = server.accept();
        FakeServer::read_request(socket);
        boost::asio::write(socket,
                           boost::asio::buffer(std::string("HTTP/1.1 200 OK\r\n\r\ndata: 1\n\n")));
        char byte = 0;
        boost::system::error_code failed;
        socket.read_some(boost::asio::buffer(&byte, 1), failed);
    });
    Client client(options);
    std::stop_source stop;
    std::promise<void> heard;
    auto ended = play([&] {
        client.events(
            {},
            [&](const Event&) {
                heard.set_value();
                return true;
            },
            stop.get_token());
    });
    heard.get_future().wait();
    stop.request_stop();
    EXPECT_EQ(ended.wait_for(10s), std::future_status::ready);
    served.get();
}

}  // namespace
}  // namespace holdfast::client
