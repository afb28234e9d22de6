#include "redis/errands.h"

#include "redis/client.h"

namespace holdfast::redis {

Async<Result<Reply>> Errands::ask(Address address, Command question) {
    Outcome answer = std::unexpected(Failure{});
    TaskGroup group(executor_);
    Connection* opened = nullptr;
    ConnectionOptions options = options_;
    options.on_open = [&](const Greeting&) { group.spawn(put(opened, &question, &answer)); };
    Connection connection(std::move(address), std::move(options), clock_, executor_);
    opened = &connection;
    const auto place = under_way_.insert(under_way_.end(), opened);
    const std::string why = co_await connection.run();
    under_way_.erase(place);
    co_await group.join();
    if (!answer && answer.error().error.detail.empty()) answer.error().error.detail = why;
    co_return plain(std::move(answer));
}

Async<void> Errands::put(Connection* connection, const Command* question, Outcome* answer) {
    *answer = co_await connection->call(*question);
    connection->give_up("the question is answered");
}

void Errands::give_up() {
    const std::list<Connection*> all = under_way_;
    for (Connection* const connection : all) connection->give_up("the client was stopped");
}

}  // namespace holdfast::redis
