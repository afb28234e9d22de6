#include "stores/sqlite/sqlite_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "testing/sqlite_fixture.h"

namespace holdfast::stores {
namespace {

using domain::Checkpoint;
using domain::Complete;
using domain::Kind;
using namespace std::chrono_literals;

class Embedded : public holdfast::testing::SqliteTest {
  protected:
    /// Nothing is kept in memory that can be read from disk.
    void be_lean() { options_.finished_cache = options_.body_cache_bytes = 0; }

    Uuid finish_with_log(const std::string& key = {}) {
        const Uuid id = submit(task("default", key));
        const Record held = claim().at(0);
        EXPECT_EQ(act(held, Checkpoint{held.header.fence(), "stage", Json::quoted("data"), false})
                      .verdict,
                  Verdict::committed);
        const Record now_held = *look(id);
        EXPECT_EQ(act(now_held, Complete{now_held.header.fence(), Json::quoted("done")}).verdict,
                  Verdict::committed);
        settle();
        return id;
    }
    std::uint64_t finished_count() {
        std::uint64_t count = 0;
        for (const QueueCounts& queue : run(store_->stats()).queues) {
            for (std::size_t s = 0; s < domain::kStates; ++s)
                count += domain::is_final(static_cast<State>(s)) ? queue.by_state[s] : 0;
        }
        return count;
    }
    std::size_t listed() { return run(store_->list({}, "", 1000, kListBudget)).rows.size(); }
    TrimRequest old_ones(std::size_t limit = 1000) {
        return {.finished_before = now(), .feed_before = {}, .feed_keep = {}, .limit = limit};
    }
};

// ---- nothing is shown before it is durable ----

TEST_F(Embedded, nothing_of_a_commit_is_shown_before_its_group_is_on_disk) {
    open();
    const Uuid id = mint();
    const auto commit = begin(committing(domain::decide_submit(task("default", "key"), id, now())));
    const auto load = begin(store_->load({Key{Kind::task, id}}));
    const auto history = begin(store_->history({Kind::task, id}));
    const auto list = begin(store_->list({}, "", 10, kListBudget));
    const auto stats = begin(store_->stats());
    const auto feed = begin(store_->feed("", 10));
    const auto again =
        begin(committing(domain::decide_submit(task("default", "key"), mint(), now())));
    const auto claimed = begin(store_->claim(request()));
    const auto answered = [&] {
        return std::vector<bool>{commit.answered(), load.answered(),   history.answered(),
                                 list.answered(),   stats.answered(),  feed.answered(),
                                 again.answered(),  claimed.answered()};
    };
    EXPECT_EQ(answered(), std::vector<bool>(8, false));
    settle();
    EXPECT_EQ(answered(), std::vector<bool>(8, true));
    EXPECT_EQ(again.value()->at(0).verdict, Verdict::duplicate);
    EXPECT_EQ(claimed.value()->size(), 1U);
    EXPECT_EQ(list.value()->rows.size(), 1U);
}

TEST_F(Embedded, a_list_and_counts_that_are_asked_for_while_work_goes_on_miss_nobody) {
    open();
    const Uuid id = submit();
    const Record held = claim().at(0);
    settle();
    const auto done = begin(committing(decided(held, Complete{held.header.fence(), {}})));
    const auto list = begin(store_->list({}, "", 10, kListBudget));
    const auto stats = begin(store_->stats());
    settle();
    ASSERT_EQ(list.value()->rows.size(), 1U);
    EXPECT_EQ(list.value()->rows[0].header.id, id);
    ASSERT_EQ(stats.value()->queues.size(), 1U);
    std::uint64_t sum = 0;
    for (const std::uint64_t n : stats.value()->queues[0].by_state) sum += n;
    EXPECT_EQ(sum, 1U);
}

TEST_F(Embedded, a_finished_task_that_is_revived_while_a_list_is_made_is_in_it) {
    open();
    const Uuid id = finish();
    const Record finished = *look(id);
    // A commit that is not on disk yet holds up the list.
    const auto other = begin(committing(domain::decide_submit(task(), mint(), now())));
    const auto list = begin(store_->list({}, "", 10, kListBudget));
    const auto back = begin(committing(revived(finished)));
    settle();
    std::size_t found = 0;
    for (const ListRow& row : end(list)->rows) found += row.header.id == id ? 1 : 0;
    EXPECT_EQ(found, 1U);
}

// ---- what is on disk only ----

TEST_F(Embedded, bodies_that_left_memory_come_back) {
    options_.body_cache_bytes = 0;
    open();
    const Uuid id = submit();
    settle();
    EXPECT_EQ(look(id)->body, domain::make_body(task()));
    EXPECT_EQ(claim().at(0).body, domain::make_body(task()));
    clock_->advance(1h);
    const auto due = run(store_->due(1));
    ASSERT_EQ(due.size(), 1U);
    EXPECT_EQ(due[0].body, domain::make_body(task()));
}

TEST_F(Embedded, a_finished_task_that_left_memory_is_all_there) {
    be_lean();
    open();
    const Uuid id = finish_with_log();
    const auto record = look(id);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->header.state, State::succeeded);
    EXPECT_EQ(record->body, domain::make_body(task()));
    EXPECT_EQ(record->outcome.view(), R"({"result":"done"})");
    EXPECT_EQ(run(store_->history({Kind::task, id})).size(), 4U);
    const auto log = run(store_->log(std::string(domain::kCheckpointLog), id, 0, 10));
    ASSERT_EQ(log.size(), 1U);
    EXPECT_EQ(log[0].key, "stage");
    const Page page = run(store_->list({}, "", 10, kListBudget));
    ASSERT_EQ(page.rows.size(), 1U);
    EXPECT_EQ(page.rows[0].header, record->header);
    EXPECT_EQ(finished_count(), 1U);
}

TEST_F(Embedded, the_key_of_a_finished_task_that_left_memory_is_taken) {
    be_lean();
    open();
    const Uuid id = finish_with_log("key");
    for (int i = 0; i < 2; ++i) {
        const Outcome again = commit(domain::decide_submit(task("default", "key"), mint(), now()));
        EXPECT_EQ(again.verdict, Verdict::duplicate);
        EXPECT_EQ(again.bound_to, id);
        EXPECT_EQ(again.bound_hash, domain::content_hash(task("default", "key")));
        reopen();
    }
}

TEST_F(Embedded, the_id_of_a_finished_task_that_left_memory_is_taken) {
    be_lean();
    open();
    const Uuid id = finish_with_log();
    const auto create = [&] { return commit(domain::decide_submit(task(), id, now())).verdict; };
    EXPECT_EQ(create(), Verdict::conflict);
    reopen();
    EXPECT_EQ(create(), Verdict::conflict);
    EXPECT_EQ(listed(), 1U);
}

TEST_F(Embedded, an_entry_of_a_log_that_left_memory_is_not_repeated) {
    be_lean();
    open();
    const Uuid id = finish_with_log();
    const auto append = [&](const std::string& key) {
        domain::Change change;
        change.partition = id.partition();
        change.appends.push_back({std::string(domain::kCheckpointLog), id, key, Bytes(key)});
        return commit(std::move(change)).skipped.size();
    };
    EXPECT_EQ(append("stage"), 1U);
    EXPECT_EQ(append("more"), 0U);
    settle();
    reopen();
    EXPECT_EQ(append("more"), 1U);
    const auto log = run(store_->log(std::string(domain::kCheckpointLog), id, 0, 10));
    ASSERT_EQ(log.size(), 2U);
    EXPECT_EQ(log[0].key, "stage");
    EXPECT_EQ(log[1].key, "more");
    EXPECT_EQ(finished_count(), 1U);
}

TEST_F(Embedded, a_revived_task_that_had_left_memory_takes_everything_along) {
    be_lean();
    open();
    const Uuid id = finish_with_log("key");
    ASSERT_EQ(commit(revived(*look(id))).verdict, Verdict::committed);
    reopen();
    const auto claimed = claim();
    ASSERT_EQ(claimed.size(), 1U);
    EXPECT_EQ(claimed[0].body, domain::make_body(task("default", "key")));
    EXPECT_EQ(run(store_->log(std::string(domain::kCheckpointLog), id, 0, 10)).size(), 1U);
    EXPECT_EQ(finished_count(), 0U);
    EXPECT_EQ(listed(), 1U);
}

TEST_F(Embedded, a_finished_task_does_not_leave_memory_while_a_commit_that_names_it_looks_on_disk) {
    options_.finished_cache = 1;
    use_threads();
    open();
    std::vector<Uuid> old(50'000);
    for (Uuid& id : old) id = mint();  // of before the next ones: they may be on disk
    finish();
    submit(task("other"));
    const Record held = claim("other").at(0);
    const Uuid id = finish();
    settle();
    std::vector<Change> changes;
    changes.push_back(domain::decide_submit(task(), id, now()));
    for (const Uuid& other : old) {
        Change& change = changes.emplace_back();
        change.partition = other.partition();
        change.appends.push_back({"message", other, "key", Bytes("x")});
    }
    const auto slow = begin(store_->commit(std::move(changes)));
    ASSERT_EQ(act(held, Complete{held.header.fence(), {}}).verdict, Verdict::committed);
    ASSERT_FALSE(slow.answered()) << "it still reads";
    EXPECT_EQ(end(slow)->at(0).verdict, Verdict::conflict) << "the id is taken";
    EXPECT_EQ(listed(), 3U);
}

TEST_F(Embedded, many_who_write_to_finished_tasks_at_once_leave_each_as_it_should_be) {
    be_lean();
    use_threads();
    open();
    std::vector<Uuid> ids;
    for (int i = 0; i < 40; ++i) ids.push_back(finish());
    settle();
    Rng rng(1);
    constexpr std::size_t kRounds = 30;
    for (std::size_t round = 0; round < kRounds; ++round) {
        std::vector<Call<Result<std::vector<Outcome>>>> calls;
        for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[rng.below(i)]);
        for (std::size_t first = 0; first < ids.size(); first += 4) {
            std::vector<Change> changes;
            for (std::size_t i = first; i < first + 4; ++i) {
                Change& change = changes.emplace_back();
                change.partition = ids[i].partition();
                change.appends.push_back(
                    {"message", ids[i], std::to_string(round), Bytes(std::to_string(round))});
            }
            changes.push_back(domain::decide_submit(task(), ids[rng.below(ids.size())], now()));
            calls.push_back(begin(store_->commit(std::move(changes))));
        }
        for (const auto& call : calls) {
            const auto outcomes = end(call);
            ASSERT_TRUE(outcomes) << outcomes.error().detail;
            EXPECT_EQ(outcomes->at(4).verdict, Verdict::conflict) << "the id is taken";
        }
    }
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(listed(), ids.size());
        EXPECT_EQ(finished_count(), ids.size());
        for (const Uuid& id : ids) {
            const auto log = run(store_->log("message", id, 0, 1000));
            ASSERT_EQ(log.size(), kRounds);
            for (std::size_t n = 0; n < kRounds; ++n) EXPECT_EQ(log[n].key, std::to_string(n));
            EXPECT_EQ(look(id)->body, domain::make_body(task()));
        }
        reopen();
    }
    clock_->advance(1s);
    EXPECT_EQ(run(store_->trim(old_ones())), ids.size());
    EXPECT_EQ(finished_count(), 0U);
}

