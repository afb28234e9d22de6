#include "http/gate.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace holdfast::http {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::size_t kLongestMethod = 32;

/// RFC 9110: the characters of methods and header names.
bool is_token_char(char c) {
    constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, is_token_char);
}

bool is_method(std::string_view text) {
    return text.size() <= kLongestMethod && is_token(text);
}

bool is_target_char(char c) {
    return c > ' ' && c < '\x7f' && c != '#';
}

/// Visible characters, blanks, tabs and what is beyond ASCII.
bool is_value_char(char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
}

Method method_of(std::string_view name) {
    for (const Method method :
         {Method::get, Method::head, Method::post, Method::put, Method::del, Method::options}) {
        if (name == to_string(method)) return method;
    }
    return Method::other;
}

/// How many bytes surely stand before `end`: all up to it, or, where it has not come yet, all but what may be its
/// beginning. So a limit is the same for a text that comes whole and for one that comes in pieces.
std::size_t length_before(std::string_view text, std::string_view end, std::size_t found) {
    if (found != std::string_view::npos) return found;
    std::size_t begun = std::min(text.size(), end.size() - 1);
    while (!end.starts_with(text.substr(text.size() - begun))) --begun;
    return text.size() - begun;
}

/// Digits and nothing else: no sign, no blank, no list.
std::optional<std::size_t> number(std::string_view text, int base) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

}  // namespace

Gate::Outcome Gate::refuse(int status, std::string detail) {
    refusal_ = Refusal{status, std::move(detail)};
    return Outcome::refused;
}

Gate::Outcome Gate::look(std::string_view buffer) {
    if (refusal_) return Outcome::refused;
    if (phase_ == Phase::head) {
        const Outcome outcome = look_for_head(buffer);
        if (outcome != Outcome::head) return outcome;
    }
    return look_for_body(buffer);
}

Gate::Outcome Gate::look_for_head(std::string_view buffer) {
    // An empty line before a request is a habit of old clients; anything else there is not.
    while (buffer.substr(at_).starts_with(kLineEnd)) {
        at_ += kLineEnd.size();
        if (at_ > 2 * kLineEnd.size()) return refuse(400, "blank lines in the place of a request");
    }
    // Early, so that what is no HTTP at all is not waited for.
    const std::string_view begun = buffer.substr(at_);
    const std::string_view word = begun.substr(0, std::min(begun.find(' '), begun.size()));
    if (!begun.empty() && begun != "\r" && !is_method(word))
        return refuse(400, "this is not an HTTP request");
    const std::size_t end = buffer.find(kHeadEnd, std::max(at_, searched_));
    const std::size_t size =
        length_before(begun, kHeadEnd, end == std::string_view::npos ? end : end - at_);
    if (size > limits_.head)
        return refuse(431, "the head is larger than " + std::to_string(limits_.head) + " bytes");
    if (end == std::string_view::npos) {
        searched_ = std::max(at_, buffer.size() - std::min(buffer.size(), kHeadEnd.size() - 1));
        return Outcome::more;
    }
    head_.assign(buffer.substr(at_, end - at_));
    if (!read_head(head_) || !settle_framing()) return Outcome::refused;
    at_ = end + kHeadEnd.size();
    return Outcome::head;
}

bool Gate::read_head(std::string_view head) {
    const std::size_t line_end = std::min(head.find(kLineEnd), head.size());
    if (!read_request_line(head.substr(0, line_end))) return false;
    for (std::size_t at = line_end; at < head.size();) {
        at += kLineEnd.size();
        const std::size_t end = std::min(head.find(kLineEnd, at), head.size());
        if (!read_header(head.substr(at, end - at))) return false;
        at = end;
    }
    return true;
}

