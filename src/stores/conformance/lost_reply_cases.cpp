// A reply that got lost: the outcome is unknown, and the nonce tells.
#include "domain/decide.h"
#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;

/// Says `unavailable` once, either before the store has heard of it or after it has done it.
struct BadLine {
    enum class Loses : std::uint8_t { request, reply };
    Store& store;
    Loses loses;

    Async<Result<std::vector<Outcome>>> commit(std::vector<Change> changes) {
        if (loses == Loses::reply) co_await store.commit(std::move(changes));
        co_return refuse(Code::unavailable, "the line is bad");
    }
    Async<Result<std::vector<Record>>> claim(ClaimRequest request) {
        if (loses == Loses::reply) co_await store.claim(std::move(request));
        co_return refuse(Code::unavailable, "the line is bad");
    }
};

constexpr std::uint64_t kOurs = 0x0123'4567'89ab'cdefU;
constexpr std::uint64_t kTheirs = 0x0123'4567'89ab'cdeeU;  // near, to catch rounding

TEST_P(LostReplies, P13_after_a_lost_reply_the_nonce_tells_our_own_write) {
    const Record task = submit();
    Change ours = decided(task, domain::Pause{});
    ours.nonce = kOurs;
    BadLine line{store(), BadLine::Loses::reply};
    const auto answer = run(fixture().io(), line.commit({ours}));
    ASSERT_EQ(answer.error().code, Code::unavailable);
    const Record found = load(task.header.id);
    EXPECT_EQ(found.header.nonce, kOurs) << "it was written";
    EXPECT_EQ(found.header.state, State::paused);
    EXPECT_EQ(verdict(ours), Verdict::conflict) << "and sending it again writes nothing";
    EXPECT_EQ(load(task.header.id), found);
    if (can(Ability::history)) EXPECT_EQ(history(task.header.key()).size(), 2U);
}

TEST_P(LostReplies, P13_after_a_lost_request_the_nonce_tells_that_nothing_was_written) {
    const Record task = submit();
    Change ours = decided(task, domain::Pause{});
    ours.nonce = kOurs;
    BadLine line{store(), BadLine::Loses::request};
    EXPECT_FALSE(run(fixture().io(), line.commit({ours})).has_value());
    EXPECT_NE(load(task.header.id).header.nonce, kOurs);
    EXPECT_EQ(verdict(ours), Verdict::committed) << "so it is safe to send it again";
    EXPECT_EQ(load(task.header.id).header.nonce, kOurs);
}

TEST_P(LostReplies, P13_somebody_elses_write_of_the_same_version_has_another_nonce) {
    const Record task = submit();
    Change ours = decided(task, domain::Pause{});
    ours.nonce = kOurs;
    Change theirs = decided(task, domain::Pause{});
    theirs.nonce = kTheirs;
    ASSERT_EQ(verdict(theirs), Verdict::committed);
    EXPECT_EQ(verdict(ours), Verdict::conflict);
    const Record found = load(task.header.id);
    EXPECT_EQ(found.header.version, ours.puts[0].header.version);
    EXPECT_EQ(found.header.nonce, kTheirs);
}

TEST_P(LostReplies, P13_a_submission_whose_reply_was_lost_is_not_made_twice) {
    Change ours = decided(new_task());
    ours.nonce = kOurs;
    BadLine line{store(), BadLine::Loses::reply};
    EXPECT_FALSE(run(fixture().io(), line.commit({ours})).has_value());
    EXPECT_EQ(verdict(ours), Verdict::conflict);
    EXPECT_EQ(load(ours.puts[0].header.id).header.nonce, kOurs);
    EXPECT_EQ(claim(asking("default", 10)).size(), 1U);
}

TEST_P(LostReplies,
       P16_a_claim_whose_reply_was_lost_ends_by_its_lease_and_its_fence_is_never_reused) {
    const Uuid id = submit().header.id;
    BadLine line{store(), BadLine::Loses::reply};
    ClaimRequest request = asking("default");
    request.lease = moment();
    EXPECT_FALSE(run(fixture().io(), line.claim(request)).has_value());
    EXPECT_TRUE(claim(request).empty()) << "somebody holds it, and does not know";
    const Record lost = load(id);
    ASSERT_EQ(lost.header.state, State::running);
    pass(moment() + moment() / 2);
    ASSERT_EQ(due_ids(), std::vector{id});
    step(load(id), domain::Tick{});
    const Record again = claim_one();
    EXPECT_EQ(again.header.attempt, 2U);
    EXPECT_GT(again.header.epoch, lost.header.epoch);
    EXPECT_FALSE(renew(lost, 1h).held);
}

}  // namespace
}  // namespace holdfast::stores::conformance
