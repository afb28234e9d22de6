// `holdfast bench`: measures a server that is there, or one that it starts for this.

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <stdexcept>

#include "app/child_server.h"
#include "app/commands.h"
#include "load/load.h"

namespace holdfast::app {
namespace {

constexpr std::string_view kHelp =
    R"(holdfast bench: measures a server over its public protocols.

  --server URL    the server to measure; it is left with the tasks of the benchmark
  --store URL     or: start one on this store (default: an embedded store in a folder of its own)
  --tasks N       tasks per phase (default 20000)
  --backlog N     waiting tasks when its memory is read (default 100000)
  --seconds N     of the latency phase (default 10)
  --runs N        takes the median of so many runs (default 1)
  -o table|json   how the result is printed
)";

struct Wanted {
    load::Options load;
    std::string store;
    std::size_t runs = 1;
    bool json = false;
};

std::size_t number(const std::string& flag, const std::string& text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && value > 0) return value;
    throw std::invalid_argument(flag + " must be a number from 1, not " + text);
}

Wanted read(const std::vector<std::string>& args) {
    Wanted wanted;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const std::string& flag = args[i];
        if (i + 1 == args.size())
            throw std::invalid_argument(flag +
                                        " needs a value, or is unknown; see holdfast bench --help");
        const std::string& value = args[++i];
        if (flag == "--server") {
            wanted.load.url = value;
        } else if (flag == "--store") {
            wanted.store = value;
        } else if (flag == "--tasks") {
            wanted.load.tasks = number(flag, value);
        } else if (flag == "--backlog") {
            wanted.load.backlog = number(flag, value);
        } else if (flag == "--seconds") {
            wanted.load.latency_seconds = number(flag, value);
        } else if (flag == "--runs") {
            wanted.runs = number(flag, value);
        } else if (flag == "-o" && (value == "json" || value == "table")) {
            wanted.json = value == "json";
        } else {
            throw std::invalid_argument("unknown: " + flag + ' ' + value +
                                        "; see holdfast bench --help");
        }
    }
    return wanted;
}

/// A folder that goes when the benchmark ends.
class Scratch {
  public:
    Scratch() {
        std::string path = "holdfast-bench-XXXXXX";
        if (::mkdtemp(path.data()) == nullptr)
            throw std::runtime_error("cannot make a folder here for the benchmark's data");
        path_ = path;
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

load::Report one_run(const Wanted& wanted) {
    load::Options options = wanted.load;
    std::optional<Scratch> scratch;
    std::optional<ChildServer> server;
    if (options.url.empty()) {
        scratch.emplace();
        options.disk = scratch->path();
        const std::string store =
            wanted.store.empty() ? "sqlite:" + scratch->path() + "/data" : wanted.store;
        server.emplace(std::vector<std::string>{"--store", store, "--log-level", "warn"});
        options.url = server->url();
    }
    options.on_phase = [](std::string_view phase) {
        std::fprintf(stderr, "%.*s…\n", static_cast<int>(phase.size()), phase.data());
    };
    auto report = load::run(options);
    if (!report) throw std::runtime_error(report.error().detail);
    return *std::move(report);
}

}  // namespace

int bench_command(const cli::Arguments& arguments, cli::Io& io) {
    if (std::ranges::find(arguments, "--help") != arguments.end()) {
        io.out << kHelp;
        return 0;
    }
    try {
        const Wanted wanted = read(arguments);
        std::vector<load::Report> runs;
        runs.reserve(wanted.runs);
        for (std::size_t i = 0; i < wanted.runs; ++i) runs.push_back(one_run(wanted));
        const load::Report report = load::median(runs);
        io.out << (wanted.json ? load::json(report) + '\n' : load::table(report));
        return report.lost + report.duplicated == 0 ? 0 : 1;
    } catch (const std::invalid_argument& wrong) {
        io.err << "holdfast bench: " << wrong.what() << '\n';
        return cli::kUsage;
    } catch (const std::exception& failure) {
        io.err << "holdfast bench: " << failure.what() << '\n';
        return 1;
    }
}

}  // namespace holdfast::app
