#include "observe/ports/series.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace holdfast::observe {
namespace {

using namespace std::chrono_literals;
using domain::Event;
using domain::State;

class SeriesTest : public ::testing::Test {
  protected:
    void saw(Event event, State from, State to, Time created = {}, Time started = {},
             std::string_view queue = "q") {
        series.saw({event, from, to, queue, "t", created, started, now});
    }
    void submitted(std::string_view queue = "q") {
        saw(Event::submitted, State::none, State::queued, now, {}, queue);
    }
    void succeeded_after(Duration took) {
        saw(Event::completed, State::running, State::succeeded, {}, now - took);
    }
    boost::json::object chart(std::string_view range, std::string queue = {}) {
        Table table(*range_from(range), std::move(queue), now);
        table.add(series.pack(now));
        return table.json().value().as_object();
    }
    RatesByQueue rates() {
        RateTable table(now);
        table.add(series.pack(now));
        return table.rates();
    }
    static std::vector<int> ints(const boost::json::value& list) {
        return boost::json::value_to<std::vector<int>>(list);
    }
    static int total(const boost::json::value& list) {
        int sum = 0;
        for (const int n : ints(list)) sum += n;
        return sum;
    }

    Time now = Time{std::chrono::seconds{1'800'000'000}};  // the beginning of a step of each range
    Series series{now};
};

TEST_F(SeriesTest, nothing_is_arrays_of_equal_length_with_no_times) {
    for (const Range& range : kRanges) {
        const auto empty = chart(range.name);
        for (const std::string_view name : kCountedNames)
            EXPECT_EQ(ints(empty.at(name)), std::vector<int>(range.cells, 0)) << name;
        const auto& p95 = empty.at("wait_ms").at("p95").as_array();
        EXPECT_EQ(p95.size(), range.cells);
        EXPECT_TRUE(p95.front().is_null());
    }
}

TEST_F(SeriesTest, each_step_of_the_lifecycle_counts_where_it_leads) {
    submitted();
    saw(Event::claimed, State::queued, State::running, now - 2s, now);
    saw(Event::failed, State::running, State::retrying, {}, now - 1s);
    saw(Event::failed, State::running, State::suspended, {}, now - 1s);
    saw(Event::checkpointed, State::running, State::running);
    succeeded_after(1s);
    saw(Event::cancelled, State::queued, State::cancelled);
    saw(Event::discarded, State::suspended, State::discarded);
    saw(Event::timed_out, State::queued, State::failed);
    const auto now_chart = chart("15m");
    for (const std::string_view name : kCountedNames)
        EXPECT_EQ(ints(now_chart.at(name)).back(), 1) << name;
}

TEST_F(SeriesTest, the_last_cell_is_the_step_that_runs_and_the_others_move_away) {
    submitted();
    now += 10s;
    submitted();
    submitted();
    auto submissions = ints(chart("15m").at("submitted"));
    EXPECT_EQ(submissions[89], 2);
    EXPECT_EQ(submissions[88], 1);
    now += 20s;
    submissions = ints(chart("15m").at("submitted"));
    EXPECT_EQ(submissions[87], 2);
    EXPECT_EQ(submissions[86], 1);
    EXPECT_EQ(chart("15m").at("start").as_string(), format_time(now - 890s));
}

TEST_F(SeriesTest, what_leaves_the_quarter_is_still_in_the_hour_and_the_day) {
    submitted();
    now += 16min;
    submitted();
    EXPECT_EQ(total(chart("15m").at("submitted")), 1);
    EXPECT_EQ(total(chart("1h").at("submitted")), 2);
    now += 61min;
    submitted();
    EXPECT_EQ(total(chart("1h").at("submitted")), 1);
    EXPECT_EQ(total(chart("24h").at("submitted")), 3);
    now += 25h;
    EXPECT_EQ(total(chart("24h").at("submitted")), 0);
}

TEST_F(SeriesTest, quantiles_are_right_to_a_tenth) {
    for (int i = 1; i <= 100; ++i) succeeded_after(i * 10ms);
    const auto run = chart("15m").at("run_ms").as_object();
    EXPECT_NEAR(run.at("p50").as_array().back().to_number<double>(), 500, 50);
    EXPECT_NEAR(run.at("p95").as_array().back().to_number<double>(), 950, 95);
}

TEST_F(SeriesTest, times_beyond_every_measure_are_counted_in_the_last_bucket) {
    Spread spread;
    spread.add(Duration{0});
    EXPECT_LT(*spread.quantile(0.5), 1);
    spread.add(std::chrono::hours{24 * 365});
    EXPECT_GT(*spread.quantile(1), 3.6e6 * 24);
    EXPECT_FALSE(Spread{}.quantile(0.5));
}

TEST_F(SeriesTest, the_run_of_a_worker_that_went_silent_is_not_known) {
    saw(Event::lease_ended, State::running, State::queued, {}, now - 30s);
    EXPECT_TRUE(chart("15m").at("run_ms").at("p50").as_array().back().is_null());
}

TEST_F(SeriesTest, a_queue_has_its_own_counts_and_no_times) {
    submitted("a");
    submitted("b");
    now += 30s;
    submitted("a");
    const auto a = chart("1h", "a");
    EXPECT_EQ(total(a.at("submitted")), 2);
    EXPECT_EQ(ints(a.at("submitted")).back(), 1);
    EXPECT_EQ(a.at("wait_ms").at("p50").as_array().size(), 120U);
    EXPECT_TRUE(a.at("wait_ms").at("p50").as_array().back().is_null());
    EXPECT_EQ(total(chart("1h").at("submitted")), 3);
    EXPECT_EQ(total(chart("1h", "nobody").at("submitted")), 0);
}

TEST_F(SeriesTest, queues_beyond_the_most_are_in_the_whole_only) {
    for (std::size_t i = 0; i <= Series::kMostQueues; ++i) submitted("q" + std::to_string(i));
    EXPECT_EQ(total(chart("15m").at("submitted")), static_cast<int>(Series::kMostQueues) + 1);
    EXPECT_EQ(total(chart("15m", "q500").at("submitted")), 0);
}

TEST_F(SeriesTest, instances_are_added_up) {
    submitted();
    Series other(now);
    other.saw({Event::submitted, State::none, State::queued, "q", "t", now, {}, now});
    Table table(*range_from("15m"), "", now);
    table.add(series.pack(now));
    table.add(other.pack(now));
    EXPECT_EQ(total(table.json().value().at("submitted")), 2);
}

TEST_F(SeriesTest, damaged_bytes_add_what_can_be_read_and_harm_nobody) {
    submitted();
    succeeded_after(1s);
    const std::string whole = series.pack(now);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        Table table(*range_from("24h"), "q", now);
        table.add(std::string_view(whole).substr(0, size));
        EXPECT_LE(total(table.json().value().at("submitted")), 1);
    }
}

TEST_F(SeriesTest, of_many_queues_the_busiest_are_kept) {
    submitted("quiet");
    submitted("busy");
    submitted("busy");
    Table table(*range_from("15m"), "quiet", now);
    table.add(series.pack(now, 1));
    EXPECT_EQ(total(table.json().value().at("submitted")), 0);
}

TEST_F(SeriesTest, rates_are_of_the_last_minute) {
    for (int i = 0; i < 120; ++i) {
        submitted();
        if (i % 2 == 0) succeeded_after(1s);
        now += 1s;
    }
    EXPECT_NEAR(rates()["q"].in, 1, 0.05);
    EXPECT_NEAR(rates()["q"].out, 0.5, 0.05);
    now += 5min;
    EXPECT_EQ(rates()["q"].in, 0);
}

TEST_F(SeriesTest, rates_of_an_instance_that_fell_silent_are_nothing_a_minute_later) {
    submitted();
    RateTable table(now + 1min);
    table.add(series.pack(now));
    EXPECT_TRUE(table.rates().empty());
}

TEST_F(SeriesTest, a_young_instance_has_the_rate_of_its_life) {
    now += 20s;
    for (int i = 0; i < 50; ++i) submitted();
    EXPECT_NEAR(rates()["q"].in, 2.5, 0.1);
}

TEST_F(SeriesTest, a_life_of_a_moment_counts_as_ten_seconds) {
    for (int i = 0; i < 50; ++i) submitted();
    EXPECT_NEAR(rates()["q"].in, 5, 0.1);
}

}  // namespace
}  // namespace holdfast::observe
