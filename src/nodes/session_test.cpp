#include "nodes/session.h"

#include <gtest/gtest.h>

#include "testing/engine_fixture.h"

namespace holdfast::nodes {
namespace {

using namespace holdfast::testing;
using Is = Session::State;

TaskId task_id(std::uint64_t n) {
    return {0x0193'0000'0000'7000, 0x8000'0000'0000'0000 | n};
}
Ref ref(std::uint64_t n) {
    return {task_id(n), {1, domain::Epoch{100 + static_cast<std::int64_t>(n)}}};
}
std::string fields(const Ref& r) {
    std::string out;
    append_ref(out, r);
    return out;
}
std::string items(const std::vector<Ref>& refs, const std::string& more = {}) {
    std::string out = R"("items":[)";
    for (const Ref& r : refs) out += (out.back() == '[' ? "{" : ",{") + fields(r) + more + '}';
    return out + ']';
}

/// A session and all that it wanted, as words: "send welcome", "complete 2", "end claims", "close drained".
class SessionTest : public ::testing::Test {
  protected:
    Time now = ManualClock::kStart;
    Session session{{"here", 30s}, ManualClock::kStart};
    std::vector<std::string> sent;  ///< The frames.
    std::vector<Ask> asks;

    Lines words(Actions actions) {
        Lines lines;
        for (Action& action : actions) {
            if (auto* send = std::get_if<Send>(&action)) {
                const Json frame = json(send->frame);
                lines.push_back("send " + std::string(frame.value().at("op").as_string()));
                sent.push_back(send->frame);
            } else if (auto* ask = std::get_if<Ask>(&action)) {
                static constexpr std::string_view kNames[] = {
                    "complete", "fail", "yield", "checkpoint", "accept", "start", "renew"};
                lines.push_back(std::string(kNames[ask->request.index()]) + ' ' +
                                std::to_string(ask->refs.size()) +
                                (ask->silent ? " silently" : ""));
                asks.push_back(std::move(*ask));
            } else if (auto* close = std::get_if<Close>(&action)) {
                lines.push_back("close " + std::string(close->reason));
            } else {
                lines.emplace_back("end claims");
            }
        }
        return lines;
    }
    Lines says(const std::string& frame) { return words(session.received(frame, now)); }
    Lines hello(int slots = 4, const std::string& more = {}) {
        return says(R"({"op":"hello","worker":"w","queues":["q"],"slots":)" +
                    std::to_string(slots) + more + '}');
    }
    Lines gets(std::uint64_t from, std::uint64_t to) {
        std::vector<engine::ClaimedTask> tasks;
        for (std::uint64_t n = from; n <= to; ++n) {
            engine::ClaimedTask& task = tasks.emplace_back();
            task.record.header.id = ref(n).id;
            task.record.header.attempt = ref(n).fence.attempt;
            task.record.header.epoch = ref(n).fence.epoch;
            task.record.header.lease_until = now + 30s;
        }
        return words(session.claimed(tasks));
    }
    /// The engine answers the oldest call that is under way.
    Lines answered(Of of, const Result<engine::Done>& answer = engine::Done{State::succeeded}) {
        const Ask ask = std::move(asks.front());
        asks.erase(asks.begin());
        return words(session.answered(of, ask.refs, ask.silent,
                                      engine::Each<engine::Done>(ask.refs.size(), answer)));
    }
    Lines renewed(const Result<engine::Beat>& answer = engine::Beat{ManualClock::kStart}) {
        const Ask ask = std::move(asks.front());
        asks.erase(asks.begin());
        return words(
            session.renewed(ask.refs, engine::Each<engine::Beat>(ask.refs.size(), answer)));
    }
    /// Serving four slots, two of them taken.
    void serving() {
        hello();
        gets(1, 2);
        sent.clear();
    }
};

TEST_F(SessionTest, hello_is_answered_with_welcome_and_frees_all_slots) {
    EXPECT_EQ(session.wanted(), 0U);
    EXPECT_EQ(hello(), (Lines{"send welcome"}));
    EXPECT_EQ(sent.front(), R"({"op":"welcome","instance":"here","lease":"30s"})");
    EXPECT_EQ(session.state(), Is::serving);
    EXPECT_EQ(session.wanted(), 4U);
}

TEST_F(SessionTest, the_lease_that_was_asked_for_is_the_one_of_the_welcome) {
    hello(1, R"(,"lease":"2m","types":["t"],"acks":true,"labels":{"gpu":"a100"},"models":["m"])");
    EXPECT_EQ(sent.front(), R"({"op":"welcome","instance":"here","lease":"2m"})");
    EXPECT_EQ(session.hello().lease, 2min);
    EXPECT_TRUE(session.hello().acks);
    EXPECT_EQ(session.hello().types, (std::vector<std::string>{"t"}));
    EXPECT_EQ(session.hello().labels.at(0).second, "a100");
}

TEST_F(SessionTest, tasks_are_assigned_and_take_slots_until_their_outcome_was_answered) {
    hello();
    EXPECT_EQ(gets(1, 3), (Lines{"send assign"}));
    EXPECT_EQ(session.wanted(), 1U);
    EXPECT_EQ(says(R"({"op":"done",)" + items({ref(1), ref(2)}) + '}'), (Lines{"complete 2"}));
    EXPECT_EQ(session.wanted(), 1U) << "not before the answer";
    EXPECT_EQ(answered(Of::done), (Lines{"send outcome"}));
    EXPECT_EQ(sent.back(), R"({"op":"outcome","of":"done",)" +
                               items({ref(1), ref(2)}, R"(,"outcome":"ok")") + '}');
    EXPECT_EQ(session.wanted(), 3U);
}

TEST_F(SessionTest, a_large_batch_is_assigned_in_frames_that_can_be_sent) {
    hello(10);
    std::vector<engine::ClaimedTask> tasks(5);
    for (std::uint64_t n = 0; n < tasks.size(); ++n) {
        tasks[n].record.header.id = task_id(n);
        tasks[n].record.body = Bytes(R"({"payload":")" + std::string(200'000, 'x') + R"("})");
    }
    EXPECT_EQ(words(session.claimed(tasks)), (Lines{"send assign", "send assign"}));
    EXPECT_EQ(json(sent[1]).value().at("tasks").as_array().size(), 3U);
    EXPECT_EQ(json(sent[2]).value().at("tasks").as_array().size(), 2U);
    EXPECT_EQ(session.running(), 5U);
}

TEST_F(SessionTest, every_word_of_a_worker_becomes_one_call) {
    const struct {
        std::string op, more, call;
        Of of;
    } cases[] = {
        {"done", R"(,"result":1)", "complete 2", Of::done},
        {"fail", R"(,"error":{"kind":"permanent","message":"m"})", "fail 2", Of::fail},
        {"yield", R"(,"after":"5s")", "yield 2", Of::yield},
        {"checkpoint", R"(,"stage":"s","data":{})", "checkpoint 2", Of::checkpoint},
        {"ack", "", "accept 2", Of::ack},
        {"started", "", "start 2", Of::started},
    };
    for (const auto& c : cases) {
        session = Session{{"here", 30s}, ManualClock::kStart};
        serving();
        EXPECT_EQ(says(R"({"op":")" + c.op + "\"," + items({ref(1), ref(2)}, c.more) + '}'),
                  (Lines{c.call}));
        EXPECT_EQ(answered(c.of, engine::Done{State::running}), (Lines{"send outcome"}));
        EXPECT_EQ(json(sent.back()).value().at("of").as_string(), c.op);
    }
}

TEST_F(SessionTest, an_item_may_stand_in_the_frame_itself) {
    serving();
    EXPECT_EQ(says(R"({"op":"ack",)" + fields(ref(1)) + '}'), (Lines{"accept 1"}));
    EXPECT_EQ(asks.front().refs, (std::vector<Ref>{ref(1)}));
    EXPECT_EQ(says("{" + fields(ref(1)) + R"(,"result":{"a":1},"op":"done"})"),
              (Lines{"complete 1"}));
    EXPECT_EQ(std::get<Complete>(asks.back().request).items.at(0).result.text(), R"({"a":1})");
}

TEST_F(SessionTest, an_empty_list_is_answered_without_asking_anybody) {
    serving();
    EXPECT_EQ(says(R"({"op":"done","items":[]})"), (Lines{"send outcome"}));
    EXPECT_EQ(sent.back(), R"({"op":"outcome","of":"done","items":[]})");
}

TEST_F(SessionTest, a_partial_result_is_accepted_and_nothing_comes_of_it) {
    serving();
    EXPECT_EQ(says(R"({"op":"partial",)" + fields(ref(1)) + R"(,"data":{"text":"he"}})"), Lines{});
    EXPECT_EQ(session.state(), Is::serving);
}

TEST_F(SessionTest, which_answers_free_a_slot) {
    const engine::Done held{State::running};
    const auto no = [](Code code) { return Result<engine::Done>(refuse(code, "no")); };
    const struct {
        std::string op, more;
        Of of;
        Result<engine::Done> answer;
        bool frees;
    } cases[] = {
        {"done", "", Of::done, engine::Done{State::succeeded}, true},
        {"done", "", Of::done, no(Code::stale_lease), true},
        {"done", "", Of::done, no(Code::wrong_state), true},
        {"done", "", Of::done, no(Code::not_found), true},
        {"done", "", Of::done, no(Code::unavailable), false},
        {"done", "", Of::done, no(Code::overloaded), false},
        {"done", "", Of::done, no(Code::invalid_argument), false},
        {"fail", R"(,"error":{})", Of::fail, engine::Done{State::retrying}, true},
        {"yield", "", Of::yield, engine::Done{State::queued}, true},
        {"checkpoint", R"(,"stage":"s")", Of::checkpoint, held, false},
        {"checkpoint", R"(,"stage":"s")", Of::checkpoint, engine::Done{State::paused}, true},
        {"checkpoint", R"(,"stage":"s")", Of::checkpoint, engine::Done{State::cancelled}, true},
        {"checkpoint", R"(,"stage":"s")", Of::checkpoint, no(Code::stale_lease), true},
        {"checkpoint", R"(,"stage":"s")", Of::checkpoint, no(Code::wrong_state), false},
        {"ack", "", Of::ack, engine::Done{State::accepted}, false},
        {"ack", "", Of::ack, no(Code::stale_lease), true},
        {"ack", "", Of::ack, no(Code::wrong_state), false},
        {"started", "", Of::started, held, false},
    };
    for (const auto& c : cases) {
        session = Session{{"here", 30s}, ManualClock::kStart};
        serving();
        says(R"({"op":")" + c.op + "\"," + items({ref(1)}, c.more) + '}');
        answered(c.of, c.answer);
        EXPECT_EQ(session.running(), c.frees ? 1U : 2U) << c.op << ' ' << told(c.answer);
    }
}

