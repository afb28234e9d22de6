// commit, claim, renew and due.
#include <algorithm>
#include <map>
#include <numeric>

#include "stores/redis/codec.h"
#include "stores/redis/inside.h"

namespace holdfast::stores {
namespace {

using holdfast::redis::Reply;
using holdfast::redis::Value;
using redis::Shard;

bool is_of_one_partition(const Change& change) {
    return std::ranges::all_of(change.puts, [&](const domain::Put& put) {
        return put.header.id.partition() == change.partition;
    });
}

/// What is asked of one shard, and where its answers belong.
template <class Item>
struct Share {
    std::vector<Item> items;
    std::vector<std::size_t> places;
};

/// Hands each item to its shard and puts the answers back in order.
template <class Answer, class Item, class Ask>
Async<Result<std::vector<Answer>>> ask_shards(asio::any_io_executor executor, TaskGroup* group,
                                              std::map<Shard*, Share<Item>> shares,
                                              std::vector<Answer> answers, Ask ask) {
    std::vector<Async<std::vector<Result<Answer>>>> works;
    works.reserve(shares.size());
    for (auto& [shard, share] : shares) works.push_back(ask(*shard, std::move(share.items)));
    auto all = co_await redis::gather(executor, group, std::move(works));
    std::size_t i = 0;
    for (const auto& [shard, share] : shares) {
        for (std::size_t k = 0; k < share.places.size(); ++k) {
            CO_TRY(answers[share.places[k]], std::move(all[i][k]));
        }
        ++i;
    }
    co_return answers;
}

}  // namespace

Async<Result<std::vector<Outcome>>> RedisStore::commit(std::vector<Change> changes) {
    std::vector<Outcome> outcomes(changes.size());
    std::map<Shard*, Share<redis::EncodedChange>> shares;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        if (!is_of_one_partition(changes[i])) {
            outcomes[i].verdict = Verdict::refused;
            outcomes[i].reason = "partition";
            continue;
        }
        auto& share = shares[&inside_->shard_of(changes[i].partition)];
        share.items.push_back(redis::encode_change(changes[i], inside_->around.manner));
        share.places.push_back(i);
    }
    if (shares.empty()) co_return outcomes;
    co_return co_await ask_shards<Outcome>(
        inside_->around.executor, &inside_->group, std::move(shares), std::move(outcomes),
        [](Shard& shard, auto items) { return shard.commit(std::move(items)); });
}

Async<Result<std::vector<Renewed>>> RedisStore::renew(std::vector<Renewal> renewals) {
    std::vector<Renewed> answers(renewals.size());
    std::map<Shard*, Share<std::string>> shares;
    for (std::size_t i = 0; i < renewals.size(); ++i) {
        auto& share = shares[&inside_->shard_of(renewals[i].id.partition())];
        share.items.push_back(redis::encode_renewal(renewals[i]));
        share.places.push_back(i);
    }
    if (shares.empty()) co_return answers;
    co_return co_await ask_shards<Renewed>(
        inside_->around.executor, &inside_->group, std::move(shares), std::move(answers),
        [](Shard& shard, auto items) { return shard.renew(std::move(items)); });
}

Async<Result<std::vector<std::optional<Record>>>> RedisStore::load(std::vector<Key> keys) {
    std::vector<std::optional<Record>> records(keys.size());
    std::map<Shard*, Share<std::string>> shares;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        auto& share = shares[&inside_->shard_of(keys[i].id.partition())];
        share.items.push_back(redis::ref_of(keys[i]));
        share.places.push_back(i);
    }
    if (shares.empty()) co_return records;
    co_return co_await ask_shards<std::optional<Record>>(
        inside_->around.executor, &inside_->group, std::move(shares), std::move(records),
        [](Shard& shard, auto items) { return shard.load(std::move(items)); });
}

// ---- claim ----

namespace {

void take_off(ClaimRequest& request, const std::vector<Record>& claimed) {
    request.max -= static_cast<std::uint32_t>(std::min<std::size_t>(request.max, claimed.size()));
    for (const Record& record : claimed) {
        const auto queue =
            std::ranges::find(request.queues, record.header.queue, &ClaimQueue::name);
        if (queue != request.queues.end() && queue->max != UINT32_MAX && queue->max > 0)
            --queue->max;
    }
}

/// The place-th of `parts` parts of a request: together they ask for no more than it does.
ClaimRequest part_of(const ClaimRequest& request, std::size_t place, std::size_t parts) {
    const auto part = [&](std::uint32_t whole) {
        return static_cast<std::uint32_t>(whole / parts + (place < whole % parts ? 1 : 0));
    };
    ClaimRequest mine = request;
    mine.max = std::min<std::uint32_t>(part(request.max), redis::kScriptTasks);
    for (ClaimQueue& queue : mine.queues) {
        if (queue.max != UINT32_MAX) queue.max = part(queue.max);
    }
    return mine;
}

Async<Result<bool>> is_ready(Shard* shard, const redis::Scripts* scripts,
                             std::vector<std::string> queues) {
    CO_TRY(const Reply reply, co_await shard->run(scripts->ready, std::move(queues)));
    co_return reply.root()[1].integer() != 0;
}

}  // namespace

