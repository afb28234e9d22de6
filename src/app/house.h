// The house: every room, put together. The only place that names a concrete backend.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "base/async.h"
#include "base/result.h"
#include "config/config.h"

namespace holdfast::app {

class House {
  public:
    /// Opens the store and takes the address; nothing is served yet.
    static Result<std::unique_ptr<House>> build(const config::Loaded& loaded,
                                                asio::io_context& context);
    ~House();
    House(const House&) = delete;
    House& operator=(const House&) = delete;

    void start();
    /// Answers what is in flight, stops the services, and returns when all that was done is on disk.
    Async<Result<>> stop();
    /// "http://127.0.0.1:7400"
    std::string url() const;

  private:
    struct Rooms;
    explicit House(std::unique_ptr<Rooms> rooms);
    std::unique_ptr<Rooms> rooms_;
};

}  // namespace holdfast::app
