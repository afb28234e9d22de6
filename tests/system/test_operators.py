"""What operators see and do: charts, the audit, redaction, read-only servers, streams of chosen tasks."""

import unittest
from urllib.parse import quote

from tests.system.harness import Server, SystemTest, check_problem


class ReadOnly(unittest.TestCase):
    def test_operators_are_refused_while_producers_and_workers_go_on(self):
        server = Server("--read-only")
        self.addCleanup(server.close)
        self.assertTrue(server.good("GET", "/readyz")["read_only"])
        task = server.good("POST", "/v1/tasks", {"type": "t", "queue": "q"})["id"]
        for method, path, body in (
            ("POST", f"/v1/tasks/{task}/cancel", {}),
            ("POST", f"/v1/tasks/{task}/signal", {"data": 1}),
            ("POST", "/v1/tasks/bulk", {"action": "cancel", "filter": {}}),
            ("POST", "/v1/queues/q/pause", {}),
            ("PUT", "/v1/queues/q/limits", {"rate": 1}),
            ("POST", "/internal/tasks/suspended/discard", {"filter": {}}),
        ):
            answer = server.call(method, path, body)
            self.assertEqual(answer.status, 403, path)
            check_problem(self, answer)
            self.assertEqual(answer.json["code"], "forbidden")
        self.assertFalse(server.good("GET", "/v1/queues/q")["paused"])
        (claimed,) = server.good("POST", "/v1/claim", {"queues": ["q"], "worker": "w"})["tasks"]
        server.complete(claimed)
        self.assertEqual(server.good("GET", f"/v1/tasks/{task}")["state"], "succeeded")


class Readers(SystemTest):
    def test_a_server_says_what_it_is(self):
        ready = self.server.good("GET", "/readyz")
        self.assertFalse(ready["read_only"])
        self.assertRegex(ready["version"], r"^\d+\.\d+\.\d+")
        self.assertLessEqual(ready["started_at"], ready["time"])

    def test_the_configuration_tells_values_sources_and_defaults(self):
        options = {row["name"]: row for row in self.server.good("GET", "/v1/config")["options"]}
        self.assertEqual(options["store.url"]["source"], "--store")
        self.assertEqual(options["store.url"]["default"], "sqlite:./holdfast-data")
        self.assertEqual(options["http.max_body"]["value"], "1MiB")
        self.assertEqual(options["http.max_body"]["source"], "default")
        self.assertIn("413", options["http.max_body"]["says"])
        self.assertNotIn("test.commit_delay", options)

    def test_a_stream_of_chosen_tasks_tells_of_no_other(self):
        wanted, other = self.submit(), self.submit()
        events = self.events(f"/v1/events?since=oldest&tasks={wanted}")
        self.server.good("POST", f"/v1/tasks/{other}/cancel", {})
        self.server.good("POST", f"/v1/tasks/{wanted}/cancel", {})
        events.wait_for(1, "cancelled")
        self.assertEqual({e["data"]["task"] for e in events.named()}, {wanted})

    def test_a_stream_of_no_task_has_counters_alone(self):
        events = self.events("/v1/events?since=oldest&counters=1&tasks=")
        self.submit()
        events.wait_for(2, "counters")
        self.assertEqual({e["event"] for e in events.named()}, {"counters"})

    def test_what_names_no_task_is_refused(self):
        for text in ("x", ",".join([self.submit()] * 201)):
            answer = self.server.call("GET", f"/v1/events?tasks={text}")
            self.assertEqual(answer.status, 422)
            check_problem(self, answer, field="tasks")


class Audit(SystemTest):
    def entries(self, **wanted):
        query = "&".join(f"{name}={quote(value)}" for name, value in wanted.items())
        return self.server.good("GET", f"/v1/audit?{query}")["entries"]

    def test_an_act_is_kept_with_who_why_and_from_where(self):
        task = self.submit()
        headers = {"Holdfast-User": quote("Zoë 王")}
        self.server.good("POST", f"/v1/tasks/{task}/cancel", {"reason": "wrong customer"}, headers=headers)
        (entry,) = self.entries(target=f"task:{task}")
        self.assertEqual(entry["who"], "Zoë 王")
        self.assertEqual(entry["action"], "task.cancel")
        self.assertEqual(entry["reason"], "wrong customer")
        self.assertEqual(entry["address"], "127.0.0.1")
        self.assertIn(entry, self.entries(who="Zoë 王", action="task.cancel"))
        (step,) = [s for s in self.server.history(task) if s["event"] == "cancelled"]
        self.assertEqual(step["actor"], "Zoë 王")

    def test_a_name_that_is_none_is_refused_and_nothing_is_done(self):
        task = self.submit()
        for name in ("%zz", "%ff", "%0a", "x" * 101):
            answer = self.server.call("POST", f"/v1/tasks/{task}/cancel", {}, headers={"Holdfast-User": name})
            self.assertEqual(answer.status, 422, name)
            check_problem(self, answer, field="Holdfast-User")
        self.assertEqual(self.server.task(task)["state"], "queued")
        self.assertEqual(self.entries(target=f"task:{task}"), [])

    def test_a_queue_says_who_paused_it(self):
        queue = self.server.good("POST", f"/v1/queues/{self.queue}/pause", {"reason": "too hot"})
        self.assertEqual((queue["paused_by"], queue["paused_reason"]), ("api", "too hot"))
        self.assertTrue(queue["paused_at"])
        self.assertIsNone(queue["closed_by"])
        queue = self.server.good("POST", f"/v1/queues/{self.queue}/resume", {})
        self.assertIsNone(queue["paused_by"])
        actions = [e["action"] for e in self.entries(target=f"queue:{self.queue}")]
        self.assertEqual(actions, ["queue.resume", "queue.pause"])

    def test_it_survives_the_server(self):
        server = self.own_server()
        server.good("POST", "/v1/queues/q/close", {"reason": "moving"})
        server.kill()
        server.start()
        (entry,) = server.good("GET", "/v1/audit")["entries"]
        self.assertEqual((entry["action"], entry["reason"]), ("queue.close", "moving"))

    def test_a_stream_of_everything_tells_of_tasks_and_not_of_the_audit(self):
        events = self.events("/v1/events?kinds=submitted,cancelled")
        task = self.submit()
        self.server.good("POST", f"/v1/tasks/{task}/cancel", {})
        events.wait_for(1, "cancelled")
        self.assertNotIn("audit", {e["data"]["kind"] for e in events.named()})