namespace {

/// For as long as a claim is under way.
class Promise {
  public:
    Promise(std::map<std::string, std::uint32_t, std::less<>>& promised,
            const ClaimRequest& request)
        : promised_(promised) {
        for (const ClaimQueue& queue : request.queues) {
            if (queue.concurrency == 0) continue;
            const std::uint32_t most = std::min(queue.max, request.max);
            promised_[queue.name] += most;
            mine_.emplace_back(queue.name, most);
        }
    }
    ~Promise() {
        for (const auto& [queue, most] : mine_) {
            const auto found = promised_.find(queue);
            found->second -= most;
            if (found->second == 0) promised_.erase(found);
        }
    }
    Promise(const Promise&) = delete;
    Promise& operator=(const Promise&) = delete;

  private:
    std::map<std::string, std::uint32_t, std::less<>>& promised_;
    std::vector<std::pair<std::string, std::uint32_t>> mine_;
};

Async<Result<std::vector<std::uint32_t>>> held_of(Shard* shard, const redis::Scripts* scripts,
                                                  std::vector<std::string> permits) {
    CO_TRY(const Reply reply, co_await shard->run(scripts->tally, std::move(permits)));
    std::vector<std::uint32_t> held;
    for (std::size_t i = 1; i < reply.root().size(); ++i)
        held.push_back(static_cast<std::uint32_t>(reply.root()[i].integer()));
    co_return held;
}

}  // namespace

Async<Result<>> RedisStore::Inside::keep_limits(ClaimRequest* request) {
    std::vector<ClaimQueue*> limited;
    std::vector<std::string> permits;
    for (ClaimQueue& queue : request->queues) {
        if (queue.concurrency == 0) continue;
        limited.push_back(&queue);
        permits.emplace_back("permit");
        permits.push_back(domain::queue_permit(queue.name));
    }
    if (limited.empty()) co_return Result<>{};
    CO_TRY(const auto held, co_await of_each<std::vector<std::uint32_t>>(
                                [&](Shard& shard) { return held_of(&shard, &scripts, permits); }));
    for (std::size_t i = 0; i < limited.size(); ++i) {
        const auto under_way = promised.find(limited[i]->name);
        std::uint64_t taken = under_way == promised.end() ? 0 : under_way->second;
        for (const auto& of_shard : held) taken += i < of_shard.size() ? of_shard[i] : 0;
        const std::uint32_t limit = limited[i]->concurrency;
        const auto left = static_cast<std::uint32_t>(limit - std::min<std::uint64_t>(limit, taken));
        limited[i]->max = std::min(limited[i]->max, left);
    }
    co_return Result<>{};
}

Async<Result<>> RedisStore::Inside::claim_from(std::vector<Shard*> open, ClaimRequest* request,
                                               std::vector<Record>* claimed) {
    while (request->max > 0 && !open.empty()) {
        const std::size_t asked = std::min<std::size_t>(open.size(), request->max);
        std::vector<Async<std::vector<Result<std::vector<Record>>>>> works;
        std::vector<std::uint32_t> most;
        for (std::size_t i = 0; i < asked; ++i) {
            const ClaimRequest mine = part_of(*request, i, asked);
            most.push_back(mine.max);
            works.push_back(open[i]->claim(mine, mine.max));
        }
        auto answers = co_await redis::gather(around.executor, &group, std::move(works));
        std::vector<Shard*> still_open(open.begin() + static_cast<std::ptrdiff_t>(asked),
                                       open.end());
        for (std::size_t i = 0; i < asked; ++i) {
            CO_TRY(std::vector<Record> some, std::move(answers[i].front()));
            if (some.size() == most[i]) still_open.push_back(open[i]);
            take_off(*request, some);
            std::ranges::move(some, std::back_inserter(*claimed));
        }
        open = std::move(still_open);
    }
    co_return Result<>{};
}

Async<Result<std::vector<Shard*>>> RedisStore::Inside::ready_shards(const ClaimRequest* request) {
    std::vector<std::string> names;
    names.reserve(request->queues.size());
    for (const ClaimQueue& queue : request->queues) names.push_back(queue.name);
    CO_TRY(const std::vector<bool> ready,
           co_await of_each<bool>([&](Shard& shard) { return is_ready(&shard, &scripts, names); }));
    std::vector<Shard*> open;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        const std::size_t place = (next_shard + i) % shards.size();
        if (ready[place]) open.push_back(shards[place].get());
    }
    ++next_shard;
    co_return open;
}

