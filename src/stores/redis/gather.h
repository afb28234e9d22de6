// Several things at once, and all their answers.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/async.h"
#include "base/task_group.h"

namespace holdfast::stores::redis {

template <class T>
struct Gathered {
    explicit Gathered(const asio::any_io_executor& executor, std::size_t size)
        : answers(size), open(size), all(executor, asio::steady_timer::time_point::max()) {}
    std::vector<std::optional<T>> answers;
    std::size_t open;
    asio::steady_timer all;
};

template <class T>
Async<void> answer_into(std::shared_ptr<Gathered<T>> gathered, std::size_t place, Async<T> work) {
    gathered->answers[place] = co_await std::move(work);
    if (--gathered->open == 0) gathered->all.cancel();
}

/// The answers in the order of the works, which run side by side in `group`.
template <class T>
Async<std::vector<T>> gather(asio::any_io_executor executor, TaskGroup* group,
                             std::vector<Async<T>> works) {
    std::vector<T> answers;
    answers.reserve(works.size());
    if (works.size() == 1) {
        answers.push_back(co_await std::move(works.front()));
        co_return answers;
    }
    auto gathered = std::make_shared<Gathered<T>>(executor, works.size());
    for (std::size_t i = 0; i < works.size(); ++i)
        group->spawn(answer_into(gathered, i, std::move(works[i])));
    while (gathered->open > 0)
        co_await gathered->all.async_wait(asio::as_tuple(asio::use_awaitable));
    for (std::optional<T>& answer : gathered->answers) answers.push_back(*std::move(answer));
    co_return answers;
}

}  // namespace holdfast::stores::redis
