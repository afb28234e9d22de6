#include "redis/client.h"

#include <boost/asio/this_coro.hpp>
#include <utility>

namespace holdfast::redis {
namespace {

std::unique_ptr<Client::Impl> impl_for(Options options, Clock& clock,
                                       asio::any_io_executor executor) {
    if (options.mode == Options::Mode::cluster)
        return cluster(std::move(options), clock, std::move(executor));
    return one_server(std::move(options), clock, std::move(executor));
}

}  // namespace

Result<Reply> plain(Outcome outcome) {
    if (!outcome) return std::unexpected(std::move(outcome.error().error));
    if (outcome->root().is_error())
        return refuse(Code::unavailable, "redis: " + std::string(outcome->root().text()));
    return *std::move(outcome);
}

Async<Result<Address>> known(Address address) {
    co_return address;
}

// ---- Impl ----

Client::Impl::Impl(Options options, Clock& clock, asio::any_io_executor executor)
    : options_(std::move(options)),
      clock_(clock),
      executor_(std::move(executor)),
      subscriber_({.find = [this] { return find_any(); },
                   .connection = connection_options(),
                   .longest_pause = options_.longest_pause,
                   .on_up = {},
                   .on_down = {}},
                  clock, executor_) {}

/// Coming and going wait for what they have begun, also when whoever asked for it is cancelled meanwhile: they are not
/// thrown out half way, their caller is when they are done.
Async<Result<>> Client::Impl::start() {
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    Result<> connected = co_await connect();
    if (connected) subscriber_.start();
    co_await asio::this_coro::throw_if_cancelled(throws);
    co_return connected;
}

Async<void> Client::Impl::stop() {
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await asio::this_coro::throw_if_cancelled(false);
    before_stop();
    co_await subscriber_.stop();
    co_await disconnect();
    co_await asio::this_coro::throw_if_cancelled(throws);
}

Async<Result<Reply>> Client::Impl::call(Slot slot, Command command) {
    co_return plain(co_await route(slot, &command));
}

Async<Result<Reply>> Client::Impl::run(const Script* script, Slot slot, Command evalsha) {
    Outcome outcome = co_await route(slot, &evalsha);
    if (outcome && outcome->root().is_error() && outcome->root().text().starts_with("NOSCRIPT")) {
        // EVAL runs it and keeps it: one step, on the very server that did not know it.
        const Command eval = evalsha.with_head("EVAL", script->text());
        outcome = co_await route(slot, &eval);
    }
    co_return plain(std::move(outcome));
}

void Client::Impl::subscribe(std::string channel,
                             std::function<void(std::string_view)> on_message) {
    subscriber_.subscribe(std::move(channel), std::move(on_message));
}

void Client::Impl::on_another_server(std::function<void()> act) {
    on_another_server_.push_back(std::move(act));
}

void Client::Impl::another_server() const {
    for (const auto& act : on_another_server_) act();
}

ConnectionOptions Client::Impl::connection_options() const {
    return {.introduction = {.user = options_.user,
                             .password = options_.password,
                             .client_name = options_.client_name,
                             .database = options_.database},
            .tls = options_.tls,
            .ca_file = options_.ca_file,
            .connect_timeout = options_.connect_timeout,
            .call_timeout = options_.call_timeout,
            .on_open = {},
            .on_push = {}};
}

// ---- Client ----

Client::Client(Options options, Clock& clock, asio::any_io_executor executor)
    : impl_(impl_for(std::move(options), clock, std::move(executor))) {}

Client::~Client() = default;

Async<Result<>> Client::start() {
    return impl_->start();
}

Async<void> Client::stop() {
    return impl_->stop();
}

Async<Result<Reply>> Client::call(Command command) {
    return impl_->call({}, std::move(command));
}

Async<Result<Reply>> Client::call(std::string_view key, Command command) {
    return impl_->call(slot_of(key), std::move(command));
}

Async<Result<Reply>> Client::run(const Script& script, std::string_view key,
                                 std::vector<std::string> arguments) {
    Command evalsha("EVALSHA", script.digest(), 1, key);
    for (const std::string& argument : arguments) evalsha.add(argument);
    return impl_->run(&script, slot_of(key), std::move(evalsha));
}

Async<Result<std::vector<Reply>>> Client::call_each(Command command) {
    return impl_->call_each(std::move(command));
}

void Client::subscribe(std::string channel,
                       std::function<void(std::string_view message)> on_message) {
    impl_->subscribe(std::move(channel), std::move(on_message));
}

std::optional<std::string> Client::trouble() const {
    return impl_->trouble();
}

void Client::on_another_server(std::function<void()> act) {
    impl_->on_another_server(std::move(act));
}

}  // namespace holdfast::redis
