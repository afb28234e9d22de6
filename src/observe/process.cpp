#include "observe/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace holdfast::observe {
namespace {

std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
    rusage use{};
    if (getrusage(RUSAGE_SELF, &use) != 0) return 0;
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
    };
    return seconds(use.ru_utime) + seconds(use.ru_stime);
}

std::size_t open_fds() {
    std::error_code error;
    const auto entries = std::filesystem::directory_iterator("/proc/self/fd", error);
    if (error) return 0;
    const auto count = std::distance(begin(entries), end(entries));
    return count > 0 ? static_cast<std::size_t>(count) - 1 : 0;  // without the one that counts
}

double booted_at() {
    std::ifstream file("/proc/stat");
    for (std::string word; file >> word;) {
        double seconds = 0;
        if (word == "btime" && file >> seconds) return seconds;
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return 0;
}

double started_at() {
    std::ifstream file("/proc/self/stat");
    std::string line;
    std::getline(file, line);
    // The second field is the program's name and may hold anything; the 22nd is what we want.
    const std::size_t name_end = line.rfind(')');
    if (name_end == std::string::npos) return 0;
    std::istringstream fields(line.substr(name_end + 1));
    std::string skipped;
    for (int field = 3; field < 22; ++field) fields >> skipped;
    double ticks = 0;
    fields >> ticks;
    return booted_at() + ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

ProcessUse read_process_use() {
    static const double kStarted = started_at();
    return {resident_bytes(), cpu_seconds(), open_fds(), kStarted};
}

}  // namespace holdfast::observe