TEST_F(SessionTest, an_outcome_under_another_fence_frees_nothing) {
    serving();
    const Ref older{task_id(1), {1, domain::Epoch{5}}};
    says(R"({"op":"done",)" + items({older}) + '}');
    answered(Of::done, refuse(Code::stale_lease, "no"));
    EXPECT_EQ(session.running(), 2U);
}

TEST_F(SessionTest, a_heartbeat_renews_what_it_names) {
    serving();
    EXPECT_EQ(
        says(R"({"op":"heartbeat",)" + items({ref(2)}, R"(,"progress":0.5,"note":"n")") + '}'),
        (Lines{"renew 1"}));
    EXPECT_EQ(std::get<Renew>(asks.front().request).items.at(0).progress, 0.5F);
    EXPECT_EQ(renewed(), (Lines{"send heartbeat"}));
    EXPECT_EQ(json(sent.back()).value().at("items").as_array().size(), 1U);
}

TEST_F(SessionTest, progress_is_a_heartbeat_that_calls_it_value) {
    serving();
    EXPECT_EQ(says(R"({"op":"progress",)" + fields(ref(1)) + R"(,"value":0.75})"),
              (Lines{"renew 1"}));
    EXPECT_EQ(std::get<Renew>(asks.front().request).items.at(0).progress, 0.75F);
}

