#include "coordination/presence.h"

#include <algorithm>

namespace holdfast::coordination {

Presence::Presence(Coordination& coordination, Clock& clock, const asio::any_io_executor& executor,
                   Options options, Describe describe)
    : coordination_(coordination),
      options_(std::move(options)),
      describe_(std::move(describe)),
      rng_(options_.seed),
      alarm_(clock, executor),
      started_at_(clock.now()) {}

Async<Result<>> Presence::run_once() {
    Instance self{
        .id = options_.id, .started_at = started_at_, .seen_at = {}, .about = {}, .workers = {}};
    describe_(self);
    CO_TRY_VOID(co_await coordination_.announce(std::move(self), options_.ttl));
    if (!std::exchange(announced_, true)) coordination_.tell({Hint::Of::instances, {}});
    CO_TRY(std::vector<Instance> all, co_await coordination_.instances());
    std::erase_if(all, [&](const Instance& one) { return one.id == options_.id; });
    const bool had_company = !others_.empty();
    others_ = std::move(all);
    if (on_company_ && had_company == others_.empty()) on_company_(!others_.empty());
    co_return Result<>{};
}

Async<void> Presence::run(Presence* presence, TaskGroup* group) {
    while (!group->stopping()) {
        const bool well = (co_await presence->run_once()).has_value();
        const Duration pause = well ? presence->options_.every : presence->options_.after_trouble;
        const double stretch = 0.8 + 0.2 * presence->rng_.unit();
        co_await presence->alarm_.wait_for(std::chrono::duration_cast<Duration>(pause * stretch));
    }
}

Async<void> Presence::leave() {
    if (!std::exchange(announced_, false)) co_return;
    // Should it not arrive, its time is over soon.
    if (co_await coordination_.leave(options_.id)) coordination_.tell({Hint::Of::instances, {}});
}

}  // namespace holdfast::coordination
