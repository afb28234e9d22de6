#include "stores/redis/server_check.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/log.h"

namespace holdfast::stores::redis {
namespace {

using holdfast::redis::Client;
using holdfast::redis::Command;
using holdfast::redis::Reply;
using holdfast::redis::Value;

constexpr std::int64_t kSchema = 1;
constexpr std::uint32_t kOldestVersion = 70000;
constexpr std::uint32_t kVersionWithWaitAof = 70200;
constexpr std::uint32_t kClusterPartitions = 16;
constexpr std::size_t kLongestPrefix = 64;

std::uint32_t parse_version(std::string_view text) {
    std::uint32_t version = 0;
    for (int part = 0; part < 3; ++part) {
        std::uint32_t number = 0;
        const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
        version = version * 100 + std::min(number, 99U);
        text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
        if (text.starts_with('.')) text.remove_prefix(1);
    }
    return version;
}

/// The value of a line "name:value" of INFO.
std::string_view info_line(std::string_view info, std::string_view name) {
    const std::size_t at = info.find("\n" + std::string(name) + ":");
    if (at == std::string_view::npos) return {};
    const std::string_view value = info.substr(at + name.size() + 2);
    return value.substr(0, value.find_first_of("\r\n"));
}

/// Of every server; empty where CONFIG is not for us (managed servers).
using Settings = std::vector<std::map<std::string, std::string, std::less<>>>;
Async<Result<Settings>> read_settings(Client* client) {
    Settings settings;
    auto replies =
        co_await client->call_each(Command("CONFIG", "GET", "maxmemory-policy", "appendonly",
                                           "appendfsync", "maxmemory", "hash-max-listpack-value"));
    if (!replies) {
        const std::string& detail = replies.error().detail;
        const bool forbidden = detail.contains("NOPERM") || detail.contains("unknown command") ||
                               detail.contains("ERR");
        if (!forbidden) co_return std::unexpected(std::move(replies).error());
        co_return settings;
    }
    for (const Reply& reply : *replies) {
        auto& of_server = settings.emplace_back();
        std::string name;
        for (const Value word : reply.root()) {
            if (name.empty())
                name = word.text();
            else
                of_server.emplace(std::exchange(name, {}), word.text());
        }
    }
    co_return settings;
}

std::string value_of(const Settings::value_type& settings, std::string_view name) {
    const auto found = settings.find(name);
    return found == settings.end() ? std::string{} : found->second;
}

Result<> check_settings(const Settings& settings, const RedisOptions& options) {
    for (const auto& of_server : settings) {
        const std::string policy = value_of(of_server, "maxmemory-policy");
        if (!policy.empty() && policy != "noeviction" && !options.accept_loss)
            return refuse(Code::invalid_argument,
                          "Redis has maxmemory-policy " + policy +
                              ": it would throw tasks away when memory is short. Type CONFIG SET "
                              "maxmemory-policy noeviction, or start with --accept-loss");
        if (value_of(of_server, "appendonly") == "no" && !options.accept_loss)
            return refuse(Code::invalid_argument,
                          "Redis has appendonly no: a restart would lose tasks that were accepted. "
                          "Type CONFIG SET appendonly yes, or start with --accept-loss");
    }
    return {};
}

std::string durability_of(const Settings& settings, const RedisOptions& options) {
    if (settings.empty()) return "unknown";
    // The least durable server says it for all.
    std::string least = "always";
    for (const auto& of_server : settings) {
        const bool logs = value_of(of_server, "appendonly") == "yes";
        const std::string fsync = logs ? value_of(of_server, "appendfsync") : "none";
        if (fsync != "always" && fsync != "everysec")
            least = "none";
        else if (fsync == "everysec" && least == "always")
            least = "everysec";
    }
    if (options.wait_replicas > 0 || options.wait_fsync) least += "+wait";
    return least;
}

Async<Result<>> read_info(Client* client, ServerFacts* facts) {
    CO_TRY(const auto servers, co_await client->call_each(Command("INFO", "server")));
    facts->version = UINT32_MAX;
    for (const Reply& info : servers) {
        const std::string_view text = info_line(info.root().text(), "redis_version");
        const std::uint32_t version = parse_version(text);
        if (version < kOldestVersion)
            co_return refuse(Code::invalid_argument,
                             "Redis is of version " + std::string(text) +
                                 ": Holdfast needs 7.0 or later. Upgrade the server");
        facts->version = std::min(facts->version, version);
    }
    CO_TRY(const auto cluster, co_await client->call_each(Command("INFO", "cluster")));
    for (const Reply& info : cluster)
        facts->cluster |= info_line(info.root().text(), "cluster_enabled") == "1";
    co_return Result<>{};
}

Result<> check_options(const RedisOptions& options) {
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '.' || c == '-' || c == ':';
    };
    if (options.prefix.empty() || options.prefix.size() > kLongestPrefix ||
        !std::ranges::all_of(options.prefix, is_plain))
        return invalid("prefix", "must be 1 to 64 of a-z A-Z 0-9 _ . : -");
    if (options.partitions > kPartitions ||
        (options.partitions > 0 && kPartitions % options.partitions != 0))
        return invalid("partitions", "must divide 4096: 1, 2, 4, 8, 16 …");
    return {};
}

/// The store's own mark; who comes first makes it, and everybody reads it.
Async<Result<std::uint32_t>> read_mark(Client* client, RedisOptions options, bool cluster) {
    const std::uint32_t usual = cluster ? kClusterPartitions : 1;
    const std::uint32_t wanted = options.partitions > 0 ? options.partitions : usual;
    const std::string key = partition_prefix(options.prefix, 0) + "meta";
    CO_TRY(const Reply schema, co_await client->call(key, Command("HGET", key, "schema")));
    if (schema.root().is_null()) {
        CO_TRY(const Reply made,
               co_await client->call(key, Command("HSETNX", key, "partitions", wanted)));
        CO_TRY(const Reply marked,
               co_await client->call(key, Command("HSETNX", key, "schema", kSchema)));
    }
    CO_TRY(const Reply mark,
           co_await client->call(key, Command("HMGET", key, "schema", "partitions")));
    const std::int64_t found_schema = mark.root()[0].integer();
    const std::int64_t partitions = mark.root()[1].integer();
    if (found_schema != kSchema)
        co_return refuse(Code::invalid_argument,
                         "the store under prefix " + options.prefix + " has schema " +
                             std::to_string(found_schema) + ", and this version knows " +
                             std::to_string(kSchema) + ": run the version that made it");
    if (partitions <= 0 || partitions > kPartitions || kPartitions % partitions != 0)
        co_return refuse(
            Code::invalid_argument,
            key + " has partitions " + std::to_string(partitions) + ", which cannot be");
    if (options.partitions > 0 && options.partitions != partitions)
        co_return refuse(Code::invalid_argument,
                         "the store under prefix " + options.prefix + " was made with " +
                             std::to_string(partitions) + " partitions, and " +
                             std::to_string(options.partitions) +
                             " are asked for: their number is fixed. Ask for " +
                             std::to_string(partitions) + ", or take another prefix");
    co_return static_cast<std::uint32_t>(partitions);
}

}  // namespace

