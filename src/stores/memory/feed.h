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

    // ---- for a store that writes it to disk, too ----
    struct Cut {
        std::uint64_t first = 0, count = 0;
        Time last_at;
        std::string_view bytes;  ///< Until the feed changes.
    };
    /// What came since the last cut.
    std::vector<Cut> cut();
    /// Goes on at this number, with nothing before it in memory.
    void begin_at(std::uint64_t next) { next_ = cut_ = next; }
    /// Events before this number are on disk: memory may drop them, above `most_bytes` in all.
    void saved_until(std::uint64_t number, std::size_t most_bytes) {
        saved_ = number;
        most_bytes_ = most_bytes;
    }
    std::uint64_t oldest() const { return blocks_.empty() ? next_ : blocks_.front().first; }
    std::uint64_t next() const { return next_; }
    /// 0 for what is no number.
    static std::uint64_t number_of(std::string_view cursor);

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
    std::uint64_t cut_ = 1;   ///< The number of the first event since the last cut.
    std::uint64_t saved_ = UINT64_MAX;
    std::size_t bytes_ = 0;
    std::size_t most_bytes_ = kMostBytes;
};

}  // namespace holdfast::stores::memory
