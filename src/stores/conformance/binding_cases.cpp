// Idempotency: a key names one record for a while.
#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;

/// A submission whose record is bound to (scope, key).
Change bound(Change change, std::string scope, std::string key, Duration ttl = 1h,
             std::string_view content = "content") {
    change.binds.push_back(
        {std::move(scope), std::move(key), change.puts.at(0).header.id, sha256(content), ttl});
    return change;
}

TEST_P(Bindings, P8_a_live_binding_of_another_record_makes_the_change_a_duplicate) {
    const Record first = apply(bound(decided(new_task()), "scope", "key", 1h, "first"));
    const Change rival = bound(decided(new_task("rival")), "scope", "key", 1h, "second");
    const Outcome outcome = commit(rival);
    EXPECT_EQ(outcome.verdict, Verdict::duplicate);
    EXPECT_EQ(outcome.bound_to, first.header.id);
    EXPECT_EQ(outcome.bound_hash, sha256("first"));
    EXPECT_FALSE(outcome.reason.empty());
    EXPECT_FALSE(find(rival.puts[0].header.key()));
    EXPECT_TRUE(claim(asking("rival")).empty());
}

TEST_P(Bindings, P8_scope_and_key_together_are_the_name) {
    apply(bound(decided(new_task()), "scope", "key"));
    EXPECT_EQ(verdict(bound(decided(new_task()), "scope", "other")), Verdict::committed);
    EXPECT_EQ(verdict(bound(decided(new_task()), "other", "key")), Verdict::committed);
    EXPECT_EQ(verdict(bound(decided(new_task()), "", "key")), Verdict::committed);
    // Texts that run together the same way are not the same name.
    EXPECT_EQ(verdict(bound(decided(new_task()), "scop", "ekey")), Verdict::committed);
    EXPECT_EQ(verdict(bound(decided(new_task()), "scope:", "x")), Verdict::committed);
    EXPECT_EQ(verdict(bound(decided(new_task()), "scope", ":x")), Verdict::committed);
}

TEST_P(Bindings, P8_binding_a_record_again_to_its_own_key_is_no_duplicate) {
    const Record task = apply(bound(decided(new_task()), "scope", "key"));
    const Record paused = apply(bound(decided(task, domain::Pause{}), "scope", "key"));
    EXPECT_EQ(paused.header.state, State::paused);
}

TEST_P(Bindings, P8_a_binding_past_its_ttl_is_free_again) {
    apply(bound(decided(new_task()), "scope", "key", 2 * moment()));
    pass(moment());
    EXPECT_EQ(verdict(bound(decided(new_task()), "scope", "key")), Verdict::duplicate);
    pass(moment() + moment() / 2);
    const Record second = apply(bound(decided(new_task()), "scope", "key", 1h, "second"));
    // The key now names the second record, for as long as the second binding says.
    pass(moment());
    const Outcome outcome = commit(bound(decided(new_task()), "scope", "key"));
    EXPECT_EQ(outcome.verdict, Verdict::duplicate);
    EXPECT_EQ(outcome.bound_to, second.header.id);
    EXPECT_EQ(outcome.bound_hash, sha256("second"));
}

TEST_P(Bindings, P8_the_binding_of_an_erased_record_is_free_again) {
    const Record first = apply(bound(decided(new_task()), "scope", "key"));
    Change erasure = rewrite(first.header);
    only_put(erasure).erase = true;
    ASSERT_EQ(verdict(erasure), Verdict::committed);
    const Record second = apply(bound(decided(new_task()), "scope", "key"));
    EXPECT_EQ(commit(bound(decided(new_task()), "scope", "key")).bound_to, second.header.id);
}

TEST_P(Bindings, P8_a_finished_record_keeps_its_binding) {
    apply(bound(decided(new_task()), "scope", "key"));
    const Record done = complete(claim_one());
    const Outcome outcome = commit(bound(decided(new_task()), "scope", "key"));
    EXPECT_EQ(outcome.verdict, Verdict::duplicate);
    EXPECT_EQ(outcome.bound_to, done.header.id);
}

TEST_P(Bindings, P8_of_two_changes_in_one_call_the_first_has_the_key) {
    const std::vector<Change> rivals{bound(decided(new_task()), "scope", "key", 1h, "first"),
                                     bound(decided(new_task()), "scope", "key", 1h, "second")};
    const std::vector<Outcome> outcomes = commit_all(rivals);
    EXPECT_EQ(outcomes[0].verdict, Verdict::committed);
    EXPECT_EQ(outcomes[1].verdict, Verdict::duplicate);
    EXPECT_EQ(outcomes[1].bound_to, rivals[0].puts[0].header.id);
    EXPECT_EQ(claim(asking("default", 10)).size(), 1U);
}

}  // namespace
}  // namespace holdfast::stores::conformance
