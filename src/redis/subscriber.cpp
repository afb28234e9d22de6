#include "redis/subscriber.h"

#include <utility>

namespace holdfast::redis {

Subscriber::Subscriber(LinkOptions options, Clock& clock, const asio::any_io_executor& executor)
    : link_(
          [&] {
              options.connection.introduction.wants_master = false;
              options.connection.introduction.wants_run_id = false;
              options.connection.on_push = [this](const Reply& reply) { heard(reply); };
              options.on_up = [this](bool) { opened(); };
              return std::move(options);
          }(),
          clock, executor) {}

void Subscriber::subscribe(std::string channel, OnMessage on_message) {
    const auto [place, is_new] = channels_.try_emplace(std::move(channel));
    place->second.push_back(std::move(on_message));
    if (is_new) link_.send(Command("SUBSCRIBE", place->first));
    connect_if_wanted();
}

void Subscriber::start() {
    started_ = true;
    connect_if_wanted();
}

Async<void> Subscriber::stop() {
    started_ = connecting_ = false;
    co_await link_.stop();
}

void Subscriber::connect_if_wanted() {
    if (!started_ || connecting_ || channels_.empty()) return;
    connecting_ = true;
    link_.start();
}

void Subscriber::opened() {
    for (const auto& [channel, listeners] : channels_) link_.send(Command("SUBSCRIBE", channel));
}

void Subscriber::heard(const Reply& reply) {
    const Value root = reply.root();
    if (root[0].text() != "message") return;
    const auto channel = channels_.find(root[1].text());
    if (channel == channels_.end()) return;
    // By number: who hears it may add to the deque, which an iterator does not survive.
    // NOLINTNEXTLINE(modernize-loop-convert)
    for (std::size_t i = 0; i < channel->second.size(); ++i) channel->second[i](root[2].text());
}

}  // namespace holdfast::redis
