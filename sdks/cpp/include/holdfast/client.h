// Producers and operators: one call per route of the HTTP API, synchronous.
#pragma once

#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "holdfast/error.h"

namespace holdfast::client {

using Milliseconds = std::chrono::milliseconds;
namespace json = boost::json;

struct ClientOptions {
    std::string server = "http://127.0.0.1:7400";
    std::string token = {};        ///< Sent as a bearer token when set.
    std::string user = {};         ///< Who acts, for the server's audit; at most 100 characters.
    Milliseconds timeout{15'000};  ///< For an answer, beyond the time a call asks to wait for.
    Milliseconds connect_timeout{5'000};
    int attempts = 5;              ///< Of one call, where trying again is safe. 1: never again.
    Milliseconds retry_base{100};  ///< Waits are drawn from 0 to base·2^n, at most `retry_max`.
    Milliseconds retry_max{5'000};
    /// Submissions without an idempotency key are given one, so that a lost reply and the retry
    /// after it make one task. The server remembers a key for a day.
    bool automatic_keys = true;
    std::size_t idle_connections = 8;  ///< Kept open for the next call.
};

/// What a producer may say about a task. What is left empty is left to the server.
struct Submission {
    std::string type = {};
    json::value payload = {};
    std::string queue = {};
    std::string tenant = {};
    std::string idempotency_key = {};
    std::optional<int> priority = {};  ///< 0 to 9, 9 first.
    std::map<std::string, std::string> labels = {};
    std::optional<Milliseconds> delay = {};
    std::string run_at = {};  ///< RFC 3339; instead of `delay`.
    std::optional<Milliseconds> timeout = {};
    std::optional<Milliseconds> lease = {};
    json::value retry = {};  ///< {"max", "policy"}, see the API.
    std::string on_exhausted = {}, on_timeout = {}, on_outage = {};
    std::string traceparent = {};
    json::value user = {};
};

struct Receipt {
    std::string id = {};
    std::string state = {};
    bool duplicate = false;           ///< The idempotency key had this task already.
    std::optional<Error> error = {};  ///< Of one item of a batch: then there is no id.
};

/// Which tasks. What is empty does not narrow.
struct Filter {
    std::string q = {};  ///< A line of the filter language; the other members narrow it further.
    std::vector<std::string> states = {};  ///< Any of these.
    std::string queue = {}, type = {}, tenant = {};
    std::vector<std::string> labels = {};  ///< Each "key=value"; all must match.
    std::string since = {}, until = {};    ///< Of creation, RFC 3339.
};

struct Page {
    json::array tasks;
    std::string next_cursor;  ///< Empty: that was all.
};

struct Answer {
    int status = 0;
    json::value body = {};  ///< null when the answer is no JSON.
    std::string text = {};  ///< As it came.
    std::string request_id = {};
};

/// Proof of holding a task: every worker call carries it.
struct Held {
    std::string id = {};
    std::int64_t attempt = 0;
    std::int64_t epoch = 0;
};

struct Event {
    std::string id;    ///< Where to go on from: `since` of the next call.
    std::string kind;  ///< The SSE event name; "reset": what came before `since` is gone.
    json::value data;
};

struct EventOptions {
    std::string since = {};   ///< An Event's id: only what came after it.
    std::string task = {};    ///< Only this task.
    std::string filter = {};  ///< As in the API.
    std::string kinds = {};   ///< As in the API.
    bool counters = false;
};

enum class RepeatIf : std::uint8_t {
    harmless,  ///< Also after a lost reply: the call changes nothing, or the second changes no more.
    refused,   ///< Only when the server certainly did nothing.
};

/// Thread-safe: calls run side by side, each on its own connection of a pool. Every call blocks and
/// throws Error.
class Client {
  public:
    explicit Client(ClientOptions options = {});
    explicit Client(std::string server);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    // ---- producers ----
    Receipt submit(const Submission& submission);
    /// Any number: sent in as many requests as the limits of the API need. One receipt per item, in
    /// order; an item that the server refused carries its error.
    std::vector<Receipt> submit(const std::vector<Submission>& submissions);
    /// A task as the API describes it, for what Submission does not name.
    Receipt submit(json::object task);
    /// Submits and waits: the task, finished or as it is when the time is over.
    json::object submit_and_wait(const Submission& submission, Milliseconds wait);
    /// With `wait`: answers when the task is finished, or as it is when the time is over. Any time:
    /// longer ones are asked for in pieces.
    json::object get(std::string_view id, Milliseconds wait = Milliseconds{0});
    json::array history(std::string_view id);
    json::object explain(std::string_view id);
    Page list(const Filter& filter = {}, std::size_t limit = 100, std::string_view cursor = {});
    json::object cancel(std::string_view id, std::string_view reason = {});
    json::object pause(std::string_view id, std::string_view reason = {});
    json::object resume(std::string_view id, std::string_view reason = {},
                        const std::optional<json::value>& payload = std::nullopt);
    json::object discard(std::string_view id, std::string_view reason = {});
    json::object signal(std::string_view id, const json::value& data,
                        std::string_view signal_id = {});

    // ---- events ----
    /// Calls `on_event` for each event until it returns false or `stop` is asked. A lost connection
    /// is taken up again where it broke, after a wait; what came twice comes twice (tell them apart by
    /// task and version).
    void events(const EventOptions& options, const std::function<bool(const Event&)>& on_event,
                std::stop_token stop = {});

    // ---- operators ----
    json::value queues();
    json::object pause_queue(std::string_view queue);
    json::object resume_queue(std::string_view queue);
    json::object close_queue(std::string_view queue);
    json::object open_queue(std::string_view queue);
    /// At most so many at once and so many per second; 0: no limit.
    json::object limit_queue(std::string_view queue, std::optional<std::uint32_t> concurrency,
                             std::optional<double> rate);
    json::object stats();
    json::value workers();
    Page suspended(const Filter& filter = {}, std::size_t limit = 100,
                   std::string_view cursor = {});
    json::object resume_suspended(const std::vector<std::string>& ids,
                                  std::string_view reason = {});
    json::object resume_suspended(const Filter& filter, std::string_view reason = {});
    json::object discard_suspended(const std::vector<std::string>& ids,
                                   std::string_view reason = {});
    json::object discard_suspended(const Filter& filter, std::string_view reason = {});
    /// {action, filter, dry_run, limit, rate}, as in the API.
    json::object bulk(const json::object& request);
    json::object bulk_report(std::string_view bulk_id);
    /// What goes wrong with the tasks that match, by kind: {groups, total, exact}.
    json::object failures(std::string_view q = {}, std::size_t limit = 50);
    /// "pause", "resume" or "stop".
    json::object control_bulk(std::string_view bulk_id, std::string_view control);
    /// Both answer with what the server says, whatever its status.
    Answer healthz();
    Answer readyz();

    // ---- workers, over HTTP (the stream of holdfast/worker.h is faster) ----
    struct Claim {
        std::vector<std::string> queues{"default"};
        std::string worker = {};
        std::size_t max = 1;
        std::optional<Milliseconds> lease = {};
        Milliseconds wait{0};
        std::vector<std::string> types = {};
    };
    json::array claim(const Claim& claim);
    /// Each gives one outcome per item: "ok", "stale_lease", … and of a checkpoint "pause", "cancel".
    std::vector<std::string> complete(const std::vector<std::pair<Held, json::value>>& items);
    std::vector<std::string> fail(const std::vector<std::pair<Held, json::object>>& items);
    std::string complete(const Held& held, const json::value& result);
    /// `kind`: transient, permanent or dependency_down.
    std::string fail(const Held& held, std::string_view kind, std::string_view message);
    std::string checkpoint(const Held& held, std::string_view stage, const json::value& data);
    std::string yield(const Held& held, std::optional<Milliseconds> after = std::nullopt,
                      bool until_signal = false);
    json::array heartbeat(std::string_view worker, const std::vector<Held>& items);

    // ---- anything else ----
    /// `target` is the path with its query. Throws Error for every status from 400 up.
    Answer request(std::string_view method, std::string_view target,
                   const std::optional<json::value>& body = std::nullopt,
                   RepeatIf repeat = RepeatIf::refused);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast::client
