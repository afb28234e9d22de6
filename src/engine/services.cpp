#include "engine/services.h"

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <utility>

namespace holdfast::engine {
namespace {

constexpr std::size_t kDueAtOnce = 256;
constexpr std::size_t kTrimAtOnce = 1000;
constexpr std::size_t kDoctorPage = 500;
constexpr Duration kOverdue = std::chrono::minutes{1};

const std::vector<State> kUnfinished{State::waiting,  State::queued,   State::dispatched,
                                     State::accepted, State::running,  State::retrying,
                                     State::paused,   State::suspended};

using ByState = std::array<std::uint64_t, domain::kStates>;
using Census = std::map<std::pair<std::string, std::string>, ByState>;  ///< by queue and type

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
void compare(const stores::Stats& before, const stores::Stats& after, Census seen,
             Diagnosis& found) {
    Census earlier, later;
    for (const stores::QueueCounts& c : before.queues) earlier[{c.queue, c.type}] = c.by_state;
    for (const stores::QueueCounts& c : after.queues) {
        later[{c.queue, c.type}] = c.by_state;
        seen.try_emplace({c.queue, c.type});  // counted, and perhaps not there
    }
    for (const auto& [family, records] : seen) {
        if (earlier[family] != later[family]) continue;
        for (const State state : kUnfinished) {
            const auto at = static_cast<std::size_t>(state);
            if (records[at] != later[family][at])
                found.miscounted.push_back(family.first + '/' + family.second + ' ' +
                                           std::string(to_string(state)));
        }
    }
}

}  // namespace

Async<void> Service::run(Service* service, TaskGroup* group) {
    while (!group->stopping()) {
        const Result<bool> more = co_await service->run_once();
        service->failing_ = !more;
        if (!more) {
            ++service->failures_;
            service->last_error_ = more.error();
        }
        if (more && *more) {  // at once, but not before everybody else had a turn
            co_await asio::post(service->engine_.executor(), asio::use_awaitable);
            continue;
        }
        const double stretch = 0.9 + 0.2 * service->rng_.unit();
        co_await service->alarm_.wait_for(
            std::chrono::duration_cast<Duration>(service->every_ * stretch));
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
    std::string place;
    do {
        CO_TRY(stores::Page page,
               co_await engine().store().list(cursors, place, kLargestBatch, stores::kListBudget));
        for (const stores::ListRow& row : page.rows) request.feed_keep.push_back(row.header.note);
        place = std::move(page.next);
    } while (!place.empty());
    CO_TRY(const std::size_t gone, co_await engine().store().trim(std::move(request)));
    removed_ += gone;
    CO_TRY(const std::uint64_t excess, co_await too_many());
    if (excess == 0) co_return gone == kTrimAtOnce;
    // The oldest go first, so that as many as are too many are the right ones.
    CO_TRY(const std::size_t more,
           co_await engine().store().trim(
               {now, {}, {}, std::min(kTrimAtOnce, static_cast<std::size_t>(excess))}));
    removed_ += more;
    co_return gone == kTrimAtOnce || more == kTrimAtOnce;
}

/// How many finished tasks there are beyond what may be kept.
Async<Result<std::uint64_t>> Retention::too_many() {
    if (options_.finished_most == 0) co_return 0;
    CO_TRY(const stores::Stats stats, co_await engine().stats());
    std::uint64_t finished = 0;
    for (const stores::QueueCounts& counts : stats.queues) {
        for (std::size_t state = 0; state < counts.by_state.size(); ++state) {
            if (domain::is_final(static_cast<State>(state))) finished += counts.by_state.at(state);
        }
    }
    co_return finished - std::min(finished, options_.finished_most);
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
            ++census[{row.header.queue, row.header.type}]
                    [static_cast<std::size_t>(row.header.state)];
        }
        cursor = std::move(page.next);
        co_await asio::post(engine().executor(), asio::use_awaitable);  // a million take a while
    } while (!cursor.empty());
    CO_TRY(const stores::Stats after, co_await engine().stats());
    compare(before, after, std::move(census), found);
    diagnosis_ = std::move(found);
    co_return false;
}

}  // namespace holdfast::engine
