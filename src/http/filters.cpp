#include "http/filters.h"

#include <algorithm>
#include <charconv>

namespace holdfast::http {
namespace {

constexpr std::size_t kMostIds = 200;  ///< In one address.

Result<> read_states(std::string_view list, std::vector<domain::State>& states) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        const auto state = domain::state_from(list.substr(0, end));
        if (!state || *state == domain::State::none) {
            std::string names;
            for (const std::string_view name : domain::kStateNames) {
                if (name != "none") names.append(names.empty() ? "" : ", ").append(name);
            }
            return invalid("state", "must be one of " + names);
        }
        states.push_back(*state);
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return {};
}

Result<std::uint64_t> read_fingerprint(std::string_view text) {
    std::uint64_t value = 0;
    if (text.empty()) return value;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc{} || end != text.data() + text.size())
        return invalid("fingerprint", "must be hexadecimal");
    return value;
}

/// Those that are meant by the line as well, if it names any.
Result<> read_ids(std::string_view list, engine::Search& search) {
    std::vector<Uuid> ids;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        auto id = Uuid::parse(list.substr(0, end));
        if (!id) return invalid("ids", id.error().detail);
        if (ids.size() == kMostIds) return invalid("ids", "has more than 200 entries");
        ids.push_back(*id);
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    if (!search.ids.empty())
        std::erase_if(ids, [&](const Uuid& id) {
            return std::ranges::find(search.ids, id) == search.ids.end();
        });
    search.nothing = search.nothing || ids.empty();
    search.ids = std::move(ids);
    return {};
}

Result<Time> read_time(std::string_view name, const std::string& text) {
    auto time = parse_time(text);
    if (!time) return invalid(name, time.error().detail);
    return *time;
}

}  // namespace

Result<stores::Filter> filter_of(const Call& call) {
    stores::Filter filter;
    for (const auto& [name, value] : call.query) {
        if (name == "state") {
            TRY_VOID(read_states(value, filter.states));
        } else if (name == "queue") {
            filter.queue = value;
        } else if (name == "type") {
            filter.type = value;
        } else if (name == "tenant") {
            filter.tenant = value;
        } else if (name == "label") {
            filter.labels.push_back(value);
        } else if (name == "since") {
            TRY(filter.since, read_time(name, value));
        } else if (name == "until") {
            TRY(filter.until, read_time(name, value));
        } else if (name == "fingerprint") {
            TRY(filter.fingerprint, read_fingerprint(value));
        }
    }
    return filter;
}

Result<stores::Filter> filter_of(Fields fields) {
    stores::Filter filter;
    TRY(const auto states, fields.texts("state"));
    for (const std::string& state : states) TRY_VOID(read_states(state, filter.states));
    TRY(filter.queue, fields.text("queue"));
    TRY(filter.type, fields.text("type"));
    TRY(filter.tenant, fields.text("tenant"));
    TRY(filter.labels, fields.texts("label"));
    TRY(filter.since, fields.time("since"));
    TRY(filter.until, fields.time("until"));
    TRY(const std::string fingerprint, fields.text("fingerprint"));
    TRY(filter.fingerprint, read_fingerprint(fingerprint));
    TRY_VOID(fields.nothing_left());
    return filter;
}

Result<engine::Search> search_of(const Call& call, domain::State only) {
    TRY(engine::Search search, filter_of(call));
    if (only != domain::State::none) search.filter.states = {only};
    for (const auto& [name, value] : call.query) {
        if (name == "q") {
            TRY_VOID(narrow(search, value, call.engine().now()));
        } else if (name == "ids") {
            TRY_VOID(read_ids(value, search));
        }
    }
    return search;
}

Result<std::uint64_t> fingerprint_of(std::string_view text) {
    TRY(const std::uint64_t fingerprint, read_fingerprint(text));
    if (fingerprint == 0) return invalid("fingerprint", "must be hexadecimal, and not 0");
    return fingerprint;
}

std::string fingerprint_text(std::uint64_t fingerprint) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), fingerprint, 16);
    return {digits.data(), end.ptr};
}

}  // namespace holdfast::http
