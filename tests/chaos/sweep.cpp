// Faults: the n-th operation of a kind fails, once or from then on; or there is no room for more.
#include <cstdio>
#include <map>

#include "bad_disk.h"
#include "commands.h"
#include "life.h"

namespace holdfast::chaos {
namespace {

constexpr std::array kOps{Op::write, Op::sync, Op::truncate, Op::open, Op::read, Op::remove};
constexpr std::uint64_t kLeastPlaces = 20;
constexpr std::array kTroubles{Trouble::io_error, Trouble::full, Trouble::interrupted};

/// Enough for a checkpoint on the way: bodies are large, calls few.
LoadOptions some_load(std::uint64_t seed, std::uint64_t life) {
    return {.seed = seed, .life = life, .calls = 70, .largest_payload = 600'000};
}

/// After these nobody knows what is on the disk: a store that goes on, in a checkpoint too, builds on sand. A full
/// disk at a write is another matter, and so is a fault while closing: all of it is in the WAL by then.
bool must_end(const Fault& fault) {
    return fault.op == Op::sync || (fault.op == Op::write && fault.trouble == Trouble::io_error);
}

struct SweepTale {
    std::uint64_t faults = 0;
    std::uint64_t told = 0;
    std::map<std::string, std::uint64_t> overcome;  ///< It happened, and the store lived on.
    std::map<std::string, std::uint64_t> said;
};

class Sweep {
  public:
    explicit Sweep(const Arguments& arguments) : arguments_(arguments), past_(arguments.seed) {
        const BadDisk disk;
        auto life = Life::open(options(disk), calendar_.next(), arguments.seed);
        if (!life) {
            past_.expect(std::unexpected(life.error()));
            return;
        }
        (*life)->run(some_load(arguments.seed, 1), [&](const Told& told) { past_.hear(told); });
        left_ = disk.seen();  // as a killed process leaves it: the next one begins with a recovery
    }

    /// How often a life does each, from the very first opening or from what the life before left; and how much room
    /// it takes.
    struct Size {
        std::array<std::uint64_t, kOpNames.size()> ops{};
        std::uint64_t bytes = 0;
    };
    Size measure() {
        Size most;
        for (const bool fresh : {true, false}) {
            const BadDisk disk(fresh ? Media{} : left_);
            Promises promises = fresh ? Promises(1) : past_;
            live(disk, promises, some_load(arguments_.seed, 2));
            for (const Op op : kOps) {
                std::uint64_t& count = most.ops[static_cast<std::size_t>(op)];
                count = std::max(count, disk.count(op));
            }
            for (const auto& [path, bytes] : disk.seen()) most.bytes += bytes.size();
        }
        return most;
    }

    /// What went wrong, if anything did.
    std::optional<std::string> suffer(Fault fault) {
        Rng rng(hash64(to_string(fault.trouble), mix(arguments_.seed ^ fault.nth)) ^
                static_cast<std::uint64_t>(fault.op));
        fault.lasting = rng.chance(0.5);
        const std::string name = std::string(to_string(fault.op)) + ' ' +
                                 std::string(to_string(fault.trouble)) +
                                 (fault.lasting ? " from then on" : " once");
        return endure(name, must_end(fault), rng, [&](BadDisk& disk) { disk.plan(fault); });
    }
    std::optional<std::string> run_out_of_room(std::uint64_t bytes) {
        return endure("no room", false, Rng(mix(arguments_.seed ^ bytes)),
                      [&](BadDisk& disk) { disk.limit_to(bytes); });
    }
    const Promises& past() const { return past_; }
    SweepTale& tale() { return tale_; }

  private:
    std::optional<std::string> endure(const std::string& what, bool must_end, Rng rng,
                                      const std::function<void(BadDisk&)>& curse) {
        const bool fresh = rng.chance(0.3);
        Promises promises = fresh ? Promises(rng()) : past_;
        const std::uint64_t heard_before = promises.heard();
        BadDisk disk(fresh ? Media{} : left_, rng());
        curse(disk);
        const std::optional<std::string> said =
            live(disk, promises, some_load(rng(), 2 + rng.below(9)));
        if (!disk.has_struck()) return std::nullopt;
        ++tale_.faults;
        tale_.told += promises.heard() - heard_before;
        if (said) {
            ++tale_.said[*said];
        } else {
            ++tale_.overcome[what + (ran_ ? "" : ", while closing")];
        }
        if (said && said->empty()) return "it gave up without a word";
        if (!said && ran_ && must_end) return "the store passed over it and went on";
        if (promises.violation()) return promises.violation()->detail;
        disk.cut();
        for (const Media& media : {disk.seen(), disk.after_cut(rng)}) {
            const BadDisk next(media);
            if (auto wrong = look(next, promises)) return *wrong + scratch_.keep(media);
        }
        return std::nullopt;
    }

    stores::SqliteOptions options(const BadDisk& disk) const {
        stores::SqliteOptions options = small_store(scratch_.path());
        options.vfs = disk.name();
        options.ballast_bytes = 4096;  // so that there is something to give up
        return options;
    }

    /// What the store said if it did not live to the end.
    std::optional<std::string> live(const BadDisk& disk, Promises& promises, LoadOptions load) {
        auto life = Life::open(options(disk), calendar_.next(), mix(load.seed ^ load.life));
        if (!life) return life.error().detail;
        (*life)->run(load, [&](const Told& told) { promises.hear(told); });
        ran_ = disk.has_struck();
        const Result<> closed = (*life)->close();
        if ((*life)->broken()) return (*life)->broken()->detail;
        if (!closed) return closed.error().detail;
        return std::nullopt;
    }

    std::optional<std::string> look(const BadDisk& disk, Promises promises) {
        auto life = Life::open(options(disk), calendar_.next(), 1);
        if (!life) return "it does not open any more: " + life.error().detail;
        (*life)->check(promises);
        if (promises.violation()) return promises.violation()->detail;
        return std::nullopt;
    }

    const Arguments& arguments_;
    Scratch scratch_;
    Calendar calendar_;
    Promises past_;
    Media left_;
    bool ran_ = false;  ///< The fault came before the store was closed.
    SweepTale tale_;
};

bool complain(const Arguments& arguments, const std::string& what, const std::string& wrong) {
    std::printf("%s: %s\n  again: chaos sweep --stride %llu --seed %llu\n", what.c_str(),
                wrong.c_str(), static_cast<unsigned long long>(arguments.stride),
                static_cast<unsigned long long>(arguments.seed));
    return false;
}

bool sweep_op(const Arguments& arguments, Sweep& sweep, Op op, std::uint64_t end) {
    // What happens rarely is tried more often; and each seed tries other places.
    const std::uint64_t stride = std::clamp<std::uint64_t>(end / kLeastPlaces, 1, arguments.stride);
    for (std::uint64_t n = 1 + arguments.seed % stride; n <= end; n += stride) {
        for (const Trouble trouble : kTroubles) {
            const auto wrong = sweep.suffer({op, n, trouble, false});
            if (wrong)
                return complain(arguments,
                                std::string(to_string(op)) + ' ' + std::to_string(n) +
                                    " fails with " + std::string(to_string(trouble)),
                                *wrong);
        }
    }
    return true;
}

bool sweep_room(const Arguments& arguments, Sweep& sweep, std::uint64_t bytes) {
    for (std::uint64_t part = 1; part <= kLeastPlaces; ++part) {
        const std::uint64_t room = bytes * part / kLeastPlaces;
        if (const auto wrong = sweep.run_out_of_room(room))
            return complain(arguments, "a disk of " + std::to_string(room) + " bytes", *wrong);
    }
    return true;
}

void summarize(const Arguments& arguments, const SweepTale& tale, const std::string& ends) {
    std::uint64_t overcome = 0;
    for (const auto& [text, times] : tale.overcome) overcome += times;
    if (arguments.verbose) {
        for (const auto& [text, times] : tale.said)
            std::printf("  %6llu × %s\n", static_cast<unsigned long long>(times), text.c_str());
        for (const auto& [text, times] : tale.overcome)
            std::printf("  %6llu × overcome: %s\n", static_cast<unsigned long long>(times),
                        text.c_str());
    }
    std::printf(
        "%llu faults (a life has %s; stride %llu), %llu answers, %llu overcome, %zu messages, 0 "
        "violations\n",
        static_cast<unsigned long long>(tale.faults), ends.c_str(),
        static_cast<unsigned long long>(arguments.stride),
        static_cast<unsigned long long>(tale.told), static_cast<unsigned long long>(overcome),
        tale.said.size());
}

bool sweep_disk(const Arguments& arguments) {
    Sweep sweep(arguments);
    const Sweep::Size size = sweep.measure();
    if (sweep.past().violation())
        return complain(arguments, "without a fault", sweep.past().violation()->detail);
    std::string ends;
    for (const Op op : kOps) {
        const std::uint64_t end = size.ops[static_cast<std::size_t>(op)];
        ends += (ends.empty() ? "" : ", ") + std::to_string(end) + " " + std::string(to_string(op));
        if (!sweep_op(arguments, sweep, op, end)) return false;
    }
    if (!sweep_room(arguments, sweep, size.bytes)) return false;
    summarize(arguments, sweep.tale(), ends);
    return true;
}

}  // namespace

int sweep_faults(const Arguments& arguments) {
    const bool swept = sweep_disk(arguments);
    const bool filled = fill_real_disk(arguments.seed);
    return swept && filled ? 0 : 1;
}

}  // namespace holdfast::chaos
