// A random walk: many tasks, many commands, and after every step the store must be what a small
// model says it is.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "stores/conformance/suite.h"

namespace holdfast::stores::conformance {

/// What the model knows of one task.
struct Known {
    Record record;
    std::vector<domain::Transition> history;
    std::vector<domain::FeedEvent> events;
    std::optional<Record> before_renewal;  ///< As its holder may still have it.
};

class Walk {
  public:
    Walk(Suite& suite, std::uint64_t seed) : suite_(suite), rng_(seed) {}

    /// One random action, then check().
    void step();
    /// Works off everything that is left: nothing may be stuck. Needs time control.
    void finish();

  private:
    // Actions: walk.cpp.
    void submit();
    void claim();
    void act_as_holder();
    void act_as_operator();
    void act_on_an_old_version();
    void renew();
    void let_time_pass();

    /// The backend must say to this what the model says.
    void commit(const Uuid& id, const domain::Command& command) {
        decide_and_commit(known_.at(id).record, command);
    }
    void decide_and_commit(const Record& record, const domain::Command& command);
    void commit(Change change);
    void take(const domain::Put& put, std::uint64_t nonce);
    void take_claimed(const Record& claimed, const ClaimRequest& request);
    void check_left_behind(const ClaimRequest& request, std::size_t claimed,
                           const std::map<std::string, std::uint8_t>& lowest_taken);
    void tick_what_is_due();
    domain::Command random_call(const Header& held);

    Known* pick(bool (*wanted)(const Header&));
    bool is_blocked(const Header& queued, const ClaimRequest& request) const;
    std::size_t holders(std::string Header::* name, bool Header::* holds,
                        const std::string& value) const;

    // Checks: walk_check.cpp.
    void check();
    void check_rows();
    void check_counts(const std::vector<ListRow>& rows);
    void check_permits();
    void check_feed();

    Suite& suite_;
    Rng rng_;
    std::map<Uuid, Known> known_;
    std::set<Uuid> touched_;            ///< In this step.
    std::vector<Record> old_versions_;  ///< Records as somebody slow still has them.
    std::set<std::tuple<std::string, Uuid, std::string>> appended_;
    std::string cursor_;
    std::map<Uuid, std::vector<domain::FeedEvent>> seen_;
};

}  // namespace holdfast::stores::conformance
