// A request as the gate let it through, and what is answered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::http {

enum class Method : std::uint8_t { get, head, post, put, del, options, other };
std::string_view to_string(Method method);

struct Header {
    std::string_view name;   ///< As it was sent; compare with `same_name`.
    std::string_view value;  ///< Without the blanks around it.
};
bool same_name(std::string_view a, std::string_view b);  ///< ASCII, case does not matter.
std::string_view trimmed(std::string_view text);         ///< Without the blanks around it.
/// Whether a value like "keep-alive, Upgrade" names the word.
bool lists(std::string_view value, std::string_view word);

/// Its views point into the bytes that were read: they live until the request is answered.
struct Request {
    Method method = Method::other;
    std::string_view target;  ///< As it was sent: path and query.
    std::string_view path;    ///< Still percent-encoded.
    std::string_view query;   ///< Still percent-encoded, without the question mark.
    bool http_1_0 = false;
    bool keep_alive = true;
    std::vector<Header> headers;
    std::string body;

    /// The first header of this name; empty: there is none.
    std::string_view header(std::string_view name) const;
};

struct Response {
    int status = 200;
    std::string body = {};
    std::string_view content_type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers = {};
    bool close = false;
};

std::string_view reason_phrase(int status);

/// The response as bytes. `head_only`: for HEAD.
void write(std::string& out, const Response& response, bool keep_alive, bool head_only);

/// %41 → A; `plus` also reads + as a blank. None when it is malformed, or hides a NUL.
std::optional<std::string> percent_decoded(std::string_view text, bool plus = false);

/// The names and values of a query, decoded, in order. None when it is malformed.
using Query = std::vector<std::pair<std::string, std::string>>;
std::optional<Query> parse_query(std::string_view query);

}  // namespace holdfast::http
