// For machines that watch.
#include "http/handlers.h"
#include "http/openapi.h"
#include "http/render.h"
#include "observe/observe.h"

namespace holdfast::http {
namespace {

std::string roles_json(const std::vector<Role>& roles) {
    std::string out;
    add_list(out, roles, [](Role role) { return Json::quoted(to_string(role)).text(); });
    return out;
}

}  // namespace

Answer get_health(Call call) {
    co_return json_response(
        JsonObject{}.add("status", "alive").add("instance", call.services->instance).done());
}

Answer get_readiness(Call call) {
    const auto& services = *call.services;
    const auto reached = co_await call.engine().sync_clock();
    const bool stopping = services.stopping();
    const Json health = services.health();
    const bool degraded = !health.member("problems").elements().empty();
    JsonObject object;
    object
        .add("status", stopping   ? "stopping"
                       : !reached ? "unavailable"
                       : degraded ? "degraded"
                                  : "ready")
        .add("instance", services.instance)
        .add("roles", Json::stored(roles_json(services.roles)))
        .add("store", services.store)
        .add("durability", services.durability())
        .add("degraded", Json::of(degraded))
        .add("problems", health.member("problems"))
        .add("time", format_time(call.engine().now()))
        .add("version", HOLDFAST_VERSION)
        .add("started_at", format_time(services.started_at))
        .add("read_only", Json::of(services.read_only));
    if (!reached) object.add("detail", reached.error().detail);
    co_return json_response(object.done(), reached && !stopping ? 200 : 503);
}

Answer get_metrics(Call call) {
    auto& metrics = call.services->metrics;
    // A store that is silent is seen in the other metrics: they are wanted most just then.
    if (const auto stats = co_await call.engine().stats()) metrics.set_tasks(*stats);
    call.services->before_scrape();
    Response response{.body = metrics.text()};
    response.content_type = observe::Metrics::kContentType;
    co_return response;
}

Answer get_openapi(Call) {
    co_return Response{.body = openapi()};
}

Answer get_doctor(Call call) {
    co_return json_response(co_await call.services->doctor());
}

Answer get_config(Call call) {
    co_return json_response(call.services->config);
}

Answer list_instances(Call call) {
    CO_TRY(const Json all, co_await call.services->instances());
    co_return json_response(all);
}

}  // namespace holdfast::http
