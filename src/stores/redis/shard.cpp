#include "stores/redis/shard.h"

#include <algorithm>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include "domain/decide.h"
#include "stores/redis/codec.h"

namespace holdfast::stores::redis {
namespace {

using asio::experimental::awaitable_operators::operator&&;

/// What each of the answers of a script means; its first element is the time.
template <class Answer, class Decode>
std::vector<Result<Answer>> decode_answers(const Reply& reply, Decode decode) {
    std::vector<Result<Answer>> answers;
    bool is_time = true;
    for (const Value answer : reply.root()) {
        if (!std::exchange(is_time, false)) answers.push_back(decode(answer));
    }
    return answers;
}

Result<std::vector<Record>> decode_records(Value answer) {
    std::vector<Record> records;
    records.reserve(answer.size());
    for (const Value item : answer) {
        TRY(Record record, decode_record(item));
        records.push_back(std::move(record));
    }
    return records;
}

Result<Renewed> decode_renewed(Value answer) {
    Renewed renewed;
    if (answer.size() != 2) return renewed;
    renewed.held = true;
    renewed.lease_until = time_at(answer[0].integer());
    renewed.cancel_requested = (answer[1].integer() & 1) != 0;
    renewed.pause_requested = (answer[1].integer() & 2) != 0;
    return renewed;
}

Result<std::optional<Record>> decode_loaded(Value answer) {
    if (!answer.is_array()) return std::nullopt;
    TRY(Record record, decode_record(answer));
    return record;
}

bool is_out_of_memory(const Error& error) {
    return error.detail.contains("OOM ");
}

std::string_view shortage() {
    return "the memory of Redis, which is used up (maxmemory)";
}

}  // namespace

Shard::Shard(const Surroundings& around, std::string prefix)
    : around_(around),
      prefix_(std::move(prefix)),
      commits_(around.executor, around.group,
               [this](auto changes) { return send_commits(std::move(changes)); }),
      claims_(around.executor, around.group,
              [this](auto requests) { return send_claims(std::move(requests)); }),
      renewals_(around.executor, around.group,
                [this](auto renewals) { return send_renewals(std::move(renewals)); }),
      loads_(around.executor, around.group,
             [this](auto refs) { return send_loads(std::move(refs)); }) {}

std::string Shard::dlq() const {
    if (around_.dlq.empty() || !around_.dlq_per_partition) return around_.dlq;
    return prefix_ + around_.dlq;
}

Async<Result<Reply>> Shard::run(const holdfast::redis::Script* script,
                                std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), std::to_string(floor_));
    CO_TRY(Reply reply, co_await around_.client.run(*script, prefix_, std::move(arguments)));
    if (!reply.root().is_array() || reply.root().size() == 0)
        co_return refuse(Code::unavailable,
                         "script " + std::string(script->name()) + " gave no answer");
    floor_ = std::max(floor_, reply.root()[0].integer());
    co_return reply;
}

Async<Result<Reply>> Shard::call(std::string name, Command command) {
    const std::string whole = key(name);
    co_return co_await around_.client.call(whole, std::move(command));
}

Async<Result<Time>> Shard::clock() {
    CO_TRY(const Reply reply, co_await around_.client.call(prefix_, Command("TIME")));
    const std::int64_t seconds = reply.root()[0].integer();
    floor_ = std::max(floor_, seconds * 1'000'000 + reply.root()[1].integer());
    co_return time_at(floor_);
}

// ---- commit ----

Async<Shard::Commits::Answers> Shard::send_commits(std::vector<EncodedChange> changes) {
    const std::uint64_t servers = around_.servers;
    std::vector<std::string> arguments{std::to_string(around_.manner.reclaim_idle.count()), dlq()};
    for (const EncodedChange& change : changes) arguments.push_back(change.bytes);
    const bool creates = std::ranges::any_of(changes, &EncodedChange::creates);
    auto reply = co_await run(creates ? around_.scripts.commit : around_.scripts.commit_full,
                              std::move(arguments));
    if (!reply && creates && is_out_of_memory(reply.error()))
        co_return co_await send_where_memory_is_short(std::move(changes));
    if (!reply) co_return std::unexpected(std::move(reply).error());
    CO_TRY_VOID(co_await await_durable(servers));
    auto outcomes = decode_answers<Outcome>(*reply, decode_outcome);
    while (outcomes.size() < changes.size())
        outcomes.emplace_back(refuse(Code::unavailable, "not tried: a commit before it stopped"));
    co_return outcomes;
}

