// simulation --seeds N [--from S]   run N seeds
// simulation --seed S [--trace]     replay one, and say what happened
// simulation --bug NAME --seeds N   with a planted bug: how soon is it found?
// simulation --relaxed --seeds N    on the embedded store with relaxed durability: how soon is a loss found?
// simulation --teeth                every planted bug is found at its known seed, and the same seed gives the same trace
//
// With --store sqlite seeds are played on the embedded store, on a disk in memory that loses power.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "world.h"

namespace holdfast::simulation {
namespace {

struct Known {
    Setup setup;
    std::uint64_t seed;
};
constexpr Setup kSqlite{.sqlite = true};
constexpr Setup planted(Bug bug) {
    return {.bug = bug};
}
// Found by: simulation --bug NAME --seeds 2000, and --relaxed --seeds 100
constexpr std::array kKnown{
    Known{planted(Bug::no_fencing), 3},
    Known{planted(Bug::ack_before_commit), 15},
    Known{planted(Bug::visible_before_durable), 2},
    Known{planted(Bug::promote_twice), 53},
    Known{planted(Bug::forget_a_wake), 3},
    Known{planted(Bug::audit_outside_commit), 3},
    Known{planted(Bug::reuse_an_epoch), 1},
    Known{planted(Bug::lose_a_permit), 1},
    Known{planted(Bug::duplicate_append), 2},
    Known{planted(Bug::deaf_to_renewals), 1},
    Known{planted(Bug::lose_a_lane), 1},
    Known{{.sqlite = true, .relaxed = true}, 1},
};

struct Arguments {
    std::uint64_t from = 1;
    std::uint64_t seeds = 0;
    Setup setup;
    bool trace = false;
    bool teeth = false;
};

Verdict play(std::uint64_t seed, Setup setup, bool trace = false) {
    return World(seed, setup, trace).run();
}

std::string flags_of(const Setup& setup) {
    if (setup.relaxed) return " --relaxed";
    if (setup.sqlite) return " --store sqlite";
    return setup.bug == Bug::none ? "" : " --bug " + std::string(to_string(setup.bug));
}

void complain(std::uint64_t seed, const Setup& setup, const Verdict& verdict) {
    std::printf("seed %llu violates %s: %s\n  replay: simulation%s --seed %llu --trace\n",
                static_cast<unsigned long long>(seed), verdict.violation->invariant.c_str(),
                verdict.violation->detail.c_str(), flags_of(setup).c_str(),
                static_cast<unsigned long long>(seed));
}

bool is_flawed(const Setup& setup) {
    return setup.bug != Bug::none || setup.relaxed;
}

int run_seeds(const Arguments& arguments) {
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t violations = 0;
    std::uint64_t steps = 0;
    std::uint64_t played = 0;
    for (std::uint64_t seed = arguments.from; seed < arguments.from + arguments.seeds; ++seed) {
        const Verdict verdict = play(seed, arguments.setup, arguments.trace);
        steps += verdict.steps;
        ++played;
        if (!verdict.violation) continue;
        complain(seed, arguments.setup, verdict);
        if (++violations == 5 || is_flawed(arguments.setup)) break;
    }
    const double minutes =
        std::chrono::duration<double, std::ratio<60>>(std::chrono::steady_clock::now() - start)
            .count();
    std::printf("%llu seeds, %llu steps, %llu violations, %.0f seeds/min\n",
                static_cast<unsigned long long>(played), static_cast<unsigned long long>(steps),
                static_cast<unsigned long long>(violations), static_cast<double>(played) / minutes);
    return violations == 0 ? 0 : 1;
}

std::string name_of(const Setup& setup) {
    return setup.relaxed ? "relaxed durability" : std::string(to_string(setup.bug));
}

/// A change of the engine moves what a seed does: then the bug is looked for in the seeds behind, and the one that
/// finds it now is named.
int show_teeth() {
    constexpr std::uint64_t kPatience = 500;
    int missed = 0;
    for (const Known& known : kKnown) {
        std::uint64_t seed = known.seed;
        Verdict with = play(seed, known.setup);
        while (!with.violation && ++seed < known.seed + kPatience) with = play(seed, known.setup);
        const bool found =
            with.violation.has_value() && !play(seed, {.sqlite = known.setup.sqlite}).violation;
        std::printf("%-24s seed %-5llu%s %s\n", name_of(known.setup).c_str(),
                    static_cast<unsigned long long>(seed), seed == known.seed ? "" : " (moved)",
                    found ? (with.violation->invariant + ": " + with.violation->detail).c_str()
                          : "NOT FOUND");
        missed += found ? 0 : 1;
    }
    for (const Setup& setup : {Setup{}, kSqlite}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            if (play(seed, setup).trace_hash == play(seed, setup).trace_hash) continue;
            std::printf("seed %llu%s does not replay\n", static_cast<unsigned long long>(seed),
                        flags_of(setup).c_str());
            ++missed;
        }
    }
    return missed == 0 ? 0 : 1;
}

bool read_number(const char* text, std::uint64_t& value) {
    const std::string_view all = text == nullptr ? "" : text;
    const auto [end, ec] = std::from_chars(all.data(), all.data() + all.size(), value);
    return ec == std::errc{} && end == all.data() + all.size();
}

bool read_arguments(char** argv, Arguments& arguments) {
    for (char** arg = argv + 1; *arg != nullptr; ++arg) {
        const std::string_view name = *arg;
        bool ok = true;
        if (name == "--seeds") {
            ok = read_number(*++arg, arguments.seeds);
        } else if (name == "--from") {
            ok = read_number(*++arg, arguments.from);
        } else if (name == "--seed") {
            ok = read_number(*++arg, arguments.from);
            arguments.seeds = 1;
        } else if (name == "--bug") {
            const std::string_view wanted = *++arg == nullptr ? "" : *arg;
            const auto found = std::ranges::find(kBugNames, wanted);
            ok = found != kBugNames.end();
            arguments.setup.bug = ok ? static_cast<Bug>(found - kBugNames.begin()) : Bug::none;
        } else if (name == "--store") {
            const std::string_view wanted = *++arg == nullptr ? "" : *arg;
            ok = wanted == "memory" || wanted == "sqlite";
            arguments.setup.sqlite = wanted == "sqlite";
        } else if (name == "--relaxed") {
            arguments.setup.sqlite = arguments.setup.relaxed = true;
        } else if (name == "--trace") {
            arguments.trace = true;
        } else if (name == "--teeth") {
            arguments.teeth = true;
        } else {
            ok = false;
        }
        if (!ok || *arg == nullptr) return false;
    }
    const bool bug_has_a_place = arguments.setup.bug == Bug::none || !arguments.setup.sqlite;
    return bug_has_a_place && (arguments.teeth || arguments.seeds > 0);
}

}  // namespace
}  // namespace holdfast::simulation

int main(int, char** argv) {
    using namespace holdfast::simulation;
    Arguments arguments;
    if (!read_arguments(argv, arguments)) {
        std::fprintf(stderr,
                     "usage: simulation [--store memory|sqlite] [--bug NAME | --relaxed]\n"
                     "                  --seeds N [--from S] | --seed S [--trace] | --teeth\n");
        return 2;
    }
    return arguments.teeth ? show_teeth() : run_seeds(arguments);
}
