"""Several servers on one Redis: one installation, whichever of them is asked."""

import asyncio
import json
import threading
import time
import unittest

from tests.system.harness import PATIENCE, Events, check_problem, in_parallel, report, until
from tests.system.redis import Cluster, Redis
from tests.system.worker import Worker

# Whoever waits looks by itself only this often: what comes sooner came by a hint.
POLL = ("--engine-poll-interval", "5s")
AT_ONCE = 0.2
TTL = 15


class Timed:
    def __enter__(self):
        self.begun = time.monotonic()
        return self

    def __exit__(self, *_):
        self.took = time.monotonic() - self.begun


def instance_ids(server):
    return [one["id"] for one in server.good("GET", "/v1/instances")["instances"]]


def know_each_other(servers):
    until(lambda: all(len(instance_ids(s)) == len(servers) for s in servers), "all instances are there")
    time.sleep(0.3)  # and have told each other


class OneInstallation(unittest.IsolatedAsyncioTestCase):
    maxDiff = None
    number = 0
    kind = Redis

    @classmethod
    def setUpClass(cls):
        cls.redis = cls.kind()
        cls.addClassCleanup(cls.redis.close)
        cls.servers = []
        for name in ("one", "two", "three"):
            server = cls.redis.server("--instance", name, *POLL)
            cls.servers.append(server)
            cls.addClassCleanup(server.close)
        know_each_other(cls.servers)

    def setUp(self):
        OneInstallation.number += 1
        self.queue = f"i{OneInstallation.number}"
        self.one, self.two, self.three = self.servers

    async def worker(self, server, **hello):
        worker = await Worker.connect(server, **{"queues": [self.queue], **hello})
        self.addAsyncCleanup(worker.leave)
        return worker

    async def test_a_task_submitted_on_one_is_run_by_a_worker_of_another_at_once(self):
        worker = await self.worker(self.two, slots=100)
        took = []
        for i in range(10):
            await asyncio.sleep(0.05)
            with Timed() as time_of_it:
                await asyncio.to_thread(self.one.submit, queue=self.queue)
                await worker.has(i + 1)
            took.append(time_of_it.took)
        report(f"submit on one instance → assigned on another: {sorted(took)[5] * 1000:.1f} ms in the middle")
        self.assertLess(sorted(took)[5], AT_ONCE)
        self.assertLess(max(took), 4, "one was found by looking, not by a hint")
        tasks = await worker.has(10)
        outcomes = await worker.settled("done", [{k: t[k] for k in ("id", "attempt", "epoch")} for t in tasks])
        self.assertEqual(set(outcomes.values()), {"ok"})
        self.assertEqual(self.three.task(tasks[0]["id"])["state"], "succeeded")

    async def test_who_waits_on_one_hears_what_was_finished_on_another(self):
        took = []
        for _ in range(5):
            task_id = self.one.submit(queue=self.queue)
            task = self.two.claim_one(self.queue)
            waiting = asyncio.create_task(asyncio.to_thread(self.three.get, f"/v1/tasks/{task_id}?wait=20s"))
            await asyncio.sleep(0.3)
            with Timed() as time_of_it:
                self.assertEqual(self.two.complete(task, {"ok": 1}), "ok")
                answer = await waiting
            self.assertEqual(answer.json["state"], "succeeded")
            took.append(time_of_it.took)
        self.assertLess(sorted(took)[2], AT_ONCE)

    async def test_events_of_one_are_seen_on_another(self):
        events = Events(self.three, f"/v1/events?filter=queue:{self.queue}")
        self.addCleanup(events.close)
        task_id = self.one.submit(queue=self.queue)
        self.assertEqual(self.two.complete(self.two.claim_one(self.queue)), "ok")
        seen = await asyncio.to_thread(events.wait_for, 3)
        self.assertEqual([e["event"] for e in seen], ["submitted", "claimed", "completed"])
        self.assertEqual({e["data"]["task"] for e in seen}, {task_id})

    async def test_fifty_clients_of_three_instances_with_one_key_make_one_task(self):
        body = {"type": "t", "queue": self.queue, "payload": {"n": 1}, "idempotency_key": f"k-{self.queue}"}
        answers = await asyncio.to_thread(
            in_parallel, 50, lambda i: self.servers[i % 3].good("POST", "/v1/tasks", body, status=(202,))
        )
        self.assertEqual(len({answer["id"] for answer in answers}), 1)
        self.assertEqual(sum(not answer["duplicate"] for answer in answers), 1)
        self.assertEqual(len(self.one.claim(self.queue, most=10, wait="1s")), 1)

    async def test_a_queue_that_is_paused_on_one_hands_out_nothing_on_the_others_within_a_second(self):
        for server in (self.two, self.three):
            self.assertEqual(server.claim(self.queue, wait="0s"), [])  # its settings are known there
        self.one.good("POST", f"/v1/queues/{self.queue}/pause")
        await asyncio.sleep(1)
        task_id = self.one.submit(queue=self.queue)
        for server in self.servers:
            self.assertEqual(server.claim(self.queue, wait="0s"), [])
            self.assertTrue(server.good("GET", f"/v1/queues/{self.queue}")["paused"])
        worker = await self.worker(self.two)
        await asyncio.sleep(0.5)
        self.assertEqual(worker.assigned(), [])
        with Timed() as time_of_it:
            await asyncio.to_thread(self.three.good, "POST", f"/v1/queues/{self.queue}/resume")
            (task,) = await worker.has(1)
        self.assertEqual(task["id"], task_id)
        self.assertLess(time_of_it.took, 2)

    async def test_a_limit_of_a_queue_holds_over_all(self):
        self.one.good("PUT", f"/v1/queues/{self.queue}/limits", {"concurrency": 3})
        time.sleep(1)
        for _ in range(40):
            self.one.submit(queue=self.queue)
        claimed = [task for server in self.servers for task in server.claim(self.queue, most=20, wait="0s")]
        self.assertEqual(len(claimed), 3)
        self.assertEqual(self.two.complete(claimed[0]), "ok")
        claimed = [task for server in self.servers for task in server.claim(self.queue, most=20, wait="0s")]
        self.assertEqual(len(claimed), 1)

    async def test_a_cancel_on_one_reaches_the_worker_of_another_at_once(self):
        worker = await self.worker(self.two, lease="60s")
        task_id = self.one.submit(queue=self.queue)
        (task,) = await worker.has(1)
        with Timed() as time_of_it:
            answer = await asyncio.to_thread(self.three.post, f"/v1/tasks/{task_id}/cancel")
            self.assertEqual(answer.status, 202)
            self.assertEqual((await worker.hear("cancel"))["id"], task_id)
        self.assertLess(time_of_it.took, 2)
        await worker.settled("yield", [{k: task[k] for k in ("id", "attempt", "epoch")}])
        self.assertEqual(self.one.task(task_id)["state"], "cancelled")

    async def test_workers_of_all_are_listed_on_each_and_drained_from_each(self):
        name = f"w-{self.queue}"
        worker = await self.worker(self.two, worker=name)

        def listed():
            return [w for w in self.one.good("GET", "/v1/workers")["workers"] if w["name"] == name]

        found = await asyncio.to_thread(until, listed, "the worker is known on the other instance")
        self.assertEqual([(w["instance"], w["kind"]) for w in found], [("two", "stream")])
        self.assertEqual(self.one.post(f"/v1/workers/{name}/drain").status, 202)
        self.assertEqual((await worker.hear("bye"))["reason"], "drained_by_operator")
        self.assertEqual(self.one.post("/v1/workers/nobody/drain").status, 404)

    async def test_an_instance_says_what_it_is(self):
        for server, name in zip(self.servers, ("one", "two", "three")):
            everybody = server.good("GET", "/v1/instances")["instances"]
            self.assertEqual([one["id"] for one in everybody], ["one", "three", "two"])
            (own,) = [one for one in everybody if one["self"]]
            self.assertEqual(own["id"], name)
            self.assertEqual(own["address"], f"http://127.0.0.1:{server.port}")
            self.assertEqual(own["roles"], ["api", "gateway", "ticker"])
            self.assertRegex(own["version"], r"^\d+\.\d+")


