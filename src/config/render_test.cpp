#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "config/config.h"
#include "config/options.h"
#include "config/presets.h"

namespace holdfast::config {
namespace {

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

TEST(Options, have_names_flags_and_variables_of_their_own) {
    std::set<std::string> seen;
    for (const Option& option : options()) {
        EXPECT_EQ(std::ranges::count(option.name, '.'), 1) << option.name;
        EXPECT_TRUE(seen.insert(flag_of(option)).second) << option.name;
        EXPECT_TRUE(seen.insert(variable_of(option)).second) << option.name;
        EXPECT_TRUE(option.text.ends_with('.')) << option.name;
        EXPECT_TRUE(belongs_to(option, "config")) << option.name;
        const auto value = read_value(option, option.fallback);
        ASSERT_TRUE(value) << option.name << ": " << value.error().detail;
        EXPECT_EQ(read_value(option, show_value(option, *value)), value) << option.name;
    }
    for (const OtherVariable& other : other_variables())
        EXPECT_TRUE(seen.insert(std::string(other.name)).second) << other.name;
    EXPECT_FALSE(seen.contains(std::string(kConfigFlag)));
}

TEST(Options, are_called_as_documents_and_scripts_say) {
    const auto named = [](std::string_view name) {
        const Option& option = *find_option(name);
        return flag_of(option) + ' ' + variable_of(option);
    };
    EXPECT_EQ(named("server.listen"), "listen HOLDFAST_LISTEN");
    EXPECT_EQ(named("server.drain"), "drain HOLDFAST_DRAIN");
    EXPECT_EQ(named("store.url"), "store HOLDFAST_STORE");
    EXPECT_EQ(named("store.durability"), "durability HOLDFAST_DURABILITY");
    EXPECT_EQ(named("store.body_cache"), "body-cache HOLDFAST_BODY_CACHE");
    EXPECT_EQ(named("retention.finished"), "retention-finished HOLDFAST_RETENTION_FINISHED");
    EXPECT_EQ(named("server.roles"), "roles HOLDFAST_ROLES");
    EXPECT_EQ(named("server.instance"), "instance HOLDFAST_INSTANCE");
    EXPECT_EQ(named("redis.prefix"), "redis-prefix HOLDFAST_REDIS_PREFIX");
    EXPECT_EQ(named("redis.accept_loss"), "accept-loss HOLDFAST_ACCEPT_LOSS");
    EXPECT_EQ(named("http.max_body"), "http-max-body HOLDFAST_HTTP_MAX_BODY");
    EXPECT_EQ(named("engine.max_in_flight"), "engine-max-in-flight HOLDFAST_ENGINE_MAX_IN_FLIGHT");
    EXPECT_EQ(named("log.format"), "log-format HOLDFAST_LOG_FORMAT");
    EXPECT_EQ(named("dev.demo"), "demo HOLDFAST_DEMO");
    EXPECT_EQ(named("test.commit_delay"), "test-commit-delay HOLDFAST_TEST_COMMIT_DELAY");
}

TEST(OptionsAsJson, have_value_source_default_and_words_and_no_password) {
    Inputs inputs{"serve", {"--store", "redis://:hush@127.0.0.1:1/0"}, {}, {}};
    const auto loaded = load(inputs);
    ASSERT_TRUE(loaded) << loaded.error().detail;
    const std::string text = render_options(*loaded).text();
    EXPECT_TRUE(has(text, R"("name":"store.url")"));
    EXPECT_TRUE(has(text, R"("source":"--store","default":"sqlite:./holdfast-data","says":"Where)"))
        << text;
    EXPECT_FALSE(has(text, "hush"));
    EXPECT_FALSE(has(text, "test.commit_delay")) << "unless somebody set it";
}

TEST(Help, lists_the_flags_of_a_command_and_keeps_those_for_tests_to_itself) {
    const std::string serve = help("serve");
    EXPECT_TRUE(has(serve, "--config FILE\n"));
    EXPECT_TRUE(has(serve, "--http-max-body SIZE\n"));
    EXPECT_TRUE(has(serve, "(default 1MiB; 1KiB to 64MiB)"));
    EXPECT_TRUE(has(serve, "--durability full|relaxed\n"));
    EXPECT_FALSE(has(serve, "demo"));
    EXPECT_FALSE(has(serve, "commit-delay"));
    EXPECT_TRUE(has(help("dev"), "--demo, --no-demo\n"));
    EXPECT_TRUE(has(help("doctor"), "--store URL\n"));
    EXPECT_FALSE(has(help("doctor"), "--listen"));
    std::istringstream lines(serve);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(Reference, names_everything_that_can_be_set) {
    const std::string page = reference();
    for (const Option& option : options()) {
        EXPECT_TRUE(has(page, '`' + std::string(option.name) + '`')) << option.name;
        EXPECT_TRUE(has(page, "`--" + flag_of(option) + '`')) << option.name;
        EXPECT_TRUE(has(page, '`' + variable_of(option) + '`')) << option.name;
        EXPECT_TRUE(has(page, option.text)) << option.name;
    }
    for (const PresetKey& key : preset_keys())
        EXPECT_TRUE(has(page, "| `" + std::string(key.name) + "` |")) << key.name;
    for (const OtherVariable& other : other_variables()) EXPECT_TRUE(has(page, other.name));
}

TEST(Values, are_shown_with_their_sources_as_table_and_as_json) {
    Inputs inputs{.command = "config", .args = {"--drain=90s"}, .environment = {}};
    inputs.usual_files.clear();
    const auto loaded = load(inputs);
    ASSERT_TRUE(loaded);
    const std::string table = render_table(*loaded);
    EXPECT_TRUE(table.starts_with("NAME  "));
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(table, '\n')), options().size() + 1);
    EXPECT_TRUE(has(table, "1m30s "));
    EXPECT_TRUE(has(table, "  --drain\n"));
    const Json json = render_json(*loaded);
    EXPECT_TRUE(json.member("file").is_null());
    const auto settings = json.member("settings").value().as_array();
    ASSERT_EQ(settings.size(), options().size());
    EXPECT_EQ(settings[1].at("name"), "server.drain");
    EXPECT_EQ(settings[1].at("value"), "1m30s");
    EXPECT_EQ(settings[1].at("source"), "--drain");
}

}  // namespace
}  // namespace holdfast::config
