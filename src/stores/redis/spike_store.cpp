#include "stores/redis/spike_store.h"

#include <algorithm>
#include <charconv>

#include "domain/decide.h"
#include "stores/redis/codec.h"
#include "stores/redis/scripts.h"

namespace holdfast::stores {
namespace {

using namespace redis;

constexpr std::string_view kPrefix = "{p0}:";
constexpr std::string_view kConsumer = "spike";  // the real store's is its instance's id
constexpr std::size_t kScriptTasks = 64;         // more would keep other callers waiting too long
constexpr std::array<std::string_view, 5> kScripts{"commit", "claim", "renew", "due", "load"};

std::string redis_key(std::string_view name) {
    return std::string(kPrefix).append(name);
}

template <class Number>
Number number_of(std::string_view text) {
    Number number{};
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

Result<Record> record_of(const redisReply* reply) {
    if (reply->elements != 5) return refuse(Code::unavailable, "a script gave no record");
    const auto items = items_of(reply);
    auto header =
        decode_header(text_of(items[0]), text_of(items[1]), Time{Duration{items[2]->integer}});
    if (!header) return refuse(Code::unavailable, "a header cannot be read");
    return Record{*std::move(header), Bytes(text_of(items[3])), Bytes(text_of(items[4]))};
}

Result<std::vector<Record>> records_of(const redisReply* reply) {
    std::vector<Record> records;
    records.reserve(reply->elements);
    for (const redisReply* item : items_of(reply)) {
        TRY(Record record, record_of(item));
        records.push_back(std::move(record));
    }
    return records;
}

std::unexpected<Error> not_in_the_spike() {
    return refuse(Code::unavailable, "not in the spike");
}

}  // namespace

Result<std::unique_ptr<RedisSpike>> RedisSpike::open(std::uint16_t port) {
    TRY(Connection connection, Connection::open(port));
    std::unique_ptr<RedisSpike> store(new RedisSpike(std::move(connection)));
    TRY_VOID(store->load_scripts());
    return store;
}

Result<> RedisSpike::load_scripts() {
    // A header is one value: under the default limit of 64 bytes each record would be a hash table.
    TRY(const Reply limit, connection_.call({"CONFIG", "SET", "hash-max-listpack-value", "1024"}));
    for (const std::string_view name : kScripts) {
        const std::string text = std::string(lua_text("common")).append(lua_text(name));
        TRY(const Reply digest, connection_.call({"SCRIPT", "LOAD", text}));
        digests_.emplace(name, text_of(digest.get()));
    }
    return {};
}

Result<Reply> RedisSpike::run(std::string_view script,
                              std::span<const std::string_view> arguments) {
    std::vector<std::string_view> words{"EVALSHA", digests_.find(script)->second, "1", kPrefix};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return connection_.call(words);
}

// ---- commit ----

namespace {

Result<Outcome> outcome_of(const redisReply* reply) {
    Outcome outcome;
    if (reply->type == REDIS_REPLY_INTEGER) return outcome;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements == 0)
        return refuse(Code::unavailable, "commit stopped: " + std::string(text_of(reply)));
    const auto items = items_of(reply);
    outcome.verdict = static_cast<Verdict>(items[0]->integer);
    if (outcome.verdict == Verdict::committed) {
        for (const redisReply* place : items.subspan(1))
            outcome.skipped.push_back(static_cast<std::size_t>(place->integer));
        return outcome;
    }
    outcome.reason = items.size() > 1 ? text_of(items[1]) : "version";
    if (items.size() > 2) {
        constexpr std::size_t kIdSize = 36;
        const std::string_view bound = text_of(items[2]);
        TRY(outcome.bound_to, Uuid::parse(bound.substr(0, kIdSize)));
        std::ranges::copy_n(bound.begin() + kIdSize, std::ssize(outcome.bound_hash),
                            reinterpret_cast<char*>(outcome.bound_hash.data()));
    }
    return outcome;
}

bool is_of_one_partition(const Change& change) {
    return std::ranges::all_of(change.puts, [&](const domain::Put& put) {
        return put.header.id.partition() == change.partition;
    });
}

}  // namespace

Result<> RedisSpike::commit_some(std::span<const Change* const> changes,
                                 std::span<Outcome* const> outcomes) {
    std::vector<std::string> packed;
    packed.reserve(changes.size());
    for (const Change* change : changes) packed.push_back(encode_change(*change));
    const std::vector<std::string_view> arguments(packed.begin(), packed.end());
    TRY(const Reply reply, run("commit", arguments));
    for (std::size_t i = 0; i < reply->elements; ++i) {
        TRY(*outcomes[i], outcome_of(reply->element[i]));
    }
    if (reply->elements != changes.size()) return refuse(Code::unavailable, "commit stopped");
    return {};
}

Async<Result<std::vector<Outcome>>> RedisSpike::commit(std::vector<Change> changes) {
    std::vector<Outcome> outcomes(changes.size());
    std::vector<const Change*> sent;
    std::vector<Outcome*> answers;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        if (is_of_one_partition(changes[i])) {
            sent.push_back(&changes[i]);
            answers.push_back(&outcomes[i]);
        } else {
            outcomes[i].verdict = Verdict::refused;
            outcomes[i].reason = "partition";
        }
    }
    for (std::size_t first = 0; first < sent.size(); first += kScriptTasks) {
        const std::size_t size = std::min(kScriptTasks, sent.size() - first);
        CO_TRY_VOID(commit_some(std::span(sent).subspan(first, size),
                                std::span(answers).subspan(first, size)));
    }
    co_return outcomes;
}

