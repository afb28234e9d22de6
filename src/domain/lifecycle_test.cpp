#include "domain/lifecycle.h"

#include <gtest/gtest.h>

#include "domain/lifecycle_words.h"
#include "domain/record.h"

namespace holdfast::domain {
namespace {

template <class Check>
void for_each_state(Check check) {
    for (std::size_t i = 0; i < kStates; ++i) check(static_cast<State>(i));
}

TEST(Lifecycle, every_state_is_of_one_sort) {
    for_each_state([](State s) {
        const int sorts = (s == State::none) + (s == State::queued) + is_timed(s) + is_held(s) +
                          is_parked(s) + is_final(s);
        EXPECT_EQ(sorts, 1) << to_string(s);
    });
}

TEST(Lifecycle, every_state_is_reached_and_every_unfinished_one_is_left) {
    for_each_state([](State s) {
        const bool reached =
            std::ranges::any_of(kLifecycle, [&](const Step& step) { return step.to == s; });
        const bool left =
            std::ranges::any_of(kLifecycle, [&](const Step& step) { return step.from == s; });
        EXPECT_EQ(reached, s != State::none) << to_string(s);
        EXPECT_EQ(left, !is_final(s)) << to_string(s);
    });
}

TEST(Lifecycle, every_event_but_none_is_a_step_of_somebody) {
    for (std::size_t e = 0; e < kEvents; ++e) {
        const bool used = std::ranges::any_of(
            kLifecycle, [&](const Step& step) { return step.event == static_cast<Event>(e); });
        EXPECT_EQ(used, e != 0) << to_string(static_cast<Event>(e));
    }
}

TEST(Lifecycle, from_every_unfinished_state_success_can_be_reached) {
    std::set<State> able{State::succeeded};
    for (std::size_t round = 0; round < kStates; ++round) {
        for (const Step& step : kLifecycle) {
            if (able.contains(step.to)) able.insert(step.from);
        }
    }
    for_each_state([&](State s) {
        EXPECT_EQ(able.contains(s), !is_final(s) || s == State::succeeded) << to_string(s);
    });
}

TEST(Lifecycle, an_operator_can_end_every_state_that_nobody_holds) {
    for_each_state([](State s) {
        if (s == State::none || is_final(s)) return;
        EXPECT_EQ(has_step(s, Event::discarded), !is_held(s)) << to_string(s);
        EXPECT_TRUE(has_step(s, Event::cancelled)) << to_string(s);
        EXPECT_EQ(has_step(s, Event::cancel_requested), is_held(s)) << to_string(s);
    });
}

TEST(Lifecycle, names_lead_back_to_what_they_name) {
    for (const std::string_view name : kStateNames) EXPECT_EQ(to_string(*state_from(name)), name);
    for (const std::string_view name : kEventNames) EXPECT_EQ(to_string(*event_from(name)), name);
    EXPECT_FALSE(state_from("zombie"));
    EXPECT_FALSE(event_from(""));
    EXPECT_EQ(to_string(Kind::bulk), "bulk");
}

TEST(Lifecycle, every_state_and_event_is_described) {
    for_each_state([](State s) { EXPECT_FALSE(meaning(s).empty()) << to_string(s); });
    for (std::size_t e = 0; e < kEvents; ++e)
        EXPECT_FALSE(meaning(static_cast<Event>(e)).empty()) << kEventNames[e];
}

TEST(Lifecycle, only_rows_of_the_table_are_allowed) {
    std::size_t allowed = 0;
    for_each_state([&](State from) {
        for_each_state([&](State to) {
            for (std::size_t e = 0; e < kEvents; ++e)
                allowed += is_allowed({from, static_cast<Event>(e), to}) ? 1 : 0;
        });
    });
    EXPECT_EQ(allowed, kLifecycle.size());
    EXPECT_FALSE(is_allowed({State::succeeded, Event::resumed, State::queued}));
}

}  // namespace
}  // namespace holdfast::domain
