// list and stats: what operators look at.
#include "domain/decide.h"
#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;

std::vector<Uuid> ids_of(const std::vector<ListRow>& rows) {
    std::vector<Uuid> ids;
    ids.reserve(rows.size());
    for (const ListRow& row : rows) ids.push_back(row.header.id);
    return ids;
}

template <class Set>
Filter where(Set set) {
    Filter filter;
    set(filter);
    return filter;
}

TEST_P(Lists, P25_newest_first_with_the_whole_header) {
    std::vector<Record> tasks;
    for (int i = 0; i < 5; ++i) {
        tasks.push_back(submit());
        pass(2ms);
    }
    const std::vector<ListRow> rows = list_all();
    ASSERT_EQ(rows.size(), tasks.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
        EXPECT_EQ(difference(rows[i].header, tasks[tasks.size() - 1 - i].header), "");
}

TEST_P(Lists, P25_a_row_is_as_its_record_is_now) {
    const Record a = submit("a");
    const Record b = submit("b");
    pass(2ms);
    complete(claim_one("a"));
    step(b, domain::Pause{});
    for (const ListRow& row : list_all())
        EXPECT_EQ(difference(row.header, load(row.header.id).header), "");
    EXPECT_EQ(list_all(where([](Filter& f) { f.states = {State::succeeded}; })).size(), 1U);
    EXPECT_EQ(list_all(where([](Filter& f) { f.states = {State::queued}; })).size(), 0U);
}

TEST_P(Lists, P25_following_next_visits_every_record_once_while_others_come_and_change) {
    constexpr std::size_t kOld = 33;
    std::set<Uuid> old;
    for (std::size_t i = 0; i < kOld; ++i) {
        old.insert(submit().header.id);
        if (i % 3 == 0) pass(1ms);  // several of them are of the same moment
    }
    std::vector<Uuid> visited;
    std::string cursor;
    int pages = 0;
    do {
        const Page page = ask(store().list({}, cursor, 7, kListBudget));
        EXPECT_LE(page.rows.size(), 7U);
        for (const ListRow& row : page.rows) visited.push_back(row.header.id);
        cursor = page.next;
        pass(1ms);
        submit("new");
        complete(claim_one());  // moves one of them to another state
        ASSERT_LT(++pages, 50);
    } while (!cursor.empty());
    const std::set<Uuid> once(visited.begin(), visited.end());
    EXPECT_EQ(once.size(), visited.size()) << "some were visited twice";
    EXPECT_TRUE(std::ranges::includes(once, old)) << "some were not visited";
}

TEST_P(Lists, P25_paging_within_a_state_visits_what_stays_in_it_once) {
    std::set<Uuid> staying;
    std::vector<Record> leaving;
    for (int i = 0; i < 30; ++i) {
        if (i % 3 == 0) {
            leaving.push_back(submit());
        } else {
            staying.insert(submit().header.id);
        }
        pass(1ms);
    }
    const Filter queued = where([](Filter& f) { f.states = {State::queued}; });
    std::vector<Uuid> visited;
    std::string cursor;
    do {
        const Page page = ask(store().list(queued, cursor, 4, kListBudget));
        for (const ListRow& row : page.rows) visited.push_back(row.header.id);
        cursor = page.next;
        if (!leaving.empty()) {
            step(leaving.back(), domain::Pause{});
            leaving.pop_back();
        }
    } while (!cursor.empty());
    std::erase_if(visited, [&](const Uuid& id) { return !staying.contains(id); });
    EXPECT_EQ(visited.size(), staying.size());
    EXPECT_EQ(std::set<Uuid>(visited.begin(), visited.end()), staying);
}

TEST_P(Lists, P25_every_filter_and_all_of_them_together) {
    domain::Submission s = new_task("a", "x");
    s.labels = {{"colour", "red"}, {"size", "big"}};
    const Uuid red = submit(s).header.id;
    s.labels = {{"colour", "redder"}, {"size", "big"}};
    const Uuid redder = submit(s).header.id;
    s.labels = {};
    s.tenant = "acme";
    const Uuid acme = submit(s).header.id;
    s.type = "y";
    const Uuid other_type = submit(s).header.id;
    s.queue = "b";
    const Uuid other_queue = submit(s).header.id;
    const auto expect = [&](std::set<Uuid> ids, const char* what, auto set) {
        const std::vector<Uuid> found = ids_of(list_all(where(set)));
        EXPECT_EQ(std::set<Uuid>(found.begin(), found.end()), ids) << what;
        EXPECT_EQ(found.size(), ids.size()) << what;
    };
    expect({red, redder, acme, other_type}, "queue", [](Filter& f) { f.queue = "a"; });
    expect({other_type, other_queue}, "type", [](Filter& f) { f.type = "y"; });
    expect({acme, other_type, other_queue}, "tenant", [](Filter& f) { f.tenant = "acme"; });
    expect({red}, "label", [](Filter& f) { f.labels = {"colour=red"}; });
    expect({red, redder}, "label", [](Filter& f) { f.labels = {"size=big"}; });
    expect({redder}, "labels", [](Filter& f) { f.labels = {"size=big", "colour=redder"}; });
    expect({}, "labels", [](Filter& f) { f.labels = {"size=big", "colour=blue"}; });
    expect({}, "kind", [](Filter& f) { f.kind = domain::Kind::plan; });
    step(load(acme), domain::Pause{});
    expect({acme}, "state", [](Filter& f) { f.states = {State::paused, State::failed}; });
    expect({other_type}, "together", [](Filter& f) {
        f.states = {State::queued, State::paused};
        f.queue = "a";
        f.type = "y";
        f.tenant = "acme";
    });
    expect({}, "together", [](Filter& f) {
        f.states = {State::paused};
        f.queue = "b";
        f.tenant = "acme";
    });
}

TEST_P(Lists, P25_by_time_of_creation_and_until_is_inclusive) {
    const Record a = submit();
    pass(10ms);
    const Record b = submit();
    pass(10ms);
    const Record c = submit();
    const auto between = [&](Time since, Time until) {
        return ids_of(list_all(where([&](Filter& f) {
            f.since = since;
            f.until = until;
        })));
    };
    EXPECT_EQ(between(a.header.created_at + 1ms, kNoTime), (std::vector{c.header.id, b.header.id}));
    EXPECT_EQ(between(kNoTime, b.header.created_at), (std::vector{b.header.id, a.header.id}));
    EXPECT_EQ(between(a.header.created_at + 1ms, b.header.created_at), std::vector{b.header.id});
    EXPECT_EQ(between(kNoTime, b.header.created_at - 1us), std::vector{a.header.id});
    EXPECT_TRUE(between(c.header.created_at + 1ms, kNoTime).empty());
}

TEST_P(Lists, P25_by_the_fingerprint_of_the_last_failure) {
    submit("ok");
    submit("failing");
    const Record held = claim_one("failing");
    const domain::Failure failure{domain::ErrorKind::permanent, "no such model", {}, {}};
    const Record failed = step(held, domain::Fail{held.header.fence(), failure, std::nullopt});
    ASSERT_NE(failed.header.fingerprint, 0U);
    const auto found =
        list_all(where([&](Filter& f) { f.fingerprint = failed.header.fingerprint; }));
    EXPECT_EQ(ids_of(found), std::vector{failed.header.id});
    EXPECT_TRUE(
        list_all(where([&](Filter& f) { f.fingerprint = failed.header.fingerprint + 1; })).empty());
}

TEST_P(Lists, P26_it_looks_at_no_more_than_its_budget_and_says_so) {
    domain::Submission rare = new_task();
    rare.labels = {{"rare", "yes"}};
    std::set<Uuid> wanted;
    for (int i = 0; i < 40; ++i) {
        if (i % 19 == 0) {
            wanted.insert(submit(rare).header.id);
        } else {
            submit();
        }
        pass(1ms);
    }
    const Filter filter = where([](Filter& f) { f.labels = {"rare=yes"}; });
    std::set<Uuid> found;
    std::string cursor;
    int calls = 0;
    int incomplete = 0;
    do {
        const Page page = ask(store().list(filter, cursor, 10, 6));
        EXPECT_LE(page.scanned, 6U);
        EXPECT_LE(page.rows.size(), page.scanned);
        if (!page.next.empty()) {
            EXPECT_FALSE(page.complete) << "neither full nor at the end: the budget ended it";
            ++incomplete;
        }
        for (const ListRow& row : page.rows) EXPECT_TRUE(found.insert(row.header.id).second);
        cursor = page.next;
        ASSERT_LT(++calls, 100);
    } while (!cursor.empty());
    EXPECT_EQ(found, wanted);
    EXPECT_GE(incomplete, 5) << "40 records by 6 cannot be looked at in fewer";
    const Page whole = ask(store().list(filter, "", 10, kListBudget));
    EXPECT_TRUE(whole.complete);
    EXPECT_TRUE(whole.next.empty());
    EXPECT_EQ(whole.rows.size(), wanted.size());
}

TEST_P(Lists, P26_a_full_page_is_complete) {
    for (int i = 0; i < 5; ++i) submit();
    const Page page = ask(store().list({}, "", 3, kListBudget));
    EXPECT_EQ(page.rows.size(), 3U);
    EXPECT_TRUE(page.complete);
    EXPECT_FALSE(page.next.empty());
}

TEST_P(Lists, P35_clauses_choose_among_unfinished_and_finished_tasks_alike) {
    int made = 0;
    for (const char* queue : {"a", "ab", "b"}) {
        for (const char* tenant : {"", "acme", "acorn"}) {
            domain::Submission s = new_task(queue, made % 2 == 0 ? "img.small" : "img.large");
            s.tenant = tenant;
            s.priority = static_cast<std::uint8_t>(made % 10);
            if (made % 3 == 0) s.labels = {{"plan", made % 2 == 0 ? "pro" : "free"}};
            submit(s);
            submit(s);
            ++made;
            pass(1ms);
        }
        complete(claim_one(queue));
        const Record held = claim_one(queue);
        const domain::Failure failure{domain::ErrorKind::permanent, "no such model", {}, {}};
        const Record failed = step(held, domain::Fail{held.header.fence(), failure, std::nullopt});
        step(failed, domain::Discard{});
        claim_one(queue);
    }
    const std::vector<ListRow> all = list_all();
    ASSERT_EQ(all.size(), 18U);
    for (const char* line : {"queue:a,b",
                             "-queue:a",
                             "type:img.*",
                             "type:~LARGE",
                             "-type:*.small queue:a*",
                             "tenant:ac*",
                             "-tenant:acme",
                             "tenant:acme,acorn",
                             "tenant:*",
                             "-tenant:*",
                             "label.plan:*",
                             "label.plan:pro",
                             "-label.plan:pro",
                             "attempt:>0",
                             "attempt:0",
                             "priority:3..6",
                             "worker:*",
                             "group:*",
                             "-group:*",
                             "state:succeeded",
                             "-state:queued,succeeded",
                             "running:<1h",
                             "retries:0 tenant:acme -queue:b",
                             "id:ffffffff",
                             "queue:none",
                             "age:<1h",
                             "age:>1h"}) {
        const auto clauses = domain::parse_query(line, now());
        ASSERT_TRUE(clauses) << line;
        std::vector<Uuid> expected;
        for (const ListRow& row : all) {
            if (domain::matches(row.header, *clauses)) expected.push_back(row.header.id);
        }
        const Filter filter = where([&](Filter& f) { f.clauses = *clauses; });
        EXPECT_EQ(ids_of(list_all(filter)), expected) << line;
    }
}

// ---- stats ----

TEST_P(Counts, P11_counts_by_queue_type_and_state_follow_every_step) {
    const auto only = [](State state, std::uint64_t n = 1) {
        return Counted{{{"q", "t", state}, n}};
    };
    EXPECT_TRUE(counts().empty());
    submit(new_task("q", "t"));
    EXPECT_EQ(counts(), only(State::queued));
    const Record held = claim_one("q");
    EXPECT_EQ(counts(), only(State::running));
    const Record waiting = step(held, domain::Yield{held.header.fence(), 1h, false});
    EXPECT_EQ(counts(), only(State::waiting));
    const Record paused = step(waiting, domain::Pause{});
    EXPECT_EQ(counts(), only(State::paused));
    const Record gone = step(paused, domain::Discard{});
    EXPECT_EQ(counts(), only(State::discarded));
    Change erasure = rewrite(gone.header);
    only_put(erasure).erase = true;
    ASSERT_EQ(verdict(erasure), Verdict::committed);
    EXPECT_TRUE(counts().empty());
}

TEST_P(Counts, P11_each_queue_and_type_is_counted_for_itself) {
    for (int i = 0; i < 3; ++i) submit(new_task("a", "x"));
    for (int i = 0; i < 2; ++i) submit(new_task("a", "y"));
    submit(new_task("b", "x"));
    claim_one("b");
    const Counted expected{{{"a", "x", State::queued}, 3},
                           {{"a", "y", State::queued}, 2},
                           {{"b", "x", State::running}, 1}};
    EXPECT_EQ(counts(), expected);
}

TEST_P(Counts, P11_a_put_that_changes_queue_or_type_moves_the_count) {
    Header header = submit(new_task("a", "x")).header;
    header.queue = "b";
    header.type = "y";
    apply(rewrite(header));
    EXPECT_EQ(counts(), (Counted{{{"b", "y", State::queued}, 1}}));
}

TEST_P(Counts, P36_the_oldest_of_a_queue_is_the_first_that_still_waits_in_a_lane) {
    const auto since = [this](const std::string& queue) {
        const std::vector<Oldest> all = ask(store().stats()).oldest;
        EXPECT_TRUE(std::ranges::is_sorted(all, {}, &Oldest::queue));
        const auto found = std::ranges::find(all, queue, &Oldest::queue);
        return found == all.end() ? kNoTime : found->since;
    };
    const auto is_about = [](Time a, const Record& b) {
        return is_set(a) && a <= b.header.updated_at + 2ms && b.header.updated_at <= a + 2ms;
    };
    EXPECT_FALSE(is_set(since("a")));
    const Record first = submit("a");
    pass(10ms);
    domain::Submission urgent = new_task("a");
    urgent.priority = 9;
    const Record second = submit(urgent);
    pass(10ms);
    const Record third = submit("a");
    const Record other = submit("b");
    EXPECT_PRED2(is_about, since("a"), first) << "though another one goes first";
    EXPECT_PRED2(is_about, since("b"), other);

    const Record held = claim_one("a");
    ASSERT_EQ(held.header.id, second.header.id);
    EXPECT_PRED2(is_about, since("a"), first);
    step(first, domain::Pause{});
    EXPECT_PRED2(is_about, since("a"), third) << "what is paused waits in no lane";
    pass(10ms);
    const Record back = yield(held);
    EXPECT_PRED2(is_about, since("a"), third);
    claim_one("a");
    claim_one("a");
    EXPECT_FALSE(is_set(since("a"))) << "all are handed out";
    EXPECT_PRED2(is_about, since("b"), other);
    EXPECT_EQ(back.header.state, State::queued);
}

TEST_P(Counts, P36_one_that_comes_back_waits_from_then_on) {
    submit("a");
    const Record held = claim_one("a");
    pass(10ms);
    const Record back = yield(held);
    const std::vector<Oldest> all = ask(store().stats()).oldest;
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all.front().queue, "a");
    EXPECT_LE(all.front().since, back.header.updated_at + 2ms);
    EXPECT_GE(all.front().since, back.header.updated_at - 2ms);
}

TEST_P(Counts, P11_counts_by_fingerprint_and_state_follow_every_step) {
    submit();
    const auto fail = [this](const std::string& message) {
        const Record held = claim_one();
        return step(held, domain::Fail{held.header.fence(),
                                       {domain::ErrorKind::permanent, message, {}, {}},
                                       std::nullopt});
    };
    EXPECT_TRUE(failures().empty());
    const Record first = fail("disk full");
    const std::uint64_t full = first.header.fingerprint;
    EXPECT_EQ(failures(), (CountedFailures{{{full, State::suspended}, 1}}));
    step(first, domain::Resume{{}, std::nullopt});
    EXPECT_EQ(failures(), (CountedFailures{{{full, State::queued}, 1}}));
    const Record second = fail("no such file");
    ASSERT_NE(second.header.fingerprint, full);
    EXPECT_EQ(failures(), (CountedFailures{{{second.header.fingerprint, State::suspended}, 1}}));
    step(second, domain::Discard{});
    EXPECT_EQ(failures(), (CountedFailures{{{second.header.fingerprint, State::discarded}, 1}}));
}

}  // namespace
}  // namespace holdfast::stores::conformance
