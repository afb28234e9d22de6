// The gate: what of the bytes on a connection is a request, decided in one place and strictly.
//
// A second opinion about where a request ends is how requests are smuggled, so there is none: every byte of the
// head and of the body's framing is read here and nowhere else, and whatever is doubtful is refused and the
// connection closed. Without sockets and without time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace holdfast::http {

struct GateLimits {
    std::size_t target = 8 * 1024;
    std::size_t head = 16 * 1024;  ///< Request line and headers together.
    std::size_t headers = 100;
    std::size_t body = std::size_t{1} << 20;
    std::size_t chunk_line = 256;     ///< The size of a chunk with its extensions.
    std::size_t trailers = 8 * 1024;  ///< Checked like headers, and dropped.
};

/// Why a request is not let in. The connection ends after the answer: where the next one begins is unknown.
struct Refusal {
    int status = 400;
    std::string detail;
};

/// Reads one request after the other from a growing buffer.
class Gate {
  public:
    explicit Gate(GateLimits limits = {}) : limits_(limits) {}

    enum class Outcome : std::uint8_t {
        more,     ///< Bytes are missing.
        head,     ///< The head is complete, the body is not: `wants_continue` is known.
        request,  ///< `request()` is complete.
        refused,  ///< `refusal()` says why; nothing more is read.
    };

    /// Looks at the bytes since the last request: `buffer` holds all of them each time. A request's views live
    /// until `next()`.
    Outcome look(std::string_view buffer);

    const Request& request() const { return request_; }
    Request& request() { return request_; }
    const Refusal& refusal() const { return *refusal_; }
    /// The client waits for "100 Continue" before it sends the body.
    bool wants_continue() const { return wants_continue_; }
    bool head_is_complete() const { return phase_ != Phase::head; }
    /// How many bytes of the buffer the request took. Then the gate is ready for the next one.
    std::size_t next();

  private:
    enum class Phase : std::uint8_t { head, sized, chunk_line, chunk, chunk_end, trailers, done };

    Outcome refuse(int status, std::string detail);
    Outcome look_for_head(std::string_view buffer);
    Outcome look_for_body(std::string_view buffer);
    bool read_head(std::string_view head);
    bool read_request_line(std::string_view line);
    bool read_header(std::string_view line);
    bool settle_framing();
    Outcome read_chunk_line(std::string_view buffer);
    Outcome read_trailers(std::string_view buffer);

    GateLimits limits_;
    Phase phase_ = Phase::head;
    std::size_t at_ = 0;        ///< What was read of the buffer so far.
    std::size_t searched_ = 0;  ///< No end of the head before this.
    std::size_t left_ = 0;      ///< Of the body, or of the chunk.
    std::string head_;          ///< What the request's views point into.
    Request request_;
    std::optional<Refusal> refusal_;
    bool wants_continue_ = false;
};

}  // namespace holdfast::http
