// What the cases are written with: running a coroutine, making records, telling what differs.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/async.h"
#include "base/rng.h"
#include "domain/change.h"
#include "domain/decide.h"
#include "domain/record.h"
#include "domain/submission.h"
#include "stores/store.h"

// How gtest shows them. Where gtest looks for it: beside the type.
namespace holdfast {
void PrintTo(const Uuid& id, std::ostream* out);
void PrintTo(const Bytes& bytes, std::ostream* out);
}  // namespace holdfast
namespace holdfast::domain {
void PrintTo(const State& state, std::ostream* out);
void PrintTo(const Header& header, std::ostream* out);
void PrintTo(const Record& record, std::ostream* out);
void PrintTo(const Transition& transition, std::ostream* out);
void PrintTo(const FeedEvent& event, std::ostream* out);
}  // namespace holdfast::domain
namespace holdfast::stores {
void PrintTo(const Verdict& verdict, std::ostream* out);
}  // namespace holdfast::stores

namespace holdfast::stores::conformance {

/// Runs `io` until `done`; throws when nothing happens for half a minute.
void run_until(asio::io_context& io, const bool& done);

/// Runs a coroutine to its end.
template <class T>
T run(asio::io_context& io, Async<T> work) {
    bool done = false;
    std::exception_ptr error;
    std::optional<T> value;
    asio::co_spawn(io, std::move(work), [&](std::exception_ptr thrown, T result) {
        error = std::move(thrown);
        value = std::move(result);
        done = true;
    });
    run_until(io, done);
    if (error) std::rethrow_exception(error);
    return *std::move(value);
}

/// Where the cases live, unless they are about partitions.
inline constexpr Partition kHome{7};
inline constexpr Partition kElsewhere{8};

/// A submission that says no more than it must.
domain::Submission new_task(std::string queue = "default", std::string type = "work");

/// A Change that writes `header` over the record as `old` is, without asking decide().
Change rewrite(Header header, const Header& old);
/// The same over what `header` was read from: nothing that guards a put was changed in it.
inline Change rewrite(const Header& header) {
    return rewrite(header, header);
}
/// A Change that makes a record of a kind other than task.
Change make_record(domain::Kind kind, const Uuid& id, Time now);
domain::Put& only_put(Change& change);

domain::FeedEvent event_of(const Header& header, const domain::Transition& transition);

/// What decide() makes of a claim of `before` by this request at the moment that the store took.
domain::Put claim_put(const Record& before, const ClaimRequest& request, Time at);

/// The names and values of the fields in which they differ; empty: in none.
std::string difference(const Header& a, const Header& b);
std::string difference(const Record& a, const Record& b);

/// A task that is `queued` and otherwise as odd as a header may be.
Header random_queued(Rng& rng, const Uuid& id, Time now);

}  // namespace holdfast::stores::conformance
