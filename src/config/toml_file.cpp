#include "config/toml_file.h"

#include <algorithm>
#include <tuple>

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "base/json.h"

namespace holdfast::config {
namespace {

std::string place(std::string_view file, const toml::source_region& source) {
    return std::string(file) + ':' + std::to_string(source.begin.line);
}

/// Lists as they are known to options: of texts only.
bool read_texts(const toml::array& array, std::vector<std::string>& texts) {
    return std::ranges::all_of(array, [&](const toml::node& item) {
        const auto* text = item.as_string();
        if (text != nullptr) texts.push_back(text->get());
        return text != nullptr;
    });
}

void read_value(const toml::node& node, Entry& entry) {
    if (const auto* text = node.as_string()) {
        entry.kind = Entry::Kind::text;
        entry.text = text->get();
    } else if (const auto* whole = node.as_integer()) {
        entry.kind = Entry::Kind::whole;
        entry.text = std::to_string(whole->get());
    } else if (const auto* real = node.as_floating_point()) {
        entry.kind = Entry::Kind::real;
        entry.text = Json::number(real->get()).text();
    } else if (const auto* truth = node.as_boolean()) {
        entry.kind = Entry::Kind::truth;
        entry.text = truth->get() ? "true" : "false";
    } else if (const auto* array = node.as_array(); array && read_texts(*array, entry.texts)) {
        entry.kind = Entry::Kind::texts;
    }
}

void collect(const toml::table& table, const std::vector<std::string>& path, std::string_view file,
             std::vector<Entry>& entries) {
    for (const auto& [key, node] : table) {
        Entry entry;
        entry.path = path;
        entry.path.emplace_back(key.str());
        entry.line = node.source().begin.line;
        entry.where = place(file, node.source());
        if (const auto* inner = node.as_table()) {
            if (!inner->empty()) {
                collect(*inner, entry.path, file, entries);
                continue;
            }
            entry.kind = Entry::Kind::table;
        } else {
            read_value(node, entry);
        }
        entries.push_back(std::move(entry));
    }
}

}  // namespace

std::string Entry::name() const {
    std::string joined;
    for (const std::string& part : path) joined.append(joined.empty() ? "" : ".").append(part);
    return joined;
}

Result<std::vector<Entry>> parse_toml(std::string_view text, std::string_view file) {
    const toml::parse_result parsed = toml::parse(text);
    if (!parsed) {
        const toml::parse_error& error = parsed.error();
        return refuse(Code::invalid_argument, place(file, error.source()) + ": " +
                                                  std::string(error.description().substr(0, 200)));
    }
    std::vector<Entry> entries;
    collect(parsed.table(), {}, file, entries);
    std::ranges::sort(entries, {}, [](const Entry& e) { return std::tie(e.line, e.path); });
    return entries;
}

}  // namespace holdfast::config
