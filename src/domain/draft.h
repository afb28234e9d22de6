// A Change in the making. Inside `domain` only: decide() writes with it, so that what must hold in
// a state is written down once, in settle().
#pragma once

#include <string>
#include <string_view>

#include "domain/change.h"
#include "domain/command.h"
#include "domain/failure.h"
#include "domain/policy.h"
#include "domain/record.h"

namespace holdfast::domain {

/// The task's own copy of its policy. Text that cannot be read (it was checked at submit) gives the
/// default.
Policy policy_of(const Header& header);

class Draft {
  public:
    Draft(const Record& record, Time now) : Draft(Header(record.header), now) {}
    Draft(Header&& header, Time now);

    Header& header() { return put().header; }
    Change& change() { return change_; }

    Draft& by(std::string_view actor);
    Draft& by(const By& by);
    Draft& saying(std::string message);
    /// The attempt is over, by this call of its worker or this loss of it.
    Draft& ended(Event event);
    /// The holder is taken to be gone, unless it is heard of before this is written.
    Draft& unless_renewed();
    Draft& set_body(Bytes body);
    Draft& set_outcome(const Json& outcome);
    Draft& set_error(const Failure& failure);
    Draft& append(std::string_view log, std::string_view key, const Json& data,
                  Append::Existing existing);

    /// The last word: the step itself. It must be a row of kLifecycle.
    Change move(Event event, State to);

  private:
    Put& put() { return change_.puts.front(); }
    /// Makes the header fit its new state, whatever the step was: timers, lease, permits.
    void settle();

    State from_;
    Time now_;
    Change change_;
};

}  // namespace holdfast::domain
