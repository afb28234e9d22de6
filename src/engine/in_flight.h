// How much is being committed right now.
#pragma once

#include <cstddef>

namespace holdfast::engine {

class InFlight {
  public:
    InFlight(std::size_t& total, std::size_t mine) : total_(total), mine_(mine) { total_ += mine_; }
    ~InFlight() { total_ -= mine_; }
    InFlight(const InFlight&) = delete;
    InFlight& operator=(const InFlight&) = delete;

  private:
    std::size_t& total_;
    std::size_t mine_;
};

}  // namespace holdfast::engine
