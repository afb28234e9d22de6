#include "app/house.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "app/backend.h"
#include "app/json_list.h"
#include "app/neighbourhood.h"
#include "base/log.h"
#include "engine/engine.h"
#include "engine/services.h"
#include "http/http.h"
#include "nodes/nodes.h"
#include "observe/observe.h"
#include "observe/ports/series_keeper.h"
#include "stores/layers/faulty_store.h"
#include "stores/layers/metered_store.h"
#include "stores/layers/outage_store.h"

namespace holdfast::app {
namespace {

http::ServerOptions server_options(const config::Config& config) {
    http::ServerOptions options;
    options.listen = {asio::ip::make_address(config.server.listen.host), config.server.listen.port};
    options.limits.body = config.http.max_body_bytes;
    options.most_connections = config.http.max_connections;
    options.most_per_address = config.http.max_connections_per_address;
    options.header_timeout = config.http.header_timeout;
    options.idle_timeout = config.http.idle_timeout;
    options.least_body_rate = config.http.min_body_bytes_per_second;
    options.most_waiting = config.http.max_waiting;
    options.drain = config.server.drain;
    return options;
}

engine::Options engine_options(const config::Config& config) {
    engine::Options options;
    options.poll_interval = config.engine.poll_interval;
    options.most_waiters = 2 * config.http.max_waiting;
    options.most_in_flight = config.engine.max_in_flight;
    return options;
}

stores::Faults faults_of(const config::Config& config) {
    return {.longest_delay = config.test.commit_delay};
}

/// Host, process and a random part: the process of a container is 1 in all of them.
std::string instance_name(const std::string& wanted) {
    if (wanted != "auto") return wanted;
    constexpr std::size_t kLongestHost = 40;
    std::array<char, 256> text{};
    std::string host = ::gethostname(text.data(), text.size() - 1) == 0 ? text.data() : "host";
    std::string random = std::to_string(Rng::from_system()() % 10'000);
    return host.substr(0, kLongestHost) + '-' + std::to_string(::getpid()) + '-' + random;
}

using http::Role;

std::vector<Role> roles_of(const std::vector<std::string>& names) {
    std::vector<Role> roles;
    for (const Role role : {Role::api, Role::gateway, Role::ticker}) {
        const auto is_it = [&](const std::string& name) {
            return name == "all" || name == to_string(role);
        };
        if (std::ranges::any_of(names, is_it)) roles.push_back(role);
    }
    return roles;
}

/// One process has the embedded store to itself: what it does not do, nobody does.
Result<> check_roles(const config::Config& config) {
    if (config::is_redis(config.store.url.scheme) || roles_of(config.server.roles).size() == 3)
        return {};
    return invalid("server.roles",
                   "instances with different roles need a store that they share; use all, or "
                   "--store redis://…");
}

engine::RetentionOptions retention_of(const config::Config& config) {
    constexpr Duration kEmbedded = std::chrono::days{7};
    constexpr Duration kRedis = std::chrono::hours{1};  // memory is dearer than disk
    constexpr std::size_t kMostInRedis = 1'000'000;     // about 0.8 GB with small payloads
    const bool redis = config::is_redis(config.store.url.scheme);
    Duration finished = config.retention.finished;
    if (finished == Duration{0}) finished = redis ? kRedis : kEmbedded;
    std::size_t most = config.retention.finished_most;
    if (most == 0 && redis) most = kMostInRedis;
    return {finished, config.retention.feed, most};
}

/// "http://127.0.0.1:7400"
std::string url_of(const asio::ip::tcp::endpoint& at) {
    const std::string host = at.address().to_string();
    return "http://" + (at.address().is_v6() ? '[' + host + ']' : host) + ':' +
           std::to_string(at.port());
}

Json ids_json(const std::vector<Uuid>& ids) {
    constexpr std::size_t kShown = 20;
    std::vector<Json> shown;
    for (std::size_t i = 0; i < std::min(ids.size(), kShown); ++i)
        shown.push_back(Json::quoted(ids[i].text()));
    return list_of(shown);
}

}  // namespace

/// In the order in which they need one another.
struct House::Rooms {
    Rooms(const config::Config& c, Json all_options, std::string name,
          std::unique_ptr<SystemClock> time, Backend b, asio::io_context& context)
        : config(c),
          options(std::move(all_options)),
          instance(std::move(name)),
          roles(roles_of(c.server.roles)),
          own_clock(std::move(time)),
          clock(*own_clock),
          backend(std::move(b)),
          metrics(HOLDFAST_VERSION),
          slowed(*backend.store, clock, context.get_executor(), Rng::from_system(), faults_of(c)),
          watched(c.test.commit_delay > Duration{0} ? slowed : *backend.store, clock,
                  outage_news()),
          store(watched, clock, metrics.registry()),
          engine(store, clock, context.get_executor(), engine_options(c)),
          series(clock.now()),
          witnesses({&metrics, &series}),
          keeper(
              store, series, [this] { return engine.now(); }, instance, clock.now()),
          workers(clock),
          events(engine, clock, context.get_executor()),
          ticker(engine),
          retention(engine, retention_of(c)),
          doctor(engine),
          timekeeper(
              engine, [this] { return keep_time(); }, kTimekeeping),
          sweeper(
              engine, [this] { return backend.sweep(); }, kSweeping),
          chronicler(
              engine, [this] { return keeper.save(); }, observe::SeriesKeeper::kEvery),
          archivist(
              engine, [this] { return trim_audit(); }, kArchiving),
          neighbourhood(*backend.coordination, engine, workers, {instance, HOLDFAST_VERSION, roles},
                        clock, context.get_executor()),
          services(context.get_executor()),
          server(http_services(), server_options(c), clock, context.get_executor()) {
        engine.set_witness(&witnesses);
        engine.on_request([this](const Uuid& id, bool cancel, bool pause) {
            workers.requested(id, cancel, pause);
        });
        if (backend.on_another_server)
            backend.on_another_server([this] {
                log::warn("another server answers for the store: looking for what it does not know",
                          {{"store", config.store.url.redacted()}});
                sweeper.hurry();
                neighbourhood.look_around();
            });
    }

