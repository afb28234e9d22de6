#include "sim_sqlite.h"

#include <array>
#include <cstdlib>
#include <stdexcept>

namespace holdfast::simulation {
namespace {

/// About as many as a group makes, so that a cut comes anywhere in it, and also behind it.
constexpr std::uint64_t kChangesOfAGroup = 30;

std::filesystem::path new_directory() {
    std::string name =
        (std::filesystem::temp_directory_path() / "holdfast-simulation-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    return name;
}

/// Some seeds keep nothing in memory that is on disk, some a little, some all.
std::size_t some_room(Rng& rng) {
    constexpr std::array<std::size_t, 3> kRoom{0, 5, 1'000'000};
    return kRoom[rng.below(kRoom.size())];
}

}  // namespace

SimSqlite::SimSqlite(VirtualTime& time, asio::any_io_executor executor, Rng rng, bool relaxed)
    : clock_(time), executor_(executor), rng_(rng), root_(new_directory()), group_(executor) {
    using Durability = stores::SqliteOptions::Durability;
    options_.durability = relaxed ? Durability::relaxed : Durability::full;
    options_.finished_cache = some_room(rng_);
    options_.body_cache_bytes = some_room(rng_);
    options_.reserve_bytes = options_.ballast_bytes = 0;
    options_.reserve_share = 0;
    open({});
    if (complaint_) throw std::runtime_error(*complaint_);
}

SimSqlite::~SimSqlite() {
    for (const auto& life : lives_) life->disk->cut();  // nothing need be tidied up
    lives_.clear();
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
}

// ---- lives ----

void SimSqlite::open(chaos::Media files) {
    auto life = std::make_unique<Life>();
    life->directory = root_ / std::to_string(lives_.size());
    chaos::Media media;
    for (auto& [name, bytes] : files) media[(life->directory / name).string()] = std::move(bytes);
    life->disk = std::make_unique<chaos::BadDisk>(std::move(media), rng_());
    stores::SqliteOptions options = options_;
    options.directory = life->directory;
    options.vfs = life->disk->name();
    options.disk = [this, it = life.get()](Work write) { take(*it, std::move(write)); };
    options.on_broken = [this, it = life.get()](const Error& error) {
        if (!it->over) complaint_ = error.detail;
    };
    auto opened = stores::SqliteStore::open(std::move(options), clock_, executor_);
    if (!opened) {
        complaint_ = opened.error().detail;
        return;
    }
    life->store = *std::move(opened);
    life->peek.emplace(*life->store);
    life->peek->check();
    lives_.push_back(std::move(life));
}

Async<void> SimSqlite::open_later(chaos::Media files, Duration outage) {
    Alarm power(clock_, executor_);
    co_await power.wait_for(outage);
    if (!group_.stopping()) open(std::move(files));
}

void SimSqlite::crash(Duration outage) {
    ++crashes_;
    Life& life = now();
    if (life.over) return;
    Work write = std::exchange(life.write, nullptr);
    // In the middle of the group, or when it is on disk and nobody knows yet.
    if (write && rng_.chance(0.7)) {
        life.disk->cut_at(life.disk->changes() + 1 + rng_.below(kChangesOfAGroup));
        std::exchange(write, nullptr)();
    }
    life.over = true;
    life.disk->cut();
    if (write) write();  // fails, and all who wait are told
    chaos::Media files;
    const bool only_the_process = rng_.chance(0.3);
    for (auto& [path, bytes] : only_the_process ? life.disk->seen() : life.disk->after_cut(rng_))
        files[std::filesystem::path(path).filename().string()] = std::move(bytes);
    group_.spawn(open_later(std::move(files), outage));
}

void SimSqlite::take(Life& life, Work write) {
    if (life.over) return write();
    life.write = std::move(write);
    group_.spawn(write_later(&life));
}

Async<void> SimSqlite::write_later(Life* life) {
    Alarm disk(clock_, executor_);
    co_await disk.wait_for(
        Duration{kShortestSyncUs + static_cast<std::int64_t>(rng_.below(kSyncSpreadUs))});
    if (life->write) std::exchange(life->write, nullptr)();
}

// ---- the port ----

template <class T>
Async<Result<T>> SimSqlite::heard(Async<Result<T>> call, std::uint64_t life) {
    if (!is_open() || life != crashes_) co_return std::unexpected(kDown);
    auto answer = co_await std::move(call);
    if (life != crashes_) co_return std::unexpected(kDown);
    co_return answer;
}

Async<Result<std::vector<stores::Outcome>>> SimSqlite::commit(std::vector<domain::Change> changes) {
    return heard(store().commit(std::move(changes)), crashes_);
}
Async<Result<std::vector<domain::Record>>> SimSqlite::claim(stores::ClaimRequest request) {
    return heard(store().claim(std::move(request)), crashes_);
}
Async<Result<std::vector<stores::Renewed>>> SimSqlite::renew(
    std::vector<stores::Renewal> renewals) {
    return heard(store().renew(std::move(renewals)), crashes_);
}
Async<Result<std::vector<std::optional<domain::Record>>>> SimSqlite::load(
    std::vector<domain::Key> keys) {
    return heard(store().load(std::move(keys)), crashes_);
}
Async<Result<std::vector<domain::Record>>> SimSqlite::due(std::size_t limit) {
    return heard(store().due(limit), crashes_);
}
Async<Result<stores::Page>> SimSqlite::list(stores::Filter filter, std::string cursor,
                                            std::size_t limit, std::size_t budget) {
    return heard(store().list(std::move(filter), std::move(cursor), limit, budget), crashes_);
}
Async<Result<stores::Stats>> SimSqlite::stats() {
    return heard(store().stats(), crashes_);
}
Async<Result<std::vector<domain::Transition>>> SimSqlite::history(domain::Key key) {
    return heard(store().history(key), crashes_);
}
Async<Result<std::vector<stores::LogEntry>>> SimSqlite::log(std::string log, Uuid owner,
                                                            std::size_t skip, std::size_t limit) {
    return heard(store().log(std::move(log), owner, skip, limit), crashes_);
}
Async<Result<stores::FeedPage>> SimSqlite::feed(std::string cursor, std::size_t limit) {
    return heard(store().feed(std::move(cursor), limit), crashes_);
}
Async<Result<std::vector<std::int64_t>>> SimSqlite::count(std::vector<stores::Tally> tallies) {
    return heard(store().count(std::move(tallies)), crashes_);
}
Async<Result<std::size_t>> SimSqlite::trim(stores::TrimRequest request) {
    return heard(store().trim(std::move(request)), crashes_);
}
Async<Result<Time>> SimSqlite::clock() {
    return heard(store().clock(), crashes_);
}

// ---- looks ----

std::optional<std::string> SimSqlite::complaint() const {
    return complaint_ ? complaint_ : now().peek->complaint();
}

std::vector<SimulatedStore::Sight> SimSqlite::tasks() {
    std::vector<Sight> sights;
    for (stores::Peek::Task& task : now().peek->tasks())
        sights.push_back({std::move(task.row), task.durable});
    return sights;
}
std::optional<domain::Header> SimSqlite::header(const domain::Key& key) {
    return now().peek->header(key);
}
std::vector<domain::Transition> SimSqlite::rows(const domain::Key& key) {
    return now().peek->history(key);
}
std::vector<stores::LogEntry> SimSqlite::entries(std::string_view log, const Uuid& owner) {
    return now().peek->log(log, owner);
}
std::vector<domain::FeedEvent> SimSqlite::events() {
    return now().peek->feed();
}
std::int64_t SimSqlite::tally(const stores::Tally& tally, Time time) {
    return now().peek->count(tally, time);
}

}  // namespace holdfast::simulation
