// history and feed: what happened, per record and for everybody.
#include <algorithm>

#include "domain/decide.h"
#include "stores/conformance/conformance.h"

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;
using domain::Event;
using domain::FeedEvent;

TEST_P(Histories, P27_every_audited_transition_since_the_record_was_made_in_order) {
    const Record task = submit();
    const Record held = claim_one();
    const domain::Failure failure{domain::ErrorKind::permanent, "no such model", "at line 1", "E1"};
    const Record failed = step(held, domain::Fail{held.header.fence(), failure, std::nullopt});
    const Record resumed = step(failed, domain::Resume{{"ann", "try again"}, std::nullopt});
    complete(claim_one());
    const auto rows = history(task.header.key());
    std::vector<Event> events(rows.size());
    std::ranges::transform(rows, events.begin(), &domain::Transition::event);
    EXPECT_EQ(events, (std::vector{Event::submitted, Event::claimed, Event::failed, Event::resumed,
                                   Event::claimed, Event::completed}));
    ASSERT_EQ(rows.size(), 6U);
    EXPECT_EQ(rows[1].actor, "worker-1");
    EXPECT_EQ(rows[2].message, "no such model");
    EXPECT_EQ(rows[2].error, Bytes(domain::to_json(failure).text()));
    EXPECT_EQ(rows[3].actor, "ann");
    EXPECT_EQ(rows[3].message, "try again");
    EXPECT_EQ(rows[4].attempt, 2U);
    for (std::size_t i = 1; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i].from, rows[i - 1].to);
        EXPECT_GE(rows[i].at, rows[i - 1].at);
    }
}

TEST_P(Histories, P27_a_record_has_its_own_history_and_an_unknown_one_has_none) {
    const Record a = submit("a");
    const Record b = submit("b");
    step(a, domain::Pause{});
    EXPECT_EQ(history(a.header.key()).size(), 2U);
    EXPECT_EQ(history(b.header.key()).size(), 1U);
    EXPECT_TRUE(history({domain::Kind::task, new_id()}).empty());
    EXPECT_TRUE(history({domain::Kind::plan, a.header.id}).empty());
}

TEST_P(Histories, P27_a_history_may_be_long) {
    submit();
    for (int i = 0; i < 300; ++i) yield(claim_one());
    const Record last = claim_one();
    const auto rows = history(last.header.key());
    EXPECT_EQ(rows.size(), 602U);
    EXPECT_EQ(rows.back(), domain::claim_transition(last.header, State::queued));
}

TEST_P(Histories, P27_a_record_made_again_begins_anew) {
    const Change creation = decided(new_task());
    const Record first = step(apply(creation), domain::Pause{});
    Change erasure = rewrite(first.header);
    only_put(erasure).erase = true;
    ASSERT_EQ(verdict(erasure), Verdict::committed);
    apply(creation);
    EXPECT_EQ(history(first.header.key()).size(), 1U);
}

TEST_P(Feed, P29_every_event_and_those_of_one_record_in_the_order_of_their_versions) {
    constexpr int kTasks = 20;
    for (int i = 0; i < kTasks; ++i) submit();
    for (const Record& held : claim(asking("default", kTasks))) {
        if (held.header.id.low % 2 == 0) {
            complete(held);
        } else {
            step(yield(held), domain::Cancel{});
        }
    }
    std::map<Uuid, std::vector<std::uint64_t>> versions;
    for (const FeedEvent& event : whole_feed()) {
        auto& seen = versions[event.subject.id];
        if (seen.empty() || seen.back() != event.version) seen.push_back(event.version);
    }
    EXPECT_EQ(versions.size(), std::size_t{kTasks});
    for (const auto& [id, seen] : versions) {
        std::vector<std::uint64_t> all;
        for (std::uint64_t v = 1; v <= load(id).header.version; ++v) all.push_back(v);
        EXPECT_EQ(seen, all) << id.text();
    }
}

TEST_P(Feed, P29_an_event_says_what_a_reader_filters_by) {
    domain::Submission s = new_task("q", "t");
    s.tenant = "acme";
    submit(s);
    const Record held = claim_one("q");
    const domain::Failure failure{domain::ErrorKind::transient, "timed out", {}, {}};
    const Record failed = step(held, domain::Fail{held.header.fence(), failure, 1h});
    const std::vector<FeedEvent> events = feed_of(held.header.key());
    ASSERT_EQ(events.size(), 3U);
    FeedEvent expected;
    expected.subject = held.header.key();
    expected.version = 3;
    expected.name = "failed";
    expected.from = State::running;
    expected.to = State::retrying;
    expected.attempt = 1;
    expected.at = failed.header.updated_at;
    expected.queue = "q";
    expected.type = "t";
    expected.tenant = "acme";
    expected.message = "timed out";
    expected.data = Bytes(domain::to_json(failure).text());
    EXPECT_EQ(events[2], expected);
}

TEST_P(Feed, P29_a_reader_in_small_steps_misses_nothing) {
    std::string cursor;
    std::map<Uuid, std::uint64_t> last;
    for (int i = 0; i < 30; ++i) {
        submit();
        if (i % 3 == 0) {
            complete(claim_one());
            continue;  // sometimes the reader falls behind
        }
        const FeedPage page = ask(store().feed(cursor, 2));
        cursor = page.next;
        for (const FeedEvent& event : page.events) last[event.subject.id] = event.version;
    }
    for (const FeedEvent& event : read_feed(cursor)) {
        EXPECT_GE(event.version, last[event.subject.id]);
        last[event.subject.id] = event.version;
    }
    EXPECT_EQ(last.size(), 30U);
    for (const auto& [id, version] : last) EXPECT_EQ(version, load(id).header.version);
}

TEST_P(Feed, P29_a_refused_change_has_no_event) {
    const Record task = submit();
    step(task, domain::Pause{});
    const auto before = whole_feed();
    ASSERT_EQ(verdict(decided(task, domain::Cancel{})), Verdict::conflict);
    EXPECT_EQ(whole_feed(), before);
}

TEST_P(Feed, P30_an_empty_cursor_begins_at_the_oldest_and_now_at_the_newest) {
    EXPECT_TRUE(whole_feed().empty());
    const Record a = submit();
    EXPECT_EQ(whole_feed().at(0).subject, a.header.key());
    const FeedPage page = ask(store().feed("now", 100));
    EXPECT_TRUE(page.events.empty());
    EXPECT_FALSE(page.next.empty()) << "where to go on, though there was nothing";
    const Record b = submit();
    std::string cursor = page.next;
    const auto events = read_feed(cursor);
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0].subject, b.header.key());
    EXPECT_EQ(whole_feed().size(), 2U);
}

TEST_P(Feed, P30_a_cursor_stays_good_when_there_was_nothing_to_read) {
    std::string cursor;
    EXPECT_TRUE(read_feed(cursor).empty());
    EXPECT_TRUE(read_feed(cursor).empty());
    submit();
    EXPECT_EQ(read_feed(cursor).size(), 1U);
    EXPECT_TRUE(read_feed(cursor).empty());
    EXPECT_FALSE(ask(store().feed(cursor, 10)).reset);
    EXPECT_FALSE(ask(store().feed("", 10)).reset) << "the beginning is always there";
}

}  // namespace
}  // namespace holdfast::stores::conformance
