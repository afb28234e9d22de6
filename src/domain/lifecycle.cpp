#include "domain/lifecycle.h"

namespace holdfast::domain {
namespace {

template <class Enum, std::size_t kCount>
std::optional<Enum> find_name(const std::array<std::string_view, kCount>& names,
                              std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::optional<State> state_from(std::string_view name) {
    return find_name<State>(kStateNames, name);
}

std::optional<Event> event_from(std::string_view name) {
    return find_name<Event>(kEventNames, name);
}

}  // namespace holdfast::domain
