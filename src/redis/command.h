// One command, written as the server wants it.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
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
    Command& add(std::integral auto number) { return add(std::to_string(number)); }

    std::size_t words() const { return words_; }
    /// Adds the command to `out` in RESP.
    void write_to(std::string& out) const;

  private:
    std::size_t words_ = 0;
    std::string bytes_;  ///< Every word as a bulk string.
};

}  // namespace holdfast::redis
