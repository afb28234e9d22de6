// The base of every case: a store of the backend at hand, and short words for what is asked of it.
// Each word throws when the store answers with an error, which fails the case.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "stores/conformance/backend.h"
#include "stores/conformance/support.h"

namespace holdfast::stores::conformance {

using Counted = std::map<std::tuple<std::string, std::string, State>, std::uint64_t>;
using CountedFailures = std::map<std::pair<std::uint64_t, State>, std::uint64_t>;

/// What there is to see of some records and everything around them.
struct Sight {
    std::vector<std::optional<Record>> records;
    std::vector<std::vector<domain::Transition>> histories;
    std::vector<std::vector<std::pair<std::string, Bytes>>> logs;
    std::vector<std::int64_t> tallies;
    std::vector<std::pair<Header, bool>> list;
    std::vector<domain::FeedEvent> feed;
    Counted counts;
    CountedFailures failures;

    friend bool operator==(const Sight&, const Sight&) = default;
};

struct Look {
    std::vector<Key> keys;
    std::vector<std::pair<std::string, Uuid>> logs;
    std::vector<Tally> tallies;
};

class Suite : public testing::TestWithParam<Backend> {
  public:
    /// Of all backends in this binary: the cases that were not skipped.
    static int cases_run();

    bool can(Ability ability) const { return GetParam().abilities.contains(ability); }
    /// The reason to skip a case that needs all of these; empty: there is none.
    std::string reason_to_skip(const std::vector<Ability>& needs) const;

    Fixture& fixture();
    Store& store() { return fixture().store(); }
    void start_over() { fixture_.reset(); }

    template <class T>
    T ask(Async<Result<T>> question) {
        Result<T> answer = run(fixture().io(), std::move(question));
        if (!answer)
            throw std::runtime_error("the store answered " +
                                     std::string(to_string(answer.error().code)) + ": " +
                                     answer.error().detail);
        return *std::move(answer);
    }

    // ---- time ----

    Time now() { return ask(store().clock()); }
    /// A little time: short enough to be waited for, long enough not to pass by itself.
    Duration moment() const;
    /// Lets so much of the store's time pass: by moving it, else by waiting.
    void pass(Duration d);

    // ---- writing ----

    Uuid new_id(Partition partition = kHome);
    Change decided(const Record& record, const domain::Command& command);
    Change decided(const domain::Submission& submission) {
        return domain::decide_submit(submission, new_id(), now());
    }
    std::vector<Outcome> commit_all(std::vector<Change> changes);
    Outcome commit(Change change);
    Verdict verdict(Change change) { return commit(std::move(change)).verdict; }
    /// Must be committed; gives the record of its first put as it then is.
    Record apply(Change change);
    Record submit(const domain::Submission& submission) { return apply(decided(submission)); }
    Record submit(std::string queue = "default") { return submit(new_task(std::move(queue))); }
    Record step(const Record& record, const domain::Command& command) {
        return apply(decided(record, command));
    }
    Record complete(const Record& r) { return step(r, domain::Complete{r.header.fence(), {}}); }
    Record yield(const Record& r) {
        return step(r, domain::Yield{r.header.fence(), std::nullopt, false});
    }

    // ---- claiming ----

    static ClaimRequest asking(std::string queue, std::uint32_t max = 1);
    std::vector<Record> claim(ClaimRequest request) {
        return ask(store().claim(std::move(request)));
    }
    std::vector<Uuid> claim_ids(ClaimRequest request);
    Record claim_one(std::string queue = "default");
    /// One renewal of the task as its holder.
    Renewed renew(const Record& held, Duration lease);

    // ---- reading ----

    std::optional<Record> find(Key key);
    Record load(const Uuid& id);
    std::vector<Record> due(std::size_t limit = 100) { return ask(store().due(limit)); }
    std::vector<Uuid> due_ids(std::size_t limit = 100);
    std::vector<ListRow> list_all(Filter filter = {});
    Counted counts();
    CountedFailures failures();
    std::vector<domain::Transition> history(const Key& key) { return ask(store().history(key)); }
    std::vector<std::pair<std::string, Bytes>> log(std::string name, const Uuid& owner,
                                                   std::size_t skip = 0, std::size_t limit = 1000);
    /// Everything from `cursor` on; moves it to the end.
    std::vector<domain::FeedEvent> read_feed(std::string& cursor);
    std::vector<domain::FeedEvent> whole_feed();
    /// The events of one record; one that is repeated (at least once!) is given once.
    std::vector<domain::FeedEvent> feed_of(const Key& key);
    std::int64_t tally(Tally::Of of, std::string name, Partition partition = kHome);
    /// As much of it as the backend can show.
    Sight look(const Look& at);

  protected:
    void TearDown() override;

  private:
    std::unique_ptr<Fixture> fixture_;
    UuidMint mint_{Rng(20260105)};
    std::uint64_t last_nonce_ = 0x8000'0000'0000'0000U;  // the whole 64 bits are used
};

std::vector<Uuid> ids_of(const std::vector<Record>& records);

/// Cases that need these abilities, all of them.
template <Ability... kNeeds>
class Area : public Suite {
  protected:
    void SetUp() override {
        if (const std::string reason = reason_to_skip({kNeeds...}); !reason.empty())
            GTEST_SKIP() << reason;
    }
};

}  // namespace holdfast::stores::conformance

/// Skips the rest of a case that needs more than its area does: HOLDFAST_NEEDS(Ability::feed);
#define HOLDFAST_NEEDS(...)                                                        \
    if (const std::string reason = reason_to_skip({__VA_ARGS__}); !reason.empty()) \
    GTEST_SKIP() << reason
