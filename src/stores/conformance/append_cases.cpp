// Logs and counters.
#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

using domain::Add;
using domain::Append;
using Entries = std::vector<std::pair<std::string, Bytes>>;

Change appending(std::vector<Append> appends) {
    Change change;
    change.partition = kHome;
    change.appends = std::move(appends);
    return change;
}

Append row(const Uuid& owner, std::string key, std::string text,
           Append::Existing existing = Append::Existing::skip) {
    return {"ledger", owner, std::move(key), Bytes(std::move(text)), existing};
}

TEST_P(Appends, P6_an_entry_whose_key_exists_is_skipped_and_reported) {
    const Uuid owner = submit().header.id;
    ASSERT_EQ(verdict(appending({row(owner, "b", "first")})), Verdict::committed);
    const Outcome outcome =
        commit(appending({row(owner, "a", "x"), row(owner, "b", "second"), row(owner, "c", "z")}));
    EXPECT_EQ(outcome.verdict, Verdict::committed);
    EXPECT_EQ(outcome.skipped, std::vector<std::size_t>{1});
    EXPECT_EQ(log("ledger", owner),
              (Entries{{"b", Bytes("first")}, {"a", Bytes("x")}, {"c", Bytes("z")}}));
}

TEST_P(Appends, P6_a_key_is_unique_within_its_log_and_owner_only) {
    const Uuid owner = submit().header.id;
    const Uuid other = submit().header.id;
    Append in_another_log = row(owner, "key", "2");
    in_another_log.log = "message";
    const Outcome outcome =
        commit(appending({row(owner, "key", "1"), in_another_log, row(other, "key", "3")}));
    EXPECT_EQ(outcome.verdict, Verdict::committed);
    EXPECT_TRUE(outcome.skipped.empty());
    EXPECT_EQ(log("ledger", owner), (Entries{{"key", Bytes("1")}}));
    EXPECT_EQ(log("message", owner), (Entries{{"key", Bytes("2")}}));
    EXPECT_EQ(log("ledger", other), (Entries{{"key", Bytes("3")}}));
}

TEST_P(Appends, P6_an_entry_that_may_not_repeat_makes_the_change_a_duplicate) {
    const Record task = submit();
    const Uuid& owner = task.header.id;
    ASSERT_EQ(verdict(appending({row(owner, "key", "1", Append::Existing::refuse)})),
              Verdict::committed);
    Change again = decided(task, domain::Pause{});
    again.appends = {row(owner, "new", "2"), row(owner, "key", "3", Append::Existing::refuse)};
    const Outcome outcome = commit(again);
    EXPECT_EQ(outcome.verdict, Verdict::duplicate);
    EXPECT_EQ(outcome.reason, "ledger");
    EXPECT_EQ(log("ledger", owner), (Entries{{"key", Bytes("1")}}));
    EXPECT_EQ(load(owner), task);
}

TEST_P(Appends, P6_a_key_that_stands_twice_in_one_change_is_written_once) {
    const Uuid owner = submit().header.id;
    const Outcome outcome = commit(appending({row(owner, "key", "1"), row(owner, "key", "2")}));
    EXPECT_EQ(outcome.verdict, Verdict::committed);
    EXPECT_EQ(outcome.skipped, std::vector<std::size_t>{1});
    EXPECT_EQ(log("ledger", owner), (Entries{{"key", Bytes("1")}}));
}

TEST_P(Appends, P6_a_checkpoint_is_written_once_however_often_it_is_sent) {
    submit();
    const Record held = claim_one();
    const domain::Checkpoint stage{held.header.fence(), "stage-1", Json::quoted("data"), false};
    const Record after = step(held, stage);
    EXPECT_EQ(commit(decided(after, stage)).verdict, Verdict::duplicate);
    EXPECT_EQ(load(held.header.id), after);
    EXPECT_EQ(log("checkpoint", held.header.id), (Entries{{"stage-1", Bytes("\"data\"")}}));
}

TEST_P(Appends, P28_entries_come_in_the_order_they_were_appended_from_any_place_on) {
    const Uuid owner = submit().header.id;
    Entries all;
    for (int i = 0; i < 25; ++i) {
        const std::string key = "k" + std::to_string(97 * i % 25);  // not in the order of the keys
        all.emplace_back(key, Bytes("entry " + std::to_string(i)));
        ASSERT_EQ(verdict(appending({row(owner, key, "entry " + std::to_string(i))})),
                  Verdict::committed);
    }
    EXPECT_EQ(log("ledger", owner), all);
    EXPECT_EQ(log("ledger", owner, 10, 5), Entries(all.begin() + 10, all.begin() + 15));
    EXPECT_EQ(log("ledger", owner, 20, 100), Entries(all.begin() + 20, all.end()));
    EXPECT_TRUE(log("ledger", owner, 25, 10).empty());
    EXPECT_TRUE(log("ledger", owner, 0, 0).empty());
    EXPECT_TRUE(log("ledger", new_id()).empty()) << "an owner nobody has heard of";
    EXPECT_TRUE(log("another", owner).empty());
}

