// "Did you mean …?"
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace holdfast {

/// How many letters must be put in, taken out, replaced or swapped with their neighbour to make one
/// word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate that somebody who wrote `word` most likely meant; none when nothing is near.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

}  // namespace holdfast
