#include "coordination/redis/redis_coordination.h"

#include <algorithm>
#include <boost/json/value.hpp>

#include "domain/submission.h"

namespace holdfast::coordination {

std::string_view lua_text(std::string_view name);  // lua/*.lua, embedded at build time

namespace {

using redis::Script;

constexpr std::size_t kMostInstances = 1000;

Script script(std::string_view name) {
    return {"coordination/" + std::string(name), std::string(lua_text(name))};
}

struct Scripts {
    Script acquire = script("acquire"), renew = script("renew"), release = script("release"),
           holders = script("holders"), announce = script("announce"), leave = script("leave"),
           instances = script("instances");
};
const Scripts& scripts() {
    static const Scripts all;
    return all;
}

std::string milliseconds(Duration d) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(d).count());
}
Time time_of(std::int64_t ms) {
    return Time{std::chrono::milliseconds{ms}};
}

Json written(const Instance& self, Duration ttl) {
    return JsonObject{}
        .add("started_at", format_time(self.started_at))
        .add("ttl_ms", std::chrono::ceil<std::chrono::milliseconds>(ttl).count())
        .add("about", self.about)
        .add("workers", self.workers)
        .done();
}

/// Damaged text gives an instance of which little is known, never an error: it is there.
Instance read(std::string_view id, std::int64_t expiry_ms, std::string_view text) {
    const Json said = Json::stored(text);
    Instance one{.id = std::string(id),
                 .started_at = {},
                 .seen_at = {},
                 .about = said.member("about"),
                 .workers = said.member("workers")};
    const auto started = said.member("started_at").value();
    if (const auto* at = started.if_string())
        one.started_at = parse_time(std::string_view(*at)).value_or(kNoTime);
    const auto ttl = said.member("ttl_ms").value();
    if (const auto* ms = ttl.if_int64()) one.seen_at = time_of(expiry_ms - *ms);
    return one;
}

}  // namespace

/// What hears the others. The client may outlive us.
struct RedisCoordination::Ear {
    std::string instance;
    std::function<void(const Hint&)> act;

    void hear(std::string_view message) const {
        if (!act) return;
        const auto read = unpack_hints(message);
        if (!read || read->from == instance) return;
        for (const Hint& hint : read->hints) act(hint);
    }
};

RedisCoordination::RedisCoordination(redis::Client& client, RedisCoordinationOptions options,
                                     Clock& clock, asio::any_io_executor executor)
    : client_(client),
      options_(std::move(options)),
      clock_(clock),
      executor_(executor),
      group_(std::move(executor)),
      ear_(std::make_shared<Ear>(options_.instance, nullptr)) {
    client_.subscribe(options_.prefix + ":hints",
                      [ear = ear_](std::string_view message) { ear->hear(message); });
}

RedisCoordination::~RedisCoordination() {
    ear_->act = nullptr;
}

std::string RedisCoordination::key(std::string_view name) const {
    return std::string("{").append(options_.prefix).append(":c}:").append(name);
}

// ---- locks ----

Async<Result<std::optional<Lock>>> RedisCoordination::acquire(LockRequest request) {
    CO_TRY_VOID(check(request));
    Lock lock{.key = std::move(request.key),
              .token = request.holder + ':' + std::to_string(rng_()),
              .fence = 0,
              .until = {}};
    const std::string at = lock_key(lock.key);
    std::vector<std::string> arguments{lock.token, milliseconds(request.ttl),
                                       std::to_string(request.capacity), key("fence")};
    CO_TRY(const redis::Reply reply,
           co_await client_.run(scripts().acquire, at, std::move(arguments)));
    const redis::Value got = reply.root();
    if (got.is_null()) co_return std::optional<Lock>{};
    lock.fence = static_cast<std::uint64_t>(got[0].integer());
    lock.until = time_of(got[1].integer());
    co_return lock;
}

Async<Result<std::optional<Lock>>> RedisCoordination::renew(Lock lock, Duration ttl) {
    CO_TRY_VOID(check_ttl(ttl));
    const std::string at = lock_key(lock.key);
    std::vector<std::string> arguments{lock.token, milliseconds(ttl)};
    CO_TRY(const redis::Reply reply,
           co_await client_.run(scripts().renew, at, std::move(arguments)));
    if (reply.root().is_null()) co_return std::optional<Lock>{};
    lock.until = time_of(reply.root().integer());
    co_return lock;
}

Async<Result<bool>> RedisCoordination::release(Lock lock) {
    const std::string at = lock_key(lock.key);
    std::vector<std::string> arguments{lock.token};
    CO_TRY(const redis::Reply reply,
           co_await client_.run(scripts().release, at, std::move(arguments)));
    co_return reply.root().integer() == 1;
}

Async<Result<std::vector<std::string>>> RedisCoordination::holders_of(std::string key) {
    const std::string at = lock_key(key);
    CO_TRY(const redis::Reply reply, co_await client_.run(scripts().holders, at, {}));
    std::vector<std::string> tokens;
    for (const redis::Value token : reply.root()) tokens.emplace_back(token.text());
    co_return tokens;
}

// ---- presence ----

Async<Result<>> RedisCoordination::announce(Instance self, Duration ttl) {
    CO_TRY_VOID(domain::check_token("id", self.id));
    CO_TRY_VOID(check_ttl(ttl));
    const std::string at = key("alive");
    std::vector<std::string> arguments{self.id, milliseconds(ttl), written(self, ttl).text(),
                                       key("instances")};
    CO_TRY_VOID(co_await client_.run(scripts().announce, at, std::move(arguments)));
    co_return Result<>{};
}

Async<Result<>> RedisCoordination::leave(std::string id) {
    const std::string at = key("alive");
    std::vector<std::string> arguments{std::move(id), key("instances")};
    CO_TRY_VOID(co_await client_.run(scripts().leave, at, std::move(arguments)));
    co_return Result<>{};
}

Async<Result<std::vector<Instance>>> RedisCoordination::instances() {
    const std::string at = key("alive");
    std::vector<std::string> arguments{std::to_string(kMostInstances), key("instances")};
    CO_TRY(const redis::Reply reply,
           co_await client_.run(scripts().instances, at, std::move(arguments)));
    std::vector<Instance> all;
    auto next = reply.root().begin();
    for (std::size_t left = reply.root().size() / 3; left > 0; --left) {
        const redis::Value id = *next++;
        const redis::Value expiry = *next++;
        const redis::Value text = *next++;
        all.push_back(read(id.text(), expiry.integer(), text.text()));
    }
    std::ranges::sort(all, {}, &Instance::id);
    co_return all;
}

// ---- hints ----

void RedisCoordination::tell(Hint hint) {
    if (batch_.add(std::move(hint))) group_.spawn(publish());
}

void RedisCoordination::on_hint(std::function<void(const Hint&)> act) {
    ear_->act = std::move(act);
}

/// Should it not arrive, it was only a hint.
Async<void> RedisCoordination::publish() {
    Alarm alarm(clock_, executor_);
    co_await alarm.wait_for(options_.gather);
    const std::string message = pack_hints(options_.instance, batch_.take());
    co_await client_.call(redis::Command("PUBLISH", options_.prefix + ":hints", message));
}

Async<void> RedisCoordination::stop() {
    ear_->act = nullptr;
    // What was told last, that we are leaving, shall be heard; a server that is gone is not waited for.
    if (!client_.trouble()) co_await group_.join();
    co_await group_.stop();
}

}  // namespace holdfast::coordination
