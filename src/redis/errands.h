// One question to one server, on a connection made for it: before there is a link, or when the links do not answer.
#pragma once

#include <list>

#include "redis/connection.h"

namespace holdfast::redis {

class Errands {
  public:
    Errands(ConnectionOptions options, Clock& clock, const asio::any_io_executor& executor)
        : options_(std::move(options)), clock_(clock), executor_(executor) {}

    Async<Result<Reply>> ask(Address address, Command question);
    /// Those under way come back with an error.
    void give_up();

  private:
    static Async<void> put(Connection* connection, const Command* question, Outcome* answer);

    ConnectionOptions options_;
    Clock& clock_;
    asio::any_io_executor executor_;
    std::list<Connection*> under_way_;
};

}  // namespace holdfast::redis
