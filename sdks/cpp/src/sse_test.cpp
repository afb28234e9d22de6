#include "sse.h"

#include <gtest/gtest.h>

#include "holdfast/error.h"

namespace holdfast::client {
namespace {

TEST(Sse, an_event_has_an_id_a_kind_and_data_of_several_lines) {
    SseParser parser;
    const auto events = parser.feed("id: 7\nevent: task\ndata: {\ndata: }\n\n");
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].id, "7");
    EXPECT_EQ(events[0].kind, "task");
    EXPECT_EQ(events[0].data, "{\n}");
}

TEST(Sse, events_come_out_the_same_wherever_the_bytes_are_cut) {
    const std::string text =
        ": hb\n\nid: 1\r\ndata:a\r\n\r\nretry: 5\ndata: b\n\nevent: reset\nid: 9\ndata: c\n\n";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        SseParser parser;
        auto events = parser.feed(text.substr(0, cut));
        for (auto& event : parser.feed(text.substr(cut))) events.push_back(event);
        ASSERT_EQ(events.size(), 3U) << cut;
        EXPECT_EQ(events[0].id + events[0].kind + events[0].data, "1messagea") << cut;
        EXPECT_EQ(events[1].id + events[1].kind + events[1].data, "1messageb") << cut;
        EXPECT_EQ(events[2].id + events[2].kind + events[2].data, "9resetc") << cut;
    }
}

TEST(Sse, a_heartbeat_and_an_event_without_data_are_no_events) {
    SseParser parser;
    EXPECT_TRUE(parser.feed(": hb\n\nevent: x\n\n").empty());
}

TEST(Sse, an_id_without_data_still_moves_the_place_to_go_on_from) {
    SseParser parser;
    parser.feed("id: 12\n\n");
    EXPECT_EQ(parser.last_id(), "12");
}

TEST(Sse, an_event_without_end_is_refused_before_it_fills_the_memory) {
    SseParser parser;
    const std::string piece(std::size_t{1} << 20, 'x');
    EXPECT_THROW(
        {
            parser.feed("data: ");
            for (int i = 0; i < 20; ++i) parser.feed(piece);
        },
        Error);
}

}  // namespace
}  // namespace holdfast::client
