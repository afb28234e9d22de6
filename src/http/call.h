// One request on its way through a handler, and what handlers may use.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/json.h"
#include "base/result.h"
#include "domain/redact.h"
#include "engine/engine.h"
#include "http/message.h"

namespace holdfast::nodes {
class Workers;
}
namespace holdfast::observe {
class Metrics;
class SeriesKeeper;
}  // namespace holdfast::observe

namespace holdfast::http {

class Events;

/// What an instance does; the routes of a role that it has not are another instance's.
enum class Role : std::uint8_t { any, api, gateway, ticker };
constexpr std::string_view to_string(Role role) {
    constexpr std::string_view kNames[] = {"any", "api", "gateway", "ticker"};
    return kNames[static_cast<std::size_t>(role)];
}

/// What the house knows about itself and the handlers may tell.
struct Services {
    engine::Engine& engine;
    nodes::Workers& workers;
    observe::Metrics& metrics;
    Events& events;
    observe::SeriesKeeper& series;
    std::string instance;
    std::vector<Role> roles;
    bool read_only = false;  ///< What operators do is refused here.
    Time started_at;
    domain::Redaction redaction;                   ///< What is hidden from who asks for it …
    bool redact_always = false;                    ///< … and from everybody who looks.
    std::string store;                             ///< Which one, without secrets.
    Json config;                                   ///< {"options":[…]}, without secrets.
    std::function<std::string_view()> durability;  ///< What "accepted" means here, just now.
    /// What the house has to say about its health beyond the store's answer: JSON of an object.
    std::function<Json()> health;
    std::function<Async<Json>()> doctor;
    std::function<Async<Result<Json>>()> instances;  ///< {"instances":[…]}
    /// The workers of the other instances, each as JSON, as far as it is known.
    std::function<Async<std::vector<Json>>()> other_workers;
    /// Asks the other instances to drain a worker of theirs; false: none has it.
    std::function<Async<bool>(std::string worker)> drain_elsewhere;
    std::function<void()> before_scrape;  ///< Brings the metrics up to date.
    std::function<bool()> stopping;
};

struct Call {
    Services* services = nullptr;
    const Request* request = nullptr;
    std::array<std::string, 2> params;  ///< Of the path, in order, decoded.
    Query query;
    std::string request_id;
    std::string address;                ///< Of the caller.
    std::string traceparent;            ///< For what this call makes; empty: nobody traces it.
    std::function<bool()> caller_gone;  ///< Nobody is there any more to be answered.

    engine::Engine& engine() const { return services->engine; }
    /// The value of a query parameter; null: not given.
    const std::string* parameter(std::string_view name) const;
    /// A duration among the query parameters, 0 to 60 s: `wait`.
    Result<Duration> wait() const;
    /// A whole number among the query parameters, within these bounds.
    Result<std::size_t> whole_number(std::string_view name, std::size_t least, std::size_t most,
                                     std::size_t usual) const;
    /// The path's id.
    Result<Uuid> id() const;
    /// The task as this caller may see it: with redact=1, or always, without secrets.
    Json shown(const domain::Record& task) const;
    /// The same for anything else that people brought.
    Json shown(const Json& json) const;
    bool is_redacted() const;
    /// Who acts, for the audit. Nobody is authenticated yet: it is what the caller says, and where it calls from.
    domain::By by(std::string why) const;
};

using Answer = Async<Result<Response>>;
using Handler = Answer (*)(Call call);

/// {…} with status 200, unless said.
inline Response json_response(const Json& json, int status = 200) {
    return {.status = status, .body = json.text()};
}

}  // namespace holdfast::http