TEST_F(SessionTest, a_keep_alive_renews_all_that_runs_but_not_what_is_being_finished) {
    serving();
    says(R"({"op":"done",)" + items({ref(1)}) + '}');
    asks.clear();
    EXPECT_EQ(says(R"({"op":"heartbeat","items":[]})"), (Lines{"renew 1"}));
    EXPECT_EQ(asks.front().refs, (std::vector<Ref>{ref(2)}));
    asks.clear();
    EXPECT_EQ(says(R"({"op":"heartbeat"})"), (Lines{"renew 1"}));
}

TEST_F(SessionTest, a_keep_alive_of_many_tasks_goes_in_batches) {
    hello(2500);
    for (std::uint64_t n = 0; n < 2500; n += 250) gets(n, n + 249);
    EXPECT_EQ(says(R"({"op":"heartbeat","items":[]})"),
              (Lines{"renew 1000", "renew 1000", "renew 500"}));
}

TEST_F(SessionTest, an_idle_worker_hears_that_its_keep_alive_arrived) {
    hello();
    EXPECT_EQ(says(R"({"op":"heartbeat","items":[]})"), (Lines{"send heartbeat"}));
}

TEST_F(SessionTest, a_lease_that_is_lost_frees_the_slot) {
    serving();
    says(R"({"op":"heartbeat",)" + items({ref(1)}) + '}');
    EXPECT_EQ(renewed(refuse(Code::stale_lease, "gone")), (Lines{"send heartbeat"}));
    EXPECT_EQ(session.running(), 1U);
    says(R"({"op":"heartbeat",)" + items({ref(2)}) + '}');
    renewed(refuse(Code::unavailable, "silent"));
    EXPECT_EQ(session.running(), 1U) << "nobody knows: it is still the worker's";
}