// ---- claim, renew, due ----

Result<std::vector<Record>> RedisSpike::claim_some(const ClaimRequest& request) {
    const std::size_t max = std::min<std::size_t>(request.max, kScriptTasks);
    const std::array<std::string, 5> texts{std::to_string(static_cast<int>(request.to)),
                                           std::to_string(request.lease.count()),
                                           std::to_string(domain::kDefaultLease.count()),
                                           std::to_string(max), encode_queues(request.queues)};
    const std::array<std::string_view, 7> arguments{request.worker, texts[0],  texts[1], texts[2],
                                                    texts[3],       kConsumer, texts[4]};
    TRY(const Reply reply, run("claim", arguments));
    return records_of(reply.get());
}

Async<Result<std::vector<Record>>> RedisSpike::claim(ClaimRequest request) {
    std::vector<Record> claimed;
    if (request.queues.empty()) co_return claimed;
    const std::size_t first = turn_++ % request.queues.size();  // no queue starves behind another
    std::ranges::rotate(request.queues,
                        request.queues.begin() + static_cast<std::ptrdiff_t>(first));
    while (request.max > 0) {
        CO_TRY(std::vector<Record> some, claim_some(request));
        const bool is_all = some.size() < std::min<std::size_t>(request.max, kScriptTasks);
        request.max -= static_cast<std::uint32_t>(some.size());
        for (Record& record : some) {
            const auto queue =
                std::ranges::find(request.queues, record.header.queue, &ClaimQueue::name);
            if (queue != request.queues.end() && queue->max != UINT32_MAX) --queue->max;
            claimed.push_back(std::move(record));
        }
        if (is_all) break;
    }
    co_return claimed;
}

Async<Result<std::vector<Renewed>>> RedisSpike::renew(std::vector<Renewal> renewals) {
    std::vector<Renewed> answers;
    for (std::size_t first = 0; first < renewals.size(); first += kScriptTasks) {
        const auto begin = renewals.begin() + static_cast<std::ptrdiff_t>(first);
        const std::size_t size = std::min(kScriptTasks, renewals.size() - first);
        const std::string packed =
            encode_renewals({begin, begin + static_cast<std::ptrdiff_t>(size)});
        CO_TRY(const Reply reply, run("renew", std::array<std::string_view, 1>{packed}));
        for (const redisReply* item : items_of(reply.get())) {
            Renewed& answer = answers.emplace_back();
            if (item->elements != 2) continue;
            answer.held = true;
            answer.lease_until = Time{Duration{item->element[0]->integer}};
            answer.cancel_requested = (item->element[1]->integer & 1) != 0;
            answer.pause_requested = (item->element[1]->integer & 2) != 0;
        }
    }
    co_return answers;
}

