// `memory:` — everything in this process, nothing on disk. The executable specification of the port, the
// double that tests use, and a server's store when losing everything at exit is fine.
#pragma once

#include "base/clock.h"
#include "stores/memory/index.h"
#include "stores/store.h"

namespace holdfast::stores {

class MemoryStore final : public Store {
  public:
    explicit MemoryStore(Clock& clock) : clock_(clock) {}

    Async<Result<std::vector<Outcome>>> commit(std::vector<Change> changes) override;
    Async<Result<std::vector<Record>>> claim(ClaimRequest request) override;
    Async<Result<std::vector<Renewed>>> renew(std::vector<Renewal> renewals) override;
    Async<Result<std::vector<std::optional<Record>>>> load(std::vector<Key> keys) override;
    Async<Result<std::vector<Record>>> due(std::size_t limit) override;
    Async<Result<Page>> list(Filter filter, std::string cursor, std::size_t limit,
                             std::size_t budget) override;
    Async<Result<Stats>> stats() override;
    Async<Result<std::vector<domain::Transition>>> history(Key key) override;
    Async<Result<std::vector<LogEntry>>> log(std::string log, Uuid owner, std::size_t skip,
                                             std::size_t limit) override;
    Async<Result<FeedPage>> feed(std::string cursor, std::size_t limit) override;
    Async<Result<std::vector<std::int64_t>>> count(std::vector<Tally> tallies) override;
    Async<Result<std::size_t>> trim(TrimRequest request) override;
    Async<Result<Time>> clock() override;
    std::string_view durability() const override { return "none"; }

  private:
    Clock& clock_;
    memory::Index index_;
};

}  // namespace holdfast::stores
