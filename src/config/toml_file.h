// A TOML file as a flat list of what stands in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace holdfast::config {

struct Entry {
    enum class Kind : std::uint8_t { text, whole, real, truth, texts, table, other };
    std::vector<std::string> path;   ///< {"http", "max_body"}
    Kind kind = Kind::other;         ///< table: one without anything in it.
    std::string text;                ///< Of text, whole, real and truth.
    std::vector<std::string> texts;  ///< A list of texts.
    std::size_t line = 0;
    std::string where;  ///< "holdfast.toml:12"

    std::string name() const;  ///< "http.max_body"
};

/// In the order of their lines. `file` is only for `where` and for messages.
Result<std::vector<Entry>> parse_toml(std::string_view text, std::string_view file);

}  // namespace holdfast::config
