// Completion in shells, and the version.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli.h"

namespace holdfast::cli {

inline constexpr std::string_view kListFlagsArgument = "--list-flags";

/// `flags_of` prints the flags of a command, one a line.
int completion(const std::vector<std::string>& names,
               const std::function<void(const std::string& name, Io& io)>& flags_of,
               const Arguments& arguments, Io& io);
int print_version(const std::string& version, const Arguments& arguments, Io& io);

}  // namespace holdfast::cli