std::string partition_prefix(const std::string& prefix, std::uint32_t partition) {
    return '{' + prefix + ':' + std::to_string(partition) + "}:";
}

Async<Result<std::string>> read_durability(Client* client, RedisOptions options) {
    CO_TRY(const Settings settings, co_await read_settings(client));
    co_return durability_of(settings, options);
}

Async<Result<ServerFacts>> check_server(Client* client, RedisOptions options) {
    CO_TRY_VOID(check_options(options));
    ServerFacts facts;
    CO_TRY_VOID(co_await read_info(client, &facts));
    if (options.wait_fsync && facts.version < kVersionWithWaitAof)
        co_return refuse(Code::invalid_argument,
                         "waiting for the disk (WAITAOF) needs Redis 7.2, and this one is older: "
                         "upgrade it, or set appendfsync always");
    CO_TRY(const Settings settings, co_await read_settings(client));
    CO_TRY_VOID(check_settings(settings, options));
    if (settings.empty())
        log::warn(
            "Redis does not tell its settings (CONFIG): its durability is unknown, and it "
            "must have maxmemory-policy noeviction and appendonly yes");
    facts.durability = durability_of(settings, options);
    for (const auto& of_server : settings) {
        std::size_t value = 64;
        const std::string text = value_of(of_server, "hash-max-listpack-value");
        std::from_chars(text.data(), text.data() + text.size(), value);
        facts.longest_listpack_value =
            std::min(value, &of_server == &settings.front() ? value : facts.longest_listpack_value);
    }
    CO_TRY(facts.partitions, co_await read_mark(client, options, facts.cluster));
    co_return facts;
}

}  // namespace holdfast::stores::redis
