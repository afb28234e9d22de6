#include "app/commands.h"
#include "app/demo.h"
#include "cli/cli.h"

int main(int argc, char** argv) {
    using namespace holdfast;
    cli::Commands commands{
        {"dev", "A server to try things with, and a demo that moves", app::dev_command},
        {"serve", "The server", app::serve_command},
    };
    for (cli::Command& command : cli::client_commands()) commands.push_back(std::move(command));
    commands.insert(commands.end(),
                    {{"doctor", "Look for what is wrong", app::doctor_command},
                     {"bench", "Measure a server", app::bench_command},
                     {"migrate", "Bring a store up to date", app::migrate_command},
                     {"config", "Every setting, with its source", app::config_command}});
    cli::Io io = cli::standard_io();
    const cli::Arguments arguments(argv + 1, argv + argc);
    // Not in the table: nobody but `dev` starts it.
    if (!arguments.empty() && arguments.front() == app::kDemoWorker)
        return app::demo_worker({arguments.begin() + 1, arguments.end()});
    return cli::run(cli::with_general_commands(std::move(commands), HOLDFAST_VERSION), arguments,
                    io);
}
