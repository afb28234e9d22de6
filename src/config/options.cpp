#include "config/options.h"

#include <algorithm>
#include <array>

namespace holdfast::config {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kServing = "serve dev config";
constexpr std::string_view kOnStore = "serve dev config doctor migrate bench";
constexpr std::string_view kDev = "dev config";

template <auto section, auto member>
void put(Config& config, const Value& value) {
    auto& target = config.*section.*member;
    using Target = std::remove_reference_t<decltype(target)>;
    if constexpr (std::is_enum_v<Target> || std::is_same_v<Target, std::size_t>)
        target = static_cast<Target>(std::get<std::int64_t>(value));
    else
        target = std::get<Target>(value);
}

constexpr Range between(Duration least, Duration most) {
    return {least.count(), most.count()};
}
constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kGiB = 1024 * kMiB;
constexpr std::int64_t kMillion = 1'000'000;
constexpr Range kNone{};

using C = Config;
using Http = Config::Http;
using Redis = Config::Redis;

constexpr std::array kOptions{
    Option{"server.listen", Type::address, "127.0.0.1:7400", kNone, "",
           "Address and port to listen on: an IP address or localhost; port 0 picks a free one. "
           "Authentication comes in a later version, so only loopback addresses are allowed.",
           kServing, put<&C::server, &C::Server::listen>},
    Option{"server.drain", Type::duration, "10s", between(0s, 10min), "",
           "How long SIGTERM waits for requests in flight before it closes their connections.",
           kServing, put<&C::server, &C::Server::drain>},

    Option{"server.roles",
           Type::names,
           "all",
           {1, 4},
           "all|api|gateway|ticker",
           "What this instance does: api serves producers, operators and readers; gateway serves "
           "workers; ticker does what is due, throws away what is old and looks for what is wrong. "
           "Several instances need a store that they share: Redis.",
           kServing,
           put<&C::server, &C::Server::roles>},
    Option{"server.instance",
           Type::name,
           "auto",
           {1, 64},
           "",
           "The name of this instance among those that share the store, each its own; auto: host, "
           "process and a random part.",
           kServing,
           put<&C::server, &C::Server::instance>},
    Option{"server.read_only", Type::truth, "false", kNone, "",
           "Refuse what operators do to tasks, queues, bulk jobs and workers (403 forbidden); "
           "submissions and workers are served as ever.",
           kServing, put<&C::server, &C::Server::read_only>},

    Option{"store.url", Type::store_url, "sqlite:./holdfast-data", kNone, "",
           "Where tasks are kept: memory: (lost at exit), sqlite:DIRECTORY, redis://…, rediss://…, "
           "redis-cluster://h:p,h:p, rediss-cluster://…, redis-sentinel://h:p,h:p/SERVICE or "
           "postgres://….",
           kOnStore, put<&C::store, &C::Store::url>},
    Option{"store.durability", Type::choice, "full", kNone, "full|relaxed",
           "full: what was accepted survives a power cut; relaxed: it survives the end of the "
           "process, and a power cut may lose the last moments.",
           kOnStore, put<&C::store, &C::Store::durability>},
    Option{"store.body_cache",
           Type::size,
           "14MiB",
           {0, 1024 * kGiB},
           "",
           "Memory for payloads and results that the embedded store keeps at hand.",
           kOnStore,
           put<&C::store, &C::Store::body_cache_bytes>},

    Option{"redis.prefix",
           Type::name,
           "hf",
           {1, 32},
           "",
           "What the names of all keys in Redis begin with: one for each environment on a server.",
           kOnStore,
           put<&C::redis, &Redis::prefix>},
    Option{
        "redis.partitions",
        Type::count,
        "0",
        {0, 4096},
        "",
        "Over how many slots of a cluster tasks are spread: a power of two, fixed when the first "
        "instance starts; 0: 1 on a single server, 16 on a cluster.",
        kOnStore,
        put<&C::redis, &Redis::partitions>},
    Option{"redis.accept_loss", Type::truth, "false", kNone, "",
           "Start also on a server that may forget what was accepted: without an append-only file, "
           "or one that evicts keys.",
           kOnStore, put<&C::redis, &Redis::accept_loss>},
    Option{"redis.pel_queues",
           Type::names,
           "",
           {0, 1000},
           "",
           "Queues whose failed tasks stay in the stream's pending list until their retry is due, "
           "instead of leaving it; *: all.",
           kOnStore,
           put<&C::redis, &Redis::pel_queues>},
    Option{"redis.reclaim_idle", Type::duration, "10m", between(0s, 24h), "",
           "In those queues: how long a pending entry is left alone before it may be taken over.",
           kOnStore, put<&C::redis, &Redis::reclaim_idle>},
    Option{
        "redis.dlq",
        Type::name,
        "auto",
        {0, 64},
        "",
        "The stream that names suspended and failed tasks for as long as they are that; auto: the "
        "prefix and :dlq; empty: none.",
        kOnStore,
        put<&C::redis, &Redis::dlq>},
    Option{"redis.wait_replicas",
           Type::count,
           "0",
           {0, 10},
           "",
           "An answer waits until so many replicas have the write.",
           kOnStore,
           put<&C::redis, &Redis::wait_replicas>},
    Option{"redis.wait_aof", Type::truth, "false", kNone, "",
           "An answer waits until the write is in the append-only file on disk (Redis 7.2).",
           kOnStore, put<&C::redis, &Redis::wait_aof>},
    Option{"redis.wait_timeout", Type::duration, "1s", between(1ms, 1min), "",
           "How long such an answer waits; then it is a 503, and the write may or may not stay.",
           kOnStore, put<&C::redis, &Redis::wait_timeout>},

    Option{"retention.finished", Type::duration, "0s", between(0s, std::chrono::days{3650}), "",
           "How long finished tasks are kept, with their history; 0s: 7d in the embedded store, 1h "
           "in Redis.",
           kServing, put<&C::retention, &C::Retention::finished>},
    Option{"retention.finished_most",
           Type::count,
           "0",
           {0, 1000 * kMillion},
           "",
           "At most so many finished tasks are kept, the youngest; 0: no limit in the embedded "
           "store, 1000000 in Redis.",
           kServing,
           put<&C::retention, &C::Retention::finished_most>},
    Option{"retention.feed", Type::duration, "1d", between(1s, std::chrono::days{365}), "",
           "How long events are kept for readers that resume.", kServing,
           put<&C::retention, &C::Retention::feed>},
    Option{"retention.audit", Type::duration, "90d", between(1min, std::chrono::days{3650}), "",
           "How long it is kept what operators did, and of that the newest 100000.", kServing,
           put<&C::retention, &C::Retention::audit>},

    Option{
        "redact.keys",
        Type::names,
        "api_key,apikey,access_token,refresh_token,token,secret,password,passwd,authorization,"
        "cookie,private_key,client_secret",
        {0, 100},
        "",
        "Keys whose values are hidden from who reads tasks with redact=1, as the dashboard does: "
        "also as the last word of a longer key; case, - and _ do not matter.",
        kServing,
        put<&C::redact, &C::Redact::keys>},
    Option{"redact.always", Type::truth, "false", kNone, "",
           "Hide them from every reader; workers get their tasks whole.", kServing,
           put<&C::redact, &C::Redact::always>},

    Option{"http.max_body",
           Type::size,
           "1MiB",
           {kKiB, 64 * kMiB},
           "",
           "Largest body of a request; a larger one is answered 413.",
           kServing,
           put<&C::http, &Http::max_body_bytes>},
    Option{"http.max_connections",
           Type::count,
           "10000",
           {1, kMillion},
           "",
           "Connections at once; further ones are refused.",
           kServing,
           put<&C::http, &Http::max_connections>},
    Option{"http.max_connections_per_address",
           Type::count,
           "100",
           {1, kMillion},
           "",
           "Connections at once from one address. Loopback addresses are exempt.",
           kServing,
           put<&C::http, &Http::max_connections_per_address>},
    Option{"http.header_timeout", Type::duration, "10s", between(100ms, 10min), "",
           "How long the head of a request may take to arrive.", kServing,
           put<&C::http, &Http::header_timeout>},
    Option{"http.idle_timeout", Type::duration, "60s", between(100ms, 24h), "",
           "How long a connection may stay open between requests.", kServing,
           put<&C::http, &Http::idle_timeout>},
    Option{"http.min_body_rate",
           Type::size,
           "1KiB",
           {0, kGiB},
           "",
           "Bytes per second that a body must at least arrive with; 0 allows any rate.",
           kServing,
           put<&C::http, &Http::min_body_bytes_per_second>},
    Option{"http.max_waiting",
           Type::count,
           "10000",
           {1, kMillion},
           "",
           "Long polls at once; further ones are refused.",
           kServing,
           put<&C::http, &Http::max_waiting>},

    Option{"engine.max_in_flight",
           Type::count,
           "65536",
           {1, 16 * kMillion},
           "",
           "Changes being written at once; beyond it submissions are answered 503.",
           kServing,
           put<&C::engine, &C::Engine::max_in_flight>},
    Option{"engine.poll_interval", Type::duration, "500ms", between(10ms, 1min), "",
           "How often the store is asked for what became due; also the longest time that a lost "
           "notification delays a task.",
           kServing, put<&C::engine, &C::Engine::poll_interval>},

    Option{"log.level", Type::choice, "info", kNone, "debug|info|warn|error",
           "The least important lines that are written to standard error.", kOnStore,
           put<&C::log, &C::Log::level>},
    Option{"log.format", Type::choice, "auto", kNone, "auto|text|json",
           "auto is text on a terminal and json elsewhere.", kOnStore, put<&C::log, &C::Log::form>},

    Option{"dev.demo", Type::truth, "true", kNone, "",
           "Whether holdfast dev runs a worker and tasks that show what happens.", kDev,
           put<&C::dev, &C::Dev::demo>},

    Option{"test.commit_delay", Type::duration, "0s", between(0s, 1min), "",
           "Slows every commit of the store by this much.", kServing,
           put<&C::test, &C::Test::commit_delay>, true},
};

constexpr std::array kOtherVariables{
    OtherVariable{kConfigVariable, "The configuration file, as --config."},
    OtherVariable{"HOLDFAST_SERVER", "The server that client commands talk to, as --server."},
    OtherVariable{"HOLDFAST_TOKEN", "Kept for the access token of client commands."},
    OtherVariable{"HOLDFAST_USER",
                  "Whose acts client commands are, for the audit; else the user that runs them."},
    OtherVariable{"HOLDFAST_TASK_ID", "Set by holdfast work for its program: the task."},
    OtherVariable{"HOLDFAST_ATTEMPT", "Set by holdfast work for its program: which attempt it is."},
    OtherVariable{"HOLDFAST_TYPE", "Set by holdfast work for its program: the task's type."},
    OtherVariable{"HOLDFAST_QUEUE", "Set by holdfast work for its program: the task's queue."},
};

/// Their keys are flags by themselves.
constexpr std::array<std::string_view, 3> kShortSections{"server.", "store.", "dev."};

std::string replaced(std::string_view text, char (*letter)(char)) {
    std::string made(text);
    std::ranges::transform(made, made.begin(), letter);
    return made;
}

}  // namespace

std::span<const Option> options() {
    return kOptions;
}

const Option* find_option(std::string_view name) {
    const auto* found = std::ranges::find(kOptions, name, &Option::name);
    return found == kOptions.end() ? nullptr : found;
}

std::string flag_of(const Option& option) {
    std::string_view name = option.name;
    if (name == "store.url") return "store";
    if (name == "redis.accept_loss") return "accept-loss";
    for (const std::string_view section : kShortSections) {
        if (name.starts_with(section)) name.remove_prefix(section.size());
    }
    return replaced(name, [](char c) { return c == '.' || c == '_' ? '-' : c; });
}

std::string variable_of(const Option& option) {
    return "HOLDFAST_" + replaced(flag_of(option), [](char c) {
               return c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
           });
}

bool belongs_to(const Option& option, std::string_view command) {
    std::string_view rest = option.commands;
    while (!rest.empty()) {
        const std::string_view word = rest.substr(0, rest.find(' '));
        if (word == command) return true;
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    return false;
}

std::span<const OtherVariable> other_variables() {
    return kOtherVariables;
}

}  // namespace holdfast::config
