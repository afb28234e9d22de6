// One command, written as the server wants it.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace holdfast::redis {

/// Command("ZADD", key, 17, member): texts and whole numbers.
class Command {
  public:
    template <class... Words>
    explicit Command(std::string_view name, const Words&... words) {
        add(name);
        (add(words), ...);
    }

    Command& add(std::string_view word);
    Command& add(std::integral auto number) {
        std::array<char, 24> digits{};
        const char* const end =
            std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        return add(std::string_view(digits.data(), end));
    }

    std::size_t words() const { return words_; }
    /// Adds the command to `out` in RESP.
    void write_to(std::string& out) const;
    /// The bytes that write_to() adds are at most this many.
    std::size_t most_bytes() const { return bytes_.size() + 24; }
    /// The same with other words for its first two: an EVALSHA becomes its EVAL.
    Command with_head(std::string_view first, std::string_view second) const;

  private:
    std::size_t words_ = 0;
    std::string bytes_;  ///< Every word as a bulk string.
};

}  // namespace holdfast::redis
