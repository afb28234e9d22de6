#include "told.h"

#include <charconv>

namespace holdfast::chaos {
namespace {

/// Takes the next word off `line`.
std::string_view word(std::string_view& line) {
    const std::string_view found = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), found.size() + 1));
    return found;
}

template <class T>
bool number(std::string_view& line, T& value) {
    const std::string_view text = word(line);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string to_line(const Told& told) {
    std::string line = std::to_string(static_cast<int>(told.what));
    line.append(1, ' ').append(told.id.text());
    line.append(1, ' ').append(to_string(told.event));
    line.append(1, ' ').append(to_string(told.state));
    line.append(1, ' ').append(std::to_string(told.attempt));
    line.append(1, ' ').append(std::to_string(static_cast<std::int64_t>(told.epoch)));
    line.append(1, ' ').append(std::to_string(told.version));
    return line.append(1, ' ').append(told.text).append(1, '\n');
}

std::optional<Told> read_line(std::string_view line) {
    Told told;
    int what = 0;
    std::int64_t epoch = 0;
    if (!number(line, what)) return std::nullopt;
    const auto id = Uuid::parse(word(line));
    const auto event = domain::event_from(word(line));
    const auto state = domain::state_from(word(line));
    if (!id || !number(line, told.attempt) || !number(line, epoch) || !number(line, told.version))
        return std::nullopt;
    told.what = static_cast<Told::What>(what);
    told.id = *id;
    told.event = event.value_or(domain::Event::none);
    told.state = state.value_or(domain::State::none);
    told.epoch = domain::Epoch{epoch};
    told.text = line;
    return told;
}

}  // namespace holdfast::chaos
