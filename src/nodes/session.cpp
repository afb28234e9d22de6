#include "nodes/session.h"

#include <algorithm>

namespace holdfast::nodes {
namespace {

/// An assign frame is sent when it has this size; a single task may be larger.
constexpr std::size_t kFrameBytes = std::size_t{512} << 10;
constexpr Duration kSweepEvery = std::chrono::seconds{5};

constexpr Of of_request(const Complete&) {
    return Of::done;
}
constexpr Of of_request(const Fail&) {
    return Of::fail;
}
constexpr Of of_request(const Yield&) {
    return Of::yield;
}
constexpr Of of_request(const Checkpoint&) {
    return Of::checkpoint;
}
constexpr Of of_request(const Accept&) {
    return Of::ack;
}
constexpr Of of_request(const Start&) {
    return Of::started;
}

bool ends_the_attempt(Of of) {
    return of == Of::done || of == Of::fail || of == Of::yield;
}

std::string frame(std::string_view op) {
    return std::string(R"({"op":")").append(op).append("\"");
}

std::string about(std::string_view op, const Ref& ref) {
    std::string text = frame(op) + ',';
    append_ref(text, ref);
    return text += '}';
}

std::string outcome_frame(Of of, std::span<const Ref> refs,
                          const engine::Each<engine::Done>& answers) {
    std::string text = frame("outcome").append(R"(,"of":")").append(to_string(of));
    text += R"(","items":)";
    append_outcomes(text, of, refs, answers);
    return text += '}';
}

std::string heartbeat_frame(std::span<const Ref> refs, const engine::Each<engine::Beat>& answers) {
    std::string text = frame("heartbeat").append(R"(,"items":)");
    append_beats(text, refs, answers);
    return text += '}';
}

/// As few frames as their size allows.
void assign(const std::vector<engine::ClaimedTask>& tasks, Actions& todo) {
    TaskWriter writer;
    std::string text;
    for (const engine::ClaimedTask& task : tasks) {
        text += text.empty() ? frame("assign") + R"(,"tasks":[)" : ",";
        writer.append(text, task);
        if (text.size() < kFrameBytes && &task != &tasks.back()) continue;
        text += "]}";
        todo.emplace_back(Send{std::exchange(text, {})});
    }
}

}  // namespace

// ---- what the worker says ----

Actions Session::received(std::string_view text, Time now) {
    Actions todo;
    if (state_ == State::closed) return todo;
    forget_expired(now);
    Result<Frame> read = read_frame(text);
    if (!read) {
        refuse_frame(read.error(), todo);
    } else if (std::holds_alternative<Hello>(*read) != (state_ == State::before_hello)) {
        const bool early = state_ == State::before_hello;
        refuse_frame(
            {Code::wrong_state, early ? "op: say hello first" : "op: hello was said already", "op"},
            todo);
    } else {
        std::visit([&](auto& said) { on(std::move(said), todo); }, *read);
    }
    return todo;
}

void Session::on(Hello hello, Actions& todo) {
    hello_ = std::move(hello);
    state_ = State::serving;
    std::string text = frame("welcome").append(R"(,"instance":)");
    append_quoted(text, options_.instance);
    const Duration lease = hello_.lease > Duration{0} ? hello_.lease : options_.default_lease;
    text.append(R"(,"lease":")").append(format_duration(lease)).append("\"}");
    todo.emplace_back(Send{std::move(text)});
    for (const engine::Ack& task : std::exchange(hello_.running, {}))
        running_.insert_or_assign(task.id, Running{task.fence, kNoTime});
    if (!running_.empty()) on(Renew{}, todo);
}

/// Nothing in it: all that it runs is renewed, and an idle worker hears that we are there.
void Session::on(Renew renew, Actions& todo) {
    if (renew.items.empty()) {
        for (const auto& [id, task] : running_) {
            if (!task.settling) renew.items.push_back({id, task.fence, {}, {}, {}});
        }
        if (renew.items.empty()) todo.emplace_back(Send{heartbeat_frame({}, {})});
    }
    for (auto next = renew.items.begin(); next != renew.items.end();) {
        const auto end =
            next + std::min<std::ptrdiff_t>(engine::kLargestBatch, renew.items.end() - next);
        Renew part{{std::make_move_iterator(next), std::make_move_iterator(end)}};
        std::vector<Ref> refs = refs_of(part.items);
        ask(std::move(part), std::move(refs), todo);
        next = end;
    }
}