    stores::OutageNews outage_news() {
        return {.silent = [this](const Error& error) { fell_silent(error); },
                .answers = [this](Duration after) { answers_again(after); }};
    }
    void fell_silent(const Error& error) const {
        log::critical("the store does not answer: nothing is accepted until it does",
                      {{"store", config.store.url.redacted()}, {"error", error.detail}});
    }
    /// What failed meanwhile need not wait for its time to be well again.
    void answers_again(Duration after) {
        log::warn(
            "the store answers again",
            {{"store", config.store.url.redacted()},
             {"after", format_duration(std::chrono::floor<std::chrono::milliseconds>(after))}});
        for (engine::Service* service : all_services()) {
            if (service->failing()) service->hurry();
        }
    }

    bool has(Role role) const { return std::ranges::find(roles, role) != roles.end(); }

    /// What runs here; the ticker keeps the time by itself.
    std::vector<engine::Service*> all_services() {
        if (!has(Role::ticker)) return {&timekeeper, &chronicler};
        std::vector<engine::Service*> all{&ticker, &retention, &doctor, &chronicler, &archivist};
        if (backend.sweep) all.push_back(&sweeper);
        return all;
    }

    Async<Result<bool>> keep_time() {
        CO_TRY_VOID(co_await engine.sync_clock());
        co_return false;
    }

    Async<Result<bool>> trim_audit() {
        CO_TRY_VOID(co_await engine.trim_audit(engine.now() - config.retention.audit));
        co_return false;
    }

    http::Services http_services() {
        return {
            .engine = engine,
            .workers = workers,
            .metrics = metrics,
            .events = events,
            .series = keeper,
            .instance = instance,
            .roles = roles,
            .read_only = config.server.read_only,
            .started_at = clock.now(),
            .redaction = domain::Redaction(config.redact.keys),
            .redact_always = config.redact.always,
            .store = config.store.url.redacted(),
            .config = options,
            .durability = [this] { return store.durability(); },
            .health = [this] { return health(); },
            .doctor = [this] { return examine(); },
            .instances = [this] { return neighbourhood.instances(); },
            .other_workers = [this] { return neighbourhood.other_workers(); },
            .drain_elsewhere =
                [this](std::string worker) {
                    return neighbourhood.drain_elsewhere(std::move(worker));
                },
            .before_scrape =
                [this] {
                    metrics.set_without_wake_source(doctor.diagnosis().without_wake_source.size());
                    metrics.set_workers(workers.size());
                },
            .stopping = nullptr};
    }

