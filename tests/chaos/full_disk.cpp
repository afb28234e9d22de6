// A real file system without room: a small tmpfs, where the machine lets us mount one.
#include <sys/mount.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "commands.h"
#include "life.h"

namespace holdfast::chaos {
namespace {

using domain::Event;
using domain::State;
using What = Told::What;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::size_t kMostBatches = 2000;
constexpr std::size_t kBatch = 4;

class SmallDisk {
  public:
    explicit SmallDisk(const std::filesystem::path& at) : at_(at) {
        std::filesystem::create_directory(at_);
        const std::string options = "mode=0700,size=32m";
        if (::mount("tmpfs", at_.c_str(), "tmpfs", 0, options.c_str()) != 0) error_ = errno;
    }
    ~SmallDisk() {
        if (error_ == 0) umount2(at_.c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    int error() const { return error_; }
    bool grow() { return ::mount("tmpfs", at_.c_str(), "tmpfs", MS_REMOUNT, "size=128m") == 0; }
    std::filesystem::path data() const { return at_ / "data"; }

  private:
    std::filesystem::path at_;
    int error_ = 0;
};

domain::Submission large_submission(Rng& rng) {
    domain::Submission s;
    s.type = "large";
    s.queue = kQueues.front();
    s.payload = Json::quoted(std::string(60'000 + rng.below(40'000), 'x'));
    return s;
}

/// Submits until something is refused; says what.
Async<std::optional<Error>> fill(engine::Engine* engine, Promises* promises, Rng* rng) {
    for (std::size_t n = 0; n < kMostBatches; ++n) {
        std::vector<domain::Submission> batch;
        for (std::size_t i = 0; i < kBatch; ++i) batch.push_back(large_submission(*rng));
        for (const auto& receipt : co_await engine->submit(std::move(batch))) {
            if (!receipt) co_return receipt.error();
            promises->hear({.what = What::accepted, .id = receipt->id});
        }
    }
    co_return std::nullopt;
}

/// Claims and completes everything there is.
Async<Result<std::size_t>> finish_all(engine::Engine* engine, Promises* promises) {
    std::size_t finished = 0;
    for (;;) {
        engine::ClaimCall call{.queues = {kQueues.front()}, .types = {}, .worker = "w"};
        call.max = 50;
        CO_TRY(const auto tasks, co_await engine->claim(std::move(call)));
        if (tasks.empty()) co_return finished;
        std::vector<engine::Completion> items;
        for (const engine::ClaimedTask& task : tasks) {
            const domain::Header& h = task.record.header;
            items.push_back({h.id, h.fence(), Json::quoted("done")});
        }
        const auto answers = co_await engine->complete(items);
        for (std::size_t i = 0; i < answers.size(); ++i) {
            if (!answers[i]) co_return std::unexpected(answers[i].error());
            promises->hear({What::stepped, items[i].id, Event::completed, answers[i]->state,
                            items[i].fence.attempt, items[i].fence.epoch, answers[i]->version,
                            items[i].result.text()});
            ++finished;
        }
    }
}

stores::SqliteOptions options(const SmallDisk& disk, std::uint64_t reserve) {
    stores::SqliteOptions options = small_store(disk.data());
    options.reserve_bytes = reserve;
    options.ballast_bytes = 2 * kMiB;
    return options;
}

std::optional<std::string> look(Life& life, Promises& promises) {
    life.check(promises);
    if (!promises.violation()) return std::nullopt;
    return promises.violation()->detail;
}

/// With a reserve, new work is refused in time, and what was begun can be finished.
std::optional<std::string> keep_a_reserve(const SmallDisk& disk, Calendar& calendar, Rng& rng,
                                          Promises& promises, std::string& story) {
    auto life = Life::open(options(disk, 10 * kMiB), calendar.next(), rng());
    if (!life) return "it does not open: " + life.error().detail;
    engine::Engine& engine = (*life)->engine();
    const auto refused = (*life)->wait_for(fill(&engine, &promises, &rng));
    if (!refused) return "a full disk takes everything";
    if (refused->code != Code::overloaded) return "it failed for want of room: " + refused->detail;
    const auto finished = (*life)->wait_for(finish_all(&engine, &promises));
    if (!finished) return "what was begun cannot be finished: " + finished.error().detail;
    story = std::to_string(*finished) + " tasks finished after \"" + refused->detail + "\"";
    if (auto wrong = look(**life, promises)) return wrong;
    const Result<> closed = (*life)->close();
    if (!closed) return "it does not close: " + closed.error().detail;
    return std::nullopt;
}

/// Without one, it goes on until the disk itself says no.
std::optional<std::string> run_out_of_room(SmallDisk& disk, Calendar& calendar, Rng& rng,
                                           Promises& promises, std::string& story) {
    {
        auto life = Life::open(options(disk, 0), calendar.next(), rng());
        if (!life) return "it does not open: " + life.error().detail;
        const auto refused = (*life)->wait_for(fill(&(*life)->engine(), &promises, &rng));
        if (!refused || refused->detail.empty()) return "a full disk takes everything";
        story += ", then \"" + refused->detail + "\"";
    }
    {
        auto full = Life::open(options(disk, 0), calendar.next(), rng());
        if (!full && full.error().detail.empty()) return "it does not open, and does not say why";
        if (full) {
            if (auto wrong = look(**full, promises)) return wrong;
        }
    }
    if (!disk.grow()) return std::string("the tmpfs does not grow: ") + std::strerror(errno);
    auto life = Life::open(options(disk, 0), calendar.next(), rng());
    if (!life) return "it does not open any more: " + life.error().detail;
    return look(**life, promises);
}

}  // namespace

bool fill_real_disk(std::uint64_t seed) {
    Scratch scratch;
    SmallDisk disk(scratch.path() / "small");
    if (disk.error() != 0) {
        std::printf("full tmpfs: skipped, cannot mount one: %s\n", std::strerror(disk.error()));
        return true;
    }
    Rng rng(seed);
    Calendar calendar;
    Promises promises(rng());
    std::string story;
    auto wrong = keep_a_reserve(disk, calendar, rng, promises, story);
    if (!wrong) wrong = run_out_of_room(disk, calendar, rng, promises, story);
    if (wrong) {
        std::printf("full tmpfs: %s\n  again: chaos sweep --seed %llu\n", wrong->c_str(),
                    static_cast<unsigned long long>(seed));
    } else {
        std::printf("full tmpfs: %s; %llu answers, 0 violations\n", story.c_str(),
                    static_cast<unsigned long long>(promises.heard()));
    }
    return !wrong;
}

}  // namespace holdfast::chaos
