// A server's bytes: whatever comes is a reply, not whole yet, or broken; the same whole or in pieces.
#include <string>

#include "fuzz.h"
#include "redis/reply_parser.h"

using holdfast::fuzz::require;
using holdfast::redis::Reply;
using holdfast::redis::ReplyParser;
using holdfast::redis::Value;

namespace {

// The parser bounds the depth, so this recursion has an end.
void tell(Value value, std::string& out) {  // NOLINT(misc-no-recursion)
    out += static_cast<char>('a' + static_cast<int>(value.kind()));
    out.append(value.text()).append(std::to_string(value.integer()));
    std::size_t values = 0;
    for (const Value inner : value) {
        tell(inner, out);
        ++values;
    }
    require(values == value.size());
}

std::string told(std::string_view bytes, std::size_t piece) {
    ReplyParser parser({.depth = 8, .values = 256, .bytes = 4096, .line = 64});
    std::string all;
    while (!bytes.empty()) {
        std::string_view next = bytes.substr(0, piece);
        bytes.remove_prefix(next.size());
        while (!next.empty()) {
            const ReplyParser::Outcome outcome = parser.feed(next);
            if (outcome == ReplyParser::Outcome::broken) return all.append(parser.fault());
            if (outcome == ReplyParser::Outcome::more) {
                require(next.empty());
                break;
            }
            all += outcome == ReplyParser::Outcome::push ? '>' : ';';
            const Reply reply = parser.take();
            tell(reply.root(), all);
        }
    }
    return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = holdfast::fuzz::text_of(data, size);
    const std::string whole = told(bytes, bytes.size() + 1);
    for (const std::size_t piece : {1U, 2U, 3U, 7U}) require(told(bytes, piece) == whole);
    return 0;
}
