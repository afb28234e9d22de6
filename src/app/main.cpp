#include <cstdio>
#include <string>
#include <vector>

#include "app/bench.h"
#include "app/serve.h"
#include "config/config.h"

extern char** environ;

int main(int argc, char** argv) {
    using namespace holdfast;
    const std::vector<std::string> args(argv + 1, argv + argc);
    if (args.empty()) return app::kExitUsage;
    if (args[0] == "bench") return app::bench({args.begin() + 1, args.end()});
    config::Inputs inputs;
    inputs.command = args[0];
    inputs.args.assign(args.begin() + 1, args.end());
    inputs.environment = config::environment_of(environ);
    const auto loaded = config::load(inputs);
    if (!loaded) {
        std::fprintf(stderr, "holdfast: %s\n", loaded.error().detail.c_str());
        return app::kExitUsage;
    }
    if (args[0] == "config") {
        std::fputs(config::render_table(*loaded).c_str(), stdout);
        return 0;
    }
    return app::serve(*loaded);
}
