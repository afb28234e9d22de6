// `holdfast doctor`: looks for what is wrong, from outside and, when the server answers, from inside.
#include <sys/resource.h>

#include <boost/json/value.hpp>
#include <filesystem>
#include <ostream>

#include "app/commands.h"
#include "app/settings.h"
#include "base/clock.h"
#include "base/json.h"
#include "holdfast/client.h"
#include "load/load.h"

namespace holdfast::app {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

enum class Level : std::uint8_t { good, warning, bad };

struct Finding {
    Level level = Level::good;
    std::string what;
    std::string detail;
    std::string next = {};  ///< What to do about it.
};
using Findings = std::vector<Finding>;

constexpr double kSlowSyncMs = 5;
constexpr rlim_t kFewDescriptors = 4096;
constexpr Duration kSkew = std::chrono::seconds{1};
constexpr std::uintmax_t kLittleRoom = std::uintmax_t{1} << 30;

std::string rounded(double value) {
    const std::string text = std::to_string(value);
    return text.substr(0, text.find('.') + 3);
}

void look_at_the_disk(const config::Config& config, Findings& found) {
    if (config.store.url.scheme != config::Scheme::sqlite) return;
    std::error_code ec;
    fs::path folder(std::string(config.store.url.place()));
    while (!folder.empty() && !fs::exists(folder, ec)) folder = folder.parent_path();
    if (folder.empty()) folder = ".";
    const auto space = fs::space(folder, ec);
    if (ec) {
        found.push_back({Level::bad, "disk",
                         "cannot look at " + folder.string() + ": " + ec.message(),
                         "choose another folder with --store sqlite:PATH"});
        return;
    }
    const std::string free =
        std::to_string(space.available >> 20) + " MiB free at " + folder.string();
    found.push_back(space.available < kLittleRoom
                        ? Finding{Level::warning, "disk", free,
                                  "new tasks are refused below 512 MiB: make room"}
                        : Finding{Level::good, "disk", free});
    const double ms = load::fdatasync_ms(folder.string());
    if (ms == 0) {
        found.push_back({Level::bad, "fsync", "cannot write to " + folder.string(),
                         "check who owns the folder"});
    } else {
        found.push_back({ms > kSlowSyncMs ? Level::warning : Level::good, "fsync",
                         rounded(ms) + " ms in the middle",
                         ms > kSlowSyncMs ? "every answer waits for it: use a faster disk" : ""});
    }
}

void look_at_limits(Findings& found) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    found.push_back(
        {limit.rlim_max < kFewDescriptors ? Level::warning : Level::good, "descriptors",
         "at most " + std::to_string(limit.rlim_max),
         limit.rlim_max < kFewDescriptors ? "each connection takes one: raise ulimit -n" : ""});
}

std::size_t count_of(const json::object& report, std::string_view list) {
    const auto* value = report.if_contains(list);
    return value != nullptr && value->is_array() ? value->as_array().size() : 0;
}

void look_inside(client::Client& client, Findings& found) {
    const json::object report = client.request("GET", "/v1/doctor").body.as_object();
    const bool whole = report.at("store_is_whole").as_bool();
    found.push_back({whole ? Level::good : Level::bad, "store",
                     whole ? std::string(report.at("store").as_string()) + ", whole, durability " +
                                 std::string(report.at("durability").as_string())
                           : std::string(report.at("store_problem").as_string()),
                     whole ? "" : "stop the server and restore a backup"});
    for (const auto& [list, text] :
         {std::pair{"without_wake_source", "tasks that nothing will wake"},
          std::pair{"misplaced", "tasks in the wrong place"},
          std::pair{"overdue", "tasks whose timer rang long ago"},
          std::pair{"miscounted", "counts that are wrong"}}) {
        const std::size_t count = count_of(report, list);
        found.push_back(
            {count > 0 ? Level::bad : Level::good, list,
             count > 0 ? std::to_string(count) + ' ' + text : std::string("no ") + text,
             count > 0 ? "please report it with the output of holdfast doctor -o json" : ""});
    }
    const auto server_time = parse_time(std::string(report.at("time").as_string()));
    const Duration skew = server_time ? *server_time - SystemClock{}.now() : Duration{0};
    const bool skewed = skew > kSkew || skew < -kSkew;
    found.push_back(
        {skewed ? Level::warning : Level::good, "clock",
         "the server's is " + std::to_string(skew.count() / 1000) + " ms ahead of this one",
         skewed ? "run an NTP client on both machines" : ""});
}

void look_at_the_server(const std::string& url, Findings& found) {
    client::Client client(url);
    try {
        const json::object ready = client.request("GET", "/readyz").body.as_object();
        const std::string status(ready.at("status").as_string());
        std::string problems;
        if (const auto* list = ready.if_contains("problems"); list != nullptr && list->is_array()) {
            for (const auto& problem : list->as_array())
                problems.append("; ").append(problem.as_string());
        }
        found.push_back({status == "ready" ? Level::good : Level::warning, "server",
                         url + " is " + status + problems});
        look_inside(client, found);
    } catch (const client::Error& error) {
        found.push_back({Level::bad, "server", url + ": " + error.what(),
                         "start one with holdfast serve, or name it with --server URL"});
    }
}

std::string as_json(const Findings& found) {
    std::string out = "[";
    for (const Finding& f : found) {
        constexpr std::array<std::string_view, 3> kNames{"good", "warning", "bad"};
        out += out.size() > 1 ? "," : "";
        out += JsonObject{}
                   .add("level", kNames[static_cast<std::size_t>(f.level)])
                   .add("what", f.what)
                   .add("detail", f.detail)
                   .add_some("next", f.next)
                   .done()
                   .text();
    }
    return out + "]\n";
}

std::string as_text(const Findings& found) {
    constexpr std::array<std::string_view, 3> kMarks{"✓ ", "! ", "✕ "};
    std::string out;
    for (const Finding& f : found) {
        std::string what = f.what;
        what.resize(std::max<std::size_t>(what.size(), 20), ' ');
        out.append(kMarks[static_cast<std::size_t>(f.level)])
            .append(what)
            .append(" ")
            .append(f.detail);
        out += '\n';
        if (!f.next.empty()) out += "  → " + f.next + '\n';
    }
    return out;
}

}  // namespace

int doctor_command(const cli::Arguments& arguments, cli::Io& io) {
    config::SplitArgs split = config::split_args("doctor", arguments);
    const char* named = io.environment("HOLDFAST_SERVER");
    std::string url = named == nullptr ? "http://127.0.0.1:7400" : named;
    bool json_wanted = false;
    for (std::size_t i = 0; i < split.rest.size(); ++i) {
        const std::string& word = split.rest[i];
        if (word == "--server" && i + 1 < split.rest.size()) {
            url = split.rest[++i];
        } else if ((word == "-o" || word == "--output") && i + 1 < split.rest.size()) {
            json_wanted = split.rest[++i] == "json";
        } else {
            split.options.push_back(word);
        }
    }
    int code = 0;
    const auto loaded = settings_for("doctor", split.options, io, code);
    if (!loaded) return code;
    Findings found;
    found.push_back({Level::good, "config",
                     loaded->file.empty() ? "no file; all options are valid" : loaded->file});
    look_at_the_disk(loaded->config, found);
    look_at_limits(found);
    look_at_the_server(url, found);
    io.out << (json_wanted ? as_json(found) : as_text(found));
    const auto is_bad = [](const Finding& f) { return f.level == Level::bad; };
    return std::ranges::any_of(found, is_bad) ? cli::kOther : cli::kOk;
}

}  // namespace holdfast::app