// ---- trimming ----

TEST_F(Embedded, two_trims_at_once_count_nobody_twice) {
    for (const bool lean : {false, true}) {
        if (lean) be_lean();
        open();
        for (int i = 0; i < 3; ++i) finish();
        settle();
        clock_->advance(1s);
        const std::uint64_t before = finished_count();
        const auto one = begin(store_->trim(old_ones()));
        const auto two = begin(store_->trim(old_ones()));
        const std::size_t gone = *end(one) + *end(two);
        EXPECT_EQ(gone, before);
        EXPECT_EQ(finished_count(), 0U);
        EXPECT_EQ(listed(), 0U);
        reopen();
        EXPECT_EQ(finished_count(), 0U);
        kill();
    }
}

TEST_F(Embedded, a_task_that_is_being_trimmed_does_not_come_back_in_part) {
    be_lean();
    open();
    const Uuid id = finish_with_log();
    const Record record = *look(id);
    clock_->advance(1s);
    const auto trim = begin(store_->trim(old_ones()));
    ASSERT_FALSE(trim.answered());
    const auto again = begin(committing(revived(record)));
    EXPECT_EQ(*end(trim), 1U);
    EXPECT_EQ(end(again)->at(0).verdict, Verdict::conflict);
    EXPECT_FALSE(look(id));
    EXPECT_EQ(finished_count(), 0U);
    reopen();
    EXPECT_FALSE(look(id));
    EXPECT_EQ(listed(), 0U);
    EXPECT_EQ(finished_count(), 0U);
}

