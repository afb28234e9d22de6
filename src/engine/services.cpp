#include "engine/services.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace holdfast::engine {
namespace {

constexpr std::size_t kDueAtOnce = 256;
constexpr std::size_t kTrimAtOnce = 1000;
constexpr std::size_t kDoctorPage = 500;
constexpr Duration kOverdue = std::chrono::minutes{1};

const std::vector<State> kUnfinished{State::waiting,  State::queued,   State::dispatched,
                                     State::accepted, State::running,  State::retrying,
                                     State::paused,   State::suspended};

using Census = std::map<std::tuple<std::string, std::string, State>, std::uint64_t>;

void examine(const stores::ListRow& row, Time now, Diagnosis& found) {
    const domain::Header& h = row.header;
    ++found.examined;
    const bool queued = h.state == State::queued;
    if (queued != row.in_lane) found.misplaced.push_back(h.id);
    const bool cared_for = row.in_lane || is_set(h.wake_at) || domain::is_parked(h.state);
    if (!cared_for) found.without_wake_source.push_back(h.id);
    if (is_set(h.wake_at) && h.wake_at + kOverdue < now) found.overdue.push_back(h.id);
}

/// The counts must agree with the records, where nothing moved while we looked.
void compare(const stores::Stats& before, const stores::Stats& after, const Census& census,
             Diagnosis& found) {
    for (const stores::QueueCounts& counts : after.queues) {
        const auto earlier = std::ranges::find_if(before.queues, [&](const stores::QueueCounts& c) {
            return c.queue == counts.queue && c.type == counts.type &&
                   c.by_state == counts.by_state;
        });
        if (earlier == before.queues.end()) continue;
        for (const State state : kUnfinished) {
            const auto seen = census.find({counts.queue, counts.type, state});
            const std::uint64_t records = seen == census.end() ? 0 : seen->second;
            if (records != counts.by_state[static_cast<std::size_t>(state)])
                found.miscounted.push_back(counts.queue + '/' + counts.type + ' ' +
                                           std::string(to_string(state)));
        }
    }
}

}  // namespace

Async<void> Service::run(Service* service, TaskGroup* group) {
    Alarm alarm(service->engine_.clock(), service->engine_.executor());
    while (!group->stopping()) {
        const Result<bool> more = co_await service->run_once();
        if (!more) {
            ++service->failures_;
            service->last_error_ = more.error();
        }
        if (more && *more) continue;
        const double stretch = 0.9 + 0.2 * service->rng_.unit();
        co_await alarm.wait_for(std::chrono::duration_cast<Duration>(service->every_ * stretch));
    }
}

Async<Result<bool>> Ticker::run_once() {
    CO_TRY_VOID(co_await engine().sync_clock());
    CO_TRY(const std::size_t done, co_await engine().tick(kDueAtOnce));
    co_return done == kDueAtOnce;
}

Async<Result<bool>> Retention::run_once() {
    const Time now = engine().now();
    stores::TrimRequest request{now - options_.finished, now - options_.feed, {}, kTrimAtOnce};
    // A durable consumer of the feed keeps its place in a `cursor` record, as that record's note.
    stores::Filter cursors;
    cursors.kind = domain::Kind::cursor;
    CO_TRY(const stores::Page page,
           co_await engine().store().list(cursors, {}, kLargestBatch, stores::kListBudget));
    for (const stores::ListRow& row : page.rows) request.feed_keep.push_back(row.header.note);
    CO_TRY(const std::size_t gone, co_await engine().store().trim(std::move(request)));
    removed_ += gone;
    co_return gone == kTrimAtOnce;
}

Async<Result<bool>> Doctor::run_once() {
    Diagnosis found;
    Census census;
    stores::Filter unfinished;
    unfinished.states = kUnfinished;
    CO_TRY(const stores::Stats before, co_await engine().stats());
    std::string cursor;
    do {
        CO_TRY(stores::Page page, co_await engine().list(unfinished, cursor, kDoctorPage));
        for (const stores::ListRow& row : page.rows) {
            examine(row, engine().now(), found);
            ++census[{row.header.queue, row.header.type, row.header.state}];
        }
        cursor = std::move(page.next);
    } while (!cursor.empty());
    CO_TRY(const stores::Stats after, co_await engine().stats());
    compare(before, after, census, found);
    diagnosis_ = std::move(found);
    co_return false;
}

}  // namespace holdfast::engine
