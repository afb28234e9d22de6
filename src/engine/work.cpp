// What workers say about the tasks they hold.
#include "engine/engine.h"

namespace holdfast::engine {
namespace {

constexpr Duration kLongestDelay = std::chrono::days{30};
constexpr std::size_t kLongestNote = 256;

/// Items that are wrong in themselves are answered here and leave no trace; the others go on in one batch.
template <class Ask, class Item>
struct Sorted {
    Each<Done> answers;
    std::vector<Ask> asks;
    std::vector<std::size_t> places;

    Sorted(std::vector<Item>& items, auto&& check, auto&& ask) : answers(items.size()) {
        if (items.size() > kLargestBatch) {
            answers.assign(items.size(), invalid("items", "has more than 1000 entries"));
            return;
        }
        asks.reserve(items.size());
        places.reserve(items.size());
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (Result<> ok = check(items[i]); !ok) {
                answers[i] = std::unexpected(std::move(ok).error());
                continue;
            }
            asks.push_back({items[i].id, ask(std::move(items[i]))});
            places.push_back(i);
        }
    }
    Each<Done> merged(Each<Done> stepped) {
        for (std::size_t i = 0; i < places.size(); ++i) answers[places[i]] = std::move(stepped[i]);
        return std::move(answers);
    }
};

Result<> check_delay(std::string_view field, const std::optional<Duration>& delay) {
    if (delay && (*delay < Duration{0} || *delay > kLongestDelay))
        return invalid(field, "must be between 0s and 30d");
    return {};
}

Result<> no_check(const auto&) {
    return {};
}

}  // namespace

Async<Each<Done>> Engine::accept(std::vector<Ack> items) {
    Sorted<Ask, Ack> work(items, no_check<Ack>, [](Ack a) { return domain::Accept{a.fence}; });
    co_return work.merged(co_await step(std::move(work.asks)));
}

Async<Each<Done>> Engine::start(std::vector<Ack> items) {
    Sorted<Ask, Ack> work(items, no_check<Ack>, [](Ack a) { return domain::Start{a.fence}; });
    co_return work.merged(co_await step(std::move(work.asks)));
}

Async<Each<Done>> Engine::complete(std::vector<Completion> items) {
    const auto check = [](const Completion& c) { return domain::check_size("result", c.result); };
    Sorted<Ask, Completion> work(
        items, check, [](Completion c) { return domain::Complete{c.fence, std::move(c.result)}; });
    co_return work.merged(co_await step(std::move(work.asks)));
}

Async<Each<Done>> Engine::fail(std::vector<FailureReport> items) {
    Sorted<Ask, FailureReport> work(
        items, [](const FailureReport& f) { return check_delay("retry_after", f.retry_after); },
        [](FailureReport f) { return domain::Fail{f.fence, std::move(f.failure), f.retry_after}; });
    co_return work.merged(co_await step(std::move(work.asks)));
}

Async<Each<Done>> Engine::yield(std::vector<GivingBack> items) {
    Sorted<Ask, GivingBack> work(
        items, [](const GivingBack& g) { return check_delay("after", g.after); },
        [](GivingBack g) { return domain::Yield{g.fence, g.after, g.until_signal}; });
    co_return work.merged(co_await step(std::move(work.asks)));
}

Async<Each<Done>> Engine::checkpoint(std::vector<StageDone> items) {
    Sorted<Ask, StageDone> work(
        items,
        [](const StageDone& s) {
            const Result<> size = domain::check_size("data", s.data);
            return size ? domain::check_name("stage", s.stage) : size;
        },
        [](StageDone s) {
            return domain::Checkpoint{s.fence, std::move(s.stage), std::move(s.data)};
        });
    co_return work.merged(co_await step(std::move(work.asks)));
}

Async<Each<Beat>> Engine::heartbeat(std::vector<Heartbeat> items) {
    Each<Beat> answers(items.size());
    std::vector<stores::Renewal> renewals;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < items.size(); ++i) {
        Heartbeat& beat = items[i];
        Result<> ok;
        if (beat.lease != Duration{0}) ok = domain::check_lease("lease", beat.lease);
        if (ok && beat.progress && !(*beat.progress >= 0 && *beat.progress <= 1))
            ok = invalid("progress", "must be between 0 and 1");
        if (ok && beat.note && beat.note->size() > kLongestNote)
            ok = invalid("note", "is longer than 256 bytes");
        if (ok && items.size() > kLargestBatch) ok = invalid("items", "has more than 1000 entries");
        if (!ok) {
            answers[i] = std::unexpected(std::move(ok).error());
            continue;
        }
        renewals.push_back({beat.id, beat.fence, beat.lease, beat.progress, std::move(beat.note)});
        places.push_back(i);
    }
    if (renewals.empty()) co_return answers;
    const auto renewed = co_await store_.renew(std::move(renewals));
    for (std::size_t i = 0; i < places.size(); ++i) {
        Result<Beat>& answer = answers[places[i]];
        if (!renewed) {
            answer = std::unexpected(renewed.error());
        } else if (const stores::Renewed& r = (*renewed)[i]; r.held) {
            answer = Beat{r.lease_until, r.cancel_requested, r.pause_requested};
        } else {
            answer = refuse(Code::stale_lease, "the lease is not, or no longer, this caller's");
        }
    }
    co_return answers;
}

}  // namespace holdfast::engine
