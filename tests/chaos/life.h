// One life of the embedded store in this process, from opening it to its end, with an engine on it.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/engine.h"
#include "fast_clock.h"
#include "load.h"
#include "platter.h"
#include "promises.h"
#include "stores/sqlite/sqlite_store.h"

namespace holdfast::chaos {

/// Of all lives, one after the other: no life begins before the end of the one before.
class Calendar {
  public:
    Time next() { return clock_.now(); }

  private:
    FastClock clock_{Time{std::chrono::sys_days{std::chrono::January / 5 / 2026}}};
};

/// The options of a store that is small, so that a short test meets all its limits: most finished tasks and bodies
/// are on disk only, and it takes no room from the machine.
stores::SqliteOptions small_store(std::filesystem::path directory);

class Life {
  public:
    /// `seed` is the engine's.
    static Result<std::unique_ptr<Life>> open(stores::SqliteOptions options, Time start,
                                              std::uint64_t seed);
    Life(const Life&) = delete;
    Life& operator=(const Life&) = delete;

    /// Until the load has gone home, or the disk has failed and everybody was told.
    void run(LoadOptions options, Hear hear);
    /// What was promised, and SQLite's own check of the file.
    void check(Promises& promises);
    Result<> close();

    engine::Engine& engine() { return *engine_; }
    /// What the store said when it gave up.
    const std::optional<Error>& broken() const { return broken_; }

    /// Runs until `work` is done.
    template <class T>
    T wait_for(Async<T> work) {
        std::optional<T> answer;
        asio::co_spawn(context_, std::move(work), [&](const std::exception_ptr& failure, T value) {
            if (failure) std::rethrow_exception(failure);
            answer = std::move(value);
        });
        run_out();
        return std::move(*answer);
    }

  private:
    explicit Life(Time start) : clock_(start) {}
    void run_out();

    FastClock clock_;
    asio::io_context context_{1};
    std::optional<Error> broken_;
    Load* load_ = nullptr;
    std::unique_ptr<stores::SqliteStore> store_;
    std::unique_ptr<engine::Engine> engine_;
};

/// A folder of our own, gone with us unless it is kept for somebody to look at.
class Scratch {
  public:
    Scratch();
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void keep() { kept_ = true; }
    /// Writes the files of a disk in memory here, and says where.
    std::string keep(const Media& media);

  private:
    std::filesystem::path path_;
    bool kept_ = false;
};

}  // namespace holdfast::chaos
