#include "app/house.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "app/backend.h"
#include "base/log.h"
#include "engine/engine.h"
#include "engine/services.h"
#include "http/http.h"
#include "nodes/nodes.h"
#include "observe/observe.h"
#include "stores/layers/faulty_store.h"
#include "stores/layers/metered_store.h"

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

std::string instance_name() {
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0) return std::to_string(::getpid());
    return std::string(host.data()) + '-' + std::to_string(::getpid());
}

Json ids_json(const std::vector<Uuid>& ids) {
    constexpr std::size_t kShown = 20;
    std::string out = "[";
    for (std::size_t i = 0; i < std::min(ids.size(), kShown); ++i)
        out.append(i > 0 ? "," : "").append(Json::quoted(ids[i].text()).text());
    return Json::stored(out + ']');
}

}  // namespace

/// In the order in which they need one another.
struct House::Rooms {
    Rooms(const config::Config& c, std::unique_ptr<SystemClock> time, Backend b,
          asio::io_context& context)
        : config(c),
          own_clock(std::move(time)),
          clock(*own_clock),
          backend(std::move(b)),
          metrics(HOLDFAST_VERSION),
          slowed(*backend.store, clock, context.get_executor(), Rng::from_system(), faults_of(c)),
          store(c.test.commit_delay > Duration{0} ? slowed : *backend.store, clock,
                metrics.registry()),
          engine(store, clock, context.get_executor(), engine_options(c)),
          workers(clock),
          events(engine, clock, context.get_executor()),
          ticker(engine),
          retention(engine, {c.retention.finished, c.retention.feed}),
          doctor(engine),
          services(context.get_executor()),
          server(http_services(), server_options(c), clock, context.get_executor()) {
        engine.set_witness(&metrics);
    }

    http::Services http_services() {
        return {
            .engine = engine,
            .workers = workers,
            .metrics = metrics,
            .events = events,
            .instance = instance_name(),
            .store = config.store.url.redacted(),
            .durability = std::string(store.durability()),
            .health = [this] { return health(); },
            .doctor = [this] { return examine(); },
            .before_scrape =
                [this] {
                    metrics.set_without_wake_source(doctor.diagnosis().without_wake_source.size());
                    metrics.set_workers(workers.size());
                },
            .stopping = nullptr};
    }

    Json health() {
        std::string problems = "[";
        const auto add = [&](std::string_view name, const engine::Service& service) {
            if (!service.failing()) return;
            problems.append(problems.size() > 1 ? "," : "")
                .append(
                    Json::quoted(std::string(name) + ": " + service.last_error()->detail).text());
        };
        add("timers", ticker);
        add("retention", retention);
        add("doctor", doctor);
        if (!doctor.diagnosis().healthy())
            problems.append(problems.size() > 1 ? "," : "")
                .append(R"("the doctor found tasks that nothing will move: see /v1/doctor")");
        return JsonObject{}.add("problems", Json::stored(problems + ']')).done();
    }

    Async<Json> examine() {
        const auto whole = co_await backend.check();
        const auto looked = co_await doctor.run_once();
        const engine::Diagnosis& found = doctor.diagnosis();
        std::string miscounted = "[";
        for (const std::string& text : found.miscounted)
            miscounted.append(miscounted.size() > 1 ? "," : "").append(Json::quoted(text).text());
        JsonObject report;
        report.add("healthy", Json::of(whole && looked && found.healthy()))
            .add("store", config.store.url.redacted())
            .add("durability", store.durability())
            .add("store_is_whole", Json::of(whole.has_value()))
            .add("examined", static_cast<std::int64_t>(found.examined))
            .add("without_wake_source", ids_json(found.without_wake_source))
            .add("misplaced", ids_json(found.misplaced))
            .add("overdue", ids_json(found.overdue))
            .add("miscounted", Json::stored(miscounted + ']'))
            .add("time", format_time(engine.now()));
        if (!whole) report.add("store_problem", whole.error().detail);
        co_return report.done();
    }

    config::Config config;
    std::unique_ptr<SystemClock> own_clock;
    Clock& clock;
    Backend backend;
    observe::Metrics metrics;
    stores::FaultyStore slowed;
    stores::MeteredStore store;
    engine::Engine engine;
    nodes::Workers workers;
    http::Events events;
    engine::Ticker ticker;
    engine::Retention retention;
    engine::Doctor doctor;
    TaskGroup services;
    http::Server server;
};

House::House(std::unique_ptr<Rooms> rooms) : rooms_(std::move(rooms)) {}
House::~House() = default;

Result<std::unique_ptr<House>> House::build(const config::Config& config,
                                            asio::io_context& context) {
    TRY_VOID(domain::use_own_presets(config.presets));
    // The clock outlives the store that is opened with it, so the rooms are made around both.
    auto clock = std::make_unique<SystemClock>();
    TRY(Backend backend, open_backend(config.store, *clock, context.get_executor()));
    auto rooms = std::make_unique<Rooms>(config, std::move(clock), std::move(backend), context);
    TRY_VOID(rooms->server.listen());
    return std::unique_ptr<House>(new House(std::move(rooms)));
}

void House::start() {
    for (engine::Service* service : {static_cast<engine::Service*>(&rooms_->ticker),
                                     static_cast<engine::Service*>(&rooms_->retention),
                                     static_cast<engine::Service*>(&rooms_->doctor)})
        rooms_->services.spawn(engine::Service::run(service, &rooms_->services));
    rooms_->server.start();
}

Async<Result<>> House::stop() {
    co_await rooms_->server.stop();
    co_await rooms_->services.stop();
    co_return co_await rooms_->backend.close();
}

std::string House::url() const {
    const auto at = rooms_->server.address();
    const std::string host = at.address().to_string();
    return "http://" + (at.address().is_v6() ? '[' + host + ']' : host) + ':' +
           std::to_string(at.port());
}

}  // namespace holdfast::app
