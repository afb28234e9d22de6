#include "coordination/hints.h"

#include <gtest/gtest.h>

namespace holdfast::coordination {
namespace {

using Of = Hint::Of;

TEST(Hints, a_message_reads_back_as_what_was_packed) {
    const std::vector<Hint> all{{Of::queue, "mail", 12},   {Of::task, "0193-a", 1},
                                {Of::settings, "mail", 1}, {Of::cancel, "0193-b", 1},
                                {Of::pause, "0193-c", 1},  {Of::drain, "w 1", 1},
                                {Of::instances, "", 1}};
    const std::string message = pack_hints("one", all);
    const auto read = unpack_hints(message);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->from, "one");
    EXPECT_EQ(read->hints, all);
}

TEST(Hints, what_another_version_says_or_nonsense_is_left_out_and_the_rest_is_read) {
    const auto read =
        unpack_hints("one\nz1 what\nq mail\nq1\nq1x mail\n\nq99999999999 mail\nq2 mail");
    ASSERT_TRUE(read);
    EXPECT_EQ(read->hints, (std::vector<Hint>{{Of::queue, "mail", 2}}));
    EXPECT_FALSE(unpack_hints(""));
    EXPECT_FALSE(unpack_hints("\nq1 mail"));
    EXPECT_TRUE(unpack_hints("one\nq1 " + std::string(5000, 'a'))->hints.empty());
}

TEST(Hints, equal_ones_become_one_and_their_counts_are_added) {
    HintBatch batch;
    EXPECT_TRUE(batch.add({Of::queue, "mail", 3}));
    EXPECT_FALSE(batch.add({Of::queue, "mail", 4}));
    EXPECT_FALSE(batch.add({Of::task, "mail"}));
    EXPECT_EQ(batch.take(), (std::vector<Hint>{{Of::queue, "mail", 7}, {Of::task, "mail", 1}}));
    EXPECT_TRUE(batch.empty());
    EXPECT_TRUE(batch.add({Of::queue, "mail"}));
}

TEST(Hints, a_batch_is_bounded_and_goes_on_counting_what_it_has) {
    HintBatch batch;
    for (std::size_t i = 0; i < HintBatch::kMost + 10; ++i)
        batch.add({Of::task, std::to_string(i)});
    batch.add({Of::task, "0"});
    const auto hints = batch.take();
    EXPECT_EQ(hints.size(), HintBatch::kMost);
    EXPECT_EQ(hints.front(), (Hint{Of::task, "0", 2}));
}

}  // namespace
}  // namespace holdfast::coordination
