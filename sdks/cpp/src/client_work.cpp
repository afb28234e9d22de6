// The calls of a worker that speaks HTTP.
#include <utility>

#include "bodies.h"
#include "client_impl.h"
#include "holdfast/client.h"
#include "text.h"

namespace holdfast::client {
namespace {

json::array items_of(json::object answer) {
    auto* items = answer.if_contains("items");
    return items != nullptr && items->is_array() ? std::move(items->get_array()) : json::array();
}

}  // namespace

json::array Client::claim(const Claim& claim) {
    // A reply that is lost costs a lease, not a task: it comes back by itself.
    auto answer = impl_->perform({.method = "POST",
                                  .target = "/v1/claim",
                                  .body = json_text(body_of(claim)),
                                  .repeat = RepeatIf::refused,
                                  .wait = claim.wait});
    auto* object = answer.body.if_object();
    auto* tasks = object != nullptr ? object->if_contains("tasks") : nullptr;
    return tasks != nullptr && tasks->is_array() ? std::move(tasks->get_array()) : json::array();
}

/// Under its fence a step is done once, however often it is sent.
std::vector<std::string> Client::complete(const std::vector<std::pair<Held, json::value>>& items) {
    json::array list;
    for (const auto& [held, result] : items) {
        auto item = body_of(held);
        item["result"] = result;
        list.emplace_back(std::move(item));
    }
    std::vector<std::string> outcomes;
    for (const auto& item :
         items_of(impl_->post("/v1/complete", {{"items", std::move(list)}}, RepeatIf::harmless)))
        outcomes.push_back(text_member(item, "outcome"));
    return outcomes;
}

std::vector<std::string> Client::fail(const std::vector<std::pair<Held, json::object>>& items) {
    json::array list;
    for (const auto& [held, error] : items) {
        auto item = body_of(held);
        item["error"] = error;
        list.emplace_back(std::move(item));
    }
    std::vector<std::string> outcomes;
    for (const auto& item :
         items_of(impl_->post("/v1/fail", {{"items", std::move(list)}}, RepeatIf::harmless)))
        outcomes.push_back(text_member(item, "outcome"));
    return outcomes;
}

namespace {

std::string one_outcome(json::object answer) {
    const auto items = items_of(std::move(answer));
    if (items.size() != 1) throw Error(Code::other, "the server answered for another task");
    return text_member(items.front(), "outcome");
}

json::object one_item(json::object item) {
    return {{"items", json::array{std::move(item)}}};
}

}  // namespace

std::string Client::complete(const Held& held, const json::value& result) {
    auto item = body_of(held);
    item["result"] = result;
    return one_outcome(impl_->post("/v1/complete", one_item(std::move(item)), RepeatIf::harmless));
}

std::string Client::fail(const Held& held, std::string_view kind, std::string_view message) {
    auto item = body_of(held);
    item["error"] = {{"kind", std::string(kind)}, {"message", clean_utf8(std::string(message))}};
    return one_outcome(impl_->post("/v1/fail", one_item(std::move(item)), RepeatIf::harmless));
}

std::string Client::checkpoint(const Held& held, std::string_view stage, const json::value& data) {
    auto item = body_of(held);
    item["stage"] = std::string(stage);
    item["data"] = data;
    return one_outcome(
        impl_->post("/v1/checkpoint", one_item(std::move(item)), RepeatIf::harmless));
}

std::string Client::yield(const Held& held, std::optional<Milliseconds> after, bool until_signal) {
    auto item = body_of(held);
    if (after) item["after"] = duration_text(*after);
    if (until_signal) item["until_signal"] = true;
    return one_outcome(impl_->post("/v1/yield", one_item(std::move(item)), RepeatIf::harmless));
}

json::array Client::heartbeat(std::string_view worker, const std::vector<Held>& items) {
    json::array list;
    for (const auto& held : items) list.emplace_back(body_of(held));
    return items_of(impl_->post("/v1/heartbeat",
                                {{"worker", std::string(worker)}, {"items", std::move(list)}},
                                RepeatIf::harmless));
}

}  // namespace holdfast::client
