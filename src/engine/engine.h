// The use cases: what anybody may do with tasks. Each reads, decides (domain) and commits (store); none holds
// a rule of its own. One executor, no locks: call it, and be answered, on the executor it was made with.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "base/uuid.h"
#include "coordination/coordination.h"
#include "domain/decide.h"
#include "domain/explain.h"
#include "engine/admission.h"
#include "engine/calls.h"
#include "engine/ports/witness.h"
#include "engine/queues.h"
#include "engine/search.h"
#include "engine/waiters.h"
#include "stores/store.h"

namespace holdfast::engine {

struct Options {
    /// Without any hint, whoever waits looks again this often.
    Duration poll_interval = std::chrono::milliseconds{500};
    /// A queue that was paused elsewhere hands nothing out here after this.
    Duration settings_fresh_for = std::chrono::milliseconds{500};
    std::size_t most_waiters = 10'000;
    std::size_t most_held =
        100'000;  ///< Headers of claimed tasks kept, so that completing needs no load.
    std::size_t most_in_flight =
        65'536;              ///< Changes being committed; beyond it submits are shed first.
    std::uint64_t seed = 0;  ///< Of ids and nonces; 0: from the system.
};

template <class T>
using Each = std::vector<Result<T>>;  ///< One answer per item, in order.

class Engine {
  public:
    Engine(stores::Store& store, Clock& clock, asio::any_io_executor executor,
           Options options = {});

    // ---- producers ----
    Async<Each<Receipt>> submit(std::vector<domain::Submission> submissions);
    /// With `wait`: answers when the task is finished, or as it is when the time is over.
    Async<Result<domain::Record>> get(TaskId id, Duration wait = Duration{0});
    Async<Result<Done>> signal(TaskId id, std::string signal_id, Json data, By by = {});

    // ---- workers ----
    /// Cancelled while it waits, it answers with nothing; with what it has when it is past that.
    Async<Result<std::vector<ClaimedTask>>> claim(ClaimCall call);
    Async<Each<Done>> accept(std::vector<Ack> items);
    Async<Each<Done>> start(std::vector<Ack> items);
    Async<Each<Done>> complete(std::vector<Completion> items);
    Async<Each<Done>> fail(std::vector<FailureReport> items);
    Async<Each<Done>> yield(std::vector<GivingBack> items);
    /// Done.state tells: running (ok), paused, cancelled.
    Async<Each<Done>> checkpoint(std::vector<StageDone> items);
    Async<Each<Beat>> heartbeat(std::vector<Heartbeat> items);

    // ---- operators ----
    Async<Result<Done>> pause(TaskId id, By by);
    Async<Result<Done>> resume(TaskId id, By by, std::optional<Json> payload = std::nullopt);
    /// A running task answers with cancel_requested; it is cancelled at its next step.
    Async<Result<Done>> cancel(TaskId id, By by);
    Async<Result<Done>> discard(TaskId id, By by);
    /// The same act on each of these; with `only`, on those that are in this state.
    Async<Each<Done>> act(BulkAction action, std::vector<TaskId> ids, By by,
                          State only = State::none);
    Async<Result<BulkReport>> bulk(BulkRequest request);
    /// The same on these; with `dry_run` only what would come of it.
    Async<Result<BulkReport>> bulk_ids(BulkAction action, std::vector<TaskId> ids, By by,
                                       bool dry_run = false, State only = State::none);
    Async<Result<BulkReport>> bulk_report(Uuid bulk_id);
    /// The newest jobs, at most a hundred.
    Async<Result<std::vector<BulkView>>> bulk_jobs();
    enum class BulkControl : std::uint8_t { pause, resume, stop };
    Async<Result<BulkReport>> control_bulk(Uuid bulk_id, BulkControl control, By by);

    /// What operators did, newest first.
    Async<Result<AuditPage>> audit(AuditFilter filter, std::string cursor = {},
                                   std::size_t limit = 100);
    /// Writes down an act that has no commit of its own; before it is done, so that none is without trace.
    Async<Result<>> note_act(domain::Act act);
    /// Removes what is older, and what is beyond kMostAudit. Returns how many went.
    Async<Result<std::size_t>> trim_audit(Time before);

