#include "stores/conformance/walk.h"

#include "domain/decide.h"

namespace holdfast::stores::conformance {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 2> kQueues{"free", "narrow"};
constexpr std::uint32_t kNarrow = 3;  // the concurrency of the second
constexpr std::size_t kOldVersions = 16;

std::uint32_t limit_of(std::string_view gate) {
    return gate == "one" ? 1 : 2;
}

/// P34: where the same fence holds it before and after, what a renewal brought stays.
void keep_renewal(const Header& old, Header& put) {
    if (!old.is_held() || !put.is_held() || old.fence() != put.fence()) return;
    put.lease_until = std::max(put.lease_until, old.lease_until);
    put.progress = old.progress;
    put.note = old.note;
    put.wake_at = domain::wake_for(put);
}

ClaimRequest request_for(Rng& rng, bool permits) {
    ClaimRequest request;
    for (const std::string_view name : kQueues) {
        if (request.queues.empty() || rng.chance(0.7)) {
            ClaimQueue& queue = request.queues.emplace_back();
            queue.name = name;
            queue.concurrency = permits && name == "narrow" ? kNarrow : 0;
        }
    }
    request.worker = "worker-" + std::to_string(rng.below(3));
    request.to = rng.chance(0.7) ? State::running : State::dispatched;
    request.max = static_cast<std::uint32_t>(1 + rng.below(4));
    return request;
}

}  // namespace

void Walk::step() {
    struct Action {
        void (Walk::*act)();
        std::uint64_t weight;
        const char* name;
    };
    constexpr std::array kActions{
        Action{&Walk::submit, 5, "submit"},
        Action{&Walk::claim, 5, "claim"},
        Action{&Walk::act_as_holder, 8, "act_as_holder"},
        Action{&Walk::act_as_operator, 4, "act_as_operator"},
        Action{&Walk::act_on_an_old_version, 1, "act_on_an_old_version"},
        Action{&Walk::renew, 1, "renew"},
        Action{&Walk::let_time_pass, 3, "let_time_pass"},
    };
    std::uint64_t total = 0;
    for (const Action& action : kActions) total += action.weight;
    std::uint64_t chosen = rng_.below(total);
    for (const Action& action : kActions) {
        if (chosen < action.weight) {
            SCOPED_TRACE(action.name);
            touched_.clear();
            (this->*action.act)();
            return check();
        }
        chosen -= action.weight;
    }
}

// ---- actions ----

void Walk::submit() {
    domain::Submission s =
        new_task(std::string(kQueues[rng_.below(2)]), rng_.chance(0.5) ? "render" : "index");
    s.priority = static_cast<std::uint8_t>(4 + rng_.below(3));
    if (suite_.can(Ability::permits) && rng_.chance(0.4)) {
        s.gate = rng_.chance(0.5) ? "one" : "two";
        s.gate_limit = limit_of(s.gate);
    }
    if (rng_.chance(0.2)) s.delay = Duration{static_cast<std::int64_t>(rng_.below(20'000'000))};
    if (rng_.chance(0.2)) s.policy.timeout = 30s;
    if (rng_.chance(0.3)) s.policy.on_exhausted = domain::Ending::fail;
    if (rng_.chance(0.3)) s.lease = 5s;
    commit(suite_.decided(s));
}

void Walk::claim() {
    const ClaimRequest request = request_for(rng_, suite_.can(Ability::permits));
    const std::vector<Record> claimed = suite_.claim(request);
    EXPECT_LE(claimed.size(), request.max);
    std::map<std::string, std::uint8_t> lowest;  // priority taken, by queue
    for (const Record& record : claimed) {
        const Header& h = record.header;
        auto& of_queue = lowest.try_emplace(h.queue, h.priority).first->second;
        of_queue = std::min(of_queue, h.priority);
        take_claimed(record, request);
    }
    check_left_behind(request, claimed.size(), lowest);
}

void Walk::act_as_holder() {
    const Known* held = pick([](const Header& h) { return h.is_held(); });
    if (held == nullptr) return;
    const bool stale = held->before_renewal && rng_.chance(0.7);
    decide_and_commit(stale ? *held->before_renewal : held->record,
                      random_call(held->record.header));
}

