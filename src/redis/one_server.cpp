// One server: where it is said to be, or where the Sentinels say that it is.
#include <utility>

#include "redis/client.h"
#include "redis/errands.h"

namespace holdfast::redis {
namespace {

constexpr std::uint16_t kHighestPort = 65'535;

/// Sentinels are asked as anybody, and, where they want a password, with the server's.
ConnectionOptions questions(ConnectionOptions options, bool with_password) {
    options.introduction.wants_master = false;
    options.introduction.wants_run_id = false;
    options.introduction.database = 0;
    if (!with_password) options.introduction.user = options.introduction.password = {};
    return options;
}

class OneServer final : public Client::Impl {
  public:
    OneServer(Options options, Clock& clock, asio::any_io_executor executor)
        : Impl(std::move(options), clock, std::move(executor)),
          nameless_(questions(connection_options(), false), clock, this->executor()),
          signed_in_(questions(connection_options(), true), clock, this->executor()),
          link_({.find = [this] { return find_any(); },
                 .connection = connection_options(),
                 .longest_pause = this->options().longest_pause,
                 .on_up =
                     [this](bool another) {
                         if (another) another_server();
                     },
                 .on_down = {}},
                clock, this->executor()) {
        if (this->options().mode == Options::Mode::sentinel) listen_to_sentinels();
    }

    Async<Result<std::vector<Reply>>> call_each(Command command) override {
        CO_TRY(Reply reply, co_await call({}, std::move(command)));
        std::vector<Reply> replies;
        replies.push_back(std::move(reply));
        co_return replies;
    }
    std::optional<std::string> trouble() const override { return link_.trouble(); }

  private:
    Async<Result<>> connect() override {
        stopping_ = false;
        link_.start();
        Result<> tried = co_await link_.tried();
        if (!tried) co_await disconnect();
        if (tried && sentinels_) sentinels_->start();
        co_return tried;
    }
    Async<void> disconnect() override {
        before_stop();
        if (sentinels_) co_await sentinels_->stop();
        co_await link_.stop();
    }
    Async<Outcome> route(Slot, const Command* command) override { return link_.call(*command); }
    Async<Result<Address>> find_any() override {
        if (options().mode == Options::Mode::sentinel) return ask_sentinels();
        return known(options().addresses.front());
    }
    void before_stop() override {
        stopping_ = true;
        nameless_.give_up();
        signed_in_.give_up();
    }

    /// The one that knew last is asked first.
    Async<Result<Address>> ask_sentinels() {
        std::string why = "no Sentinel is known";
        const auto& sentinels = options().addresses;
        for (std::size_t i = 0; i < sentinels.size() && !stopping_; ++i) {
            const std::size_t place = (last_good_ + i) % sentinels.size();
            auto found = co_await ask_sentinel(sentinels[place]);
            if (found) {
                last_good_ = place;
                co_return found;
            }
            why = found.error().detail;
        }
        co_return refuse(Code::unavailable, why);
    }

    Async<Result<Address>> ask_sentinel(Address sentinel) {
        const Command question("SENTINEL", "GET-MASTER-ADDR-BY-NAME", options().service);
        Result<Reply> reply = co_await nameless_.ask(sentinel, question);
        if (!reply && reply.error().detail.contains("NOAUTH") && !options().password.empty())
            reply = co_await signed_in_.ask(sentinel, question);
        if (!reply) co_return std::unexpected(std::move(reply).error());
        const Value host = reply->root()[0];
        const std::int64_t port = reply->root()[1].integer();
        if (host.text().empty() || port < 1 || port > kHighestPort)
            co_return refuse(Code::unavailable, "sentinel " + to_string(sentinel) +
                                                    ": knows no service " + options().service);
        co_return Address{std::string(host.text()), static_cast<std::uint16_t>(port)};
    }

    /// A master that was replaced may live on for a while and take writes that will be lost: the sooner we hear of
    /// it, the fewer.
    void listen_to_sentinels() {
        sentinels_.emplace(LinkOptions{.find = [this] { return known(next_sentinel()); },
                                       .connection = questions(connection_options(), false),
                                       .longest_pause = options().longest_pause,
                                       .on_up = {},
                                       .on_down = {}},
                           clock(), executor());
        sentinels_->subscribe("+switch-master", [this](std::string_view message) {
            // "service old-host old-port new-host new-port"
            if (message.starts_with(options().service + " "))
                link_.look_again("the Sentinels have another master");
        });
    }
    Address next_sentinel() {
        return options().addresses[listened_to_++ % options().addresses.size()];
    }

    Errands nameless_, signed_in_;
    std::optional<Subscriber> sentinels_;
    std::size_t listened_to_ = 0;
    std::size_t last_good_ = 0;
    bool stopping_ = false;
    Link link_;
};

}  // namespace

std::unique_ptr<Client::Impl> one_server(Options options, Clock& clock,
                                         asio::any_io_executor executor) {
    return std::make_unique<OneServer>(std::move(options), clock, std::move(executor));
}

}  // namespace holdfast::redis
