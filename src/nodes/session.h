// The worker stream's protocol as a state machine: what is heard goes in, what is to be done comes out.
// No sockets, no engine, no clock: the WorkerStream (nodes/nodes.h) obeys it.
//
//     before_hello ──hello──► serving ──drain, shut down──► draining ──nothing left──► closed
//          └───────────── lost, too many bad frames ──────────┴───────────────────────────┘
//
// What holds in every state:
//   - A task that was assigned occupies a slot until an outcome for it was answered, until the worker is told
//     that it lost it, or until its lease is over. Never more is claimed than slots are free.
//   - A lost connection leaves the leases alone: the worker may come back and say what it still runs. Only one
//     that said goodbye (`drain`) gives its tasks back, at once.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nodes/frames.h"
#include "nodes/ports/worker_json.h"

namespace holdfast::nodes {

inline constexpr std::uint32_t kMostBadFrames = 10;
inline constexpr Duration kHelloWithin = std::chrono::seconds{10};

using Request = std::variant<Complete, Fail, Yield, Checkpoint, Accept, Start, Renew>;

// ---- what is to be done ----

struct Send {
    std::string frame;
};
/// One call of the engine. Its answer goes to answered() or renewed(), with the same Ask.
struct Ask {
    Request request;
    std::vector<Ref> refs;  ///< Of the items, in their order.
    bool silent = false;    ///< The worker did not ask, so it is not answered.
};
/// Nothing is claimed any more: a claim that waits is to be ended.
struct EndClaims {};
struct Close {
    std::string_view reason;
};
using Action = std::variant<Send, Ask, EndClaims, Close>;
using Actions = std::vector<Action>;

struct SessionOptions {
    std::string instance;
    /// Told in `welcome` when the worker asked for none: what a task gets that has none of its own.
    Duration default_lease = std::chrono::seconds{30};
};

class Session {
  public:
    enum class State : std::uint8_t { before_hello, serving, draining, closed };

    Session(SessionOptions options, Time now)
        : options_(std::move(options)), hello_until_(now + kHelloWithin) {}

    // ---- what happened ----
    /// `now` as leases are measured: by the store's clock.
    Actions received(std::string_view text, Time now);
    /// `refs`: of the Ask that was answered.
    Actions answered(Of of, std::span<const Ref> refs, bool silent,
                     const engine::Each<engine::Done>& answers);
    Actions renewed(std::span<const Ref> refs, const engine::Each<engine::Beat>& answers);
    Actions claimed(const std::vector<engine::ClaimedTask>& tasks);
    /// A claim that can never work is told to the worker, once.
    Actions claim_failed(const Error& error);
    /// The connection is gone.
    Actions lost();
    /// The server stops: what is under way is answered, then it says bye.
    Actions shut_down();
    /// An operator wants this worker to come to an end.
    Actions drain();
    /// Somebody asked for a task to be cancelled or paused: told at once if this worker runs it. Else, and when this
    /// is missed, the answer to its next heartbeat says so.
    Actions requested(const domain::TaskId& id, bool cancel, bool pause);
    /// Says bye to one that never says hello.
    Actions time_is(Time now);

    // ---- what is so ----
    State state() const { return state_; }
    const Hello& hello() const { return hello_; }
    Time hello_until() const { return hello_until_; }
    std::size_t running() const { return running_.size(); }
    /// How many tasks may be claimed now: the free slots while it is serving.
    std::size_t wanted() const;

  private:
    struct Running {
        domain::Fence fence;
        Time lease_until;       ///< As far as we know.
        bool settling = false;  ///< An outcome for it is under way.
        bool cancel_told = false;
        bool pause_told = false;
    };
    enum class Leaving : std::uint8_t { no, worker_drains, operator_drains, shutting_down };

    void on(Hello hello, Actions& todo);
    void on(Renew renew, Actions& todo);
    void on(Drain drain, Actions& todo);
    void on(Partial, Actions&) {}
    template <class R>
    void on(R request, Actions& todo);

    void ask(Request request, std::vector<Ref> refs, Actions& todo, bool silent = false);
    void begin_leaving(Leaving why, Actions& todo);
    void give_back_all(Actions& todo);
    void bye_if_done(Actions& todo);
    void bye(std::string_view reason, Actions& todo);
    static void complain(const Error& error, Actions& todo);
    void refuse_frame(const Error& error, Actions& todo);
    void settle(Of of, const Ref& ref, const Result<engine::Done>& answer, Actions& todo);
    void tell_requests(Running& task, const Ref& ref, bool cancel, bool pause, Actions& todo);
    void forget_expired(Time now);
    Running* find(const Ref& ref);

    SessionOptions options_;
    Time hello_until_;
    Time next_sweep_;
    State state_ = State::before_hello;
    Leaving leaving_ = Leaving::no;
    Hello hello_;
    boost::unordered_flat_map<domain::TaskId, Running, UuidHash> running_;
    std::size_t unanswered_ = 0;  ///< Asks.
    std::uint32_t bad_frames_ = 0;
    bool said_goodbye_ = false;
    bool claim_complained_ = false;
};

}  // namespace holdfast::nodes
