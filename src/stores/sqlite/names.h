// Texts that many rows share, by the numbers they have on disk. Numbers are never reused.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "domain/record.h"

namespace holdfast::stores::sqlite {

/// Numbers are given one after the other. More than this missing: they are damaged.
inline constexpr std::uint32_t kMostMissing = 1 << 20;

class Names {
  public:
    using Number = std::uint32_t;
    struct Named {
        Number number = 0;
        std::string text;
    };

    /// 0 for the empty text.
    Number number(std::string_view text) {
        if (text.empty()) return 0;
        if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
        const auto number = static_cast<Number>(texts_.size());
        add(number, text);
        fresh_.push_back({number, std::string(text)});
        return number;
    }
    const Text& text(Number number) const { return texts_[number < texts_.size() ? number : 0]; }
    /// Of the numbers that were given, and 0.
    std::size_t size() const { return texts_.size(); }
    Number find(std::string_view text) const {
        const auto found = numbers_.find(text);
        return found == numbers_.end() ? 0 : found->second;
    }
    /// False: no number that was ever given.
    bool add(Number number, std::string_view text) {
        if (number == 0 || number > texts_.size() + kMostMissing) return false;
        if (texts_.size() <= number) texts_.resize(number + 1);
        texts_[number] = Text(text);
        numbers_.emplace(texts_[number].view(), number);
        return true;
    }
    /// Those that are not on disk yet.
    std::vector<Named> take_fresh() { return std::exchange(fresh_, {}); }

  private:
    std::deque<Text> texts_ = std::deque<Text>(1);
    boost::unordered_flat_map<std::string_view, Number> numbers_;
    std::vector<Named> fresh_;
};

/// What a record is: its kind, queue and type.
struct FamilyRow {
    std::uint32_t number = 0;
    domain::Kind kind{};
    std::string queue, type;
};

class Families {
  public:
    std::uint32_t number(domain::Kind kind, std::string_view queue, std::string_view type) {
        const auto [found, fresh] = numbers_.try_emplace(key_of(kind, queue, type),
                                                         static_cast<std::uint32_t>(rows_.size()));
        if (fresh) {
            rows_.push_back({found->second, kind, std::string(queue), std::string(type)});
            fresh_.push_back(rows_.back());
        }
        return found->second;
    }
    /// False: no number that was ever given, or no kind.
    bool add(const FamilyRow& row) {
        if (row.number == 0 || row.number > rows_.size() + kMostMissing ||
            static_cast<std::size_t>(row.kind) >= domain::kKinds)
            return false;
        if (rows_.size() <= row.number) rows_.resize(row.number + 1);
        rows_[row.number] = row;
        numbers_[key_of(row.kind, row.queue, row.type)] = row.number;
        return true;
    }
    const FamilyRow& row(std::uint32_t number) const {
        return rows_[number < rows_.size() ? number : 0];
    }
    const std::vector<FamilyRow>& rows() const { return rows_; }
    std::vector<FamilyRow> take_fresh() { return std::exchange(fresh_, {}); }

  private:
    static std::string key_of(domain::Kind kind, std::string_view queue, std::string_view type) {
        std::string key(1, static_cast<char>(kind));
        key.append(queue).push_back('\0');
        return key.append(type);
    }

    std::vector<FamilyRow> rows_ = std::vector<FamilyRow>(1);  ///< Number 0 is none.
    boost::unordered_flat_map<std::string, std::uint32_t> numbers_;
    std::vector<FamilyRow> fresh_;
};

}  // namespace holdfast::stores::sqlite