class Redaction(SystemTest):
    PAYLOAD = {"user": "ada", "apiKey": "k-1", "deep": [{"access_token": "t"}], "max_tokens": 7}

    def test_secrets_are_hidden_from_who_asks_for_it_and_revealed_with_a_reason(self):
        task = self.submit(payload=self.PAYLOAD)
        self.assertEqual(self.server.task(task)["payload"], self.PAYLOAD)
        shown = self.server.good("GET", f"/v1/tasks/{task}?redact=1")
        hidden = {"user": "ada", "apiKey": "[redacted]", "deep": [{"access_token": "[redacted]"}], "max_tokens": 7}
        self.assertEqual(shown["payload"], hidden)
        self.assertTrue(shown["redacted"])
        (row,) = self.server.good("GET", f"/v1/tasks?queue={self.queue}&redact=1")["tasks"]
        self.assertEqual(row["payload"], hidden)
        check_problem(self, self.server.call("POST", f"/v1/tasks/{task}/reveal", {}), field="reason")
        whole = self.server.good("POST", f"/v1/tasks/{task}/reveal", {"reason": "ticket 4711"})
        self.assertEqual(whole["payload"], self.PAYLOAD)
        (entry,) = self.server.good("GET", f"/v1/audit?target=task:{task}")["entries"]
        self.assertEqual((entry["action"], entry["reason"]), ("task.reveal", "ticket 4711"))

    def test_always_means_every_reader_and_no_worker(self):
        server = self.own_server("--redact-always", "--redact-keys", "pin")
        task = server.good("POST", "/v1/tasks", {"type": "t", "payload": {"pin": 1234, "token": "x"}})["id"]
        self.assertEqual(server.task(task)["payload"], {"pin": "[redacted]", "token": "x"})
        claimed = server.claim_one()
        self.assertEqual(claimed["payload"], {"pin": 1234, "token": "x"})
        server.complete(claimed, {"pin": 1})
        self.assertEqual(server.good("GET", f"/v1/tasks/{task}?redact=0")["result"], {"pin": "[redacted]"})


class Series(SystemTest):
    NAMES = ("submitted", "started", "succeeded", "failed", "cancelled", "discarded", "retried", "suspended")

    def total(self, server, name, **wanted):
        query = "&".join(f"{k}={v}" for k, v in wanted.items())
        return sum(server.good("GET", f"/v1/series?{query}")[name])

    def test_what_happens_is_in_the_chart_of_all_and_of_its_queue(self):
        before = self.total(self.server, "succeeded", range="15m")
        self.submit()
        self.server.complete(self.claim_one())
        chart = self.server.good("GET", "/v1/series?range=15m")
        self.assertEqual({len(chart[name]) for name in self.NAMES}, {90})
        self.assertEqual((chart["range"], chart["step"]), ("15m", "10s"))
        self.assertEqual(sum(chart["succeeded"]), before + 1)
        self.assertTrue(any(chart["run_ms"]["p95"]))
        for name in ("submitted", "started", "succeeded"):
            self.assertEqual(self.total(self.server, name, range="1h", queue=self.queue), 1)
        queue = self.server.good("GET", f"/v1/queues/{self.queue}")
        self.assertGreater(queue["rate_in"], 0)
        self.assertGreater(queue["rate_out"], 0)

    def test_it_survives_a_restart(self):
        server = self.own_server()
        for _ in range(5):
            server.good("POST", "/v1/tasks", {"type": "t"})
        self.assertEqual(server.stop(), 0)
        server.start()
        self.assertEqual(self.total(server, "submitted", range="24h"), 5)
        self.assertEqual(self.total(server, "submitted", range="24h", queue="default"), 5)
        rate = server.good("GET", "/v1/queues/default")["rate_in"]
        self.assertTrue(0 < rate <= 0.5, f"{rate}: five in the last minute, over ten seconds at least")

    def test_a_range_that_there_is_not_is_refused(self):
        check_problem(self, self.server.call("GET", "/v1/series?range=2h"), field="range")
