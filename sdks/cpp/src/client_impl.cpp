#include "client_impl.h"

#include <boost/json/parse.hpp>
#include <thread>
#include <utility>

#include "backoff.h"
#include "problem.h"
#include "text.h"
#include "url.h"

namespace holdfast::client {
namespace {

json::value parsed(const std::string& text) {
    if (text.empty() || (text.front() != '{' && text.front() != '[')) return nullptr;
    json::parse_options options;
    options.max_depth = 128;
    json::error_code failed;
    auto value = json::parse(text, failed, {}, options);
    return failed ? json::value() : std::move(value);
}

/// The server certainly did nothing, or doing it again does no harm.
bool may_repeat(const Error& error, RepeatIf repeat, int tries) {
    if (error.code == Code::unreachable || error.code == Code::overloaded) return true;
    if (repeat == RepeatIf::refused) return false;
    // A server that hangs is given one more chance, not five: each costs the whole timeout.
    if (error.code == Code::timed_out) return tries == 0;
    return error.code == Code::unavailable && error.retryable;
}

Error not_an_object(int status) {
    Error error(Code::other, "the server answered with something else than a JSON object");
    error.status = status;
    return error;
}

}  // namespace

HttpRequest Client::Impl::request_of(const Call& call) const {
    HttpRequest request{
        .method = call.method, .target = call.target, .body = call.body, .headers = {}};
    if (!options.token.empty())
        request.headers.emplace_back("Authorization", "Bearer " + options.token);
    if (!options.user.empty())
        request.headers.emplace_back("Holdfast-User", percent_encoded(options.user));
    return request;
}

std::unique_ptr<HttpConnection> Client::Impl::connection() {
    {
        const std::scoped_lock lock(mutex);
        while (!idle.empty()) {
            auto taken = std::move(idle.back());
            idle.pop_back();
            if (taken->usable()) return taken;
        }
    }
    return std::make_unique<HttpConnection>(url, options.connect_timeout);
}

void Client::Impl::give_back(std::unique_ptr<HttpConnection> connection) {
    if (!connection->usable()) return;
    const std::scoped_lock lock(mutex);
    if (idle.size() < options.idle_connections) idle.push_back(std::move(connection));
}

Answer Client::Impl::once(const Call& call) {
    auto used = connection();
    HttpResponse response;
    try {
        response = used->exchange(request_of(call),
                                  HttpConnection::Clock::now() + options.timeout + call.wait);
    } catch (const ConnectionLost& lost) {
        throw Error(lost.timed_out ? Code::timed_out : Code::unavailable,
                    "no answer from " + options.server + ": " + lost.why);
    }
    give_back(std::move(used));
    Answer answer{.status = response.status,
                  .body = parsed(response.body),
                  .text = std::move(response.body),
                  .request_id = response.request_id};
    if (answer.status >= 400 && !call.any_status)
        throw problem(answer.status, answer.body, response.retry_after, response.request_id);
    return answer;
}

Answer Client::Impl::perform(const Call& call) {
    Backoff backoff(options.retry_base, options.retry_max);
    for (;;) {
        try {
            return once(call);
        } catch (const Error& error) {
            if (backoff.tries() + 1 >= options.attempts ||
                !may_repeat(error, call.repeat, backoff.tries()))
                throw;
            const auto hint = error.retry_after.value_or(Milliseconds{0});
            // A hint far in the future is for the caller to judge.
            if (hint > options.retry_max) throw;
            std::this_thread::sleep_for(hint + backoff.next());
        }
    }
}

Answer Client::Impl::get(std::string target, Milliseconds wait) {
    return perform({.method = "GET",
                    .target = std::move(target),
                    .body = {},
                    .repeat = RepeatIf::harmless,
                    .wait = wait});
}

json::object Client::Impl::object(const Call& call) {
    return object_of(perform(call));
}

json::object Client::Impl::post(std::string target, const json::object& body, RepeatIf repeat) {
    return object(
        {.method = "POST", .target = std::move(target), .body = json_text(body), .repeat = repeat});
}

json::object object_of(Answer answer) {
    if (!answer.body.is_object()) throw not_an_object(answer.status);
    return std::move(answer.body.get_object());
}

}  // namespace holdfast::client
