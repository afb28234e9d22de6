#include "domain/redact.h"

#include <algorithm>
#include <array>
#include <ranges>

namespace holdfast::domain {
namespace {

constexpr std::array<std::string_view, 6> kOpaque{"payload", "result",  "error",
                                                  "errors",  "context", "placeholder"};

bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

/// "openai_apiKey" → openai, api, key
std::vector<std::string> words_of(std::string_view key) {
    std::vector<std::string> words(1);
    for (std::size_t i = 0; i < key.size(); ++i) {
        const char c = key[i];
        const bool ends = c == '-' || c == '_' || c == '.' || c == ' ';
        const bool begins = is_upper(c) && i > 0 && !is_upper(key[i - 1]);
        if ((ends || begins) && !words.back().empty()) words.emplace_back();
        if (!ends) words.back() += static_cast<char>(is_upper(c) ? c - 'A' + 'a' : c);
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) all += word;
    return all;
}

}  // namespace

Redaction::Redaction(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) keys_.push_back(joined(words_of(key)));
}

bool Redaction::hides(std::string_view key) const {
    const std::vector<std::string> words = words_of(key);
    std::string end;
    for (const std::string& word : words | std::views::reverse) {
        end.insert(0, word);
        if (std::ranges::find(keys_, end) != keys_.end()) return true;
    }
    return false;
}

Json Redaction::apply(const Json& json, bool& hid) const {
    const char first = json.text().front();
    if (first != '{' && first != '[') return json;
    bool here = false;
    std::string out(1, first);
    const auto add = [&](std::string_view text) {
        if (out.size() > 1) out += ',';
        out += text;
    };
    if (first == '{') {
        for (const Json::Member& member : json.members()) {
            const bool hide = !member.value.is_null() && hides(member.name);
            here = here || hide;
            const Json value = hide ? Json::quoted(kRedacted) : apply(member.value, here);
            add(Json::quoted(member.name).text() + ':' + value.text());
        }
    } else {
        for (const Json& element : json.elements()) add(apply(element, here).text());
    }
    if (!here) return json;
    hid = true;
    return Json::stored(out + (first == '{' ? '}' : ']'));
}

Json Redaction::apply_to_task(const Json& task) const {
    JsonObject shown;
    bool hid = false;
    for (const Json::Member& member : task.members()) {
        const bool opaque = std::ranges::find(kOpaque, member.name) != kOpaque.end();
        shown.add(member.name, opaque ? apply(member.value, hid) : member.value);
    }
    if (!hid) return task;
    return shown.add("redacted", Json::of(true)).done();
}

}  // namespace holdfast::domain
