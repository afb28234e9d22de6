#include "stores/layers/outage_store.h"

#include <gtest/gtest.h>

#include "stores/memory/memory_store.h"
#include "testing/calls_under_way.h"
#include "testing/manual_clock.h"
#include "testing/watched_store.h"

namespace holdfast::stores {
namespace {

using namespace std::chrono_literals;
using testing::Executor;
using testing::ManualClock;
using testing::WatchedStore;
using Fault = testing::Watch::Fault;

struct Outages : ::testing::Test {
    void ask(std::size_t failing = 0) {
        line.fail_next(Op::clock, Fault::never_arrives, failing);
        (void)world.run(store.clock());
    }

    ManualClock clock;
    Executor world{clock};
    MemoryStore memory{clock};
    WatchedStore line{memory};
    std::vector<std::string> news;
    OutageStore store{
        line, clock,
        OutageNews{.silent = [this](const Error& e) { news.push_back("silent: " + e.detail); },
                   .answers = [this](Duration d) { news.push_back(format_duration(d)); }}};
};

TEST_F(Outages, one_is_told_once_when_it_begins_and_once_when_it_is_over) {
    ask();
    EXPECT_TRUE(news.empty());
    for (int i = 0; i < 5; ++i) {
        ask(1);
        clock.advance(2s);
    }
    EXPECT_EQ(news, std::vector<std::string>{"silent: did not arrive"});
    EXPECT_TRUE(store.silent());
    ask();
    ask();
    EXPECT_EQ(news, (std::vector<std::string>{"silent: did not arrive", "10s"}));
    EXPECT_FALSE(store.silent());
    ask(1);
    EXPECT_EQ(news.size(), 3U) << "another one";
}

TEST_F(Outages, calls_that_go_through_in_between_do_not_make_it_many) {
    for (int i = 0; i < 10; ++i) {
        ask(1);
        clock.advance(300ms);
        ask();
    }
    EXPECT_EQ(news.size(), 1U);
    clock.advance(1s);
    ask();
    EXPECT_EQ(news.size(), 2U);
}

TEST_F(Outages, what_is_refused_is_answered_all_the_same) {
    Change stray;
    domain::Put put;
    put.header.id = Uuid::named(Partition{7}, "x");
    stray.partition = Partition{8};
    stray.puts.push_back(put);
    (void)world.run(store.commit({stray}));
    EXPECT_TRUE(news.empty());
}

}  // namespace
}  // namespace holdfast::stores