    Json health() {
        std::vector<Json> problems;
        if (const auto trouble = backend.trouble()) problems.push_back(Json::quoted(*trouble));
        const auto add = [&](std::string_view name, const engine::Service& service) {
            if (service.failing())
                problems.push_back(
                    Json::quoted(std::string(name) + ": " + service.last_error()->detail));
        };
        add("timers", ticker);
        add("retention", retention);
        add("doctor", doctor);
        add("sweeper", sweeper);
        add("series", chronicler);
        add("audit", archivist);
        if (!doctor.diagnosis().healthy())
            problems.push_back(
                Json::quoted("the doctor found tasks that nothing will move: see /v1/doctor"));
        return JsonObject{}.add("problems", list_of(problems)).done();
    }

    Async<Json> examine() {
        const auto whole = co_await backend.check();
        const auto looked = co_await doctor.run_once();
        const engine::Diagnosis& found = doctor.diagnosis();
        std::vector<Json> miscounted;
        miscounted.reserve(found.miscounted.size());
        for (const std::string& text : found.miscounted) miscounted.push_back(Json::quoted(text));
        JsonObject report;
        report.add("healthy", Json::of(whole && looked && found.healthy()))
            .add("store", config.store.url.redacted())
            .add("durability", store.durability())
            .add("store_is_whole", Json::of(whole.has_value()))
            .add("examined", static_cast<std::int64_t>(found.examined))
            .add("without_wake_source", ids_json(found.without_wake_source))
            .add("misplaced", ids_json(found.misplaced))
            .add("overdue", ids_json(found.overdue))
            .add("miscounted", list_of(miscounted))
            .add("time", format_time(engine.now()));
        if (!whole) report.add("store_problem", whole.error().detail);
        co_return report.done();
    }

    static constexpr Duration kTimekeeping = std::chrono::seconds{1};
    static constexpr Duration kSweeping = std::chrono::seconds{5};
    static constexpr Duration kArchiving = std::chrono::minutes{10};

    config::Config config;
    Json options;  ///< With their sources, for people.
    std::string instance;
    std::vector<Role> roles;
    std::unique_ptr<SystemClock> own_clock;
    Clock& clock;
    Backend backend;
    observe::Metrics metrics;
    stores::FaultyStore slowed;
    stores::OutageStore watched;
    stores::MeteredStore store;
    engine::Engine engine;
    observe::Series series;
    engine::Witnesses witnesses;
    observe::SeriesKeeper keeper;
    nodes::Workers workers;
    http::Events events;
    engine::Ticker ticker;
    engine::Retention retention;
    engine::Doctor doctor;
    engine::Chore timekeeper;
    engine::Chore sweeper;
    engine::Chore chronicler;  ///< Saves what was counted.
    engine::Chore archivist;   ///< Removes what was kept of operators for long enough.
    Neighbourhood neighbourhood;
    TaskGroup services;
    http::Server server;
};

House::House(std::unique_ptr<Rooms> rooms) : rooms_(std::move(rooms)) {}
House::~House() = default;

Result<std::unique_ptr<House>> House::build(const config::Loaded& loaded,
                                            asio::io_context& context) {
    const config::Config& config = loaded.config;
    TRY_VOID(check_roles(config));
    TRY_VOID(domain::use_own_presets(config.presets));
    std::string instance = instance_name(config.server.instance);
    // The clock outlives the store that is opened with it, so the rooms are made around both.
    auto clock = std::make_unique<SystemClock>();
    TRY(Backend backend, open_backend(config, instance, *clock, context));
    auto rooms =
        std::make_unique<Rooms>(config, config::render_options(loaded), std::move(instance),
                                std::move(clock), std::move(backend), context);
    TRY_VOID(rooms->server.listen());
    return std::unique_ptr<House>(new House(std::move(rooms)));
}

void House::start() {
    for (engine::Service* service : rooms_->all_services())
        rooms_->services.spawn(engine::Service::run(service, &rooms_->services));
    rooms_->neighbourhood.join(rooms_->services, url());
    rooms_->server.start();
}

Async<Result<>> House::stop() {
    co_await rooms_->server.stop();
    co_await rooms_->services.stop();
    (void)co_await rooms_->keeper.save();  // half a minute of a chart is no reason not to stop
    co_await rooms_->neighbourhood.leave();
    co_return co_await rooms_->backend.close();
}

std::string House::url() const {
    return url_of(rooms_->server.address());
}

}  // namespace holdfast::app
