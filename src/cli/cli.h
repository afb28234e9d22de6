// The command line: a table of commands, and who finds the right one.
//
// A row of the table is a name, a line about it and a function. The rows of this room talk to a server over
// its API; whoever builds the program adds its own rows (serve, dev, …) and hands the whole table to run().
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// Exit codes. Scripts rely on them.
inline constexpr int kOk = 0;
inline constexpr int kOther = 1;
inline constexpr int kUsage = 2;
inline constexpr int kNotFound = 3;
inline constexpr int kAuth = 4;
inline constexpr int kConflict = 5;
inline constexpr int kTaskFailed = 6;
inline constexpr int kUnreachable = 8;
inline constexpr int kHandedBack = 75;  ///< A worker that left gave tasks back.

/// Where a command reads, speaks and looks. Data goes to `out`, talk to `err`.
struct Io {
    std::istream& in;
    std::ostream& out;
    std::ostream& err;
    bool out_is_terminal = false;
    bool err_is_terminal = false;
    unsigned width = 80;  ///< Of the terminal.
    /// Of the environment; nullptr when there is none of that name.
    std::function<const char*(const char* name)> environment;
};

/// The standard streams of this process.
Io standard_io();

using Arguments = std::vector<std::string>;  ///< Without the program's and the command's name.

struct Command {
    std::string name;
    std::string summary;  ///< One line for the list of all.
    std::function<int(const Arguments&, Io&)> run;
};
using Commands = std::vector<Command>;

/// Those that are clients of a server, in the order in which help shows them.
Commands client_commands();
/// `completion` and `version`: they speak about the whole table, and are the last rows of it.
Commands with_general_commands(Commands commands, std::string version);

/// The program: finds the command and runs it. `--help`, `--version` and typos are answered here. Options that
/// stand before the command (`holdfast --server URL get ID`) are handed on to it.
int run(const Commands& commands, const Arguments& arguments, Io& io);

}  // namespace holdfast::cli
