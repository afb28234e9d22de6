// A store seen through something that watches or disturbs every call. The forwarding is written once, here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stores/store.h"

namespace holdfast::stores {

enum class Op : std::uint8_t {
    commit,
    claim,
    renew,
    load,
    due,
    list,
    stats,
    history,
    log,
    feed,
    count,
    trim,
    clock
};
inline constexpr std::array<std::string_view, 13> kOpNames{
    "commit",  "claim", "renew", "load",  "due",  "list", "stats",
    "history", "log",   "feed",  "count", "trim", "clock"};
constexpr std::string_view to_string(Op op) {
    return kOpNames[static_cast<std::size_t>(op)];
}

/// `Around` has `template <class T> Async<Result<T>> around(Op op, std::size_t items, Async<Result<T>> call)`: the
/// call does not begin before it is awaited.
template <class Around>
class Layered : public Store, public Around {
  public:
    template <class... Args>
    explicit Layered(Store& inner, Args&&... args)
        : Around(std::forward<Args>(args)...), inner_(inner) {}
    Layered(const Layered&) =
        delete;  // a layer over a layer of its kind would silently be a copy of it
    Layered& operator=(const Layered&) = delete;

    Async<Result<std::vector<Outcome>>> commit(std::vector<Change> changes) override {
        const std::size_t items = changes.size();
        return this->around(Op::commit, items, inner_.commit(std::move(changes)));
    }
    Async<Result<std::vector<Record>>> claim(ClaimRequest request) override {
        return this->around(Op::claim, 1, inner_.claim(std::move(request)));
    }
    Async<Result<std::vector<Renewed>>> renew(std::vector<Renewal> renewals) override {
        const std::size_t items = renewals.size();
        return this->around(Op::renew, items, inner_.renew(std::move(renewals)));
    }
    Async<Result<std::vector<std::optional<Record>>>> load(std::vector<Key> keys) override {
        const std::size_t items = keys.size();
        return this->around(Op::load, items, inner_.load(std::move(keys)));
    }
    Async<Result<std::vector<Record>>> due(std::size_t limit) override {
        return this->around(Op::due, 1, inner_.due(limit));
    }
    Async<Result<Page>> list(Filter filter, std::string cursor, std::size_t limit,
                             std::size_t budget) override {
        return this->around(Op::list, 1,
                            inner_.list(std::move(filter), std::move(cursor), limit, budget));
    }
    Async<Result<Stats>> stats() override { return this->around(Op::stats, 1, inner_.stats()); }
    Async<Result<std::vector<domain::Transition>>> history(Key key) override {
        return this->around(Op::history, 1, inner_.history(key));
    }
    Async<Result<std::vector<LogEntry>>> log(std::string log, Uuid owner, std::size_t skip,
                                             std::size_t limit) override {
        return this->around(Op::log, 1, inner_.log(std::move(log), owner, skip, limit));
    }
    Async<Result<FeedPage>> feed(std::string cursor, std::size_t limit) override {
        return this->around(Op::feed, 1, inner_.feed(std::move(cursor), limit));
    }
    Async<Result<std::vector<std::int64_t>>> count(std::vector<Tally> tallies) override {
        const std::size_t items = tallies.size();
        return this->around(Op::count, items, inner_.count(std::move(tallies)));
    }
    Async<Result<std::size_t>> trim(TrimRequest request) override {
        return this->around(Op::trim, 1, inner_.trim(std::move(request)));
    }
    Async<Result<Time>> clock() override { return this->around(Op::clock, 1, inner_.clock()); }
    std::string_view durability() const override { return inner_.durability(); }

  private:
    Store& inner_;
};

}  // namespace holdfast::stores
