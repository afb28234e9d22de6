// A small world for tests of the engine: a clock that stands still, one memory store, any number of engines on it,
// each seen through its own WatchedStore.
#pragma once

#include <gtest/gtest.h>

#include <list>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "stores/memory/memory_store.h"
#include "testing/calls_under_way.h"
#include "testing/manual_clock.h"
#include "testing/watched_store.h"

// How gtest shows them.
namespace holdfast {
inline std::ostream& operator<<(std::ostream& out, const Uuid& id) {
    return out << id.text();
}
}  // namespace holdfast
namespace holdfast::domain {
inline std::ostream& operator<<(std::ostream& out, State state) {
    return out << to_string(state);
}
inline std::ostream& operator<<(std::ostream& out, Event event) {
    return out << to_string(event);
}
}  // namespace holdfast::domain

namespace holdfast::testing {

using namespace std::chrono_literals;
using domain::Event;
using domain::Fence;
using domain::State;
using domain::TaskId;
using Fault = Watch::Fault;

/// An answer in one line: "succeeded", "succeeded again" (a duplicate), "stale_lease", "invalid_argument: note".
inline std::string told(const Error& error) {
    std::string text(to_string(error.code));
    return error.field.empty() ? text : text + ": " + error.field;
}
template <class T>
std::string told(const Result<T>& answer) {
    if (!answer) return told(answer.error());
    if constexpr (requires { answer->duplicate; }) {
        return std::string(to_string(answer->state)) + (answer->duplicate ? " again" : "");
    } else {
        return "ok";
    }
}
template <class T>
std::vector<std::string> told(const std::vector<Result<T>>& answers) {
    std::vector<std::string> lines;
    for (const Result<T>& answer : answers) lines.push_back(told(answer));
    return lines;
}
using Lines = std::vector<std::string>;

inline Json json(std::string_view text) {
    return Json::parse(text).value();
}

inline domain::Submission work(std::string queue = "default", std::string type = "work") {
    domain::Submission s;
    s.queue = std::move(queue);
    s.type = std::move(type);
    return s;
}

inline const domain::By kAnn{"ann", "because"};

class EngineTest : public ::testing::Test {
  protected:
    EngineTest() : world_(std::make_unique<Executor>(clock)) {}
    ~EngineTest() override {
        world_.reset();
    }  // whoever still waits leaves while the engines are there

    Executor& world() { return *world_; }
    template <class T>
    auto run(Async<T> call) {
        return world_->run(std::move(call));
    }
    template <class T>
    auto run_on(Async<T> call) {
        return world_->run_on(std::move(call));
    }
    template <class T>
    auto begin(Async<T> call) {
        return world_->begin(std::move(call));
    }
    void advance(Duration by) { world_->advance(by); }

    /// Another engine on the same store.
    engine::Engine& new_engine(engine::Options options = {}) {
        return new_engine(stores_.emplace_back(memory), std::move(options));
    }
    engine::Engine& new_engine(stores::Store& through, engine::Options options = {}) {
        if (options.seed == 0) options.seed = engines_.size() + 1;
        return engines_.emplace_back(through, clock, world_->executor(), options);
    }

    TaskId submit(domain::Submission submission = work()) {
        return run(engine.submit({std::move(submission)})).front().value().id;
    }
    std::vector<TaskId> submit(std::size_t count, const domain::Submission& submission = work()) {
        std::vector<TaskId> ids;
        for (const auto& receipt : run(engine.submit(std::vector(count, submission))))
            ids.push_back(receipt.value().id);
        return ids;
    }

    static engine::ClaimCall claim_call(std::string queue = "default", std::uint32_t max = 1) {
        engine::ClaimCall call;
        call.queues = {std::move(queue)};
        call.worker = "w1";
        call.max = max;
        return call;
    }
    std::vector<engine::ClaimedTask> claim(engine::Engine& by, engine::ClaimCall call) {
        return run(by.claim(std::move(call))).value();
    }
    std::vector<engine::ClaimedTask> claim(engine::ClaimCall call = claim_call()) {
        return claim(engine, std::move(call));
    }
    /// The task that is next in the queue, which must have one.
    domain::Header claim_one(engine::Engine& by, engine::ClaimCall call = claim_call()) {
        return claim(by, std::move(call)).at(0).record.header;
    }
    domain::Header claim_one(engine::ClaimCall call = claim_call()) {
        return claim_one(engine, std::move(call));
    }
    /// Submitted and claimed.
    domain::Header running(domain::Submission submission = work()) {
        engine::ClaimCall call = claim_call(submission.queue);
        submit(std::move(submission));
        return claim_one(std::move(call));
    }
    /// Failed for good, and waiting for a person.
    domain::Header suspended(const domain::Submission& submission = work()) {
        const domain::Header h = running(submission);
        run(engine.fail({{h.id, h.fence(), {domain::ErrorKind::permanent, "no", "", ""}, {}}}));
        return header(h.id);
    }
    engine::Completion completion(const domain::Header& h, std::string_view result = "null") const {
        return {h.id, h.fence(), json(result)};
    }

    // ---- what is really in the store, past all that is watched ----
    domain::Record record(const TaskId& id) {
        return run(memory.load({{domain::Kind::task, id}})).value().at(0).value();
    }
    domain::Header header(const TaskId& id) { return record(id).header; }
    State state(const TaskId& id) { return header(id).state; }
    std::vector<domain::Transition> history(domain::Key key) {
        return run(memory.history(key)).value();
    }
    std::vector<domain::Transition> history(const TaskId& id) {
        return history({domain::Kind::task, id});
    }
    std::vector<Event> events(const TaskId& id) {
        std::vector<Event> names;
        for (const auto& row : history(id)) names.push_back(row.event);
        return names;
    }
    std::size_t tasks(std::vector<State> states = {}, std::string queue = {}) {
        stores::Filter filter;
        filter.states = std::move(states);
        filter.queue = std::move(queue);
        return run(memory.list(filter, {}, 100'000, 100'000)).value().rows.size();
    }

    ManualClock clock;
    stores::MemoryStore memory{clock};

  private:
    std::unique_ptr<Executor> world_;
    std::list<WatchedStore> stores_;
    std::list<engine::Engine> engines_;

  protected:
    WatchedStore store{memory};
    engine::Engine& engine = new_engine(store);
};

}  // namespace holdfast::testing
