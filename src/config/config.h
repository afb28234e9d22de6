// How a Holdfast process is set up. Every option is described once, in config/options.cpp; flags,
// environment, file, help and docs/reference/config.md follow from that table.
//
//     flag  >  HOLDFAST_* variable  >  TOML file  >  default
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "base/result.h"
#include "base/time.h"
#include "domain/policy.h"

namespace holdfast::config {

/// Always of the machine itself: there is no authentication yet.
struct Address {
    std::string host;  ///< An IP literal, without brackets.
    std::uint16_t port = 0;

    std::string text() const;  ///< "127.0.0.1:7400", "[::1]:7400"
    friend bool operator==(const Address&, const Address&) = default;
};

/// Which of them are built in is not known here.
enum class Scheme : std::uint8_t {
    memory,
    sqlite,
    redis,
    rediss,
    redis_cluster,
    rediss_cluster,
    redis_sentinel,
    postgres,
};
constexpr bool is_redis(Scheme scheme) {
    return scheme >= Scheme::redis && scheme <= Scheme::redis_sentinel;
}

struct StoreUrl {
    std::string text;  ///< May hold a password: show `redacted()`.
    Scheme scheme = Scheme::memory;

    /// What follows "sqlite:", "memory:" or "redis://": a path, nothing, or the servers.
    std::string_view place() const;
    std::string redacted() const;
    friend bool operator==(const StoreUrl&, const StoreUrl&) = default;
};

enum class Durability : std::uint8_t { full, relaxed };

/// Made by load() or defaults(): the values of the options stand in their table, not here.
struct Config {
    struct Server {
        Address listen;
        Duration drain{};
        std::string instance;            ///< "auto": from the machine's name.
        std::vector<std::string> roles;  ///< "all", or some of api, gateway, ticker.
        bool read_only = false;
    } server;
    struct Store {
        StoreUrl url;
        Durability durability{};
        std::size_t body_cache_bytes = 0;
    } store;
    struct Redis {
        std::string prefix;
        std::size_t partitions = 0;  ///< 0: as many as suit the kind of server.
        bool accept_loss = false;
        std::vector<std::string> pel_queues;  ///< "*": all.
        Duration reclaim_idle{};
        std::string dlq;  ///< "auto": below the prefix; empty: none.
        std::size_t wait_replicas = 0;
        bool wait_aof = false;
        Duration wait_timeout{};
    } redis;
    struct Retention {
        Duration finished{};  ///< 0: as long as suits the store.
        Duration feed{};
        std::size_t finished_most = 0;  ///< 0: as many as suits the store.
        Duration audit{};
    } retention;
    struct Redact {
        std::vector<std::string> keys;
        bool always = false;
    } redact;
    struct Http {
        std::size_t max_body_bytes = 0;
        std::size_t max_connections = 0;
        std::size_t max_connections_per_address = 0;
        Duration header_timeout{};
        Duration idle_timeout{};
        std::size_t min_body_bytes_per_second = 0;
        std::size_t max_waiting = 0;
    } http;
    struct Engine {
        std::size_t max_in_flight = 0;
        Duration poll_interval{};
    } engine;
    struct Log {
        log::Level level{};
        log::Form form{};
    } log;
    struct Dev {
        bool demo = false;
    } dev;
    struct Test {
        Duration commit_delay{};
    } test;
    std::vector<domain::Preset> presets;  ///< Checked; for domain::use_own_presets().
};

Config defaults();

using Environment = std::map<std::string, std::string, std::less<>>;
/// The variables of `environ` that are ours to judge: HOLDFAST_*.
Environment environment_of(const char* const* environ);

struct Inputs {
    std::string_view command;  ///< "serve", "dev", "config", …: it decides which flags there are.
    std::vector<std::string> args;  ///< Only flags of the table: `--name value`, `--name=value`.
    Environment environment;
    /// Where a file is looked for when none is named; the first that exists is read.
    std::vector<std::string> usual_files{"./holdfast.toml", "/etc/holdfast/holdfast.toml"};
};

/// One value and where it comes from; for people, so without secrets.
struct Setting {
    std::string name;    ///< "server.listen", "presets.patient"
    std::string value;   ///< "127.0.0.1:7400"
    std::string source;  ///< "default", "./holdfast.toml:12", "HOLDFAST_LISTEN" or "--listen"
};

struct Loaded {
    Config config;
    std::vector<Setting> settings;  ///< Every option in the order of the table, then presets.
    std::string file;               ///< The file that was read, or empty.
};

/// All problems at once, one per line, each with its source: what is unknown, what has the wrong
/// type and what is out of range, also where another source overrides it. No values of secrets.
Result<Loaded> load(const Inputs& inputs);

/// For commands that have flags of their own: those of the table, with their values, and the rest
/// in order.
struct SplitArgs {
    std::vector<std::string> options;
    std::vector<std::string> rest;
};
SplitArgs split_args(std::string_view command, const std::vector<std::string>& args);

// ---- for people ----

/// For `holdfast config`.
std::string render_table(const Loaded& loaded);
Json render_json(const Loaded& loaded);
/// For GET /v1/config: with the default of each and what it is for.
Json render_options(const Loaded& loaded);
/// The flags of a command, for its --help.
std::string help(std::string_view command);
/// docs/reference/config.md
std::string reference();

}  // namespace holdfast::config
