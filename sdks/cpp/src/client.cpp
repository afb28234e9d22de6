#include "holdfast/client.h"

#include <algorithm>
#include <utility>

#include "bodies.h"
#include "client_impl.h"
#include "text.h"
#include "url.h"

namespace holdfast::client {
namespace {

constexpr std::size_t kMostInBatch = 1000;
constexpr std::size_t kBatchBytes = 900 * 1024;  ///< The server takes 1 MiB in one request.
constexpr Milliseconds kLongestWait{60'000};

std::string task_path(std::string_view id, std::string_view verb = {}) {
    std::string path = "/v1/tasks/" + percent_encoded(id);
    return verb.empty() ? path : path.append("/").append(verb);
}

json::object with_reason(std::string_view reason) {
    json::object body;
    if (!reason.empty()) body["reason"] = std::string(reason);
    return body;
}

json::array array_of(json::value body, std::string_view name) {
    if (auto* array = body.if_array()) return std::move(*array);
    auto* object = body.if_object();
    auto* member = object != nullptr ? object->if_contains(name) : nullptr;
    return member != nullptr && member->is_array() ? std::move(member->get_array()) : json::array();
}

}  // namespace

Client::Client(ClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Client::Client(std::string server) : Client(ClientOptions{.server = std::move(server)}) {}
Client::~Client() = default;

// ---- producers ----

Receipt Client::submit(json::object task) {
    if (impl_->options.automatic_keys && !task.contains("idempotency_key"))
        task["idempotency_key"] = "auto-" + random_key();
    const auto repeat = task.contains("idempotency_key") ? RepeatIf::harmless : RepeatIf::refused;
    return receipt_of(impl_->post("/v1/tasks", task, repeat));
}

Receipt Client::submit(const Submission& submission) {
    return submit(body_of(submission));
}

std::vector<Receipt> Client::submit(const std::vector<Submission>& submissions) {
    std::vector<Receipt> receipts;
    std::string batch;
    std::size_t count = 0;
    bool keyed = true;
    const auto send = [&] {
        if (count == 0) return;
        auto answer = impl_->perform({.method = "POST",
                                      .target = "/v1/tasks",
                                      .body = "[" + std::exchange(batch, {}) + "]",
                                      .repeat = keyed ? RepeatIf::harmless : RepeatIf::refused});
        const auto tasks = array_of(std::move(answer.body), "tasks");
        for (const auto& task : tasks) receipts.push_back(receipt_of(task));
        if (tasks.size() != std::exchange(count, 0))
            throw Error(Code::other, "the server answered for another number of tasks");
    };
    for (const auto& submission : submissions) {
        auto task = body_of(submission);
        if (impl_->options.automatic_keys && submission.idempotency_key.empty())
            task["idempotency_key"] = "auto-" + random_key();
        keyed = keyed && task.contains("idempotency_key");
        const auto text = json_text(task);
        if (count == kMostInBatch || batch.size() + text.size() > kBatchBytes) send();
        if (count++ > 0) batch += ',';
        batch += text;
    }
    send();
    return receipts;
}

json::object Client::submit_and_wait(const Submission& submission, Milliseconds wait) {
    return get(submit(submission).id, wait);
}

json::object Client::get(std::string_view id, Milliseconds wait) {
    for (;;) {
        const auto piece = std::min(wait, kLongestWait);
        wait -= piece;
        const auto text = piece.count() > 0 ? duration_text(piece) : std::string();
        auto task = object_of(impl_->get(task_path(id) + query({{"wait", text}}), piece));
        const auto* finished = task.if_contains("finished_at");
        if (wait.count() <= 0 || (finished != nullptr && !finished->is_null())) return task;
    }
}

json::array Client::history(std::string_view id) {
    return array_of(impl_->get(task_path(id, "history")).body, "history");
}
json::object Client::explain(std::string_view id) {
    return object_of(impl_->get(task_path(id, "explain")));
}
Page Client::list(const Filter& filter, std::size_t limit, std::string_view cursor) {
    return page_of(impl_->get("/v1/tasks" + query_of(filter, limit, cursor)).body);
}

json::object Client::cancel(std::string_view id, std::string_view reason) {
    return impl_->post(task_path(id, "cancel"), with_reason(reason));
}
json::object Client::pause(std::string_view id, std::string_view reason) {
    return impl_->post(task_path(id, "pause"), with_reason(reason));
}
json::object Client::resume(std::string_view id, std::string_view reason,
                            const std::optional<json::value>& payload) {
    auto body = with_reason(reason);
    if (payload) body["payload"] = *payload;
    return impl_->post(task_path(id, "resume"), body);
}
json::object Client::discard(std::string_view id, std::string_view reason) {
    return impl_->post(task_path(id, "discard"), with_reason(reason));
}
json::object Client::signal(std::string_view id, const json::value& data,
                            std::string_view signal_id) {
    // Under one id the server takes a signal once.
    const auto key = signal_id.empty() ? random_key() : std::string(signal_id);
    return impl_->post(task_path(id, "signal"), {{"id", key}, {"data", data}}, RepeatIf::harmless);
}

// ---- operators ----

json::value Client::queues() {
    return impl_->get("/v1/queues").body;
}
json::object Client::pause_queue(std::string_view queue) {
    return impl_->post("/v1/queues/" + percent_encoded(queue) + "/pause", {}, RepeatIf::harmless);
}
json::object Client::resume_queue(std::string_view queue) {
    return impl_->post("/v1/queues/" + percent_encoded(queue) + "/resume", {}, RepeatIf::harmless);
}
json::object Client::close_queue(std::string_view queue) {
    return impl_->post("/v1/queues/" + percent_encoded(queue) + "/close", {}, RepeatIf::harmless);
}
json::object Client::open_queue(std::string_view queue) {
    return impl_->post("/v1/queues/" + percent_encoded(queue) + "/open", {}, RepeatIf::harmless);
}
json::object Client::limit_queue(std::string_view queue, std::optional<std::uint32_t> concurrency,
                                 std::optional<double> rate) {
    json::object body;
    if (concurrency) body["concurrency"] = *concurrency;
    if (rate) body["rate"] = *rate;
    return impl_->object({.method = "PUT",
                          .target = "/v1/queues/" + percent_encoded(queue) + "/limits",
                          .body = json_text(body),
                          .repeat = RepeatIf::harmless});
}
json::object Client::stats() {
    return object_of(impl_->get("/v1/stats"));
}
json::value Client::workers() {
    return impl_->get("/v1/workers").body;
}

Page Client::suspended(const Filter& filter, std::size_t limit, std::string_view cursor) {
    return page_of(impl_->get("/internal/tasks/suspended" + query_of(filter, limit, cursor)).body);
}

namespace {

json::object which(const std::vector<std::string>& ids, std::string_view reason) {
    auto body = with_reason(reason);
    auto& list = body["ids"].emplace_array();
    for (const auto& id : ids) list.emplace_back(id);
    return body;
}
json::object which(const Filter& filter, std::string_view reason) {
    auto body = with_reason(reason);
    body["filter"] = body_of(filter);
    return body;
}

}  // namespace

json::object Client::resume_suspended(const std::vector<std::string>& ids,
                                      std::string_view reason) {
    return impl_->post("/internal/tasks/suspended/resume", which(ids, reason));
}
json::object Client::resume_suspended(const Filter& filter, std::string_view reason) {
    return impl_->post("/internal/tasks/suspended/resume", which(filter, reason));
}
json::object Client::discard_suspended(const std::vector<std::string>& ids,
                                       std::string_view reason) {
    return impl_->post("/internal/tasks/suspended/discard", which(ids, reason));
}
json::object Client::discard_suspended(const Filter& filter, std::string_view reason) {
    return impl_->post("/internal/tasks/suspended/discard", which(filter, reason));
}

json::object Client::bulk(const json::object& request) {
    return impl_->post("/v1/tasks/bulk", request);
}
json::object Client::bulk_report(std::string_view bulk_id) {
    return object_of(impl_->get("/v1/bulk/" + percent_encoded(bulk_id)));
}
json::object Client::failures(std::string_view q, std::size_t limit) {
    const std::vector<std::pair<std::string_view, std::string>> parameters{
        {"q", std::string(q)}, {"limit", std::to_string(limit)}};
    return object_of(impl_->get("/v1/failures" + query(parameters)));
}
json::object Client::control_bulk(std::string_view bulk_id, std::string_view control) {
    return impl_->post("/v1/bulk/" + percent_encoded(bulk_id) + "/" + percent_encoded(control), {});
}

Answer Client::healthz() {
    return impl_->perform({.method = "GET",
                           .target = "/healthz",
                           .body = {},
                           .repeat = RepeatIf::harmless,
                           .any_status = true});
}
Answer Client::readyz() {
    return impl_->perform({.method = "GET",
                           .target = "/readyz",
                           .body = {},
                           .repeat = RepeatIf::harmless,
                           .any_status = true});
}

Answer Client::request(std::string_view method, std::string_view target,
                       const std::optional<json::value>& body, RepeatIf repeat) {
    return impl_->perform({.method = std::string(method),
                           .target = std::string(target),
                           .body = body ? json_text(*body) : std::string(),
                           .repeat = method == "GET" ? RepeatIf::harmless : repeat});
}

}  // namespace holdfast::client
