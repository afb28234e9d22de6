#include "url.h"

#include <gtest/gtest.h>

#include "holdfast/error.h"

namespace holdfast::client {
namespace {

TEST(Url, a_server_is_named_by_scheme_host_port_and_prefix) {
    const auto url = parse_url("http://tasks.example:8080/holdfast/");
    EXPECT_EQ(url.host, "tasks.example");
    EXPECT_EQ(url.port, "8080");
    EXPECT_EQ(url.prefix, "/holdfast");
    EXPECT_EQ(url.authority(), "tasks.example:8080");
}

TEST(Url, what_is_left_out_has_a_default) {
    EXPECT_EQ(parse_url("http://box").port, "80");
    EXPECT_EQ(parse_url("box").port, "7400");
    EXPECT_EQ(parse_url("127.0.0.1:7401").port, "7401");
    EXPECT_EQ(parse_url("http://box/").prefix, "");
}

TEST(Url, an_ipv6_address_loses_its_brackets_and_gets_them_back) {
    const auto url = parse_url("http://[::1]:7400");
    EXPECT_EQ(url.host, "::1");
    EXPECT_EQ(url.authority(), "[::1]:7400");
}

TEST(Url, what_is_no_address_is_refused_with_a_hint) {
    for (const auto* bad :
         {"", "http://", "ftp://box", "https://box", "http://box:", "http://box:99999",
          "http://box:7a", "http://me:secret@box", "http://[::1", "http://[::1]7400", "http://a b",
          "http://box?x=1", "http://box/a#b"}) {
        try {
            parse_url(bad);
            ADD_FAILURE() << bad << " was taken";
        } catch (const Error& error) {
            EXPECT_EQ(error.code, Code::invalid_argument);
            EXPECT_NE(error.detail.find("http://127.0.0.1:7400"), std::string::npos);
        }
    }
}

TEST(Url, a_query_is_encoded_and_empty_parameters_are_left_out) {
    EXPECT_EQ(query({{"a", "x y&z"}, {"b", ""}, {"c", "ü~"}}), "?a=x%20y%26z&c=%C3%BC~");
    EXPECT_EQ(query({{"b", ""}}), "");
}

}  // namespace
}  // namespace holdfast::client
