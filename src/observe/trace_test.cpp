#include "observe/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace holdfast::observe {
namespace {

constexpr std::string_view kParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(Traceparent, is_read_and_written_the_same) {
    const auto context = parse_traceparent(kParent);
    ASSERT_TRUE(context);
    EXPECT_EQ(context->trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(context->span, 0x00f067aa0ba902b7U);
    EXPECT_TRUE(context->sampled);
    EXPECT_EQ(context->traceparent(), kParent);
    const std::string quiet = std::string(kParent.substr(0, 53)) + "00";
    EXPECT_EQ(parse_traceparent(quiet)->traceparent(), quiet);
}

TEST(Traceparent, of_a_newer_version_is_read_as_far_as_it_is_known) {
    const std::string rest(kParent.substr(2));
    EXPECT_EQ(parse_traceparent("cc" + rest)->traceparent(), kParent);
    EXPECT_EQ(parse_traceparent("cc" + rest + "-what-comes")->traceparent(), kParent);
    EXPECT_FALSE(parse_traceparent("cc" + rest + "x"));
    const std::string flags = std::string(kParent.substr(0, 53)) + "ff";
    EXPECT_EQ(parse_traceparent(flags)->traceparent(), kParent) << "only the flag that we know";
}

TEST(Traceparent, that_is_broken_is_refused) {
    const std::string good(kParent);
    const auto with = [&](std::size_t at, std::string_view text) {
        return std::string(good).replace(at, text.size(), text);
    };
    for (const std::string& text :
         {std::string(), good.substr(1), good.substr(0, 54), good + "-", good + "-00", " " + good,
          with(0, "ff"), with(0, "0x"), with(2, "_"), with(35, "_"), with(52, "_"), with(3, "4B"),
          with(3, std::string(32, '0')), with(36, std::string(16, '0')), with(53, "0g"),
          with(40, "\n")})
        EXPECT_FALSE(parse_traceparent(text)) << text;
}

TEST(Trace, a_child_keeps_the_trace_and_has_a_span_of_its_own) {
    Rng rng(1);
    const TraceContext parent = *parse_traceparent(kParent);
    std::set<std::uint64_t> spans{parent.span};
    for (int i = 0; i < 1000; ++i) {
        const TraceContext child = child_of(parent, rng);
        EXPECT_EQ(child.trace_id(), parent.trace_id());
        EXPECT_EQ(child.sampled, parent.sampled);
        EXPECT_TRUE(spans.insert(child.span).second);
    }
    EXPECT_FALSE(child_of({1, 2, 3, false}, rng).sampled);
}

TEST(Trace, a_new_one_is_valid_and_like_no_other) {
    Rng rng(2);
    std::set<std::string> ids;
    for (int i = 0; i < 1000; ++i) {
        const TraceContext trace = new_trace(rng);
        EXPECT_EQ(parse_traceparent(trace.traceparent()), trace);
        EXPECT_TRUE(ids.insert(trace.trace_id()).second);
    }
}

TEST(Trace, goes_on_from_what_was_sent_or_begins_anew) {
    Rng rng(3);
    EXPECT_EQ(continued(kParent, rng).trace_id(), kParent.substr(3, 32));
    EXPECT_NE(continued(kParent, rng).traceparent(), kParent);
    EXPECT_TRUE(parse_traceparent(continued("", rng).traceparent()));
    EXPECT_TRUE(parse_traceparent(continued("junk\r\n", rng).traceparent()));
}

TEST(RequestId, is_short_printable_unique_and_replayed_by_its_seed) {
    Rng rng(4);
    std::set<std::string> ids;
    for (int i = 0; i < 10'000; ++i) {
        const std::string id = new_request_id(rng);
        EXPECT_EQ(id.size(), 17U);
        EXPECT_TRUE(id.starts_with("req_"));
        EXPECT_TRUE(
            std::ranges::all_of(id.substr(4), [](unsigned char c) { return std::isalnum(c); }));
        EXPECT_TRUE(ids.insert(id).second);
    }
    Rng again(4);
    EXPECT_TRUE(ids.contains(new_request_id(again)));
}

}  // namespace
}  // namespace holdfast::observe
