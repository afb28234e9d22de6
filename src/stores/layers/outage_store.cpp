#include "stores/layers/outage_store.h"

namespace holdfast::stores {

void OutageWatch::failed(const Error& error) {
    last_failure_ = clock_.now();
    if (is_set(since_)) return;
    since_ = last_failure_;
    news_.silent(error);
}

void OutageWatch::answered() {
    const Time now = clock_.now();
    if (now < last_failure_ + kCalm) return;
    news_.answers(now - std::exchange(since_, kNoTime));
}

}  // namespace holdfast::stores
