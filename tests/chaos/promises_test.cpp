// The load and its checker, on a store that never loses anything.
#include "promises.h"

#include <gtest/gtest.h>

#include "fast_clock.h"
#include "load.h"
#include "stores/memory/memory_store.h"

namespace holdfast::chaos {
namespace {

constexpr Time kStart{std::chrono::sys_days{std::chrono::January / 5 / 2026}};

class PromisesTest : public ::testing::Test {
  protected:
    void run_load(std::uint64_t calls) {
        Load load(engine, {.seed = 7, .life = 1, .calls = calls}, [&](const Told& told) {
            std::string line = to_line(told);
            line.pop_back();
            ASSERT_EQ(read_line(line), told);
            heard.push_back(told);
            promises.hear(told);
        });
        load.start(context);
        context.run();
        context.restart();
    }
    std::string found() {
        asio::co_spawn(context, promises.check(&engine), [](const std::exception_ptr& failure) {
            if (failure) std::rethrow_exception(failure);
        });
        context.run();
        context.restart();
        return promises.violation() ? promises.violation()->detail : "nothing";
    }
    /// A step that the store does not know.
    std::string found_after(Told told) {
        promises.hear(told);
        return found();
    }
    Uuid finished() const {
        for (const Told& told : heard) {
            if (told.what == Told::What::stepped && told.event == domain::Event::completed)
                return told.id;
        }
        return {};
    }

    FastClock clock{kStart};
    asio::io_context context;
    stores::MemoryStore store{clock};
    engine::Engine engine{store, clock, context.get_executor(), {.seed = 1}};
    Promises promises{1};
    std::vector<Told> heard;
};

TEST_F(PromisesTest, a_store_that_keeps_everything_is_found_right) {
    run_load(3000);
    EXPECT_EQ(found(), "nothing");
    EXPECT_GT(promises.tasks(), 100U);
    std::set<Told::What> kinds;
    std::set<domain::Event> events;
    for (const Told& told : heard) {
        kinds.insert(told.what);
        events.insert(told.event);
    }
    EXPECT_EQ(kinds.size(), 8U);
    EXPECT_GE(events.size(), 12U);
}

TEST_F(PromisesTest, what_is_not_there_is_found) {
    run_load(500);
    ASSERT_EQ(found(), "nothing");
    EXPECT_TRUE(found_after({.what = Told::What::accepted, .id = {1, 2}}).starts_with("I1"));
    EXPECT_TRUE(promises.violation()->is_loss);
}

TEST_F(PromisesTest, a_lost_step_is_found) {
    run_load(500);
    EXPECT_TRUE(found_after({.what = Told::What::seen,
                             .id = heard.front().id,
                             .state = domain::State::paused,
                             .version = 1})
                    .starts_with("I1"));
}

TEST_F(PromisesTest, a_second_completion_is_found) {
    run_load(500);
    Told again{.what = Told::What::stepped, .id = finished(), .event = domain::Event::completed};
    again.state = domain::State::succeeded;
    again.version = 99;
    EXPECT_TRUE(found_after(again).starts_with("I2"));
}

TEST_F(PromisesTest, a_claim_after_the_end_is_found_and_a_late_answer_is_not) {
    const Uuid id = Uuid::named(Partition{1}, "x");
    Told claim{.what = Told::What::claimed, .id = id, .attempt = 1, .epoch = domain::Epoch{5}};
    claim.version = 2;
    promises.hear({.what = Told::What::stepped,
                   .id = id,
                   .event = domain::Event::cancelled,
                   .state = domain::State::cancelled,
                   .version = 3});
    promises.hear(claim);  // it was claimed before it was cancelled, and the answer took its time
    EXPECT_FALSE(promises.violation());
    claim.epoch = domain::Epoch{6};
    claim.version = 4;
    promises.hear(claim);
    ASSERT_TRUE(promises.violation());
    EXPECT_NE(promises.violation()->detail.find("handed out after it was over"), std::string::npos);
}

TEST_F(PromisesTest, lost_entries_and_settings_are_found) {
    run_load(500);
    EXPECT_TRUE(found_after({.what = Told::What::spent, .text = "never"}).starts_with("I1"));
    promises = Promises(1);
    EXPECT_TRUE(found_after({.what = Told::What::limited, .version = 1U << 30, .text = "a"})
                    .starts_with("I1"));
}

TEST_F(PromisesTest, a_forgotten_key_is_found) {
    run_load(500);
    promises = Promises(1);
    const auto without_key = std::ranges::find_if(heard, [](const Told& told) {
        return told.what == Told::What::accepted && told.text.empty();
    });
    ASSERT_NE(without_key, heard.end());
    EXPECT_TRUE(found_after({.what = Told::What::accepted, .id = without_key->id, .text = "k9-9"})
                    .starts_with("I9"));
}

}  // namespace
}  // namespace holdfast::chaos