Async<Result<std::vector<Record>>> RedisSpike::due(std::size_t limit) {
    std::vector<Record> rung;
    const std::string push = std::to_string(kDuePush.count());
    while (rung.size() < limit) {
        const std::size_t asked = std::min(kScriptTasks, limit - rung.size());
        CO_TRY(const Reply reply,
               run("due", std::array<std::string_view, 2>{std::to_string(asked), push}));
        CO_TRY(std::vector<Record> some, records_of(reply.get()));
        const bool is_all = some.size() < asked;
        std::ranges::move(some, std::back_inserter(rung));
        if (is_all) break;
    }
    co_return rung;
}

// ---- reading ----

Async<Result<std::vector<std::optional<Record>>>> RedisSpike::load(std::vector<Key> keys) {
    std::vector<std::optional<Record>> records;
    records.reserve(keys.size());
    for (std::size_t first = 0; first < keys.size(); first += kScriptTasks) {
        std::vector<std::string> refs;
        for (std::size_t i = first; i < std::min(first + kScriptTasks, keys.size()); ++i)
            refs.push_back(ref_of(keys[i]));
        CO_TRY(const Reply reply,
               run("load", std::vector<std::string_view>(refs.begin(), refs.end())));
        for (const redisReply* item : items_of(reply.get())) {
            auto& record = records.emplace_back();
            if (item->type != REDIS_REPLY_ARRAY) continue;
            CO_TRY(record, record_of(item));
        }
    }
    co_return records;
}

Async<Result<Page>> RedisSpike::list(Filter, std::string, std::size_t, std::size_t) {
    co_return not_in_the_spike();
}

Async<Result<std::size_t>> RedisSpike::trim(TrimRequest) {
    co_return not_in_the_spike();
}

Result<std::vector<std::pair<std::string, std::string>>> RedisSpike::hash(const std::string& key) {
    TRY(const Reply reply, connection_.call({"HGETALL", key}));
    std::vector<std::pair<std::string, std::string>> fields;
    for (std::size_t i = 0; i + 1 < reply->elements; i += 2)
        fields.emplace_back(text_of(reply->element[i]), text_of(reply->element[i + 1]));
    return fields;
}

Async<Result<Stats>> RedisSpike::stats() {
    Stats stats;
    CO_TRY(const auto counts, hash(redis_key("counts")));
    std::map<std::pair<std::string, std::string>, QueueCounts> by_family;
    for (const auto& [field, n] : counts) {
        const std::size_t type = field.find('|');
        const std::size_t state = field.rfind('|');
        const auto family =
            std::pair(field.substr(0, type), field.substr(type + 1, state - type - 1));
        auto& row = by_family.try_emplace(family, family.first, family.second).first->second;
        row.by_state.at(number_of<std::size_t>(field.substr(state + 1))) =
            number_of<std::uint64_t>(n);
    }
    for (auto& [family, row] : by_family) stats.queues.push_back(std::move(row));
    CO_TRY(const auto failures, hash(redis_key("failures")));
    std::map<std::uint64_t, FailureCounts> by_fingerprint;
    for (const auto& [field, n] : failures) {
        const std::size_t state = field.find('|');
        std::uint64_t fingerprint = 0;
        std::from_chars(field.data(), field.data() + state, fingerprint, 16);
        auto& row = by_fingerprint.try_emplace(fingerprint, fingerprint).first->second;
        row.by_state.at(number_of<std::size_t>(field.substr(state + 1))) =
            number_of<std::uint64_t>(n);
    }
    for (auto& [fingerprint, row] : by_fingerprint) stats.failures.push_back(row);
    co_return stats;
}

