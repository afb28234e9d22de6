// Bytes of a server in, whole replies out: RESP2 and RESP3. Knows no sockets.
//
// Takes the bytes as they come, in pieces of any size. A server that breaks the protocol, or whose reply is larger or
// deeper than the limits, is `broken`: the rest of its bytes means nothing, the connection is to be given up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redis/reply.h"

namespace holdfast::redis {

struct ReplyLimits {
    std::size_t depth = 32;           ///< Arrays in arrays.
    std::size_t values = 4'194'304;   ///< In one reply, all levels together.
    std::size_t bytes = 268'435'456;  ///< Of its texts together.
    std::size_t line = 65'536;        ///< A simple text or error, a number.
};

class ReplyParser {
  public:
    enum class Outcome : std::uint8_t {
        more,    ///< All bytes are taken, the reply is not whole yet.
        reply,   ///< take() it.
        push,    ///< As a reply, but nobody asked for it: a published message (RESP3).
        broken,  ///< See fault().
    };

    explicit ReplyParser(ReplyLimits limits = {}) : limits_(limits) {}

    /// Takes from the front of `bytes`, at most up to the end of one reply.
    Outcome feed(std::string_view& bytes);
    Reply take();
    std::string_view fault() const { return fault_; }

  private:
    /// An array, map, set, push or attribute whose values are still to come.
    struct Open {
        std::uint32_t node;
        std::uint64_t left;
        bool
            attribute;  ///< About the value behind it; nobody here reads it: dropped when it is whole.
        std::uint32_t bytes;  ///< attribute: where its texts began.
    };

    bool take_line(std::string_view& bytes);
    void take_body(std::string_view& bytes);
    void read_line(std::string_view line);
    void read_simple(char type, std::string_view text);
    void open_body(char type, std::string_view count);
    void open_array(char type, std::string_view count);
    Reply::Node* add(Reply::Kind kind);
    void add_text(Reply::Kind kind, std::string_view text);
    void value_is_whole();
    void break_off(std::string_view fault);

    ReplyLimits limits_;
    Reply reply_;
    std::vector<Open> open_;
    std::string line_;             ///< The part of a line that came so far.
    std::uint64_t body_left_ = 0;  ///< Of a text with a length, its line end included.
    bool in_body_ = false;
    bool in_verbatim_ = false;  ///< Three letters and a colon come before the text itself.
    bool is_push_ = false;
    bool whole_ = false;
    std::string_view fault_;
};

}  // namespace holdfast::redis
