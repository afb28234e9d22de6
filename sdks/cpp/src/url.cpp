#include "url.h"

#include <algorithm>

#include "holdfast/error.h"

namespace holdfast::client {
namespace {

constexpr std::string_view kDefaultPort = "7400";

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
    throw Error(Code::invalid_argument,
                std::string("server address '").append(text).append("': ").append(why) +
                    ", e.g. http://127.0.0.1:7400");
}

bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

}  // namespace

std::string Url::authority() const {
    const std::string name = host.contains(':') ? "[" + host + "]" : host;
    return name + ":" + port;
}

Url parse_url(std::string_view text) {
    std::string_view rest = text;
    std::string default_port(kDefaultPort);
    if (const auto scheme = rest.find("://"); scheme != std::string_view::npos) {
        const auto name = rest.substr(0, scheme);
        if (name == "https" || name == "wss") refuse(text, "TLS is not spoken here, use http://");
        if (name != "http" && name != "ws") refuse(text, "must begin with http://");
        rest.remove_prefix(scheme + 3);
        default_port = "80";
    }
    Url url;
    const auto slash = rest.find('/');
    if (slash != std::string_view::npos) url.prefix = rest.substr(slash);
    while (url.prefix.ends_with('/')) url.prefix.pop_back();
    auto authority = rest.substr(0, slash);
    if (authority.contains('@')) refuse(text, "must not hold a user name or password");
    if (authority.starts_with('[')) {
        const auto close = authority.find(']');
        if (close == std::string_view::npos) refuse(text, "has no ']' after '['");
        url.host = authority.substr(1, close - 1);
        authority.remove_prefix(close + 1);
        if (!authority.empty() && !authority.starts_with(':')) refuse(text, "is not an address");
    } else {
        url.host = authority.substr(0, authority.find(':'));
        authority.remove_prefix(url.host.size());
    }
    url.port = authority.empty() ? default_port : authority.substr(1);
    const bool digits = std::ranges::all_of(url.port, [](char c) { return c >= '0' && c <= '9'; });
    if (url.host.empty()) refuse(text, "names no host");
    if (url.port.empty() || url.port.size() > 5 || !digits || std::stoi(url.port) > 65'535)
        refuse(text, "has a bad port");
    for (const char c : url.host + url.prefix)
        if (c <= ' ' || c == '?' || c == '#' || c == 0x7f) refuse(text, "is not an address");
    return url;
}

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        if (is_unreserved(c)) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out.append({'%', kHex[byte >> 4], kHex[byte & 15]});
        }
    }
    return out;
}

std::string query(const std::vector<std::pair<std::string_view, std::string>>& parameters) {
    std::string out;
    for (const auto& [name, value] : parameters) {
        if (value.empty()) continue;
        out.append(out.empty() ? "?" : "&").append(name).append("=").append(percent_encoded(value));
    }
    return out;
}

}  // namespace holdfast::client
