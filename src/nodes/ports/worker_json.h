// What workers say and what they are told, as JSON: the same over HTTP and on the worker stream.
//
// Reading is strict: an unknown field, a wrong type, a missing field or more than 1000 items is an error
// that names the place ("items[3].foo"), and one bad item is the end of the whole request: nothing is half
// done. What is in itself well-formed and out of range (a progress of 7) is the engine's to refuse, item by item.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "engine/engine.h"

namespace holdfast::nodes {

/// For a message of a worker: a batch of 1000 results has more keys than a task may have.
inline constexpr JsonLimits kWorkerLimits{
    .bytes = std::size_t{1} << 20, .depth = 64, .keys = 100'000};

// ---- reading ----

Result<engine::ClaimCall> read_claim(const Json& body);
// Each of these is {"items":[…]}.
Result<std::vector<engine::Completion>> read_completions(const Json& body);
Result<std::vector<engine::FailureReport>> read_failures(const Json& body);
Result<std::vector<engine::StageDone>> read_stages(const Json& body);
Result<std::vector<engine::GivingBack>> read_yields(const Json& body);
struct HeartbeatCall {
    std::string worker;
    std::vector<engine::Heartbeat> items;
};
Result<HeartbeatCall> read_heartbeats(const Json& body);

// ---- writing ----

/// Which claim of which task an answer is about.
struct Ref {
    domain::TaskId id;
    domain::Fence fence;

    friend bool operator==(const Ref&, const Ref&) = default;
};
/// To be taken before the items are handed to the engine.
template <class Item>
std::vector<Ref> refs_of(const std::vector<Item>& items) {
    std::vector<Ref> refs;
    refs.reserve(items.size());
    for (const Item& item : items) refs.push_back({item.id, item.fence});
    return refs;
}

/// Which call was answered. Only of a checkpoint it shows in the words: `pause` and `cancel` say that
/// the task is no longer the worker's.
enum class Of : std::uint8_t { done, fail, yield, checkpoint, ack, started };
std::string_view to_string(Of of);

/// Writes tasks as a worker gets them, one after the other. What many tasks of a batch share is
/// written once and remembered.
class TaskWriter {
  public:
    void append(std::string& out, const engine::ClaimedTask& task);

  private:
    std::string_view lease_text(Time until);
    std::uint16_t retry_max(std::string_view policy);

    Time lease_until_;
    std::string lease_text_;
    std::string policy_;
    std::uint16_t retry_max_ = 0;
};

/// {"tasks":[…]}
std::string tasks_json(const std::vector<engine::ClaimedTask>& tasks);
/// {"items":[{id,attempt,epoch,outcome,duplicate?,detail?}]}
std::string outcomes_json(Of of, std::span<const Ref> refs,
                          const engine::Each<engine::Done>& answers);
/// {"items":[{id,attempt,epoch,lease_until,cancel_requested,pause_requested} or {…,outcome,detail?}]}
std::string beats_json(std::span<const Ref> refs, const engine::Each<engine::Beat>& answers);

// The lists alone, with their brackets.
void append_outcomes(std::string& out, Of of, std::span<const Ref> refs,
                     const engine::Each<engine::Done>& answers);
void append_beats(std::string& out, std::span<const Ref> refs,
                  const engine::Each<engine::Beat>& answers);
/// "id":…,"attempt":…,"epoch":…
void append_ref(std::string& out, const Ref& ref);
/// A JSON string; like Json::quoted().
void append_quoted(std::string& out, std::string_view text);

}  // namespace holdfast::nodes
