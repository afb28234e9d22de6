// From a request to its handler and back: who may ask, which route it is, and what every answer carries.
#include <algorithm>
#include <array>

#include "base/log.h"
#include "http/connection.h"
#include "http/http.h"
#include "http/problem.h"
#include "http/routes.h"
#include "observe/observe.h"

namespace holdfast::http {
namespace {

/// Without authentication only this machine may ask, and a name that a page made to point here is not this machine.
bool is_own_host(std::string_view host) {
    constexpr std::array<std::string_view, 3> kOwn{"localhost", "127.0.0.1", "[::1]"};
    return std::ranges::any_of(kOwn, [&](std::string_view own) {
        return same_name(host.substr(0, own.size()), own) &&
               (host.size() == own.size() || host[own.size()] == ':');
    });
}

bool is_own_origin(std::string_view origin) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (origin.starts_with(scheme)) return is_own_host(origin.substr(scheme.size()));
    }
    return false;
}

struct Rejection {
    int status;
    Error error;
    std::pair<std::string, std::string> header = {};  ///< What the answer has to carry.
};

std::optional<Rejection> check_sender(const Request& request) {
    const std::string_view host = request.header("host");
    if (!host.empty() && !is_own_host(host))
        return Rejection{421, {Code::invalid_argument, "Host is not this machine", "Host"}};
    const std::string_view origin = request.header("origin");
    if (!origin.empty() && !is_own_origin(origin))
        return Rejection{
            403,
            {Code::invalid_argument, "pages of other origins may not call this server", "Origin"}};
    return std::nullopt;
}

std::optional<Rejection> check_query(const Route& route, const Query& query) {
    if (route.manner == Manner::page) return std::nullopt;
    for (const auto& [name, value] : query) {
        if (std::ranges::find(route.query, name, &Parameter::name) == route.query.end())
            return Rejection{422, invalid(name, "is not a parameter of this call").error()};
    }
    return std::nullopt;
}

/// What the WebSocket library would refuse is refused here, in the words of all other refusals.
std::optional<Rejection> check_upgrade(const Request& request) {
    if (request.http_1_0 || !same_name(request.header("upgrade"), "websocket") ||
        !lists(request.header("connection"), "upgrade"))
        return Rejection{
            426,
            {Code::invalid_argument,
             "this is a WebSocket: send Upgrade: websocket and Connection: Upgrade", "Upgrade"},
            {"Upgrade", "websocket"}};
    if (request.header("sec-websocket-version") != "13")
        return Rejection{
            426,
            {Code::invalid_argument, "the WebSocket version is 13", "Sec-WebSocket-Version"},
            {"Sec-WebSocket-Version", "13"}};
    constexpr std::size_t kKeySize = 24;  // sixteen bytes in base64
    if (request.header("sec-websocket-key").size() != kKeySize)
        return Rejection{
            400, {Code::invalid_argument, "Sec-WebSocket-Key is not a key", "Sec-WebSocket-Key"}};
    return std::nullopt;
}

std::optional<Rejection> check_takeover(const Request& request, Manner manner) {
    if (manner != Manner::events && manner != Manner::stream) return std::nullopt;
    if (request.method == Method::head)
        return Rejection{
            405, {Code::invalid_argument, "what never ends has no HEAD", {}}, {"Allow", "GET"}};
    return manner == Manner::stream ? check_upgrade(request) : std::nullopt;
}

/// Not a 404: a task would then seem not to exist.
std::optional<Rejection> check_role(const Route& route, const std::vector<Role>& roles) {
    const Role needed = role_of(route);
    if (needed == Role::any || std::ranges::find(roles, needed) != roles.end()) return std::nullopt;
    std::string detail = "this instance does not have the role ";
    detail.append(to_string(needed))
        .append(", which serves this path; GET /v1/instances lists all");
    return Rejection{421, {Code::invalid_argument, std::move(detail), {}}};
}

std::optional<Rejection> check_read_only(const Route& route, bool read_only) {
    if (!read_only || !is_operators_act(route)) return std::nullopt;
    return Rejection{403,
                     {Code::forbidden,
                      "this server is read-only (server.read_only): it takes tasks and serves "
                      "workers, and refuses what operators do",
                      {}}};
}

/// Percent-encoded UTF-8, at most 100 characters, none that a terminal would obey.
std::optional<Rejection> check_user(std::string_view header) {
    if (header.empty()) return std::nullopt;
    constexpr std::size_t kLongest = 100;
    const auto user = percent_decoded(header);
    const auto starts_one = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; };
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
    if (user && Json::quoted(*user).value().as_string() == *user &&
        std::ranges::count_if(*user, starts_one) <= static_cast<std::ptrdiff_t>(kLongest) &&
        std::ranges::none_of(*user, is_control))
        return std::nullopt;
    return Rejection{
        422, invalid("Holdfast-User", "must be percent-encoded UTF-8 of at most 100 characters")
                 .error()};
}

/// Of parameters that are a switch.
std::optional<Rejection> check_switches(const Call& call) {
    const std::string* redact = call.parameter("redact");
    if (redact == nullptr || *redact == "0" || *redact == "1") return std::nullopt;
    return Rejection{422, invalid("redact", "must be 0 or 1").error()};
}

