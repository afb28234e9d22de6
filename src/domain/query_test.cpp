#include "domain/query.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace holdfast::domain {
namespace {

using namespace std::chrono_literals;

const Time kNoon = *parse_time("2026-11-17T12:00:00Z");

Header task() {
    Header h;
    h.id = *Uuid::parse("0199a3f2-1111-7abc-8def-0123456789ab");
    h.state = State::retrying;
    h.queue = "media";
    h.type = "video.render";
    h.tenant = "acme";
    h.labels = "\nplan=pro\nregion=eu west\n";
    h.worker = "gpu-7";
    h.attempt = 3;
    h.retry_count = 2;
    h.priority = 7;
    h.fingerprint = 0xe7f1c0de12345678U;
    h.created_at = kNoon - 90min;
    h.updated_at = kNoon - 5min;
    h.started_at = kNoon - 20min;
    h.due_at = kNoon + 10min;
    return h;
}

bool passes(const Header& header, std::string_view line) {
    const auto clauses = parse_query(line, kNoon);
    EXPECT_TRUE(clauses) << line << ": " << (clauses ? "" : clauses.error().detail);
    return clauses && matches(header, *clauses);
}
bool passes(std::string_view line) {
    return passes(task(), line);
}

QueryError error_of(std::string_view line) {
    const auto clauses = parse_query(line, kNoon);
    EXPECT_FALSE(clauses) << line << " can be read";
    return clauses ? QueryError{} : clauses.error();
}

TEST(Query, an_empty_line_means_every_task) {
    EXPECT_TRUE(parse_query("", kNoon)->empty());
    EXPECT_TRUE(passes("  \t "));
}

TEST(Query, a_line_break_separates_clauses_as_a_blank_does) {
    EXPECT_TRUE(passes("state:retrying\r\nqueue:media\n"));
    EXPECT_FALSE(passes("state:retrying\nqueue:mail"));
}

TEST(Query, clauses_are_joined_by_and_and_values_by_or) {
    EXPECT_TRUE(passes("state:retrying queue:media"));
    EXPECT_FALSE(passes("state:retrying queue:mail"));
    EXPECT_TRUE(passes("queue:mail,media,other"));
    EXPECT_FALSE(passes("queue:mail,other"));
}

TEST(Query, a_minus_turns_a_clause_around) {
    EXPECT_FALSE(passes("-queue:media"));
    EXPECT_TRUE(passes("-queue:mail"));
    EXPECT_FALSE(passes("-queue:mail,media"));
    EXPECT_FALSE(passes("-state:retrying,queued"));
    EXPECT_TRUE(passes("-worker:gpu-8"));
    EXPECT_TRUE(passes("-label.none:x")) << "what is not there is not x";
}

TEST(Query, texts_are_whole_unless_they_have_a_star_or_a_tilde) {
    EXPECT_FALSE(passes("type:video"));
    EXPECT_TRUE(passes("type:video.*"));
    EXPECT_TRUE(passes("type:*.render"));
    EXPECT_TRUE(passes("type:v*o.r*r"));
    EXPECT_FALSE(passes("type:*.rende"));
    EXPECT_TRUE(passes("type:~RENDER"));
    EXPECT_FALSE(passes("type:~image"));
    EXPECT_TRUE(passes(R"(type:~"")")) << "every text contains the empty one";
    EXPECT_FALSE(passes("type:image.*"));
    EXPECT_TRUE(passes("worker:gpu-*"));
    EXPECT_FALSE(passes(R"(type:"video.*")")) << "in quotes a star is a star";
}

TEST(Query, quotes_hold_blanks_commas_colons_and_quotes) {
    EXPECT_TRUE(passes(R"(label.region:"eu west")"));
    EXPECT_FALSE(passes(R"(label.region:"eu  west")"));
    Header h = task();
    h.labels = "\nsaid=a, b: \"c\" \\\n";
    EXPECT_TRUE(passes(h, R"(label.said:"a, b: \"c\" \\")"));
    h.tenant = "";
    EXPECT_TRUE(passes(h, R"(tenant:"")"));
    EXPECT_FALSE(passes(R"(tenant:"")"));
}

TEST(Query, labels_by_their_key) {
    EXPECT_TRUE(passes("label.plan:pro"));
    EXPECT_FALSE(passes("label.plan:pr"));
    EXPECT_TRUE(passes("label.plan:*"));
    EXPECT_FALSE(passes("label.pla:*")) << "another key";
    EXPECT_FALSE(passes("label.lan:pro"));
}

TEST(Query, a_star_alone_means_that_there_is_one) {
    EXPECT_TRUE(passes("tenant:* worker:* group:*"));
    EXPECT_FALSE(passes("-group:*"));
    Header h = task();
    h.fingerprint = 0;
    h.worker = "";
    EXPECT_FALSE(passes(h, "group:*"));
    EXPECT_TRUE(passes(h, "-worker:*"));
}

TEST(Query, numbers_compare_and_range) {
    for (const char* yes :
         {"attempt:3", "attempt:>2", "attempt:>=3", "attempt:<4", "attempt:<=3", "attempt:1..3",
          "attempt:3..", "attempt:..3", "attempt:1,3", "retries:2", "priority:>5", "-attempt:>3"})
        EXPECT_TRUE(passes(yes)) << yes;
    for (const char* no :
         {"attempt:4", "attempt:>3", "attempt:>=4", "attempt:<3", "attempt:<=2", "attempt:4..9",
          "attempt:..2", "attempt:1,2", "retries:0", "priority:0..6", "-attempt:3"})
        EXPECT_FALSE(passes(no)) << no;
}

TEST(Query, ages_and_how_long_an_attempt_runs) {
    EXPECT_TRUE(passes("age:>1h"));
    EXPECT_FALSE(passes("age:<1h"));
    EXPECT_TRUE(passes("age:<2h"));
    EXPECT_TRUE(passes("age:1h..2h"));
    EXPECT_FALSE(passes("age:2h.."));
    EXPECT_TRUE(passes("age:>=1h30m age:<=1h30m"));
    EXPECT_FALSE(passes("age:>1h30m"));
    EXPECT_FALSE(passes("running:>10m")) << "it is not running";
    Header h = task();
    h.state = State::running;
    EXPECT_TRUE(passes(h, "running:>10m running:<30m"));
    EXPECT_FALSE(passes(h, "running:>20m"));
}

TEST(Query, how_long_a_task_waits_until_it_is_due) {
    Header h = task();
    for (const State state : {State::retrying, State::waiting}) {
        h.state = state;
        EXPECT_TRUE(passes(h, "wait:<15m"));
        EXPECT_FALSE(passes(h, "wait:>15m"));
    }
    h.state = State::queued;
    EXPECT_FALSE(passes(h, "wait:<15m")) << "it does not wait for its time";
    h.state = State::waiting;
    h.due_at = kNoTime;
    EXPECT_FALSE(passes(h, "wait:<15m")) << "without a time it is not due soon";
    EXPECT_FALSE(passes(h, "wait:>15m"));
}

TEST(Query, days_and_times_of_creation) {
    EXPECT_TRUE(passes("created:2026-11-17"));
    EXPECT_FALSE(passes("created:2026-11-16"));
    EXPECT_TRUE(passes("created:2026-11-01..2026-11-17")) << "the last day belongs to it";
    EXPECT_TRUE(passes("created:>2026-11-16"));
    EXPECT_FALSE(passes("created:>2026-11-17")) << "after the day";
    EXPECT_FALSE(passes("created:<2026-11-17")) << "before the day";
    EXPECT_TRUE(passes("created:<=2026-11-17"));
    EXPECT_TRUE(passes("created:2026-11-17T10:30"));
    EXPECT_TRUE(passes("created:2026-11-17T10:30:00Z"));
    EXPECT_TRUE(passes("created:2026-11-17T18:30:00+08:00"));
    EXPECT_TRUE(passes("created:2026-11-17T10:30:00")) << "without a zone it is UTC";
    EXPECT_TRUE(passes("created:2026-11-17T10:30:00.000")) << "with parts of a second, too";
    EXPECT_FALSE(passes("created:2026-11-17T10:30:01"));
    EXPECT_FALSE(passes("created:2026-11-17T10:31"));
    EXPECT_TRUE(passes("updated:>2026-11-17T11:50"));
}

TEST(Query, a_second_is_all_of_it_and_a_part_of_one_is_that_moment) {
    Header h = task();
    h.created_at += 250ms;
    EXPECT_TRUE(passes(h, "created:2026-11-17T10:30:00Z"));
    EXPECT_TRUE(passes(h, "created:2026-11-17T10:30:00.250Z"));
    EXPECT_FALSE(passes(h, "created:2026-11-17T10:30:00.249Z"));
    EXPECT_TRUE(passes(h, "created:>2026-11-17T10:30:00.249Z"));
}

TEST(Query, failure_groups_by_their_fingerprint) {
    EXPECT_TRUE(passes("group:e7f1c0de12345678"));
    EXPECT_TRUE(passes("group:E7F1C0DE12345678"));
    EXPECT_FALSE(passes("group:e7f1c0de"));
    EXPECT_TRUE(passes("group:1,e7f1c0de12345678"));
}

TEST(Query, ids_by_their_beginning) {
    EXPECT_TRUE(passes("id:0199a3f2"));
    EXPECT_TRUE(passes("id:0199A3F2*"));
    EXPECT_TRUE(passes("0199a3f2-1111-7abc-8def-0123456789ab"));
    EXPECT_FALSE(passes("id:0199a3f3"));
}

TEST(Query, a_bare_word_is_an_id_or_a_part_of_the_type) {
    EXPECT_TRUE(passes("0199a3"));
    EXPECT_TRUE(passes("0199A3"));
    EXPECT_FALSE(passes(R"("0199a3")")) << "in quotes it is a part of the type";
    EXPECT_FALSE(passes("0199a4"));
    EXPECT_TRUE(passes("render"));
    EXPECT_TRUE(passes("Video queue:media"));
    EXPECT_FALSE(passes("image"));
    EXPECT_FALSE(passes("-render"));
    EXPECT_TRUE(passes("video.*"));
    Header h = task();
    h.type = "feed.face";
    EXPECT_TRUE(passes(h, "feed")) << "letters alone are a word, not an id";
    h.type = "feed-face";
    EXPECT_TRUE(passes(h, "feed-face"));
    const std::string digits(37, '7');
    h.type = "sum." + digits;
    EXPECT_TRUE(passes(h, digits)) << "longer than an id";
}

TEST(Query, what_a_task_waits_for) {
    EXPECT_TRUE(passes("waiting:retry"));
    EXPECT_FALSE(passes("waiting:delay,signal,paused"));
    Header h = task();
    h.state = State::waiting;
    EXPECT_TRUE(passes(h, "waiting:delay"));
    EXPECT_FALSE(passes(h, "waiting:signal"));
    h.until_signal = true;
    EXPECT_TRUE(passes(h, "waiting:signal"));
    EXPECT_FALSE(passes(h, "-waiting:signal"));
}

TEST(Query, what_a_chinese_keyboard_types_is_read_as_well) {
    EXPECT_TRUE(passes("state：retrying　queue：media，mail"));
    EXPECT_TRUE(passes("attempt：＞＝3"));
    EXPECT_TRUE(passes("label.region：“eu west”"));
    EXPECT_TRUE(passes("queue:a、media"));
    Header h = task();
    h.labels = "\ncity=上海，浦东\n";
    EXPECT_TRUE(passes(h, R"(label.city:"上海，浦东")")) << "quotes keep it as it is";
    EXPECT_TRUE(passes(h, "label.city:~浦东"));
}

TEST(Query, letters_of_every_length_are_compared) {
    Header h = task();
    h.labels = "\nname=José 上海 🚀\n";
    EXPECT_TRUE(passes(h, R"(label.name:"José 上海 🚀")"));
    EXPECT_TRUE(passes(h, "label.name:~é label.name:~海 label.name:*🚀"));
    EXPECT_FALSE(passes(h, "label.name:~è"));
    EXPECT_EQ(error_of("label.name:é🚀 kind:x").position, 14U);
}

TEST(Query, bodies_are_told_by_the_record_only) {
    const auto clauses = parse_query(R"(error:~"429" input.user.name:Ann input.tags.1:b)", kNoon);
    ASSERT_TRUE(clauses);
    ASSERT_EQ(clauses->size(), 3U);
    Record record{task(), Bytes(R"({"payload":{"user":{"name":"Ann","age":7},"tags":["a","b"]}})"),
                  Bytes(R"({"error":{"kind":"transient","message":"HTTP 429: slow down"}})")};
    for (const Clause& clause : *clauses) {
        EXPECT_TRUE(needs_body(clause));
        EXPECT_TRUE(matches(record.header, clause)) << "a header cannot tell";
        EXPECT_TRUE(matches(record, clause));
    }
    const auto record_passes = [&](std::string_view line) {
        const auto read = parse_query(line, kNoon);
        return read &&
               std::ranges::all_of(*read, [&](const Clause& c) { return matches(record, c); });
    };
    EXPECT_TRUE(record_passes("error:SLOW"));
    EXPECT_TRUE(record_passes("error:429*down"));
    EXPECT_FALSE(record_passes("error:500"));
    EXPECT_TRUE(record_passes("-error:500"));
    EXPECT_TRUE(record_passes("input.user.age:7"));
    EXPECT_FALSE(record_passes("input.user.age:8"));
    EXPECT_FALSE(record_passes("input.user.mail:*"));
    EXPECT_FALSE(record_passes("input.tags.2:*"));
    EXPECT_FALSE(record_passes("input.tags.first:*"));
    EXPECT_FALSE(record_passes("input.tags.1st:*")) << "a place is a number and nothing else";
    EXPECT_FALSE(record_passes("input.user.name.0:*")) << "nothing is in a text";
    EXPECT_TRUE(record_passes("queue:media input.user.name:Ann"));
    EXPECT_FALSE(record_passes("queue:mail input.user.name:Ann"));
    EXPECT_TRUE(record_passes("input.user.name:~an"));
    EXPECT_TRUE(record_passes("input:ann"));
    EXPECT_FALSE(record_passes("input:bob"));
    record.outcome = {};
    EXPECT_FALSE(record_passes("error:429"));
}

TEST(Query, an_error_says_where_and_how_to_mend_it) {
    const QueryError kind = error_of("state:failed kind:x");
    EXPECT_EQ(kind.position, 13U);
    EXPECT_EQ(kind.detail, "there is no field kind; did you mean type?");
    EXPECT_EQ(error_of("stat:failed").detail, "there is no field stat; did you mean state?");
    EXPECT_EQ(error_of("qeue:a").detail, "there is no field qeue; did you mean queue?");
    EXPECT_TRUE(error_of("zzzzzz:a").detail.contains("fields are state, queue"));

    const QueryError state = error_of("state:failed,runing");
    EXPECT_EQ(state.position, 13U);
    EXPECT_EQ(state.detail, "state has no value runing; did you mean running?");
    EXPECT_TRUE(error_of("state:none").detail.contains("values are waiting"));
}

TEST(Query, positions_count_characters_not_bytes) {
    EXPECT_EQ(error_of("label.city:上海 kind:x").position, 14U);
    EXPECT_EQ(error_of("label.city：“上海” kind：x").position, 16U);
}

TEST(Query, every_kind_of_nonsense_is_named) {
    const auto says = [](std::string_view line, std::string_view part, std::size_t position) {
        const QueryError error = error_of(line);
        EXPECT_TRUE(error.detail.contains(part)) << line << ": " << error.detail;
        EXPECT_EQ(error.position, position) << line;
    };
    says("queue:", "needs a value", 6);
    says("queue:a,", "needs a value", 8);
    says("queue:,a", "needs a value", 6);
    says("type:\"a", "the quote is not closed", 5);
    says("queue:>3", "cannot be compared", 6);
    says("attempt:~3", "cannot contain", 8);
    says("attempt:x", "whole numbers", 8);
    says("attempt:3x", "whole numbers", 8);
    says("attempt:1000000001", "whole numbers", 8);
    says("attempt:x..3", "whole numbers", 8);
    says("attempt:-1", "whole numbers", 8);
    says("attempt:9999999999999999999999", "whole numbers", 8);
    says("attempt:5..3", "the range is empty", 8);
    says("attempt:1..x", "whole numbers", 11);
    says("age:1h", "longer or shorter: age:>1h or age:<1h", 4);
    says("age:>5", "a duration", 4);
    says("created:<1h", "write age", 8);
    says("updated:<1h", "updated takes a day or a time", 8);
    says("created:tomorrow", "a day or a time", 8);
    says("created:2026-13-01", "a day or a time", 8);
    says("group:xyz", "a fingerprint", 6);
    says("group:12xy", "a fingerprint", 6);
    says("group:0", "a fingerprint", 6);
    says("id:hello", "an id or its beginning", 3);
    says("id:*", "an id or its beginning", 3);
    says("id:0199a3f2-1111-7abc-8def-0123456789abc", "an id or its beginning", 3);
    says("state:~fail", "state takes plain values only", 6);
    says("label:pro", "which label", 0);
    says("label.:pro", "nothing behind", 5);
    says("queue.a:b", "nothing behind", 5);
    says("waiting:retri", "did you mean retry?", 8);
    says(">3", "field:value", 0);
    says("a :b", "field:value", 2);
    says(std::string(2001, 'a'), "2000 characters", 2000);
    std::string many;
    for (int i = 0; i < 51; ++i) many += "a ";
    says(many, "50 clauses", 100);
}

TEST(Query, no_line_however_odd_breaks_the_reader) {
    for (const char* line : {"-",          "--",
                             ":",          "::",
                             "-:",         "~",
                             "\"",         "\"\"",
                             "a:\"\"\"",   "\xff\xfe:\xc3",
                             "\xe4\xb8",   "label.a:\xf0\x9f",
                             "*",          "a:*,*",
                             "..",         "age:..",
                             "attempt:..", "created:..",
                             "，，",       "state:\\",
                             "\"\\"})
        (void)parse_query(line, kNoon);
}

}  // namespace
}  // namespace holdfast::domain
