// What is wrong is named by its place, never repeated: any part of a mistyped address may be a password.
#include <charconv>
#include <optional>

#include "redis/redis.h"

namespace holdfast::redis {
namespace {

using Mode = Options::Mode;

struct Scheme {
    std::string_view name;
    Mode mode;
    bool tls;
};
constexpr Scheme kSchemes[] = {
    {"redis", Mode::single, false},
    {"rediss", Mode::single, true},
    {"redis-cluster", Mode::cluster, false},
    {"rediss-cluster", Mode::cluster, true},
    {"redis-sentinel", Mode::sentinel, false},
    {"rediss-sentinel", Mode::sentinel, true},
};
constexpr std::uint16_t kServerPort = 6379;
constexpr std::uint16_t kSentinelPort = 26'379;
constexpr int kMostDatabases = 1'000'000;
constexpr std::size_t kMostAddresses = 64;
constexpr std::size_t kLongestUrl = 4096;

std::unexpected<Error> wrong(std::string_view what) {
    return invalid("url", what);
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::optional<std::string> decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain += text[i];
            continue;
        }
        if (i + 2 >= text.size()) return {};
        const int high = hex_digit(text[i + 1]);
        const int low = hex_digit(text[i + 2]);
        if (high < 0 || low < 0) return {};
        plain += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return plain;
}

/// Cuts off and returns what stands before `mark`; all of it where there is none.
std::string_view cut(std::string_view& text, char mark) {
    const std::size_t at = text.find(mark);
    const std::string_view before = text.substr(0, at);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
    return before;
}

Result<> read_user(std::string_view text, Options& options) {
    const auto user = decoded(cut(text, ':'));
    const auto password = decoded(text);
    if (!user || !password)
        return wrong("a % in user or password is not followed by two hex digits");
    if (!user->empty() && password->empty())
        return wrong("a user without a password; write user:password@ or :password@");
    options.user = *user;
    options.password = *password;
    return {};
}

Result<Address> read_address(std::string_view text, std::uint16_t port) {
    Address address{.host = {}, .port = port};
    if (text.starts_with('[')) {
        const std::size_t close = text.find(']');
        if (close == std::string_view::npos) return wrong("a host begins with [ and has no ]");
        address.host = text.substr(1, close - 1);
        text.remove_prefix(close + 1);
        if (!text.empty() && text.front() != ':')
            return wrong("only :port may follow a host in []");
    } else {
        address.host = text.substr(0, text.find(':'));
        text.remove_prefix(address.host.size());
    }
    if (address.host.empty()) return wrong("a host is missing");
    if (text.empty()) return address;
    text.remove_prefix(1);
    const auto [end, failed] =
        std::from_chars(text.data(), text.data() + text.size(), address.port);
    if (failed != std::errc{} || end != text.data() + text.size() || address.port == 0)
        return wrong(
            "a port is no number from 1 to 65535 (in a password write @ as %40, / as %2F)");
    return address;
}

Result<> read_addresses(std::string_view text, Options& options) {
    const std::uint16_t port = options.mode == Mode::sentinel ? kSentinelPort : kServerPort;
    if (text.empty()) return wrong("a host is missing");
    while (!text.empty()) {
        TRY(Address address, read_address(cut(text, ','), port));
        options.addresses.push_back(std::move(address));
    }
    if (options.mode == Mode::single && options.addresses.size() != 1)
        return wrong("one server has one host; several make redis-cluster:// or redis-sentinel://");
    if (options.addresses.size() > kMostAddresses) return wrong("more than 64 hosts");
    return {};
}

Result<> read_path(std::string_view path, Options& options) {
    if (options.mode == Mode::sentinel) {
        options.service = cut(path, '/');
        if (options.service.empty())
            return wrong("the service is missing: redis-sentinel://host:port/service");
    }
    const std::string_view number = cut(path, '/');
    if (!path.empty()) return wrong("there is too much after the database");
    if (number.empty()) return {};
    const auto [end, failed] =
        std::from_chars(number.data(), number.data() + number.size(), options.database);
    if (failed != std::errc{} || end != number.data() + number.size() || options.database < 0 ||
        options.database > kMostDatabases)
        return wrong("the database after the last / is no whole number");
    if (options.mode == Mode::cluster && options.database != 0)
        return wrong("a cluster has only database 0");
    return {};
}

Result<> read_query(std::string_view query, Options& options) {
    while (!query.empty()) {
        std::string_view value = cut(query, '&');
        if (cut(value, '=') != "ca") return wrong("after ? only ca=FILE is known");
        if (!options.tls) return wrong("ca=FILE goes with TLS: rediss://…");
        const auto file = decoded(value);
        if (!file || file->empty()) return wrong("ca= names no file");
        options.ca_file = *file;
    }
    return {};
}

}  // namespace

std::string to_string(const Address& address) {
    const std::string port = std::to_string(address.port);
    if (address.host.contains(':')) return "[" + address.host + "]:" + port;
    return address.host + ":" + port;
}

Result<Options> parse_url(std::string_view url) {
    if (url.size() > kLongestUrl) return wrong("longer than 4096 bytes");
    Options options;
    const std::size_t colon = url.find("://");
    const Scheme* scheme = nullptr;
    for (const Scheme& known : kSchemes) {
        if (known.name == url.substr(0, colon)) scheme = &known;
    }
    if (colon == std::string_view::npos || scheme == nullptr)
        return wrong(
            "begins with none of redis:// rediss:// redis-cluster:// rediss-cluster:// "
            "redis-sentinel:// rediss-sentinel://");
    options.mode = scheme->mode;
    options.tls = scheme->tls;
    url.remove_prefix(colon + 3);

    std::string_view rest = cut(url, '?');
    std::string_view hosts = cut(rest, '/');
    if (const std::size_t at = hosts.rfind('@'); at != std::string_view::npos) {
        TRY_VOID(read_user(hosts.substr(0, at), options));
        hosts.remove_prefix(at + 1);
    }
    TRY_VOID(read_addresses(hosts, options));
    TRY_VOID(read_path(rest, options));
    TRY_VOID(read_query(url, options));
    return options;
}

}  // namespace holdfast::redis
