// What a coroutine of ours returns.
#pragma once

#include <boost/asio/awaitable.hpp>

namespace holdfast {

namespace asio = boost::asio;

template <class T = void>
using Async = asio::awaitable<T>;

}  // namespace holdfast
