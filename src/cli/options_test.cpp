#include "cli/options.h"

#include <gtest/gtest.h>

#include <sstream>

namespace holdfast::cli {
namespace {

using namespace std::chrono_literals;

struct OptionsTest : ::testing::Test {
    std::optional<int> parse(Options& options, const Arguments& arguments) {
        return options.parse(arguments, io);
    }

    std::istringstream in;
    std::ostringstream out, err;
    Io io{.in = in, .out = out, .err = err, .environment = [](const char*) { return nullptr; }};
};

TEST_F(OptionsTest, options_and_arguments_may_come_in_any_order) {
    std::string queue, id;
    std::vector<std::string> labels;
    std::optional<std::int64_t> number;
    bool flag = false;
    Options options("x", "ID", "about");
    options.text(queue, "-q,--queue", "Q", "")
        .texts(labels, "-l,--label", "L", "")
        .number(number, "-n", "")
        .flag(flag, "--all", "")
        .argument(id, "ID", "");
    EXPECT_EQ(parse(options,
                    {"--label", "a=1", "the-id", "-q", "media", "-l", "b=2", "--all", "-n", "-3"}),
              std::nullopt)
        << err.str();
    EXPECT_EQ(queue, "media");
    EXPECT_EQ(id, "the-id");
    EXPECT_EQ(labels, (std::vector<std::string>{"a=1", "b=2"}));
    EXPECT_EQ(number, -3);
    EXPECT_TRUE(flag);
}

TEST_F(OptionsTest, a_wait_may_have_a_duration_or_none) {
    const std::tuple<Arguments, std::chrono::milliseconds, std::string> rows[]{
        {{"--wait", "id"}, 24h, "id"},
        {{"--wait", "30s", "id"}, 30s, "id"},
        {{"id", "--wait"}, 24h, "id"},
        {{"id", "--wait=1m30s"}, 90s, "id"}};
    for (const auto& [arguments, expected, id] : rows) {
        std::optional<std::chrono::milliseconds> wait;
        std::string got;
        Options options("x", "ID", "about");
        options.argument(got, "ID", "").waiting(wait, "-w,--wait", 24h, "");
        EXPECT_EQ(parse(options, arguments), std::nullopt) << err.str();
        EXPECT_EQ(wait, expected);
        EXPECT_EQ(got, id);
    }
}

TEST_F(OptionsTest, what_stands_behind_two_dashes_is_left_alone) {
    std::vector<std::string> rest;
    bool flag = false;
    Options options("x", "", "about");
    options.rest(rest).flag(flag, "--all", "");
    EXPECT_EQ(parse(options, {"--all", "--", "sh", "-c", "echo --all", "--"}), std::nullopt);
    EXPECT_EQ(rest, (std::vector<std::string>{"sh", "-c", "echo --all", "--"}));
}

TEST_F(OptionsTest, mistakes_are_usage_errors_that_say_what_to_do) {
    const std::pair<Arguments, std::string> rows[]{{{}, "ID"},
                                                   {{"a", "--nonsense"}, "nonsense"},
                                                   {{"a", "--mode", "z"}, "one of x|y"},
                                                   {{"a", "--for", "soon"}, "250ms"},
                                                   {{"a", "-n", "many"}, "many"},
                                                   {{"a", "b"}, "b"}};
    for (const auto& [arguments, expected] : rows) {
        std::string id, mode;
        std::chrono::milliseconds time{0};
        std::optional<std::int64_t> number;
        Options options("cmd", "ID [OPTIONS]", "about");
        options.argument(id, "ID", "")
            .choice(mode, "--mode", {"x", "y"}, "")
            .duration(time, "--for", "")
            .number(number, "-n", "");
        err.str("");
        EXPECT_EQ(parse(options, arguments), kUsage);
        EXPECT_TRUE(err.str().contains(expected)) << err.str();
        EXPECT_TRUE(err.str().contains("usage: holdfast cmd ID [OPTIONS]")) << err.str();
        EXPECT_EQ(out.str(), "");
    }
}

TEST_F(OptionsTest, help_goes_to_standard_output_and_is_no_error) {
    std::string id;
    Options options("cmd", "ID [OPTIONS]", "What it does.");
    options.argument(id, "ID", "The task");
    EXPECT_EQ(parse(options, {"--help"}), kOk);
    EXPECT_TRUE(out.str().contains("usage: holdfast cmd ID [OPTIONS]")) << out.str();
    EXPECT_TRUE(out.str().contains("What it does."));
    EXPECT_EQ(err.str(), "");
}

}  // namespace
}  // namespace holdfast::cli
