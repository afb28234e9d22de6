// What people read about options: help, reference, and the values in force.
#include <algorithm>

#include "config/config.h"
#include "config/options.h"
#include "config/presets.h"
#include "config/values.h"

namespace holdfast::config {
namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kIndent = 6;

std::string pad(std::string text, std::size_t width) {
    if (text.size() < width) text.resize(width, ' ');
    return text;
}

/// In lines of at most kWidth, each behind the indent.
std::string wrap(std::string_view text, std::size_t indent) {
    std::string lines;
    std::string line;
    const auto flush = [&] {
        lines.append(indent, ' ').append(line).append("\n");
        line.clear();
    };
    while (!text.empty()) {
        std::string_view word = text.substr(0, text.find(' '));
        // A list that is longer than a line is taken apart.
        const bool is_list = indent + word.size() > kWidth && word.contains(',');
        if (is_list) word = word.substr(0, word.find(',') + 1);
        text.remove_prefix(std::min(text.size(), word.size() + (is_list ? 0 : 1)));
        if (!line.empty() && indent + line.size() + 1 + word.size() > kWidth) flush();
        line.append(line.empty() ? "" : " ").append(word);
    }
    flush();
    return lines;
}

std::string synopsis(const Option& option) {
    const std::string flag = flag_of(option);
    if (option.type == Type::truth) return "--" + flag + ", --no-" + flag;
    if (option.type == Type::choice) return "--" + flag + ' ' + std::string(option.choices);
    if (option.type == Type::names && !option.choices.empty())
        return "--" + flag + ' ' + std::string(option.choices) + ",…";
    return "--" + flag + ' ' + std::string(placeholder(option.type));
}

/// "default 1MiB; 1KiB to 64MiB"
std::string facts(const Option& option) {
    std::string text = "default " + std::string(option.fallback.empty() ? "none" : option.fallback);
    const bool ranged = option.type <= Type::duration;
    return ranged ? text + "; " + allowed(option) : text;
}

std::string code(std::string_view word) {
    return '`' + std::string(word) + '`';
}

std::string_view section_of(const Option& option) {
    return option.name.substr(0, option.name.find('.'));
}

void append_option(std::string& page, const Option& option) {
    const std::string range = allowed(option);
    page.append("| ").append(code(option.name)).append(" | ");
    if (option.type == Type::truth)
        page.append(code("--" + flag_of(option)))
            .append(" ")
            .append(code("--no-" + flag_of(option)));
    else
        page.append(code("--" + flag_of(option)));
    page.append(" | ")
        .append(code(variable_of(option)))
        .append(" | ")
        .append(option.fallback.empty() ? "–" : code(option.fallback));
    page.append(" | ").append(range.empty() ? "–" : range);
    page.append(" | ").append(option.text).append(" |\n");
}

void append_options(std::string& page, bool test_only) {
    std::string_view section;
    for (const Option& option : options()) {
        if (option.test_only != test_only) continue;
        if (section_of(option) != section) {
            section = section_of(option);
            page.append("\n").append(test_only ? "## For tests: [" : "## [").append(section);
            page.append(
                "]\n\n| key | flag | variable | default | allowed | "
                "|\n|---|---|---|---|---|---|\n");
        }
        append_option(page, option);
    }
}

constexpr std::string_view kIntroduction =
    R"(# Configuration

<!-- Rendered by tools/render_config from src/config/options.cpp: change the table, not this page. -->

A value comes from the first of these that gives it: a flag, a `HOLDFAST_*` variable, the TOML file, the default.
`holdfast config` prints every value with its source. An unknown flag, variable or key is an error, and so is a value
of the wrong type or out of its range, also where another source overrides it. An empty variable counts as not set.

The file is the one named by `--config FILE` or `HOLDFAST_CONFIG`, else `./holdfast.toml`, else
`/etc/holdfast/holdfast.toml`; only one file is read.

```toml
[server]
listen = "127.0.0.1:7400"

[store]
url = "sqlite:/var/lib/holdfast"

[http]
max_body = "4MiB"

[presets.patient]
max = 20
base = "5s"
max_delay = "1h"
```

Durations are texts like `250ms`, `30s`, `2h30m`, `7d`; sizes are `512KiB`, `1MiB`, `2GiB` or plain bytes. A flag is
written `--name value` or `--name=value`; one that is true or false is `--name` or `--no-name`. When a flag is given
twice, the last one counts.
)";

constexpr std::string_view kPresets = R"(
## [presets.NAME]

Own retry presets: a task submitted with `"retry": "NAME"` gets this policy. What is not said is as without a preset,
and the built-in presets (`workflow`, `ingest`, `outbox`, `external`) cannot be changed. Names have 1 to 64 of the
characters A-Z a-z 0-9 _ . -; there may be 100 of them.

| key | allowed | |
|---|---|---|
)";

}  // namespace

std::string render_table(const Loaded& loaded) {
    std::size_t name = 4;
    std::size_t value = 5;
    for (const Setting& s : loaded.settings) {
        name = std::max(name, s.name.size());
        value = std::max(value, s.value.size());
    }
    value = std::min<std::size_t>(value, 40);
    std::string table = pad("NAME", name + 2) + pad("VALUE", value + 2) + "SOURCE\n";
    for (const Setting& s : loaded.settings)
        table += pad(s.name, name + 2) + pad(s.value, value) + "  " + s.source + '\n';
    return table;
}

Json render_json(const Loaded& loaded) {
    boost::json::array settings;
    for (const Setting& s : loaded.settings)
        settings.push_back({{"name", s.name}, {"value", s.value}, {"source", s.source}});
    JsonObject object;
    object.add("file", loaded.file.empty() ? Json() : Json::quoted(loaded.file));
    return object.add("settings", Json::of(settings)).done();
}

Json render_options(const Loaded& loaded) {
    boost::json::array rows;
    for (const Setting& s : loaded.settings) {
        const Option* option = find_option(s.name);
        boost::json::object row{{"name", s.name}, {"value", s.value}, {"source", s.source}};
        row["default"] = option != nullptr ? boost::json::value(option->fallback) : nullptr;
        row["says"] = option != nullptr ? option->text : "A retry preset of this installation.";
        if (option == nullptr || !option->test_only || s.source != "default")
            rows.push_back(std::move(row));
    }
    return JsonObject{}.add("options", Json::of(rows)).done();
}

std::string help(std::string_view command) {
    std::string text =
        "  --config FILE\n" + wrap(
                                  "The configuration file. (default ./holdfast.toml, "
                                  "else /etc/holdfast/holdfast.toml)",
                                  kIndent);
    for (const Option& option : options()) {
        if (option.test_only || !belongs_to(option, command)) continue;
        text.append("  ").append(synopsis(option)).append("\n");
        text += wrap(std::string(option.text) + " (" + facts(option) + ')', kIndent);
    }
    return text;
}

std::string reference() {
    std::string page(kIntroduction);
    append_options(page, false);
    page += kPresets;
    for (const PresetKey& key : preset_keys())
        page.append("| ")
            .append(code(key.name))
            .append(" | ")
            .append(key.allowed)
            .append(" | ")
            .append(key.text)
            .append(" |\n");
    page += "\n## Other variables\n\n| variable | |\n|---|---|\n";
    for (const OtherVariable& other : other_variables())
        page.append("| ").append(code(other.name)).append(" | ").append(other.text).append(" |\n");
    append_options(page, true);
    return page;
}

}  // namespace holdfast::config
