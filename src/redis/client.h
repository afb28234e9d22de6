// What the ways to be a Client share: one server (also one found by Sentinels), or a cluster.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/link.h"
#include "redis/redis.h"
#include "redis/subscriber.h"

namespace holdfast::redis {

class Client::Impl {
  public:
    /// None: any server will do.
    using Slot = std::optional<std::uint16_t>;

    Impl(Options options, Clock& clock, asio::any_io_executor executor);
    virtual ~Impl() = default;
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    Async<Result<>> start();
    Async<void> stop();
    Async<Result<Reply>> call(Slot slot, Command command);
    /// `evalsha` names the script by its digest.
    Async<Result<Reply>> run(const Script* script, Slot slot, Command evalsha);
    virtual Async<Result<std::vector<Reply>>> call_each(Command command) = 0;
    void subscribe(std::string channel, std::function<void(std::string_view)> on_message);
    virtual std::optional<std::string> trouble() const = 0;
    void on_another_server(std::function<void()> act);

  protected:
    virtual Async<Result<>> connect() = 0;
    virtual Async<void> disconnect() = 0;
    /// What keeps somebody waiting for an address is to come back.
    virtual void before_stop() = 0;
    /// `command` lives until it is answered.
    virtual Async<Outcome> route(Slot slot, const Command* command) = 0;
    /// Where to subscribe.
    virtual Async<Result<Address>> find_any() = 0;

    ConnectionOptions connection_options() const;
    const Options& options() const { return options_; }
    Clock& clock() const { return clock_; }
    const asio::any_io_executor& executor() const { return executor_; }
    void another_server() const;

  private:
    Options options_;
    Clock& clock_;
    asio::any_io_executor executor_;
    Subscriber subscriber_;
    std::vector<std::function<void()>> on_another_server_;
};

/// An error that the server answered is our error, too.
Result<Reply> plain(Outcome outcome);

/// For a link to a server that stays where it is.
Async<Result<Address>> known(Address address);

std::unique_ptr<Client::Impl> one_server(Options options, Clock& clock,
                                         asio::any_io_executor executor);
std::unique_ptr<Client::Impl> cluster(Options options, Clock& clock,
                                      asio::any_io_executor executor);

}  // namespace holdfast::redis
