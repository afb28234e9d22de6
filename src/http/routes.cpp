#include "http/routes.h"

#include <algorithm>

#include "http/handlers.h"

namespace holdfast::http {
namespace {

constexpr std::string_view kText = R"({"type":"string"})";
constexpr std::string_view kDuration =
    R"({"type":"string","pattern":"^([0-9]+(d|h|m|s|ms|us))+$","examples":["30s"]})";
constexpr std::string_view kTime = R"({"type":"string","format":"date-time"})";
constexpr std::string_view kLimit =
    R"({"type":"integer","minimum":1,"maximum":1000,"default":100})";
constexpr std::string_view kFlag = R"({"type":"string","enum":["0","1"]})";

constexpr Parameter kWait{"wait", kDuration, "Wait so long for the task to finish; at most 60s."};
constexpr Parameter kLimitOf{"limit", kLimit, "At most so many."};
constexpr Parameter kCursor{"cursor", kText, "The next_cursor of the page before."};
constexpr Parameter kQueue{"queue", kText, "Only of this queue."};
constexpr Parameter kType{"type", kText, "Only of this type."};
constexpr Parameter kTenant{"tenant", kText, "Only of this tenant."};
constexpr Parameter kLabel{"label", kText, "Only with this label, key=value; may be repeated."};
constexpr Parameter kSince{"since", kTime, "Only created at or after."};
constexpr Parameter kUntil{"until", kTime, "Only created at or before."};
constexpr Parameter kQ{"q", kText,
                       "Only what passes this line of the filter language: state:failed age:<1h."};
constexpr Parameter kState{"state", kText,
                           "Only in this state; may be repeated, or a list with commas."};
constexpr Parameter kGroup{"fingerprint", kText, "Only whose last failure has this fingerprint."};
constexpr Parameter kFields{"fields", R"({"type":"string","enum":["all","header"]})",
                            "header: without payload, context, result and error."};

constexpr Parameter kRedact{"redact", kFlag,
                            "1: values whose keys say that they are secret are hidden."};
constexpr std::array kWaiting{kWait};
constexpr std::array kLooking{kWait, kRedact};
constexpr std::array kRedacting{kRedact};
constexpr std::array kListing{
    kQ,       Parameter{"ids", kText, "Only these, separated by commas; at most 200."},
    kState,   kQueue,
    kType,    kTenant,
    kLabel,   kSince,
    kUntil,   kGroup,
    kFields,  kRedact,
    kLimitOf, kCursor};
constexpr std::array kParked{kQ,     kQueue, kType,   kTenant,  kLabel,
                             kSince, kUntil, kRedact, kLimitOf, kCursor};
constexpr std::array kSearch{kQ, kState, kQueue, kType, kTenant, kLabel, kSince, kUntil, kGroup};
constexpr std::array kGrouping{
    kQ,
    kState,
    kQueue,
    kType,
    kTenant,
    kLabel,
    kSince,
    kUntil,
    Parameter{"limit", R"({"type":"integer","minimum":1,"maximum":200,"default":50})",
              "At most so many groups."}};
constexpr std::array kAuditing{
    Parameter{"who", kText, "Only by this one."},
    Parameter{"action", kText, "Only this: task.cancel, queue.pause, bulk.start, worker.drain …"},
    Parameter{"target", kText, "Only to this: task:ID, queue:NAME, bulk:ID, worker:NAME."},
    kLimitOf, kCursor};
constexpr std::array kCharting{
    Parameter{"range", R"({"type":"string","enum":["15m","1h","24h"],"default":"15m"})",
              "How far back."},
    Parameter{"queue", kText, "Only of this queue: counts, without times."}};
constexpr std::array kFeed{
    Parameter{"since", kText,
              "Go on after this watermark, like Last-Event-ID; oldest: all there is."},
    Parameter{"filter", kText, "queue:a type:b tenant:c state:d, separated by blanks."},
    Parameter{"kinds", kText, "Only these kinds of events, separated by commas: completed,failed."},
    Parameter{
        "tasks", kText,
        "Only of these tasks, separated by commas, at most 200; empty: of none, for who wants "
        "the counters alone."},
    Parameter{"counters", kFlag, "1: the counts of all queues, once a second."}};

// ---- what is promised ----

constexpr std::array kReceipt{
    Promise{202, "Accepted", "Durable: it survives whatever the durability says."},
    Promise{200, "Task", "With wait: it is finished."},
    Promise{409, "Problem", "The idempotency key was used with another body."},
    Promise{503, "Problem", "Too much at once, or the store is silent: see Retry-After."}};
constexpr std::array kTask{Promise{200, "Task", "The task."}};
constexpr std::array kTasks{Promise{200, "TaskPage", "A page of tasks, newest first."}};
constexpr std::array kHistory{Promise{200, "History", "Every step, oldest first."}};
constexpr std::array kExplanation{Promise{200, "Explanation", "Why, in words and as data."}};
constexpr std::array kRevisions{Promise{200, "Revisions", "Earlier payloads, oldest first."}};
constexpr std::array kActed{
    Promise{200, "Acted", "Done."},
    Promise{202, "Acted", "Asked for: a worker has the task, and it follows at its next step."},
    Promise{409, "Problem", "The task's state does not allow it."}};
constexpr std::array kBulk{Promise{200, "BulkReport", "Done, or what would be done."},
                           Promise{202, "BulkReport", "It goes on as a job."}};
constexpr std::array kBulkJob{Promise{200, "BulkReport", "How far it is."}};
constexpr std::array kBulkJobs{Promise{200, "BulkJobs", "The newest hundred."}};
constexpr std::array kFacets{Promise{200, "Facets", "How many there are of each."}};
constexpr std::array kGroups{Promise{200, "FailureGroups", "The largest first."}};
constexpr std::array kOneGroup{Promise{200, "FailureGroup", "The group, with a stack."}};
constexpr std::array kClaimed{
    Promise{200, "Claimed", "The tasks; none: nothing was there in time."}};
constexpr std::array kOutcomes{Promise{200, "Outcomes", "One outcome per item, in order."}};
constexpr std::array kBeats{Promise{200, "Beats", "One answer per item, in order."}};
constexpr std::array kQueues{Promise{200, "Queues", "Every queue that is known."}};
constexpr std::array kOneQueue{Promise{200, "Queue", "The queue as it is now."}};
constexpr std::array kStats{Promise{200, "Stats", "Counts by queue, type and state."}};
constexpr std::array kWorkers{Promise{200, "Workers", "Who was heard of lately."}};
constexpr std::array kInstances{Promise{200, "Instances", "Those that are there, by id."}};
constexpr std::array kConfig{
    Promise{200, "Config", "Every option, its value and where it is from."}};
constexpr std::array kAudit{Promise{200, "AuditPage", "A page of acts, newest first."}};
constexpr std::array kSeries{
    Promise{200, "Series", "The steps of the range, the one that runs last."}};
constexpr std::array kDrained{Promise{202, "Drained", "The worker is asked to drain."}};
constexpr std::array kHealth{Promise{200, "Health", "The process is alive."}};
constexpr std::array kReady{Promise{200, "Readiness", "It can take work."},
                            Promise{503, "Readiness", "It cannot, and why."}};
constexpr std::array kDoctor{Promise{200, "Diagnosis", "What the doctor found."}};
constexpr std::array kMetrics{Promise{200, "", "Prometheus text.", "text/plain"}};
constexpr std::array kEvents{Promise{200, "", "Events as they happen.", "text/event-stream"}};
constexpr std::array kPageForPeople{Promise{200, "", "A page for people.", "text/html"}};
constexpr std::array kFile{Promise{200, "", "Its content.", "*/*"}};
constexpr std::array kIcon{Promise{200, "", "Its content.", "image/svg+xml"}};
constexpr std::array kUpgrade{Promise{101, "", "The worker stream."}};
constexpr std::array kDescription{Promise{200, "", "This document.", "application/json"}};

using enum Method;
constexpr std::string_view kProducers = "producers", kWorkersGroup = "workers",
                           kOperators = "operators", kSystem = "system";

constexpr std::array kRoutes{
    // clang-format off
    Route{post, "/v1/tasks", "submit", kProducers, "Submit a task, or an array of up to 1000.", submit, "Submit", kReceipt, kWaiting, Manner::waits},
    Route{get, "/v1/tasks/facets", "getFacets", kProducers, "How many tasks match, by state, queue, type and tenant.", get_facets, {}, kFacets, kSearch},
    Route{get, "/v1/tasks/{id}", "getTask", kProducers, "One task.", get_task, {}, kTask, kLooking, Manner::waits},
    Route{post, "/v1/complete", "complete", kWorkersGroup, "Finish tasks with their results.", complete, "Completions", kOutcomes},
    Route{post, "/v1/claim", "claim", kWorkersGroup, "Take tasks to work on.", claim, "Claim", kClaimed, {}, Manner::waits},
    Route{post, "/v1/heartbeat", "heartbeat", kWorkersGroup, "Keep tasks, report progress, hear of cancellations.", heartbeat, "Heartbeats", kBeats},
    Route{post, "/v1/fail", "fail", kWorkersGroup, "Report failed attempts.", fail, "Failures", kOutcomes},
    Route{post, "/v1/checkpoint", "checkpoint", kWorkersGroup, "Save finished stages.", checkpoint, "Checkpoints", kOutcomes},
    Route{post, "/v1/yield", "yield", kWorkersGroup, "Give tasks back without counting a failure.", yield, "Yields", kOutcomes},
    Route{get, "/v1/work", "work", kWorkersGroup, "The worker stream (WebSocket).", nullptr, {}, kUpgrade, {}, Manner::stream},

    Route{get, "/v1/failures", "listFailures", kOperators, "What goes wrong, by kind, with a sample of each.", list_failures, {}, kGroups, kGrouping},
    Route{get, "/v1/failures/{fingerprint}", "getFailure", kOperators, "One kind of failure, with the stack of a sample.", get_failure, {}, kOneGroup},
    Route{get, "/v1/tasks", "listTasks", kProducers, "Tasks that match, newest first.", list_tasks, {}, kTasks, kListing},
    Route{post, "/v1/tasks/bulk", "startBulk", kOperators, "Act on everything that matches.", start_bulk, "Bulk", kBulk},
    Route{get, "/v1/tasks/{id}/history", "getHistory", kProducers, "Every step of a task, with every attempt's error.", get_history, {}, kHistory, kRedacting},
    Route{get, "/v1/tasks/{id}/explain", "explainTask", kProducers, "Why a task is not running, and what wakes it.", get_explanation, {}, kExplanation},
    Route{get, "/v1/tasks/{id}/revisions", "getRevisions", kProducers, "The payloads that a resume replaced.", get_revisions, {}, kRevisions, kRedacting},
    Route{get, "/v1/tasks/{id}/events", "taskEvents", kProducers, "A task's events as they happen (SSE).", nullptr, {}, kEvents, kFeed, Manner::events},
    Route{post, "/v1/tasks/{id}/cancel", "cancelTask", kProducers, "Cancel a task; a running one is asked to stop.", cancel_task, "Reason", kActed},
    Route{post, "/v1/tasks/{id}/pause", "pauseTask", kProducers, "Pause a task; a running one at its next checkpoint.", pause_task, "Reason", kActed},
    Route{post, "/v1/tasks/{id}/resume", "resumeTask", kProducers, "Resume a paused or suspended task, perhaps with a new payload.", resume_task, "Resume", kActed},
    Route{post, "/v1/tasks/{id}/discard", "discardTask", kProducers, "Give a task up for good.", discard_task, "Reason", kActed},
    Route{post, "/v1/tasks/{id}/signal", "signalTask", kProducers, "Wake a task that waits for a signal, with data.", signal_task, "Signal", kActed},
    Route{get, "/v1/bulk", "listBulk", kOperators, "The newest bulk jobs.", list_bulk, {}, kBulkJobs},
    Route{get, "/v1/bulk/{id}", "getBulk", kOperators, "How far a bulk job is.", get_bulk, {}, kBulkJob},
    Route{post, "/v1/bulk/{id}/pause", "pauseBulk", kOperators, "Pause a bulk job.", pause_bulk, "Reason", kBulkJob},
    Route{post, "/v1/bulk/{id}/resume", "resumeBulk", kOperators, "Go on with a paused bulk job.", resume_bulk, "Reason", kBulkJob},
    Route{post, "/v1/bulk/{id}/stop", "stopBulk", kOperators, "Stop a bulk job for good.", stop_bulk, "Reason", kBulkJob},
    Route{get, "/v1/events", "events", kProducers, "Everything that happens, as it happens (SSE).", nullptr, {}, kEvents, kFeed, Manner::events},

    Route{get, "/v1/queues", "listQueues", kOperators, "Every queue with its counts and settings.", list_queues, {}, kQueues},
    Route{get, "/v1/queues/{queue}", "getQueue", kOperators, "One queue.", get_queue, {}, kOneQueue},
    Route{post, "/v1/queues/{queue}/pause", "pauseQueue", kOperators, "Stop handing out its tasks.", pause_queue, "Reason", kOneQueue},
    Route{post, "/v1/queues/{queue}/resume", "resumeQueue", kOperators, "Hand out its tasks again.", resume_queue, "Reason", kOneQueue},
    Route{post, "/v1/queues/{queue}/close", "closeQueue", kOperators, "Take no new tasks in.", close_queue, "Reason", kOneQueue},
    Route{post, "/v1/queues/{queue}/open", "openQueue", kOperators, "Take new tasks in again.", open_queue, "Reason", kOneQueue},
    Route{put, "/v1/queues/{queue}/limits", "limitQueue", kOperators, "How many at once, how many a second.", limit_queue, "Limits", kOneQueue},
    Route{post, "/v1/tasks/{id}/reveal", "revealTask", kOperators, "The whole task with what redaction hides; kept in the audit.", reveal_task, "Reveal", kTask},
    Route{get, "/v1/audit", "listAudit", kOperators, "What operators did, newest first.", list_audit, {}, kAudit, kAuditing},
    Route{get, "/v1/series", "getSeries", kOperators, "Counts and times per step, for charts.", get_series, {}, kSeries, kCharting},
    Route{get, "/v1/stats", "getStats", kOperators, "Counts by queue, type and state.", get_stats, {}, kStats},
    Route{get, "/internal/tasks/stats", "getInternalStats", kOperators, "The same as /v1/stats.", get_stats, {}, kStats},
    Route{get, "/internal/tasks/suspended", "listSuspended", kOperators, "Tasks that wait for a person, with all their errors.", list_suspended, {}, kTasks, kParked},
    Route{post, "/internal/tasks/suspended/resume", "resumeSuspended", kOperators, "Resume suspended tasks.", resume_suspended, "Selection", kBulk},
    Route{post, "/internal/tasks/suspended/discard", "discardSuspended", kOperators, "Discard suspended tasks.", discard_suspended, "Selection", kBulk},
    Route{get, "/v1/workers", "listWorkers", kOperators, "Who works here.", list_workers, {}, kWorkers},
    Route{post, "/v1/workers/{worker}/drain", "drainWorker", kOperators, "Ask a worker to finish what it has and leave.", drain_worker, "Reason", kDrained},

    Route{get, "/healthz", "getHealth", kSystem, "Is the process alive?", get_health, {}, kHealth},
    Route{get, "/readyz", "getReadiness", kSystem, "Can it take work? Store, durability, degraded or not.", get_readiness, {}, kReady},
    Route{get, "/metrics", "getMetrics", kSystem, "Metrics for Prometheus.", get_metrics, {}, kMetrics},
    Route{get, "/v1/doctor", "getDoctor", kSystem, "What the doctor found.", get_doctor, {}, kDoctor},
    Route{get, "/v1/instances", "listInstances", kSystem, "The instances that share this store.", list_instances, {}, kInstances},
    Route{get, "/v1/config", "getConfig", kSystem, "Every option with its value and source; secrets are left out.", get_config, {}, kConfig},
    Route{get, "/openapi.json", "getOpenapi", kSystem, "This description.", get_openapi, {}, kDescription},
    Route{get, "/", "getDashboard", kSystem, "The dashboard.", get_page, {}, kPageForPeople, {}, Manner::page},
    Route{get, "/ui", "getDashboardHome", kSystem, "The same.", get_page, {}, kPageForPeople, {}, Manner::page},
    Route{get, "/ui/", "getDashboardOverview", kSystem, "The same.", get_page, {}, kPageForPeople, {}, Manner::page},
    Route{get, "/ui/{page}", "getDashboardPage", kSystem, "A page of the dashboard.", get_page, {}, kPageForPeople, {}, Manner::page},
    Route{get, "/ui/{page}/{item}", "getDashboardItem", kSystem, "Something on a page of the dashboard.", get_page, {}, kPageForPeople, {}, Manner::page},
    Route{get, "/assets/{file}", "getDashboardFile", kSystem, "A file of the dashboard.", get_asset, {}, kFile},
    Route{get, "/icon.svg", "getIcon", kSystem, "The dashboard's icon.", get_asset, {}, kIcon},
    // clang-format on
};

std::string_view next_segment(std::string_view& path) {
    path.remove_prefix(1);  // the slash
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(end);
    return segment;
}

/// The parameters as they were sent; false: another path.
bool fits(std::string_view pattern, std::string_view path, std::array<std::string_view, 2>& raw) {
    std::size_t count = 0;
    while (pattern.starts_with('/') && path.starts_with('/')) {
        const std::string_view wanted = next_segment(pattern);
        const std::string_view given = next_segment(path);
        if (wanted.starts_with('{') ? given.empty() : wanted != given) return false;
        if (wanted.starts_with('{')) raw[count++] = given;
    }
    return pattern.empty() && path.empty();
}

}  // namespace

Role role_of(const Route& route) {
    if (route.group == kSystem) return Role::any;
    return route.group == kWorkersGroup ? Role::gateway : Role::api;
}

bool is_operators_act(const Route& route) {
    if (route.method == Method::get || route.group == kWorkersGroup) return false;
    return route.name != "submit";
}

std::span<const Route> routes() {
    return kRoutes;
}

std::optional<Match> match(Method method, std::string_view path) {
    if (method == Method::head) method = Method::get;
    Match found;
    for (const Route& route : kRoutes) {
        std::array<std::string_view, 2> raw;
        if (!fits(route.path, path, raw)) continue;
        if (route.method != method) {
            const std::string_view name = to_string(route.method);
            if (found.allowed.find(name) == std::string::npos)
                found.allowed.append(found.allowed.empty() ? "" : ", ").append(name);
            continue;
        }
        found.route = &route;
        for (std::size_t i = 0; i < raw.size(); ++i) {
            auto decoded = percent_decoded(raw[i]);
            if (!decoded) return std::nullopt;
            found.params[i] = *std::move(decoded);
        }
        return found;
    }
    return found;
}

}  // namespace holdfast::http