TEST_F(Embedded, bound_tasks_stay_until_their_keys_are_over_and_hold_up_nobody) {
    be_lean();
    open();
    for (int i = 0; i < 5; ++i) finish(task("default", "key " + std::to_string(i)));
    clock_->advance(1h);
    for (int i = 0; i < 5; ++i) finish();
    clock_->advance(1s);
    settle();
    EXPECT_EQ(run(store_->trim(old_ones(2))), 2U);
    EXPECT_EQ(run(store_->trim(old_ones(2))), 2U);
    EXPECT_EQ(run(store_->trim(old_ones(2))), 1U);
    EXPECT_EQ(run(store_->trim(old_ones(2))), 0U);
    EXPECT_EQ(finished_count(), 5U);
    clock_->advance(domain::kBindingTtl);
    finish();
    EXPECT_EQ(run(store_->trim(old_ones(3))), 3U);
    EXPECT_EQ(run(store_->trim(old_ones(3))), 2U);
    EXPECT_EQ(run(store_->trim(old_ones(3))), 0U);
    EXPECT_EQ(finished_count(), 1U);
    reopen();
    EXPECT_EQ(listed(), 1U);
}

TEST_F(Embedded, a_trim_that_asks_for_less_leaves_the_rest_to_the_next) {
    be_lean();
    open();
    finish(task("default", "key"));
    clock_->advance(1h);
    finish();
    clock_->advance(domain::kBindingTtl);
    settle();
    TrimRequest early = old_ones();
    early.finished_before = now() - domain::kBindingTtl - 30min;
    EXPECT_EQ(run(store_->trim(early)), 1U) << "only the first ended before that, its key is over";
    EXPECT_EQ(run(store_->trim(old_ones())), 1U);
    EXPECT_EQ(listed(), 0U);
}