    Async<Result<QueueSettings>> queue(std::string name);
    /// Every queue that has tasks, or that an operator has touched, by name.
    Async<Result<std::vector<QueueOverview>>> queues();
    Async<Result<QueueSettings>> pause_queue(std::string name, By by);
    Async<Result<QueueSettings>> resume_queue(std::string name, By by);
    Async<Result<QueueSettings>> close_queue(std::string name, By by);
    Async<Result<QueueSettings>> open_queue(std::string name, By by);
    Async<Result<QueueSettings>> limit_queue(std::string name, std::uint32_t concurrency,
                                             double rate, By by);
    Async<Result<QueueSettings>> set_lanes_by_type(std::string name, bool on, By by);

    // ---- readers ----
    /// The tasks that there are of these, whole.
    Async<Result<std::vector<domain::Record>>> get_all(std::vector<TaskId> ids);
    Async<Result<std::vector<domain::Transition>>> history(TaskId id);
    Async<Result<domain::Explanation>> explain(TaskId id);
    /// What a resume with a new payload replaced, oldest first: whole bodies.
    Async<Result<std::vector<stores::LogEntry>>> revisions(TaskId id);
    /// Newest first. A page that is not complete has a cursor, and perhaps no rows: go on from there.
    Async<Result<stores::Page>> list(Search search, std::string cursor = {},
                                     std::size_t limit = 100);
    /// How many there are of each state, queue, type and tenant.
    Async<Result<Facets>> facets(Search search);
    /// What went wrong with those that match, by kind: the group with most unfinished tasks first.
    Async<Result<Failures>> failures(Search search, std::size_t limit = 50);
    Async<Result<FailureGroup>> failure(std::uint64_t fingerprint);
    Async<Result<stores::Stats>> stats();
    Async<Result<stores::FeedPage>> feed(std::string cursor, std::size_t limit = 1000);

    // ---- time: called by the services (engine/services.h) ----
    /// Does what is due, at most `limit` records; returns how many there were.
    Async<Result<std::size_t>> tick(std::size_t limit);
    /// Who acts when the timer of a record of another kind rings (plans, schedules, deliveries).
    using DueHandler = std::function<Async<void>(domain::Record)>;
    void on_due(domain::Kind kind, DueHandler handler) { due_handlers_[kind] = std::move(handler); }
    /// Samples the store's clock: `now()` follows it.
    Async<Result<>> sync_clock();
    Time now() const { return clock_.now() + offset_; }

    /// Is told of what this engine does from now on; none: nobody.
    void set_witness(Witness* witness) { witness_ = witness; }

    // ---- other instances on the same store: hints only, see neighbours.cpp ----
    /// Told of what they may be waiting for; none: this instance is alone, and pays nothing.
    void set_neighbours(coordination::Coordination* neighbours) { neighbours_ = neighbours; }
    /// What another instance tells.
    void heard(const coordination::Hint& hint);
    /// Who is told that a task that somebody runs shall be cancelled or paused, here or by another instance. The
    /// answer to a heartbeat says it in any case.
    using RequestHandler = std::function<void(const TaskId& id, bool cancel, bool pause)>;
    void on_request(RequestHandler act) { on_request_ = std::move(act); }

    Clock& clock() { return clock_; }
    stores::Store& store() { return store_; }
    const asio::any_io_executor& executor() const { return executor_; }
    std::size_t waiting() const { return waiters_.size(); }

  private:
    struct Ask {
        TaskId id;
        domain::Command command;
        std::shared_ptr<const domain::Act> act = nullptr;  ///< Goes into the same Change.
    };
    struct Pending;
    struct Trace;

    /// The heart: loads what is not at hand, decides, commits; after a conflict or a lost reply again, at most
    /// three times. `known` are records that were just read, in the order of `asks`; `at` is the time to decide
    /// by, if not now.
    Async<Each<Done>> step(std::vector<Ask> asks, std::vector<domain::Record> known = {},
                           Time at = kNoTime);
    Async<Result<Done>> step_one(Ask ask);
    std::vector<Pending> begin(std::vector<Ask>& asks, std::vector<domain::Record>& known);
    static std::vector<domain::Key> missing(const std::vector<Pending>& pending);
    static void fill(std::vector<Pending>& pending,
                     std::vector<std::optional<domain::Record>> records);
    std::vector<domain::Change> decide_all(std::vector<Pending>& pending,
                                           std::vector<Pending>& unsure, Time at,
                                           Each<Done>& answers);
    void settle(std::vector<Pending>& pending, std::vector<Trace>& traces,
                const std::vector<stores::Outcome>& outcomes, Each<Done>& answers);
    static bool settle_duplicate(Pending& pending, Each<Done>& answers);

