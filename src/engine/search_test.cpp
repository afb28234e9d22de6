// Searching: what goes to an index, what is looked at, and what counts tell.
#include "engine/search.h"

#include "testing/engine_fixture.h"

namespace holdfast::engine {
namespace {

using namespace holdfast::testing;

class Searching : public EngineTest {
  protected:
    Search narrowed(std::string_view line, stores::Filter filter = {}) {
        Search search(std::move(filter));
        const auto ok = narrow(search, line, clock.now());
        EXPECT_TRUE(ok) << line;
        return search;
    }
    std::vector<TaskId> found(std::string_view line) {
        std::vector<TaskId> ids;
        std::string cursor;
        do {
            const stores::Page page = run(engine.list(narrowed(line), cursor, 2)).value();
            EXPECT_LE(page.rows.size(), 2U);
            for (const stores::ListRow& row : page.rows) ids.push_back(row.header.id);
            cursor = page.next;
        } while (!cursor.empty());
        return ids;
    }
    TaskId submit_with(std::string_view payload) {
        domain::Submission s = work();
        s.payload = json(payload);
        advance(1ms);
        return submit(s);
    }
    TaskId fail_with(const std::string& message, std::string queue = "q", std::string tenant = {}) {
        domain::Submission s = work(queue);
        s.tenant = std::move(tenant);
        const domain::Header h = running(s);
        run(engine.fail(
            {{h.id, h.fence(), {domain::ErrorKind::permanent, message, "at f()", ""}, {}}}));
        advance(1ms);
        return h.id;
    }
};

TEST_F(Searching, what_an_index_serves_goes_to_the_filter) {
    const Search s = narrowed("state:failed,queued -state:failed queue:a age:<1h group:ff");
    EXPECT_EQ(s.filter.states, std::vector{State::queued});
    EXPECT_EQ(s.filter.queue, "a");
    EXPECT_EQ(s.filter.fingerprint, 0xffU);
    EXPECT_GT(s.filter.since, clock.now() - 1h);
    EXPECT_TRUE(s.filter.clauses.empty());
    EXPECT_FALSE(is_indexed(s)) << "by failure, and then by queue";
    for (const char* line : {"", "state:failed", "queue:a state:failed", "type:a,b -queue:c",
                             "tenant:x", "group:ff", "created:2026-11-01", "render"})
        EXPECT_TRUE(is_indexed(narrowed(line))) << line;
    for (const char* line : {"label.a:b", "worker:w", "tenant:a*", "tenant:a queue:b", "error:x",
                             "input.a:b", "attempt:>1"})
        EXPECT_FALSE(is_indexed(narrowed(line))) << line;
}

TEST_F(Searching, parts_that_exclude_each_other_find_nothing_without_a_look) {
    submit(3);
    stores::Filter queue_a;
    queue_a.queue = "a";
    EXPECT_TRUE(narrowed("queue:b", queue_a).nothing);
    EXPECT_TRUE(narrowed("type:a type:b").nothing);
    EXPECT_TRUE(narrowed("state:failed -state:failed").nothing);
    EXPECT_TRUE(narrowed("created:2026-11-01 created:2026-11-02").nothing);
    const stores::Page page = run(engine.list(narrowed("state:failed -state:failed"))).value();
    EXPECT_EQ(page.scanned, 0U);
    EXPECT_TRUE(page.complete);
}

TEST_F(Searching, reading_a_line_twice_changes_nothing) {
    const std::string line = "state:queued queue:a -worker:* error:x created:2026-11-01";
    Search twice = narrowed(line);
    ASSERT_TRUE(narrow(twice, line, clock.now()));
    EXPECT_EQ(twice.filter.clauses, narrowed(line).filter.clauses);
    EXPECT_EQ(twice.bodies, narrowed(line).bodies);
    EXPECT_FALSE(twice.nothing);
}

TEST_F(Searching, a_line_that_cannot_be_read_names_q_and_the_place) {
    Search search;
    const auto refused = narrow(search, "state:failed kind:x", clock.now());
    ASSERT_FALSE(refused);
    EXPECT_EQ(told(refused.error()), "invalid_argument: q");
    EXPECT_EQ(refused.error().position, 13);
}

TEST_F(Searching, bodies_are_searched_page_by_page_and_every_match_is_found_once) {
    std::vector<TaskId> wanted;
    for (int i = 0; i < 300; ++i) {
        const TaskId id = submit_with(i % 7 == 0 ? R"({"who":"ann"})" : R"({"who":"bob"})");
        if (i % 7 == 0) wanted.insert(wanted.begin(), id);
    }
    EXPECT_EQ(found("input.who:ann"), wanted);
    EXPECT_TRUE(found("input.who:eve").empty());
}

TEST_F(Searching, a_search_in_bodies_says_how_far_it_came) {
    for (std::size_t i = 0; i < kBodyBudget; i += 500) submit(500);
    submit(10);
    const stores::Page page = run(engine.list(narrowed("input.who:ann"))).value();
    EXPECT_TRUE(page.rows.empty());
    EXPECT_FALSE(page.complete);
    EXPECT_FALSE(page.next.empty());
    EXPECT_EQ(page.scanned, kBodyBudget);
    EXPECT_TRUE(run(engine.list(narrowed("input.who:ann"), page.next)).value().complete);
}

TEST_F(Searching, errors_by_their_text) {
    const TaskId slow = fail_with("HTTP 429 slow down");
    fail_with("disk full");
    submit();
    EXPECT_EQ(found("error:~429"), std::vector{slow});
}

TEST_F(Searching, whole_ids_are_read_at_once) {
    const auto ids = submit(3);
    const std::string both = "id:" + ids[0].text() + "," + ids[2].text();
    const stores::Page page = run(engine.list(narrowed(both))).value();
    EXPECT_EQ(page.rows.size(), 2U);
    EXPECT_EQ(page.scanned, 2U) << "no other task was looked at";
    EXPECT_TRUE(run(engine.list(narrowed(both + " state:failed"))).value().rows.empty());
}

// ---- facets ----

TEST_F(Searching, facets_of_states_queues_and_types_are_counts) {
    submit(3, work("a", "x"));
    submit(2, work("b", "y"));
    running(work("c", "z"));
    const Facets all = run(engine.facets(narrowed(""))).value();
    EXPECT_EQ(all.total, 6U);
    EXPECT_TRUE(all.exact);
    ASSERT_EQ(all.queue.size(), 3U);
    EXPECT_EQ(all.queue[0].value, "a");
    EXPECT_EQ(all.queue[0].count, 3U);
    const Facets b = run(engine.facets(narrowed("queue:b state:queued"))).value();
    EXPECT_EQ(b.total, 2U);
    ASSERT_EQ(b.type.size(), 1U);
    EXPECT_EQ(b.type[0].value, "y");
    EXPECT_EQ(run(engine.facets(narrowed("-type:x,y"))).value().total, 1U);
}

TEST_F(Searching, facets_of_the_rest_are_looked_at) {
    domain::Submission s = work("a", "x");
    s.labels = {{"plan", "pro"}};
    s.tenant = "acme";
    submit(4, s);
    submit(2, work("a", "x"));
    const Facets pro = run(engine.facets(narrowed("label.plan:pro"))).value();
    EXPECT_EQ(pro.total, 4U);
    EXPECT_EQ(pro.scanned, 6U);
    EXPECT_TRUE(pro.exact);
    ASSERT_EQ(pro.tenant.size(), 1U);
    EXPECT_EQ(pro.tenant[0].count, 4U);
}

TEST_F(Searching, facets_of_more_than_the_budget_say_so) {
    for (std::size_t i = 0; i < stores::kListBudget; i += 1000) submit(1000);
    submit(10);
    const Facets some = run(engine.facets(narrowed("attempt:0"))).value();
    EXPECT_FALSE(some.exact);
    EXPECT_EQ(some.scanned, stores::kListBudget);
    const Facets all = run(engine.facets(narrowed(""))).value();
    EXPECT_TRUE(all.exact) << "counts need no look";
    EXPECT_EQ(all.total, stores::kListBudget + 10);
    EXPECT_FALSE(all.has_tenants);
}

// ---- failures ----

TEST_F(Searching, failures_are_grouped_with_a_sample_of_each) {
    fail_with("HTTP 500 from host 1", "q", "acme");
    fail_with("disk full");
    const TaskId newest = fail_with("HTTP 500 from host 2", "q", "other");
    const Failures all = run(engine.failures(narrowed(""))).value();
    EXPECT_EQ(all.total, 2U);
    EXPECT_TRUE(all.exact);
    ASSERT_EQ(all.groups.size(), 2U);
    const FailureGroup& largest = all.groups[0];
    EXPECT_EQ(largest.open, 2U);
    EXPECT_EQ(largest.message, "HTTP # from host #");
    EXPECT_EQ(largest.sample, "HTTP 500 from host 2");
    EXPECT_EQ(largest.sample_task, newest);
    EXPECT_EQ(largest.stack, "at f()");
    EXPECT_EQ(largest.kind, "permanent");
    EXPECT_EQ(largest.tenants, 2U);
    EXPECT_LT(largest.first_seen, largest.last_seen);
    EXPECT_EQ(run(engine.failure(largest.fingerprint)).value().sample_task, newest);
    EXPECT_EQ(told(run(engine.failure(12345))), "not_found");
}

TEST_F(Searching, a_group_was_seen_when_its_tasks_failed_and_not_when_somebody_acted_on_them) {
    const Time first = clock.now();
    const TaskId one = fail_with("disk full");
    advance(1min);
    const Time last = clock.now();
    const TaskId two = fail_with("disk full");
    advance(1min);
    run(engine.resume(one, kAnn));
    advance(1min);
    run(engine.resume(two, kAnn));
    const FailureGroup group = run(engine.failure(header(one).fingerprint)).value();
    EXPECT_EQ(group.first_seen, first);
    EXPECT_EQ(group.last_seen, last);
}

TEST_F(Searching, the_first_of_a_tasks_failures_of_a_kind_and_the_last_count) {
    const TaskId id = fail_with("other");
    const auto fail_again = [&](const std::string& message) {
        advance(1min);
        run(engine.resume(id, kAnn));
        const domain::Header h = claim_one(claim_call("q"));
        const Time now = clock.now();
        run(engine.fail(
            {{h.id, h.fence(), {domain::ErrorKind::permanent, message, "at f()", ""}, {}}}));
        return now;
    };
    const Time first = fail_again("disk 1 full");
    const Time last = fail_again("disk 2 full");
    advance(1min);
    const FailureGroup group = run(engine.failure(header(id).fingerprint)).value();
    EXPECT_EQ(group.first_seen, first) << "before, it failed otherwise";
    EXPECT_EQ(group.last_seen, last);
}

TEST_F(Searching, groups_of_hundreds_know_when_they_were_seen_first) {
    const Time first = clock.now();
    const TaskId oldest = fail_with("disk full");
    for (int i = 0; i < 300; ++i) fail_with("disk full");
    run(engine.resume(oldest, kAnn));
    const Failures all = run(engine.failures(narrowed(""))).value();
    ASSERT_EQ(all.groups.size(), 1U);
    EXPECT_EQ(all.groups[0].open, 301U);
    EXPECT_EQ(all.groups[0].first_seen, first);
}

TEST_F(Searching, thousands_that_were_claimed_at_once_and_failed_know_their_first_failure) {
    for (int i = 0; i < 2; ++i) submit(1'000, work("q"));
    std::vector<domain::Header> held;
    for (int i = 0; i < 2; ++i) {
        for (const ClaimedTask& task : claim(claim_call("q", 1'000)))
            held.push_back(task.record.header);
    }
    ASSERT_EQ(held.size(), 2'000U);
    advance(1s);
    const Time first = clock.now();
    for (const domain::Header& h : held) {
        run(engine.fail(
            {{h.id, h.fence(), {domain::ErrorKind::permanent, "disk full", "", ""}, {}}}));
        advance(1ms);
    }
    const Failures all = run(engine.failures(narrowed(""))).value();
    ASSERT_EQ(all.groups.size(), 1U);
    EXPECT_EQ(all.groups[0].first_seen, first);
    EXPECT_EQ(all.groups[0].last_seen, clock.now() - 1ms);
}

TEST_F(Searching, a_signal_to_a_task_that_failed_is_no_failure) {
    const Time failed = clock.now();
    const TaskId id = fail_with("disk full");
    advance(1min);
    run(engine.signal(id, "wake", json("1"), kAnn));
    const FailureGroup group = run(engine.failure(header(id).fingerprint)).value();
    EXPECT_EQ(group.first_seen, failed);
    EXPECT_EQ(group.last_seen, failed);
}

TEST_F(Searching, a_group_of_more_than_are_looked_at_says_nothing_of_its_first_failure) {
    for (std::size_t i = 0; i < stores::kListBudget + 200; ++i) fail_with("disk full");
    const Failures all = run(engine.failures(narrowed(""))).value();
    ASSERT_EQ(all.groups.size(), 1U);
    EXPECT_FALSE(is_set(all.groups[0].first_seen));
    EXPECT_TRUE(is_set(all.groups[0].last_seen));
}

TEST_F(Searching, many_groups_are_told_as_each_of_them_alone) {
    std::vector<Time> first;
    for (const char* message : {"a", "b", "c", "d", "e"}) {
        first.push_back(clock.now());
        fail_with(message, "q", "acme");
        advance(1s);
    }
    for (int i = 0; i < 150; ++i) fail_with("a", "q", i % 2 == 0 ? "acme" : "other");
    const Failures all = run(engine.failures(narrowed(""))).value();
    ASSERT_EQ(all.groups.size(), 5U);
    EXPECT_LE(all.scanned, 155U + 151U) << "one look at all, and one at the group that has more";
    for (const FailureGroup& group : all.groups) {
        const FailureGroup alone = run(engine.failure(group.fingerprint)).value();
        EXPECT_EQ(group.message, alone.message);
        EXPECT_EQ(group.sample_task, alone.sample_task);
        EXPECT_EQ(group.tenants, alone.tenants);
        EXPECT_EQ(group.last_seen, alone.last_seen);
        EXPECT_EQ(group.first_seen, alone.first_seen);
        EXPECT_EQ(group.first_seen, first[static_cast<std::size_t>(group.message[0] - 'a')]);
    }
    EXPECT_EQ(all.groups[0].message, "a");
    EXPECT_EQ(all.groups[0].tenants, 2U);
}

TEST_F(Searching, groups_behind_more_tasks_than_one_look_goes_still_have_their_sample) {
    for (const char* message : {"a", "b", "c", "d"}) fail_with(message);
    for (std::size_t i = 0; i < stores::kListBudget; ++i) fail_with("e");
    const Failures all = run(engine.failures(narrowed(""))).value();
    ASSERT_EQ(all.groups.size(), 5U);
    for (const FailureGroup& group : all.groups) EXPECT_NE(group.message, "");
}

TEST_F(Searching, failures_of_some_tasks_are_those_of_these_tasks_alone) {
    fail_with("a", "one");
    fail_with("a", "two");
    fail_with("b", "two");
    const Failures one = run(engine.failures(narrowed("queue:one"))).value();
    ASSERT_EQ(one.groups.size(), 1U);
    EXPECT_EQ(one.groups[0].open, 1U);
    EXPECT_EQ(run(engine.failures(narrowed("queue:two"))).value().total, 2U);
    EXPECT_EQ(run(engine.failures(narrowed("state:failed"))).value().total, 0U);
    EXPECT_EQ(run(engine.failures(narrowed("state:suspended"))).value().total, 2U);
}

TEST_F(Searching, a_group_whose_tasks_all_succeeded_in_the_end_is_shown_only_when_asked_for) {
    const TaskId id = fail_with("flaky");
    const std::uint64_t group = header(id).fingerprint;
    run(engine.resume(id, kAnn));
    const domain::Header again = claim_one(claim_call("q"));
    run(engine.complete({completion(again)}));
    EXPECT_EQ(run(engine.failures(narrowed(""))).value().total, 0U);
    const FailureGroup over = run(engine.failure(group)).value();
    EXPECT_EQ(over.sample, "flaky") << "its history still knows";
    EXPECT_EQ(over.open, 0U);
}

// ---- bulk ----

TEST_F(Searching, a_bulk_act_by_a_line_says_what_is_refused_for_which_reason) {
    submit(3, work("a", "x"));
    running(work("a", "y"));
    running(work("a", "y"));
    submit(1, work("b", "x"));
    BulkRequest r;
    r.action = BulkAction::discard;
    r.q = "queue:a";
    r.by = kAnn;
    r.dry_run = true;
    const BulkReport rehearsed = run(engine.bulk(r)).value();
    EXPECT_EQ(rehearsed.matched, 5U);
    EXPECT_EQ(rehearsed.done, 3U);
    EXPECT_EQ(rehearsed.refused_by,
              (std::map<std::string, std::uint64_t>{{"the task is running", 2}}));
    r.dry_run = false;
    const BulkReport done = run(engine.bulk(r)).value();
    EXPECT_EQ(done.done, 3U);
    EXPECT_EQ(done.refused_by, rehearsed.refused_by);
    EXPECT_EQ(tasks({State::discarded}), 3U);
    r.q = "kind:a";
    EXPECT_EQ(told(run(engine.bulk(r))), "invalid_argument: q");
}

TEST_F(Searching, a_job_keeps_its_line_and_the_time_it_was_asked) {
    submit(2, work("a", "x"));
    submit(1, work("b", "x"));
    advance(30min);
    BulkRequest r;
    r.action = BulkAction::cancel;
    r.q = "queue:a age:<1h";
    r.by = kAnn;
    r.rate = 1;
    const Uuid id = *run(engine.bulk(r)).value().bulk_id;
    advance(2h);  // the tasks are older by now than the line says
    for (int i = 0; i < 5; ++i) {
        run(engine.tick(100));
        advance(2s);
    }
    EXPECT_EQ(run(engine.bulk_report(id)).value().done, 2U);
    EXPECT_EQ(tasks({State::cancelled}), 2U);
    const std::vector<BulkView> jobs = run(engine.bulk_jobs()).value();
    ASSERT_EQ(jobs.size(), 1U);
    EXPECT_EQ(jobs[0].request.q, r.q);
    EXPECT_EQ(jobs[0].request.by.who, "ann");
    EXPECT_EQ(jobs[0].report.state, State::succeeded);
    EXPECT_TRUE(is_set(jobs[0].finished_at));
}

TEST_F(Searching, a_bulk_act_on_ids_rehearses_and_acts) {
    const auto ids = submit(2);
    const TaskId held = running(work("b")).id;
    const std::vector<TaskId> meant{ids[0], held, Uuid{1, 2}};
    const BulkReport rehearsed =
        run(engine.bulk_ids(BulkAction::discard, meant, kAnn, true)).value();
    EXPECT_EQ(rehearsed.matched, 3U);
    EXPECT_EQ(rehearsed.done, 1U);
    EXPECT_EQ(rehearsed.refused_by.size(), 2U);
    EXPECT_EQ(state(ids[0]), State::queued) << "nothing was done";
    const BulkReport done = run(engine.bulk_ids(BulkAction::discard, meant, kAnn)).value();
    EXPECT_EQ(done.done, 1U);
    EXPECT_EQ(done.refused_by, rehearsed.refused_by);
    EXPECT_EQ(state(ids[0]), State::discarded);
    EXPECT_EQ(state(ids[1]), State::queued);
}

TEST_F(Searching, the_oldest_of_a_queue_is_in_its_overview) {
    submit(1, work("a"));
    const Time first = clock.now();
    advance(1min);
    submit(1, work("a"));
    running(work("b"));
    const auto queues = run(engine.queues()).value();
    ASSERT_EQ(queues.size(), 2U);
    EXPECT_EQ(queues[0].oldest_at, first);
    EXPECT_FALSE(is_set(queues[1].oldest_at));
}

}  // namespace
}  // namespace holdfast::engine