bool Gate::read_request_line(std::string_view line) {
    const auto refused = [&](int status, std::string_view detail) {
        refuse(status, std::string(detail));
        return false;
    };
    const std::size_t first = line.find(' ');
    const std::size_t last = line.rfind(' ');
    if (first == std::string_view::npos || first == last)
        return refused(400, "the request line is not: method, target, version");
    const std::string_view method = line.substr(0, first);
    const std::string_view target = line.substr(first + 1, last - first - 1);
    const std::string_view version = line.substr(last + 1);
    if (!is_method(method)) return refused(400, "the method is not a word");
    if (version != "HTTP/1.1" && version != "HTTP/1.0")
        return refused(version.starts_with("HTTP/") && version.size() == 8 ? 505 : 400,
                       "the version is not HTTP/1.1 or HTTP/1.0");
    if (target.size() > limits_.target)
        return refused(414,
                       "the target is longer than " + std::to_string(limits_.target) + " bytes");
    if (!target.starts_with('/') || !std::ranges::all_of(target, is_target_char))
        return refused(400, "the target is not a path");
    request_.method = method_of(method);
    request_.http_1_0 = version == "HTTP/1.0";
    request_.keep_alive = !request_.http_1_0;
    request_.target = target;
    const std::size_t question = std::min(target.find('?'), target.size());
    request_.path = target.substr(0, question);
    request_.query = target.substr(std::min(question + 1, target.size()));
    return true;
}

bool Gate::read_header(std::string_view line) {
    if (request_.headers.size() == limits_.headers) {
        refuse(431, "more than " + std::to_string(limits_.headers) + " headers");
        return false;
    }
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, std::min(colon, line.size()));
    // Also finds a folded line, which begins with a blank, and a blank before the colon.
    if (colon == std::string_view::npos || !is_token(name)) {
        refuse(400, "a header line is not: name, colon, value");
        return false;
    }
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (!std::ranges::all_of(value, is_value_char)) {
        refuse(400, "a header's value has a control character");
        return false;
    }
    request_.headers.push_back({name, value});
    return true;
}

/// How long the body is: exactly one way to say it, or none.
bool Gate::settle_framing() {
    const auto refused = [&](int status, std::string_view detail) {
        refuse(status, std::string(detail));
        return false;
    };
    std::size_t hosts = 0;
    const Header* length = nullptr;
    const Header* encoding = nullptr;
    for (const Header& h : request_.headers) {
        if (same_name(h.name, "host")) {
            ++hosts;
            if (h.value.find_first_of(" \t,/@") != std::string_view::npos)
                return refused(400, "Host is not a host");
        } else if (same_name(h.name, "content-length")) {
            if (length != nullptr) return refused(400, "more than one Content-Length");
            length = &h;
        } else if (same_name(h.name, "transfer-encoding")) {
            if (encoding != nullptr) return refused(400, "more than one Transfer-Encoding");
            encoding = &h;
        } else if (same_name(h.name, "connection")) {
            if (lists(h.value, "close")) request_.keep_alive = false;
            if (request_.http_1_0 && lists(h.value, "keep-alive")) request_.keep_alive = true;
        } else if (same_name(h.name, "expect")) {
            if (!same_name(h.value, "100-continue"))
                return refused(417, "the only expectation met is 100-continue");
            wants_continue_ = !request_.http_1_0;
        }
    }
    if (hosts > 1 || (hosts == 0 && !request_.http_1_0))
        return refused(400, "there is not exactly one Host");
    if (encoding != nullptr) {
        if (length != nullptr) return refused(400, "Transfer-Encoding and Content-Length together");
        if (request_.http_1_0) return refused(400, "Transfer-Encoding in HTTP/1.0");
        if (!same_name(encoding->value, "chunked"))
            return refused(501, "the only Transfer-Encoding is chunked");
        phase_ = Phase::chunk_line;
        return true;
    }
    left_ = 0;
    if (length != nullptr) {
        const auto bytes = number(length->value, 10);
        if (!bytes) return refused(400, "Content-Length is not a number");
        if (*bytes > limits_.body)
            return refused(413,
                           "the body is larger than " + std::to_string(limits_.body) + " bytes");
        left_ = *bytes;
    }
    phase_ = Phase::sized;
    return true;
}

