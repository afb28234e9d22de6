#include <boost/json/parse.hpp>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "backoff.h"
#include "client_impl.h"
#include "problem.h"
#include "sse.h"
#include "url.h"

namespace holdfast::client {
namespace {

/// The server says something every 15 s, if only that it is there.
constexpr std::chrono::seconds kEventSilence{45};

std::string target_of(const EventOptions& options, const std::string& since) {
    std::string path = "/v1/events";
    if (!options.task.empty()) path = "/v1/tasks/" + percent_encoded(options.task) + "/events";
    return path + query({{"since", since},
                         {"filter", options.filter},
                         {"kinds", options.kinds},
                         {"counters", options.counters ? "1" : ""}});
}

json::value data_of(const std::string& text) {
    json::error_code failed;
    auto value = json::parse(text, failed);
    return failed ? json::value(text) : std::move(value);
}

void sleep_for(Milliseconds time, const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, time, [] { return false; });
}

class Listener {
  public:
    Listener(const EventOptions& options, const std::function<bool(const Event&)>& on_event,
             std::stop_token stop)
        : options_(options), on_event_(on_event), stop_(std::move(stop)), since_(options.since) {}

    /// One connection; true: the caller has enough.
    bool listen(HttpConnection& connection, HttpRequest request) {
        const std::stop_callback shut(stop_, [&] { connection.shut_down(); });
        request.target = target_of(options_, since_);
        request.headers.emplace_back("Accept", "text/event-stream");
        const auto deadline = [] { return HttpConnection::Clock::now() + kEventSilence; };
        const auto head = connection.open_stream(request, deadline());
        if (head.status >= 400)
            throw problem(head.status, data_of(head.body), head.retry_after, head.request_id);
        heard_ = true;
        SseParser parser;
        while (!stop_.stop_requested()) {
            const auto bytes = connection.read_body(deadline());
            if (bytes.empty()) return false;
            for (const auto& event : parser.feed(bytes)) {
                if (!event.id.empty()) since_ = event.id;
                if (!on_event_({event.id, event.kind, data_of(event.data)})) return true;
            }
            // Also a sign of life may carry one: nothing of interest came before it.
            if (!parser.last_id().empty()) since_ = parser.last_id();
        }
        return true;
    }
    bool heard() { return std::exchange(heard_, false); }

  private:
    const EventOptions& options_;
    const std::function<bool(const Event&)>& on_event_;
    std::stop_token stop_;
    std::string since_;
    bool heard_ = false;
};

}  // namespace

void Client::events(const EventOptions& options, const std::function<bool(const Event&)>& on_event,
                    std::stop_token stop) {
    Listener listener(options, on_event, stop);
    Backoff backoff(impl_->options.retry_base, impl_->options.retry_max);
    bool ever = false;
    while (!stop.stop_requested()) {
        auto wait = Milliseconds{0};
        try {
            HttpConnection connection(impl_->url, impl_->options.connect_timeout);
            if (listener.listen(connection, impl_->request_of({.method = "GET"}))) return;
        } catch (const ConnectionLost&) {
            wait = Milliseconds{0};  // taken up again below, after a wait
        } catch (const Error& error) {
            // A server that was never there is the caller's to judge; one that went away comes back.
            const bool gone = error.code == Code::unreachable;
            if (!error.retryable ||
                (gone && !ever && backoff.tries() + 1 >= impl_->options.attempts))
                throw;
            wait = error.retry_after.value_or(wait);
        }
        if (listener.heard()) {
            ever = true;
            backoff.reset();
        }
        sleep_for(wait + backoff.next(), stop);
    }
}

}  // namespace holdfast::client
