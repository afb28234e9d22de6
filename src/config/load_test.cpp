#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "config/config.h"
#include "config/options.h"

namespace holdfast::config {
namespace {

using namespace std::chrono_literals;
using Args = std::vector<std::string>;

class Load : public ::testing::Test {
  protected:
    Load() { inputs.usual_files.clear(); }
    ~Load() override { std::filesystem::remove_all(folder_); }

    /// The path of a file with this text.
    std::string file(std::string_view text, const std::string& name = "holdfast.toml") {
        std::filesystem::create_directories(folder_);
        const std::string path = folder_ / name;
        std::ofstream(path) << text;
        return path;
    }
    void use_file(std::string_view text) { inputs.usual_files = {file(text)}; }
    Result<Loaded> load(Args args = {}) {
        inputs.args = std::move(args);
        return config::load(inputs);
    }
    /// What was wrong, without the folder of the file.
    std::string problems(Args args = {}) {
        const auto loaded = load(std::move(args));
        if (loaded) return "none";
        std::string detail = loaded.error().detail;
        const std::string prefix = folder_.string() + '/';
        for (std::size_t at = 0; (at = detail.find(prefix)) != std::string::npos;)
            detail.erase(at, prefix.size());
        return detail;
    }
    static Setting setting(const Loaded& loaded, std::string_view name) {
        const auto found = std::ranges::find(loaded.settings, name, &Setting::name);
        return found == loaded.settings.end() ? Setting{} : *found;
    }

    Inputs inputs{.command = "serve", .args = {}, .environment = {}};

