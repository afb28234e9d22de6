#include <boost/json/parse.hpp>
#include <utility>

#include "holdfast/worker.h"
#include "job_state.h"
#include "text.h"

namespace holdfast::client {
namespace {

boost::json::value parsed(std::string_view text) {
    if (text.empty()) return nullptr;
    boost::json::parse_options options;
    options.max_depth = 128;
    boost::json::error_code failed;
    auto value = boost::json::parse({text.data(), text.size()}, failed, {}, options);
    if (failed) throw PermanentError("the payload is no JSON: " + failed.message());
    return value;
}

std::string_view why(const std::string& outcome) {
    if (outcome == "pause") return "the task was paused";
    if (outcome == "cancel") return "the task was cancelled";
    if (outcome == "stale_lease") return "the lease is lost: somebody else may have the task";
    return outcome;
}

/// Reads the stages that earlier attempts stored. Under the state's mutex.
void read_checkpoints(JobState& state) {
    if (std::exchange(state.checkpoints_read, true)) return;
    for (const auto element : elements(state.task.checkpoints)) {
        const auto value = parsed(element);
        const auto* object = value.if_object();
        if (object == nullptr || !object->contains("stage")) continue;
        const auto& stage = object->at("stage");
        const auto* data = object->if_contains("data");
        if (stage.is_string())
            state.checkpoints.emplace_back(std::string(stage.get_string()),
                                           data != nullptr ? *data : boost::json::value());
    }
}

}  // namespace

void JobState::own_text() {
    const auto fields = {&task.payload, &task.checkpoints, &task.signals,
                         &task.labels,  &task.context,     &task.lease_until};
    std::size_t size = 0;
    for (const auto* field : fields) size += field->size();
    text.reserve(size);  // the views point into it while it grows
    for (auto* field : fields) {
        const auto begin = text.size();
        text.append(*field);
        *field = std::string_view(text).substr(begin);
    }
}

void JobState::interrupt(std::string reason) {
    {
        const std::scoped_lock lock(mutex);
        if (!interrupted) interrupted = std::move(reason);
    }
    changed.notify_all();
    stop.request_stop();
}

void JobState::answer_checkpoint(const std::string& outcome) {
    if (outcome != "ok" && outcome != "invalid_argument") {
        interrupt(std::string(why(outcome)));
        return;
    }
    {
        const std::scoped_lock lock(mutex);
        answer = outcome;
    }
    changed.notify_all();
}

const std::string& Job::id() const {
    return state_.task.fence.id;
}
const std::string& Job::type() const {
    return state_.task.type;
}
const std::string& Job::queue() const {
    return state_.task.queue;
}
const std::string& Job::tenant() const {
    return state_.task.tenant;
}
std::int64_t Job::attempt() const {
    return state_.task.fence.attempt;
}
std::int64_t Job::epoch() const {
    return state_.task.fence.epoch;
}

const boost::json::value& Job::payload() const {
    const std::scoped_lock lock(state_.mutex);
    if (!state_.payload) state_.payload = parsed(state_.task.payload);
    return *state_.payload;
}
std::string_view Job::payload_text() const {
    return state_.task.payload.empty() ? std::string_view("null") : state_.task.payload;
}
boost::json::value Job::labels() const {
    return parsed(state_.task.labels);
}
boost::json::value Job::context() const {
    return parsed(state_.task.context);
}
boost::json::value Job::signals() const {
    return parsed(state_.task.signals);
}

const boost::json::value* Job::checkpoint(std::string_view stage) const {
    const std::scoped_lock lock(state_.mutex);
    read_checkpoints(state_);
    for (const auto& [name, data] : state_.checkpoints)
        if (name == stage) return &data;
    return nullptr;
}

void Job::progress(double value, std::string_view note) {
    state_.office.progress(state_.task.fence, value, std::string(note));
}

void Job::checkpoint(std::string_view stage, const boost::json::value& data) {
    if (!state_.office.can_wait())
        throw std::logic_error("an inline handler cannot wait for a checkpoint");
    auto item = checkpoint_item(state_.task.fence, stage, json_text(data));
    std::unique_lock lock(state_.mutex);
    if (state_.interrupted) throw Interrupted(*state_.interrupted);
    state_.answer.reset();
    lock.unlock();
    state_.office.checkpoint(state_.task.fence, std::move(item));
    lock.lock();
    state_.changed.wait(lock, [&] { return state_.answer || state_.interrupted; });
    if (state_.interrupted) throw Interrupted(*state_.interrupted);
    if (*state_.answer != "ok")
        throw PermanentError("the server refused the checkpoint '" + std::string(stage) + "'");
    read_checkpoints(state_);
    state_.checkpoints.emplace_back(stage, data);
}

bool Job::cancelled() const {
    return state_.stop.stop_requested();
}
bool Job::pause_requested() const {
    return state_.pause_requested;
}
std::stop_token Job::stop_token() const {
    return state_.stop.get_token();
}

}  // namespace holdfast::client
