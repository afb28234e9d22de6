// Texts that many records share, kept once and counted.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace holdfast::stores::memory {

/// Number 0 is the empty text. A text lives as long as somebody holds its number.
class Interner {
  public:
    using Number = std::uint32_t;

    Number hold(std::string_view text) {
        if (text.empty()) return 0;
        if (const auto found = numbers_.find(text); found != numbers_.end()) {
            ++entries_[found->second].holders;
            return found->second;
        }
        const Number number = free_.empty() ? static_cast<Number>(entries_.size()) : free_.back();
        if (free_.empty()) {
            entries_.emplace_back();
        } else {
            free_.pop_back();
        }
        entries_[number] = {Text(text), 1};
        numbers_.emplace(entries_[number].text.view(), number);
        return number;
    }
    Number hold_again(Number number) {
        if (number != 0) ++entries_[number].holders;
        return number;
    }
    void release(Number number) {
        if (number == 0 || --entries_[number].holders > 0) return;
        numbers_.erase(entries_[number].text.view());
        free_.push_back(number);
    }
    const Text& text(Number number) const { return entries_[number].text; }
    Number find(std::string_view text) const {
        const auto found = numbers_.find(text);
        return found == numbers_.end() ? 0 : found->second;
    }

  private:
    struct Entry {
        Text text;
        std::uint32_t holders = 0;
    };
    std::vector<Entry> entries_ = std::vector<Entry>(1);
    std::vector<Number> free_;
    boost::unordered_flat_map<std::string_view, Number> numbers_;
};

}  // namespace holdfast::stores::memory
