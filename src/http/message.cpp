#include "http/message.h"

#include <algorithm>
#include <array>

namespace holdfast::http {
namespace {

constexpr std::array<std::string_view, 7> kMethodNames{"GET",    "HEAD",    "POST", "PUT",
                                                       "DELETE", "OPTIONS", "?"};

struct Phrase {
    int status;
    std::string_view text;
};
constexpr std::array kPhrases{
    Phrase{200, "OK"},
    Phrase{202, "Accepted"},
    Phrase{204, "No Content"},
    Phrase{304, "Not Modified"},
    Phrase{400, "Bad Request"},
    Phrase{403, "Forbidden"},
    Phrase{404, "Not Found"},
    Phrase{405, "Method Not Allowed"},
    Phrase{408, "Request Timeout"},
    Phrase{409, "Conflict"},
    Phrase{411, "Length Required"},
    Phrase{413, "Content Too Large"},
    Phrase{414, "URI Too Long"},
    Phrase{415, "Unsupported Media Type"},
    Phrase{417, "Expectation Failed"},
    Phrase{422, "Unprocessable Content"},
    Phrase{421, "Misdirected Request"},
    Phrase{426, "Upgrade Required"},
    Phrase{429, "Too Many Requests"},
    Phrase{431, "Request Header Fields Too Large"},
    Phrase{500, "Internal Server Error"},
    Phrase{501, "Not Implemented"},
    Phrase{503, "Service Unavailable"},
    Phrase{505, "HTTP Version Not Supported"},
};

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace

std::string_view to_string(Method method) {
    return kMethodNames[static_cast<std::size_t>(method)];
}

bool same_name(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

bool lists(std::string_view value, std::string_view word) {
    while (!value.empty()) {
        const std::size_t end = std::min(value.find(','), value.size());
        if (same_name(trimmed(value.substr(0, end)), word)) return true;
        value.remove_prefix(std::min(end + 1, value.size()));
    }
    return false;
}

std::string_view Request::header(std::string_view name) const {
    for (const Header& h : headers) {
        if (same_name(h.name, name)) return h.value;
    }
    return {};
}

std::string_view reason_phrase(int status) {
    const auto found = std::ranges::find(kPhrases, status, &Phrase::status);
    return found == kPhrases.end() ? "Unknown" : found->text;
}

void write(std::string& out, const Response& r, bool keep_alive, bool head_only) {
    out += "HTTP/1.1 ";
    out += std::to_string(r.status);
    out += ' ';
    out += reason_phrase(r.status);
    if (!r.content_type.empty()) {
        out += "\r\nContent-Type: ";
        out += r.content_type;
    }
    out += "\r\nContent-Length: ";
    out += std::to_string(r.body.size());
    for (const auto& [name, value] : r.headers) {
        out += "\r\n";
        out += name;
        out += ": ";
        out += value;
    }
    if (!keep_alive) out += "\r\nConnection: close";
    out += "\r\n\r\n";
    if (!head_only) out += r.body;
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '+' && plus) {
            c = ' ';
        } else if (c == '%') {
            if (i + 2 >= text.size()) return std::nullopt;
            const int high = hex_digit(text[i + 1]);
            const int low = hex_digit(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            c = static_cast<char>(high * 16 + low);
            i += 2;
        }
        if (c == '\0') return std::nullopt;
        out += c;
    }
    return out;
}

std::optional<Query> parse_query(std::string_view query) {
    Query pairs;
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view part = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        if (part.empty()) continue;
        const std::size_t equals = std::min(part.find('='), part.size());
        auto name = percent_decoded(part.substr(0, equals), true);
        auto value = percent_decoded(part.substr(std::min(equals + 1, part.size())), true);
        if (!name || !value) return std::nullopt;
        pairs.emplace_back(*std::move(name), *std::move(value));
    }
    return pairs;
}

}  // namespace holdfast::http
