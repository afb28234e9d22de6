#include "session.h"

#include <algorithm>
#include <utility>

#include "text.h"

namespace holdfast::client {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kProgressEvery{250};
constexpr milliseconds kResendAfter{500};
constexpr milliseconds kShortestBeat{100};
constexpr milliseconds kIdleBeat{10'000};  ///< Also a sign of life when nothing runs.
/// An item that was under way so often when the server complained is what it complains about.
constexpr int kMostStrikes = 3;

/// The server could not say yes or no: the same item may be taken later.
bool is_passing(std::string_view outcome) {
    return outcome == "unavailable" || outcome == "overloaded";
}

}  // namespace

std::string Session::hello() const {
    std::vector<Fence> running;
    for (const auto& [fence, holding] : held_) running.push_back(fence);
    for (const auto& [fence, owed] : owed_) running.push_back(fence);
    return hello_frame(hello_, running);
}

void Session::lost() {
    welcomed_ = bye_ = false;
    for (auto* builder : {&done_, &fail_, &yield_, &checkpoint_, &heartbeat_, &progress_})
        builder->clear();
    resend_.clear();
    resend_at_.reset();
    next_beat_.reset();
}

void Session::welcome(const Frame& frame, Clock::time_point now) {
    welcomed_ = true;
    if (const auto lease = parse_duration(frame.lease); lease && lease->count() > 0)
        lease_ = *lease;
    if (draining_) say_drain_ = true;
    for (const auto& [fence, owed] : owed_) builder(owed.how).add(owed.item);
    for (const auto& [fence, holding] : held_)
        if (!holding.checkpoint.empty()) checkpoint_.add(holding.checkpoint);
    // At once: the leases may have been running down while the connection was lost.
    next_beat_ = now;
}

Session::News Session::receive(std::string_view text, Clock::time_point now,
                               std::chrono::system_clock::time_point wall) {
    News news;
    if (!read_frame(text, frame_)) {
        news.log.emplace_back("the server sent a frame that is none; left out");
        return news;
    }
    if (frame_.op == "assign") {
        assign(frame_, news, wall);
    } else if (frame_.op == "outcome") {
        outcomes(frame_, news, now);
    } else if (frame_.op == "heartbeat") {
        beats(frame_, news);
    } else if (frame_.op == "cancel") {
        if (auto job = job_of(frame_.fence)) news.cancelled.push_back(std::move(job));
    } else if (frame_.op == "pause") {
        if (auto job = job_of(frame_.fence)) news.to_pause.push_back(std::move(job));
    } else if (frame_.op == "welcome") {
        welcome(frame_, now);
    } else if (frame_.op == "bye") {
        news.bye = bye_ = true;
        if (frame_.reason.starts_with("protocol")) refusal(frame_, news);
        // An operator may want this worker to leave.
        if (frame_.reason.starts_with("drained")) draining_ = true;
        news.log.push_back("the server ends the connection: " + frame_.reason);
    } else if (frame_.op == "error") {
        refusal(frame_, news);
    }
    return news;
}

void Session::assign(Frame& frame, News& news, std::chrono::system_clock::time_point wall) {
    for (auto& task : frame.tasks) {
        if (draining_) {
            finish(task.fence, Final::yield, yield_item(task.fence, std::nullopt, false));
            continue;
        }
        auto lease = hello_.lease.value_or(lease_);
        // A task may have a shorter lease of its own.
        if (const auto until = parse_time(task.lease_until)) {
            const auto left = std::chrono::duration_cast<milliseconds>(*until - wall);
            lease = std::clamp(left, std::min(lease, 3 * kShortestBeat), lease);
        }
        news.assigned.emplace_back(std::move(task), lease);
    }
}

void Session::outcomes(const Frame& frame, News& news, Clock::time_point now) {
    for (const auto& item : frame.items) {
        if (frame.of == "checkpoint") {
            checkpoint_outcome(item, news, now);
        } else {
            final_outcome(item, news, now);
        }
    }
}

void Session::final_outcome(const FrameItem& item, News& news, Clock::time_point now) {
    const auto found = owed_.find(item.fence);
    if (found == owed_.end()) return;
    if (is_passing(item.outcome)) {
        resend_.push_back(item.fence);
        if (!resend_at_) resend_at_ = now + kResendAfter;
        return;
    }
    if (item.outcome == "invalid_argument" && found->second.how == Final::done) {
        auto message = "the server refused the result: " + item.detail;
        found->second = {Final::fail, fail_item(item.fence, {.kind = "permanent",
                                                             .message = message,
                                                             .stack = {},
                                                             .code = "bad_result",
                                                             .retry_after = std::nullopt})};
        fail_.add(found->second.item);
        news.log.push_back(item.fence.id + ": " + message);
        return;
    }
    if (item.outcome != "ok")
        news.log.push_back(item.fence.id + ": the outcome was refused: " + item.outcome);
    owed_.erase(found);
}

void Session::checkpoint_outcome(const FrameItem& item, News& news, Clock::time_point now) {
    const auto found = held_.find(item.fence);
    if (found == held_.end() || found->second.checkpoint.empty()) return;
    if (is_passing(item.outcome)) {
        resend_.push_back(item.fence);
        if (!resend_at_) resend_at_ = now + kResendAfter;
        return;
    }
    found->second.checkpoint.clear();
    news.checkpoints.emplace_back(found->second.job, item.outcome);
    if (item.outcome != "ok" && item.outcome != "invalid_argument") held_.erase(found);
}

void Session::beats(const Frame& frame, News& news) {
    for (const auto& item : frame.items) {
        const auto found = held_.find(item.fence);
        if (found == held_.end()) continue;
        const auto job = found->second.job;
        if (item.cancel_requested) news.cancelled.push_back(job);
        if (item.pause_requested) news.to_pause.push_back(job);
        if (!item.outcome.empty() && item.outcome != "ok" && !is_passing(item.outcome)) {
            news.gone.push_back(job);
            held_.erase(found);
        }
    }
}

/// Without a welcome it is this worker that the server refuses; after it, something that was sent.
void Session::refusal(const Frame& frame, News& news) {
    auto why = frame.op == "bye" ? frame.reason : frame.detail;
    if (!frame.field.empty()) why += " (" + frame.field + ")";
    if (!welcomed_) {
        news.refused = why;
        return;
    }
    news.log.push_back("the server did not understand a frame: " + why);
    std::vector<Fence> hopeless;
    for (auto& [fence, owed] : owed_)
        if (++owed.strikes >= kMostStrikes) hopeless.push_back(fence);
    for (const auto& fence : hopeless) owed_.erase(fence);
}

void Session::hold(const Fence& fence, std::shared_ptr<JobState> job, Milliseconds lease,
                   Clock::time_point now) {
    const auto now_shortest = held_.empty() ? lease : std::min(shortest_lease_, lease);
    // A shorter lease than any before may not wait for the beat that was planned.
    if (next_beat_ && (held_.empty() || lease < shortest_lease_))
        next_beat_ = std::min(*next_beat_, now + beat_period(lease));
    shortest_lease_ = now_shortest;
    held_.insert_or_assign(fence, Holding{std::move(job), lease, std::nullopt, {}, false, {}});
}

void Session::progress(const Fence& fence, double value, std::string note, Clock::time_point now) {
    const auto found = held_.find(fence);
    if (found == held_.end()) return;
    found->second.progress = value;
    found->second.note = std::move(note);
    found->second.progress_new = true;
    if (!next_progress_) next_progress_ = now + kProgressEvery;
}

void Session::checkpoint(const Fence& fence, std::string item) {
    const auto found = held_.find(fence);
    if (found == held_.end()) return;
    if (welcomed_) checkpoint_.add(item);
    found->second.checkpoint = std::move(item);
}

void Session::finish(const Fence& fence, Final how, std::string item) {
    held_.erase(fence);
    if (welcomed_) builder(how).add(item);
    owed_.insert_or_assign(fence, Owed{how, std::move(item)});
}

void Session::forget(const Fence& fence) {
    held_.erase(fence);
}

void Session::drain() {
    if (draining_) return;
    draining_ = true;
    say_drain_ = welcomed_;
}

std::vector<std::string> Session::take() {
    std::vector<std::string> out;
    if (!welcomed_) return out;
    if (std::exchange(say_drain_, false)) out.emplace_back(R"({"op":"drain"})");
    for (auto* builder : {&heartbeat_, &progress_, &checkpoint_, &done_, &fail_, &yield_})
        builder->take(out);
    return out;
}

Session::Clock::time_point Session::tick(Clock::time_point now) {
    if (!welcomed_) return now + kIdleBeat;
    if (next_beat_ && now >= *next_beat_) {
        beat_now(false);
        next_progress_.reset();
        shortest_lease_ = lease_;
        for (const auto& [fence, holding] : held_)
            shortest_lease_ = std::min(shortest_lease_, holding.lease);
        next_beat_ =
            now + (held_.empty() ? std::min(kIdleBeat, lease_ / 3) : beat_period(shortest_lease_));
    }
    if (next_progress_ && now >= *next_progress_) {
        beat_now(true);
        next_progress_.reset();
    }
    if (resend_at_ && now >= *resend_at_) {
        for (const auto& fence : std::exchange(resend_, {})) {
            if (const auto owed = owed_.find(fence); owed != owed_.end()) {
                builder(owed->second.how).add(owed->second.item);
            } else if (const auto held = held_.find(fence);
                       held != held_.end() && !held->second.checkpoint.empty()) {
                checkpoint_.add(held->second.checkpoint);
            }
        }
        resend_at_.reset();
    }
    auto next = next_beat_.value_or(now + kIdleBeat);
    for (const auto& other : {next_progress_, resend_at_})
        if (other) next = std::min(next, *other);
    return next;
}

Session::Milliseconds Session::beat_period(Milliseconds lease) const {
    return std::max(kShortestBeat, std::min(beat_every_, lease / 3));
}

void Session::beat_now(bool progress_only) {
    auto& builder = progress_only ? progress_ : heartbeat_;
    bool any = false;
    for (auto& [fence, holding] : held_) {
        if (progress_only && !holding.progress_new) continue;
        const bool fresh = std::exchange(holding.progress_new, false);
        builder.add(heartbeat_item(fence, fresh ? holding.progress : std::nullopt,
                                   fresh ? std::string_view(holding.note) : std::string_view()));
        any = true;
    }
    if (!any && !progress_only) builder.add("");
}

FrameBuilder& Session::builder(Final how) {
    return how == Final::done ? done_ : how == Final::fail ? fail_ : yield_;
}

std::shared_ptr<JobState> Session::job_of(const Fence& fence) const {
    const auto found = held_.find(fence);
    if (found != held_.end()) return found->second.job;
    if (fence.attempt != 0) return nullptr;
    // A frame may name the task alone.
    for (const auto& [held, holding] : held_)
        if (held.id == fence.id) return holding.job;
    return nullptr;
}

std::vector<std::pair<Fence, std::shared_ptr<JobState>>> Session::held() const {
    std::vector<std::pair<Fence, std::shared_ptr<JobState>>> out;
    for (const auto& [fence, holding] : held_) out.emplace_back(fence, holding.job);
    return out;
}

}  // namespace holdfast::client
