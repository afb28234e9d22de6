// Texts of options, read into their types.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/config.h"

namespace holdfast::config {

enum class Type : std::uint8_t {
    count,
    size,
    duration,
    choice,
    address,
    store_url,
    truth,
    name,   ///< Letters, digits and _ . : -; its length is in the range.
    names,  ///< With commas between them; of the choices, where there are any.
};

/// Counts, sizes in bytes and the number of a choice are integers.
using Value = std::variant<std::int64_t, Duration, bool, Address, StoreUrl, std::string,
                           std::vector<std::string>>;

/// Both ends belong to it.
struct Range {
    std::int64_t least = 0;
    std::int64_t most = 0;
};

struct Option;

/// What is wrong with a value, for a person.
std::unexpected<Error> bad(std::string problem);

/// The error says what is wrong and what would be right, without naming the option; it repeats no
/// part of a store's address that may be a password.
Result<Value> read_value(const Option& option, std::string_view text);
/// As it would be written; a password in it is ***.
std::string show_value(const Option& option, const Value& value);
/// "1KiB to 64MiB", "full, relaxed", or empty.
std::string allowed(const Option& option);
/// What stands for a value in a synopsis: "SIZE".
std::string_view placeholder(Type type);

/// "512KiB", "1MiB", "2GiB", or a plain number of bytes.
Result<std::int64_t> parse_size(std::string_view text);
std::string format_size(std::int64_t bytes);
Result<Address> parse_address(std::string_view text);
Result<StoreUrl> parse_store_url(std::string_view text);

/// In quotes, bounded, on one line: for repeating what somebody wrote.
std::string in_quotes(std::string_view text);

}  // namespace holdfast::config
