#include "http/gate.h"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::http {
namespace {

using Outcome = Gate::Outcome;

/// What becomes of a text, given whole and byte by byte: both must agree.
std::string told(std::string_view text, GateLimits limits = {}) {
    const auto tell = [](const Gate& gate, Outcome outcome) -> std::string {
        switch (outcome) {
            case Outcome::more:
            case Outcome::head:
                return "more";
            case Outcome::refused:
                return std::to_string(gate.refusal().status);
            case Outcome::request:
                return std::string(to_string(gate.request().method)) + ' ' +
                       std::string(gate.request().path) + ' ' + gate.request().body;
        }
        return {};
    };
    Gate whole(limits);
    const std::string at_once = tell(whole, whole.look(text));
    Gate piecewise(limits);
    Outcome outcome = Outcome::more;
    for (std::size_t n = 1; n <= text.size(); ++n) {
        outcome = piecewise.look(std::string(text.substr(0, n)));
        if (outcome == Outcome::request || outcome == Outcome::refused) break;
    }
    EXPECT_EQ(tell(piecewise, outcome), at_once) << text;
    return at_once;
}

const std::string kHost = "Host: x\r\n";

TEST(Gate, lets_plain_requests_in) {
    EXPECT_EQ(told("GET /a?b=c HTTP/1.1\r\n" + kHost + "\r\n"), "GET /a ");
    EXPECT_EQ(told("\r\nGET / HTTP/1.1\r\n" + kHost + "\r\n"), "GET / ");
    EXPECT_EQ(told("POST /p HTTP/1.1\r\n" + kHost + "Content-Length: 5\r\n\r\nhello"),
              "POST /p hello");
    EXPECT_EQ(told("GET / HTTP/1.0\r\n\r\n"), "GET / ");
}

TEST(Gate, reads_chunks_with_extensions_and_trailers) {
    EXPECT_EQ(
        told("POST / HTTP/1.1\r\n" + kHost +
             "Transfer-Encoding: Chunked\r\n\r\n5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n"),
        "POST / hello!");
    EXPECT_EQ(told("POST / HTTP/1.1\r\n" + kHost + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
              "POST / ");
}

TEST(Gate, a_request_ends_where_the_next_one_begins) {
    const std::string both = "POST /1 HTTP/1.1\r\n" + kHost +
                             "Content-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\n" + kHost + "\r\n";
    Gate gate;
    ASSERT_EQ(gate.look(both), Outcome::request);
    EXPECT_EQ(gate.request().body, "abc");
    const std::string rest = both.substr(gate.next());
    ASSERT_EQ(gate.look(rest), Outcome::request);
    EXPECT_EQ(gate.request().path, "/2");
    EXPECT_EQ(gate.request().body, "");
    EXPECT_EQ(rest.substr(gate.next()), "");
}

struct Shape {
    std::string head;  ///< After "POST / HTTP/1.1\r\n".
    std::string status;
};

TEST(Gate, refuses_every_doubtful_shape) {
    const Shape shapes[] = {
        {"\r\n", "400"},                  // no Host
        {kHost + kHost + "\r\n", "400"},  // two Hosts
        {"Host: a, b\r\n\r\n", "400"},
        {kHost + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", "400"},
        {kHost + "Content-Length: 1, 1\r\n\r\nx", "400"},
        {kHost + "Content-Length: +1\r\n\r\nx", "400"},
        {kHost + "Content-Length: -1\r\n\r\nx", "400"},
        {kHost + "Content-Length: 0x1\r\n\r\nx", "400"},
        {kHost + "Content-Length: 99999999999999999999\r\n\r\nx", "400"},
        {kHost + "Content-Length:\r\n\r\n", "400"},
        {kHost + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"},
        {kHost + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n", "400"},
        {kHost + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
        {kHost + "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", "501"},
        {kHost + "Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n", "501"},
        {kHost + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "501"},
        {kHost + "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", "501"},
        {kHost + "Transfer-Encoding:\vchunked\r\n\r\n0\r\n\r\n", "400"},
        {kHost + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", "400"},  // blank before the colon
        {kHost + "X: a\r\n b\r\n\r\n", "400"},                            // obs-fold
        {kHost + "X: a\nY: b\r\n\r\n", "400"},                            // bare LF
        {kHost + "X: a\rY: b\r\n\r\n", "400"},                            // bare CR
        {kHost + std::string("X: a\0b\r\n\r\n", 11), "400"},
        {kHost + ": b\r\n\r\n", "400"},
        {kHost + "no colon\r\n\r\n", "400"},
        {kHost + "Expect: 200-ok\r\n\r\n", "417"},
        {kHost + "Transfer-Encoding: chunked\r\n\r\ng\r\n", "400"},
        {kHost + "Transfer-Encoding: chunked\r\n\r\n 1\r\nx\r\n", "400"},
        {kHost + "Transfer-Encoding: chunked\r\n\r\n1 \r\nx\r\n", "400"},
        {kHost + "Transfer-Encoding: chunked\r\n\r\n0x1\r\nx\r\n", "400"},
        {kHost + "Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n", "400"},
        {kHost + "Transfer-Encoding: chunked\r\n\r\n1\nx\r\n0\r\n\r\n", "400"},
        {kHost + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(300, 'a'), "400"},
        {kHost + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", "413"},
        {kHost + "Transfer-Encoding: chunked\r\n\r\n200000\r\n", "413"},
        {kHost + "Transfer-Encoding: chunked\r\n\r\n0\r\nbad trailer\r\n\r\n", "400"},
        {kHost + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: " + std::string(9000, 'a'), "431"},
        {kHost + "Content-Length: 2000000\r\n\r\n", "413"},
        {kHost + "X: " + std::string(20'000, 'a') + "\r\n\r\n", "431"},
    };
    for (const Shape& shape : shapes) {
        EXPECT_EQ(told("POST / HTTP/1.1\r\n" + shape.head), shape.status) << shape.head;
    }
}

TEST(Gate, refuses_request_lines_that_are_none) {
    for (const char* line :
         {"GET  / HTTP/1.1", "GET /", "GET", "GET / HTTP/1.1 x", "G@T / HTTP/1.1", "GET a HTTP/1.1",
          "GET http://x/ HTTP/1.1", "GET /a b HTTP/1.1", "GET /\x01 HTTP/1.1", "GET /# HTTP/1.1",
          "GET / http/1.1", "GET / HTTP/1.1\t", " GET / HTTP/1.1", "\x16\x03\x01 TLS"}) {
        EXPECT_EQ(told(std::string(line) + "\r\n" + kHost + "\r\n"), "400") << line;
    }
    EXPECT_EQ(told("GET / HTTP/2.0\r\n" + kHost + "\r\n"), "505");
    EXPECT_EQ(told("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\n" + kHost + "\r\n"), "414");
    EXPECT_EQ(told("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), "400");
}

TEST(Gate, headers_beyond_the_limit_are_refused) {
    std::string head = "GET / HTTP/1.1\r\n" + kHost;
    for (int i = 0; i < 99; ++i) head += "X: y\r\n";
    EXPECT_EQ(told(head + "\r\n"), "GET / ");
    EXPECT_EQ(told(head + "X: y\r\n\r\n"), "431");
}

TEST(Gate, what_is_exactly_as_long_as_allowed_is_let_in_whole_and_in_pieces) {
    const GateLimits limits{.head = 64, .chunk_line = 8, .trailers = 16};
    const std::string chunked =
        "POST / HTTP/1.1\r\n" + kHost + "Transfer-Encoding: chunked\r\n\r\n";
    const auto head = [](std::size_t size) {
        const std::string begun = "GET / HTTP/1.1\r\n" + kHost + "X: ";
        return begun + std::string(size - begun.size(), 'a') + "\r\n\r\n";
    };
    const auto chunk = [&](std::size_t size) {
        return chunked + "1;" + std::string(size - 2, 'a') + "\r\n!\r\n0\r\n\r\n";
    };
    const auto trailers = [&](std::size_t size) {
        return chunked + "0\r\nX: " + std::string(size - 3, 'a') + "\r\n\r\n";
    };
    EXPECT_EQ(told(head(64), limits), "GET / ");
    EXPECT_EQ(told(head(65), limits), "431");
    EXPECT_EQ(told(chunk(8), limits), "POST / !");
    EXPECT_EQ(told(chunk(9), limits), "400");
    EXPECT_EQ(told(trailers(16), limits), "POST / ");
    EXPECT_EQ(told(trailers(17), limits), "431");
}

TEST(Gate, what_is_no_request_is_told_so_before_its_length) {
    EXPECT_EQ(told("@" + std::string(20'000, 'a') + " / HTTP/1.1\r\n\r\n"), "400");
}

TEST(Gate, connection_decides_whether_it_stays_open) {
    const auto keeps = [](const std::string& text) {
        Gate gate;
        EXPECT_EQ(gate.look(text), Outcome::request);
        return gate.request().keep_alive;
    };
    EXPECT_TRUE(keeps("GET / HTTP/1.1\r\n" + kHost + "\r\n"));
    EXPECT_FALSE(keeps("GET / HTTP/1.1\r\n" + kHost + "Connection: x, Close\r\n\r\n"));
    EXPECT_FALSE(keeps("GET / HTTP/1.0\r\n\r\n"));
    EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

TEST(Gate, after_a_refusal_nothing_is_read) {
    Gate gate;
    EXPECT_EQ(gate.look("nonsense\r\n\r\n"), Outcome::refused);
    EXPECT_EQ(gate.look("GET / HTTP/1.1\r\n" + kHost + "\r\n"), Outcome::refused);
}

TEST(Message, a_query_is_decoded_and_malformed_ones_are_not_guessed_at) {
    const auto query = parse_query("a=b%20c&d&e=1+2&=x").value();
    EXPECT_EQ(query, (Query{{"a", "b c"}, {"d", ""}, {"e", "1 2"}, {"", "x"}}));
    EXPECT_FALSE(parse_query("a=%2"));
    EXPECT_FALSE(parse_query("a=%zz"));
    EXPECT_FALSE(parse_query("a=%00"));
}

TEST(Message, a_response_is_written_with_its_length) {
    std::string out;
    write(out, {.status = 202, .body = "{}", .headers = {{"A", "b"}}}, false, false);
    EXPECT_EQ(out,
              "HTTP/1.1 202 Accepted\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
              "A: b\r\nConnection: close\r\n\r\n{}");
}

}  // namespace
}  // namespace holdfast::http
