// The commands that are more than clients of a server.
#pragma once

#include "cli/cli.h"

namespace holdfast::app {

int serve_command(const cli::Arguments& arguments, cli::Io& io);
int dev_command(const cli::Arguments& arguments, cli::Io& io);
int config_command(const cli::Arguments& arguments, cli::Io& io);
int doctor_command(const cli::Arguments& arguments, cli::Io& io);
int migrate_command(const cli::Arguments& arguments, cli::Io& io);
int bench_command(const cli::Arguments& arguments, cli::Io& io);

}  // namespace holdfast::app
