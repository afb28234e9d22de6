#include "engine/admission.h"

#include <gtest/gtest.h>

namespace holdfast::engine {
namespace {

using namespace std::chrono_literals;

constexpr Time kStart{std::chrono::seconds{1'000'000}};

TEST(Admission, a_burst_is_let_in) {
    Admission admission;
    admission.wrote(kStart, kStart + 2s);
    EXPECT_FALSE(admission.sheds(kStart + 2s + 50ms, 1000));
    admission.wrote(kStart + 2s, kStart + 2s + 60ms);
    EXPECT_FALSE(admission.sheds(kStart + 10s, 1000));
}

TEST(Admission, a_standing_queue_is_not) {
    Admission admission;
    admission.wrote(kStart, kStart + 1s);
    admission.wrote(kStart, kStart + 1s + 80ms);
    EXPECT_TRUE(admission.sheds(kStart + 1s + 100ms, 1));
    EXPECT_FALSE(admission.sheds(kStart + 1s + 100ms, 0)) << "there is no queue";
}

TEST(Admission, one_fast_write_opens_the_door_again) {
    Admission admission;
    admission.wrote(kStart, kStart + 1s);
    ASSERT_TRUE(admission.sheds(kStart + 2s, 1));
    admission.wrote(kStart + 2s, kStart + 2s + 499ms);
    EXPECT_FALSE(admission.sheds(kStart + 3s, 1));
}

}  // namespace
}  // namespace holdfast::engine
