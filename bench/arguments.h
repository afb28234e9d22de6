// The few arguments that benchmarks take.
#pragma once

#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace holdfast::bench {

/// `--name N` sets a number; a word (or two, as "-o json") does something. False: there was something else.
inline bool parse(int argc, char** argv, const std::map<std::string_view, std::size_t*>& numbers,
                  const std::map<std::string_view, std::function<void()>>& words,
                  const std::map<std::string_view, std::string*>& texts = {}) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view arg = argv[i];
        const std::string_view next = i + 1 < argc ? argv[i + 1] : "";
        if (const auto number = numbers.find(arg); number != numbers.end()) {
            std::size_t& value = *number->second;
            const auto [end, ec] = std::from_chars(next.data(), next.data() + next.size(), value);
            if (ec != std::errc{} || end != next.data() + next.size() || value == 0) return false;
            ++i;
        } else if (const auto text = texts.find(arg); text != texts.end() && !next.empty()) {
            *text->second = next;
            ++i;
        } else if (const auto word = words.find(arg); word != words.end()) {
            word->second();
        } else if (const auto pair = words.find(std::string(arg).append(" ").append(next));
                   pair != words.end()) {
            pair->second();
            ++i;
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace holdfast::bench