domain::Command Walk::random_call(const Header& held) {
    using namespace domain;
    const Fence fence = held.fence();
    const auto kind = static_cast<ErrorKind>(rng_.below(4));
    switch (rng_.below(8)) {
        case 0:
        case 1:
            return Complete{fence, Json::quoted("result")};
        case 2:
            return Fail{fence, {kind, rng_.chance(0.5) ? "broken" : "lost", {}, {}}, std::nullopt};
        case 3:
            return Yield{fence, std::nullopt, false};
        case 4:
            return Yield{fence, rng_.chance(0.5) ? std::optional<Duration>(3s) : std::nullopt,
                         rng_.chance(0.5)};
        case 5:
            return Checkpoint{fence, "stage-" + std::to_string(rng_.below(3)), {}, false};
        case 6:
            return Accept{fence};
        default:
            return Start{fence};
    }
}

void Walk::act_as_operator() {
    using namespace domain;
    const Known* task = pick([](const Header&) { return true; });
    if (task == nullptr) return;
    const Uuid id = task->record.header.id;
    const By by{"ann", "because"};
    switch (rng_.below(8)) {
        case 0:
        case 1:
            return commit(id, Pause{by});
        case 2:
        case 3:
        case 4:
            return commit(id, Resume{by, rng_.chance(0.3) ? std::optional(Json::quoted("new"))
                                                          : std::nullopt});
        case 5:
            return commit(id, Cancel{by});
        case 6:
            return commit(id, Discard{by});
        default:
            return commit(id, Signal{"signal-" + std::to_string(rng_.below(3)), {}});
    }
}

void Walk::act_on_an_old_version() {
    if (old_versions_.empty()) return;
    const Record& old = old_versions_[rng_.below(old_versions_.size())];
    auto decision = domain::decide(old, domain::Cancel{}, suite_.now());
    if (!decision) return;
    const bool is_current = known_.at(old.header.id).record.header.version == old.header.version;
    if (!is_current) EXPECT_EQ(suite_.verdict(*std::move(decision)), Verdict::conflict);
}

void Walk::renew() {
    Known* held = pick([](const Header& h) { return h.is_held(); });
    if (held == nullptr) return;
    Header& h = held->record.header;
    Renewal renewal{h.id, h.fence(), 20s, 0.5F, "half"};
    const bool stale = rng_.chance(0.3);
    if (stale) --renewal.fence.attempt;
    const Renewed answer = suite_.ask(suite_.store().renew({renewal})).at(0);
    EXPECT_EQ(answer.held, !stale);
    if (stale) return;
    EXPECT_EQ(answer.cancel_requested, h.cancel_requested);
    EXPECT_EQ(answer.pause_requested, h.pause_requested);
    EXPECT_GE(answer.lease_until, h.lease_until);
    held->before_renewal = held->record;
    domain::stamp_renewal(h, Duration{0}, answer.lease_until);
    h.progress = 0.5F;
    h.note = "half";
}

void Walk::let_time_pass() {
    const Duration longest = suite_.can(Ability::time_control) ? 15s : 20ms;
    suite_.pass(Duration{
        static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(longest.count())))});
    tick_what_is_due();
}

void Walk::finish() {
    const auto open = [](const auto& entry) {
        const State state = entry.second.record.header.state;
        return !domain::is_final(state) && !domain::is_parked(state);
    };
    for (int round = 0; round < 100 && std::ranges::any_of(known_, open); ++round) {
        touched_.clear();
        suite_.pass(std::chrono::days{1});
        tick_what_is_due();
        ClaimRequest request = request_for(rng_, suite_.can(Ability::permits));
        request.max = 100;
        for (const Record& record : suite_.claim(request)) {
            take_claimed(record, request);
            commit(record.header.id, domain::Complete{record.header.fence(), {}});
        }
        check();
    }
    EXPECT_TRUE(std::ranges::none_of(known_, open)) << "a task is stuck";
}

