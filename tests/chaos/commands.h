// The subcommands of `chaos`. Each prints what it did in a line and returns the exit code.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::chaos {

struct Arguments {
    std::uint64_t count = 0;  ///< Kills or cuts.
    std::uint64_t seed = 1;
    std::uint64_t stride = 1;
    bool relaxed = false;
    bool verbose = false;

    // ---- of the child that `kill` starts ----
    std::string directory;
    std::string failpoint;   ///< Where it kills itself; empty: it is killed.
    std::uint64_t pass = 0;  ///< At which pass of the failpoint.
    std::uint64_t life = 1;
    std::uint64_t clock_us = 0;
};

/// A process under load is killed again and again, and what it acknowledged must be there.
int kill_processes(const Arguments& arguments);
/// The process that is killed. It says what it was told on kToldPipe.
int be_killed(const Arguments& arguments);
inline constexpr int kToldPipe = 3;

/// Power is cut again and again. `relaxed` must be found to lose something.
int cut_power(const Arguments& arguments);

/// The n-th operation of each kind fails, for every stride-th n; and a real disk is full.
int sweep_faults(const Arguments& arguments);
/// False: something was wrong, and was said.
bool fill_real_disk(std::uint64_t seed);

}  // namespace holdfast::chaos