/// What is under way may end; new work is turned away, and nothing of it was written.
Async<Shard::Commits::Answers> Shard::send_where_memory_is_short(
    std::vector<EncodedChange> changes) {
    Outcome turned_away;
    turned_away.verdict = Verdict::refused;
    turned_away.reason = shortage();
    std::vector<Result<Outcome>> outcomes(changes.size(), turned_away);
    std::vector<std::size_t> places;
    std::vector<EncodedChange> others;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        if (changes[i].creates) continue;
        places.push_back(i);
        others.push_back(std::move(changes[i]));
    }
    if (others.empty()) co_return outcomes;
    CO_TRY(auto answers, co_await send_commits(std::move(others)));
    for (std::size_t i = 0; i < places.size(); ++i) outcomes[places[i]] = std::move(answers[i]);
    co_return outcomes;
}

/// WAIT speaks of what its own connection wrote: so a write goes right before it, behind which the commit stands in the
/// order of replication whatever connection it took.
Async<Result<>> Shard::await_durable(std::uint64_t servers) {
    if (around_.wait_replicas == 0 && around_.wait_fsyncs == 0) co_return Result<>{};
    const std::int64_t timeout = around_.wait_timeout.count() / 1000;
    Command wait = around_.wait_fsyncs > 0
                       ? Command("WAITAOF", around_.wait_fsyncs, around_.wait_replicas, timeout)
                       : Command("WAIT", around_.wait_replicas, timeout);
    auto [marked, waited] = co_await (call("waiting", Command("SET", key("waiting"), "1")) &&
                                      call("waiting", std::move(wait)));
    if (!marked) co_return std::unexpected(marked.error());
    if (!waited) co_return std::unexpected(waited.error());
    const Value answer = waited->root();
    const bool on_disk = around_.wait_fsyncs == 0 || answer[0].integer() >= around_.wait_fsyncs;
    const std::int64_t replicas = around_.wait_fsyncs > 0 ? answer[1].integer() : answer.integer();
    if (!on_disk)
        co_return refuse(Code::unavailable, "the commit is not known to be on the disk of Redis");
    if (replicas < around_.wait_replicas)
        co_return refuse(Code::unavailable, "the commit is on " + std::to_string(replicas) +
                                                " replicas of Redis, and should be on " +
                                                std::to_string(around_.wait_replicas));
    if (servers != around_.servers)
        co_return refuse(Code::unavailable, "another server took over during the commit");
    co_return Result<>{};
}

// ---- claim, renew, load ----

Async<std::vector<Result<std::vector<Record>>>> Shard::claim(const ClaimRequest& request,
                                                             std::uint32_t max) {
    std::vector<Text> one;
    one.push_back({encode_claim(request, max, around_.manner), max});
    return claims_.ask(std::move(one));
}

Async<Shard::Claims::Answers> Shard::send_claims(std::vector<Text> requests) {
    std::vector<std::string> arguments{around_.consumer,
                                       std::to_string(domain::kDefaultLease.count())};
    for (Text& request : requests) arguments.push_back(std::move(request.bytes));
    CO_TRY(const Reply reply, co_await run(around_.scripts.claim, std::move(arguments)));
    auto answers = decode_answers<std::vector<Record>>(reply, decode_records);
    has_work = std::ranges::any_of(answers, [](const auto& a) { return a && !a->empty(); });
    co_return answers;
}

Async<std::vector<Result<Renewed>>> Shard::renew(std::vector<std::string> renewals) {
    std::vector<Text> items;
    items.reserve(renewals.size());
    for (std::string& renewal : renewals) items.push_back({std::move(renewal)});
    return renewals_.ask(std::move(items));
}

Async<Shard::Renewals::Answers> Shard::send_renewals(std::vector<Text> renewals) {
    std::vector<std::string> arguments;
    arguments.reserve(renewals.size());
    for (Text& renewal : renewals) arguments.push_back(std::move(renewal.bytes));
    CO_TRY(const Reply reply, co_await run(around_.scripts.renew, std::move(arguments)));
    co_return decode_answers<Renewed>(reply, decode_renewed);
}

Async<std::vector<Result<std::optional<Record>>>> Shard::load(std::vector<std::string> refs) {
    std::vector<Text> items;
    items.reserve(refs.size());
    for (std::string& ref : refs) items.push_back({std::move(ref)});
    return loads_.ask(std::move(items));
}

Async<Shard::Loads::Answers> Shard::send_loads(std::vector<Text> refs) {
    std::vector<std::string> arguments;
    arguments.reserve(refs.size());
    for (Text& ref : refs) arguments.push_back(std::move(ref.bytes));
    CO_TRY(const Reply reply, co_await run(around_.scripts.load, std::move(arguments)));
    co_return decode_answers<std::optional<Record>>(reply, decode_loaded);
}

}  // namespace holdfast::stores::redis
