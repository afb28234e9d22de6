// One blocking connection to a Redis server: for the spike and its benchmark only.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace holdfast::stores::redis {

struct FreeReply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;

inline std::string_view text_of(const redisReply* reply) {
    return reply->str == nullptr ? std::string_view{} : std::string_view(reply->str, reply->len);
}
inline std::span<redisReply* const> items_of(const redisReply* reply) {
    return {reply->element, reply->elements};
}

class Connection {
  public:
    /// To a server on this machine.
    static Result<Connection> open(std::uint16_t port);

    /// `unavailable` when no answer came or the server answered with an error.
    Result<Reply> call(std::span<const std::string_view> words);
    Result<Reply> call(std::initializer_list<std::string_view> words) {
        return call(std::span(words.begin(), words.size()));
    }

  private:
    struct Close {
        void operator()(redisContext* context) const { redisFree(context); }
    };
    std::unique_ptr<redisContext, Close> context_;
};

}  // namespace holdfast::stores::redis
