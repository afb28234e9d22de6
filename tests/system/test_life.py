"""The life of tasks as clients see it, over HTTP: every behaviour that the API promises, on a real server."""

import json
import re
import shutil
import subprocess
import threading
import time
import unittest

from tests.system.harness import PATIENCE, SystemTest, check_problem, in_parallel, ref, seconds_of, until

SOME_ID = "0193d0a8-3c5e-7abc-8def-0123456789ab"
QUICK_RETRY = {"max": 3, "policy": {"schedule": ["10ms"]}}


class Lifecycle(SystemTest):
    def test_a_submitted_task_is_claimed_and_completed(self):
        receipt = self.server.good("POST", "/v1/tasks", {"type": "mail", "queue": self.queue, "payload": {"to": "a"}})
        self.assertEqual(receipt["state"], "queued")
        self.assertIs(receipt["duplicate"], False)
        self.assertTrue(receipt["durability"])
        task = self.claim_one(worker="w1", lease="20s")
        self.assertEqual(task["id"], receipt["id"])
        self.assertEqual((task["type"], task["queue"], task["payload"]), ("mail", self.queue, {"to": "a"}))
        self.assertEqual(task["attempt"], 1)
        self.assertAlmostEqual(seconds_of(task["lease_until"]), time.time() + 20, delta=5)
        self.assertEqual(self.server.task(task["id"])["state"], "running")
        self.assertEqual(self.server.complete(task, {"sent": True}), "ok")
        done = self.server.task(task["id"])
        self.assertEqual((done["state"], done["result"], done["error"]), ("succeeded", {"sent": True}, None))
        for name in ("created_at", "started_at", "finished_at", "updated_at"):
            self.assertRegex(done[name], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        again = self.server.outcome("complete", task, result={"sent": True})
        self.assertEqual((again["outcome"], again.get("duplicate")), ("ok", True))
        self.assertEqual(self.server.events_of(task["id"]), ["submitted", "claimed", "completed"])

    def test_a_task_has_every_field_of_the_contract(self):
        task = self.server.task(self.submit(labels={"k": "v"}, user={"u": 1}, tenant="acme", priority=7))
        wanted = (
            "id type queue tenant state payload result error priority labels context retry attempt progress run_at "
            "deadline version created_at updated_at started_at finished_at"
        ).split()
        self.assertEqual([name for name in wanted if name not in task], [])
        self.assertEqual((task["labels"], task["tenant"], task["priority"]), ({"k": "v"}, "acme", 7))
        self.assertEqual(task["context"]["user"], {"u": 1})
        self.assertEqual((task["retry"]["count"], task["retry"]["max"]), (0, 3))
        self.assertEqual(task["retry"]["policy"]["schedule"], ["1m", "5m", "15m"])

    def test_a_batch_answers_for_each_item(self):
        body = [{"type": "t", "queue": self.queue}, {"type": "bad name"}, {"type": "t", "queue": self.queue}]
        answer = self.server.post("/v1/tasks", body)
        self.assertEqual(answer.status, 202)
        first, bad, last = answer.json["tasks"]
        self.assertEqual((first["state"], last["state"]), ("queued", "queued"))
        self.assertEqual((bad["status"], bad["code"], bad["field"]), (422, "invalid_argument", "type"))
        self.assertEqual(len(self.claim(10)), 2)

    def test_three_failures_suspend_it_with_everything_that_is_known_and_resuming_finishes_it(self):
        task_id = self.submit(payload={"order": 7}, retry=QUICK_RETRY)
        for number in (1, 2, 3):
            task = self.claim_one()
            self.assertEqual((task["id"], task["attempt"]), (task_id, number))
            error = {"message": f"boom {number}", "stack": f"at line {number}", "code": "E42"}
            self.assertEqual(self.server.fail(task, **error), "ok")
        task = self.server.task(task_id)
        self.assertEqual((task["state"], task["retry"]["count"]), ("suspended", 3))
        self.assertEqual(self.claim(wait="300ms"), [])
        listed = self.server.good("GET", f"/internal/tasks/suspended?queue={self.queue}")["tasks"]
        self.assertEqual([(t["id"], t["payload"]) for t in listed], [(task_id, {"order": 7})])
        told = [(step["error"]["message"], step["error"]["stack"]) for step in listed[0]["errors"]]
        self.assertEqual(told, [(f"boom {n}", f"at line {n}") for n in (1, 2, 3)])
        report = self.server.good("POST", "/internal/tasks/suspended/resume", {"ids": [task_id], "reason": "fixed"})
        self.assertEqual((report["matched"], report["done"], report["refused"]), (1, 1, []))
        self.assertEqual(self.server.task(task_id)["retry"]["count"], 0)
        task = self.claim_one()
        self.assertEqual((task["id"], task["attempt"]), (task_id, 4))
        self.assertEqual(self.server.complete(task, "at last"), "ok")
        self.assertEqual(self.server.task(task_id)["result"], "at last")
        resumed = [step for step in self.server.history(task_id) if step["event"] == "resumed"]
        self.assertEqual([step["message"] for step in resumed], ["fixed"])
        errors = [step["error"]["message"] for step in self.server.history(task_id) if step["error"]]
        self.assertEqual(errors, ["boom 1", "boom 2", "boom 3"])

    def test_suspended_tasks_are_resumed_by_filter(self):
        ids = {self.submit(retry={"max": 1}) for _ in range(5)}
        for task in self.claim(5):
            self.server.fail(task)
        body = {"filter": {"queue": self.queue}, "dry_run": True}
        dry = self.server.good("POST", "/internal/tasks/suspended/resume", body)
        self.assertEqual((dry["matched"], self.server.task(next(iter(ids)))["state"]), (5, "suspended"))
        report = self.server.good("POST", "/internal/tasks/suspended/resume", {"filter": {"queue": self.queue}})
        self.assertEqual((report["matched"], report["done"]), (5, 5))
        self.assertEqual({task["id"] for task in self.claim(10)}, ids)

    def test_a_suspended_task_is_discarded_and_stays_so(self):
        task_id = self.submit(retry={"max": 1})
        self.server.fail(self.claim_one())
        report = self.server.good("POST", "/internal/tasks/suspended/discard", {"ids": [task_id]})
        self.assertEqual(report["done"], 1)
        self.assertEqual(self.server.task(task_id)["state"], "discarded")
        check_problem(self, self.refused(f"/v1/tasks/{task_id}/resume", 409))

    def refused(self, path, status, body=None):
        answer = self.server.post(path, body)
        self.assertEqual(answer.status, status, answer)
        return answer

    def test_a_permanent_error_parks_it_at_once(self):
        task_id = self.submit()
        self.server.fail(self.claim_one(), kind="permanent", message="no such customer")
        task = self.server.task(task_id)
        self.assertEqual((task["state"], task["attempt"]), ("suspended", 1))
        self.assertEqual(task["error"]["message"], "no such customer")

    def test_on_exhausted_fail_ends_it(self):
        task_id = self.submit(retry={"max": 1}, on_exhausted="fail")
        self.server.fail(self.claim_one(), message="gone")
        task = self.server.task(task_id)
        self.assertEqual((task["state"], task["error"]["message"]), ("failed", "gone"))

    def test_an_outage_that_is_held_uses_up_no_attempt(self):
        task_id = self.submit(retry={"max": 1, "policy": {"schedule": ["10ms"]}}, on_outage="hold")
        self.server.fail(self.claim_one(), kind="dependency_down")
        task = self.server.task(task_id)
        self.assertIn(task["state"], ("retrying", "queued"))
        self.assertEqual(task["retry"]["count"], 0)

    def test_a_failure_waits_as_its_policy_says(self):
        task_id = self.submit(retry={"max": 5, "policy": {"schedule": ["800ms"], "jitter": 0}})
        begun = time.monotonic()
        self.server.fail(self.claim_one())
        task = self.server.task(task_id)
        self.assertEqual(task["state"], "retrying")
        self.assertAlmostEqual(seconds_of(task["retry"]["next_attempt_at"]), time.time() + 0.8, delta=0.7)
        self.assertEqual(self.claim_one()["id"], task_id)
        self.assertGreater(time.monotonic() - begun, 0.75)

    def test_retry_after_of_a_failure_is_obeyed(self):
        self.submit(retry={"max": 5, "policy": {"schedule": ["1h"]}})
        task = self.claim_one()
        item = {**ref(task), "error": {"kind": "transient", "message": "slow down"}, "retry_after": "200ms"}
        self.assertEqual(self.server.outcomes("fail", [item])[0]["outcome"], "ok")
        self.assertEqual(self.claim_one()["id"], task["id"])

    def test_a_delayed_task_waits(self):
        task_id = self.submit(delay="1s")
        self.assertEqual(self.server.task(task_id)["state"], "waiting")
        self.assertEqual(self.claim(wait="200ms"), [])
        begun = time.monotonic()
        self.assertEqual(self.claim_one()["id"], task_id)
        self.assertLess(time.monotonic() - begun, 5)
        history = self.server.history(task_id)
        self.assertGreater(seconds_of(history[-1]["at"]) - seconds_of(history[0]["at"]), 0.99)

    def test_priorities_go_first_and_the_older_before_the_younger(self):
        order = [self.submit(priority=p) for p in (5, 9, 0, 5, 9)]
        claimed = [self.claim_one()["id"] for _ in order]
        self.assertEqual(claimed, [order[i] for i in (1, 4, 0, 3, 2)])

    def test_a_paused_task_waits_for_a_person(self):
        task_id = self.submit()
        self.server.good("POST", f"/v1/tasks/{task_id}/pause", {"reason": "wait"})
        self.assertEqual(self.server.task(task_id)["state"], "paused")
        self.assertEqual(self.claim(wait="200ms"), [])
        self.server.good("POST", f"/v1/tasks/{task_id}/resume", {"reason": "go", "payload": {"new": 1}})
        task = self.claim_one()
        self.assertEqual((task["id"], task["payload"]), (task_id, {"new": 1}))
        revisions = self.server.good("GET", f"/v1/tasks/{task_id}/revisions")["revisions"]
        self.assertEqual([r["payload"] for r in revisions], [None])

    def test_a_running_task_is_paused_at_its_next_checkpoint(self):
        task_id = self.submit()
        task = self.claim_one()
        answer = self.server.post(f"/v1/tasks/{task_id}/pause")
        self.assertEqual((answer.status, answer.json["pause_requested"]), (202, True))
        beat = self.server.good("POST", "/v1/heartbeat", {"worker": "w", "items": [ref(task)]})["items"][0]
        self.assertIs(beat["pause_requested"], True)
        self.assertEqual(self.server.outcome("checkpoint", task, stage="one", data=1)["outcome"], "pause")
        self.assertEqual(self.server.task(task_id)["state"], "paused")

    def test_a_paused_queue_hands_nothing_out(self):
        self.submit()
        queue = self.server.good("POST", f"/v1/queues/{self.queue}/pause", {"reason": "night"})
        self.assertIs(queue["paused"], True)
        time.sleep(1.1)
        self.assertEqual(self.claim(wait="300ms"), [])
        explained = self.explain(self.server.good("GET", f"/v1/tasks?queue={self.queue}")["tasks"][0]["id"])
        self.assertEqual(explained["code"], "queue_paused")
        self.server.good("POST", f"/v1/queues/{self.queue}/resume")
        self.assertEqual(len(self.claim()), 1)

    def test_a_closed_queue_takes_nothing_in(self):
        self.submit()
        self.server.good("POST", f"/v1/queues/{self.queue}/close")
        answer = self.server.post("/v1/tasks", {"type": "t", "queue": self.queue})
        self.assertGreaterEqual(answer.status, 400)
        check_problem(self, answer)
        self.assertEqual(len(self.claim()), 1)
        self.server.good("POST", f"/v1/queues/{self.queue}/open")
        self.submit()

    def test_a_queued_task_is_cancelled_at_once(self):
        task_id = self.submit()
        answer = self.server.post(f"/v1/tasks/{task_id}/cancel", {"reason": "changed my mind"})
        self.assertEqual((answer.status, answer.json["state"]), (200, "cancelled"))
        self.assertEqual(self.claim(wait="200ms"), [])
        self.assertEqual(self.server.history(task_id)[-1]["message"], "changed my mind")

    def test_a_running_task_is_cancelled_at_its_next_step(self):
        task_id = self.submit()
        task = self.claim_one()
        answer = self.server.post(f"/v1/tasks/{task_id}/cancel")
        self.assertEqual((answer.status, answer.json["cancel_requested"]), (202, True))
        self.assertEqual(self.server.task(task_id)["state"], "running")
        beat = self.server.good("POST", "/v1/heartbeat", {"worker": "w", "items": [ref(task)]})["items"][0]
        self.assertIs(beat["cancel_requested"], True)
        self.assertEqual(self.server.outcome("checkpoint", task, stage="s", data=1)["outcome"], "cancel")
        self.assertEqual(self.server.task(task_id)["state"], "cancelled")

    def test_a_completion_that_comes_before_the_cancellation_wins(self):
        task_id = self.submit()
        task = self.claim_one()
        self.server.post(f"/v1/tasks/{task_id}/cancel")
        self.assertEqual(self.server.complete(task, 1), "ok")
        self.assertEqual(self.server.task(task_id)["state"], "succeeded")

    def test_a_cancelled_task_that_fails_is_not_tried_again(self):
        task_id = self.submit(retry=QUICK_RETRY)
        task = self.claim_one()
        self.server.post(f"/v1/tasks/{task_id}/cancel")
        self.server.fail(task)
        self.assertEqual(self.server.task(task_id)["state"], "cancelled")

    def test_a_running_task_cannot_be_discarded(self):
        task_id = self.submit()
        self.claim_one()
        answer = self.refused(f"/v1/tasks/{task_id}/discard", 409)
        check_problem(self, answer)
        self.assertEqual(answer.json["code"], "wrong_state")

    def test_a_task_past_its_deadline_is_suspended(self):
        task_id = self.submit(timeout="300ms")
        self.assertIsNotNone(self.server.task(task_id)["deadline"])
        self.server.reaches(task_id, "suspended")
        self.assertEqual(self.claim(wait="100ms"), [])

    def test_a_task_past_its_deadline_fails_when_it_asked_to(self):
        task_id = self.submit(timeout="300ms", on_timeout="fail")
        task = self.server.reaches(task_id, "failed")
        self.assertEqual(task["error"]["kind"], "timeout")

    def test_a_lease_that_ended_hands_the_task_to_the_next_and_refuses_the_first(self):
        task_id = self.submit(retry=QUICK_RETRY)
        first = self.claim_one(worker="a", lease="1s")
        second = self.claim_one(worker="b", lease="20s")
        self.assertEqual((second["id"], second["attempt"]), (task_id, 2))
        self.assertGreater(second["epoch"], first["epoch"])
        self.assertEqual(self.server.complete(first, "late"), "stale_lease")
        beat = self.server.good("POST", "/v1/heartbeat", {"worker": "a", "items": [ref(first)]})["items"][0]
        self.assertEqual(beat["outcome"], "stale_lease")
        self.assertEqual(self.server.fail(first), "stale_lease")
        self.assertEqual(self.server.outcome("checkpoint", first, stage="s", data=1)["outcome"], "stale_lease")
        self.assertEqual(self.server.complete(second, "mine"), "ok")
        self.assertEqual(self.server.task(task_id)["result"], "mine")
        events = self.server.events_of(task_id)
        self.assertEqual([e for e in events if e in ("claimed", "lease_ended", "completed")],
                         ["claimed", "lease_ended", "claimed", "completed"])  # fmt: skip

    def test_heartbeats_keep_a_lease(self):
        task_id = self.submit()
        task = self.claim_one(lease="1s")
        for step in range(8):
            time.sleep(0.3)
            items = [{**ref(task), "progress": step / 8, "note": f"step {step}"}]
            beat = self.server.good("POST", "/v1/heartbeat", {"worker": "w", "items": items})["items"][0]
            self.assertIn("lease_until", beat, beat)
        seen = self.server.task(task_id)
        self.assertEqual((seen["state"], seen["attempt"], seen["progress"]), ("running", 1, 0.875))
        self.assertEqual(self.server.complete(task), "ok")

    def test_stages_are_kept_and_the_next_attempt_gets_them(self):
        task_id = self.submit(retry=QUICK_RETRY)
        task = self.claim_one()
        self.assertEqual(self.server.outcome("checkpoint", task, stage="load", data={"n": 1})["outcome"], "ok")
        again = self.server.outcome("checkpoint", task, stage="load", data={"n": 2})
        self.assertEqual((again["outcome"], again.get("duplicate")), ("ok", True))
        self.server.outcome("checkpoint", task, stage="send", data=[2])
        self.server.fail(task)
        task = self.claim_one()
        self.assertEqual(task["id"], task_id)
        self.assertEqual(task["checkpoints"], [{"stage": "load", "data": {"n": 1}}, {"stage": "send", "data": [2]}])

    def test_a_task_given_back_counts_no_failure(self):
        task_id = self.submit()
        self.assertEqual(self.server.outcome("yield", self.claim_one())["outcome"], "ok")
        task = self.claim_one()
        self.assertEqual(task["id"], task_id)
        self.assertEqual(self.server.outcome("yield", task, after="300ms")["outcome"], "ok")
        seen = self.server.task(task_id)
        self.assertEqual((seen["state"], seen["retry"]["count"]), ("waiting", 0))
        self.assertEqual(self.claim_one()["id"], task_id)

    def test_a_signal_wakes_who_waits_for_it_and_brings_its_data(self):
        task_id = self.submit()
        self.server.outcome("yield", self.claim_one(), until_signal=True, after="1h")
        self.assertEqual(self.server.task(task_id)["state"], "waiting")
        self.assertEqual(self.explain(task_id)["code"], "waits_for_signal")
        self.server.good("POST", f"/v1/tasks/{task_id}/signal", {"id": "s1", "data": {"approved": True}})
        task = self.claim_one()
        self.assertEqual(task["id"], task_id)
        self.assertIn({"approved": True}, [signal["data"] for signal in task["signals"]])

    def explain(self, task_id):
        explained = self.server.good("GET", f"/v1/tasks/{task_id}/explain")
        self.assertTrue(explained["sentence"], explained)
        return explained

    def test_explain_says_why_it_is_not_running(self):
        delayed = self.explain(self.submit(delay="1h"))
        self.assertEqual(delayed["code"], "delayed")
        self.assertAlmostEqual(seconds_of(delayed["wakes_at"]), time.time() + 3600, delta=60)
        ready = self.submit()
        self.assertEqual(self.explain(ready)["code"], "in_lane")
        self.claim_one()
        self.assertNotEqual(self.explain(ready)["code"], "in_lane")
        failing = self.submit(retry={"max": 3, "policy": {"schedule": ["1h"]}})
        self.server.fail(self.claim_one())
        self.assertEqual(self.explain(failing)["code"], "backing_off")

    def test_a_long_poll_answers_when_the_task_is_finished(self):
        task_id = self.submit()
        task = self.claim_one()
        threading.Timer(0.4, self.server.complete, (task, "now")).start()
        begun = time.monotonic()
        answer = self.server.get(f"/v1/tasks/{task_id}?wait=20s")
        self.assertEqual((answer.status, answer.json["result"]), (200, "now"))
        self.assertGreater(time.monotonic() - begun, 0.3)
        self.assertLess(time.monotonic() - begun, 10)

    def test_a_long_poll_that_is_over_answers_what_is(self):
        answer = self.server.get(f"/v1/tasks/{self.submit()}?wait=200ms")
        self.assertEqual((answer.status, answer.json["state"]), (200, "queued"))

    def test_submitting_with_a_wait_gives_the_finished_task(self):
        def work():
            self.server.complete(self.claim_one(wait="20s"), 42)

        worker = threading.Thread(target=work)
        worker.start()
        answer = self.server.post("/v1/tasks?wait=20s", {"type": "t", "queue": self.queue})
        worker.join()
        self.assertEqual((answer.status, answer.json["state"], answer.json["result"]), (200, "succeeded", 42))
        late = self.server.post("/v1/tasks?wait=100ms", {"type": "t", "queue": self.queue})
        self.assertEqual((late.status, late.json["state"]), (202, "queued"))

    def test_a_waiting_claim_gets_what_is_submitted_later(self):
        threading.Timer(0.3, self.submit).start()
        begun = time.monotonic()
        self.assertEqual(len(self.claim(wait="20s")), 1)
        self.assertLess(time.monotonic() - begun, 10)

    def test_a_claim_whose_client_left_keeps_no_task(self):
        connection = self.server.connect()
        body = json.dumps({"queues": [self.queue], "worker": "gone", "wait": "20s", "lease": "1h"})
        connection.request("POST", "/v1/claim", body)
        time.sleep(0.3)
        connection.close()
        time.sleep(0.1)
        task_id = self.submit()
        self.assertEqual(self.claim_one(wait="10s")["id"], task_id)

    def test_one_key_from_fifty_clients_is_one_task(self):
        body = {"type": "t", "queue": self.queue, "payload": {"a": 1, "b": [2]}}
        headers = {"Idempotency-Key": "order-" + self.queue}
        start = threading.Barrier(50)

        def client(i):
            connection = self.server.connect()
            self.addCleanup(connection.close)
            connection.connect()
            start.wait()
            # The order of keys and the way to name the key do not matter.
            sent = dict(reversed(body.items())) if i % 2 else body
            by_body = {**sent, "idempotency_key": headers["Idempotency-Key"]}
            return self.server.post(
                "/v1/tasks", by_body if i % 3 else sent, headers=None if i % 3 else headers, connection=connection
            )

        answers = in_parallel(50, client)
        self.assertEqual({answer.status for answer in answers}, {202})
        self.assertEqual(len({answer.json["id"] for answer in answers}), 1)
        self.assertEqual(sum(not answer.json["duplicate"] for answer in answers), 1)
        self.assertEqual(len(self.claim(50)), 1)
        other = self.server.post("/v1/tasks", {**body, "payload": 2}, headers=headers)
        self.assertEqual((other.status, other.json["code"]), (409, "conflict"))
        check_problem(self, other)

    def test_keys_of_tenants_do_not_meet(self):
        ids = {self.submit(tenant=tenant, idempotency_key="same") for tenant in ("a", "b", "a")}
        self.assertEqual(len(ids), 2)

    def test_a_queue_runs_no_more_at_once_than_its_limit(self):
        for _ in range(5):
            self.submit()
        limits = self.server.good("PUT", f"/v1/queues/{self.queue}/limits", {"concurrency": 2})
        self.assertEqual(limits["concurrency"], 2)
        running = self.claim(5)
        self.assertEqual(len(running), 2)
        self.assertEqual(self.claim(5, wait="200ms"), [])
        waiting = self.server.good("GET", f"/v1/tasks?queue={self.queue}&state=queued")["tasks"]
        self.assertEqual(self.explain(waiting[0]["id"])["code"], "queue_full")
        self.server.complete(running[0])
        self.assertEqual(len(self.claim(5)), 1)

    def test_a_queue_hands_out_no_faster_than_its_rate(self):
        self.server.good("PUT", f"/v1/queues/{self.queue}/limits", {"rate": 5})
        self.server.post("/v1/tasks", [{"type": "t", "queue": self.queue}] * 20)
        got, begun = 0, time.monotonic()
        while time.monotonic() - begun < 1.5:
            got += len(self.claim(20, wait="200ms"))
        self.assertGreater(got, 2)
        self.assertLessEqual(got, 5 * (time.monotonic() - begun) + 6)  # a second's worth may come at once

    def test_lanes_by_type_let_a_worker_choose(self):
        self.server.good("PUT", f"/v1/queues/{self.queue}/limits", {"lanes_by_type": True})
        ids = {kind: self.submit(kind) for kind in ("mail", "video")}
        self.assertEqual(self.claim_one(types=["video"])["id"], ids["video"])
        self.assertEqual(self.claim(types=["video"], wait="100ms"), [])
        self.assertEqual(self.claim_one(types=["video", "mail"])["id"], ids["mail"])

    def test_history_tells_every_step_in_order(self):
        task_id = self.submit(retry=QUICK_RETRY)
        self.server.fail(self.claim_one(worker="first"))
        self.server.complete(self.claim_one(worker="second"))
        steps = self.server.history(task_id)
        for step in steps:
            self.assertEqual({"from", "to", "attempt", "message", "at"} - set(step), set())
        self.assertEqual(
            [(s["event"], s["from"], s["to"]) for s in steps],
            [
                ("submitted", None, "queued"), ("claimed", "queued", "running"), ("failed", "running", "retrying"),
                ("woken", "retrying", "queued"), ("claimed", "queued", "running"), ("completed", "running", "succeeded"),
            ],
        )  # fmt: skip
        times = [seconds_of(s["at"]) for s in steps]
        self.assertEqual(times, sorted(times))

    def test_discard_takes_a_task_away_for_good(self):
        task_id = self.submit()
        self.server.good("POST", f"/v1/tasks/{task_id}/discard", {"reason": "noise"})
        self.assertEqual(self.server.task(task_id)["state"], "discarded")
        self.assertEqual(self.claim(wait="100ms"), [])


class Lists(SystemTest):
    def listed(self, query):
        return [task["id"] for task in self.server.good("GET", f"/v1/tasks?{query}")["tasks"]]

    def test_filters_find_what_they_say(self):
        tenant = f"t{time.time_ns()}"
        a = self.submit("alpha", tenant=tenant, labels={"team": "red"})
        b = self.submit("beta", tenant=tenant, labels={"team": "red", "zone": "x"})
        c = self.submit("beta", tenant=tenant, delay="1h")
        of = f"tenant={tenant}"
        self.assertEqual(self.listed(of), [c, b, a])
        self.assertEqual(self.listed(f"{of}&type=beta"), [c, b])
        self.assertEqual(self.listed(f"{of}&state=waiting"), [c])
        self.assertEqual(self.listed(f"{of}&state=waiting,queued&type=beta"), [c, b])
        self.assertEqual(self.listed(f"{of}&label=team%3Dred"), [b, a])
        self.assertEqual(self.listed(f"{of}&label=team%3Dred&label=zone%3Dx"), [b])
        self.assertEqual(self.listed(f"queue={self.queue}&limit=1"), [c])
        middle = self.server.task(b)["created_at"]
        self.assertIn(b, self.listed(f"{of}&since={middle}"))
        self.assertNotIn(a, self.listed(f"{of}&since={self.server.task(c)['created_at']}&state=queued"))
        self.assertEqual(self.listed(f"{of}&until=2020-01-01T00:00:00.000Z"), [])

    def test_pages_hold_everything_once(self):
        self.server.post("/v1/tasks", [{"type": "t", "queue": self.queue} for _ in range(95)])
        seen, cursor = [], ""
        for _ in range(100):
            page = self.server.good("GET", f"/v1/tasks?queue={self.queue}&limit=10{cursor}")
            self.assertLessEqual(len(page["tasks"]), 10)
            seen += [task["id"] for task in page["tasks"]]
            if page["next_cursor"] is None:
                break
            cursor = "&cursor=" + page["next_cursor"]
            self.submit()  # what comes meanwhile does not disturb the pages
        self.assertEqual(len(seen), 95)
        self.assertEqual(len(set(seen)), 95)

    def test_a_list_of_headers_is_without_bodies(self):
        task_id = self.submit(payload={"big": "x" * 100})
        (task,) = self.server.good("GET", f"/v1/tasks?queue={self.queue}&fields=header")["tasks"]
        self.assertEqual((task["id"], task["payload"]), (task_id, None))

    def test_queues_and_stats_count(self):
        for _ in range(3):
            self.submit("counted")
        self.submit("counted", delay="1h")
        queues = {q["name"]: q for q in self.server.good("GET", "/v1/queues")["queues"]}
        self.assertEqual((queues[self.queue]["tasks"]["queued"], queues[self.queue]["tasks"]["waiting"]), (3, 1))
        one = self.server.good("GET", f"/v1/queues/{self.queue}")
        self.assertEqual(one["tasks"], queues[self.queue]["tasks"])
        for path in ("/v1/stats", "/internal/tasks/stats"):
            stats = self.server.good("GET", path)
            (row,) = [r for r in stats["queues"] if r["queue"] == self.queue]
            self.assertEqual((row["type"], row["tasks"]["queued"]), ("counted", 3))


class Bulk(SystemTest):
    def fill(self, count):
        for at in range(0, count, 1000):
            batch = [{"type": "t", "queue": self.queue} for _ in range(min(1000, count - at))]
            self.assertEqual(self.server.post("/v1/tasks", batch).status, 202)

    def bulk(self, **more):
        return self.server.post("/v1/tasks/bulk", {"filter": {"queue": self.queue}, **more})

    def count(self, state):
        return self.server.good("GET", f"/v1/queues/{self.queue}")["tasks"][state]

    def test_a_dry_run_says_what_would_happen_and_does_nothing(self):
        self.fill(20)
        report = self.bulk(action="cancel", dry_run=True)
        # `done`: as many as would be done.
        self.assertEqual((report.status, report.json["matched"], report.json["done"]), (200, 20, 20))
        self.assertEqual(self.count("queued"), 20)

    def test_a_small_one_is_done_at_once_and_names_what_was_refused(self):
        self.fill(5)
        running = self.claim_one()
        report = self.bulk(action="discard", reason="cleaning").json
        self.assertEqual((report["matched"], report["done"]), (5, 4))
        self.assertEqual([r["id"] for r in report["refused"]], [running["id"]])
        self.assertTrue(report["refused"][0]["reason"])
        self.assertEqual((self.count("discarded"), self.count("running")), (4, 1))

    def test_a_limit_is_kept(self):
        self.fill(10)
        self.assertEqual(self.bulk(action="cancel", limit=3).json["done"], 3)
        self.assertEqual(self.count("cancelled"), 3)

    def test_a_large_one_goes_on_as_a_job_bound_to_what_was_there(self):
        self.fill(2500)
        answer = self.bulk(action="cancel")
        self.assertEqual(answer.status, 202)
        job = answer.json["bulk_id"]
        late = self.submit()

        def finished():
            report = self.server.good("GET", f"/v1/bulk/{job}")
            return report if report["state"] == "succeeded" else None

        report = until(finished, "the job is finished")
        self.assertEqual((report["matched"], report["done"]), (2500, 2500))
        self.assertEqual((self.count("cancelled"), self.server.task(late)["state"]), (2500, "queued"))

    def test_a_job_is_paused_resumed_and_stopped(self):
        self.fill(1500)
        job = self.bulk(action="pause", rate=50).json["bulk_id"]
        self.assertEqual(self.server.good("POST", f"/v1/bulk/{job}/pause")["state"], "paused")
        time.sleep(0.5)
        held = self.server.good("GET", f"/v1/bulk/{job}")["done"]
        time.sleep(0.7)
        self.assertEqual(self.server.good("GET", f"/v1/bulk/{job}")["done"], held)
        self.assertEqual(self.server.good("POST", f"/v1/bulk/{job}/resume")["state"], "running")
        until(lambda: self.server.good("GET", f"/v1/bulk/{job}")["done"] > held, "the job goes on")
        self.assertEqual(self.server.good("POST", f"/v1/bulk/{job}/stop")["state"], "cancelled")
        time.sleep(0.3)
        stopped = self.server.good("GET", f"/v1/bulk/{job}")
        self.assertLess(stopped["done"], 1500)
        self.assertEqual(self.count("paused"), stopped["done"])


class Surface(SystemTest):
    TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    def test_a_traceparent_goes_on_to_the_task_and_comes_back(self):
        answer = self.server.post("/v1/tasks", {"type": "t", "queue": self.queue}, headers={"traceparent": self.TRACE})
        for told in (answer.headers["traceparent"], self.server.task(answer.json["id"])["context"]["traceparent"]):
            self.assertEqual(told.split("-")[1], self.TRACE.split("-")[1], "another trace")
        self.assertEqual(self.claim_one()["context"]["traceparent"].split("-")[1], self.TRACE.split("-")[1])

    def test_a_traceparent_in_the_body_is_kept_as_it_is(self):
        task = self.server.task(self.submit(traceparent=self.TRACE))
        self.assertEqual(task["context"]["traceparent"], self.TRACE)

    def test_a_broken_traceparent_header_is_no_error(self):
        answer = self.server.get("/healthz", headers={"traceparent": "00-zero"})
        self.assertEqual(answer.status, 200)
        self.assertNotIn("traceparent", answer.headers)

    def test_a_request_id_is_echoed_and_made_up_when_there_is_none(self):
        echoed = self.server.get("/healthz", headers={"X-Request-Id": "abc-1"})
        self.assertEqual(echoed.headers["x-request-id"], "abc-1")
        own = {self.server.get("/healthz").headers["x-request-id"] for _ in range(5)}
        self.assertEqual(len(own), 5)
        problem = self.server.get("/nowhere", headers={"X-Request-Id": "abc-2"})
        self.assertEqual((problem.headers["x-request-id"], problem.json["request_id"]), ("abc-2", "abc-2"))
        unusable = self.server.get("/healthz", headers={"X-Request-Id": "a b"}).headers["x-request-id"]
        self.assertNotEqual(unusable, "a b")

    def test_head_answers_like_get_without_the_body(self):
        head = self.server.call("HEAD", "/healthz")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual(head.headers["content-length"], self.server.get("/healthz").headers["content-length"])

    def test_head_of_what_never_ends_is_refused(self):
        for path in ("/v1/events", f"/v1/tasks/{self.submit()}/events"):
            head = self.server.call("HEAD", path)
            self.assertEqual((head.status, head.headers.get("allow")), (405, "GET"), path)

    def test_an_operator_whose_name_is_no_text_is_refused(self):
        task_id = self.submit()
        connection = self.server.connect()
        self.addCleanup(connection.close)
        connection.putrequest("POST", f"/v1/tasks/{task_id}/cancel")
        connection.putheader("Holdfast-User", b"op\xff\xfe")
        connection.putheader("Content-Length", "2")
        connection.endheaders(b"{}")
        self.assertEqual(connection.getresponse().status, 422)
        self.assertEqual(self.server.history(task_id)[-1]["event"], "submitted")

    def test_many_requests_on_one_connection(self):
        connection = self.server.connect()
        self.addCleanup(connection.close)
        for _ in range(50):
            self.assertEqual(self.server.get("/healthz", connection=connection).status, 200)
            self.assertEqual(self.server.get("/nowhere", connection=connection).status, 404)

    def test_health_and_readiness(self):
        self.assertEqual(self.server.good("GET", "/healthz")["status"], "alive")
        ready = self.server.good("GET", "/readyz")
        self.assertEqual((ready["status"], ready["degraded"], ready["problems"]), ("ready", False, []))
        self.assertTrue(ready["durability"])
        self.assertIn("sqlite:", ready["store"])

    def test_workers_that_claim_are_listed(self):
        self.claim(worker="lister", wait="0s")
        names = {w["name"]: w for w in self.server.good("GET", "/v1/workers")["workers"]}
        self.assertEqual(names["lister"]["kind"], "http")
        self.assertEqual(names["lister"]["queues"], [self.queue])

    def test_every_route_to_read_answers(self):
        task_id = self.submit()
        self.server.fail(self.claim_one(), "permanent")
        group = self.server.task(task_id)["fingerprint"]
        described = self.server.good("GET", "/openapi.json")
        self.assertEqual(described["openapi"][:3], "3.1")
        gets = [path for path, item in described["paths"].items() if "get" in item]
        self.assertGreater(len(gets), 15)
        wrong = []
        for path in gets:
            filled = path.replace("{id}", task_id).replace("{queue}", self.queue).replace("{worker}", "w")
            filled = filled.replace("{fingerprint}", group)
            status = self.status_of(filled)
            # No task is a bulk job, no file of the dashboard is called so, and a stream wants an upgrade.
            expected = {"/v1/bulk/{id}": 404, "/assets/{file}": 404, "/v1/work": 426}.get(path, 200)
            if status != expected:
                wrong.append((path, status))
        self.assertEqual(wrong, [])

    def status_of(self, path):
        """Of the head alone: events never end."""
        connection = self.server.connect()
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        finally:
            connection.close()

    def test_every_route_that_acts_is_known(self):
        # With nonsense each is refused for what was sent, never as a path or a method nobody knows.
        wrong = []
        for path, item in self.server.good("GET", "/openapi.json")["paths"].items():
            for method in set(item) - {"get"}:
                filled = path.replace("{id}", "no-id").replace("{queue}", "no queue".replace(" ", "%20"))
                answer = self.server.call(method.upper(), filled.replace("{worker}", "nobody"), {"nonsense": 1})
                if answer.status != 422:
                    wrong.append((method, path, answer.status))
        self.assertEqual(wrong, [])

    FAMILIES = """holdfast_tasks holdfast_submitted_total holdfast_finished_total holdfast_task_run_seconds
        holdfast_task_wait_seconds holdfast_retries_total holdfast_suspended_total holdfast_lease_expired_total
        holdfast_stale_refused_total holdfast_commit_seconds holdfast_commit_batch holdfast_tasks_without_wake_source
        holdfast_http_requests_total holdfast_http_request_seconds""".split()

    def test_metrics_are_those_of_the_contract(self):
        task_id = self.submit("metered", retry=QUICK_RETRY)
        self.server.fail(self.claim_one())
        self.server.complete(self.claim_one())
        self.submit("metered", retry={"max": 1})
        self.server.fail(self.claim_one())
        self.server.complete({"id": task_id, "attempt": 1, "epoch": 1})
        answer = self.server.get("/metrics")
        self.assertEqual(answer.status, 200)
        self.assertTrue(answer.headers["content-type"].startswith("text/plain"), answer.headers)
        text = answer.body.decode()
        families = set(re.findall(r"^# TYPE (\S+) ", text, re.M))
        self.assertEqual([name for name in self.FAMILIES if name not in families], [])
        for sample in (
            rf'^holdfast_tasks{{[^}}]*queue="{self.queue}"[^}}]*state="suspended"[^}}]*}} 1$',
            rf'^holdfast_finished_total{{[^}}]*outcome="succeeded"[^}}]*queue="{self.queue}"[^}}]*type="metered"[^}}]*}} 1$',
            r"^holdfast_tasks_without_wake_source 0$",
            r'^holdfast_http_requests_total{[^}]*method="POST"[^}]*route="/v1/tasks"[^}]*status="202"[^}]*} [1-9]',
            r"^holdfast_stale_refused_total(?:{[^}]*})? [1-9]",
            r"^holdfast_retries_total(?:{[^}]*})? [1-9]",
            r"^holdfast_suspended_total(?:{[^}]*})? [1-9]",
        ):
            self.assertRegex(text, re.compile(sample, re.M))

    def test_metrics_pass_promtool(self):
        if shutil.which("promtool") is None:
            self.skipTest("promtool is not installed")
        self.submit()
        self.server.complete(self.claim_one())
        checked = subprocess.run(
            ["promtool", "check", "metrics"],
            input=self.server.get("/metrics").body,
            capture_output=True,
            timeout=PATIENCE,
        )
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, b""))

    def test_payloads_are_not_logged(self):
        secret = "secret-" + self.queue
        self.submit(payload={"password": secret})
        self.server.fail(self.claim_one(), kind="permanent", message=secret)
        self.server.post("/v1/tasks", b'{"type":"t","payload":"' + secret.encode())
        self.assertNotIn(secret, self.server.log())


if __name__ == "__main__":
    unittest.main()
