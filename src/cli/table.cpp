#include "cli/table.h"

#include <algorithm>
#include <ostream>

#include "cli/words.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kShortestCut = 12;

/// The beginning of `text` that fits, with a mark where it was cut.
std::string cut_to(const std::string& text, std::size_t width) {
    if (display_width(text) <= width) return text;
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t next = i + 1;
        while (next < text.size() && (static_cast<unsigned char>(text[next]) & 0xc0) == 0x80)
            ++next;
        const auto grown = out + text.substr(i, next - i);
        if (display_width(grown) + 1 > width) break;
        out = grown;
        i = next;
    }
    return out + "…";
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
    cells.resize(columns_.size());
    for (auto& cell : cells) cell = printable(cell);
    rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::fitting(unsigned width,
                                        const std::vector<std::size_t>& widths) const {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < columns_.size(); ++i) shown.push_back(i);
    const auto needed = [&] {
        std::size_t sum = 0;
        for (const auto column : shown)
            sum += kGap +
                   (columns_[column].cut ? std::min(widths[column], kShortestCut) : widths[column]);
        return sum - kGap;
    };
    while (shown.size() > 1 && needed() > width) {
        const auto least = std::ranges::min_element(
            shown, {}, [&](std::size_t column) { return columns_[column].worth; });
        shown.erase(least);
    }
    return shown;
}

std::vector<std::string> Table::lines(unsigned width) const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        widths.push_back(display_width(columns_[i].name));
        for (const auto& row : rows_) widths[i] = std::max(widths[i], display_width(row[i]));
    }
    const auto shown = fitting(width, widths);
    const auto line = [&](const auto& cell_of) {
        std::string out;
        for (const auto column : shown) {
            std::string cell = cell_of(column);
            const bool last = column == shown.back();
            if (columns_[column].cut && width > display_width(out))
                cell = cut_to(cell, std::max<std::size_t>(1, width - display_width(out)));
            const std::string blanks(widths[column] - std::min(widths[column], display_width(cell)),
                                     ' ');
            if (columns_[column].right) {
                out += blanks + cell;
            } else {
                out += cell + (last ? "" : blanks);
            }
            if (!last) out += std::string(kGap, ' ');
        }
        return out;
    };
    std::vector<std::string> out{line([&](std::size_t i) { return columns_[i].name; })};
    for (const auto& row : rows_) out.push_back(line([&](std::size_t i) { return row[i]; }));
    return out;
}

void Table::print(Io& io) const {
    if (!io.out_is_terminal) {
        for (const auto& row : rows_) {
            for (std::size_t i = 0; i < row.size(); ++i) io.out << (i > 0 ? "\t" : "") << row[i];
            io.out << '\n';
        }
        return;
    }
    if (rows_.empty()) return;
    const auto all = lines(io.width);
    const bool bold = use_colour(io, true);
    for (std::size_t i = 0; i < all.size(); ++i)
        io.out << (i == 0 && bold ? "\x1b[1m" : "") << all[i] << (i == 0 && bold ? "\x1b[0m" : "")
               << '\n';
}

}  // namespace holdfast::cli