void Session::on(Drain drain, Actions& todo) {
    said_goodbye_ = true;
    begin_leaving(Leaving::worker_drains, todo);
    if (drain.now && state_ == State::draining) give_back_all(todo);
}

template <class R>
void Session::on(R request, Actions& todo) {
    const Of of = of_request(request);
    std::vector<Ref> refs = refs_of(request.items);
    if (refs.empty()) {
        todo.emplace_back(Send{outcome_frame(of, {}, {})});
        return;
    }
    if (ends_the_attempt(of)) {
        for (const Ref& ref : refs) {
            if (Running* task = find(ref)) task->settling = true;
        }
    }
    ask(std::move(request), std::move(refs), todo);
}

void Session::ask(Request request, std::vector<Ref> refs, Actions& todo, bool silent) {
    ++unanswered_;
    todo.emplace_back(Ask{std::move(request), std::move(refs), silent});
}

// ---- what the engine answers ----

Actions Session::answered(Of of, std::span<const Ref> refs, bool silent,
                          const engine::Each<engine::Done>& answers) {
    Actions todo;
    --unanswered_;
    if (state_ != State::closed && !silent)
        todo.emplace_back(Send{outcome_frame(of, refs, answers)});
    for (std::size_t i = 0; i < refs.size(); ++i) settle(of, refs[i], answers[i], todo);
    bye_if_done(todo);
    return todo;
}

void Session::settle(Of of, const Ref& ref, const Result<engine::Done>& answer, Actions& todo) {
    Running* const task = find(ref);
    if (task == nullptr) return;
    const bool lost =
        !answer &&
        (answer.error().code == Code::stale_lease || answer.error().code == Code::not_found ||
         (answer.error().code == Code::wrong_state && ends_the_attempt(of)));
    if (lost || (answer && (ends_the_attempt(of) || !domain::is_held(answer->state)))) {
        running_.erase(ref.id);
    } else if (answer) {
        tell_requests(*task, ref, answer->cancel_requested, answer->pause_requested, todo);
    } else {
        task->settling = false;  // it did not reach the store: the task is still the worker's
    }
}

Actions Session::renewed(std::span<const Ref> refs, const engine::Each<engine::Beat>& answers) {
    Actions todo;
    --unanswered_;
    if (state_ != State::closed) todo.emplace_back(Send{heartbeat_frame(refs, answers)});
    for (std::size_t i = 0; i < refs.size(); ++i) {
        Running* const task = find(refs[i]);
        if (task == nullptr) continue;
        if (answers[i]) {
            task->lease_until = answers[i]->lease_until;
            tell_requests(*task, refs[i], answers[i]->cancel_requested, answers[i]->pause_requested,
                          todo);
        } else if (answers[i].error().code == Code::stale_lease && !task->settling) {
            running_.erase(refs[i].id);  // else its outcome will say what became of it
        }
    }
    bye_if_done(todo);
    return todo;
}

/// Once each; a pause that was taken back and asked for again is told again.
void Session::tell_requests(Running& task, const Ref& ref, bool cancel, bool pause, Actions& todo) {
    const bool open = state_ != State::closed;
    if (open && cancel && !task.cancel_told) todo.emplace_back(Send{about("cancel", ref)});
    if (open && pause && !task.pause_told) todo.emplace_back(Send{about("pause", ref)});
    task.cancel_told = cancel;
    task.pause_told = pause;
}

Actions Session::claimed(const std::vector<engine::ClaimedTask>& tasks) {
    Actions todo;
    if (tasks.empty()) return todo;
    claim_complained_ = false;
    if (state_ == State::serving) {
        for (const engine::ClaimedTask& task : tasks) {
            const domain::Header& h = task.record.header;
            running_.insert_or_assign(h.id, Running{h.fence(), h.lease_until});
        }
        assign(tasks, todo);
        return todo;
    }
    Yield back;  // too late: somebody else shall have them
    for (const engine::ClaimedTask& task : tasks)
        back.items.push_back({task.record.header.id, task.record.header.fence(), {}, false});
    std::vector<Ref> refs = refs_of(back.items);
    ask(std::move(back), std::move(refs), todo, true);
    return todo;
}

