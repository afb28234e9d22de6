#include "stores/redis/connection.h"

#include <vector>

namespace holdfast::stores::redis {

Result<Connection> Connection::open(std::uint16_t port) {
    Connection connection;
    connection.context_.reset(redisConnect("127.0.0.1", port));
    if (!connection.context_) return refuse(Code::unavailable, "Redis: out of memory");
    if (connection.context_->err != 0)
        return refuse(Code::unavailable, std::string("Redis: ") + connection.context_->errstr);
    return connection;
}

Result<Reply> Connection::call(std::span<const std::string_view> words) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    texts.reserve(words.size());
    sizes.reserve(words.size());
    for (const std::string_view word : words) {
        texts.push_back(word.data() == nullptr ? "" : word.data());
        sizes.push_back(word.size());
    }
    Reply reply(static_cast<redisReply*>(redisCommandArgv(
        context_.get(), static_cast<int>(words.size()), texts.data(), sizes.data())));
    if (!reply) return refuse(Code::unavailable, std::string("Redis: ") + context_->errstr);
    if (reply->type == REDIS_REPLY_ERROR)
        return refuse(Code::unavailable, "Redis: " + std::string(text_of(reply.get())));
    return reply;
}

}  // namespace holdfast::stores::redis
