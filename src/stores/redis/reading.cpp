// stats, history, log and count.
#include <charconv>
#include <map>

#include "stores/redis/codec.h"
#include "stores/redis/inside.h"

namespace holdfast::stores {
namespace {

using holdfast::redis::Command;
using holdfast::redis::Reply;
using holdfast::redis::Value;
using redis::Shard;

template <class Number>
Number number_of(std::string_view text, int base = 10) {
    Number number{};
    std::from_chars(text.data(), text.data() + text.size(), number, base);
    return number;
}

using Fields = std::vector<std::pair<std::string, std::string>>;

Async<Result<Fields>> read_hash(Shard* shard, std::string name) {
    CO_TRY(const Reply reply, co_await shard->call(name, Command("HGETALL", shard->key(name))));
    Fields fields;
    for (bool is_name = true; const Value word : reply.root()) {
        if (is_name)
            fields.emplace_back(word.text(), "");
        else
            fields.back().second = word.text();
        is_name = !is_name;
    }
    co_return fields;
}

/// "<name>|<state>" of a field, and the place that its number is added to.
template <class Counts>
std::uint64_t* place_in(Counts& counts, std::string_view state) {
    const auto known = domain::state_from(state);
    return known ? &counts.by_state.at(static_cast<std::size_t>(*known)) : nullptr;
}

using ByFamily = std::map<std::pair<std::string, std::string>, QueueCounts>;
void add_counts(ByFamily& families, const Fields& fields) {
    for (const auto& [field, n] : fields) {
        const std::size_t type = field.find('|');
        const std::size_t state = field.rfind('|');
        if (type == std::string::npos || type == state) continue;
        std::pair family(field.substr(0, type), field.substr(type + 1, state - type - 1));
        QueueCounts& row = families.try_emplace(family, family.first, family.second).first->second;
        if (auto* const place = place_in(row, std::string_view(field).substr(state + 1)))
            *place += number_of<std::uint64_t>(n);
    }
}

void add_failures(std::map<std::uint64_t, FailureCounts>& failures, const Fields& fields) {
    for (const auto& [field, n] : fields) {
        const std::size_t state = field.find('|');
        if (state == std::string::npos) continue;
        const auto fingerprint = number_of<std::uint64_t>(field.substr(0, state), 16);
        FailureCounts& row = failures.try_emplace(fingerprint, fingerprint).first->second;
        if (auto* const place = place_in(row, std::string_view(field).substr(state + 1)))
            *place += number_of<std::uint64_t>(n);
    }
}

using Since = std::map<std::string, Time>;

/// The queues of one shard that count queued tasks.
Async<Result<Since>> oldest_of(Shard* shard, const redis::Scripts* scripts, const Fields* counts) {
    constexpr std::size_t kQueuesPerCall = 32;
    Since since;
    ByFamily families;
    add_counts(families, *counts);
    for (const auto& [family, row] : families) {
        if (row.by_state[static_cast<std::size_t>(State::queued)] > 0) since[family.first];
    }
    for (auto first = since.begin(); first != since.end();) {
        std::vector<std::string> arguments{std::to_string(kOldestLanes)};
        auto last = first;
        for (; last != since.end() && arguments.size() <= kQueuesPerCall; ++last)
            arguments.push_back(last->first);
        CO_TRY(const Reply reply, co_await shard->run(scripts->oldest, std::move(arguments)));
        for (std::size_t i = 1; first != last; ++first, ++i)
            first->second = Time{Duration{number_of<std::int64_t>(reply.root()[i].text())}};
    }
    co_return since;
}

std::string record_name(const Key& key) {
    return std::string(domain::to_string(key.kind)) + ':' + key.id.text();
}

}  // namespace

Async<Result<Stats>> RedisStore::stats() {
    CO_TRY(const auto counts, co_await inside_->of_each<Fields>(
                                  [](Shard& shard) { return read_hash(&shard, "counts"); }));
    CO_TRY(const auto failures, co_await inside_->of_each<Fields>(
                                    [](Shard& shard) { return read_hash(&shard, "failures"); }));
    ByFamily by_family;
    for (const Fields& of_shard : counts) add_counts(by_family, of_shard);
    std::map<std::uint64_t, FailureCounts> by_fingerprint;
    for (const Fields& of_shard : failures) add_failures(by_fingerprint, of_shard);
    std::size_t next = 0;  // of_each asks them in their order
    CO_TRY(const auto oldest, co_await inside_->of_each<Since>([&](Shard& shard) {
        return oldest_of(&shard, &inside_->scripts, &counts[next++]);
    }));
    Since since;
    for (const Since& of_shard : oldest) {
        for (const auto& [queue, at] : of_shard) since[queue] = earlier(since[queue], at);
    }
    Stats stats;
    for (const auto& [queue, at] : since) {
        if (is_set(at)) stats.oldest.push_back({queue, at});
    }
    for (auto& [family, row] : by_family) stats.queues.push_back(std::move(row));
    for (auto& [fingerprint, row] : by_fingerprint) stats.failures.push_back(row);
    co_return stats;
}

Async<Result<std::vector<domain::Transition>>> RedisStore::history(Key key) {
    CO_TRY(const Fields fields,
           co_await read_hash(&inside_->shard_of(key.id.partition()), record_name(key)));
    std::map<std::uint64_t, domain::Transition> rows;
    for (const auto& [field, bytes] : fields) {
        const auto version = number_of<std::uint64_t>(field);
        if (version == 0) continue;
        if (auto row = redis::decode_row(bytes)) rows.emplace(version, *std::move(row));
    }
    std::vector<domain::Transition> history;
    history.reserve(rows.size());
    for (auto& [version, row] : rows) history.push_back(std::move(row));
    co_return history;
}

Async<Result<std::vector<LogEntry>>> RedisStore::log(std::string log, Uuid owner, std::size_t skip,
                                                     std::size_t limit) {
    CO_TRY(const Fields fields,
           co_await read_hash(&inside_->shard_of(owner.partition()), "log:" + owner.text()));
    const std::string ours = redis::scoped_name(log, "");
    std::map<std::uint64_t, LogEntry> entries;
    for (const auto& [field, value] : fields) {
        if (!field.starts_with(ours)) continue;
        const std::size_t colon = value.find(':');
        entries[number_of<std::uint64_t>(value)] = {
            field.substr(ours.size()), Bytes(std::string_view(value).substr(colon + 1))};
    }
    std::vector<LogEntry> page;
    for (auto& [number, entry] : entries) {
        if (skip > 0)
            --skip;
        else if (page.size() < limit)
            page.push_back(std::move(entry));
    }
    co_return page;
}

Async<Result<std::vector<std::int64_t>>> RedisStore::count(std::vector<Tally> tallies) {
    std::map<Shard*, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < tallies.size(); ++i)
        places[&inside_->shard_of(tallies[i].partition)].push_back(i);
    std::vector<std::int64_t> counts(tallies.size());
    for (const auto& [shard, ours] : places) {
        std::vector<std::string> arguments;
        for (const std::size_t i : ours) {
            arguments.emplace_back(tallies[i].of == Tally::Of::permit ? "permit" : "counter");
            arguments.push_back(tallies[i].name);
        }
        CO_TRY(const Reply reply,
               co_await shard->run(inside_->scripts.tally, std::move(arguments)));
        for (std::size_t k = 0; k < ours.size(); ++k)
            counts[ours[k]] = reply.root()[k + 1].integer();
    }
    co_return counts;
}

}  // namespace holdfast::stores