TEST_F(SessionTest, a_task_that_is_never_spoken_of_again_keeps_its_slot_as_long_as_its_lease) {
    serving();
    now += 20s;
    says(R"({"op":"heartbeat",)" + items({ref(1)}) + '}');
    renewed(engine::Beat{now + 30s});
    now += 15s;
    says(R"({"op":"partial"})");
    EXPECT_EQ(session.running(), 2U) << "a moment of grace";
    now += 5s;
    says(R"({"op":"partial"})");
    EXPECT_EQ(session.running(), 1U);
    says(R"({"op":"done",)" + items({ref(1)}) + '}');
    now += 1h;
    says(R"({"op":"partial"})");
    EXPECT_EQ(session.running(), 1U) << "its outcome is under way";
}

TEST_F(SessionTest, a_requested_cancel_or_pause_is_pushed_once) {
    serving();
    const std::string beat = R"({"op":"heartbeat",)" + items({ref(1)}) + '}';
    says(beat);
    EXPECT_EQ(renewed(engine::Beat{ManualClock::kStart, true, true}),
              (Lines{"send heartbeat", "send cancel", "send pause"}));
    EXPECT_EQ(sent[1], R"({"op":"cancel",)" + fields(ref(1)) + '}');
    EXPECT_EQ(sent[2], R"({"op":"pause",)" + fields(ref(1)) + '}');
    says(beat);
    EXPECT_EQ(renewed(engine::Beat{ManualClock::kStart, true, true}), (Lines{"send heartbeat"}));
    says(beat);
    renewed(engine::Beat{ManualClock::kStart, true, false});
    says(beat);
    EXPECT_EQ(renewed(engine::Beat{ManualClock::kStart, true, true}),
              (Lines{"send heartbeat", "send pause"}))
        << "it was taken back and asked for again";
}

TEST_F(SessionTest, a_request_is_pushed_when_it_is_made_and_not_again_with_the_heartbeat) {
    serving();
    EXPECT_EQ(words(session.requested(ref(1).id, true, false)), (Lines{"send cancel"}));
    EXPECT_EQ(sent.front(), R"({"op":"cancel",)" + fields(ref(1)) + '}');
    EXPECT_EQ(words(session.requested(ref(9).id, true, false)), Lines{}) << "somebody else's";
    says(R"({"op":"heartbeat",)" + items({ref(1)}) + '}');
    EXPECT_EQ(renewed(engine::Beat{ManualClock::kStart, true, false}), (Lines{"send heartbeat"}));
}

