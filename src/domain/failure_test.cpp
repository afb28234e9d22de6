#include "domain/failure.h"

#include <gtest/gtest.h>

namespace holdfast::domain {
namespace {

std::uint64_t print_of(std::string_view message) {
    return fingerprint("t", {ErrorKind::transient, std::string(message), "", ""});
}

TEST(Fingerprint, groups_messages_that_differ_in_numbers_ids_and_quoted_texts) {
    const std::vector<std::vector<std::string_view>> groups{
        {"timeout after 30s", "timeout after 5s", "timeout after 12345s"},
        {"connect to 10.0.0.1:5432 failed", "connect to 192.168.178.20:80 failed"},
        {"no user 'ann'", "no user 'bob'", "no user ''"},
        {"no file \"a b\" here", "no file \"/tmp/x\" here"},
        {"can't open 'a'", "can't open 'bcd'"},
        {"task 0193a1b2-0000-7abc-8000-0123456789ab gone",
         "task ffffffff-ffff-7fff-bfff-ffffffffffff gone",
         "task 550e8400-e29b-41d4-a716-446655440000 gone"},
        {"object deadbeef01 lost", "object 0123456789abcdef lost", "object 42 lost"},
        {"fault at 0x7ffe12a0", "fault at 0xdead0", "fault at 0x0"},
        {"first line 1\nat f()", "first line 2\nat g()"},
    };
    for (const auto& group : groups) {
        for (const auto& message : group) {
            EXPECT_EQ(print_of(message), print_of(group.front()))
                << normalised(message) << " / " << normalised(group.front());
        }
    }
    for (std::size_t i = 1; i < groups.size(); ++i)
        EXPECT_NE(print_of(groups[i].front()), print_of(groups[i - 1].front()));
}

TEST(Fingerprint, keeps_words_apart) {
    EXPECT_NE(print_of("connection refused"), print_of("connection reset"));
    EXPECT_NE(print_of("decade facade"), print_of("decade effaced")) << "words, though all hex";
    EXPECT_NE(print_of("v1 api"), print_of("w1 api"));
}

TEST(Fingerprint, tells_types_kinds_and_codes_apart) {
    const Failure f{ErrorKind::transient, "m", "", "E1"};
    Failure other_kind = f;
    other_kind.kind = ErrorKind::timeout;
    Failure other_code = f;
    other_code.code = "E2";
    Failure other_stack = f;
    other_stack.stack = "elsewhere";
    EXPECT_NE(fingerprint("a", f), fingerprint("b", f));
    EXPECT_NE(fingerprint("a", f), fingerprint("a", other_kind));
    EXPECT_NE(fingerprint("a", f), fingerprint("a", other_code));
    EXPECT_EQ(fingerprint("a", f), fingerprint("a", other_stack));
}

TEST(Fingerprint, of_nothing_is_not_the_print_of_a_task_that_never_failed) {
    EXPECT_NE(fingerprint("", {}), 0U);
}

TEST(Fingerprint, looks_at_the_beginning_of_a_long_message_only) {
    const std::string begin(300, 'x');
    EXPECT_EQ(print_of(begin + " a"), print_of(begin + " b"));
}

TEST(Normalised, shows_what_the_fingerprint_sees) {
    EXPECT_EQ(normalised("connect to 10.1 failed after 250ms"), "connect to #.# failed after #ms");
    EXPECT_EQ(normalised("it's \"x\" or 'y', isn't it"), "it's * or *, isn't it");
    EXPECT_EQ(normalised("half a 'quote"), "half a 'quote");
    EXPECT_EQ(normalised("Cafe2Bar 1a2B3c4D"), "Cafe#Bar #");
    EXPECT_EQ(normalised("zz99zz99 ab12"), "zz#zz# ab#");
    EXPECT_EQ(normalised("7 snake_case_9 {a} [b] ~"), "# snake_case_# {a} [b] ~");
    EXPECT_EQ(normalised("'x' is feedface, '"), "* is feedface, '");
    EXPECT_EQ(normalised(""), "");
    EXPECT_EQ(normalised("#7 é 漢"), "# é 漢");
}

TEST(Truncated, cuts_at_a_whole_character) {
    const auto message_of = [](std::string message) {
        return truncated({ErrorKind::transient, std::move(message), "", ""}).message;
    };
    const std::string full(kLongestMessage, 'x');
    EXPECT_EQ(message_of(full), full);
    EXPECT_EQ(message_of(full + "y"), full);
    const std::string almost(kLongestMessage - 1, 'x');
    EXPECT_EQ(message_of(almost + "é"), almost) << "no half é";
    EXPECT_EQ(message_of(almost + "漢字"), almost);
    EXPECT_EQ(message_of(almost + "y漢"), almost + "y");
    EXPECT_EQ(message_of(std::string(kLongestMessage - 3, 'x') + "漢字"),
              std::string(kLongestMessage - 3, 'x') + "漢");
    EXPECT_TRUE(message_of(std::string(2 * kLongestMessage, '\x80')).empty()) << "no UTF-8 at all";
}

TEST(Truncated, limits_every_part) {
    const std::string much(100'000, 'x');
    const Failure cut = truncated({ErrorKind::permanent, much, much, much});
    EXPECT_EQ(cut.message.size(), kLongestMessage);
    EXPECT_EQ(cut.stack.size(), kLongestStack);
    EXPECT_EQ(cut.code.size(), kLongestCode);
    EXPECT_EQ(cut.kind, ErrorKind::permanent);
}

TEST(FailureJson, leaves_out_what_was_not_said) {
    EXPECT_EQ(to_json(Failure{}).text(), R"({"kind":"transient","message":""})");
    EXPECT_EQ(to_json(Failure{ErrorKind::crash, "m\n", "s", "c"}).text(),
              R"({"kind":"crash","message":"m\n","code":"c","stack":"s"})");
}

TEST(FailureJson, of_a_message_that_is_no_utf8_can_be_read) {
    EXPECT_TRUE(Json::parse(to_json({ErrorKind::transient, "\xff\xfe", "", ""}).text()));
}

TEST(ErrorKinds, are_found_by_their_names) {
    for (const std::string_view name : kErrorKindNames)
        EXPECT_EQ(to_string(*error_kind_from(name)), name);
    EXPECT_FALSE(error_kind_from("catastrophic"));
    EXPECT_FALSE(error_kind_from(""));
}

}  // namespace
}  // namespace holdfast::domain
