// What this process uses of its machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace holdfast::observe {

struct ProcessUse {
    std::uint64_t resident_bytes = 0;
    double cpu_seconds = 0;  ///< Of all threads, in user and kernel.
    std::size_t open_fds = 0;
    double start_seconds = 0;  ///< When it began, since 1970.
};

/// What the kernel does not tell is 0.
ProcessUse read_process_use();

}  // namespace holdfast::observe
