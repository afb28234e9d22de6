#include "http/openapi.h"

#include <boost/json.hpp>
#include <map>

#include "http/routes.h"

namespace holdfast::http {

std::string_view openapi_text(std::string_view name);  // openapi/*.json, embedded at build time

namespace {

namespace json = boost::json;

constexpr std::string_view kVersion = HOLDFAST_VERSION;

json::object reference(std::string_view schema) {
    return {{"$ref", "#/components/schemas/" + std::string(schema)}};
}

json::object content(std::string_view type, json::object schema) {
    return {{type, json::object{{"schema", std::move(schema)}}}};
}

json::array parameters(const Route& route) {
    json::array all;
    std::string_view rest = route.path;
    for (std::size_t open = 0; (open = rest.find('{')) != std::string_view::npos;) {
        const std::size_t close = rest.find('}', open);
        const std::string_view name = rest.substr(open + 1, close - open - 1);
        json::object schema{{"type", "string"}};
        if (name == "id") schema["format"] = "uuid";
        all.push_back(json::object{
            {"name", name}, {"in", "path"}, {"required", true}, {"schema", std::move(schema)}});
        rest.remove_prefix(close + 1);
    }
    for (const Parameter& p : route.query) {
        all.push_back(json::object{{"name", p.name},
                                   {"in", "query"},
                                   {"description", p.text},
                                   {"schema", json::parse(p.schema)}});
    }
    if (route.name == "submit") {
        all.push_back(
            json::object{{"name", "Idempotency-Key"},
                         {"in", "header"},
                         {"description", "The same as the body's idempotency_key."},
                         {"schema", json::object{{"type", "string"}, {"maxLength", 255}}}});
    }
    return all;
}

json::object responses(const Route& route) {
    json::object all;
    for (const Promise& promise : route.promises) {
        json::object response{{"description", promise.text}};
        if (!promise.schema.empty()) {
            const std::string_view type =
                promise.schema == "Problem" ? "application/problem+json" : "application/json";
            response["content"] = content(type, reference(promise.schema));
        } else if (!promise.media.empty()) {
            const std::string_view type = promise.media == "application/json" ? "object" : "string";
            response["content"] = content(promise.media, {{"type", type}});
        }
        all[std::to_string(promise.status)] = std::move(response);
    }
    all["default"] =
        json::object{{"description", "What is wrong, in words and as a code."},
                     {"content", content("application/problem+json", reference("Problem"))}};
    return all;
}

json::object operation(const Route& route) {
    json::object described{{"operationId", route.name},
                           {"summary", route.summary},
                           {"tags", json::array{route.group}},
                           {"responses", responses(route)}};
    if (json::array all = parameters(route); !all.empty()) described["parameters"] = std::move(all);
    if (!route.body.empty()) {
        described["requestBody"] =
            json::object{{"required", route.body != "Reason" && route.body != "Resume" &&
                                          route.body != "Signal"},
                         {"content", content("application/json", reference(route.body))}};
    }
    return described;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return out;
}

std::string made() {
    json::object paths;
    for (const Route& route : routes()) {
        json::value& path = paths[route.path];
        if (!path.is_object()) path = json::object{};
        path.as_object()[lower(to_string(route.method))] = operation(route);
    }
    json::object document{
        {"openapi", "3.1.0"},
        {"info", json::object{{"title", "Holdfast"},
                              {"version", kVersion},
                              {"summary", "A durable task engine for AI backends."},
                              {"license", json::object{{"name", "Apache-2.0"},
                                                       {"identifier", "Apache-2.0"}}}}},
        {"servers", json::array{json::object{{"url", "/"}}}},
        {"security", json::array{}},
        {"tags",
         json::array{
             json::object{{"name", "producers"}, {"description", "Submit tasks and follow them."}},
             json::object{{"name", "workers"}, {"description", "Take tasks and finish them."}},
             json::object{{"name", "operators"}, {"description", "Look after queues and tasks."}},
             json::object{{"name", "system"}, {"description", "Health, metrics, description."}}}},
        {"paths", std::move(paths)},
        {"components", json::object{{"schemas", json::parse(openapi_text("schemas"))}}}};
    return json::serialize(document);
}

}  // namespace

const std::string& openapi() {
    static const std::string text = made();
    return text;
}

}  // namespace holdfast::http
