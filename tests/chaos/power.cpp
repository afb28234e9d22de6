// Power cuts: of what was not synced, anything may be left.
#include <cstdio>

#include "bad_disk.h"
#include "commands.h"
#include "life.h"

namespace holdfast::chaos {
namespace {

constexpr std::uint64_t kLivesOfADisk = 5;
constexpr std::uint64_t kCallsOfALife = 70;

struct PowerTale {
    std::uint64_t cuts = 0;
    std::uint64_t disks = 0;
    std::uint64_t while_opening = 0;
    std::uint64_t in_a_checkpoint = 0;
    std::uint64_t told = 0;
    std::uint64_t losses = 0;
};

class PowerTest {
  public:
    explicit PowerTest(const Arguments& arguments) : arguments_(arguments) {}

    /// What went wrong, if anything did.
    std::optional<Violation> use_disk(std::uint64_t seed) {
        Rng rng(seed);
        Promises promises(rng());
        Media media;
        ++tale_.disks;
        const bool heavy = rng.chance(0.3);  // so much is written that the WAL is checkpointed
        std::uint64_t& changes = heavy ? heavy_changes_ : light_changes_;
        for (std::uint64_t life = 1; life <= kLivesOfADisk && tale_.cuts < arguments_.count;
             ++life) {
            LoadOptions load{.seed = seed, .life = life, .calls = kCallsOfALife};
            if (heavy) load.largest_payload = 500'000;
            BadDisk disk(std::move(media), rng());
            disk.cut_at(1 + rng.below(changes));
            live(disk, load, promises);
            if (promises.violation()) return promises.violation();
            changes = disk.is_cut() ? changes + 1 : disk.changes();
            disk.cut();
            ++tale_.cuts;
            if (!disk.is_safe((scratch_.path() / "holdfast.db").string())) ++tale_.in_a_checkpoint;
            const Media left = disk.after_cut(rng);
            const BadDisk next(left, rng());
            if (auto wrong = look(next, promises, rng)) {
                if (!arguments_.relaxed) wrong->detail += scratch_.keep(left);
                return wrong;
            }
            media = next.after_cut(rng);
        }
        tale_.told += promises.heard();
        return std::nullopt;
    }
    PowerTale& tale() { return tale_; }

  private:
    stores::SqliteOptions options(const BadDisk& disk) const {
        using Durability = stores::SqliteOptions::Durability;
        stores::SqliteOptions options = small_store(scratch_.path());
        options.vfs = disk.name();
        options.durability = arguments_.relaxed ? Durability::relaxed : Durability::full;
        return options;
    }

    void live(const BadDisk& disk, LoadOptions load, Promises& promises) {
        auto life = Life::open(options(disk), calendar_.next(), mix(load.seed ^ load.life));
        if (!life) {
            ++tale_.while_opening;
            if (!disk.is_cut()) promises.expect(std::unexpected(life.error()));
            return;
        }
        (*life)->run(load, [&](const Told& told) { promises.hear(told); });
        if (!disk.is_cut())
            promises.expect((*life)->broken() ? Result<>(std::unexpected(*(*life)->broken()))
                                              : Result<>());
    }

    std::optional<Violation> look(const BadDisk& disk, Promises& promises, Rng& rng) {
        auto life = Life::open(options(disk), calendar_.next(), rng());
        if (!life) return Violation{"it does not open any more: " + life.error().detail};
        (*life)->check(promises);
        if (promises.violation()) return promises.violation();
        if (rng.chance(0.5)) {
            const Result<> closed = (*life)->close();
            if (!closed) return Violation{"it does not close: " + closed.error().detail};
        }
        return std::nullopt;
    }

    const Arguments& arguments_;
    Scratch scratch_;
    Calendar calendar_;
    PowerTale tale_;
    // Of a whole life, about: the cuts are to come anywhere in it.
    std::uint64_t light_changes_ = 600;
    std::uint64_t heavy_changes_ = 3000;
};

}  // namespace

int cut_power(const Arguments& arguments) {
    PowerTest test(arguments);
    PowerTale& tale = test.tale();
    bool damaged = false;
    for (std::uint64_t seed = arguments.seed; tale.cuts < arguments.count && !damaged; ++seed) {
        const auto wrong = test.use_disk(seed);
        if (!wrong) continue;
        ++tale.losses;
        damaged = !wrong->is_loss || !arguments.relaxed;
        if (!damaged && tale.losses > 1) continue;  // one example will do
        std::printf("seed %llu: %s\n  again: chaos power --cuts %llu --seed %llu%s\n",
                    static_cast<unsigned long long>(seed), wrong->detail.c_str(),
                    static_cast<unsigned long long>(kLivesOfADisk),
                    static_cast<unsigned long long>(seed), arguments.relaxed ? " --relaxed" : "");
    }
    const std::string found = !arguments.relaxed ? std::to_string(tale.losses) + " violations"
                              : tale.losses == 0
                                  ? "no loss found: the test has no teeth"
                                  : std::to_string(tale.losses) + " losses found, as they must be";
    std::printf(
        "%llu power cuts (%llu while opening, %llu in a checkpoint) of %llu disks%s, %llu answers, "
        "%s\n",
        static_cast<unsigned long long>(tale.cuts),
        static_cast<unsigned long long>(tale.while_opening),
        static_cast<unsigned long long>(tale.in_a_checkpoint),
        static_cast<unsigned long long>(tale.disks), arguments.relaxed ? ", relaxed" : "",
        static_cast<unsigned long long>(tale.told), found.c_str());
    if (damaged) return 1;
    return arguments.relaxed == (tale.losses > 0) ? 0 : 1;
}

}  // namespace holdfast::chaos
