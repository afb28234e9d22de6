// The feed's own promises: it is bounded, a reader that is too slow is told so, and trimming spares those who read.
#include "stores/memory/feed.h"

#include <gtest/gtest.h>

namespace holdfast::stores::memory {
namespace {

using namespace std::chrono_literals;

class FeedTest : public ::testing::Test {
  protected:
    Feed feed;
    Time now{std::chrono::sys_days{std::chrono::January / 5 / 2026}};
    std::uint64_t added = 0;

    /// Events are told apart by their version.
    void add(std::size_t count = 1, std::string message = {}) {
        domain::Header h;
        h.id = Uuid::named(Partition{1}, "task");
        h.queue = "q";
        h.type = "t";
        for (std::size_t i = 0; i < count; ++i) {
            h.version = ++added;
            domain::Transition t;
            t.event = domain::Event::submitted;
            t.at = now;
            t.message = message;
            feed.add(h, t);
        }
    }
    /// So many that several blocks are full of them.
    void add_blocks() { add(5000); }
    static std::uint64_t first(const FeedPage& page) { return page.events.at(0).version; }
};

TEST_F(FeedTest, an_empty_feed_has_a_place_to_go_on_from) {
    const FeedPage page = feed.read("", 10);
    EXPECT_TRUE(page.events.empty());
    EXPECT_FALSE(page.reset);
    add();
    EXPECT_EQ(first(feed.read(page.next, 10)), 1U);
}

TEST_F(FeedTest, following_next_reads_every_event_once_and_in_order_over_all_blocks) {
    add_blocks();
    std::uint64_t expected = 1;
    std::string cursor;
    for (;;) {
        const FeedPage page = feed.read(cursor, 333);
        ASSERT_FALSE(page.reset);
        ASSERT_LE(page.events.size(), 333U);
        if (page.events.empty()) break;
        for (const auto& event : page.events) ASSERT_EQ(event.version, expected++);
        cursor = page.next;
    }
    EXPECT_EQ(expected, added + 1);
}

TEST_F(FeedTest, now_begins_with_what_comes_next) {
    add(3);
    const FeedPage page = feed.read("now", 10);
    EXPECT_TRUE(page.events.empty());
    add();
    EXPECT_EQ(first(feed.read(page.next, 10)), 4U);
}

TEST_F(FeedTest, notes_stand_between_the_transitions) {
    add();
    feed.add(domain::Note{{domain::Kind::task, {}}, "partial", Bytes(std::string_view("x"))}, now);
    add();
    const auto events = feed.read("", 10).events;
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[1].name, "partial");
    EXPECT_EQ(events[2].version, 2U);
}

TEST_F(FeedTest, trimming_takes_what_is_old_and_a_late_reader_is_told) {
    add_blocks();
    const std::string early = feed.read("", 10).next;
    now += 1h;
    add_blocks();
    feed.trim(now, {});
    const FeedPage late = feed.read(early, 10);
    EXPECT_TRUE(late.reset);
    EXPECT_GT(first(late), 11U) << "it goes on at the oldest there is";
    EXPECT_LE(first(late), 5001U) << "and what is young enough was not taken";
    EXPECT_FALSE(feed.read(late.next, 10).reset);
    EXPECT_FALSE(feed.read("", 10).reset) << "who asks for the oldest misses nothing";
}

TEST_F(FeedTest, trimming_never_goes_past_a_reader_that_is_to_be_kept) {
    add_blocks();
    const std::string slow = feed.read("", 2500).next, slower = feed.read("", 1000).next;
    now += 1h;
    feed.trim(now, {slow, slower});
    EXPECT_FALSE(feed.read(slower, 1).reset);
    EXPECT_EQ(first(feed.read(slower, 1)), 1001U);
    feed.trim(now, {slow});
    EXPECT_TRUE(feed.read(slower, 1).reset);
    EXPECT_EQ(first(feed.read(slow, 1)), 2501U);
}

TEST_F(FeedTest, a_reader_whose_place_cannot_be_read_keeps_everything) {
    add_blocks();
    feed.trim(now + 1h, {"not a place"});
    EXPECT_EQ(first(feed.read("", 1)), 1U);
}

TEST_F(FeedTest, after_everything_was_trimmed_it_goes_on_counting) {
    add(3);
    const std::string before = feed.read("", 2).next, after = feed.read("", 3).next;
    feed.trim(now + 1h, {});
    EXPECT_TRUE(feed.read("", 10).events.empty());
    EXPECT_TRUE(feed.read(before, 10).reset);
    EXPECT_FALSE(feed.read(after, 10).reset) << "it had read everything";
    add();
    EXPECT_EQ(first(feed.read(after, 10)), 4U);
}

TEST_F(FeedTest, a_place_that_was_never_given_out_is_reset) {
    add(3);
    for (const char* cursor : {"99", "not a place", "-1", "99999999999999999999999"}) {
        const FeedPage page = feed.read(cursor, 10);
        EXPECT_TRUE(page.reset) << cursor;
        EXPECT_EQ(page.events.size(), 3U) << cursor;
    }
}

TEST_F(FeedTest, nobody_trims_and_it_stops_growing_all_the_same) {
    const std::size_t size = 1 << 20;
    const std::size_t fits = Feed::kMostBytes / size;
    add(2 * fits, std::string(size, 'x'));
    const FeedPage page = feed.read("", 1000);
    EXPECT_LE(page.events.size(), fits + 2);
    EXPECT_GE(page.events.size(), fits - 2);
    EXPECT_EQ(page.events.back().version, added) << "the newest are there";
    EXPECT_TRUE(feed.read("1", 1).reset) << "and who did not read in time is told";
}

}  // namespace
}  // namespace holdfast::stores::memory
