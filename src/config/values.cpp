#include "config/values.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/nearest.h"
#include "config/options.h"

namespace holdfast::config {

std::unexpected<Error> bad(std::string problem) {
    return refuse(Code::invalid_argument, std::move(problem));
}

namespace {

struct Unit {
    std::string_view name;
    std::int64_t bytes;
};
constexpr std::array kUnits{Unit{"TiB", std::int64_t{1} << 40}, Unit{"GiB", 1 << 30},
                            Unit{"MiB", 1 << 20}, Unit{"KiB", 1 << 10}, Unit{"B", 1}};

constexpr std::array<std::string_view, 8> kSchemes{
    "memory:",          "sqlite:",           "redis://",          "rediss://",
    "redis-cluster://", "rediss-cluster://", "redis-sentinel://", "postgres://"};

/// Digits only: no sign, no blank, nothing after them.
Result<std::int64_t> parse_count(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc{} || end != text.data() + text.size() || text.starts_with('-'))
        return bad(in_quotes(text) + " is not a whole number");
    return value;
}

Result<bool> parse_truth(std::string_view text) {
    if (text == "true") return true;
    if (text == "false") return false;
    return bad(in_quotes(text) + " is neither true nor false");
}

std::vector<std::string_view> choices_of(const Option& option) {
    std::vector<std::string_view> found;
    std::string_view rest = option.choices;
    while (!rest.empty()) {
        found.push_back(rest.substr(0, rest.find('|')));
        rest.remove_prefix(std::min(rest.size(), found.back().size() + 1));
    }
    return found;
}

Result<std::int64_t> parse_choice(const Option& option, std::string_view text) {
    const auto choices = choices_of(option);
    const auto found = std::ranges::find(choices, text);
    if (found != choices.end()) return found - choices.begin();
    std::string problem = in_quotes(text) + " is none of " + allowed(option);
    if (const auto meant = nearest(text, choices))
        problem.append("; did you mean ").append(*meant).append("?");
    return bad(std::move(problem));
}

bool is_name(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("_.:-").find(c) != std::string_view::npos;
    });
}

Result<std::string> parse_name(const Option& option, std::string_view text) {
    const auto size = static_cast<std::int64_t>(text.size());
    if (!is_name(text) || size < option.range.least || size > option.range.most)
        return bad(in_quotes(text) + " is not a name, which has " + allowed(option));
    return std::string(text);
}

/// Each once, in the order in which they were said.
Result<std::vector<std::string>> parse_names(const Option& option, std::string_view text) {
    const auto choices = choices_of(option);
    std::vector<std::string> names;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        const bool known =
            choices.empty() ? word == "*" || (!word.empty() && word.size() <= 64 && is_name(word))
                            : std::ranges::find(choices, word) != choices.end();
        if (!known) return bad(in_quotes(word) + " is none of " + allowed(option));
        if (std::ranges::find(names, word) == names.end()) names.emplace_back(word);
    }
    const auto count = static_cast<std::int64_t>(names.size());
    if (count < option.range.least || count > option.range.most)
        return bad("it names " + std::to_string(count) + "; allowed are " +
                   std::to_string(option.range.least) + " to " + std::to_string(option.range.most));
    return names;
}