// ---- counters ----

Change adding(std::vector<Add> adds) {
    Change change;
    change.partition = kHome;
    change.adds = std::move(adds);
    return change;
}

TEST_P(Counters, P7_an_add_that_would_leave_its_bounds_makes_the_change_refused) {
    const auto credits = [this] { return tally(Tally::Of::counter, "credits"); };
    ASSERT_EQ(verdict(adding({{"credits", 10, std::nullopt, 10}})), Verdict::committed)
        << "up to max, and no further";
    EXPECT_EQ(commit(adding({{"credits", 1, std::nullopt, 10}})).verdict, Verdict::refused);
    EXPECT_EQ(credits(), 10);
    EXPECT_EQ(verdict(adding({{"credits", -10, 0, std::nullopt}})), Verdict::committed);
    EXPECT_EQ(credits(), 0);
    const Outcome below = commit(adding({{"credits", -1, 0, std::nullopt}}));
    EXPECT_EQ(below.verdict, Verdict::refused);
    EXPECT_EQ(below.reason, "credits");
    EXPECT_EQ(credits(), 0);
    EXPECT_EQ(verdict(adding({{"credits", -7, std::nullopt, std::nullopt}})), Verdict::committed)
        << "without a bound there is none";
    EXPECT_EQ(credits(), -7);
}

TEST_P(Counters, P7_bounds_hold_for_what_several_adds_of_one_change_do_together) {
    ASSERT_EQ(verdict(adding({{"credits", 10, std::nullopt, std::nullopt}})), Verdict::committed);
    EXPECT_EQ(verdict(adding({{"credits", -6, 0, std::nullopt}, {"credits", -6, 0, std::nullopt}})),
              Verdict::refused);
    EXPECT_EQ(tally(Tally::Of::counter, "credits"), 10);
    EXPECT_EQ(verdict(adding({{"credits", -5, 0, std::nullopt}, {"credits", -5, 0, std::nullopt}})),
              Verdict::committed);
    EXPECT_EQ(tally(Tally::Of::counter, "credits"), 0);
}

TEST_P(Counters, P7_one_refused_add_of_several_leaves_all_counters_as_they_were) {
    ASSERT_EQ(verdict(adding({{"a", 1, 0, 1}, {"b", 1, 0, 1}})), Verdict::committed);
    const Outcome outcome = commit(adding({{"a", -1, 0, 1}, {"b", 1, 0, 1}, {"c", 1, 0, 1}}));
    EXPECT_EQ(outcome.verdict, Verdict::refused);
    EXPECT_EQ(outcome.reason, "b");
    EXPECT_EQ(tally(Tally::Of::counter, "a"), 1);
    EXPECT_EQ(tally(Tally::Of::counter, "b"), 1);
    EXPECT_EQ(tally(Tally::Of::counter, "c"), 0);
}

TEST_P(Counters, P7_a_counter_holds_numbers_beyond_53_bits) {
    constexpr std::int64_t kLarge = (std::int64_t{1} << 60) + 1;
    ASSERT_EQ(verdict(adding({{"big", kLarge, std::nullopt, kLarge}})), Verdict::committed);
    EXPECT_EQ(verdict(adding({{"big", 1, std::nullopt, kLarge}})), Verdict::refused);
    EXPECT_EQ(tally(Tally::Of::counter, "big"), kLarge);
}

TEST_P(Counters, P7_more_than_a_number_can_hold_is_beyond_any_bound) {
    const Add up{"up", 10, std::nullopt, INT64_MAX};
    const Add down{"down", -10, INT64_MIN, std::nullopt};
    ASSERT_EQ(verdict(adding({up, down})), Verdict::committed);
    EXPECT_EQ(verdict(adding({{"up", INT64_MAX, up.min, up.max}})), Verdict::refused);
    EXPECT_EQ(verdict(adding({{"down", INT64_MIN, down.min, down.max}})), Verdict::refused);
    EXPECT_EQ(tally(Tally::Of::counter, "up"), 10);
    EXPECT_EQ(tally(Tally::Of::counter, "down"), -10);
}

TEST_P(Counters, P31_what_was_never_touched_counts_zero_and_answers_come_in_order) {
    ASSERT_EQ(verdict(adding({{"two", 2, {}, {}}, {"three", 3, {}, {}}})), Verdict::committed);
    using Of = Tally::Of;
    const std::vector<Tally> tallies{{Of::counter, kHome, "three"},
                                     {Of::counter, kHome, "never"},
                                     {Of::counter, kHome, "two"},
                                     {Of::counter, kHome, "three"}};
    EXPECT_EQ(ask(store().count(tallies)), (std::vector<std::int64_t>{3, 0, 2, 3}));
    if (can(Ability::permits))
        EXPECT_EQ(tally(Of::permit, "two"), 0) << "a permit is not a counter of the same name";
}

}  // namespace
}  // namespace holdfast::stores::conformance
