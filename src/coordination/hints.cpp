#include "coordination/hints.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace holdfast::coordination {
namespace {

/// In the order of Hint::Of.
constexpr std::string_view kLetters = "qtscpdi";
constexpr std::size_t kLongestName = 256;

std::string_view next_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

std::optional<Hint> read_hint(std::string_view line) {
    const std::size_t letter = line.empty() ? std::string_view::npos : kLetters.find(line.front());
    if (letter == std::string_view::npos) return std::nullopt;
    line.remove_prefix(1);
    Hint hint{.of = static_cast<Hint::Of>(letter), .name = {}};
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), hint.count);
    const auto digits = static_cast<std::size_t>(end - line.data());
    if (error != std::errc{} || digits == line.size() || line[digits] != ' ' ||
        line.size() - digits - 1 > kLongestName)
        return std::nullopt;
    hint.name = line.substr(digits + 1);
    return hint;
}

}  // namespace

bool HintBatch::add(Hint hint) {
    const bool first = counts_.empty();
    if (counts_.size() >= kMost && !counts_.contains({hint.of, hint.name})) return false;
    counts_[{hint.of, std::move(hint.name)}] += hint.count;
    return first;
}

std::vector<Hint> HintBatch::take() {
    std::vector<Hint> hints;
    hints.reserve(counts_.size());
    for (const auto& [what, count] : counts_) hints.push_back({what.first, what.second, count});
    counts_.clear();
    return hints;
}

std::string pack_hints(std::string_view instance, const std::vector<Hint>& hints) {
    std::string message(instance);
    for (const Hint& hint : hints) {
        message += '\n';
        message += kLetters[static_cast<std::size_t>(hint.of)];
        message.append(std::to_string(hint.count)).append(" ").append(hint.name);
    }
    return message;
}

std::optional<HintMessage> unpack_hints(std::string_view message) {
    HintMessage found{.from = next_line(message), .hints = {}};
    if (found.from.empty()) return std::nullopt;
    while (!message.empty() && found.hints.size() < HintBatch::kMost) {
        if (auto hint = read_hint(next_line(message))) found.hints.push_back(*std::move(hint));
    }
    return found;
}

}  // namespace holdfast::coordination