Gate::Outcome Gate::look_for_body(std::string_view buffer) {
    for (;;) {
        const std::string_view rest = buffer.substr(at_);
        switch (phase_) {
            case Phase::sized:
                if (rest.size() < left_) return Outcome::head;
                request_.body.assign(rest.substr(0, left_));
                at_ += left_;
                phase_ = Phase::done;
                break;
            case Phase::chunk_line:
                if (const Outcome o = read_chunk_line(buffer); o != Outcome::request) return o;
                break;
            case Phase::chunk: {
                const std::size_t taken = std::min(left_, rest.size());
                request_.body += rest.substr(0, taken);
                at_ += taken;
                left_ -= taken;
                if (left_ > 0) return Outcome::head;
                phase_ = Phase::chunk_end;
                break;
            }
            case Phase::chunk_end:
                if (rest.size() < kLineEnd.size()) return Outcome::head;
                if (!rest.starts_with(kLineEnd))
                    return refuse(400, "a chunk is longer than its size");
                at_ += kLineEnd.size();
                phase_ = Phase::chunk_line;
                break;
            case Phase::trailers:
                if (const Outcome o = read_trailers(buffer); o != Outcome::request) return o;
                break;
            case Phase::done:
                return Outcome::request;
            case Phase::head:
                return Outcome::more;
        }
    }
}

/// `request` here: the line was read, go on.
Gate::Outcome Gate::read_chunk_line(std::string_view buffer) {
    const std::string_view rest = buffer.substr(at_);
    const std::size_t end = rest.find(kLineEnd);
    if (length_before(rest, kLineEnd, end) > limits_.chunk_line)
        return refuse(
            400, "a chunk's line is longer than " + std::to_string(limits_.chunk_line) + " bytes");
    if (end == std::string_view::npos) return Outcome::head;
    const std::string_view line = rest.substr(0, end);
    const std::string_view digits = line.substr(0, std::min(line.find(';'), line.size()));
    const auto size = number(digits, 16);
    if (!size || !std::ranges::all_of(line, is_value_char))
        return refuse(400, "a chunk's size is not a number");
    if (*size > limits_.body || request_.body.size() + *size > limits_.body)
        return refuse(413, "the body is larger than " + std::to_string(limits_.body) + " bytes");
    at_ += end + kLineEnd.size();
    left_ = *size;
    phase_ = left_ > 0 ? Phase::chunk : Phase::trailers;
    return Outcome::request;
}

Gate::Outcome Gate::read_trailers(std::string_view buffer) {
    const std::string_view rest = buffer.substr(at_);
    const bool none = rest.starts_with(kLineEnd);
    const std::size_t end = none ? 0 : rest.find(kHeadEnd);
    if (length_before(rest, kHeadEnd, end) > limits_.trailers)
        return refuse(
            431, "the trailers are larger than " + std::to_string(limits_.trailers) + " bytes");
    if (end == std::string_view::npos) return Outcome::head;
    const std::size_t kept = request_.headers.size();
    for (std::size_t at = 0; at < end;) {
        const std::size_t line_end = std::min(rest.find(kLineEnd, at), end);
        if (!read_header(rest.substr(at, line_end - at))) return Outcome::refused;
        at = line_end + kLineEnd.size();
    }
    request_.headers.resize(kept);
    at_ += end + (none ? kLineEnd.size() : kHeadEnd.size());
    phase_ = Phase::done;
    return Outcome::request;
}

std::size_t Gate::next() {
    const std::size_t taken = at_;
    Request fresh;
    fresh.headers = std::move(request_.headers);  // keeps its room
    fresh.headers.clear();
    fresh.body = std::move(request_.body);
    fresh.body.clear();
    request_ = std::move(fresh);
    phase_ = Phase::head;
    at_ = searched_ = left_ = 0;
    wants_continue_ = false;
    return taken;
}

}  // namespace holdfast::http
