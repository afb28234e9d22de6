#include "config/presets.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/nearest.h"
#include "config/values.h"

namespace holdfast::config {
namespace {

using domain::Policy;
using domain::Preset;
using Kind = Entry::Kind;

constexpr std::string_view kTables = "presets are tables like [presets.patient]";

Result<> read_duration(const Entry& entry, Duration& into) {
    if (entry.kind != Kind::text) return bad("must be a duration as text, like \"30s\"");
    TRY(into, parse_duration(entry.text));
    return {};
}

Result<> read_real(const Entry& entry, double& into) {
    if (entry.kind != Kind::whole && entry.kind != Kind::real) return bad("must be a number");
    const std::string& text = entry.text;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (ec != std::errc{} || end != text.data() + text.size()) return bad("must be a number");
    return {};
}

Result<> read_max(const Entry& entry, Policy& policy) {
    const std::string& text = entry.text;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), policy.max);
    if (entry.kind != Kind::whole || ec != std::errc{} || end != text.data() + text.size())
        return bad("must be a whole number between 0 and 1000");
    return {};
}

Result<> read_schedule(const Entry& entry, Policy& policy) {
    if (entry.kind != Kind::texts || entry.texts.empty())
        return bad(R"(must be a list of durations, like ["1m", "5m"])");
    policy.backoff.schedule.clear();
    for (const std::string& text : entry.texts) {
        TRY(policy.backoff.schedule.emplace_back(), parse_duration(text));
    }
    return {};
}

/// One of two words; the second one is the enum's second value.
template <class Enum>
Result<> read_either(const Entry& entry, std::string_view first, std::string_view second,
                     Enum& into) {
    if (entry.kind != Kind::text || (entry.text != first && entry.text != second))
        return bad("must be \"" + std::string(first) + "\" or \"" + std::string(second) + '"');
    into = static_cast<Enum>(entry.text == second ? 1 : 0);
    return {};
}

Result<> read_key(const Entry& entry, Policy& policy) {
    const std::string& key = entry.path.back();
    if (key == "max") return read_max(entry, policy);
    if (key == "schedule") return read_schedule(entry, policy);
    if (key == "base") return read_duration(entry, policy.backoff.base);
    if (key == "factor") return read_real(entry, policy.backoff.factor);
    if (key == "max_delay") return read_duration(entry, policy.backoff.max);
    if (key == "jitter") return read_real(entry, policy.backoff.jitter);
    if (key == "on_exhausted") return read_either(entry, "suspend", "fail", policy.on_exhausted);
    if (key == "on_timeout") return read_either(entry, "suspend", "fail", policy.on_timeout);
    if (key == "on_outage") return read_either(entry, "count", "hold", policy.on_outage);
    if (key == "timeout") return read_duration(entry, policy.timeout);
    std::vector<std::string_view> known;
    for (const PresetKey& k : preset_keys()) known.push_back(k.name);
    const auto meant = nearest(key, known);
    return bad("is not a key of a preset" +
               (meant ? "; did you mean " + std::string(*meant) + '?' : std::string()));
}

/// Its names for fields are those of a submission.
std::string_view key_of(std::string_view field) {
    constexpr std::string_view kBackoff = "retry.policy.";
    if (field == "retry.policy.max") return "max_delay";
    if (field == "retry.max") return "max";
    return field.starts_with(kBackoff) ? field.substr(kBackoff.size()) : field;
}

bool is_exponential(const std::vector<const Entry*>& entries) {
    return std::ranges::any_of(entries, [](const Entry* e) {
        const std::string& key = e->path.back();
        return key == "base" || key == "factor" || key == "max_delay";
    });
}

const Entry* entry_of(const std::vector<const Entry*>& entries, std::string_view key) {
    const auto found =
        std::ranges::find_if(entries, [&](const Entry* e) { return e->path.back() == key; });
    return found == entries.end() ? entries.front() : *found;
}

/// Without a problem when it ends as it began.
void read_preset(const std::string& name, const std::vector<const Entry*>& entries,
                 ReadPresets& read) {
    Preset preset{name, {}};
    const std::size_t problems = read.problems.size();
    const auto complain = [&](const Entry& entry, const std::string& problem) {
        read.problems.push_back(entry.where + ": " + entry.name() + ": " + problem);
    };
    if (is_exponential(entries)) preset.policy.backoff = {};
    for (const Entry* entry : entries) {
        if (entry->kind == Kind::table && entry->path.size() == 2) continue;
        if (entry->path.size() != 3) {
            complain(*entry, std::string(kTables));
        } else if (auto result = read_key(*entry, preset.policy); !result) {
            complain(*entry, result.error().detail);
        }
    }
    if (read.problems.size() != problems) return;
    if (is_exponential(entries) && !preset.policy.backoff.schedule.empty()) {
        complain(*entry_of(entries, "schedule"),
                 "must not stand beside base, factor and max_delay");
    } else if (auto result = domain::check_own_presets({preset}); !result) {
        const std::string_view field = std::string_view(result.error().field);
        const std::size_t prefix = std::min(field.size(), name.size() + 1);
        const std::string_view detail = result.error().detail;
        complain(*entry_of(entries, key_of(field.substr(prefix))),
                 std::string(detail.substr(detail.find(": ") + 2)));
    }
    read.presets.push_back(std::move(preset));
    read.sources.push_back(entries.front()->where);
}

}  // namespace

const std::vector<PresetKey>& preset_keys() {
    static const std::vector<PresetKey> keys{
        {"max", "0 to 1000", "So many failures park the task; 0: only a deadline ends it."},
        {"schedule", "list of durations",
         "The delay after each failure; the last value repeats. Not beside base, factor and "
         "max_delay."},
        {"base", "duration", "Exponential delays: the first one."},
        {"factor", "1 to 100", "Exponential delays: each is so many times the one before."},
        {"max_delay", "duration", "Exponential delays: the longest."},
        {"jitter", "0 to 1", "The part of a delay that chance may take away."},
        {"on_exhausted", "suspend, fail", "Where a task ends that used up its attempts."},
        {"on_timeout", "suspend, fail", "Where a task ends whose time is over."},
        {"on_outage", "count, hold",
         "Whether failures of kind dependency_down use up attempts (count) or not (hold)."},
        {"timeout", "duration", "The time that the whole task has."},
    };
    return keys;
}

ReadPresets read_presets(const std::vector<Entry>& entries) {
    ReadPresets read;
    std::map<std::string, std::vector<const Entry*>> tables;
    for (const Entry& entry : entries) {
        if (entry.path.front() != "presets") continue;
        if (entry.path.size() > 1)
            tables[entry.path[1]].push_back(&entry);
        else if (entry.kind != Kind::table)
            read.problems.push_back(entry.where + ": presets: " + std::string(kTables));
    }
    for (const auto& [name, table] : tables) read_preset(name, table, read);
    if (!read.problems.empty()) return read;
    if (auto result = domain::check_own_presets(read.presets); !result)
        read.problems.push_back(read.sources.front() + ": " + result.error().detail);
    return read;
}

}  // namespace holdfast::config
