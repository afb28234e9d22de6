#include "cli/top_view.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/words.h"

namespace holdfast::cli {
namespace {

const json::array& array_in(const json::value& value, std::string_view name) {
    static const json::array kNone;
    if (const auto* array = value.if_array()) return *array;
    const auto* object = value.if_object();
    const auto* member = object != nullptr ? object->if_contains(name) : nullptr;
    return member != nullptr && member->is_array() ? member->get_array() : kNone;
}

QueueLook queue_of(const json::value& value) {
    QueueLook out;
    out.name = text_of(value, "name");
    out.paused = text_of(value, "paused") == "true";
    out.closed = text_of(value, "closed") == "true";
    const auto* object = value.if_object();
    const auto* tasks = object != nullptr ? object->if_contains("tasks") : nullptr;
    if (tasks == nullptr || !tasks->is_object()) return out;
    out.queued = count_of(*tasks, "queued");
    out.running =
        count_of(*tasks, "running") + count_of(*tasks, "accepted") + count_of(*tasks, "dispatched");
    out.waiting = count_of(*tasks, "waiting");
    out.retrying = count_of(*tasks, "retrying");
    out.suspended = count_of(*tasks, "suspended");
    for (const auto* state : {"succeeded", "failed", "cancelled", "discarded"})
        out.finished += count_of(*tasks, state);
    for (const auto& [state, count] : tasks->get_object())
        out.all += count.is_int64() ? count.get_int64() : 0;
    return out;
}

WorkerLook worker_of(const json::value& value) {
    WorkerLook out;
    out.name = text_of(value, "worker");
    if (out.name.empty()) out.name = text_of(value, "name");
    for (const auto& queue :
         array_in(value.is_object() && value.get_object().contains("queues") ? value.at("queues")
                                                                             : json::value(),
                  "queues"))
        out.queues += (out.queues.empty() ? "" : ",") +
                      (queue.is_string() ? std::string(queue.get_string()) : std::string());
    out.running = count_of(value, "running");
    out.slots = count_of(value, "slots");
    return out;
}

FailureLook failure_of(const json::value& task) {
    FailureLook out{.id = text_of(task, "id"),
                    .type = text_of(task, "type"),
                    .state = text_of(task, "state"),
                    .at = text_of(task, "updated_at"),
                    .message = {}};
    const auto* object = task.if_object();
    if (const auto* error = object != nullptr ? object->if_contains("error") : nullptr)
        out.message = text_of(*error, "message");
    return out;
}

std::string rate_text(double rate) {
    char text[32];
    std::snprintf(text, sizeof text, rate >= 100 ? "%.0f" : "%.1f", rate);
    return text;
}

std::string cut(const std::string& line, unsigned columns) {
    Table table({{.name = "", .cut = true}});
    table.add({line});
    return table.lines(columns).back();
}

void add_lines(std::vector<std::string>& out, const Table& table, unsigned columns,
               std::size_t most) {
    auto lines = table.lines(columns);
    const auto hidden = lines.size() > most ? lines.size() - most + 1 : 0;
    if (hidden > 0) {
        lines.resize(most - 1);
        lines.push_back("… and " + std::to_string(hidden) + " more");
    }
    for (auto& line : lines) out.push_back(std::move(line));
}

Table queue_table(const Look& look) {
    Table table({{.name = "QUEUE", .worth = 9},
                 {.name = "QUEUED", .worth = 9, .right = true},
                 {.name = "RUNNING", .worth = 9, .right = true},
                 {.name = "WAITING", .worth = 6, .right = true},
                 {.name = "RETRY", .worth = 5, .right = true},
                 {.name = "SUSPENDED", .worth = 7, .right = true},
                 {.name = "IN/s", .worth = 8, .right = true},
                 {.name = "OUT/s", .worth = 8, .right = true},
                 {.name = "", .worth = 4}});
    for (const auto& queue : look.queues)
        table.add({queue.name, std::to_string(queue.queued), std::to_string(queue.running),
                   std::to_string(queue.waiting), std::to_string(queue.retrying),
                   std::to_string(queue.suspended), rate_text(queue.in_per_s),
                   rate_text(queue.out_per_s),
                   std::string(queue.paused ? "paused " : "") + (queue.closed ? "closed" : "")});
    return table;
}

}  // namespace

Look look_at(const json::value& queues, const json::value& workers, const json::array& failures,
             std::chrono::steady_clock::time_point now) {
    Look look{.taken = now, .queues = {}, .workers = {}, .failures = {}};
    for (const auto& queue : array_in(queues, "queues")) look.queues.push_back(queue_of(queue));
    for (const auto& worker : array_in(workers, "workers"))
        look.workers.push_back(worker_of(worker));
    for (const auto& task : failures) look.failures.push_back(failure_of(task));
    return look;
}

void compare(Look& look, const Look& before) {
    const auto seconds = std::chrono::duration<double>(look.taken - before.taken).count();
    if (seconds <= 0) return;
    for (auto& queue : look.queues) {
        const auto old = std::ranges::find(before.queues, queue.name, &QueueLook::name);
        const QueueLook none;
        const auto& then = old != before.queues.end() ? *old : none;
        // Old tasks are removed meanwhile: what shrinks says nothing about a rate.
        queue.out_per_s =
            static_cast<double>(std::max<std::int64_t>(0, queue.finished - then.finished)) /
            seconds;
        queue.in_per_s =
            static_cast<double>(std::max<std::int64_t>(0, queue.all - then.all)) / seconds;
    }
}

json::object look_json(const Look& look) {
    json::object out;
    auto& queues = out["queues"].emplace_array();
    for (const auto& q : look.queues)
        queues.push_back({{"queue", q.name},
                          {"paused", q.paused},
                          {"closed", q.closed},
                          {"queued", q.queued},
                          {"running", q.running},
                          {"waiting", q.waiting},
                          {"retrying", q.retrying},
                          {"suspended", q.suspended},
                          {"in_per_s", q.in_per_s},
                          {"out_per_s", q.out_per_s}});
    auto& workers = out["workers"].emplace_array();
    for (const auto& w : look.workers)
        workers.push_back(
            {{"worker", w.name}, {"queues", w.queues}, {"running", w.running}, {"slots", w.slots}});
    auto& failures = out["failures"].emplace_array();
    for (const auto& f : look.failures)
        failures.push_back({{"id", f.id},
                            {"type", f.type},
                            {"state", f.state},
                            {"at", f.at},
                            {"message", f.message}});
    return out;
}

std::vector<std::string> screen(const Look& look, const std::string& title, unsigned columns,
                                unsigned rows) {
    double in = 0;
    double out_rate = 0;
    for (const auto& queue : look.queues) {
        in += queue.in_per_s;
        out_rate += queue.out_per_s;
    }
    std::vector<std::string> out{
        cut(title + " · in " + rate_text(in) + "/s · done " + rate_text(out_rate) +
                "/s · workers " + std::to_string(look.workers.size()),
            columns),
        ""};
    // Of what is left, half for the queues, a quarter each for workers and failures.
    const unsigned left = rows > 10 ? rows - 5 : 6;
    add_lines(out, queue_table(look), columns, std::max(3U, left / 2));
    out.emplace_back();
    Table workers({{.name = "WORKER", .worth = 9},
                   {.name = "QUEUES", .worth = 8},
                   {.name = "RUNNING", .worth = 7, .right = true},
                   {.name = "SLOTS", .worth = 7, .right = true}});
    for (const auto& worker : look.workers)
        workers.add({worker.name, worker.queues, std::to_string(worker.running),
                     std::to_string(worker.slots)});
    add_lines(out, workers, columns, std::max(2U, left / 4));
    out.emplace_back();
    Table failures({{.name = "NEWEST FAILURES", .worth = 9},
                    {.name = "STATE", .worth = 7},
                    {.name = "TYPE", .worth = 8},
                    {.name = "MESSAGE", .worth = 6, .cut = true}});
    for (const auto& failure : look.failures)
        failures.add({failure.id, failure.state, failure.type, failure.message});
    add_lines(out, failures, columns, std::max(2U, left / 4));
    if (out.size() > rows) out.resize(rows);
    return out;
}

}  // namespace holdfast::cli
