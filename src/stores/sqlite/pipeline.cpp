#include "stores/sqlite/pipeline.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace holdfast::stores::sqlite {
namespace {

constexpr std::chrono::milliseconds kSoon{5};

}  // namespace

Pipeline::Pipeline(asio::any_io_executor executor, Clock& clock, Parts parts)
    : executor_(std::move(executor)), clock_(clock), parts_(std::move(parts)), soon_(executor_) {
    if (parts_.run) return;
    writer_.emplace(1);
    parts_.run = [this](std::function<void()> work) { asio::post(*writer_, std::move(work)); };
}

Pipeline::~Pipeline() {
    *alive_ = false;
    clock_.disarm(soon_);
    if (writer_) writer_->join();
}

void Pipeline::touch() {
    if (std::exchange(touched_, true) || writing_) return;
    // Posted: what is staged in the same breath goes into the same group.
    asio::post(executor_, [this, alive = alive_] {
        if (*alive && !writing_) start();
    });
}

void Pipeline::touch_soon() {
    if (touched_ || std::exchange(soon_runs_, true)) return;
    clock_.arm(soon_, clock_.now() + kSoon);
    soon_.async_wait([this, alive = alive_, number = ++soon_number_](const auto&) {
        if (!*alive || number != soon_number_) return;
        soon_runs_ = false;
        touch();
    });
}

void Pipeline::start() {
    if (!touched_ || broken_) return;
    touched_ = false;
    writing_ = true;
    if (std::exchange(soon_runs_, false)) {
        ++soon_number_;
        clock_.disarm(soon_);
        soon_.cancel();
    }
    const std::uint64_t number = gathering_++;
    auto group = std::make_shared<Group>(parts_.seal());
    group->number = number;
    auto work = asio::make_work_guard(executor_);
    parts_.run(
        [this, alive = alive_, number, group = std::move(group), work = std::move(work)]() mutable {
            if (!*alive) return;
            const auto tell = [&](auto what) {
                asio::post(executor_, [alive, what = std::move(what)] {
                    if (*alive) what();
                });
            };
            Tried<> done = parts_.write(*group);
            group.reset();
            if (done) {
                tell([this, number] { written(number); });
                done = parts_.tidy();
            }
            tell([this, done] {
                writing_ = false;
                done ? start() : break_off(done.error());
            });
        });
}

void Pipeline::written(std::uint64_t group) {
    durable_ = group;
    parts_.durable(group);
    wake();
}

void Pipeline::break_off(const Trouble& trouble) {
    broken_ = Error{Code::unavailable, "the disk failed: " + trouble.text, {}};
    parts_.broken(*broken_);
    wake();
}

void Pipeline::wake() {
    while (!waiters_.empty() && (broken_ || waiters_.begin()->first <= durable_)) {
        waiters_.begin()->second->cancel();
        waiters_.erase(waiters_.begin());
    }
}

Async<Result<>> Pipeline::wait(std::uint64_t group) {
    if (group > durable_ && !broken_) {
        if (group == gathering_) touch();
        auto& waiter = waiters_[group];
        if (!waiter)
            waiter = std::make_shared<asio::steady_timer>(executor_,
                                                          asio::steady_timer::time_point::max());
        const auto timer = waiter;
        co_await timer->async_wait(asio::as_tuple(asio::use_awaitable));
    }
    if (group <= durable_) co_return Result<>{};
    if (broken_) co_return std::unexpected(*broken_);
    co_return refuse(Code::unavailable, "nobody waits for the answer any more");
}

}  // namespace holdfast::stores::sqlite
