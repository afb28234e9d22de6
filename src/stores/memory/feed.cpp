#include "stores/memory/feed.h"

#include <algorithm>
#include <charconv>

namespace holdfast::stores::memory {

std::uint64_t Feed::number_of(std::string_view cursor) {
    std::uint64_t number = 0;
    std::from_chars(cursor.data(), cursor.data() + cursor.size(), number);
    return number;
}

std::vector<Feed::Cut> Feed::cut() {
    std::vector<Cut> cuts;
    for (auto block = blocks_.rbegin(); block != blocks_.rend() && block->first >= cut_; ++block)
        cuts.push_back({block->first, block->count, block->last_at, block->bytes});
    std::ranges::reverse(cuts);
    cut_ = next_;
    return cuts;
}

Feed::Block& Feed::open(Time at) {
    if (blocks_.empty() || blocks_.back().bytes.size() >= kBlockBytes || cut_ == next_) {
        while (bytes_ > most_bytes_ && !blocks_.empty() &&
               blocks_.front().first + blocks_.front().count <= saved_) {
            bytes_ -= blocks_.front().bytes.size();
            blocks_.pop_front();
        }
        blocks_.push_back({.first = next_, .count = 0, .last_at = at, .bytes = {}});
    }
    blocks_.back().last_at = at;
    return blocks_.back();
}

void Feed::close(Block& block, std::size_t size_before) {
    ++block.count;
    ++next_;
    bytes_ += block.bytes.size() - size_before;
}

void Feed::add(const domain::Header& header, const domain::Transition& transition) {
    Block& block = open(transition.at);
    const std::size_t before = block.bytes.size();
    domain::pack_event(block.bytes, header, transition);
    close(block, before);
}

void Feed::add(const domain::Note& note, Time at) {
    Block& block = open(at);
    const std::size_t before = block.bytes.size();
    domain::pack_note(block.bytes, note, at);
    close(block, before);
}

FeedPage Feed::read(std::string_view cursor, std::size_t limit) const {
    FeedPage page;
    std::uint64_t from = cursor == "now" ? next_ : cursor.empty() ? oldest() : number_of(cursor);
    page.reset = from < oldest() || from > next_;
    if (page.reset) from = oldest();
    auto block = std::ranges::upper_bound(blocks_, from, {}, &Block::first);
    if (block != blocks_.begin()) --block;
    for (; block != blocks_.end() && page.events.size() < limit; ++block) {
        auto events = domain::unpack_events(block->bytes);
        const std::size_t skip = from - block->first;
        for (std::size_t i = skip; i < events.size() && page.events.size() < limit; ++i, ++from) {
            page.events.push_back(std::move(events[i]));
        }
    }
    page.next = std::to_string(from);
    return page;
}

void Feed::trim(Time before, const std::vector<std::string>& keep) {
    std::uint64_t oldest_needed = next_;
    for (const std::string& cursor : keep)
        oldest_needed = std::min(oldest_needed, number_of(cursor));
    while (!blocks_.empty() && blocks_.front().last_at < before &&
           blocks_.front().first + blocks_.front().count <= oldest_needed) {
        bytes_ -= blocks_.front().bytes.size();
        blocks_.pop_front();
    }
}

}  // namespace holdfast::stores::memory
