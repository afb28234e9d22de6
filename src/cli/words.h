// How the command line speaks: what is safe to print, how wide it is, what was probably meant.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.h"

namespace holdfast::cli {

/// Text of somebody else on a terminal: control characters (which may move its cursor, or worse) become visible.
std::string printable(std::string_view text);

/// In columns of a terminal: East Asian wide characters take two.
std::size_t display_width(std::string_view text);

/// The known word nearest to `word`, or empty when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// Colours belong on a terminal, and only if nobody said otherwise (NO_COLOR, TERM=dumb).
bool use_colour(const Io& io, bool is_terminal);

/// The beginning of a complaint: "✕ ", red on a terminal; "holdfast: " elsewhere.
std::string mark(const Io& io);

}  // namespace holdfast::cli
