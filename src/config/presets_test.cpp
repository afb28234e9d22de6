#include "config/presets.h"

#include <gtest/gtest.h>

namespace holdfast::config {
namespace {

using namespace std::chrono_literals;
using domain::Backoff;
using domain::Ending;
using domain::OnOutage;
using domain::Policy;

ReadPresets read(std::string_view text) {
    return read_presets(parse_toml(text, "f").value());
}
std::string problem(std::string_view keys) {
    const auto found = read("[presets.p]\n" + std::string(keys)).problems;
    return found.empty() ? "none" : found.front();
}

TEST(PresetTables, say_every_part_of_a_policy) {
    const auto found = read(R"(
[presets.patient]
max = 20
base = "5s"
factor = 3
max_delay = "1h"
jitter = 0.5
on_exhausted = "fail"
on_timeout = "fail"
on_outage = "hold"
timeout = "2d"
[presets.quick]
schedule = ["1s", "2s"]
[presets.same]
)");
    ASSERT_EQ(found.problems, std::vector<std::string>{});
    ASSERT_EQ(found.presets.size(), 3U);
    EXPECT_EQ(found.presets[0],
              (domain::Preset{
                  "patient",
                  {.backoff = {.schedule = {}, .base = 5s, .factor = 3, .max = 1h, .jitter = 0.5},
                   .max = 20,
                   .on_exhausted = Ending::fail,
                   .on_timeout = Ending::fail,
                   .on_outage = OnOutage::hold,
                   .timeout = std::chrono::days{2}}}));
    EXPECT_EQ(found.presets[1].policy.backoff, (Backoff{.schedule = {1s, 2s}, .jitter = 0.2}));
    EXPECT_EQ(found.presets[2].policy, Policy{}) << "what is not said is as without a preset";
    EXPECT_EQ(found.sources[0], "f:3");
}

TEST(PresetTables, that_are_wrong_are_refused_with_line_and_key) {
    EXPECT_EQ(problem("max = 1001"), "f:2: presets.p.max: must be between 0 and 1000");
    EXPECT_EQ(problem("max = -1"), "f:2: presets.p.max: must be a whole number between 0 and 1000");
    EXPECT_EQ(problem("max = \"3\""),
              "f:2: presets.p.max: must be a whole number between 0 and 1000");
    EXPECT_EQ(problem("base = 5"), "f:2: presets.p.base: must be a duration as text, like \"30s\"");
    EXPECT_EQ(problem("max_delay = \"31d\""), "f:2: presets.p.max_delay: is longer than 30d");
    EXPECT_EQ(problem("max = 1\nfactor = 0.5"), "f:3: presets.p.factor: must be between 1 and 100");
    EXPECT_EQ(problem("factor = \"2\""), "f:2: presets.p.factor: must be a number");
    EXPECT_EQ(problem("jitter = inf"), "f:2: presets.p.jitter: must be a number");
    EXPECT_EQ(problem("jitter = 2"), "f:2: presets.p.jitter: must be between 0 and 1");
    EXPECT_EQ(problem("schedule = []"),
              R"(f:2: presets.p.schedule: must be a list of durations, like ["1m", "5m"])");
    EXPECT_EQ(problem("schedule = [1]"),
              R"(f:2: presets.p.schedule: must be a list of durations, like ["1m", "5m"])");
    EXPECT_TRUE(problem("schedule = [\"1x\"]").starts_with("f:2: presets.p.schedule: '1x' is not"));
    EXPECT_EQ(problem("base = \"1s\"\nschedule = [\"1s\"]"),
              "f:3: presets.p.schedule: must not stand beside base, factor and max_delay");
    EXPECT_EQ(problem("on_outage = \"wait\""),
              "f:2: presets.p.on_outage: must be \"count\" or \"hold\"");
    EXPECT_EQ(problem("on_timeout = true"),
              "f:2: presets.p.on_timeout: must be \"suspend\" or \"fail\"");
    EXPECT_EQ(problem("timeout = \"4000d\"").substr(0, 23), "f:2: presets.p.timeout:");
    EXPECT_EQ(problem("on_exausted = \"fail\""),
              "f:2: presets.p.on_exausted: is not a key of a preset; did you mean on_exhausted?");
    EXPECT_EQ(problem("colour = \"red\""), "f:2: presets.p.colour: is not a key of a preset");
    EXPECT_EQ(problem("x.y = 1"), "f:2: presets.p.x.y: presets are tables like [presets.patient]");
}

TEST(PresetTables, have_names_that_are_free_and_plain) {
    EXPECT_EQ(read("[presets.ingest]\nmax = 1").problems.at(0),
              "f:2: presets.ingest.max: is a built-in preset; choose another name");
    EXPECT_EQ(read("[presets.\"two words\"]\nmax = 1").problems.size(), 1U);
    EXPECT_EQ(read("[presets]\nmax = 1").problems.at(0),
              "f:2: presets.max: presets are tables like [presets.patient]");
    EXPECT_EQ(read("presets = 1").problems.at(0),
              "f:1: presets: presets are tables like [presets.patient]");
    EXPECT_TRUE(read("[presets]").problems.empty());
    std::string many;
    for (int i = 0; i < 101; ++i) many += "[presets.p" + std::to_string(i) + "]\n";
    EXPECT_EQ(read(many).problems.size(), 1U);
}

}  // namespace
}  // namespace holdfast::config
