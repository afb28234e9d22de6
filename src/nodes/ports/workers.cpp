#include "nodes/ports/workers.h"

#include <algorithm>

#include "nodes/ports/worker_json.h"

namespace holdfast::nodes {
namespace {

constexpr Duration kLookEvery = std::chrono::seconds{1};

void append_texts(std::string& out, const std::vector<std::string>& texts) {
    out += '[';
    for (const std::string& text : texts) {
        if (&text != &texts.front()) out += ',';
        append_quoted(out, text);
    }
    out += ']';
}

void append_worker(std::string& out, const Worker& w, std::string_view instance) {
    out += R"({"name":)";
    append_quoted(out, w.name);
    out.append(R"(,"kind":)").append(w.stream ? R"("stream")" : R"("http")");
    out += R"(,"instance":)";
    append_quoted(out, instance);
    out += R"(,"queues":)";
    append_texts(out, w.queues);
    out.append(R"(,"slots":)").append(w.slots == 0 ? "null" : std::to_string(w.slots));
    out.append(R"(,"running":)").append(w.running ? std::to_string(*w.running) : "null");
    out.append(R"(,"connected_at":")").append(format_time(w.connected_at));
    out.append(R"(","last_seen":")").append(format_time(w.last_seen));
    out += R"(","busy_until":)";
    if (w.busy_until == Time{})
        out += "null";
    else
        out.append("\"").append(format_time(w.busy_until)).append("\"");
    out.append(R"(,"draining":)").append(w.draining ? "true" : "false");
    out += R"(,"labels":{)";
    for (const auto& label : w.labels) {
        if (&label != &w.labels.front()) out += ',';
        append_quoted(out, label.first);
        out += ':';
        append_quoted(out, label.second);
    }
    out += R"(},"models":)";
    append_texts(out, w.models);
    out += R"(,"address":)";
    append_quoted(out, w.address);
    out += '}';
}

}  // namespace

void Workers::seen_claiming(std::string_view name, const std::vector<std::string>& queues,
                            std::string_view address) {
    Worker& worker = seen(name, address);
    if (worker.queues != queues) worker.queues = queues;
}

void Workers::seen_beating(std::string_view name, std::size_t running, std::string_view address) {
    Worker& worker = seen(name, address);
    worker.running = running;
    if (running == 0) worker.busy_until = Time{};
}

void Workers::holds_until(std::string_view name, Time lease_end) {
    const auto known = http_by_name_.find(name);
    if (known == http_by_name_.end()) return;
    Time& until = known->second->busy_until;
    until = std::max(until, lease_end);
}

Worker& Workers::seen(std::string_view name, std::string_view address) {
    forget_old();
    const auto known = http_by_name_.find(name);
    if (known != http_by_name_.end()) {
        http_.splice(http_.end(), http_, known->second);
    } else {
        if (http_.size() >= kMostHttp) {
            http_by_name_.erase(http_.front().name);
            http_.pop_front();
        }
        Worker& fresh = http_.emplace_back();
        fresh.name = name;
        fresh.connected_at = clock_.now();
        http_by_name_.emplace(fresh.name, std::prev(http_.end()));
    }
    Worker& worker = http_.back();
    worker.last_seen = clock_.now();
    if (worker.address != address) worker.address = address;
    return worker;
}

void Workers::forget_old() {
    const Time now = clock_.now();
    if (now - looked_ < kLookEvery) return;  // those who hold a lease stay in the way
    looked_ = now;
    for (auto at = http_.begin(); at != http_.end() && at->last_seen < now - kForgottenAfter;) {
        if (at->busy_until > now) {
            ++at;
            continue;
        }
        http_by_name_.erase(at->name);
        at = http_.erase(at);
    }
}

void Workers::requested(const Uuid& id, bool cancel, bool pause) {
    for (Stream& stream : streams_) {
        if (stream.requested) stream.requested(id, cancel, pause);
    }
}

std::size_t Workers::drain(std::string_view name) {
    std::size_t told = 0;
    for (const Stream& stream : streams_) {
        if (stream.worker.name != name) continue;
        ++told;
        stream.drain();
    }
    return told;
}

std::size_t Workers::size() {
    forget_old();
    return streams_.size() + http_.size();
}

std::string Workers::json(std::string_view instance, std::size_t most) {
    forget_old();
    std::string out = "[";
    const auto add = [&](const Worker& worker) {
        if (most == 0) return;
        --most;
        if (out.back() == '}') out += ',';
        append_worker(out, worker, instance);
    };
    for (const Stream& stream : streams_) add(stream.worker);
    for (const Worker& worker : http_) add(worker);
    return out += ']';
}

}  // namespace holdfast::nodes
