#include "cli/context.h"

#include <holdfast/json.h>

#include <array>
#include <boost/json/parse.hpp>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/time.h"
#include "cli/words.h"

namespace holdfast::cli {
namespace {

constexpr std::size_t kLargestInput = std::size_t{16} << 20;

/// What somebody may do about it.
std::string next_step(const client::Error& error, const Context& context) {
    using client::Code;
    switch (error.code) {
        case Code::unreachable:
            return "start one:        holdfast dev\n  or name another:  --server URL, or "
                   "HOLDFAST_SERVER";
        case Code::not_found:
            return "look for it:      holdfast list";
        case Code::wrong_state:
            return "see its way:      holdfast history ID";
        case Code::conflict:
            return "use another --key, or send the same task as before";
        case Code::overloaded:
            return "the server is busy: try again in a moment";
        case Code::unavailable:
        case Code::timed_out:
            return "it may or may not have happened: look before trying again\n"
                   "  how it is:        holdfast doctor";
        case Code::forbidden:
            return "that server is read-only: ask another one with --server URL";
        case Code::unauthorized:
            return "give a token:     HOLDFAST_TOKEN";
        default:
            break;
    }
    (void)context;
    return {};
}

json::object error_json(const client::Error& error) {
    json::object out{{"code", std::string(to_string(error.code))}, {"detail", error.detail}};
    if (error.status != 0) out["status"] = error.status;
    if (!error.field.empty()) out["field"] = error.field;
    if (!error.request_id.empty()) out["request_id"] = error.request_id;
    out["retryable"] = error.retryable;
    return {{"error", std::move(out)}};
}

std::string all_of(std::istream& in, const std::string& what) {
    std::string text;
    std::array<char, 65'536> piece{};
    while (in.read(piece.data(), piece.size()) || in.gcount() > 0) {
        text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
        if (text.size() > kLargestInput)
            throw client::Error(client::Code::invalid_argument, what + " is longer than 16 MiB");
    }
    return text;
}

}  // namespace

void Context::declare(Options& options) {
    options.text(server_option, "--server", "URL",
                 "The server (or HOLDFAST_SERVER; " + std::string(kDefaultServer) + ")");
    options.choice(output, "-o,--output", {"table", "json"}, "How to print");
}

std::string Context::server_url() const {
    if (!server_option.empty()) return server_option;
    const auto* set = io.environment("HOLDFAST_SERVER");
    return set != nullptr && *set != '\0' ? set : std::string(kDefaultServer);
}

std::string Context::user() const {
    for (const char* name : {"HOLDFAST_USER", "USER"}) {
        const auto* set = io.environment(name);
        if (set != nullptr && *set != '\0') return set;
    }
    return {};
}

std::string Context::token() const {
    const auto* set = io.environment("HOLDFAST_TOKEN");
    return set != nullptr ? set : "";
}

client::Client& Context::server() {
    if (!client_)
        client_ = std::make_unique<client::Client>(client::ClientOptions{
            .server = server_url(), .token = token(), .user = user(), .attempts = 4});
    return *client_;
}

void Context::print(const json::value& value) const {
    io.out << client::json_text(value) << '\n';
}

void Context::say(std::string_view text) const {
    if (io.err_is_terminal) io.err << text << '\n';
}

std::optional<int> Context::confirm(const std::string& question, bool yes) const {
    if (yes) return std::nullopt;
    if (!io.err_is_terminal) {
        io.err << mark(io) << question << "\n  nobody is here to answer: say --yes\n";
        return kUsage;
    }
    io.err << question << " [y/N] " << std::flush;
    std::string answer;
    std::getline(io.in, answer);
    if (answer == "y" || answer == "yes") return std::nullopt;
    io.err << "nothing was done\n";
    return kOther;
}

int run_client(Context& context, Options& options, const Arguments& arguments,
               const std::function<int()>& act) {
    context.declare(options);
    if (const auto ended = options.parse(arguments, context.io)) return *ended;
    try {
        return act();
    } catch (const client::Error& error) {
        context.io.out.flush();
        print_error(error, context);
        return exit_code(error);
    }
}

int exit_code(const client::Error& error) {
    using client::Code;
    switch (error.code) {
        case Code::invalid_argument:
            return kUsage;
        case Code::not_found:
            return kNotFound;
        case Code::forbidden:
        case Code::unauthorized:
            return kAuth;
        case Code::wrong_state:
        case Code::stale_lease:
        case Code::conflict:
            return kConflict;
        case Code::unreachable:
        case Code::timed_out:
            return kUnreachable;
        case Code::unavailable:
            return error.status == 0 ? kUnreachable : kOther;
        case Code::overloaded:
        case Code::other:
            break;
    }
    return kOther;
}

void print_error(const client::Error& error, const Context& context) {
    auto& io = context.io;
    if (context.as_json()) {
        io.err << client::json_text(error_json(error)) << '\n';
        return;
    }
    io.err << mark(io) << printable(error.detail) << '\n';
    if (const auto step = next_step(error, context); !step.empty()) io.err << "  " << step << '\n';
    io.err << "  code: " << to_string(error.code);
    if (!error.request_id.empty()) io.err << " · request " << printable(error.request_id);
    io.err << " · what it means: holdfast explain " << to_string(error.code) << '\n';
}

bool is_over(std::string_view state) {
    return state == "succeeded" || state == "failed" || state == "cancelled" ||
           state == "discarded" || state == "suspended";
}

int exit_of_state(std::string_view state) {
    return is_over(state) && state != "succeeded" ? kTaskFailed : kOk;
}

void declare_filter(Options& options, client::Filter& filter, bool with_state) {
    options.text(filter.q, "-q,--query", "FILTER", "Only what passes: 'type:image.* age:<1h'");
    if (with_state) options.texts(filter.states, "--state", "STATE", "Only in this state");
    options.text(filter.queue, "--queue", "QUEUE", "Only of this queue")
        .text(filter.type, "--type", "TYPE", "Only of this type")
        .text(filter.tenant, "--tenant", "TENANT", "Only of this tenant")
        .texts(filter.labels, "-l,--label", "KEY=VALUE", "Only with this label")
        .text(filter.since, "--since", "TIME", "Created since then, e.g. 2026-11-16T08:00:00Z")
        .text(filter.until, "--until", "TIME", "Created until then");
}

json::value read_json(std::string_view argument, Io& io) {
    std::string text(argument);
    std::string what = "the JSON";
    if (argument == "-") {
        what = "standard input";
        text = all_of(io.in, what);
    } else if (argument.starts_with('@')) {
        what = std::string(argument.substr(1));
        std::ifstream file(what, std::ios::binary);
        if (!file)
            throw client::Error(client::Code::invalid_argument,
                                "cannot read the file '" + what + "'");
        text = all_of(file, what);
    }
    json::parse_options options;
    options.max_depth = 64;
    json::error_code failed;
    auto value = json::parse(text, failed, {}, options);
    if (failed)
        throw client::Error(
            client::Code::invalid_argument,
            what + " is no JSON (" + failed.message() +
                "); text needs its quotes, e.g. '{\"name\":\"Ada\"}' or '\"text\"'");
    return value;
}

std::string text_of(const json::value& object, std::string_view name) {
    const auto* members = object.if_object();
    const auto* member = members != nullptr ? members->if_contains(name) : nullptr;
    if (member == nullptr || member->is_null()) return {};
    if (const auto* text = member->if_string()) return {text->c_str(), text->size()};
    return client::json_text(*member);
}

std::int64_t count_of(const json::value& object, std::string_view name) {
    const auto* members = object.if_object();
    const auto* member = members != nullptr ? members->if_contains(name) : nullptr;
    return member != nullptr && member->is_int64() ? member->get_int64() : 0;
}

std::string time_of(const json::value& object, std::string_view name, const Io& io) {
    auto text = text_of(object, name);
    const auto time = parse_time(text);
    if (!io.out_is_terminal || !time) return text;
    const auto seconds = std::chrono::system_clock::to_time_t(
        std::chrono::time_point_cast<std::chrono::system_clock::duration>(*time));
    std::tm local{};
    ::localtime_r(&seconds, &local);
    std::array<char, 32> out{};
    const auto length = std::strftime(out.data(), out.size(), "%m-%d %H:%M:%S %Z", &local);
    return {out.data(), length};
}

}  // namespace holdfast::cli