Actions Session::claim_failed(const Error& error) {
    Actions todo;
    const bool passes = error.code == Code::overloaded || error.code == Code::unavailable;
    if (passes || state_ != State::serving || std::exchange(claim_complained_, true)) return todo;
    complain(error, todo);
    return todo;
}

// ---- the end ----

Actions Session::lost() {
    Actions todo;
    if (state_ == State::closed) return todo;
    if (said_goodbye_) give_back_all(todo);
    state_ = State::closed;
    todo.emplace_back(EndClaims{});
    return todo;
}

Actions Session::shut_down() {
    Actions todo;
    begin_leaving(Leaving::shutting_down, todo);
    return todo;
}

Actions Session::drain() {
    Actions todo;
    if (leaving_ == Leaving::no) begin_leaving(Leaving::operator_drains, todo);
    return todo;
}

Actions Session::requested(const domain::TaskId& id, bool cancel, bool pause) {
    Actions todo;
    const auto task = running_.find(id);
    if (state_ == State::closed || task == running_.end()) return todo;
    Running& running =
        task->second;  // what was told before stays told: only an answer takes it back
    tell_requests(running, {id, running.fence}, cancel || running.cancel_told,
                  pause || running.pause_told, todo);
    return todo;
}

Actions Session::time_is(Time now) {
    Actions todo;
    if (state_ == State::before_hello && now >= hello_until_) bye("protocol", todo);
    return todo;
}

void Session::begin_leaving(Leaving why, Actions& todo) {
    if (state_ == State::closed) return;
    if (leaving_ != Leaving::shutting_down) leaving_ = why;
    state_ = State::draining;
    todo.emplace_back(EndClaims{});
    bye_if_done(todo);
}

void Session::give_back_all(Actions& todo) {
    Yield back;
    const auto flush = [&] {
        if (back.items.empty()) return;
        std::vector<Ref> refs = refs_of(back.items);
        ask(std::exchange(back, {}), std::move(refs), todo, true);
    };
    for (auto& [id, task] : running_) {
        if (std::exchange(task.settling, true)) continue;
        back.items.push_back({id, task.fence, {}, false});
        if (back.items.size() == engine::kLargestBatch) flush();
    }
    flush();
}

/// A server that stops does not wait for tasks to end: their leases live on, and the worker completes
/// them when it is connected again.
void Session::bye_if_done(Actions& todo) {
    if (state_ != State::draining || unanswered_ > 0) return;
    if (leaving_ == Leaving::shutting_down) {
        bye("shutting_down", todo);
    } else if (running_.empty()) {
        bye(leaving_ == Leaving::worker_drains ? "drained" : "drained_by_operator", todo);
    }
}

void Session::bye(std::string_view reason, Actions& todo) {
    state_ = State::closed;
    todo.emplace_back(Send{frame("bye").append(R"(,"reason":")").append(reason).append("\"}")});
    todo.emplace_back(EndClaims{});
    todo.emplace_back(Close{reason});
}

void Session::complain(const Error& error, Actions& todo) {
    std::string text = frame("error").append(R"(,"code":")").append(to_string(error.code));
    text += R"(","detail":)";
    append_quoted(text, error.detail);
    text += R"(,"field":)";
    append_quoted(text, error.field);
    text += '}';
    todo.emplace_back(Send{std::move(text)});
}

void Session::refuse_frame(const Error& error, Actions& todo) {
    complain(error, todo);
    if (++bad_frames_ >= kMostBadFrames) bye("protocol", todo);
}

// ---- slots ----

std::size_t Session::wanted() const {
    if (state_ != State::serving) return 0;
    return hello_.slots - std::min<std::size_t>(hello_.slots, running_.size());
}

/// A worker that lost a task and never speaks of it again must not lose the slot with it.
void Session::forget_expired(Time now) {
    if (now < next_sweep_) return;
    next_sweep_ = now + kSweepEvery;
    const auto is_expired = [&](const auto& entry) {
        const Running& task = entry.second;
        return !task.settling && is_set(task.lease_until) && task.lease_until + kSweepEvery < now;
    };
    boost::unordered::erase_if(running_, is_expired);
}

Session::Running* Session::find(const Ref& ref) {
    const auto task = running_.find(ref.id);
    return task != running_.end() && task->second.fence == ref.fence ? &task->second : nullptr;
}

}  // namespace holdfast::nodes
