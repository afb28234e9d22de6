// Group commit: while one group is being written the next gathers.
//
//     staged ──► gathering ──seal──► written and synced on the writer's thread ──► durable: waiters go on
//
// One executor, which also owns the index; the writer's thread sees nothing but the sealed group.
#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/async.h"
#include "base/clock.h"
#include "base/result.h"
#include "stores/sqlite/journal.h"

namespace holdfast::stores::sqlite {

class Pipeline {
  public:
    struct Parts {
        std::function<void(std::function<void()>)>
            run;                      ///< Where writes are done; none: a thread of its own.
        std::function<Group()> seal;  ///< On the executor.
        std::function<Tried<>(const Group&)> write;  ///< On the writer's thread.
        std::function<Tried<>()> tidy;               ///< Likewise, when those who waited were told.
        std::function<void(std::uint64_t group)>
            durable;                                     ///< On the executor, before waiters go on.
        std::function<void(const Error& error)> broken;  ///< On the executor, once.
    };
    Pipeline(asio::any_io_executor executor, Clock& clock, Parts parts);
    /// Waits for a write that is under way; nobody may be waiting any more.
    ~Pipeline();

    /// The number of the group that what is staged now will be in.
    std::uint64_t gathering() const { return gathering_; }
    std::uint64_t durable() const { return durable_; }
    bool is_broken() const { return broken_.has_value(); }
    const std::optional<Error>& broken() const { return broken_; }

    /// Something is staged: let it be written as soon as the writer is free.
    void touch();
    /// The same, but nobody waits for it: a moment later, so that what follows can go with it.
    void touch_soon();
    /// Returns when the group is durable, or fails when it will never be.
    Async<Result<>> wait(std::uint64_t group);

  private:
    void start();
    void written(std::uint64_t group);
    void break_off(const Trouble& trouble);
    void wake();

    asio::any_io_executor executor_;
    Clock& clock_;
    Parts parts_;
    std::uint64_t gathering_ = 1;
    std::uint64_t durable_ = 0;
    asio::steady_timer soon_;
    bool soon_runs_ = false;
    std::uint64_t soon_number_ = 0;  ///< Tells a wait that was called off.
    bool touched_ = false;
    bool writing_ = false;  ///< The writer's thread is busy.
    std::optional<Error> broken_;
    std::map<std::uint64_t, std::shared_ptr<asio::steady_timer>>
        waiters_;  ///< One wait for all of a group.
    std::shared_ptr<std::atomic<bool>> alive_ = std::make_shared<std::atomic<bool>>(true);
    std::optional<asio::thread_pool> writer_;
};

}  // namespace holdfast::stores::sqlite
