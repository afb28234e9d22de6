// The table of routes: the router serves it, /openapi.json describes it, and nothing is in one and not the other.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/call.h"
#include "http/message.h"

namespace holdfast::http {

struct Parameter {
    std::string_view name;
    std::string_view schema;  ///< JSON Schema, as JSON.
    std::string_view text;
};

struct Promise {
    int status;
    std::string_view schema;  ///< A name among the schemas of openapi/schemas.json; empty: no JSON.
    std::string_view text;
    std::string_view media = {};  ///< What it is where no schema says it.
};

enum class Manner : std::uint8_t {
    plain,   ///< One answer, at once.
    waits,   ///< One answer, perhaps after a long poll.
    events,  ///< Takes the connection over: server-sent events.
    stream,  ///< Takes the connection over: WebSocket.
    page,    ///< For a browser: what its query says is the page's own affair.
};

struct Route {
    Method method;
    std::string_view path;  ///< With parameters in braces: /v1/tasks/{id}
    std::string_view name;  ///< The operation's id.
    std::string_view group;
    std::string_view summary;
    Handler handler = nullptr;   ///< None where the connection is taken over.
    std::string_view body = {};  ///< The schema of the body; empty: it takes none.
    std::span<const Promise> promises = {};
    std::span<const Parameter> query = {};
    Manner manner = Manner::plain;
};

std::span<const Route> routes();
/// Which instances serve it.
Role role_of(const Route& route);
/// A read-only server refuses it: it changes what others submitted or set up.
bool is_operators_act(const Route& route);

/// A path that fits no route has neither; one that fits with other methods has `allowed`.
struct Match {
    const Route* route = nullptr;
    std::array<std::string, 2> params;
    std::string allowed;  ///< "GET, POST", when only the method is wrong.
};
/// None: the path is malformed.
std::optional<Match> match(Method method, std::string_view path);

}  // namespace holdfast::http
