// The Redis spike: enough of the port to hold the matching conformance cases against Lua scripts and
// Streams in one slot. It blocks its executor, keeps every partition in the one slot {p0}, and reads
// for the suite's sake where the real store will index: docs/decisions/0003-redis-spike.md.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stores/redis/connection.h"
#include "stores/store.h"

namespace holdfast::stores {

class RedisSpike final : public Store {
  public:
    /// Connects to a server on this machine and loads the scripts.
    static Result<std::unique_ptr<RedisSpike>> open(std::uint16_t port);

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
    std::string_view durability() const override { return "everysec"; }

  private:
    explicit RedisSpike(redis::Connection connection) : connection_(std::move(connection)) {}

    Result<> load_scripts();
    Result<redis::Reply> run(std::string_view script, std::span<const std::string_view> arguments);
    Result<Time> server_time();

    Result<> commit_some(std::span<const Change* const> changes,
                         std::span<Outcome* const> outcomes);
    Result<std::vector<Record>> claim_some(const ClaimRequest& request);
    Result<std::int64_t> count_one(const Tally& tally, Time now);
    Result<std::vector<std::pair<std::string, std::string>>> hash(const std::string& key);

    redis::Connection connection_;
    std::map<std::string, std::string, std::less<>> digests_;  ///< of the scripts, by name
    std::size_t turn_ = 0;  ///< Which of its queues a claim asks first.
};

}  // namespace holdfast::stores