class OneInstallationOnACluster(OneInstallation):
    kind = Cluster


class ComingAndGoing(unittest.TestCase):
    def setUp(self):
        self.redis = Redis()
        self.addCleanup(self.redis.close)

    def server(self, *flags):
        server = self.redis.server(*flags)
        self.addCleanup(server.close)
        return server

    def test_one_that_is_killed_is_gone_when_its_time_is_over_and_one_that_leaves_at_once(self):
        first, second, third = (self.server("--instance", name) for name in ("a", "b", "c"))
        know_each_other([first, second, third])
        with Timed() as time_of_it:
            self.assertEqual(second.stop(), 0)
            until(lambda: instance_ids(first) == ["a", "c"], "it is gone")
        self.assertLess(time_of_it.took, 3)
        third.kill()
        with Timed() as time_of_it:
            until(lambda: instance_ids(first) == ["a"], "it is gone", patience=2 * TTL)
        self.assertLess(time_of_it.took, TTL + 3)

    def test_names_are_made_where_none_is_given(self):
        first, second = self.server(), self.server()
        know_each_other([first, second])
        self.assertEqual(len(set(instance_ids(first))), 2)

    def test_another_prefix_is_another_installation(self):
        first = self.server("--redis-prefix", "blue")
        second = self.server("--redis-prefix", "green")
        task_id = first.submit(queue="q")
        self.assertEqual(second.get(f"/v1/tasks/{task_id}").status, 404)
        self.assertEqual(second.claim("q", wait="0s"), [])
        self.assertEqual(len(instance_ids(first)), 1)

    def test_what_is_in_the_way_is_said_in_one_line_with_what_to_do(self):
        self.redis.kill()
        server = self.redis.server(start=False)
        server.store = f"redis://someone:hunter2@127.0.0.1:{self.redis.port}"
        with Timed() as time_of_it, self.assertRaises(AssertionError):
            server.start()
        self.assertLess(time_of_it.took, 20)
        self.assertEqual(server.ended(), 1)
        said = server.log()
        self.assertIn(f"127.0.0.1:{self.redis.port}", said)
        self.assertNotIn("hunter2", said)
        self.assertLessEqual(len(said.strip().splitlines()), 2, said)