Async<Result<std::vector<Record>>> RedisStore::claim(ClaimRequest request) {
    Inside& in = *inside_;
    std::vector<Record> claimed;
    if (request.queues.empty() || request.max == 0) co_return claimed;
    const std::size_t first = in.turn++ % request.queues.size();
    std::ranges::rotate(request.queues,
                        request.queues.begin() + static_cast<std::ptrdiff_t>(first));
    if (in.shards.size() > 1) CO_TRY_VOID(co_await in.keep_limits(&request));
    const Promise promise(in.promised, request);
    // One that had something the last time is asked first: mostly that is one call.
    for (std::size_t i = 0; i < in.shards.size(); ++i) {
        Shard* shard = in.shards[in.next_shard++ % in.shards.size()].get();
        if (in.shards.size() > 1 && !shard->has_work) continue;
        std::vector<Shard*> calls{shard};
        if (request.max > redis::kScriptTasks)
            calls.push_back(shard);  // Redis need not wait for us
        CO_TRY_VOID(co_await in.claim_from(std::move(calls), &request, &claimed));
        break;
    }
    if (in.shards.size() > 1 && request.max > 0) {
        CO_TRY(std::vector<Shard*> ready, co_await in.ready_shards(&request));
        CO_TRY_VOID(co_await in.claim_from(std::move(ready), &request, &claimed));
    }
    co_return claimed;
}

// ---- due ----

namespace {

Async<Result<std::vector<Record>>> take_due(Shard* shard, const redis::Scripts* scripts,
                                            std::size_t limit) {
    std::vector<Record> rung;
    while (rung.size() < limit) {
        const std::size_t asked = std::min(redis::kScriptTasks, limit - rung.size());
        CO_TRY(const Reply reply,
               co_await shard->run(scripts->due,
                                   {std::to_string(asked), std::to_string(kDuePush.count())}));
        for (std::size_t i = 1; const Value item : reply.root()) {
            if (i++ == 1) continue;
            CO_TRY(Record record, redis::decode_record(item));
            rung.push_back(std::move(record));
        }
        if (reply.root().size() < asked + 1) break;
    }
    co_return rung;
}

/// When the timers of a shard rang, and what due() gives for them.
struct Rung {
    std::vector<double> at;
    std::size_t wanted = 0;
};

Async<Result<Rung>> peek_due(Shard* shard, const redis::Scripts* scripts, std::size_t limit) {
    CO_TRY(const Reply reply, co_await shard->run(scripts->rung, {std::to_string(limit)}));
    Rung rung;
    for (std::size_t i = 1; i < reply.root().size(); ++i) rung.at.push_back(reply.root()[i].real());
    co_return rung;
}

/// Marks the earliest of all shards, `limit` of them. Gives each one's shard, in order.
std::vector<std::size_t> choose_earliest(std::vector<Rung>& shards, std::size_t limit) {
    std::vector<std::pair<double, std::size_t>> all;
    for (std::size_t s = 0; s < shards.size(); ++s) {
        for (const double at : shards[s].at) all.emplace_back(at, s);
    }
    std::ranges::sort(all);
    all.resize(std::min(all.size(), limit));
    std::vector<std::size_t> order;
    for (const auto& [at, shard] : all) {
        ++shards[shard].wanted;
        order.push_back(shard);
    }
    return order;
}

}  // namespace

Async<Result<std::vector<Record>>> RedisStore::due(std::size_t limit) {
    Inside& in = *inside_;
    if (in.shards.size() == 1)
        co_return co_await take_due(in.shards.front().get(), &in.scripts, limit);
    CO_TRY(std::vector<Rung> rung, co_await in.of_each<Rung>([&](Shard& shard) {
        return peek_due(&shard, &in.scripts, limit);
    }));
    const std::vector<std::size_t> order = choose_earliest(rung, limit);
    std::vector<Record> records;
    if (order.empty()) co_return records;
    std::size_t next = 0;
    CO_TRY(auto taken, co_await in.of_each<std::vector<Record>>([&](Shard& shard) {
        return take_due(&shard, &in.scripts, rung[next++].wanted);
    }));
    std::vector<std::size_t> used(taken.size());
    for (const std::size_t shard : order) {
        if (used[shard] < taken[shard].size())
            records.push_back(std::move(taken[shard][used[shard]++]));
    }
    co_return records;
}

}  // namespace holdfast::stores