TEST_F(SessionTest, a_request_that_an_ack_finds_is_pushed_too) {
    serving();
    says(R"({"op":"started",)" + items({ref(1)}) + '}');
    engine::Done done{State::running};
    done.cancel_requested = true;
    EXPECT_EQ(answered(Of::started, done), (Lines{"send outcome", "send cancel"}));
}

TEST_F(SessionTest, what_a_worker_still_runs_takes_slots_and_is_renewed_at_once) {
    EXPECT_EQ(hello(4, R"(,"running":[{)" + fields(ref(1)) + "},{" + fields(ref(2)) + "}]"),
              (Lines{"send welcome", "renew 2"}));
    EXPECT_EQ(session.wanted(), 2U);
    EXPECT_EQ(renewed(refuse(Code::stale_lease, "gone")), (Lines{"send heartbeat"}));
    EXPECT_EQ(session.wanted(), 4U);
}

TEST_F(SessionTest, more_running_than_slots_leaves_none_free) {
    hello(1, R"(,"running":[{)" + fields(ref(1)) + "},{" + fields(ref(2)) + "}]");
    EXPECT_EQ(session.wanted(), 0U);
}

TEST_F(SessionTest, drain_ends_claiming_and_the_last_outcome_brings_bye) {
    serving();
    EXPECT_EQ(says(R"({"op":"drain"})"), (Lines{"end claims"}));
    EXPECT_EQ(session.state(), Is::draining);
    EXPECT_EQ(session.wanted(), 0U);
    says(R"({"op":"done",)" + items({ref(1)}) + '}');
    EXPECT_EQ(answered(Of::done), (Lines{"send outcome"}));
    says(R"({"op":"done",)" + items({ref(2)}) + '}');
    EXPECT_EQ(answered(Of::done),
              (Lines{"send outcome", "send bye", "end claims", "close drained"}));
    EXPECT_EQ(sent.back(), R"({"op":"bye","reason":"drained"})");
    EXPECT_EQ(session.state(), Is::closed);
}

TEST_F(SessionTest, an_idle_worker_that_drains_gets_bye_at_once) {
    hello();
    EXPECT_EQ(says(R"({"op":"drain"})"),
              (Lines{"end claims", "send bye", "end claims", "close drained"}));
}

TEST_F(SessionTest, draining_now_gives_back_all_that_runs_and_then_says_bye) {
    serving();
    says(R"({"op":"done",)" + items({ref(1)}) + '}');
    EXPECT_EQ(says(R"({"op":"drain","now":true})"), (Lines{"end claims", "yield 1 silently"}));
    EXPECT_EQ(answered(Of::done), (Lines{"send outcome"}));
    EXPECT_EQ(answered(Of::yield, engine::Done{State::queued}),
              (Lines{"send bye", "end claims", "close drained"}));
}

TEST_F(SessionTest, tasks_that_come_too_late_are_given_back) {
    serving();
    says(R"({"op":"drain"})");
    EXPECT_EQ(gets(3, 4), (Lines{"yield 2 silently"}));
    EXPECT_EQ(session.running(), 2U);
    EXPECT_EQ(answered(Of::yield, engine::Done{State::queued}), Lines{});
    session.lost();
    EXPECT_EQ(gets(5, 5), (Lines{"yield 1 silently"}));
}

TEST_F(SessionTest, a_lost_connection_leaves_the_leases_alone) {
    serving();
    EXPECT_EQ(words(session.lost()), (Lines{"end claims"}));
    EXPECT_EQ(session.state(), Is::closed);
    EXPECT_EQ(words(session.lost()), Lines{}) << "once";
}

TEST_F(SessionTest, a_worker_that_said_goodbye_gives_its_tasks_back_when_it_goes) {
    serving();
    says(R"({"op":"drain"})");
    says(R"({"op":"done",)" + items({ref(2)}) + '}');
    EXPECT_EQ(words(session.lost()), (Lines{"yield 1 silently", "end claims"}));
    EXPECT_EQ(asks.back().refs, (std::vector<Ref>{ref(1)})) << "the other one is being completed";
    EXPECT_EQ(answered(Of::done), Lines{}) << "nobody is there to be told";
}

