// A server's address, and the parts of a request's target.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::client {

struct Url {
    std::string host;  ///< A name or an address; IPv6 without its brackets.
    std::string port;
    std::string prefix;  ///< Before every path, without a slash at its end: "" or "/holdfast".

    /// For the Host header: with brackets where the host needs them.
    std::string authority() const;
};

/// "http://host[:port][/prefix]", or "host:port" alone. Throws Error invalid_argument.
Url parse_url(std::string_view text);

/// What is not unreserved (RFC 3986) as %XX.
std::string percent_encoded(std::string_view text);

/// "?a=1&b=2"; parameters with an empty value are left out.
std::string query(const std::vector<std::pair<std::string_view, std::string>>& parameters);

}  // namespace holdfast::client
