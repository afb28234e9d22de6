#include "http/routes.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>
#include <string>

#include "http/openapi.h"

namespace holdfast::http {
namespace {

namespace json = boost::json;

std::string found(Method method, std::string_view path) {
    const auto result = match(method, path);
    if (!result) return "malformed";
    if (result->route == nullptr) return result->allowed.empty() ? "none" : result->allowed;
    return std::string(result->route->name) + ' ' + result->params[0];
}

TEST(Routes, a_path_finds_its_route_and_its_parameters) {
    EXPECT_EQ(found(Method::post, "/v1/tasks"), "submit ");
    EXPECT_EQ(found(Method::get, "/v1/tasks/abc"), "getTask abc");
    EXPECT_EQ(found(Method::head, "/v1/tasks/abc"), "getTask abc");
    EXPECT_EQ(found(Method::post, "/v1/tasks/bulk"), "startBulk ");
    EXPECT_EQ(found(Method::get, "/v1/tasks/facets"), "getFacets ");
    EXPECT_EQ(found(Method::post, "/v1/queues/a%20b/pause"), "pauseQueue a b");
    EXPECT_EQ(found(Method::get, "/"), "getDashboard ");
}

TEST(Routes, what_is_nearly_a_route_is_none) {
    EXPECT_EQ(found(Method::get, "/v1/tasks/"), "none");
    EXPECT_EQ(found(Method::get, "/v1//tasks"), "none");
    EXPECT_EQ(found(Method::get, "/v1/tasks/a/b/c"), "none");
    EXPECT_EQ(found(Method::get, "/V1/tasks"), "none");
    EXPECT_EQ(found(Method::del, "/v1/tasks"), "POST, GET");
    EXPECT_EQ(found(Method::get, "/v1/queues/%zz"), "malformed");
}

TEST(Routes, every_one_has_a_name_of_its_own_and_says_what_it_promises) {
    std::set<std::string_view> names;
    for (const Route& route : routes()) {
        EXPECT_TRUE(names.insert(route.name).second) << route.name;
        EXPECT_FALSE(route.promises.empty()) << route.name;
        EXPECT_FALSE(route.summary.empty()) << route.name;
        const bool taken_over = route.manner == Manner::events || route.manner == Manner::stream;
        EXPECT_EQ(route.handler == nullptr, taken_over) << route.name;
    }
}

TEST(Routes, operators_act_where_something_of_others_changes) {
    const auto is_act = [](Method method, std::string_view path) {
        return is_operators_act(*match(method, path)->route);
    };
    for (const std::string_view path :
         {"/v1/tasks/a/cancel", "/v1/tasks/a/pause", "/v1/tasks/a/resume", "/v1/tasks/a/discard",
          "/v1/tasks/a/signal", "/v1/tasks/a/reveal", "/v1/tasks/bulk", "/v1/bulk/a/stop",
          "/v1/queues/q/pause", "/internal/tasks/suspended/discard", "/v1/workers/w/drain"})
        EXPECT_TRUE(is_act(Method::post, path)) << path;
    EXPECT_TRUE(is_act(Method::put, "/v1/queues/q/limits"));
    for (const std::string_view path : {"/v1/tasks", "/v1/claim", "/v1/complete", "/v1/heartbeat"})
        EXPECT_FALSE(is_act(Method::post, path)) << path;
    EXPECT_FALSE(is_act(Method::get, "/v1/queues"));
}

TEST(Routes, each_is_served_by_one_role_and_what_watches_the_instance_by_all) {
    const auto role = [](Method method, std::string_view path) {
        return role_of(*match(method, path)->route);
    };
    EXPECT_EQ(role(Method::post, "/v1/tasks"), Role::api);
    EXPECT_EQ(role(Method::get, "/v1/events"), Role::api);
    EXPECT_EQ(role(Method::post, "/v1/queues/q/pause"), Role::api);
    for (const std::string_view path :
         {"/v1/claim", "/v1/complete", "/v1/fail", "/v1/checkpoint", "/v1/yield", "/v1/heartbeat"})
        EXPECT_EQ(role(Method::post, path), Role::gateway) << path;
    EXPECT_EQ(role(Method::get, "/v1/work"), Role::gateway);
    for (const std::string_view path :
         {"/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/instances", "/v1/doctor", "/"})
        EXPECT_EQ(role(Method::get, path), Role::any) << path;
}

/// Every "$ref" in it.
void collect(const json::value& value, std::set<std::string>& references) {
    if (const auto* object = value.if_object()) {
        for (const auto& [name, part] : *object) {
            if (name == "$ref") references.insert(std::string(part.as_string()));
            collect(part, references);
        }
    } else if (const auto* array = value.if_array()) {
        for (const auto& part : *array) collect(part, references);
    }
}

TEST(Openapi, describes_every_route_and_no_other) {
    const json::value document = json::parse(openapi());
    std::size_t operations = 0;
    for (const auto& [path, methods] : document.at("paths").as_object())
        operations += methods.as_object().size();
    EXPECT_EQ(operations, routes().size());
}

TEST(Openapi, every_reference_leads_somewhere_and_every_schema_is_used) {
    const json::value document = json::parse(openapi());
    const auto& schemas = document.at("components").at("schemas").as_object();
    std::set<std::string> references;
    collect(document, references);
    std::set<std::string> known;
    for (const auto& [name, schema] : schemas)
        known.insert("#/components/schemas/" + std::string(name));
    EXPECT_EQ(references, known);
}

}  // namespace
}  // namespace holdfast::http
