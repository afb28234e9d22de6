#include "engine/queues.h"

#include <boost/json/value.hpp>

namespace holdfast::engine {
namespace {

constexpr int kEditRounds = 3;
constexpr std::size_t kMostCopies = 10'000;

std::optional<QueueSettings::Hold> read_hold(const boost::json::object& o, const char* name) {
    const auto* found = o.if_contains(name);
    const auto* hold = found == nullptr ? nullptr : found->if_object();
    if (hold == nullptr) return std::nullopt;
    return QueueSettings::Hold{std::string(hold->at("by").as_string()),
                               std::string(hold->at("reason").as_string()),
                               Time{Duration{hold->at("at_us").to_number<std::int64_t>()}}};
}

boost::json::value hold_json(const std::optional<QueueSettings::Hold>& hold) {
    if (!hold) return nullptr;
    return boost::json::object{
        {"by", hold->by}, {"reason", hold->reason}, {"at_us", hold->at.time_since_epoch().count()}};
}

QueueSettings read_settings(const Bytes& body) {
    QueueSettings settings;
    const auto value = Json::stored(body.view()).value();
    const auto* object = value.if_object();
    if (object == nullptr) return settings;
    const auto flag = [&](const char* name) {
        const auto* found = object->if_contains(name);
        return found != nullptr && found->is_bool() && found->get_bool();
    };
    const auto number = [&](const char* name) {
        const auto* found = object->if_contains(name);
        return found != nullptr && found->is_number() ? found->to_number<double>() : 0.0;
    };
    settings.paused = flag("paused");
    settings.closed = flag("closed");
    settings.lanes_by_type = flag("lanes_by_type");
    settings.concurrency = static_cast<std::uint32_t>(number("concurrency"));
    settings.rate = number("rate");
    settings.paused_by = read_hold(*object, "paused_by");
    settings.closed_by = read_hold(*object, "closed_by");
    return settings;
}

Bytes write_settings(std::string_view name, const QueueSettings& s) {
    const boost::json::object object{{"name", name},
                                     {"paused", s.paused},
                                     {"closed", s.closed},
                                     {"lanes_by_type", s.lanes_by_type},
                                     {"concurrency", s.concurrency},
                                     {"rate", s.rate},
                                     {"paused_by", hold_json(s.paused_by)},
                                     {"closed_by", hold_json(s.closed_by)}};
    return Bytes(Json::of(object).text());
}

}  // namespace

domain::Key queue_key(std::string_view name) {
    return {domain::Kind::queue, Uuid::named(partition_of(name), name)};
}

Async<Result<std::vector<QueueSettings>>> Queues::get(std::vector<std::string> names) {
    std::vector<QueueSettings> all(names.size());
    std::vector<std::size_t> stale;
    std::vector<domain::Key> keys;
    const Time now = clock_.now();
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto copy = copies_.find(names[i]);
        if (copy != copies_.end() && copy->second.read_at + fresh_for_ > now) {
            all[i] = copy->second.settings;
            continue;
        }
        stale.push_back(i);
        keys.push_back(queue_key(names[i]));
    }
    if (keys.empty()) co_return all;
    CO_TRY(const auto records, co_await store_.load(std::move(keys)));
    if (copies_.size() > kMostCopies) copies_.clear();
    for (std::size_t k = 0; k < stale.size(); ++k) {
        QueueSettings& settings = all[stale[k]];
        if (records[k]) settings = read_settings(records[k]->body);
        copies_[names[stale[k]]] = {settings, now};
    }
    co_return all;
}

Async<Result<QueueSettings>> Queues::get(std::string name) {
    CO_TRY(const auto all, co_await get(std::vector<std::string>(1, name)));
    co_return all.front();
}

Async<Result<QueueSettings>> Queues::edit(std::string name, Edit change, domain::Event event, By by,
                                          Time now, std::uint64_t nonce, domain::Put audit) {
    const domain::Key key = queue_key(name);
    for (int round = 0; round < kEditRounds; ++round) {
        CO_TRY(const auto found, co_await store_.load({key}));
        const bool exists = found.front().has_value();
        QueueSettings settings = exists ? read_settings(found.front()->body) : QueueSettings{};
        change(settings);

        domain::Put put;
        if (exists) put.header = found.front()->header;
        const State from = put.header.state;
        put.expected_version = put.header.version;
        ++put.header.version;
        put.header.kind = key.kind;
        put.header.id = key.id;
        put.header.queue = name;
        put.header.state = settings.paused ? State::paused : State::running;
        if (!exists) put.header.created_at = now;
        put.header.updated_at = now;
        put.body = write_settings(name, settings);
        put.transition = {event, from, put.header.state, 0, now, by.why, by.who, {}};
        domain::Change step;
        step.partition = key.id.partition();
        step.nonce = nonce;
        step.puts.push_back(std::move(put));
        step.puts.push_back(audit);

        std::vector<domain::Change> steps;
        steps.push_back(std::move(step));
        CO_TRY(const auto outcomes, co_await store_.commit(std::move(steps)));
        if (outcomes.front().verdict != stores::Verdict::committed) continue;
        copies_[name] = {settings, clock_.now()};
        co_return settings;
    }
    co_return refuse(Code::overloaded,
                     "the settings of queue " + name + " are being changed by others; try again");
}

std::uint32_t Queues::allowance(const std::string& name, double rate) {
    if (rate <= 0) {
        buckets_.erase(name);
        return UINT32_MAX;
    }
    Bucket& bucket = buckets_[name];
    const Time now = clock_.now();
    const double most = std::max(rate, 1.0);  // a second's worth may be handed out at once
    if (!is_set(bucket.filled_at)) bucket.tokens = most;
    const double seconds =
        std::chrono::duration<double>(now - (is_set(bucket.filled_at) ? bucket.filled_at : now))
            .count();
    bucket.tokens = std::min(most, bucket.tokens + rate * seconds);
    bucket.filled_at = now;
    // Below zero when several claims were under way at once: then time has to make up for it.
    return bucket.tokens < 1 ? 0 : static_cast<std::uint32_t>(bucket.tokens);
}

void Queues::spend(const std::string& name, std::uint32_t tasks) {
    const auto bucket = buckets_.find(name);
    if (bucket != buckets_.end()) bucket->second.tokens -= tasks;
}

}  // namespace holdfast::engine
