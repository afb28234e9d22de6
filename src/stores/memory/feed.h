// The feed: what happened, packed, in order, bounded.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "domain/change.h"
#include "stores/store.h"

namespace holdfast::stores::memory {

class Feed {
  public:
    /// A feed that nobody trims stops growing here; a reader that is too slow is told so (`reset`).
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

    void add(const domain::Header& header, const domain::Transition& transition);
    void add(const domain::Note& note, Time at);
    FeedPage read(std::string_view cursor, std::size_t limit) const;
    void trim(Time before, const std::vector<std::string>& keep);

  private:
    /// Many small commits share a block.
    static constexpr std::size_t kBlockBytes = 16 << 10;
    struct Block {
        std::uint64_t first = 0;  ///< The number of its first event.
        std::uint64_t count = 0;
        Time last_at;
        std::string bytes;
    };
    Block& open(Time at);
    void close(Block& block, std::size_t size_before);

    std::deque<Block> blocks_;
    std::uint64_t next_ = 1;  ///< The number of the next event.
    std::size_t bytes_ = 0;
};

}  // namespace holdfast::stores::memory
