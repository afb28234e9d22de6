// Questions that are asked one by one and sent together: whoever asks while a call is under way shares the next one.
#pragma once

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/async.h"
#include "base/result.h"
#include "base/task_group.h"

namespace holdfast::stores::redis {

/// The most tasks in one script: more would keep other callers waiting too long.
inline constexpr std::size_t kScriptTasks = 64;

/// `Item::weight` and `Item::bytes` say how much of a call an item fills. Items of one caller go out in their order.
template <class Item, class Answer>
class Batcher {
  public:
    static constexpr std::size_t kMostCalls =
        2;  ///< Under way at once: one is carried out, one travels.
    static constexpr std::size_t kMostBytes = std::size_t{1} << 20;

    /// One answer per item, in order.
    using Answers = Result<std::vector<Result<Answer>>>;
    using Send = std::function<Async<Answers>(std::vector<Item>)>;

    Batcher(asio::any_io_executor executor, TaskGroup& group, Send send)
        : executor_(std::move(executor)), group_(group), send_(std::move(send)) {}

    /// One answer per item, in order.
    Async<std::vector<Result<Answer>>> ask(std::vector<Item> items) {
        auto question = std::make_shared<Question>(executor_, items.size());
        for (std::size_t i = 0; i < items.size(); ++i)
            pending_.push_back({std::move(items[i]), question, i});
        if (!pending_.empty()) start();
        if (pending_.size() > kScriptTasks) start();  // more than one call takes
        while (question->open > 0)
            co_await question->answered.async_wait(asio::as_tuple(asio::use_awaitable));
        co_return std::move(question->answers);
    }

  private:
    /// Lives on when its asker has left.
    struct Question {
        Question(const asio::any_io_executor& executor, std::size_t size)
            : answers(size, refuse(Code::unavailable, "not answered")),
              open(size),
              answered(executor, asio::steady_timer::time_point::max()) {}
        std::vector<Result<Answer>> answers;
        std::size_t open;
        asio::steady_timer answered;
    };
    struct Pending {
        Item item;
        std::shared_ptr<Question> question;
        std::size_t place;
    };

    void start() {
        if (calls_ == kMostCalls) return;
        ++calls_;
        group_.spawn(work());
    }

    Async<void> work() {
        co_await asio::post(executor_,
                            asio::use_awaitable);  // who asks in this turn shares the call
        while (!pending_.empty()) {
            std::vector<Pending> batch = next_batch();
            std::vector<Item> items;
            items.reserve(batch.size());
            for (Pending& pending : batch) items.push_back(std::move(pending.item));
            Answers answers = co_await send_(std::move(items));
            deliver(batch, answers);
        }
        --calls_;
    }

    std::vector<Pending> next_batch() {
        std::vector<Pending> batch;
        std::size_t weight = 0;
        std::size_t bytes = 0;
        while (!pending_.empty() && weight < kScriptTasks && bytes < kMostBytes) {
            const Item& next = pending_.front().item;
            if (!batch.empty() && weight + next.weight > kScriptTasks) break;
            weight += next.weight;
            bytes += next.bytes.size();
            batch.push_back(std::move(pending_.front()));
            pending_.pop_front();
        }
        return batch;
    }

    static void deliver(std::vector<Pending>& batch, Answers& answers) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            Question& question = *batch[i].question;
            if (answers && i < answers->size())
                question.answers[batch[i].place] = std::move((*answers)[i]);
            else
                question.answers[batch[i].place] = std::unexpected(
                    answers ? Error{Code::unavailable, "a script gave too few answers", {}}
                            : answers.error());
            if (--question.open == 0) question.answered.cancel();
        }
    }

    asio::any_io_executor executor_;
    TaskGroup& group_;
    Send send_;
    std::deque<Pending> pending_;
    std::size_t calls_ = 0;
};

}  // namespace holdfast::stores::redis
