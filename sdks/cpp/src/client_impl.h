// How a call becomes requests: the pool of connections, and trying again where that is safe.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/client.h"
#include "http_connection.h"
#include "url.h"

namespace holdfast::client {

struct Call {
    std::string method = {}, target = {};
    std::string body = {};
    RepeatIf repeat = RepeatIf::refused;
    Milliseconds wait{0};  ///< How long the server was asked to wait.
    bool any_status = false;
};

struct Client::Impl {
    explicit Impl(ClientOptions its_options)
        : options(std::move(its_options)), url(parse_url(options.server)) {}

    /// Throws Error, also for a status of an error unless `any_status`.
    Answer perform(const Call& call);
    Answer get(std::string target, Milliseconds wait = Milliseconds{0});
    json::object object(const Call& call);
    /// One that must not be done twice by accident, with a JSON body.
    json::object post(std::string target, const json::object& body,
                      RepeatIf repeat = RepeatIf::refused);

    HttpRequest request_of(const Call& call) const;
    std::unique_ptr<HttpConnection> connection();
    void give_back(std::unique_ptr<HttpConnection> connection);

    const ClientOptions options;
    const Url url;
    std::mutex mutex;
    std::vector<std::unique_ptr<HttpConnection>> idle;

  private:
    Answer once(const Call& call);
};

json::object object_of(Answer answer);

}  // namespace holdfast::client