class Roles(unittest.TestCase):
    def setUp(self):
        self.redis = Redis()
        self.addCleanup(self.redis.close)

    def server(self, roles):
        server = self.redis.server("--roles", roles, "--instance", roles.replace(",", "-"))
        self.addCleanup(server.close)
        return server

    def refused(self, answer, role):
        self.assertEqual(answer.status, 421, answer)
        check_problem(self, answer)
        self.assertIn(f"role {role}", answer.json["detail"])
        self.assertIn("/v1/instances", answer.json["detail"])

    def test_each_serves_its_own_and_says_whose_the_rest_is(self):
        api, gateway, ticker = self.server("api"), self.server("gateway"), self.server("ticker")
        task_id = api.submit(queue="q")
        claim = {"queues": ["q"], "worker": "w"}
        self.refused(api.post("/v1/claim", claim), "gateway")
        self.refused(api.get("/v1/work"), "gateway")
        self.refused(gateway.post("/v1/tasks", {"type": "t"}), "api")
        self.refused(gateway.get(f"/v1/tasks/{task_id}"), "api")
        self.refused(gateway.get("/v1/events"), "api")
        self.refused(ticker.post("/v1/claim", claim), "gateway")
        self.refused(ticker.get("/v1/queues"), "api")
        self.assertEqual(gateway.complete(gateway.claim_one("q")), "ok")
        self.assertEqual(api.task(task_id)["state"], "succeeded")
        for server, role in ((api, "api"), (gateway, "gateway"), (ticker, "ticker")):
            for path in ("/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/instances"):
                self.assertEqual(server.get(path).status, 200, path)
            self.assertEqual(server.get("/readyz").json["roles"], [role])

    def test_nothing_becomes_due_before_somebody_has_the_role_ticker(self):
        server = self.server("api,gateway")
        task_id = server.submit(queue="q", delay="100ms")
        time.sleep(1)
        self.assertEqual(server.task(task_id)["state"], "waiting")
        self.server("ticker")
        server.reaches(task_id, "queued")
        self.assertEqual(server.claim_one("q")["id"], task_id)