void Walk::tick_what_is_due() {
    const Time before = suite_.now();
    std::set<Uuid> missing;
    for (const auto& [id, known] : known_) {
        const Time wake = known.record.header.wake_at;
        if (is_set(wake) && wake <= before) missing.insert(id);
    }
    for (const Record& rung : suite_.due(10'000)) {
        Known& known = known_.at(rung.header.id);
        Header expected = known.record.header;
        EXPECT_LE(expected.wake_at, suite_.now()) << "it rang too early";
        EXPECT_GE(rung.header.wake_at, before + kDuePush);
        EXPECT_LE(rung.header.wake_at, suite_.now() + kDuePush);
        expected.wake_at = rung.header.wake_at;
        EXPECT_EQ(difference(rung.header, expected), "");
        missing.erase(rung.header.id);
        known.record.header = expected;
        if (rng_.chance(0.9)) commit(rung.header.id, domain::Tick{});
    }
    EXPECT_TRUE(missing.empty()) << "a timer was forgotten";
}

// ---- what the backend is told, and what the model makes of it ----

void Walk::decide_and_commit(const Record& record, const domain::Command& command) {
    auto decision = domain::decide(record, command, suite_.now());
    if (decision) commit(*std::move(decision));
}

void Walk::commit(Change change) {
    change.nonce = rng_();
    bool repeats = false;
    for (const domain::Append& a : change.appends) {
        if (a.existing == domain::Append::Existing::refuse &&
            appended_.contains({a.log, a.owner, a.unique_key}))
            repeats = true;
    }
    if (!change.appends.empty() && !suite_.can(Ability::logs)) return;
    const Verdict verdict = suite_.verdict(change);
    EXPECT_EQ(verdict, repeats ? Verdict::duplicate : Verdict::committed);
    if (verdict != Verdict::committed) return;
    for (const domain::Append& a : change.appends) appended_.insert({a.log, a.owner, a.unique_key});
    for (const domain::Put& put : change.puts) take(put, change.nonce);
}

void Walk::take(const domain::Put& put, std::uint64_t nonce) {
    Known& known = known_[put.header.id];
    if (put.expected_version != 0) {
        if (old_versions_.size() >= kOldVersions) old_versions_.erase(old_versions_.begin());
        old_versions_.push_back(known.record);
    }
    const Header old = std::exchange(known.record.header, put.header);
    known.record.header.nonce = nonce;
    keep_renewal(old, known.record.header);
    known.before_renewal.reset();
    if (put.body) known.record.body = *put.body;
    if (put.outcome) known.record.outcome = *put.outcome;
    if (put.audit) known.history.push_back(put.transition);
    known.events.push_back(event_of(put.header, put.transition));
    touched_.insert(put.header.id);
}

void Walk::take_claimed(const Record& claimed, const ClaimRequest& request) {
    Known& known = known_.at(claimed.header.id);
    EXPECT_GT(claimed.header.epoch, known.record.header.epoch);
    const domain::Put put = claim_put(known.record, request, claimed.header.updated_at);
    take(put, 0);
    EXPECT_EQ(difference(claimed, known.record), "");
}

/// Whoever is still queued and not blocked was left there because enough were taken, none from its
/// queue of a lower priority.
void Walk::check_left_behind(const ClaimRequest& request, std::size_t claimed,
                             const std::map<std::string, std::uint8_t>& lowest_taken) {
    for (const auto& [id, known] : known_) {
        const Header& h = known.record.header;
        const bool asked_for =
            std::ranges::find(request.queues, h.queue, &ClaimQueue::name) != request.queues.end();
        if (h.state != State::queued || !asked_for || is_blocked(h, request)) continue;
        EXPECT_EQ(claimed, request.max) << id.text() << " was left behind";
        const auto lowest = lowest_taken.find(h.queue);
        if (lowest == lowest_taken.end()) continue;
        EXPECT_LE(h.priority, lowest->second) << id.text() << " had to go first";
    }
}

bool Walk::is_blocked(const Header& queued, const ClaimRequest& request) const {
    if (queued.gate_limit > 0 &&
        holders(&Header::gate, &Header::holds_gate, queued.gate) >= queued.gate_limit)
        return true;
    const auto queue = std::ranges::find(request.queues, queued.queue, &ClaimQueue::name);
    return queue->concurrency > 0 &&
           holders(&Header::queue, &Header::holds_queue_permit, queued.queue) >= queue->concurrency;
}

std::size_t Walk::holders(std::string Header::* name, bool Header::* holds,
                          const std::string& value) const {
    return static_cast<std::size_t>(std::ranges::count_if(known_, [&](const auto& entry) {
        const Header& h = entry.second.record.header;
        return h.*holds && h.*name == value;
    }));
}

Known* Walk::pick(bool (*wanted)(const Header&)) {
    std::vector<Known*> found;
    for (auto& [id, known] : known_) {
        if (wanted(known.record.header)) found.push_back(&known);
    }
    return found.empty() ? nullptr : found[rng_.below(found.size())];
}

}  // namespace holdfast::stores::conformance
