// Rows and columns: aligned and fitted on a terminal, tab-separated without a head elsewhere.
#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"

namespace holdfast::cli {

struct Column {
    std::string name;
    int worth =
        0;  ///< When it does not fit, the column of least worth goes first. Nothing is ever cut,
            ///< except a last column that may be `cut`.
    bool right = false;  ///< Numbers.
    bool cut = false;
};

class Table {
  public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    /// Cells are made printable here.
    void add(std::vector<std::string> cells);
    void print(Io& io) const;
    bool empty() const { return rows_.empty(); }
    /// As on a terminal of that width, whatever the output is.
    std::vector<std::string> lines(unsigned width) const;

  private:
    std::vector<std::size_t> fitting(unsigned width, const std::vector<std::size_t>& widths) const;

    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace holdfast::cli
