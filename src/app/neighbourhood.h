// This instance among the others on its store: says what it is, knows who else is there and who works for them, and
// passes on what they tell.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "base/task_group.h"
#include "coordination/presence.h"
#include "engine/engine.h"
#include "http/http.h"
#include "nodes/nodes.h"

namespace holdfast::app {

class Neighbourhood {
  public:
    struct Self {
        std::string instance;
        std::string version;
        std::vector<http::Role> roles;
    };
    Neighbourhood(coordination::Coordination& coordination, engine::Engine& engine,
                  nodes::Workers& workers, Self self, Clock& clock,
                  const asio::any_io_executor& executor);

    /// From here on the others know of us, at this address.
    void join(TaskGroup& group, std::string address);
    Async<void> leave();
    void look_around() { presence_.look(); }

    // ---- for the API ----
    /// {"instances":[…]}
    Async<Result<Json>> instances();
    /// Of the other instances; when nobody can be asked, as they were last seen.
    Async<std::vector<Json>> other_workers();
    /// False: no other instance has a stream of this worker.
    Async<bool> drain_elsewhere(std::string worker);

  private:
    static constexpr std::size_t kMostAnnounced = 200;  ///< Workers, of one instance.

    void heard(const coordination::Hint& hint);
    void describe(coordination::Instance& instance);
    Json json(const coordination::Instance& instance) const;

    coordination::Coordination& coordination_;
    engine::Engine& engine_;
    nodes::Workers& workers_;
    Self self_;
    std::string address_;
    coordination::Presence presence_;
};

}  // namespace holdfast::app
