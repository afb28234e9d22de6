#include "app/settings.h"

#include <unistd.h>

#include <algorithm>
#include <ostream>

namespace holdfast::app {

std::optional<config::Loaded> settings_for(std::string_view command,
                                           const cli::Arguments& arguments, cli::Io& io,
                                           int& code) {
    for (const std::string_view help : {"--help", "-h"}) {
        if (std::ranges::find(arguments, help) == arguments.end()) continue;
        io.out << "usage: holdfast " << command << " [OPTIONS]\n\n" << config::help(command);
        code = cli::kOk;
        return std::nullopt;
    }
    auto loaded = config::load(
        {.command = command, .args = arguments, .environment = config::environment_of(environ)});
    if (!loaded) {
        io.err << "holdfast " << command << ": " << loaded.error().detail
               << "\n  all options: holdfast " << command << " --help\n";
        code = cli::kUsage;
        return std::nullopt;
    }
    return *std::move(loaded);
}

}  // namespace holdfast::app
