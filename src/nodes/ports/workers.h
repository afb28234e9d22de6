// Who works here: the streams that are connected, and the HTTP workers that were seen lately.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/uuid.h"

namespace holdfast::nodes {

struct Worker {
    std::string name;
    std::string address;
    std::vector<std::string> queues;
    std::vector<std::string> models;
    std::vector<std::pair<std::string, std::string>> labels;
    std::uint32_t slots = 0;             ///< 0: not known, as of an HTTP worker.
    std::optional<std::size_t> running;  ///< Of an HTTP worker: as its last heartbeat said.
    Time connected_at;                   ///< Of an HTTP worker: first seen.
    Time last_seen;
    Time busy_until{};  ///< Of an HTTP worker: the latest lease that it is known to hold ends then.
    bool draining = false;
    bool stream = false;
};

/// Told, not asked: it takes no part in what is handed out. One executor, no locks. Outlives its streams.
class Workers {
  public:
    static constexpr std::size_t kMostHttp = 10'000;
    static constexpr Duration kForgottenAfter = std::chrono::seconds{75};

    explicit Workers(const Clock& clock) : clock_(clock) {}
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    // ---- HTTP workers: seen when they claim and when they send heartbeats; remembered while they hold a lease ----
    void seen_claiming(std::string_view name, const std::vector<std::string>& queues,
                       std::string_view address);
    void seen_beating(std::string_view name, std::size_t running, std::string_view address);

    void holds_until(std::string_view name, Time lease_end);

    // ---- streams ----
    struct Stream {
        Worker worker;
        std::function<void()> drain;
        std::function<void(const Uuid& id, bool cancel, bool pause)> requested = {};
    };
    using Place = std::list<Stream>::iterator;
    Place join(Stream stream) { return streams_.insert(streams_.end(), std::move(stream)); }
    void leave(Place place) { streams_.erase(place); }

    /// An operator's wish: the streams of this name get no more tasks and are told bye when they have none.
    /// Returns how many there are; an HTTP worker cannot be told.
    std::size_t drain(std::string_view name);
    /// Somebody asked for a task to be cancelled or paused: whoever runs it on a stream is told at once. A hint: the
    /// answer to a heartbeat says it in any case.
    void requested(const Uuid& id, bool cancel, bool pause);

    std::size_t size();
    /// [{name,kind,instance,queues,slots,running,connected_at,last_seen,busy_until,draining,labels,models,address}], at
    /// most so many: streams first, each kind in the order in which they came.
    std::string json(std::string_view instance, std::size_t most = SIZE_MAX);

  private:
    Worker& seen(std::string_view name, std::string_view address);
    void forget_old();

    const Clock& clock_;
    std::list<Stream> streams_;
    Time looked_{};           ///< When old ones were last looked for.
    std::list<Worker> http_;  ///< The one that was not seen for the longest time first.
    boost::unordered_flat_map<std::string_view, std::list<Worker>::iterator> http_by_name_;
};

}  // namespace holdfast::nodes
