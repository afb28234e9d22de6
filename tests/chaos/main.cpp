// chaos kill  --kills N [--seed S]            SIGKILL under load, at random moments and at the failpoints
// chaos power --cuts N [--seed S] [--relaxed] power cuts; relaxed must be found to lose something
// chaos sweep [--stride K] [--seed S]         the n-th write, sync, truncation or open fails; a full disk
// --verbose                                   also says what stores said when they gave up
#include <malloc.h>

#include <charconv>
#include <cstdio>
#include <string_view>

#include "commands.h"

namespace holdfast::chaos {
namespace {

constexpr std::string_view kUsage =
    "usage: chaos kill  --kills N [--seed S]\n"
    "       chaos power --cuts N [--seed S] [--relaxed]\n"
    "       chaos sweep [--stride K] [--seed S] [--verbose]\n";

bool read_number(const char* text, std::uint64_t& value) {
    const std::string_view all = text == nullptr ? "" : text;
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
    return error == std::errc{} && end == all.data() + all.size();
}

bool read_text(const char* text, std::string& value) {
    if (text != nullptr) value = text;
    return text != nullptr;
}

bool read_arguments(char** argv, Arguments& arguments) {
    for (char** arg = argv; *arg != nullptr; ++arg) {
        const std::string_view name = *arg;
        if (name == "--relaxed") {
            arguments.relaxed = true;
            continue;
        }
        if (name == "--verbose") {
            arguments.verbose = true;
            continue;
        }
        const char* value = *++arg;
        const bool known = (name == "--kills" || name == "--cuts")
                               ? read_number(value, arguments.count)
                           : name == "--seed"      ? read_number(value, arguments.seed)
                           : name == "--stride"    ? read_number(value, arguments.stride)
                           : name == "--pass"      ? read_number(value, arguments.pass)
                           : name == "--life"      ? read_number(value, arguments.life)
                           : name == "--clock"     ? read_number(value, arguments.clock_us)
                           : name == "--directory" ? read_text(value, arguments.directory)
                           : name == "--failpoint" ? read_text(value, arguments.failpoint)
                                                   : false;
        if (!known) return false;
    }
    return arguments.stride > 0;
}

int run(char** argv) {
    const std::string_view command = argv[1] == nullptr ? "" : argv[1];
    Arguments arguments;
    if (argv[1] != nullptr && read_arguments(argv + 2, arguments)) {
        if (command == "kill" && arguments.count > 0) return kill_processes(arguments);
        if (command == "power" && arguments.count > 0) return cut_power(arguments);
        if (command == "sweep") return sweep_faults(arguments);
        if (command == "child") return be_killed(arguments);
    }
    std::fputs(kUsage.data(), stderr);
    return 2;
}

}  // namespace
}  // namespace holdfast::chaos

int main(int, char** argv) {
    mallopt(M_MMAP_THRESHOLD, 1 << 30);  // disks in memory are made and thrown away all the time
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    return holdfast::chaos::run(argv);
}