class Unreachable(unittest.IsolatedAsyncioTestCase):
    """R12: Redis goes and comes back."""

    def setUp(self):
        self.redis = Redis()
        self.addCleanup(self.redis.close)
        self.server = self.redis.server("--engine-poll-interval", "500ms")
        self.addCleanup(self.server.close)

    def lines(self, level):
        return [line for line in map(json.loads, self.server.log().splitlines()) if line["level"] == level]

    def refused_at_once(self, method, path, body=None):
        with Timed() as time_of_it:
            answer = self.server.call(method, path, body)
        self.assertEqual(answer.status, 503, f"{path}: {answer}")
        check_problem(self, answer)
        self.assertEqual(answer.json["code"], "unavailable")
        self.assertLess(time_of_it.took, 1, path)

    async def test_everything_is_refused_at_once_and_goes_on_by_itself(self):
        worker = await Worker.connect(self.server, queues=["q"], slots=2)
        self.addAsyncCleanup(worker.leave)
        kept = self.server.submit(queue="other")
        self.server.submit(queue="q")
        (task,) = await worker.has(1)
        self.redis.kill()
        await asyncio.to_thread(until, lambda: self.server.get("/readyz").status == 503, "it is noticed")
        fence = {k: task[k] for k in ("id", "attempt", "epoch")}
        for method, path, body in (
            ("POST", "/v1/tasks", {"type": "t"}),
            ("POST", "/v1/tasks", [{"type": "t"}, {"type": "t"}]),
            ("GET", f"/v1/tasks/{kept}", None),
            ("GET", f"/v1/tasks/{kept}?wait=20s", None),
            ("GET", "/v1/queues", None),
            ("POST", "/v1/claim", {"queues": ["q"], "worker": "w", "wait": "10s"}),
            ("POST", "/v1/complete", {"items": [fence]}),
            ("POST", "/v1/heartbeat", {"worker": "w", "items": [fence]}),
            ("GET", "/v1/instances", None),
        ):
            self.refused_at_once(method, path, body)
        ready = self.server.get("/readyz").json
        self.assertEqual(ready["status"], "unavailable")
        self.assertIn(f"127.0.0.1:{self.redis.port}", json.dumps(ready), "it does not say what is in the way")
        self.assertEqual(self.server.get("/healthz").status, 200)
        self.assertEqual(self.server.get("/metrics").status, 200)
        await asyncio.sleep(2)
        self.assertEqual(len(self.lines("critical")), 1, self.server.log_end())

        with Timed() as time_of_it:
            self.redis.start()
            fresh = await asyncio.to_thread(
                until, lambda: (got := self.server.post("/v1/tasks", {"type": "t", "queue": "q"})).status == 202 and got,
                "tasks are taken again", 5,
            )  # fmt: skip
            got = await worker.has(2)
        report(f"Redis is back → a task runs on a stream that stayed open: {time_of_it.took:.2f} s")
        self.assertLess(time_of_it.took, 6)
        self.assertEqual(got[1]["id"], fresh.json["id"])
        self.assertEqual(await worker.done(got[0]), {task["id"]: "ok"})
        self.assertEqual(self.server.task(kept)["state"], "queued")
        until(lambda: self.server.get("/readyz").json["status"] == "ready", "it is ready again", 5)
        until(lambda: any("answers again" in line["message"] for line in self.lines("warn")), "it says so", 5)
        self.assertEqual(len(self.lines("critical")), 1)

    async def test_one_that_holds_its_connections_and_is_silent_is_noticed_too(self):
        self.redis.freeze()
        try:
            answers = []
            thread = threading.Thread(target=lambda: answers.append(self.server.post("/v1/tasks", {"type": "t"})))
            thread.start()
            thread.join(PATIENCE)
            self.assertEqual([a.status for a in answers], [503])
            self.assertEqual(self.server.get("/healthz").status, 200)
        finally:
            self.redis.thaw()
        until(lambda: self.server.post("/v1/tasks", {"type": "t"}).status == 202, "tasks are taken again", 10)


if __name__ == "__main__":
    unittest.main()
