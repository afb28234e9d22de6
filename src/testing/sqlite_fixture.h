// A world for tests of the embedded store: a directory of its own, a clock that stands still, and a disk that
// writes when it is told.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "domain/decide.h"
#include "stores/sqlite/sqlite_store.h"
#include "testing/manual_clock.h"

namespace holdfast::testing {

using namespace std::chrono_literals;
using domain::Header;
using domain::Key;
using domain::Kind;
using domain::Record;
using domain::State;
using stores::SqliteOptions;
using stores::SqliteStore;
using stores::Verdict;

/// A directory that is gone when the test is over.
class TemporaryDirectory {
  public:
    TemporaryDirectory() {
        std::string path = (std::filesystem::temp_directory_path() / "holdfast-XXXXXX").string();
        if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("cannot make " + path);
        path_ = path;
    }
    ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

inline std::string bytes_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

class SqliteTest : public ::testing::Test {
  protected:
    template <class T>
    struct Call {
        std::shared_ptr<std::optional<T>> answer = std::make_shared<std::optional<T>>();
        bool answered() const { return answer->has_value(); }
        T& value() const { return answer->value(); }
    };

    SqliteTest() {
        options_.directory = directory_.path() / "data";
        options_.ballast_bytes = options_.reserve_bytes = 0;
        options_.reserve_share = 0;
        options_.on_broken = [](const Error& error) { ADD_FAILURE() << error.detail; };
        options_.disk = [this](std::function<void()> work) { writes_.push_back(std::move(work)); };
    }
    ~SqliteTest() override { kill(); }

    // ---- opening ----

    void open() {
        auto opened = SqliteStore::open(options_, *clock_, io_.get_executor());
        if (!opened) throw std::runtime_error(opened.error().detail);
        store_ = *std::move(opened);
    }
    /// What it says instead of opening.
    std::string refusal() {
        auto opened = SqliteStore::open(options_, *clock_, io_.get_executor());
        return opened ? "it opened" : opened.error().detail;
    }
    /// As the death of the process does: what is not on disk is lost.
    void kill() {
        store_.reset();
        writes_.clear();
        poll();
    }
    void reopen() {
        kill();
        open();
    }
    /// Writes by a thread, as in the real world.
    void use_threads() { options_.disk = nullptr; }
    /// A clock that shows another time: the old one cannot go back.
    void set_clock(Time now) { clock_ = std::make_unique<ManualClock>(now); }
    std::filesystem::path file() const { return options_.directory / "holdfast.db"; }

    // ---- calling ----

    void poll() {
        io_.restart();
        io_.poll();
    }
    template <class T>
    Call<T> begin(Async<T> work) {
        Call<T> call;
        asio::co_spawn(io_, std::move(work),
                       [answer = call.answer](std::exception_ptr failure, T value) {
                           if (failure) std::rethrow_exception(failure);
                           *answer = std::move(value);
                       });
        poll();
        return call;
    }
    /// One group goes to the disk.
    void write() {
        if (writes_.empty()) throw std::logic_error("nobody wants anything written");
        auto work = std::move(writes_.front());
        writes_.pop_front();
        work();
        poll();
    }
    template <class T>
    T end(const Call<T>& call) {
        while (!call.answered()) {
            if (!writes_.empty()) {
                write();
                continue;
            }
            io_.restart();
            if (io_.run_one_for(30s) == 0 && writes_.empty() && !call.answered())
                throw std::logic_error("the call waits for what never comes");
        }
        return std::move(**call.answer);
    }
    template <class T>
    T run(Async<Result<T>> work) {
        Result<T> answer = end(begin(std::move(work)));
        if (!answer) throw std::runtime_error(answer.error().detail);
        return *std::move(answer);
    }
    void run(Async<Result<>> work) {
        const Result<> answer = end(begin(std::move(work)));
        if (!answer) throw std::runtime_error(answer.error().detail);
    }

    // ---- work ----

    Time now() const { return clock_->now(); }
    Uuid mint() { return mint_.mint(Partition{7}, now()); }

    static domain::Submission task(std::string queue = "default", std::string key = {}) {
        domain::Submission s;
        s.queue = std::move(queue);
        s.type = "work";
        s.idempotency_key = std::move(key);
        s.payload = Json::quoted("payload");
        return s;
    }
    Async<Result<std::vector<stores::Outcome>>> committing(domain::Change change) {
        change.nonce = ++nonce_;
        std::vector<domain::Change> changes;
        changes.push_back(std::move(change));
        return store_->commit(std::move(changes));
    }
    stores::Outcome commit(domain::Change change) {
        return run(committing(std::move(change))).at(0);
    }
    Uuid submit(const domain::Submission& submission = task()) {
        const Uuid id = mint();
        EXPECT_EQ(commit(domain::decide_submit(submission, id, now())).verdict, Verdict::committed);
        return id;
    }
    stores::ClaimRequest request(std::string queue = "default", std::uint32_t max = 1) {
        stores::ClaimRequest r;
        r.queues = {{std::move(queue), {}}};
        r.worker = "ann";
        r.max = max;
        return r;
    }
    std::vector<Record> claim(std::string queue = "default", std::uint32_t max = 1) {
        return run(store_->claim(request(std::move(queue), max)));
    }
    domain::Change decided(const Record& record, const domain::Command& command) {
        auto change = domain::decide(record, command, now());
        if (!change) throw std::runtime_error(std::string(to_string(change.error())));
        return *std::move(change);
    }
    stores::Outcome act(const Record& record, const domain::Command& command) {
        return commit(decided(record, command));
    }
    std::optional<Record> look(const Uuid& id, Kind kind = Kind::task) {
        return run(store_->load({Key{kind, id}})).at(0);
    }
    /// A task that was submitted, claimed and completed.
    Uuid finish(const domain::Submission& submission = task()) {
        const Uuid id = submit(submission);
        for (const Record& record : claim(submission.queue, 1000)) {
            EXPECT_EQ(
                act(record, domain::Complete{record.header.fence(), Json::quoted("done")}).verdict,
                Verdict::committed);
        }
        return id;
    }
    /// Enough happens for the caches to be looked after.
    void settle() { run(store_->close()); }
    /// Writes the header over the record as it is, without asking decide().
    static domain::Change rewrite(Header header, const Header& old) {
        domain::Change change;
        change.partition = header.id.partition();
        domain::Put& put = change.puts.emplace_back();
        put.expected_version = old.version;
        put.expected_epoch = old.epoch;
        header.version = old.version + 1;
        put.transition.at = header.updated_at;
        put.header = std::move(header);
        return change;
    }

    /// Makes a finished task claimable again: the lifecycle has no such step, but the store does not know.
    static domain::Change revived(const Record& record) {
        Header h = record.header;
        h.state = State::queued;
        h.finished_at = {};
        return rewrite(h, record.header);
    }

    TemporaryDirectory directory_;
    std::unique_ptr<ManualClock> clock_ = std::make_unique<ManualClock>();
    asio::io_context io_;
    SqliteOptions options_;
    std::deque<std::function<void()>> writes_;
    std::unique_ptr<SqliteStore> store_;
    UuidMint mint_{Rng(1)};
    std::uint64_t nonce_ = 0;
};

}  // namespace holdfast::testing