TEST_F(SessionTest, a_server_that_stops_answers_what_is_under_way_and_says_bye) {
    serving();
    says(R"({"op":"done",)" + items({ref(1)}) + '}');
    EXPECT_EQ(words(session.shut_down()), (Lines{"end claims"}));
    EXPECT_EQ(session.wanted(), 0U);
    EXPECT_EQ(answered(Of::done),
              (Lines{"send outcome", "send bye", "end claims", "close shutting_down"}));
    EXPECT_TRUE(asks.empty()) << "what runs keeps its lease: the worker comes back with it";
}

TEST_F(SessionTest, a_server_that_stops_says_bye_to_one_who_has_not_said_hello) {
    EXPECT_EQ(words(session.shut_down()),
              (Lines{"end claims", "send bye", "end claims", "close shutting_down"}));
}

TEST_F(SessionTest, an_operators_drain_lets_the_worker_finish) {
    serving();
    EXPECT_EQ(words(session.drain()), (Lines{"end claims"}));
    says(R"({"op":"done",)" + items({ref(1), ref(2)}) + '}');
    EXPECT_EQ(answered(Of::done),
              (Lines{"send outcome", "send bye", "end claims", "close drained_by_operator"}));
}

TEST_F(SessionTest, after_an_operators_drain_a_lost_connection_still_leaves_the_leases) {
    serving();
    session.drain();
    EXPECT_EQ(words(session.lost()), (Lines{"end claims"}));
}

TEST_F(SessionTest, one_who_never_says_hello_is_sent_away) {
    EXPECT_EQ(words(session.time_is(ManualClock::kStart + kHelloWithin - 1us)), Lines{});
    EXPECT_EQ(words(session.time_is(ManualClock::kStart + kHelloWithin)),
              (Lines{"send bye", "end claims", "close protocol"}));
}

TEST_F(SessionTest, time_does_not_send_away_one_who_said_it) {
    hello();
    EXPECT_EQ(words(session.time_is(ManualClock::kStart + 1h)), Lines{});
}

TEST_F(SessionTest, a_claim_that_can_never_work_is_told_once_and_one_that_may_is_not) {
    serving();
    EXPECT_EQ(words(session.claim_failed({Code::overloaded, "busy", ""})), Lines{});
    EXPECT_EQ(words(session.claim_failed(invalid("types", "no lanes").error())),
              (Lines{"send error"}));
    EXPECT_EQ(
        sent.back(),
        R"({"op":"error","code":"invalid_argument","detail":"types: no lanes","field":"types"})");
    EXPECT_EQ(words(session.claim_failed(invalid("types", "no lanes").error())), Lines{});
}

TEST_F(SessionTest, what_is_said_after_the_end_is_not_heard) {
    serving();
    session.lost();
    EXPECT_EQ(says(R"({"op":"done",)" + items({ref(1)}) + '}'), Lines{});
    EXPECT_EQ(says("nonsense"), Lines{});
}

// ---- bad frames ----

TEST_F(SessionTest, before_hello_nothing_else_is_heard) {
    for (const std::string op : {"done", "heartbeat", "drain", "partial"}) {
        EXPECT_EQ(says(R"({"op":")" + op + R"(","items":[]})").front(), "send error") << op;
    }
    EXPECT_EQ(says(R"({"op":"drain"})"), (Lines{"send error"}));
    EXPECT_EQ(sent.back(),
              R"({"op":"error","code":"wrong_state","detail":"op: say hello first","field":"op"})");
    EXPECT_EQ(session.state(), Is::before_hello);
}

TEST_F(SessionTest, hello_is_said_once) {
    hello();
    EXPECT_EQ(hello(), (Lines{"send error"}));
    EXPECT_EQ(session.state(), Is::serving);
}

