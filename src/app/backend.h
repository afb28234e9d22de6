// A store of the kind that the configuration names, and what only this kind can do.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>

#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"
#include "stores/store.h"

namespace holdfast::app {

struct Backend {
    std::unique_ptr<stores::Store> store;
    std::function<Async<Result<>>()> close;  ///< Returns when everything is as durable as it gets.
    std::function<Async<Result<>>()> check;  ///< Is what is stored whole?
};

Result<Backend> open_backend(const config::Config::Store& wanted, Clock& clock,
                             const asio::any_io_executor& executor);

}  // namespace holdfast::app
