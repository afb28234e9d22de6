// Keeps what an instance counted in a record of kind `series`, and adds up those of all instances, living or gone.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/async.h"
#include "base/json.h"
#include "base/result.h"
#include "base/rng.h"
#include "base/uuid.h"
#include "observe/ports/series.h"
#include "stores/store.h"

namespace holdfast::observe {

class SeriesKeeper {
  public:
    /// How often `save` is meant to be called. What others show of this instance is older by at most so much, and a
    /// crash loses as much.
    static constexpr Duration kEvery = std::chrono::seconds{30};
    static constexpr std::size_t kSavedQueues = 100;  ///< The busiest.
    static constexpr std::size_t kMostRecords = 256;  ///< That are added up: the newest.

    /// `now` is the store's time. A start of an instance has a record of its own, so that none goes on in another's.
    SeriesKeeper(stores::Store& store, const Series& series, std::function<Time()> now,
                 std::string_view instance, Time started_at);

    /// Writes what is new, and removes records that no chart can show any more.
    Async<Result<bool>> save();
    /// A chart of all instances; an unknown range is the caller's mistake.
    Async<Result<Json>> chart(std::string range, std::string queue);
    /// By queue, of all instances. What cannot be read is left out.
    Async<RatesByQueue> rates();

  private:
    struct Copy {
        std::uint64_t version = 0;
        Bytes packed;
    };

    /// False: the record is at another version than we thought; now we know which.
    Async<Result<bool>> write();
    Async<Result<>> remove_old();
    /// Reads the records of the others that changed.
    Async<Result<>> look();

    stores::Store& store_;
    const Series& series_;
    std::function<Time()> now_;
    Uuid id_;
    Time started_at_;
    Rng rng_;
    std::uint64_t version_ = 0;
    std::uint64_t saved_steps_ = 0;
    std::map<Uuid, Copy> others_;
    Time looked_at_;
};

}  // namespace holdfast::observe