TEST_F(SessionTest, every_bad_hello_names_its_field) {
    const auto with = [](const std::string& more) {
        return R"({"op":"hello","worker":"w","queues":["q"],)" + more + '}';
    };
    std::string many_queues = R"("q")";
    for (int i = 0; i < 100; ++i) many_queues += R"(,"q")";
    const struct {
        std::string frame, field;
    } cases[] = {
        {R"({"op":"hello","queues":["q"]})", "worker"},
        {R"({"op":"hello","worker":"a b","queues":["q"]})", "worker"},
        {R"({"op":"hello","worker":"w"})", "queues"},
        {R"({"op":"hello","worker":"w","queues":[]})", "queues"},
        {R"({"op":"hello","worker":"w","queues":["a b"]})", "queues"},
        {R"({"op":"hello","worker":"w","queues":[)" + many_queues + "]}", "queues"},
        {with(R"("slots":0)"), "slots"},
        {with(R"("slots":10001)"), "slots"},
        {with(R"("slots":"4")"), "slots"},
        {with(R"("lease":"10ms")"), "lease"},
        {with(R"("lease":30)"), "lease"},
        {with(R"("types":"t")"), "types"},
        {with(R"("types":["a b"])"), "types"},
        {with(R"("acks":1)"), "acks"},
        {with(R"("labels":[])"), "labels"},
        {with(R"("labels":{"a":1})"), "labels.a"},
        {with(R"("models":[""])"), "models"},
        {with(R"("running":[{"id":1}])"), "running[0].id"},
        {with(R"("running":[{}])"), "running[0].id"},
        {with(R"("slot":4)"), "slot"},
    };
    for (const auto& [frame, field] : cases) {
        session = Session{{"here", 30s}, ManualClock::kStart};
        EXPECT_EQ(says(frame), (Lines{"send error"})) << frame;
        EXPECT_EQ(json(sent.back()).value().at("field").as_string(), field) << frame;
        EXPECT_EQ(session.state(), Is::before_hello);
    }
}

TEST_F(SessionTest, every_bad_frame_is_answered_with_an_error_and_asks_for_nothing) {
    const struct {
        std::string frame, field;
    } cases[] = {
        {"", ""},
        {"nonsense", ""},
        {"{}", "op"},
        {"[]", "frame"},
        {"\"hello\"", "frame"},
        {R"({"op":7})", "op"},
        {R"({"op":"dance"})", "op"},
        {R"({"op":"done","op":"fail","items":[]})", ""},
        {R"({"op":"done"})", "items"},
        {R"({"op":"done","items":7})", "items"},
        {R"({"op":"done","items":[7]})", "items[0]"},
        {R"({"op":"done","items":[{}]})", "items[0].id"},
        {R"({"op":"done","item":[]})", "item"},
        {R"({"op":"done","items":[],)" + fields(ref(1)) + '}', "items"},
        {R"({"op":"ack","id":"x"})", "id"},
        {R"({"op":"ack","attempt":1,"epoch":1})", "id"},
        {R"({"op":"fail",)" + items({ref(1)}) + '}', "items[0].error"},
        {R"({"op":"checkpoint",)" + items({ref(1)}) + '}', "items[0].stage"},
        {R"({"op":"heartbeat",)" + items({ref(1)}, R"(,"value":1)") + '}', "items[0].value"},
        {R"({"op":"drain","now":"yes"})", "now"},
        {R"({"op":"drain","later":true})", "later"},
        {R"({"op":"partial","data":")" + std::string(1 << 20, 'x') + "\"}", ""},
        {R"({"op":"partial","data":)" + std::string(70, '[') + std::string(70, ']') + '}', ""},
        {"{\"op\":\"partial\",\"data\":\"\xff\"}", ""},
    };
    for (const auto& [frame, field] : cases) {
        session = Session{{"here", 30s}, ManualClock::kStart};
        serving();
        EXPECT_EQ(says(frame), (Lines{"send error"})) << frame.substr(0, 100);
        EXPECT_EQ(json(sent.back()).value().at("field").as_string(), field) << frame.substr(0, 100);
        EXPECT_EQ(session.running(), 2U);
    }
}

TEST_F(SessionTest, after_ten_bad_frames_it_says_bye) {
    serving();
    for (int i = 1; i < 10; ++i) EXPECT_EQ(says("nonsense"), (Lines{"send error"})) << i;
    EXPECT_EQ(says("nonsense"), (Lines{"send error", "send bye", "end claims", "close protocol"}));
    EXPECT_EQ(sent.back(), R"({"op":"bye","reason":"protocol"})");
    EXPECT_EQ(session.state(), Is::closed);
}

}  // namespace
}  // namespace holdfast::nodes
