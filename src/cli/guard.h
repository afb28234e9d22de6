// Ends what a worker's programs left running when the worker itself is killed.
#pragma once

#include <sys/types.h>

namespace holdfast::cli {

/// A small process that lives as long as this one. A program dies with its worker by itself, but what it started
/// would not: the guard ends the whole process group. Make it before there are threads; without one (no more
/// processes, say) nothing is guarded.
class GroupGuard {
  public:
    GroupGuard();
    ~GroupGuard();
    GroupGuard(const GroupGuard&) = delete;
    GroupGuard& operator=(const GroupGuard&) = delete;

    /// From any thread.
    void begun(pid_t group) const { tell(group); }
    void ended(pid_t group) const { tell(-group); }

  private:
    void tell(pid_t message) const;

    int pipe_ = -1;
    pid_t guard_ = -1;
};

}  // namespace holdfast::cli