Async<Result<std::vector<domain::Transition>>> RedisSpike::history(Key key) {
    CO_TRY(const auto fields, hash(redis_key("h" + ref_of(key))));
    std::map<std::uint64_t, domain::Transition> rows;
    for (const auto& [field, bytes] : fields) {
        const auto version = number_of<std::uint64_t>(field);
        if (version == 0) continue;
        if (auto row = decode_row(bytes)) rows.emplace(version, *std::move(row));
    }
    std::vector<domain::Transition> history;
    history.reserve(rows.size());
    for (auto& [version, row] : rows) history.push_back(std::move(row));
    co_return history;
}

Async<Result<std::vector<LogEntry>>> RedisSpike::log(std::string log, Uuid owner, std::size_t skip,
                                                     std::size_t limit) {
    CO_TRY(const auto fields, hash(redis_key("g:" + owner.text())));
    const std::string ours = scoped_name(log, "");
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

/// A cursor is "<entry>+<events of it that were read>". The entries of the spike are never trimmed.
Async<Result<FeedPage>> RedisSpike::feed(std::string cursor, std::size_t limit) {
    FeedPage page;
    const std::string stream = redis_key("feed");
    if (cursor == "now") {
        CO_TRY(const Reply last, connection_.call({"XREVRANGE", stream, "+", "-", "COUNT", "1"}));
        page.next =
            last->elements == 0 ? "0-1+0" : std::string(text_of(last->element[0]->element[0]));
        if (last->elements > 0) page.next += "+" + std::to_string(SIZE_MAX);
        co_return page;
    }
    const std::size_t plus = cursor.find('+');
    std::string entry = cursor.empty() ? "0-1" : cursor.substr(0, plus);
    std::size_t read = cursor.empty() ? 0 : number_of<std::size_t>(cursor.substr(plus + 1));
    CO_TRY(const Reply entries,
           connection_.call({"XRANGE", stream, entry, "+", "COUNT",
                             std::to_string(std::min<std::size_t>(limit, 1000) + 1)}));
    for (const redisReply* item : items_of(entries.get())) {
        if (page.events.size() >= limit) break;
        if (text_of(item->element[0]) != entry) {
            entry = text_of(item->element[0]);
            read = 0;
        }
        auto events = decode_events(text_of(item->element[1]->element[1]));
        for (; read < events.size() && page.events.size() < limit; ++read)
            page.events.push_back(std::move(events[read]));
    }
    page.next = entry + '+' + std::to_string(read);
    co_return page;
}

Result<std::int64_t> RedisSpike::count_one(const Tally& tally, Time now) {
    if (tally.of == Tally::Of::permit) {
        const std::string after = "(" + std::to_string(now.time_since_epoch().count());
        TRY(const Reply held,
            connection_.call({"ZCOUNT", redis_key("permit:" + tally.name), after, "+inf"}));
        return held->integer;
    }
    TRY(const Reply value, connection_.call({"HGET", redis_key("counters"), tally.name}));
    return number_of<std::int64_t>(text_of(value.get()));
}

Async<Result<std::vector<std::int64_t>>> RedisSpike::count(std::vector<Tally> tallies) {
    std::vector<std::int64_t> counts;
    CO_TRY(const Time now, server_time());
    for (const Tally& tally : tallies) {
        CO_TRY(const std::int64_t n, count_one(tally, now));
        counts.push_back(n);
    }
    co_return counts;
}

Result<Time> RedisSpike::server_time() {
    TRY(const Reply time, connection_.call({"TIME"}));
    const auto seconds = number_of<std::int64_t>(text_of(time->element[0]));
    return Time{std::chrono::seconds{seconds} +
                Duration{number_of<std::int64_t>(text_of(time->element[1]))}};
}

Async<Result<Time>> RedisSpike::clock() {
    co_return server_time();
}

}  // namespace holdfast::stores
