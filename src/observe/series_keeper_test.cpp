// Charts that outlive the instance that counted, and are the sum of all.
#include "observe/ports/series_keeper.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "stores/memory/memory_store.h"
#include "testing/manual_clock.h"

namespace holdfast::observe {
namespace {

using namespace std::chrono_literals;
using domain::Event;
using domain::State;

class SeriesKeeperTest : public ::testing::Test {
  protected:
    /// One start of an instance.
    struct Life {
        Life(stores::Store& store, Clock& clock, std::string_view name)
            : series(clock.now()),
              keeper(store, series, [&clock] { return clock.now(); }, name, clock.now()) {}
        Series series;
        SeriesKeeper keeper;
    };

    template <class T>
    T run(Async<T> call) {
        std::optional<T> answer;
        asio::io_context context;
        asio::co_spawn(context, std::move(call), [&](const std::exception_ptr& failure, T result) {
            if (failure) std::rethrow_exception(failure);
            answer = std::move(result);
        });
        context.run();
        return *std::move(answer);
    }
    void submit(Life& life, int times = 1) {
        for (int i = 0; i < times; ++i)
            life.series.saw({Event::submitted, State::none, State::queued, "q", "t", clock.now(),
                             kNoTime, clock.now()});
    }
    int submitted(Life& by, std::string range = "24h") {
        const auto chart = run(by.keeper.chart(std::move(range), ""))->value();
        int sum = 0;
        for (const auto& n : chart.at("submitted").as_array()) sum += n.to_number<int>();
        return sum;
    }
    std::size_t records() {
        stores::Filter filter;
        filter.kind = domain::Kind::series;
        return run(store.list(filter, {}, 100, stores::kListBudget))->rows.size();
    }

    testing::ManualClock clock;
    stores::MemoryStore store{clock};
};

TEST_F(SeriesKeeperTest, what_was_saved_is_shown_after_a_restart_under_the_same_name) {
    Life first(store, clock, "a");
    submit(first, 3);
    ASSERT_TRUE(run(first.keeper.save()));
    clock.advance(1min);
    Life second(store, clock, "a");
    EXPECT_EQ(submitted(second), 3);
    submit(second, 2);
    ASSERT_TRUE(run(second.keeper.save()));
    EXPECT_EQ(submitted(second), 5);
}

TEST_F(SeriesKeeperTest, instances_see_the_sum_a_few_seconds_after_it_was_saved) {
    Life one(store, clock, "a");
    Life two(store, clock, "b");
    submit(one);
    EXPECT_EQ(submitted(one), 1);
    EXPECT_EQ(submitted(two), 0);
    ASSERT_TRUE(run(one.keeper.save()));
    clock.advance(6s);
    EXPECT_EQ(submitted(two), 1);
    submit(one);
    ASSERT_TRUE(run(one.keeper.save()));
    clock.advance(6s);
    EXPECT_EQ(submitted(two), 2);
}

TEST_F(SeriesKeeperTest, nothing_new_is_not_written_again) {
    Life life(store, clock, "a");
    ASSERT_TRUE(run(life.keeper.save()));
    EXPECT_EQ(records(), 0U);
    submit(life);
    ASSERT_TRUE(run(life.keeper.save()));
    const auto before = run(store.feed("now", 1))->next;
    ASSERT_TRUE(run(life.keeper.save()));
    EXPECT_TRUE(run(store.feed(before, 10))->events.empty());
}

TEST_F(SeriesKeeperTest, a_record_that_was_written_without_our_knowing_is_written_over) {
    Life life(store, clock, "a");
    Life twin(store, clock, "a");  // its answers are those that were lost
    submit(twin);
    ASSERT_TRUE(run(twin.keeper.save()));
    submit(life, 2);
    ASSERT_TRUE(run(life.keeper.save()));
    Life other(store, clock, "b");
    EXPECT_EQ(submitted(other), 2);
}

TEST_F(SeriesKeeperTest, records_that_no_chart_can_show_are_removed) {
    Life gone(store, clock, "a");
    submit(gone);
    ASSERT_TRUE(run(gone.keeper.save()));
    clock.advance(24h);
    Life life(store, clock, "b");
    ASSERT_TRUE(run(life.keeper.save()));
    EXPECT_EQ(records(), 1U);
    clock.advance(2h);
    ASSERT_TRUE(run(life.keeper.save()));
    EXPECT_EQ(records(), 0U);
}

TEST_F(SeriesKeeperTest, rates_are_of_all_instances_that_live) {
    Life one(store, clock, "a");
    Life two(store, clock, "b");
    clock.advance(50s);
    submit(one, 100);
    submit(two, 50);
    ASSERT_TRUE(run(two.keeper.save()));
    EXPECT_NEAR(run(one.keeper.rates())["q"].in, 3, 0.1);
    clock.advance(5min);
    EXPECT_EQ(run(one.keeper.rates())["q"].in, 0);
}

TEST_F(SeriesKeeperTest, after_a_restart_the_rate_is_what_was_submitted_in_the_minute_before_now) {
    Life first(store, clock, "a");
    submit(first, 30);
    ASSERT_TRUE(run(first.keeper.save()));
    clock.advance(40s);
    Life second(store, clock, "a");
    EXPECT_NEAR(run(second.keeper.rates())["q"].in, 30.0 / 40, 0.01);
    submit(second, 10);
    EXPECT_NEAR(run(second.keeper.rates())["q"].in, 40.0 / 40, 0.01) << "one life, not two";
    clock.advance(30s);
    EXPECT_LT(run(second.keeper.rates())["q"].in, 0.21) << "only the ten are of the last minute";
}

TEST_F(SeriesKeeperTest, a_range_that_there_is_not_is_the_callers_mistake) {
    Life life(store, clock, "a");
    EXPECT_EQ(run(life.keeper.chart("2h", "")).error().field, "range");
}

}  // namespace
}  // namespace holdfast::observe
