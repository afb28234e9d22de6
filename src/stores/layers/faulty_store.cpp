#include "stores/layers/faulty_store.h"

namespace holdfast::stores {

Async<void> BadLine::delay() {
    const auto longest = static_cast<std::uint64_t>(faults_.longest_delay.count());
    if (longest == 0) co_return;
    Alarm alarm(clock_, executor_);
    co_await alarm.wait_for(Duration{static_cast<std::int64_t>(rng_.below(longest + 1))});
}

std::unexpected<Error> BadLine::lost(Op op, std::string_view what) {
    return refuse(Code::unavailable, std::string(to_string(op)).append(" ").append(what));
}

}  // namespace holdfast::stores
