// What an acknowledged change looks like after the store was opened again.
#include <gtest/gtest.h>

#include "testing/sqlite_fixture.h"

namespace holdfast::stores {
namespace {

using domain::Complete;
using domain::Kind;
using domain::Yield;
using namespace std::chrono_literals;

class Reopening : public holdfast::testing::SqliteTest {
  protected:
    Record only_claim(const std::string& queue = "default") {
        auto claimed = claim(queue);
        if (claimed.size() != 1) throw std::runtime_error("nothing to claim");
        return claimed[0];
    }
    std::int64_t held(const std::string& permit) {
        return run(store_->count({{Tally::Of::permit, {}, permit}})).at(0);
    }
    std::vector<Uuid> claim_order(std::uint32_t max) {
        std::vector<Uuid> ids;
        for (const Record& record : claim("default", max)) ids.push_back(record.header.id);
        return ids;
    }
};

TEST_F(Reopening, a_running_task_keeps_its_fence_and_gets_its_whole_lease_again) {
    open();
    submit();
    const Record held = only_claim();
    settle();
    kill();
    clock_->advance(2h);  // nobody could renew meanwhile
    open();
    const auto after = look(held.header.id);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->header.fence(), held.header.fence());
    EXPECT_EQ(after->header.state, State::running);
    EXPECT_EQ(after->header.worker, "ann");
    EXPECT_GE(after->header.lease_until, now() + held.header.lease_granted);
    EXPECT_EQ(after->header.wake_at, after->header.lease_until);
    EXPECT_TRUE(run(store_->due(10)).empty());
    EXPECT_EQ(act(*after, Complete{held.header.fence(), {}}).verdict, Verdict::committed);
}

TEST_F(Reopening, a_lease_is_never_shorter_than_it_was) {
    open();
    submit();
    auto r = request();
    r.lease = 1h;
    const Record held = run(store_->claim(r)).at(0);
    settle();
    reopen();
    EXPECT_GE(look(held.header.id)->header.lease_until, held.header.lease_until);
}

TEST_F(Reopening, a_renewal_for_longer_than_the_claim_gave_is_kept) {
    open();
    submit();
    const Record held = only_claim();
    settle();
    const Renewed renewed =
        run(store_->renew({{held.header.id, held.header.fence(), 2h, {}, {}}})).at(0);
    ASSERT_TRUE(renewed.held);
    reopen();
    EXPECT_GE(look(held.header.id)->header.lease_until, renewed.lease_until);
}

TEST_F(Reopening, an_epoch_never_comes_again_though_the_stamp_was_lost_and_the_clock_set_back) {
    open();
    const Uuid id = submit();
    settle();
    domain::Epoch last{};
    for (int life = 0; life < 4; ++life) {
        const auto call = begin(store_->claim(request()));
        ASSERT_TRUE(call.answered()) << "a claim does not wait for its own stamp";
        const Header stamped = call.value()->at(0).header;
        EXPECT_GT(stamped.epoch, last) << "life " << life;
        last = stamped.epoch;
        const Time before = now();
        kill();
        set_clock(before - 10min);
        open();
        EXPECT_EQ(look(id)->header.state, State::queued) << "the stamp was lost";
    }
}

TEST_F(Reopening, an_epoch_never_comes_again_after_a_long_life) {
    open();
    submit();
    settle();
    for (int i = 0; i < 10; ++i) {  // claims go on for days
        clock_->advance(9h);
        const Record held = only_claim();
        ASSERT_EQ(act(held, Yield{held.header.fence(), {}, false}).verdict, Verdict::committed);
    }
    clock_->advance(25h);
    const auto call = begin(store_->claim(request()));
    EXPECT_FALSE(call.answered()) << "the ceiling of epochs must be on disk first";
    const domain::Epoch last = end(call)->at(0).header.epoch;
    const Time before = now();
    kill();
    set_clock(before - 100h);
    open();
    submit(task("other"));
    EXPECT_GT(only_claim("other").header.epoch, last);
}

TEST_F(Reopening, a_lane_keeps_its_order_also_of_those_who_came_to_it_again) {
    open();
    std::vector<Uuid> ids;
    for (int i = 0; i < 4; ++i) {
        clock_->advance(1s);
        ids.push_back(submit());
    }
    const Record first = only_claim();
    clock_->advance(1s);
    Header again = first.header;
    again.state = State::queued;
    again.updated_at = now();
    ASSERT_EQ(commit(rewrite(again, first.header)).verdict, Verdict::committed);
    reopen();
    EXPECT_EQ(claim_order(4), (std::vector<Uuid>{ids[1], ids[2], ids[3], ids[0]}));
}

TEST_F(Reopening, a_body_that_was_replaced_by_an_empty_one_stays_empty) {
    open();
    const Uuid id = submit();
    Record record = *look(id);
    ASSERT_FALSE(record.body.empty());
    domain::Change change = rewrite(record.header, record.header);
    change.puts[0].body = Bytes{};
    ASSERT_EQ(commit(std::move(change)).verdict, Verdict::committed);
    EXPECT_TRUE(look(id)->body.empty());
    reopen();
    EXPECT_TRUE(look(id)->body.empty());
}

TEST_F(Reopening, a_body_that_was_replaced_is_the_new_one) {
    options_.body_cache_bytes = 0;
    open();
    const Uuid id = submit();
    for (const char* text : {"second", "third"}) {
        const Record record = *look(id);
        domain::Change change = rewrite(record.header, record.header);
        change.puts[0].body = Bytes(text);
        ASSERT_EQ(commit(std::move(change)).verdict, Verdict::committed);
        EXPECT_EQ(look(id)->body.view(), text);
    }
    reopen();
    EXPECT_EQ(look(id)->body.view(), "third");
}

TEST_F(Reopening, permits_of_running_tasks_are_held_again_and_given_back) {
    open();
    auto gated = task();
    gated.gate = "gate";
    gated.gate_limit = 1;
    submit(gated);
    submit(gated);
    auto r = request("default", 10);
    r.queues[0].concurrency = 5;
    const auto claimed = run(store_->claim(r));
    ASSERT_EQ(claimed.size(), 1U);
    settle();
    reopen();
    EXPECT_EQ(held("gate"), 1);
    EXPECT_EQ(held(domain::queue_permit("default")), 1);
    EXPECT_TRUE(run(store_->claim(r)).empty()) << "the gate is full";
    ASSERT_EQ(act(claimed[0], Complete{claimed[0].header.fence(), {}}).verdict, Verdict::committed);
    EXPECT_EQ(held("gate"), 0);
    reopen();
    EXPECT_EQ(held("gate"), 0);
    EXPECT_EQ(run(store_->claim(r)).size(), 1U);
}

TEST_F(Reopening, a_permit_ends_when_it_was_said_to_end) {
    open();
    const auto acquire = [&](Duration ttl) {
        domain::Change change;
        change.partition = Partition{7};
        change.permits.push_back(
            {domain::Permit::Act::acquire, "seat", Uuid{1, 2}, domain::Epoch{3}, 1, ttl});
        return commit(std::move(change)).verdict;
    };
    ASSERT_EQ(acquire(10s), Verdict::committed);
    ASSERT_EQ(acquire(1h), Verdict::committed) << "acquiring what one holds changes nothing";
    clock_->advance(9s);
    reopen();
    EXPECT_EQ(held("seat"), 1);
    clock_->advance(1s);
    EXPECT_EQ(held("seat"), 0);
    reopen();
    EXPECT_EQ(held("seat"), 0);
}

TEST_F(Reopening, the_key_of_an_erased_record_is_free_and_stays_free) {
    open();
    const Uuid id = submit(task("default", "key"));
    Record record = *look(id);
    domain::Change erase = rewrite(record.header, record.header);
    erase.puts[0].erase = true;
    ASSERT_EQ(commit(std::move(erase)).verdict, Verdict::committed);
    reopen();
    EXPECT_FALSE(look(id));
    submit(task("default", "key"));
    reopen();
    const auto again = commit(domain::decide_submit(task("default", "key"), mint(), now()));
    EXPECT_EQ(again.verdict, Verdict::duplicate);
    EXPECT_NE(again.bound_to, id);
}

TEST_F(Reopening, the_key_of_an_erased_plan_that_was_bound_later_is_free) {
    open();
    Header plan;
    plan.id = mint();
    plan.kind = Kind::plan;
    plan.created_at = plan.updated_at = now();
    ASSERT_EQ(commit(rewrite(plan, {})).verdict, Verdict::committed);
    const auto bind = [&](const Uuid& id) {
        domain::Change change;
        change.partition = Partition{7};
        change.binds.push_back({"scope", "key", id, {}, 24h});
        return commit(std::move(change)).verdict;
    };
    ASSERT_EQ(bind(plan.id), Verdict::committed);
    reopen();
    EXPECT_EQ(bind(mint()), Verdict::duplicate);
    plan = look(plan.id, Kind::plan)->header;
    domain::Change erase = rewrite(plan, plan);
    erase.puts[0].erase = true;
    ASSERT_EQ(commit(std::move(erase)).verdict, Verdict::committed);
    EXPECT_EQ(bind(mint()), Verdict::committed);
}

TEST_F(Reopening, places_in_the_order_of_creation_do_not_come_again_when_the_clock_was_set_back) {
    open();
    Header bare;
    bare.id = mint();
    bare.state = State::succeeded;
    bare.queue = "default";
    bare.type = "work";
    bare.created_at = bare.updated_at = bare.finished_at = now();
    ASSERT_EQ(commit(rewrite(bare, {})).verdict, Verdict::committed);
    const Time before = now();
    kill();
    set_clock(before - 1h);
    open();
    const Uuid later = submit();
    const Page page = run(store_->list({}, "", 10, kListBudget));
    ASSERT_EQ(page.rows.size(), 2U);
    EXPECT_EQ(page.rows[0].header.id, later) << "newest first by creation";
}

TEST_F(Reopening, counters_names_and_counts_are_as_they_were) {
    open();
    auto named = task("queue-1");
    named.tenant = "tenant-1";
    named.labels = {{"colour", "red"}};
    const Uuid live = submit(named);
    const Uuid finished = finish(task("queue-2"));
    domain::Change change;
    change.partition = Partition{7};
    change.adds.push_back({"credits", 41, {}, {}});
    ASSERT_EQ(commit(std::move(change)).verdict, Verdict::committed);
    const Record before = *look(live), ended = *look(finished);
    const Stats stats = run(store_->stats());
    for (int i = 0; i < 2; ++i) {
        reopen();
        EXPECT_EQ(*look(live), before);
        EXPECT_EQ(*look(finished), ended);
        EXPECT_EQ(run(store_->count({{Tally::Of::counter, {}, "credits"}})).at(0), 41);
        const Stats again = run(store_->stats());
        ASSERT_EQ(again.queues.size(), stats.queues.size());
        for (std::size_t q = 0; q < again.queues.size(); ++q) {
            EXPECT_EQ(again.queues[q].queue, stats.queues[q].queue);
            EXPECT_EQ(again.queues[q].by_state, stats.queues[q].by_state);
        }
        Filter filter;
        filter.tenant = "tenant-1";
        EXPECT_EQ(run(store_->list(filter, "", 10, kListBudget)).rows.size(), 1U);
    }
}

TEST_F(Reopening, feed_numbers_go_on) {
    open();
    submit();
    const FeedPage first = run(store_->feed("", 100));
    ASSERT_EQ(first.events.size(), 1U);
    reopen();
    submit();
    const FeedPage second = run(store_->feed(first.next, 100));
    EXPECT_FALSE(second.reset);
    ASSERT_EQ(second.events.size(), 1U);
    EXPECT_EQ(run(store_->feed("", 100)).events.size(), 2U);
}

}  // namespace
}  // namespace holdfast::stores