  private:
    std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("holdfast-config-" + std::to_string(getpid()));
};

TEST_F(Load, without_any_word_everything_is_at_its_default) {
    const auto loaded = load();
    ASSERT_TRUE(loaded) << loaded.error().detail;
    const Config& c = loaded->config;
    EXPECT_EQ(c.server.listen, (Address{"127.0.0.1", 7400}));
    EXPECT_EQ(c.server.drain, 10s);
    EXPECT_EQ(c.store.url.text, "sqlite:./holdfast-data");
    EXPECT_EQ(c.store.durability, Durability::full);
    EXPECT_EQ(c.store.body_cache_bytes, 14U << 20);
    EXPECT_EQ(c.retention.finished, Duration{0}) << "as suits the store";
    EXPECT_EQ(c.retention.feed, std::chrono::days{1});
    EXPECT_EQ(c.http.max_body_bytes, 1U << 20);
    EXPECT_EQ(c.http.max_connections, 10'000U);
    EXPECT_EQ(c.http.max_connections_per_address, 100U);
    EXPECT_EQ(c.http.header_timeout, 10s);
    EXPECT_EQ(c.http.idle_timeout, 60s);
    EXPECT_EQ(c.http.min_body_bytes_per_second, 1024U);
    EXPECT_EQ(c.http.max_waiting, 10'000U);
    EXPECT_EQ(c.engine.max_in_flight, 65'536U);
    EXPECT_EQ(c.engine.poll_interval, 500ms);
    EXPECT_EQ(c.log.level, log::Level::info);
    EXPECT_EQ(c.log.form, log::Form::automatic);
    EXPECT_TRUE(c.dev.demo);
    EXPECT_EQ(c.test.commit_delay, 0s);
    EXPECT_TRUE(c.presets.empty());
    EXPECT_EQ(loaded->settings.size(), options().size());
    for (const Setting& s : loaded->settings) EXPECT_EQ(s.source, "default") << s.name;
    EXPECT_EQ(loaded->file, "");
    EXPECT_EQ(defaults().http.max_waiting, 10'000U);
}

TEST_F(Load, a_flag_goes_before_the_environment_before_the_file_before_the_default) {
    use_file("[log]\nlevel = \"debug\"\n[http]\nmax_waiting = 1\nmax_connections = 2\n");
    inputs.environment = {{"HOLDFAST_HTTP_MAX_WAITING", "3"},
                          {"HOLDFAST_HTTP_MAX_CONNECTIONS", "4"}};
    const auto loaded = load({"--http-max-connections", "5"});
    ASSERT_TRUE(loaded) << loaded.error().detail;
    EXPECT_EQ(loaded->config.log.level, log::Level::debug);
    EXPECT_EQ(loaded->config.http.max_waiting, 3U);
    EXPECT_EQ(loaded->config.http.max_connections, 5U);
    EXPECT_EQ(setting(*loaded, "log.level").source, loaded->file + ":2");
    EXPECT_EQ(setting(*loaded, "http.max_waiting").source, "HOLDFAST_HTTP_MAX_WAITING");
    EXPECT_EQ(setting(*loaded, "http.max_connections").source, "--http-max-connections");
    EXPECT_EQ(setting(*loaded, "http.max_connections").value, "5");
    EXPECT_EQ(setting(*loaded, "server.drain").source, "default");
}

TEST_F(Load, flags_take_their_value_in_both_forms_and_the_last_one_counts) {
    EXPECT_EQ(load({"--listen=[::1]:1"})->config.server.listen.port, 1);
    EXPECT_EQ(load({"--listen", "[::1]:2"})->config.server.listen.port, 2);
    EXPECT_EQ(load({"--drain=1s", "--drain", "2s"})->config.server.drain, 2s);
    EXPECT_EQ(load({"--store=postgres://h/db?a=b"})->config.store.url.text, "postgres://h/db?a=b");
    EXPECT_EQ(problems({"--listen"}), "--listen: needs a value: HOST:PORT");
    EXPECT_EQ(problems({"--listen", "--drain=1s"}), "--listen: needs a value: HOST:PORT");
    EXPECT_EQ(problems({"--config"}), "--config: needs a value: the path of a file");
    EXPECT_EQ(problems({"serve"}), "\"serve\": unexpected argument");
}

TEST_F(Load, truths_are_flags_with_and_without_no) {
    inputs.command = "dev";
    EXPECT_FALSE(load({"--no-demo"})->config.dev.demo);
    EXPECT_TRUE(load({"--no-demo", "--demo"})->config.dev.demo);
    EXPECT_FALSE(load({"--demo=false"})->config.dev.demo);
    EXPECT_EQ(problems({"--no-demo=true"}), "--no-demo: takes no value");
    EXPECT_EQ(problems({"--demo=1"}), "--demo: dev.demo: \"1\" is neither true nor false");
    use_file("[dev]\ndemo = false\n");
    EXPECT_FALSE(load()->config.dev.demo);
    inputs.command = "serve";
    EXPECT_TRUE(load()) << "a file may serve several commands";
    EXPECT_EQ(problems({"--no-demo"}), "--no-demo is a flag of dev, not of serve");
}

TEST_F(Load, unknown_flags_are_errors_with_a_suggestion) {
    EXPECT_EQ(problems({"--lisen", "127.0.0.1:1"}),
              "\"--lisen\" is not a flag of serve; did you mean --listen?");
    EXPECT_EQ(problems({"--max-body=1"}), "\"--max-body\" is not a flag of serve");
    EXPECT_EQ(problems({"--no-drain"}), "\"--no-drain\" is not a flag of serve")
        << "only of truths there is a no";
}

TEST_F(Load, unknown_variables_are_errors_with_a_suggestion) {
    inputs.environment = {{"HOLDFAST_LISEN", "x"}};
    EXPECT_EQ(problems(),
              "\"HOLDFAST_LISEN\" is not a variable of Holdfast; did you mean HOLDFAST_LISTEN?");
    inputs.environment = {{"HOLDFAST_WHATEVER", ""}};
    EXPECT_EQ(problems(), "\"HOLDFAST_WHATEVER\" is not a variable of Holdfast");
    inputs.environment = {{"HOLDFAST_SERVER", "http://127.0.0.1:7400"},
                          {"HOLDFAST_TOKEN", "t"},
                          {"HOLDFAST_CONFIG", ""},
                          {"HOLDFAST_LISTEN", ""},
                          {"HOME", "/"}};
    EXPECT_EQ(problems(), "none") << "the client's, those that are empty, and other people's";
}

TEST_F(Load, unknown_keys_are_errors_with_their_line_and_a_suggestion) {
    use_file(
        "listen = \"x\"\n\n[http]\nmax_bdy = 1\n[htpp]\n[htpp2]\nmax_waiting = "
        "1\n[http.max_body]\nx = 1\n");
    EXPECT_EQ(
        problems(),
        "holdfast.toml:1: \"listen\" is not an option; did you mean server.listen?\n"
        "holdfast.toml:4: \"http.max_bdy\" is not an option; did you mean http.max_body?\n"
        "holdfast.toml:5: \"htpp\" is not an option; did you mean http?\n"
        "holdfast.toml:7: \"htpp2.max_waiting\" is not an option; did you mean http.max_waiting?\n"
        "holdfast.toml:9: \"http.max_body.x\" is not an option; did you mean http.max_body?");
    use_file("[http]\n[store]\n");
    EXPECT_EQ(problems(), "none") << "a section may be empty";
}

TEST_F(Load, a_wrong_type_names_key_source_and_what_would_be_right) {
    use_file(
        "[http]\nmax_connections = \"10\"\nmax_body = 1.5\nheader_timeout = 10\n"
        "[dev]\ndemo = \"yes\"\n[log]\nlevel = 3\n[server]\nlisten = [\"a\"]\n");
    EXPECT_EQ(problems(),
              "holdfast.toml:2: http.max_connections: must be a whole number, without quotes\n"
              "holdfast.toml:3: http.max_body: must be a size as text, like \"1MiB\", or a number "
              "of bytes\n"
              "holdfast.toml:4: http.header_timeout: must be a duration as text, like \"30s\"\n"
              "holdfast.toml:6: dev.demo: must be true or false, without quotes\n"
              "holdfast.toml:8: log.level: must be text in quotes\n"
              "holdfast.toml:10: server.listen: must be text in quotes");
    use_file("[http]\nmax_body = 2048\n");
    EXPECT_EQ(load()->config.http.max_body_bytes, 2048U);
    EXPECT_EQ(setting(*load(), "http.max_body").value, "2KiB");
}

TEST_F(Load, a_value_out_of_range_names_key_value_source_and_range) {
    use_file("[http]\nmax_body = \"65MiB\"\n");
    EXPECT_EQ(problems(),
              "holdfast.toml:2: http.max_body: \"65MiB\" is out of range, which is 1KiB to 64MiB");
    EXPECT_EQ(load().error().field, "http.max_body");
    EXPECT_EQ(load().error().code, Code::invalid_argument);
    EXPECT_NE(problems({"--http-max-body=1MiB"}), "none") << "also when a flag overrides it";
    use_file("");
    inputs.environment = {{"HOLDFAST_ENGINE_POLL_INTERVAL", "1ms"}};
    EXPECT_EQ(problems(),
              "HOLDFAST_ENGINE_POLL_INTERVAL: engine.poll_interval: \"1ms\" is out of range, which "
              "is 10ms to 1m");
}

TEST_F(Load, an_address_beyond_loopback_is_refused) {
    EXPECT_EQ(
        problems({"--listen", "0.0.0.0:7400"}),
        "--listen: server.listen: \"0.0.0.0:7400\" is not a loopback address; authentication "
        "comes in a later version, so only loopback is allowed: 127.0.0.1, [::1] or localhost");
}

TEST_F(Load, the_named_file_is_read_and_no_other) {
    use_file("[server]\ndrain = \"1s\"\n");
    const std::string two = file("[server]\ndrain = \"2s\"\n", "two.toml");
    const std::string three = file("[server]\ndrain = \"3s\"\n", "three.toml");
    EXPECT_EQ(load()->config.server.drain, 1s);
    inputs.environment = {{"HOLDFAST_CONFIG", two}};
    EXPECT_EQ(load()->config.server.drain, 2s);
    EXPECT_EQ(load({"--config", three})->config.server.drain, 3s);
    EXPECT_EQ(load({"--config=" + three})->file, three);
    EXPECT_EQ(problems({"--config", "/nowhere/x.toml"}),
              "/nowhere/x.toml: cannot be read: No such file or directory");
    EXPECT_NE(problems({"--config", "/"}), "none") << "a folder";
}

TEST_F(Load, of_the_usual_files_the_first_that_exists_is_read) {
    inputs.usual_files = {"/nowhere/holdfast.toml", file("[server]\ndrain = \"1s\"\n", "one.toml"),
                          file("[server]\ndrain = \"2s\"\n", "two.toml")};
    EXPECT_EQ(load()->config.server.drain, 1s);
    EXPECT_EQ(Inputs{}.usual_files, (Args{"./holdfast.toml", "/etc/holdfast/holdfast.toml"}));
}

TEST_F(Load, a_file_that_is_no_toml_is_refused_with_its_line) {
    use_file("[server]\ndrain = \n");
    EXPECT_TRUE(problems().starts_with("holdfast.toml:2: ")) << problems();
    use_file("[server]\ndrain = \"1s\"\ndrain = \"2s\"\n");
    EXPECT_TRUE(problems().starts_with("holdfast.toml:3: ")) << problems();
    use_file(std::string((1 << 20) + 1, '#'));
    EXPECT_EQ(problems(), "holdfast.toml: cannot be read: it is larger than 1 MiB");
}

TEST_F(Load, no_password_is_shown_or_repeated) {
    const auto loaded = load({"--store", "redis://me:hunter2@h"});
    EXPECT_EQ(loaded->config.store.url.text, "redis://me:hunter2@h");
    EXPECT_EQ(setting(*loaded, "store.url").value, "redis://me:***@h");
    EXPECT_EQ(render_table(*loaded).find("hunter2"), std::string::npos);
    EXPECT_EQ(render_json(*loaded).text().find("hunter2"), std::string::npos);
    EXPECT_EQ(problems({"--store", "mysql://me:hunter2@h"}).find("hunter2"), std::string::npos);
}

TEST_F(Load, many_problems_are_counted_not_listed_without_end) {
    std::string text = "[http]\n";
    for (int i = 0; i < 30; ++i) text += "unknown" + std::to_string(i) + " = 1\n";
    use_file(text);
    EXPECT_TRUE(problems().ends_with("\nand 10 more")) << problems();
}

TEST_F(Load, args_of_a_command_with_flags_of_its_own_can_be_split) {
    const auto split = split_args("doctor", {"-o", "json", "--store", "memory:", "--fix",
                                             "--config=f", "--listen", "x", "--", "--store", "y"});
    EXPECT_EQ(split.options, (Args{"--store", "memory:", "--config=f"}));
    EXPECT_EQ(split.rest, (Args{"-o", "json", "--fix", "--listen", "x", "--", "--store", "y"}));
}

TEST_F(Load, only_our_variables_are_taken_from_the_environment) {
    const char* environ[] = {"HOME=/x", "HOLDFAST_LISTEN=a=b", "HOLDFAST_BROKEN", nullptr};
    EXPECT_EQ(environment_of(environ), (Environment{{"HOLDFAST_LISTEN", "a=b"}}));
}

}  // namespace
}  // namespace holdfast::config
