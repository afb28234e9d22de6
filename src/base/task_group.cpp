#include "base/task_group.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cassert>
#include <exception>

namespace holdfast {
namespace {

bool only_cancelled(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const boost::system::system_error& error) {
        return error.code() == asio::error::operation_aborted;
    } catch (...) {
        return false;
    }
}

}  // namespace

TaskGroup::TaskGroup(asio::any_io_executor executor)
    : executor_(executor), empty_(executor, asio::steady_timer::time_point::max()) {}

TaskGroup::~TaskGroup() {
    assert(children_.empty() && "stop() the group before it dies");
}

void TaskGroup::spawn(Async<void> work) {
    if (stopping_) return;  // nobody would ask it to leave, and stop() would wait for it
    const auto child = children_.emplace(children_.end());
    auto left = [this, child](std::exception_ptr failure) {
        children_.erase(child);
        if (children_.empty()) empty_.cancel();
        // Nobody here can handle what a child could not: let it reach the top, loudly.
        if (failure && !only_cancelled(failure)) std::rethrow_exception(failure);
    };
    asio::co_spawn(executor_, std::move(work), asio::bind_cancellation_slot(child->slot(), left));
}

Async<void> TaskGroup::stop() {
    stopping_ = true;
    for (auto child = children_.begin(); child != children_.end();) {
        (child++)->emit(asio::cancellation_type::terminal);
    }
    co_await join();
}

Async<void> TaskGroup::join() {
    while (!children_.empty()) {
        boost::system::error_code ignored;
        co_await empty_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
}

}  // namespace holdfast
