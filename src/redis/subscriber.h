// Published messages, on a connection of its own.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "redis/link.h"

namespace holdfast::redis {

class Subscriber {
  public:
    using OnMessage = std::function<void(std::string_view message)>;

    /// `options`: how to find and meet a server; the rest of them is the subscriber's own.
    Subscriber(LinkOptions options, Clock& clock, const asio::any_io_executor& executor);

    void subscribe(std::string channel, OnMessage on_message);
    /// Without a channel it does not connect.
    void start();
    Async<void> stop();

  private:
    void connect_if_wanted();
    void opened();
    void heard(const Reply& reply);

    /// Deques: who hears a message may subscribe to more.
    std::map<std::string, std::deque<OnMessage>, std::less<>> channels_;
    Link link_;
    bool started_ = false;
    bool connecting_ = false;
};

}  // namespace holdfast::redis
