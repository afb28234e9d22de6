#include "base/log.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <thread>

#include "base/json.h"

namespace holdfast::log {
namespace {

using namespace std::chrono_literals;
using Fields = std::vector<Field>;

const Time kNoon = parse_time("2026-11-15T12:03:22.123Z").value();

std::string text(std::string_view message, const Fields& fields = {}) {
    return text_line({kNoon, Level::info, message, fields}, 0s, false);
}
std::string json(std::string_view message, const Fields& fields = {}) {
    return json_line({kNoon, Level::info, message, fields});
}

TEST(LogText, is_time_level_message_and_fields) {
    EXPECT_EQ(text("listening", {{"address", "127.0.0.1:7400"}, {"tasks", 3}, {"ready", true}}),
              "12:03:22.123 info  listening  address=127.0.0.1:7400  tasks=3  ready=true");
    EXPECT_EQ(text_line({kNoon, Level::error, "no", {}}, 0s, false), "12:03:22.123 error no");
    EXPECT_EQ(text_line({kNoon, Level::critical, "no", {}}, 0s, false), "12:03:22.123 critical no");
    EXPECT_EQ(text_line({kNoon, Level::info, "east", {}}, 8h, false), "20:03:22.123 info  east");
}

TEST(LogText, quotes_a_value_that_could_be_taken_for_more_than_one) {
    EXPECT_EQ(text("m", {{"why", "two words"}, {"none", ""}, {"sum", "a=b"}, {"q", "say \"x\""}}),
              R"(12:03:22.123 info  m  why="two words"  none=""  sum="a=b"  q="say \"x\"")");
}

TEST(LogText, is_coloured_only_when_asked) {
    const Fields fields{{"k", "v"}};
    const Line line{kNoon, Level::warn, "m", fields};
    EXPECT_NE(text_line(line, 0s, true).find("\x1b[33mwarn\x1b[0m"), std::string::npos);
    EXPECT_EQ(text_line(line, 0s, false).find('\x1b'), std::string::npos);
}

TEST(LogJson, is_one_object_that_a_parser_reads) {
    const std::string line = json("done", {{"queue", "a b"},
                                           {"count", std::uint64_t{7}},
                                           {"seconds", 0.25},
                                           {"nothing", std::nan("")},
                                           {"last", false}});
    EXPECT_EQ(line, R"({"time":"2026-11-15T12:03:22.123Z","level":"info","message":"done",)"
                    R"("queue":"a b","count":7,"seconds":0.25,"nothing":null,"last":false})");
    EXPECT_TRUE(Json::parse(line));
}

TEST(Log, text_from_outside_cannot_forge_a_line_or_steer_a_terminal) {
    const std::string evil =
        "a\n12:00:00 error forged\r\x1b[2J\x7f\xc2\x9b"
        "31m\xe2\x80\xa8\xe2\x80\xae\"\\\t";
    for (const std::string& line :
         {text(evil), json(evil), text("m", {{"v", evil}}), json("m", {{"v", evil}})}) {
        for (const char c : line) EXPECT_GE(static_cast<unsigned char>(c), 0x20U) << line;
        for (const char* bad : {"\x7f", "\xc2\x9b", "\xe2\x80\xa8", "\xe2\x80\xae"})
            EXPECT_EQ(line.find(bad), std::string::npos) << line;
        EXPECT_NE(line.find("\\n12:00:00"), std::string::npos) << line;
        EXPECT_NE(line.find("\\u001b[2J"), std::string::npos) << line;
        EXPECT_NE(line.find("\\u009b"), std::string::npos) << line;
    }
    EXPECT_EQ(Json::parse(json(evil))->member("message").value().get_string(), evil);
}

TEST(Log, what_is_no_utf8_is_escaped_and_the_rest_is_kept) {
    // A lone continuation, a cut character, an overlong slash, a surrogate, beyond the last code.
    for (const std::string_view bad :
         {"\x80", "\xe4\xb8", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
        const std::string value = "<" + std::string(bad) + ">图";
        EXPECT_EQ(text("m", {{"v", value}}).find(bad), std::string::npos);
        EXPECT_NE(text("m", {{"v", value}}).find("<\\x"), std::string::npos);
        EXPECT_NE(text("m", {{"v", value}}).find(">图"), std::string::npos);
        const auto line = Json::parse(json("m", {{"v", value}}));
        ASSERT_TRUE(line);
        EXPECT_NE(line->text().find("<\\ufffd"), std::string::npos);
        EXPECT_NE(line->text().find(">图"), std::string::npos);
    }
}

TEST(Log, long_texts_are_cut_between_characters) {
    std::string han;
    while (han.size() < 2 * kLongestMessage) han += "图";
    for (const std::string& line : {text(han, {{"v", han}}), json(han, {{"v", han}})}) {
        EXPECT_LT(line.size(), kLongestMessage + kLongestValue + 100);
        EXPECT_NE(line.find("图…"), std::string::npos);
        EXPECT_EQ(line.find("\\x"), std::string::npos);
        EXPECT_EQ(line.find("\\ufffd"), std::string::npos);
    }
    const std::string fits(kLongestValue, 'x');
    EXPECT_EQ(text("m", {{"v", fits}}).find("…"), std::string::npos);
}

class Written : public ::testing::Test {
  protected:
    ~Written() override { set_up({}); }
    template <class Work>
    std::vector<std::string> lines(Work work) {
        ::testing::internal::CaptureStderr();
        work();
        std::istringstream all(::testing::internal::GetCapturedStderr());
        std::vector<std::string> found;
        for (std::string line; std::getline(all, line);) found.push_back(line);
        return found;
    }
};

TEST_F(Written, lines_below_the_level_are_not) {
    set_up({.least = Level::warn, .form = Form::json});
    EXPECT_FALSE(enabled(Level::info));
    EXPECT_TRUE(enabled(Level::error));
    const auto written = lines([] {
        debug("one");
        info("two");
        warn("three {} %v");
        error("four", {{"n", 4}});
    });
    ASSERT_EQ(written.size(), 2U);
    EXPECT_NE(written[0].find(R"("message":"three {} %v")"), std::string::npos);
    EXPECT_NE(written[1].find(R"("message":"four","n":4)"), std::string::npos);
}

TEST_F(Written, a_file_or_pipe_gets_json_and_text_only_when_asked) {
    EXPECT_EQ(lines([] {
                  set_up({});
                  info("m");
              })[0]
                  .front(),
              '{');
    EXPECT_NE(lines([] {
                  set_up({.form = Form::text});
                  info("m", {{"k", 1}});
              })[0]
                  .find(" info  m  k=1"),
              std::string::npos);
}

TEST_F(Written, lines_of_many_threads_stay_whole) {
    set_up({.form = Form::json});
    const auto written = lines([] {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([] {
                for (int i = 0; i < 200; ++i) info("together", {{"i", i}});
            });
    });
    EXPECT_EQ(written.size(), 800U);
    for (const std::string& line : written) ASSERT_TRUE(Json::parse(line)) << line;
}

}  // namespace
}  // namespace holdfast::log
