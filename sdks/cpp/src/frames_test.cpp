#include "frames.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace holdfast::client {
namespace {

const Fence kFence{"0193-x", 2, 1'763'000'000'000'123};

TEST(Frames, an_assignment_is_read_with_its_parts_as_they_stand) {
    Frame frame;
    ASSERT_TRUE(read_frame(R"( {"op":"assign","tasks":[{"id":"a","type":"t\u002et","queue":"q",
        "payload":{"text":"}]\"","n":[1,{}]},"attempt":2,"epoch":1763000000000123,
        "unknown":[[{"x":"]"}]],"checkpoints":[{"stage":"s","data":1}],"lease_until":"soon"},
        {"id":"b","payload":null,"attempt":1,"epoch":5}]} )",
                           frame));
    ASSERT_EQ(frame.tasks.size(), 2U);
    EXPECT_EQ(frame.tasks[0].fence, (Fence{"a", 2, 1'763'000'000'000'123}));
    EXPECT_EQ(frame.tasks[0].type, "t.t");
    EXPECT_EQ(frame.tasks[0].payload, R"({"text":"}]\"","n":[1,{}]})");
    EXPECT_EQ(frame.tasks[0].lease_until, "soon");
    EXPECT_EQ(elements(frame.tasks[0].checkpoints),
              std::vector<std::string_view>{R"({"stage":"s","data":1})"});
    EXPECT_EQ(frame.tasks[1].payload, "null");
}

TEST(Frames, outcomes_and_beats_are_read) {
    Frame frame;
    ASSERT_TRUE(read_frame(
        R"({"op":"outcome","of":"done","items":[{"id":"a","attempt":1,"epoch":2,"outcome":"ok","duplicate":true}]})",
        frame));
    EXPECT_EQ(frame.of, "done");
    EXPECT_EQ(frame.items.at(0).outcome, "ok");
    EXPECT_TRUE(frame.items.at(0).duplicate);
    ASSERT_TRUE(read_frame(
        R"({"items":[{"id":"a","attempt":1,"epoch":2,"cancel_requested":true}],"op":"heartbeat"})",
        frame));
    EXPECT_TRUE(frame.of.empty()) << "left over from the frame before";
    EXPECT_TRUE(frame.items.at(0).cancel_requested);
    EXPECT_FALSE(frame.items.at(0).pause_requested);
}

TEST(Frames, what_is_no_frame_is_refused_wherever_it_breaks_off) {
    const std::string whole =
        R"({"op":"assign","tasks":[{"id":"a","payload":{"k":["v"]},"attempt":1,"epoch":2}]})";
    Frame frame;
    for (std::size_t cut = 0; cut < whole.size(); ++cut)
        EXPECT_FALSE(read_frame(std::string_view(whole).substr(0, cut), frame)) << cut;
    EXPECT_TRUE(read_frame(whole, frame));
    for (const auto* bad : {"[]", "{}", R"({"op":"x"} y)", R"({"op" "x"})", R"({"tasks":[]})"})
        EXPECT_FALSE(read_frame(bad, frame)) << bad;
}

TEST(Frames, items_are_json_whatever_the_texts_hold) {
    const auto failure = fail_item(kFence, {.kind = "transient",
                                            .message = "bad \"quote\"\n\xff",
                                            .stack = "s",
                                            .code = "c",
                                            .retry_after = std::chrono::milliseconds{1500}});
    EXPECT_EQ(boost::json::parse(failure),
              boost::json::parse("{\"id\":\"0193-x\",\"attempt\":2,\"epoch\":1763000000000123,"
                                 "\"error\":{\"kind\":\"transient\",\"message\":\"bad "
                                 "\\\"quote\\\"\\n\xef\xbf\xbd\","
                                 "\"stack\":\"s\",\"code\":\"c\"},\"retry_after\":\"1500ms\"}"));
    EXPECT_EQ(done_item(kFence, "{}"),
              R"({"id":"0193-x","attempt":2,"epoch":1763000000000123,"result":{}})");
    EXPECT_EQ(
        yield_item(kFence, std::chrono::milliseconds{2000}, true),
        R"({"id":"0193-x","attempt":2,"epoch":1763000000000123,"after":"2s","until_signal":true})");
    EXPECT_EQ(boost::json::parse(heartbeat_item(kFence, 0.5, "half")).at("progress"), 0.5);
}

TEST(Frames, a_hello_names_what_is_held_only_when_there_is_something) {
    const Hello hello{.worker = "w", .queues = {"a", "b"}, .slots = 3};
    EXPECT_EQ(hello_frame(hello, {}),
              R"({"op":"hello","worker":"w","queues":["a","b"],"slots":3})");
    const Hello full{.worker = "w",
                     .queues = {"a"},
                     .slots = 3,
                     .lease = std::chrono::milliseconds{30'000},
                     .types = {"t"},
                     .labels = {{"gpu", "1"}}};
    EXPECT_EQ(
        hello_frame(full, {kFence}),
        R"({"op":"hello","worker":"w","queues":["a"],"slots":3,"lease":"30s","types":["t"],)"
        R"("labels":{"gpu":"1"},"running":[{"id":"0193-x","attempt":2,"epoch":1763000000000123}]})");
}

TEST(Frames, a_builder_begins_a_new_frame_at_the_limits_of_the_server) {
    FrameBuilder builder("done");
    std::vector<std::string> out;
    for (std::size_t i = 0; i < kMostItems + 1; ++i) builder.add("{}");
    builder.take(out);
    ASSERT_EQ(out.size(), 2U);
    EXPECT_EQ(boost::json::parse(out[0]).at("items").as_array().size(), kMostItems);
    EXPECT_EQ(out[1], R"({"op":"done","items":[{}]})");
    EXPECT_TRUE(builder.empty());

    out.clear();
    const std::string large = "\"" + std::string(kFrameBytes, 'x') + "\"";
    for (int i = 0; i < 3; ++i) builder.add(large);
    builder.take(out);
    EXPECT_EQ(out.size(), 3U) << "large items travel alone";
}

TEST(Frames, an_empty_heartbeat_is_a_frame_without_items) {
    FrameBuilder builder("heartbeat");
    std::vector<std::string> out;
    builder.add("");
    builder.take(out);
    EXPECT_EQ(out.at(0), R"({"op":"heartbeat","items":[]})");
    builder.add("");
    builder.add("{}");
    builder.take(out);
    EXPECT_EQ(out.at(1), R"({"op":"heartbeat","items":[{}]})");
}

}  // namespace
}  // namespace holdfast::client