TEST_F(Embedded, a_task_that_was_appended_to_is_trimmed_all_the_same) {
    be_lean();
    open();
    const Uuid id = finish_with_log();
    clock_->advance(1s);
    EXPECT_EQ(
        run(store_->trim({.finished_before = now() - 1h, .feed_before = {}, .feed_keep = {}})), 0U);
    domain::Change change;
    change.partition = id.partition();
    change.appends.push_back({"message", id, "k", Bytes("x")});
    ASSERT_EQ(commit(std::move(change)).verdict, Verdict::committed);
    settle();
    EXPECT_EQ(run(store_->trim(old_ones())), 1U);
    EXPECT_TRUE(run(store_->log("message", id, 0, 10)).empty());
    EXPECT_EQ(finished_count(), 0U);
}

// ---- a disk that is nearly full ----

TEST_F(Embedded, new_tasks_are_refused_when_the_reserve_is_reached_and_others_go_on) {
    open();
    submit(task("default", "key"));
    kill();
    options_.reserve_bytes = std::uint64_t{1} << 62;
    open();
    const Outcome refused = commit(domain::decide_submit(task(), mint(), now()));
    EXPECT_EQ(refused.verdict, Verdict::refused);
    EXPECT_NE(refused.reason.find("disk"), std::string::npos);
    const Record held = claim().at(0);
    EXPECT_EQ(act(held, Complete{held.header.fence(), {}}).verdict, Verdict::committed);
    EXPECT_EQ(commit(domain::decide_submit(task(), mint(), now())).verdict, Verdict::refused);
}

TEST_F(Embedded, new_tasks_are_let_in_again_when_there_is_room) {
    open();
    options_.reserve_share = 2;  // more than the whole disk
    reopen();
    EXPECT_EQ(commit(domain::decide_submit(task(), mint(), now())).verdict, Verdict::refused);
    options_.reserve_share = 0;
    reopen();
    submit();
}

// ---- when the disk fails ----