/// Whether an IP literal names this machine itself; nothing when it is no IP literal.
std::optional<bool> is_loopback(const std::string& host) {
    in_addr four{};
    if (inet_pton(AF_INET, host.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
    in6_addr six{};
    if (inet_pton(AF_INET6, host.c_str(), &six) != 1) return std::nullopt;
    return IN6_IS_ADDR_LOOPBACK(&six);
}

std::unexpected<Error> bad_address(std::string_view text) {
    return bad(in_quotes(text) +
               " is not an address; write an IP address or localhost, and a port, like "
               "127.0.0.1:7400 or [::1]:7400");
}

Result<Value> in_range(const Option& option, std::string_view text, std::int64_t number,
                       Value value) {
    if (number < option.range.least || number > option.range.most)
        return bad(in_quotes(text) + " is out of range, which is " + allowed(option));
    return value;
}

bool holds_a_secret(std::string_view parameter) {
    return parameter.find("pass") != std::string_view::npos ||
           parameter.find("secret") != std::string_view::npos;
}

/// "a=1&password=x" → "a=1&password=***"
std::string redacted_query(std::string_view query) {
    std::string shown;
    while (!query.empty()) {
        const std::string_view part = query.substr(0, query.find('&'));
        const std::size_t equals = part.find('=');
        const std::string_view name = part.substr(0, equals);
        if (equals != std::string_view::npos && holds_a_secret(name))
            shown.append(name).append("=***");
        else
            shown.append(part);
        query.remove_prefix(part.size());
        if (query.empty()) break;
        shown += '&';
        query.remove_prefix(1);
    }
    return shown;
}

}  // namespace

std::string in_quotes(std::string_view text) {
    constexpr std::size_t kLongest = 80;
    return Json::quoted(text.substr(0, kLongest)).text() + (text.size() > kLongest ? "…" : "");
}

Result<std::int64_t> parse_size(std::string_view text) {
    std::int64_t count = 0;
    const char* end = text.data() + text.size();
    const auto [at, ec] = std::from_chars(text.data(), end, count);
    const std::string_view name = text.substr(static_cast<std::size_t>(at - text.data()));
    const auto* unit = std::ranges::find(kUnits, name.empty() ? "B" : name, &Unit::name);
    if (ec != std::errc{} || count < 0 || unit == kUnits.end() || text.starts_with('-') ||
        count > INT64_MAX / unit->bytes)
        return bad(in_quotes(text) + " is not a size; write it like 512KiB, 1MiB or 1048576");
    return count * unit->bytes;
}

std::string format_size(std::int64_t bytes) {
    if (bytes == 0) return "0";
    const auto* unit =
        std::ranges::find_if(kUnits, [&](const Unit& u) { return bytes % u.bytes == 0; });
    const std::string count = std::to_string(bytes / unit->bytes);
    return unit->bytes == 1 ? count : count + std::string(unit->name);
}

Result<Address> parse_address(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return bad_address(text);
    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    const bool bracketed = host.starts_with('[') && host.ends_with(']');
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (bracketed != (host.find(':') != std::string_view::npos)) return bad_address(text);
    const auto port = parse_count(digits);
    if (!port || *port > 65535 || digits.size() > 5) return bad_address(text);
    const std::string literal = host == "localhost" ? "127.0.0.1" : std::string(host);
    const auto loopback = is_loopback(literal);
    if (!loopback || literal.find('\0') != std::string::npos) return bad_address(text);
    if (!*loopback)
        return bad(in_quotes(text) +
                   " is not a loopback address; authentication comes in a later version, so only "
                   "loopback is allowed: 127.0.0.1, [::1] or localhost");
    return Address{literal, static_cast<std::uint16_t>(*port)};
}

Result<StoreUrl> parse_store_url(std::string_view text) {
    const auto* scheme =
        std::ranges::find_if(kSchemes, [&](std::string_view s) { return text.starts_with(s); });
    if (scheme == kSchemes.end()) {
        // What stands behind the colon may be a password, whatever it was meant to be.
        const std::size_t colon = text.find(':');
        const std::string_view word = text.substr(0, colon == std::string_view::npos ? 0 : colon);
        return bad((word.empty() ? std::string("it") : in_quotes(word)) +
                   " is not the address of a store; write memory:, sqlite:DIRECTORY, redis://…, "
                   "rediss://…, redis-cluster://h:p,h:p, redis-sentinel://h:p,h:p/SERVICE or "
                   "postgres://…");
    }
    StoreUrl url{std::string(text), static_cast<Scheme>(scheme - kSchemes.begin())};
    if (text.find('\0') != std::string_view::npos) return bad("it has a NUL in it");
    if (url.scheme == Scheme::memory && !url.place().empty())
        return bad("nothing may follow memory:");
    if (url.scheme == Scheme::sqlite && url.place().empty())
        return bad("sqlite: needs a directory, like sqlite:./holdfast-data");
    if (url.scheme > Scheme::sqlite && url.place().empty())
        return bad(std::string(*scheme) + " needs a server, like " + std::string(*scheme) +
                   "127.0.0.1");
    return url;
}

std::string Address::text() const {
    const bool six = host.find(':') != std::string::npos;
    return (six ? '[' + host + ']' : host) + ':' + std::to_string(port);
}

std::string_view StoreUrl::place() const {
    return std::string_view(text).substr(kSchemes[static_cast<std::size_t>(scheme)].size());
}

std::string StoreUrl::redacted() const {
    if (scheme <= Scheme::sqlite) return text;
    std::string shown(text);
    // Up to the last @, because a password may hold one, and a slash too, when nobody encoded it.
    const std::size_t start = text.size() - place().size();
    const std::size_t colon = shown.find(':', start);
    const std::size_t at = shown.rfind('@');
    if (at != std::string::npos && colon < at) shown.replace(colon, at - colon, ":***");
    const std::size_t query = shown.find('?');
    if (query == std::string::npos) return shown;
    return shown.substr(0, query + 1) + redacted_query(std::string_view(shown).substr(query + 1));
}

Result<Value> read_value(const Option& option, std::string_view text) {
    switch (option.type) {
        case Type::count: {
            TRY(const std::int64_t count, parse_count(text));
            return in_range(option, text, count, count);
        }
        case Type::size: {
            TRY(const std::int64_t bytes, parse_size(text));
            return in_range(option, text, bytes, bytes);
        }
        case Type::duration: {
            const auto duration = parse_duration(text);
            if (!duration)
                return bad(in_quotes(text) +
                           " is not a duration; write it like 250ms, 30s, 2h30m or 7d");
            return in_range(option, text, duration->count(), *duration);
        }
        case Type::choice:
            return parse_choice(option, text);
        case Type::address:
            return parse_address(text);
        case Type::store_url:
            return parse_store_url(text);
        case Type::truth:
            return parse_truth(text);
        case Type::name:
            return parse_name(option, text);
        case Type::names:
            return parse_names(option, text);
    }
    std::unreachable();
}

std::string show_value(const Option& option, const Value& value) {
    if (option.secret) return "***";
    switch (option.type) {
        case Type::count:
            return std::to_string(std::get<std::int64_t>(value));
        case Type::size:
            return format_size(std::get<std::int64_t>(value));
        case Type::duration:
            return format_duration(std::get<Duration>(value));
        case Type::choice:
            return std::string(
                choices_of(option)[static_cast<std::size_t>(std::get<std::int64_t>(value))]);
        case Type::address:
            return std::get<Address>(value).text();
        case Type::store_url:
            return std::get<StoreUrl>(value).redacted();
        case Type::truth:
            return std::get<bool>(value) ? "true" : "false";
        case Type::name:
            return std::get<std::string>(value);
        case Type::names: {
            std::string all;
            for (const std::string& word : std::get<std::vector<std::string>>(value))
                all.append(all.empty() ? "" : ",").append(word);
            return all;
        }
    }
    std::unreachable();
}

std::string allowed(const Option& option) {
    const auto [least, most] = option.range;
    switch (option.type) {
        case Type::count:
            return std::to_string(least) + " to " + std::to_string(most);
        case Type::size:
            return format_size(least) + " to " + format_size(most);
        case Type::duration:
            return format_duration(Duration{least}) + " to " + format_duration(Duration{most});
        case Type::names:
            if (option.choices.empty()) return "names, or *";
            [[fallthrough]];
        case Type::choice: {
            std::string all;
            for (const std::string_view choice : choices_of(option))
                all.append(all.empty() ? "" : ", ").append(choice);
            return all;
        }
        case Type::name:
            return std::to_string(least) + " to " + std::to_string(most) +
                   " of A-Z a-z 0-9 _ . : -";
        case Type::truth:
            return "true, false";
        case Type::address:
        case Type::store_url:
            return {};
    }
    std::unreachable();
}

std::string_view placeholder(Type type) {
    constexpr std::array<std::string_view, 9> kWords{
        "NUMBER", "SIZE", "DURATION", "WORD", "HOST:PORT", "URL", "", "NAME", "NAME,NAME"};
    return kWords[static_cast<std::size_t>(type)];
}

}  // namespace holdfast::config
