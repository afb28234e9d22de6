#include "base/json_check.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "base/hash.h"

namespace holdfast {
namespace {

namespace json = boost::json;

/// Listens to the parser. Of each open object it remembers its keys, as hashes: two keys that are
/// not the same and hash alike would be refused, which nobody meets by chance.
class Census {
  public:
    // The names and the shape are the parser's.
    // NOLINTBEGIN(readability-identifier-naming)
    [[maybe_unused]] static constexpr std::size_t max_object_size = SIZE_MAX;
    [[maybe_unused]] static constexpr std::size_t max_array_size = SIZE_MAX;
    [[maybe_unused]] static constexpr std::size_t max_key_size = SIZE_MAX;
    [[maybe_unused]] static constexpr std::size_t max_string_size = SIZE_MAX;
    // NOLINTEND(readability-identifier-naming)

    bool finite = true;
    bool unique = true;
    std::size_t keys = 0;

    bool on_document_begin(json::error_code&) { return true; }
    bool on_document_end(json::error_code&) { return true; }
    bool on_object_begin(json::error_code&) {
        begins_.push_back(hashes_.size());
        return true;
    }
    bool on_object_end(std::size_t, json::error_code&) {
        const auto begin = hashes_.begin() + static_cast<std::ptrdiff_t>(begins_.back());
        std::sort(begin, hashes_.end());
        unique = unique && std::adjacent_find(begin, hashes_.end()) == hashes_.end();
        hashes_.resize(begins_.back());
        begins_.pop_back();
        return true;
    }
    bool on_array_begin(json::error_code&) { return true; }
    bool on_array_end(std::size_t, json::error_code&) { return true; }
    bool on_key_part(json::string_view text, std::size_t, json::error_code&) {
        key_.append(text.data(), text.size());
        return true;
    }
    bool on_key(json::string_view text, std::size_t, json::error_code&) {
        ++keys;
        if (key_.empty()) {
            hashes_.push_back(hash64({text.data(), text.size()}));
            return true;
        }
        key_.append(text.data(), text.size());
        hashes_.push_back(hash64(key_));
        key_.clear();
        return true;
    }
    bool on_string_part(json::string_view, std::size_t, json::error_code&) { return true; }
    bool on_string(json::string_view, std::size_t, json::error_code&) { return true; }
    bool on_number_part(json::string_view, json::error_code&) { return true; }
    bool on_int64(std::int64_t, json::string_view, json::error_code&) { return true; }
    bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return true; }
    bool on_double(double number, json::string_view, json::error_code&) {
        finite = finite && std::isfinite(number);
        return true;
    }
    bool on_bool(bool, json::error_code&) { return true; }
    bool on_null(json::error_code&) { return true; }
    bool on_comment_part(json::string_view, json::error_code&) { return true; }
    bool on_comment(json::string_view, json::error_code&) { return true; }

  private:
    std::vector<std::uint64_t> hashes_;  ///< Of the keys of all open objects …
    std::vector<std::size_t> begins_;    ///< … and where those of each begin.
    std::string key_;                    ///< A key that comes in parts.
};

}  // namespace

Result<> check_json(std::string_view text, const JsonLimits& limits) {
    if (text.size() > limits.bytes)
        return refuse(Code::invalid_argument,
                      "larger than " + std::to_string(limits.bytes) + " bytes of JSON");
    json::parse_options options;
    options.max_depth = limits.depth;
    json::basic_parser<Census> parser(options);
    json::error_code ec;
    const std::size_t read = parser.write_some(false, text.data(), text.size(), ec);
    if (!ec && read < text.size()) ec = json::error::extra_data;
    if (ec == json::error::too_deep)
        return refuse(Code::invalid_argument,
                      "nested deeper than " + std::to_string(limits.depth) + " levels");
    if (ec) return refuse(Code::invalid_argument, "not valid JSON: " + ec.message());
    const Census& census = parser.handler();
    if (!census.finite) return refuse(Code::invalid_argument, "a number is out of range");
    if (census.keys > limits.keys)
        return refuse(Code::invalid_argument, "more than " + std::to_string(limits.keys) + " keys");
    if (!census.unique) return refuse(Code::invalid_argument, "an object has a duplicate key");
    return {};
}

}  // namespace holdfast
