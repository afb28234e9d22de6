// A server of our own in a process of its own; it ends with whoever made it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace holdfast::app {

class ChildServer {
  public:
    /// `holdfast serve` on a free port with these arguments. Throws std::runtime_error when it does not start.
    explicit ChildServer(std::vector<std::string> args);
    /// Ends it, and returns when it has left.
    ~ChildServer();
    ChildServer(const ChildServer&) = delete;
    ChildServer& operator=(const ChildServer&) = delete;

    const std::string& url() const { return url_; }

  private:
    pid_t pid_ = -1;
    std::string url_;
};

}  // namespace holdfast::app
