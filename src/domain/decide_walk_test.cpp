// Walks everything that can ever happen to a task: from each kind of submission, every command in
// every state that can be reached, until nothing new turns up.
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <set>

#include "domain/decide.h"
#include "domain/draft.h"
#include "domain/sample_tasks.h"

namespace holdfast::domain {
namespace {

using namespace samples;

struct Seen {
    Record record;
    Time now;
};

struct Walk {
    std::vector<Seen> visited;
    std::set<std::tuple<State, Event, State>> steps;
    std::set<std::pair<State, std::size_t>> pairs;  ///< (state, command)
    std::map<Refusal, std::size_t> refusals;
};

/// Two records with the same answer have nothing new to tell: numbers that only grow are left out.
std::string likeness(const Header& h, Time now) {
    std::string key = std::string(to_string(h.state)) + '|' + std::string(to_string(h.ended_by));
    for (const bool flag :
         {h.pause_requested, h.cancel_requested, h.until_signal, h.signal_pending, h.holds_gate,
          h.holds_queue_permit, h.attempt > 0, is_set(h.due_at), h.due_at > now, is_set(h.deadline),
          h.deadline > now, is_set(h.lease_until), h.lease_until > now})
        key += flag ? '1' : '0';
    return key + std::to_string(h.retry_count) + std::to_string(h.crashes) + h.policy;
}

std::vector<Command> commands_for(const Record& record, Time now) {
    const Fence right = record.header.fence();
    const Fence late{right.attempt == 0 ? 0 : right.attempt - 1, right.epoch};
    const Fence other{right.attempt, Epoch{static_cast<std::int64_t>(right.epoch) - 1}};
    const Json data = Json::quoted("data");
    std::vector<Command> all{Tick{},
                             Signal{"s-1", data},
                             Pause{{"ann", "why"}},
                             Cancel{{"ann", ""}},
                             Discard{},
                             Resume{},
                             Resume{{"ann", "fixed"}, data}};
    for (const State to : {State::running, State::dispatched}) {
        Claim c = claim(record, to, now);
        c.takes_gate = record.header.gate_limit > 0;
        c.takes_queue_permit = to == State::running;
        all.emplace_back(c);
    }
    for (const Fence fence : {late, other}) {
        all.insert(all.end(),
                   {Accept{fence}, Start{fence}, Complete{fence, data}, Fail{fence, {}, {}},
                    Yield{fence, {}, false}, Checkpoint{fence, "stage-1", data, false}});
    }
    all.insert(all.end(), {Accept{right}, Start{right}, Complete{right, data}});
    for (const auto kind : {ErrorKind::transient, ErrorKind::permanent, ErrorKind::dependency_down})
        all.emplace_back(Fail{right, {kind, "broken", "stack", "E1"}, {}});
    for (const bool flag : {false, true}) {
        all.emplace_back(Yield{right, {}, flag});
        all.emplace_back(Yield{right, 10s, flag});
        all.emplace_back(Checkpoint{right, "stage-1", data, flag});
    }
    return all;
}

std::vector<Submission> all_submissions() {
    std::vector<Submission> all;
    for (unsigned bits = 0; bits < 16; ++bits) {
        Submission s = submission();
        s.policy.max = 2;
        s.policy.poison = 2;
        if ((bits & 1U) != 0) s.policy.on_exhausted = Ending::fail;
        if ((bits & 2U) != 0) s.policy.on_timeout = Ending::fail;
        if ((bits & 4U) != 0) s.policy.on_outage = OnOutage::hold;
        if ((bits & 8U) != 0) {
            s.policy.timeout = 1h;
            s.delay = 10min;
            s.gate = "printer";
            s.gate_limit = 1;
        }
        all.push_back(std::move(s));
    }
    return all;
}

using Check = std::function<void(const Record& before, const Command&, Time, const Decision&)>;

Walk walk(const Check& check) {
    Walk walk;
    std::set<std::string> known;
    std::deque<Seen> open;
    const auto visit = [&](Record record, Time now) {
        if (known.insert(likeness(record.header, now)).second)
            open.push_back({std::move(record), now});
    };
    visit({}, kNow);
    for (const Submission& s : all_submissions()) {
        const Record fresh = submitted(s);
        walk.steps.emplace(State::none, Event::submitted, fresh.header.state);
        visit(fresh, kNow);
    }
    while (!open.empty() && !::testing::Test::HasFailure()) {  // one counterexample is enough
        const Seen here = open.front();
        open.pop_front();
        walk.visited.push_back(here);
        EXPECT_LT(walk.visited.size(), 50'000U) << "a count grows without end";
        const Time soon = here.now + 1s;
        for (const Time now : std::set{soon, std::max(soon, here.record.header.wake_at)}) {
            for (const Command& command : commands_for(here.record, now)) {
                const Decision decision = decide(here.record, command, now);
                walk.pairs.emplace(here.record.header.state, command.index());
                check(here.record, command, now, decision);
                if (!decision) {
                    ++walk.refusals[decision.error()];
                    continue;
                }
                const Transition& t = decision->puts.front().transition;
                walk.steps.emplace(t.from, t.event, t.to);
                visit(applied(here.record, *decision), now);
            }
        }
    }
    return walk;
}

const Walk& whole_walk() {
    static const Walk once = walk([](const Record&, const Command&, Time, const Decision&) {});
    return once;
}

TEST(DecideWalk, every_state_meets_every_command_and_is_answered) {
    std::set<std::pair<State, std::size_t>> expected;
    for (std::size_t s = 0; s < kStates; ++s) {
        for (std::size_t c = 0; c < std::variant_size_v<Command>; ++c)
            expected.emplace(static_cast<State>(s), c);
    }
    EXPECT_EQ(whole_walk().pairs, expected);
    EXPECT_EQ(whole_walk().refusals.size(), 5U) << "every refusal but too_many is heard";
    EXPECT_GT(whole_walk().visited.size(), 5000U);
}

TEST(DecideWalk, the_steps_taken_are_exactly_the_rows_of_the_lifecycle) {
    std::set<std::tuple<State, Event, State>> table;
    for (const Step& step : kLifecycle) table.emplace(step.from, step.event, step.to);
    const auto names = [](const auto& steps) {
        std::set<std::string> out;
        for (const auto& [from, event, to] : steps)
            out.insert(std::string(to_string(from)) + " " + std::string(to_string(event)) + " " +
                       std::string(to_string(to)));
        return out;
    };
    EXPECT_EQ(names(whole_walk().steps), names(table));
}

TEST(DecideWalk, what_does_not_exist_is_not_found) {
    for (const Command& command : commands_for({}, kNow)) {
        const Decision decision = decide({}, command, kNow);
        ASSERT_FALSE(decision) << command.index();
        EXPECT_EQ(decision.error(), Refusal::not_found) << command.index();
    }
}

TEST(DecideWalk, the_same_question_has_the_same_answer) {
    walk([](const Record& before, const Command& command, Time now, const Decision& first) {
        const Decision second = decide(before, command, now);
        ASSERT_EQ(first.has_value(), second.has_value());
        if (!first) {
            ASSERT_EQ(first.error(), second.error());
            return;
        }
        ASSERT_EQ(first->puts.front().header, second->puts.front().header);
        ASSERT_EQ(first->puts.front().transition, second->puts.front().transition);
        ASSERT_EQ(first->puts.front().outcome, second->puts.front().outcome);
        ASSERT_EQ(first->appends.size(), second->appends.size());
        ASSERT_EQ(first->permits.size(), second->permits.size());
    });
}

// ---- what holds after every step ----

void expect_one_step(const Record& before, Time now, const Change& change) {
    const Header& was = before.header;
    const Put& put = change.puts.front();
    const Header& is = put.header;
    const Transition& t = put.transition;
    ASSERT_EQ(change.puts.size(), 1U);
    ASSERT_EQ(change.partition, was.id.partition());
    ASSERT_EQ(put.expected_version, was.version);
    ASSERT_EQ(put.expected_epoch, was.epoch);
    ASSERT_EQ(put.expected_nonce, was.nonce);
    ASSERT_EQ(is.version, was.version + 1);
    ASSERT_EQ(is.updated_at, now);
    ASSERT_EQ(t.from, was.state);
    ASSERT_EQ(t.to, is.state);
    ASSERT_EQ(t.at, now);
    ASSERT_EQ(t.attempt, is.attempt);
    ASSERT_TRUE(is_allowed({t.from, t.event, t.to}));
    ASSERT_TRUE(put.audit);
    ASSERT_FALSE(put.erase);
    ASSERT_EQ(
        std::tie(is.id, is.kind, is.type, is.queue, is.tenant, is.priority, is.gate, is.policy),
        std::tie(was.id, was.kind, was.type, was.queue, was.tenant, was.priority, was.gate,
                 was.policy));
    ASSERT_EQ(is.created_at, was.created_at);
    const bool claimed = t.event == Event::claimed;
    ASSERT_EQ(is.attempt, was.attempt + (claimed ? 1 : 0));
    ASSERT_EQ(is.epoch > was.epoch, claimed);
    ASSERT_GE(is.epoch, was.epoch);
}

void expect_a_sound_header(const Header& h) {
    ASSERT_EQ(h.is_held(), is_set(h.lease_until));
    ASSERT_EQ(h.is_held(), h.lease_granted > Duration{0});
    ASSERT_EQ(h.is_held(), !h.worker.empty());
    ASSERT_EQ(is_final(h.state), is_set(h.finished_at));
    ASSERT_EQ(h.wake_at, wake_for(h));
    const bool has_wake_source =
        h.state == State::queued || is_set(h.wake_at) || is_parked(h.state) || is_final(h.state);
    ASSERT_TRUE(has_wake_source) << to_string(h.state);
    ASSERT_TRUE(is_set(h.due_at) || !is_timed(h.state));
    ASSERT_TRUE(!is_set(h.due_at) || is_timed(h.state) || h.state == State::paused);
    ASSERT_TRUE(!h.until_signal || h.state == State::waiting || h.state == State::paused);
    if (!h.is_held()) {
        ASSERT_FALSE(h.pause_requested || h.cancel_requested || h.signal_pending);
        ASSERT_FALSE(h.holds_gate || h.holds_queue_permit);
    }
    if (is_parked(h.state) || is_final(h.state)) ASSERT_FALSE(is_set(h.wake_at));
}

void expect_permits_to_follow_the_holder(const Header& was, const Change& change) {
    const Header& is = change.puts.front().header;
    std::set<std::string> expected;
    if (was.is_held() && !is.is_held()) {
        if (was.holds_gate) expected.insert(was.gate);
        if (was.holds_queue_permit) expected.insert(queue_permit(was.queue));
    }
    std::set<std::string> released;
    for (const Permit& p : change.permits) {
        ASSERT_EQ(p.act, Permit::Act::release);
        ASSERT_EQ(p.holder, was.id);
        ASSERT_EQ(p.epoch, was.epoch);
        ASSERT_TRUE(released.insert(p.key).second) << "released twice";
    }
    ASSERT_EQ(released, expected);
}

TEST(DecideWalk, every_step_leaves_a_sound_header_and_gives_back_what_its_holder_held) {
    walk([](const Record& before, const Command&, Time now, const Decision& decision) {
        if (!decision) return;
        expect_one_step(before, now, *decision);
        expect_a_sound_header(decision->puts.front().header);
        expect_permits_to_follow_the_holder(before.header, *decision);
    });
}

TEST(DecideWalk, nothing_ever_changes_a_finished_task) {
    walk([](const Record& before, const Command&, Time, const Decision& decision) {
        if (is_final(before.header.state)) ASSERT_FALSE(decision);
    });
}

TEST(DecideWalk, only_the_right_fence_speaks_for_a_task) {
    walk([](const Record& before, const Command& command, Time, const Decision& decision) {
        const auto fence_of = [](const auto& c) -> std::optional<Fence> {
            if constexpr (requires { c.fence; }) return c.fence;
            return std::nullopt;
        };
        const auto fence = std::visit(fence_of, command);
        if (!fence || before.header.state == State::none) return;
        if (*fence != before.header.fence()) {
            ASSERT_FALSE(decision);
            ASSERT_EQ(decision.error(), Refusal::stale_lease);
        } else if (!before.header.is_held()) {
            ASSERT_FALSE(decision);
        }
    });
}

TEST(DecideWalk, a_timer_that_rang_has_always_something_to_do) {
    walk([](const Record& before, const Command& command, Time now, const Decision& decision) {
        if (!std::holds_alternative<Tick>(command)) return;
        const bool rang = is_set(before.header.wake_at) && before.header.wake_at <= now;
        ASSERT_EQ(decision.has_value(), rang) << to_string(before.header.state);
    });
}

TEST(DecideWalk, only_the_end_of_a_lease_gives_way_to_a_renewal_that_came_between) {
    walk([](const Record&, const Command&, Time now, const Decision& decision) {
        if (!decision) return;
        const Put& put = decision->puts.front();
        const bool lease_ended = put.header.ended_by == Event::lease_ended &&
                                 put.transition.error.view().contains("\"crash\"");
        ASSERT_EQ(put.unless_renewed_past, lease_ended ? now : kNoTime);
    });
}

TEST(DecideWalk, claiming_is_stamping_and_nothing_else) {
    walk([](const Record& before, const Command& command, Time now, const Decision& decision) {
        const auto* c = std::get_if<Claim>(&command);
        if (c == nullptr || !decision) return;
        Header stamped = before.header;
        stamp_claim(stamped, *c, now);
        ASSERT_EQ(decision->puts.front().header, stamped);
        ASSERT_EQ(decision->puts.front().transition,
                  claim_transition(stamped, before.header.state));
        ASSERT_FALSE(decision->puts.front().body || decision->puts.front().outcome);
        ASSERT_TRUE(decision->appends.empty() && decision->permits.empty());
    });
}

}  // namespace
}  // namespace holdfast::domain
