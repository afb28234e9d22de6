// Private to the embedded store: how its coroutines read on the reader's thread.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "stores/sqlite/journal.h"
#include "stores/sqlite/sqlite_store.h"

namespace holdfast::stores {

template <class Read>
auto SqliteStore::reading(Read read, Thread* thread)
    -> Async<Result<typename std::invoke_result_t<Read>::value_type>> {
    using Value = typename std::invoke_result_t<Read>::value_type;
    std::optional<std::invoke_result_t<Read>> answer;
    if (*thread) {
        answer = co_await asio::co_spawn(
            (*thread)->get_executor(),
            [](Read work) -> Async<std::optional<std::invoke_result_t<Read>>> {
                co_return work();
            }(std::move(read)),
            asio::use_awaitable);
    } else {
        answer = read();
    }
    if (!*answer) co_return sqlite::unavailable(answer->error());
    if constexpr (std::is_void_v<Value>) {
        co_return Result<>{};
    } else {
        co_return std::move(**answer);
    }
}

}  // namespace holdfast::stores
