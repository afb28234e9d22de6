#include "redis/handshake.h"

namespace holdfast::redis {
namespace {

std::unexpected<Error> refused(std::string_view what, const Reply& reply) {
    return refuse(Code::unavailable, std::string(what).append(": ").append(reply.root().text()));
}

/// The value after `name` in a map.
Value field(const Reply& reply, std::string_view name) {
    bool is_name = true;
    bool found = false;
    for (const Value value : reply.root()) {
        if (found) return value;
        found = is_name && value.text() == name;
        is_name = !is_name;
    }
    return Reply{}.root();
}

/// From lines "name:value\r\n".
std::string_view line_of(std::string_view info, std::string_view name) {
    const std::size_t at = info.find(name);
    if (at == std::string_view::npos) return {};
    info.remove_prefix(at + name.size());
    return info.substr(0, info.find_first_of("\r\n"));
}

/// A user who may not ask this question does without its answer.
bool not_allowed(const Reply& reply) {
    return reply.root().is_error() && (reply.root().text().starts_with("NOPERM") ||
                                       reply.root().text().contains("unknown command"));
}

}  // namespace

std::vector<Command> Handshake::next() {
    std::vector<Command> commands;
    switch (step_) {
        case Step::hello: {
            Command& hello = commands.emplace_back("HELLO", 3);
            if (!introduction_.password.empty())
                hello.add("AUTH")
                    .add(introduction_.user.empty() ? "default" : introduction_.user)
                    .add(introduction_.password);
            if (!introduction_.client_name.empty())
                hello.add("SETNAME").add(introduction_.client_name);
            break;
        }
        case Step::old:
            if (!introduction_.password.empty()) {
                Command& auth = commands.emplace_back("AUTH");
                if (!introduction_.user.empty()) auth.add(introduction_.user);
                auth.add(introduction_.password);
            }
            commands.emplace_back("CLIENT", "SETNAME", introduction_.client_name);
            commands.emplace_back("ROLE");
            break;
        case Step::check:
            commands.emplace_back("PING");  // refused while a server loads, or has lost its master
            commands.emplace_back("SELECT", introduction_.database);
            if (introduction_.wants_run_id) commands.emplace_back("INFO", "server");
            break;
        case Step::done:
            break;
    }
    return commands;
}

Result<> Handshake::answered(std::span<const Reply> replies) {
    switch (step_) {
        case Step::hello:
            return hello_answered(replies.front());
        case Step::old:
            return old_answered(replies);
        case Step::check:
            return check_answered(replies);
        case Step::done:
            break;
    }
    return {};
}

Result<> Handshake::hello_answered(const Reply& reply) {
    if (!reply.root().is_error()) {
        greeting_.role = field(reply, "role").text();
        step_ = Step::check;
        return {};
    }
    const std::string_view said = reply.root().text();
    if (!said.contains("unknown command") && !said.starts_with("NOPROTO"))
        return refused("signing in", reply);
    greeting_.protocol = 2;
    step_ = Step::old;
    return {};
}

Result<> Handshake::old_answered(std::span<const Reply> replies) {
    if (!introduction_.password.empty()) {
        if (replies.front().root().is_error()) return refused("signing in", replies.front());
        replies = replies.subspan(1);
    }
    const Reply& role = replies.back();
    if (role.root().is_error() && !not_allowed(role)) return refused("signing in", role);
    greeting_.role = role.root()[0].text();
    step_ = Step::check;
    return {};
}

Result<> Handshake::check_answered(std::span<const Reply> replies) {
    if (replies[0].root().is_error() && !not_allowed(replies[0]))
        return refuse(Code::unavailable, std::string(replies[0].root().text()));
    // A server without numbered databases, as those of a cluster, is in database 0 anyway.
    if (replies[1].root().is_error() && introduction_.database != 0)
        return refused("choosing database " + std::to_string(introduction_.database), replies[1]);
    if (introduction_.wants_run_id) greeting_.run_id = line_of(replies[2].root().text(), "run_id:");
    if (introduction_.wants_master && !greeting_.role.empty() && greeting_.role != "master")
        return refuse(Code::unavailable, "it is a replica and takes no writes");
    step_ = Step::done;
    return {};
}

}  // namespace holdfast::redis
