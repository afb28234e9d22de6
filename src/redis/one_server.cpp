// One server that stays where it is.
#include <utility>

#include "redis/client.h"

namespace holdfast::redis {
namespace {

class OneServer final : public Client::Impl {
  public:
    OneServer(Options options, Clock& clock, asio::any_io_executor executor)
        : Impl(std::move(options), clock, std::move(executor)),
          link_({.find = [this] { return find_any(); },
                 .connection = connection_options(),
                 .longest_pause = this->options().longest_pause,
                 .on_up =
                     [this](bool another) {
                         if (another) another_server();
                     },
                 .on_down = {}},
                clock, this->executor()) {}

    Async<Result<std::vector<Reply>>> call_each(Command command) override {
        CO_TRY(Reply reply, co_await call({}, std::move(command)));
        std::vector<Reply> replies;
        replies.push_back(std::move(reply));
        co_return replies;
    }
    std::optional<std::string> trouble() const override { return link_.trouble(); }

  private:
    Async<Result<>> connect() override {
        link_.start();
        Result<> tried = co_await link_.tried();
        if (!tried) co_await link_.stop();
        co_return tried;
    }
    Async<void> disconnect() override { return link_.stop(); }
    Async<Outcome> route(Slot, const Command* command) override { return link_.call(*command); }
    Async<Result<Address>> find_any() override { co_return options().addresses.front(); }

    Link link_;
};

}  // namespace

std::unique_ptr<Client::Impl> one_server(Options options, Clock& clock,
                                         asio::any_io_executor executor) {
    return std::make_unique<OneServer>(std::move(options), clock, std::move(executor));
}

}  // namespace holdfast::redis
