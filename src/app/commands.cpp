#include "app/commands.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <ostream>

#include "app/backend.h"
#include "app/serve.h"
#include "app/settings.h"

namespace holdfast::app {

int serve_command(const cli::Arguments& arguments, cli::Io& io) {
    int code = 0;
    const auto loaded = settings_for("serve", arguments, io, code);
    return loaded ? serve(*loaded) : code;
}

int config_command(const cli::Arguments& arguments, cli::Io& io) {
    config::SplitArgs split = config::split_args("config", arguments);
    bool json = false;
    for (std::size_t i = 0; i < split.rest.size(); ++i) {
        const std::string& word = split.rest[i];
        if ((word == "-o" || word == "--output") && i + 1 < split.rest.size()) {
            json = split.rest[++i] == "json";
        } else {
            split.options.push_back(word);
        }
    }
    int code = 0;
    const auto loaded = settings_for("config", split.options, io, code);
    if (!loaded) return code;
    io.out << (json ? config::render_json(*loaded).text() + '\n' : config::render_table(*loaded));
    return cli::kOk;
}

/// Opening a store brings it up to date, or says why it cannot be.
int migrate_command(const cli::Arguments& arguments, cli::Io& io) {
    int code = 0;
    const auto loaded = settings_for("migrate", arguments, io, code);
    if (!loaded) return code;
    asio::io_context context(1);
    SystemClock clock;
    auto backend =
        open_backend(loaded->config, "migrate-" + std::to_string(::getpid()), clock, context);
    if (!backend) {
        io.err << "holdfast migrate: " << backend.error().detail << '\n';
        return cli::kOther;
    }
    Result<> closed;
    asio::co_spawn(context, backend->close(),
                   [&](const std::exception_ptr&, Result<> result) { closed = std::move(result); });
    context.restart();
    context.run();
    if (!closed) {
        io.err << "holdfast migrate: " << closed.error().detail << '\n';
        return cli::kOther;
    }
    io.out << loaded->config.store.url.redacted() << " is up to date\n";
    return cli::kOk;
}

}  // namespace holdfast::app
