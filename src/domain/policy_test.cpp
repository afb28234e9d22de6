#include "domain/policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/rng.h"

namespace holdfast::domain {
namespace {

using namespace std::chrono_literals;

constexpr Uuid kTask{0x0193'0000'0000'7000, 42};

Policy random_policy(Rng& rng) {
    const auto delay = [&] {
        const auto most = static_cast<std::uint64_t>(Duration{std::chrono::days{30}}.count());
        return Duration{static_cast<std::int64_t>(rng.below((most >> rng.below(40)) + 1))};
    };
    Policy p;
    p.backoff = {};
    if (rng.chance(0.5)) {
        for (std::uint64_t n = 1 + rng.below(32); n > 0; --n) p.backoff.schedule.push_back(delay());
    } else {
        p.backoff.base = delay();
        p.backoff.max = delay();
        p.backoff.factor = 1 + rng.unit() * 99;
    }
    p.backoff.jitter = rng.chance(0.2) ? 0 : rng.unit();
    p.max = static_cast<std::uint16_t>(rng.below(1001));
    p.poison = static_cast<std::uint16_t>(rng.below(65536));
    p.on_exhausted = rng.chance(0.5) ? Ending::fail : Ending::suspend;
    p.on_timeout = rng.chance(0.5) ? Ending::fail : Ending::suspend;
    p.on_outage = rng.chance(0.5) ? OnOutage::hold : OnOutage::count;
    if (rng.chance(0.5)) p.timeout = delay();
    return p;
}

TEST(Backoff, a_schedule_is_followed_and_its_last_value_repeats) {
    const Backoff b{.schedule = {1min, 5min, 15min}};
    EXPECT_EQ(backoff(b, 0, kTask), 1min) << "asked before any failure";
    EXPECT_EQ(backoff(b, 1, kTask), 1min);
    EXPECT_EQ(backoff(b, 2, kTask), 5min);
    EXPECT_EQ(backoff(b, 3, kTask), 15min);
    EXPECT_EQ(backoff(b, 4, kTask), 15min);
    EXPECT_EQ(backoff(b, UINT32_MAX, kTask), 15min);
}

TEST(Backoff, exponential_delays_are_the_formula_with_its_cap_and_never_overflow) {
    const Backoff b{};  // 1 s × 2^(n−1), at most 10 min
    for (std::uint32_t n = 1; n < 70; ++n) {
        const double formula = std::min(1e6 * std::pow(2.0, n - 1), 600e6);
        EXPECT_EQ(backoff(b, n, kTask).count(), static_cast<std::int64_t>(formula)) << n;
    }
    EXPECT_EQ(backoff(b, UINT32_MAX, kTask), 10min);
    EXPECT_EQ(backoff({.schedule = {}, .base = 0s}, 5, kTask), 0s) << "0 is valid for backoff";
    EXPECT_EQ(backoff({.schedule = {}, .base = 5s, .max = 0s}, 1, kTask), 0s);
    EXPECT_EQ(backoff({.schedule = {}, .base = 3s, .factor = 1}, 50, kTask), 3s);
}

TEST(Backoff, jitter_takes_away_no_more_than_its_part_and_spreads) {
    const Backoff b{.schedule = {100s}, .jitter = 0.2};
    Rng rng(1);
    Duration least = 100s;
    Duration most = 0s;
    for (int i = 0; i < 1000; ++i) {
        const Duration d = backoff(b, 1, {rng(), rng()});
        least = std::min(least, d);
        most = std::max(most, d);
    }
    EXPECT_GE(least, 80s);
    EXPECT_LT(least, 81s);
    EXPECT_LE(most, 100s);
    EXPECT_GT(most, 99s);
}

TEST(Backoff, jitter_is_the_same_for_the_same_task_and_failure) {
    const Backoff b{.schedule = {100s}, .jitter = 1};
    EXPECT_EQ(backoff(b, 1, kTask), backoff(b, 1, kTask));
    EXPECT_NE(backoff(b, 1, kTask), backoff(b, 2, kTask));
    EXPECT_NE(backoff(b, 1, kTask), backoff(b, 1, {kTask.high, kTask.low + 1}));
}

TEST(Presets, are_those_of_the_requirements) {
    const Policy workflow = *preset("workflow");
    EXPECT_EQ(workflow.max, 3);
    EXPECT_EQ(workflow.backoff.schedule, (std::vector<Duration>{1min, 5min, 15min}));
    EXPECT_EQ(workflow.on_outage, OnOutage::hold);
    for (const std::string_view name : {"ingest", "outbox"}) {
        const Policy p = *preset(name);
        EXPECT_EQ(p.max, 10);
        EXPECT_EQ(p.on_outage, OnOutage::count);
        EXPECT_EQ(backoff(p.backoff, 1, kTask), 1s);
        EXPECT_EQ(backoff(p.backoff, 10, kTask), 512s);
        EXPECT_EQ(backoff(p.backoff, 11, kTask), 10min);
    }
    const Policy external = *preset("external");
    EXPECT_EQ(external.max, 0) << "provider errors never count";
    EXPECT_EQ(external.on_timeout, Ending::fail);
    EXPECT_EQ(presets().size(), 4U);
    for (const Preset& p : presets()) EXPECT_TRUE(check_policy(p.policy)) << p.name;
    ASSERT_FALSE(preset("wrokflow"));
    EXPECT_NE(preset("wrokflow").error().detail.find("workflow, ingest"), std::string::npos);
}

class OwnPresets : public ::testing::Test {
  protected:
    ~OwnPresets() override { EXPECT_TRUE(use_own_presets({})); }
};

TEST_F(OwnPresets, are_found_beside_the_built_in_ones_until_others_are_used) {
    ASSERT_TRUE(use_own_presets({{"patient", {.max = 50, .timeout = 2h}}, {"once", {.max = 1}}}));
    EXPECT_EQ(preset("patient")->max, 50);
    EXPECT_EQ(preset("once")->max, 1);
    EXPECT_EQ(preset("ingest")->max, 10);
    EXPECT_EQ(presets().size(), 6U);
    EXPECT_NE(preset("pateint").error().detail.find("external, patient, once"), std::string::npos);
    ASSERT_TRUE(use_own_presets({{"once", {.max = 2}}}));
    EXPECT_EQ(preset("once")->max, 2);
    EXPECT_FALSE(preset("patient"));
}

TEST_F(OwnPresets, bring_their_timeout_where_the_built_in_ones_have_none) {
    ASSERT_TRUE(use_own_presets({{"patient", {.timeout = 2h}}}));
    Policy policy{.timeout = 1h};
    ASSERT_TRUE(read_retry(Json::quoted("patient"), policy));
    EXPECT_EQ(policy.timeout, 2h);
}

TEST_F(OwnPresets, that_are_wrong_are_refused_and_change_nothing) {
    ASSERT_TRUE(use_own_presets({{"mine", {.max = 7}}}));
    const auto field = [](std::vector<Preset> own) {
        const auto result = use_own_presets(std::move(own));
        return result ? "accepted" : result.error().field;
    };
    EXPECT_EQ(field({{"ingest", {}}}), "ingest") << "built in";
    EXPECT_EQ(field({{"a", {}}, {"b", {}}, {"a", {}}}), "a") << "twice";
    EXPECT_EQ(field({{"two words", {}}}), "two words");
    EXPECT_EQ(field({{"fine", {}}, {"wild", {.max = 1001}}}), "wild.retry.max");
    EXPECT_EQ(field(std::vector<Preset>(101, {"p", {}})), "presets");
    EXPECT_EQ(preset("mine")->max, 7);
    EXPECT_EQ(presets().size(), 5U);
}

TEST(PolicyText, is_one_readable_line) {
    EXPECT_EQ(format_policy({}),
              "max=3;poison=3;schedule=1m,5m,15m;jitter=0.2;exhausted=suspend;timeout=suspend;"
              "outage=count");
    EXPECT_EQ(format_policy({.backoff = {},
                             .max = 10,
                             .on_exhausted = Ending::fail,
                             .on_outage = OnOutage::hold,
                             .timeout = 90min}),
              "max=10;poison=3;base=1s;factor=2;cap=10m;jitter=0;exhausted=fail;timeout=suspend;"
              "outage=hold;within=1h30m");
}

TEST(PolicyText, and_back_is_the_same_policy) {
    Rng rng(2);
    for (int i = 0; i < 5000; ++i) {
        const Policy p = random_policy(rng);
        const auto back = parse_policy(format_policy(p));
        ASSERT_TRUE(back) << format_policy(p) << ": " << back.error().detail;
        ASSERT_EQ(*back, p) << format_policy(p);
    }
}

TEST(PolicyText, that_nobody_wrote_is_refused) {
    for (const std::string_view text : {"",
                                        ";",
                                        "max",
                                        "max=",
                                        "max=-1",
                                        "max=65536",
                                        "max=1001",
                                        "max=3 ",
                                        "colour=red",
                                        "exhausted=explode",
                                        "timeout=",
                                        "outage=maybe",
                                        "base=1",
                                        "cap=-1s",
                                        "schedule=",
                                        "schedule=1m,,5m",
                                        "schedule=1m,",
                                        "schedule=31d",
                                        "factor=0.5",
                                        "factor=101",
                                        "factor=two",
                                        "jitter=0.5x",
                                        "factor=nan",
                                        "factor=inf",
                                        "jitter=1.5",
                                        "jitter=-0.1",
                                        "jitter=nan",
                                        "within=x",
                                        "within=3651d",
                                        "max=3;",
                                        "base=31d",
                                        "cap=31d",
                                        "poison=many",
                                        "cap=26m;schedule=10m",
                                        "schedule=10m;factor=3"}) {
        EXPECT_FALSE(parse_policy(text)) << text;
    }
    std::string endless = "schedule=1s";
    for (int i = 0; i < 32; ++i) endless += ",1s";
    EXPECT_FALSE(parse_policy(endless));
}

TEST(PolicyText, settings_that_are_missing_have_their_usual_value) {
    const auto p = parse_policy("max=7");
    ASSERT_TRUE(p);
    EXPECT_EQ(p->max, 7);
    EXPECT_EQ(p->poison, Policy{}.poison);
    EXPECT_EQ(p->backoff, Backoff{});
}

TEST(CheckPolicy, holds_a_policy_made_in_cpp_to_the_same_limits) {
    const auto field = [](auto change) {
        Policy p;
        change(p);
        const auto checked = check_policy(p);
        return checked ? std::string() : checked.error().field;
    };
    const auto month = std::chrono::days{31};
    EXPECT_EQ(field([](Policy&) {}), "");
    EXPECT_EQ(field([](Policy& p) { p.backoff.schedule.assign(33, 1s); }), "retry.policy.schedule");
    EXPECT_EQ(field([&](Policy& p) { p.backoff.schedule = {1s, month}; }), "retry.policy.schedule");
    EXPECT_EQ(field([](Policy& p) { p.backoff.schedule = {-1s}; }), "retry.policy.schedule");
    EXPECT_EQ(field([&](Policy& p) { p.backoff.base = month; }), "retry.policy.base");
    EXPECT_EQ(field([](Policy& p) { p.backoff.max = -1s; }), "retry.policy.max");
    EXPECT_EQ(field([](Policy& p) { p.backoff.factor = NAN; }), "retry.policy.factor");
    EXPECT_EQ(field([](Policy& p) { p.backoff.factor = 0; }), "retry.policy.factor");
    EXPECT_EQ(field([](Policy& p) { p.backoff.jitter = 2; }), "retry.policy.jitter");
    EXPECT_EQ(field([](Policy& p) { p.backoff.jitter = NAN; }), "retry.policy.jitter");
    EXPECT_EQ(field([](Policy& p) { p.max = 1001; }), "retry.max");
    EXPECT_EQ(field([](Policy& p) { p.timeout = -1s; }), "timeout");
    EXPECT_EQ(field([](Policy& p) { p.timeout = std::chrono::days{3651}; }), "timeout");
}

Result<Policy> read(std::string_view retry, Policy policy = {}) {
    TRY_VOID(read_retry(Json::parse(retry).value(), policy));
    return policy;
}

TEST(ReadRetry, takes_a_presets_name_in_both_places) {
    EXPECT_EQ(read(R"("ingest")"), *preset("ingest"));
    EXPECT_EQ(read(R"({"policy":"ingest"})"), *preset("ingest"));
    Policy expected = *preset("ingest");
    expected.max = 5;
    EXPECT_EQ(read(R"({"max":5,"policy":"ingest"})"), expected) << "whatever order they come in";
    EXPECT_EQ(read(R"({"policy":"ingest","max":5})"), expected);
}

TEST(ReadRetry, a_preset_leaves_the_timeout_alone) {
    EXPECT_EQ(read(R"("external")", {.timeout = 1h})->timeout, 1h);
}

TEST(ReadRetry, takes_a_schedule_or_an_exponential_policy) {
    const auto schedule = read(R"({"policy":{"schedule":["1s","2m"],"jitter":0.5}})");
    ASSERT_TRUE(schedule);
    EXPECT_EQ(schedule->backoff, (Backoff{.schedule = {1s, 2min}, .jitter = 0.5}));
    EXPECT_EQ(schedule->max, 3);
    const auto exponential = read(R"({"policy":{"base":"2s","factor":3,"max":"1h"}})");
    ASSERT_TRUE(exponential);
    EXPECT_EQ(exponential->backoff, (Backoff{.schedule = {}, .base = 2s, .factor = 3, .max = 1h}));
    EXPECT_EQ(read(R"({"policy":{"max":"1h"}})")->backoff.max, 1h);
    EXPECT_EQ(read(R"({"max":0})")->max, 0);
    EXPECT_EQ(read("{}"), Policy{});
}

TEST(BackoffJson, shows_the_policy_as_it_may_be_submitted_again) {
    EXPECT_EQ(backoff_json(Policy{}.backoff).text(),
              R"({"schedule":["1m","5m","15m"],"jitter":0.2})");
    Rng rng(3);
    for (int i = 0; i < 500; ++i) {
        const Policy p = random_policy(rng);
        Policy back;
        const Json shown = JsonObject{}.add("policy", backoff_json(p.backoff)).done();
        ASSERT_TRUE(read_retry(shown, back)) << shown.text();
        // Boost.JSON may read the last bit of a double differently.
        ASSERT_DOUBLE_EQ(back.backoff.factor, p.backoff.factor);
        ASSERT_DOUBLE_EQ(back.backoff.jitter, p.backoff.jitter);
        back.backoff.factor = p.backoff.factor;
        back.backoff.jitter = p.backoff.jitter;
        ASSERT_EQ(back.backoff, p.backoff) << shown.text();
    }
}

}  // namespace
}  // namespace holdfast::domain
