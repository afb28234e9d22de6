#include "redis/link.h"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/log.h"

namespace holdfast::redis {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds{20};
constexpr int kMostDoublings = 20;

Async<Outcome> failing(Failure failure) {
    co_return std::unexpected(std::move(failure));
}

}  // namespace

Duration Backoff::next() {
    if (tries_++ == 0) return Duration::zero();
    const Duration most =
        std::min(longest_, kFirstPause * (1L << std::min(tries_ - 2, kMostDoublings)));
    return Duration(
        1 + static_cast<Duration::rep>(rng_.below(static_cast<std::uint64_t>(most.count()))));
}

Link::Link(LinkOptions options, Clock& clock, const asio::any_io_executor& executor)
    : options_(std::move(options)),
      clock_(clock),
      executor_(executor),
      group_(executor),
      pause_(clock, executor),
      tried_(executor, asio::steady_timer::time_point::max()),
      backoff_(options_.longest_pause, Rng::from_system()),
      made_(clock.now()) {
    options_.connection.on_open = [this](const Greeting& greeting) { opened(greeting); };
}

void Link::start() {
    stopping_ = false;
    group_.spawn(keep());
}

Async<Result<>> Link::tried() {
    const int before = attempts_;
    while (!is_up() && attempts_ == before && !stopping_) {
        boost::system::error_code ignored;
        co_await tried_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
    if (!is_up()) co_return refuse(Code::unavailable, why_);
    co_return Result<>{};
}

/// By its own flags, not by cancelling: what is under way comes to its proper end.
Async<void> Link::stop() {
    stopping_ = true;
    if (connection_) connection_->give_up("the client was stopped");
    pause_.ring();
    tried_.cancel();
    co_await group_.join();
}

void Link::leave(std::string why) {
    stopping_ = true;
    pause_.ring();
    if (is_up()) {
        connection_->leave(std::move(why));
    } else if (connection_) {
        connection_->give_up(std::move(why));
    }
}

void Link::look_again(std::string why) {
    if (is_up()) connection_->leave(std::move(why));
}

Async<void> Link::keep() {
    while (!stopping_) {
        up_since_ = kNoTime;
        lost(co_await attempt());
        if (stopping_) break;
        // One that comes and goes is met with the same patience as one that does not come.
        if (is_set(up_since_) && clock_.now() - up_since_ > options_.longest_pause)
            backoff_.reset();
        co_await pause_.wait_for(backoff_.next());
    }
}

/// Returns why it ended.
Async<std::string> Link::attempt() {
    auto found = co_await options_.find();
    if (!found) co_return found.error().detail;
    if (stopping_) co_return "the client was stopped";
    address_ = *std::move(found);
    connection_ = std::make_unique<Connection>(address_, options_.connection, clock_, executor_);
    std::string why = co_await connection_->run();
    connection_.reset();
    co_return why;
}

void Link::opened(const Greeting& greeting) {
    const bool another = was_up_ && (greeting.run_id.empty() || greeting.run_id != run_id_);
    if (was_up_)
        log::info("redis answers again", {{"address", to_string(address_)}, {"another", another}});
    run_id_ = greeting.run_id;
    up_since_ = clock_.now();
    was_up_ = true;
    tried_.cancel();
    if (options_.on_up) options_.on_up(another);
}

void Link::lost(std::string why) {
    why_ = std::move(why);
    ++attempts_;
    tried_.cancel();
    if (is_set(up_since_) && !stopping_)
        log::warn("redis is gone", {{"address", to_string(address_)}, {"cause", why_}});
    if (options_.on_down) options_.on_down();
}

std::optional<std::string> Link::trouble() const {
    if (is_up()) return {};
    return why();
}

/// A connection that came to its end knows it first.
std::string Link::why() const {
    const std::string last = connection_ ? connection_->why() : std::string();
    return last.empty() ? why_ : last;
}

Async<Outcome> Link::call(const Command& command) {
    if (!is_up()) return failing({{Code::unavailable, why(), {}}, false});
    return connection_->call(command);
}

Async<Outcome> Link::call_asking(const Command& command) {
    if (!is_up()) return failing({{Code::unavailable, why(), {}}, false});
    return connection_->call_asking(command);
}

void Link::send(const Command& command) {
    if (is_up()) connection_->send(command);
}

}  // namespace holdfast::redis
