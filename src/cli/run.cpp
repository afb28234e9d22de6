#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "cli/cli.h"
#include "cli/words.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace holdfast::cli {
namespace {

/// Takes the options that stand before the command, with their values.
Arguments leading_options(const Arguments& arguments) {
    Arguments out;
    std::size_t i = 0;
    while (i < arguments.size() && arguments[i].starts_with('-')) {
        const bool has_value =
            arguments[i] == "--server" || arguments[i] == "-o" || arguments[i] == "--output";
        out.push_back(arguments[i++]);
        if (has_value && i < arguments.size()) out.push_back(arguments[i++]);
    }
    return out;
}

const char* environment_variable(const char* name) {
    const std::string_view wanted(name);
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        if (text.starts_with(wanted) && text.substr(wanted.size()).starts_with('='))
            return *entry + wanted.size() + 1;
    }
    return nullptr;
}

bool is_any(const std::string& word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

void print_help(const Commands& commands, std::ostream& out) {
    std::size_t width = 0;
    for (const auto& command : commands) width = std::max(width, command.name.size());
    out << "Holdfast: tasks that survive.\n\nusage: holdfast COMMAND [OPTIONS]\n\n";
    for (const auto& command : commands)
        out << "  " << command.name << std::string(width + 2 - command.name.size(), ' ')
            << command.summary << '\n';
    out << "\nholdfast COMMAND --help tells about one of them.\n"
           "Commands that ask a server find it by --server URL or HOLDFAST_SERVER "
           "(http://127.0.0.1:7400).\n"
           "Exit codes: 0 ok, 1 other, 2 usage, 3 not found, 4 auth, 5 conflict, 6 task failed, "
           "8 unreachable.\n";
}

int unknown_command(const Commands& commands, const std::string& word, Io& io) {
    std::vector<std::string> names;
    for (const auto& command : commands) names.push_back(command.name);
    io.err << mark(io) << "unknown command '" << printable(word) << "'";
    if (const auto meant = nearest(word, names); !meant.empty())
        io.err << ", did you mean '" << meant << "'?";
    io.err << "\n  all commands: holdfast --help\n";
    return kUsage;
}

}  // namespace

Io standard_io() {
    unsigned width = 80;
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) width = size.ws_col;
    return {.in = std::cin,
            .out = std::cout,
            .err = std::cerr,
            .out_is_terminal = ::isatty(STDOUT_FILENO) == 1,
            .err_is_terminal = ::isatty(STDERR_FILENO) == 1,
            .width = width,
            .environment = environment_variable};
}

int run(const Commands& commands, const Arguments& arguments, Io& io) {
    auto before = leading_options(arguments);
    if (before.size() == arguments.size()) {
        const bool wants_help = arguments.empty() || is_any(arguments.front(), {"-h", "--help"});
        if (!arguments.empty() && is_any(arguments.front(), {"--version", "-V"}))
            return run(commands, {"version"}, io);
        if (!wants_help) {
            io.err << mark(io) << "no command given\n  all commands: holdfast --help\n";
            return kUsage;
        }
        print_help(commands, arguments.empty() ? io.err : io.out);
        return arguments.empty() ? kUsage : kOk;
    }
    const auto at = arguments.begin() + static_cast<std::ptrdiff_t>(before.size());
    if (*at == "help" && before.empty()) {
        if (arguments.size() > 1) return run(commands, {arguments[1], "--help"}, io);
        print_help(commands, io.out);
        return kOk;
    }
    const auto found = std::ranges::find(commands, *at, &Command::name);
    if (found == commands.end()) return unknown_command(commands, *at, io);
    // Not at the end: what stands behind "--" belongs to somebody else.
    before.insert(before.end(), at + 1, arguments.end());
    const int code = found->run(before, io);
    io.out.flush();
    return code;
}

}  // namespace holdfast::cli