    Async<Each<Receipt>> with_states(Each<Receipt> answers);
    Async<Result<std::vector<ClaimedTask>>> claim_or_wait(ClaimCall call);
    Async<Result<stores::ClaimRequest>> claim_request(ClaimCall call);
    Async<Result<std::vector<ClaimedTask>>> with_logs(std::vector<domain::Record> records);
    Async<Result<stores::Page>> find(Search search, std::string cursor, std::size_t limit,
                                     std::size_t budget);
    Async<Result<stores::Page>> find_ids(Search search);
    Async<Result<stores::Page>> find_in_bodies(Search search, std::string cursor, std::size_t limit,
                                               std::size_t budget);
    Async<Result<std::vector<stores::ListRow>>> sifted(Search search, stores::Page page);
    struct Scanned {
        std::size_t scanned = 0;
        bool complete = true;
    };
    using Visit = std::function<void(const domain::Header&)>;
    /// Shows `visit` what matches, as far as the budget of a list goes.
    Async<Result<Scanned>> scan(Search search, Visit visit);
    /// A task that failed, some time between two moments that its header tells.
    struct Suspect {
        domain::Key key;
        Time from, until;
    };
    static Suspect suspect(const domain::Header& header);
    /// The tasks of one group, newest first, as far as they were looked at.
    struct GroupTasks {
        domain::Header sample;  ///< The newest.
        std::vector<Suspect> tasks;
        std::set<std::string> tenants;
        bool is_all = false;

        void add(const domain::Header& header);
    };
    /// What may still be looked at for groups, and at how much was.
    struct FailureLook {
        std::size_t headers = stores::kListBudget;  ///< For first failures.
        std::size_t samples = stores::kListBudget;
        std::size_t histories = 1'000;
        std::size_t scanned = 0;
    };
    Async<Result<std::map<std::uint64_t, GroupTasks>>> walk(std::vector<FailureGroup> groups,
                                                            Search search, FailureLook* look);
    Async<Result<GroupTasks>> tasks_of(FailureGroup group, Search search, GroupTasks known,
                                       FailureLook* look);
    Async<Result<FailureGroup>> with_sample(FailureGroup group, Search search, GroupTasks known,
                                            FailureLook* look);
    Async<Result<FailureGroup>> with_times(FailureGroup group, std::vector<Suspect> tasks,
                                           bool is_all, FailureLook* look);
    Async<Result<FailureGroup>> with_history(FailureGroup group, domain::Key key);
    Async<Result<FailureGroup>> with_error(FailureGroup group, domain::Key sample);
    struct BulkJob;
    Async<Result<BulkJob>> bulk_page(BulkJob job, std::size_t most);
    Async<void> run_bulk(domain::Record record);
    Async<Result<>> save_bulk(BulkJob job, domain::Event event, By by,
                              std::optional<domain::Act> act = std::nullopt);
    domain::Put audited(const domain::Act& act, Partition partition, Time at);
    static std::shared_ptr<const domain::Act> act_on(const TaskId& id, std::string_view verb, By by,
                                                     Json detail = {});
    Async<Result<BulkJob>> load_bulk(Uuid bulk_id);
    Async<Result<QueueSettings>> edit_queue(std::string name, std::string_view verb,
                                            Queues::Edit edit, domain::Event event, By by,
                                            Json detail = {});

    void announce(const domain::Header& header);
    void announce_work(const std::string& queue, std::uint32_t tasks);
    void announce_request(const domain::Header& header);
    void tell(const Trace& trace);
    void hold(const domain::Header& header);

    stores::Store& store_;
    Clock& clock_;
    asio::any_io_executor executor_;
    Options options_;
    Rng rng_;
    UuidMint mint_;
    Duration offset_{0};
    Queues queues_;
    Waiters waiters_;
    boost::unordered_flat_map<TaskId, domain::Header, UuidHash> held_;
    std::map<domain::Kind, DueHandler> due_handlers_;
    std::size_t in_flight_ = 0;
    Admission admission_;
    Witness* witness_ = nullptr;
    coordination::Coordination* neighbours_ = nullptr;
    RequestHandler on_request_;
};

}  // namespace holdfast::engine