std::string usable_request_id(std::string_view given) {
    return domain::check_token("X-Request-Id", given) ? std::string(given) : std::string{};
}

}  // namespace

std::string Server::new_request_id() {
    return observe::new_request_id(rng_);
}

std::expected<Server::Opened, Response> Server::open(const Request& request,
                                                     const Connection& connection) {
    Opened opened{.at = clock_.now()};
    Call& call = opened.call;
    call.request_id = usable_request_id(request.header("x-request-id"));
    if (call.request_id.empty()) call.request_id = new_request_id();
    call.services = &services_;
    call.request = &request;
    call.address = connection.address();
    call.caller_gone = [&connection] { return connection.gone(); };

    const auto rejected = [&](const Rejection& rejection) {
        Response response = problem(rejection.status, rejection.error, call.request_id);
        if (!rejection.header.first.empty()) response.headers.push_back(rejection.header);
        return std::unexpected(finished(std::move(response), opened, request));
    };
    if (const auto no = check_sender(request)) return rejected(*no);
    auto found = match(request.method, request.path);
    if (!found)
        return rejected({400, {Code::invalid_argument, "the path is not well encoded", {}}});
    if (found->route == nullptr && !found->allowed.empty())
        return rejected(
            {405,
             {Code::invalid_argument, "this path takes " + found->allowed + " only", {}},
             {"Allow", found->allowed}});
    if (found->route == nullptr)
        return rejected(
            {404, {Code::not_found, "there is no such path; /openapi.json lists all", {}}});
    opened.route = found->route;
    if (const auto no = check_role(*opened.route, services_.roles)) return rejected(*no);
    if (const auto no = check_read_only(*opened.route, services_.read_only)) return rejected(*no);
    call.params = std::move(found->params);
    auto query = parse_query(request.query);
    if (!query)
        return rejected({400, {Code::invalid_argument, "the query is not well encoded", {}}});
    if (const auto no = check_query(*opened.route, *query)) return rejected(*no);
    call.query = *std::move(query);
    if (const auto no = check_switches(call)) return rejected(*no);
    if (const auto no = check_user(request.header("holdfast-user"))) return rejected(*no);
    if (opened.route->body.empty() && !request.body.empty())
        return rejected({422, invalid("body", "this call takes none").error()});
    if (const auto no = check_takeover(request, opened.route->manner)) return rejected(*no);
    if (const auto parent = observe::parse_traceparent(request.header("traceparent")))
        call.traceparent = observe::child_of(*parent, rng_).traceparent();
    return opened;
}

/// Where the wish to wait is a parameter, only who gives it waits; in a body it is not looked for here.
bool Server::may_wait(const Opened& opened) {
    return opened.route->manner == Manner::waits &&
           (opened.route->query.empty() || opened.call.parameter("wait") != nullptr);
}

Async<Response> Server::answer(Opened opened) {
    struct Waiting {
        std::size_t& count;
        bool waits;
        Waiting(std::size_t& c, bool w) : count(c), waits(w) { count += waits ? 1 : 0; }
        ~Waiting() { count -= waits ? 1 : 0; }
        Waiting(const Waiting&) = delete;
        Waiting& operator=(const Waiting&) = delete;
    };
    const Request& request = *opened.call.request;
    const std::string request_id = opened.call.request_id;
    Response response;
    const bool waits = may_wait(opened);
    if (waits && waiting_ >= options_.most_waiting) {
        response =
            problem({Code::overloaded, "too many calls are waiting at once", {}}, request_id);
    } else {
        const Waiting seat(waiting_, waits);
        try {
            auto result = co_await opened.route->handler(opened.call);
            response = result ? *std::move(result) : problem(result.error(), request_id);
        } catch (const std::exception& failure) {
            if (group_.stopping()) throw;
            log::error("a handler failed", {{"route", opened.route->path},
                                            {"request_id", request_id},
                                            {"error", failure.what()}});
            response = problem(500,
                               {Code::unavailable,
                                "something went wrong here; it is in the log under this request_id",
                                {}},
                               request_id);
        }
    }
    co_return finished(std::move(response), opened, request);
}

Response Server::finished(Response response, const Opened& opened, const Request& request) {
    const Duration took = clock_.now() - opened.at;
    const std::string_view route = opened.route == nullptr ? "none" : opened.route->path;
    services_.metrics.answered(route, to_string(request.method),
                               static_cast<unsigned>(response.status), took);
    if (log::enabled(log::Level::debug)) {
        log::debug("request", {{"method", to_string(request.method)},
                               {"route", route},
                               {"status", std::int64_t{response.status}},
                               {"us", std::int64_t{took.count()}},
                               {"request_id", opened.call.request_id}});
    }
    response.headers.emplace_back("X-Request-Id", opened.call.request_id);
    if (!opened.call.traceparent.empty())
        response.headers.emplace_back("traceparent", opened.call.traceparent);
    return response;
}

}  // namespace holdfast::http
