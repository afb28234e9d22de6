// The configuration of a command, or what is wrong with it.
#pragma once

#include <optional>

#include "cli/cli.h"
#include "config/config.h"

namespace holdfast::app {

/// Says what is wrong, or prints the help that was asked for: then there is nothing, and `code` to exit with.
std::optional<config::Loaded> settings_for(std::string_view command,
                                           const cli::Arguments& arguments, cli::Io& io, int& code);

}  // namespace holdfast::app