TEST_F(Embedded, nothing_is_acknowledged_after_a_write_has_failed) {
    open();
    submit();
    const Record held = claim().at(0);
    settle();
    std::string said;
    kill();
    options_.on_broken = [&](const Error& error) { said = error.detail; };
    open();
    sqlite3* other = nullptr;  // somebody spoils the table under our hands
    ASSERT_EQ(sqlite3_open(file().c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "DROP TABLE live", nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(other);
    const auto done = end(begin(committing(decided(held, Complete{held.header.fence(), {}}))));
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Code::unavailable);
    EXPECT_NE(said.find("the disk failed"), std::string::npos);
    EXPECT_FALSE(end(begin(store_->claim(request()))));
    EXPECT_FALSE(end(begin(store_->renew({}))));
    EXPECT_FALSE(end(begin(store_->due(1))));
    EXPECT_FALSE(end(begin(store_->stats())));
    EXPECT_FALSE(end(begin(store_->clock())));
    EXPECT_FALSE(end(begin(store_->close())));
}

TEST_F(Embedded, somebody_who_writes_to_the_file_for_a_moment_is_waited_for) {
    use_threads();
    open();
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    const auto commit = begin(committing(domain::decide_submit(task(), mint(), now())));
    EXPECT_FALSE(commit.answered());
    ASSERT_EQ(sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
    const auto outcomes = end(commit);
    ASSERT_TRUE(outcomes) << outcomes.error().detail;
    EXPECT_EQ(outcomes->at(0).verdict, Verdict::committed);
    sqlite3_close(other);
}

// ---- for a person ----

TEST_F(Embedded, a_backup_made_under_work_opens_and_is_whole) {
    use_threads();
    open();
    std::vector<Call<Result<std::vector<Outcome>>>> commits;
    for (int i = 0; i < 300; ++i) submit();
    for (int i = 0; i < 300; ++i)
        commits.push_back(begin(committing(domain::decide_submit(task(), mint(), now()))));
    const auto copy = directory_.path() / "copy";
    std::filesystem::create_directory(copy);
    const auto backup = begin(store_->backup(copy / "holdfast.db"));
    for (int i = 0; i < 300; ++i)
        commits.push_back(begin(committing(domain::decide_submit(task(), mint(), now()))));
    const Result<> made = end(backup);
    ASSERT_TRUE(made) << made.error().detail;
    for (const auto& commit : commits) EXPECT_EQ(end(commit)->at(0).verdict, Verdict::committed);
    run(store_->check());
    kill();
    options_.directory = copy;
    open();
    run(store_->check());
    const std::size_t in_copy = listed();
    EXPECT_GE(in_copy, 600U) << "what was acknowledged before is in it";
    EXPECT_EQ(claim("default", 1000).size(), std::min<std::size_t>(in_copy, 1000));
}

TEST_F(Embedded, a_backup_does_not_write_over_a_file) {
    open();
    const auto made = end(begin(store_->backup(file())));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::invalid_argument);
}

TEST_F(Embedded, a_backup_that_cannot_be_made_leaves_nothing_behind) {
    open();
    submit();
    const auto nowhere = directory_.path() / "none" / "copy.db";
    const auto made = end(begin(store_->backup(nowhere)));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::unavailable);
    EXPECT_NE(made.error().detail.find(nowhere.string()), std::string::npos) << made.error().detail;
    EXPECT_FALSE(std::filesystem::exists(nowhere));
    submit();
}

TEST_F(Embedded, the_views_show_names_and_times) {
    open();
    const Uuid finished = finish(task("mails"));
    const Uuid queued = submit(task("images"));
    const Uuid waiting = mint();
    auto later = task("images");
    later.delay = 1h;
    ASSERT_EQ(commit(domain::decide_submit(later, waiting, now())).verdict, Verdict::committed);
    settle();
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open_v2(file().c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    const auto rows = [&](const char* sql) {
        std::vector<std::string> lines;
        sqlite3_stmt* statement = nullptr;
        EXPECT_EQ(sqlite3_prepare_v2(database, sql, -1, &statement, nullptr), SQLITE_OK)
            << sqlite3_errmsg(database);
        while (sqlite3_step(statement) == SQLITE_ROW) {
            std::string line;
            for (int i = 0; i < sqlite3_column_count(statement); ++i) {
                const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
                line += (i > 0 ? "|" : "") + std::string(text == nullptr ? "" : text);
            }
            lines.push_back(line);
        }
        sqlite3_finalize(statement);
        return lines;
    };
    using Lines = std::vector<std::string>;
    EXPECT_EQ(rows("SELECT id, state, queue, type, attempt, created, wakes FROM tasks ORDER BY "
                   "created, id"),
              (Lines{queued.text() + "|queued|images|work|0|2026-01-05T00:00:00.000Z|",
                     waiting.text() + "|waiting|images|work|0|2026-01-05T00:00:00.000Z|"
                                      "2026-01-05T01:00:00.000Z"}));
    EXPECT_EQ(
        rows("SELECT id, state, queue, attempt, created, finished, outcome FROM finished_tasks"),
        (Lines{finished.text() + "|succeeded|mails|1|2026-01-05T00:00:00.000Z|"
                                 R"(2026-01-05T00:00:00.000Z|{"result":"done"})"}));
    EXPECT_EQ(rows("SELECT queue, type, state, count FROM queues"),
              (Lines{"images|work|waiting|1", "images|work|queued|1", "mails|work|succeeded|1"}));
    EXPECT_EQ(rows("SELECT body FROM tasks WHERE state = 'queued'").at(0),
              domain::make_body(task("images")).view());
    sqlite3_close(database);
}

}  // namespace
}  // namespace holdfast::stores
