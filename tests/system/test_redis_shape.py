"""What redis-cli shows at each step of a failing task's life, in both retry strategies; as docs/how-to/redis.md says."""

import time
import unittest

from tests.system.harness import Server, until
from tests.system.redis import Redis

GROUP = "workers"
DLQ = "ingest:tasks:dlq"


class Shape(unittest.TestCase):
    maxDiff = None
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.redis = Redis()
        cls.server = Server("--redis-dlq", DLQ, *cls.flags, store=cls.redis.url)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.redis.close()

    def setUp(self):
        self.queue = self._testMethodName[:40]
        self.lane = f"{{hf:0}}:lane:{self.queue}||5|"
        self.dlq_before = self.dlq()

    def dlq(self):
        keys = self.redis.keys(f"*{DLQ}")
        return sum(self.redis.call("XLEN", key) for key in keys)

    def submit(self, schedule, most=2):
        retry = {"max": most, "policy": {"schedule": [schedule], "jitter": 0}}
        return self.server.submit("ingest", queue=self.queue, payload={"document": 7}, retry=retry)

    def shows(self, task_id, state, attempt, length, pending):
        """HGETALL, XLEN and XPENDING at once."""
        record = self.redis.hash(f"{{hf:0}}:task:{task_id}")
        summary = self.redis.call("XPENDING", self.lane, GROUP)
        seen = (record.get("s"), record.get("a"), self.redis.call("XLEN", self.lane), summary[0])
        self.assertEqual(seen, (state, str(attempt), length, pending))
        self.assertEqual(self.server.task(task_id)["state"], state)

    def wake(self, task_id):
        return self.redis.call("ZSCORE", "{hf:0}:wake", task_id)


class DueSet(Shape):
    def test_a_failing_task(self):
        task_id = self.submit("1500ms")
        self.shows(task_id, "queued", 0, length=1, pending=0)
        first = self.server.claim_one(self.queue)
        self.shows(task_id, "running", 1, length=1, pending=1)
        self.assertIsNotNone(self.wake(task_id), "the lease is its timer")
        self.server.fail(first)
        self.shows(task_id, "retrying", 1, length=0, pending=0)
        self.assertIsNotNone(self.wake(task_id), "the retry is its timer")
        second = self.server.claim_one(self.queue, wait="10s")
        self.shows(task_id, "running", 2, length=1, pending=1)
        self.server.fail(second, message="still no luck")
        self.shows(task_id, "suspended", 2, length=0, pending=0)
        self.assertIsNone(self.wake(task_id), "it waits for a person")
        self.assertEqual(self.dlq() - self.dlq_before, 1)
        self.server.good("POST", f"/v1/tasks/{task_id}/resume", {"reason": "mended"})
        self.shows(task_id, "queued", 2, length=1, pending=0)
        self.assertEqual(self.server.complete(self.server.claim_one(self.queue)), "ok")
        self.shows(task_id, "succeeded", 3, length=0, pending=0)


class KeptPending(Shape):
    flags = ("--redis-pel-queues", "*", "--redis-reclaim-idle", "0s")

    def test_a_failing_task(self):
        task_id = self.submit("1500ms")
        self.shows(task_id, "queued", 0, length=1, pending=0)
        first = self.server.claim_one(self.queue)
        self.shows(task_id, "running", 1, length=1, pending=1)
        entry = self.pending_entry()
        self.server.fail(first)
        self.shows(task_id, "retrying", 1, length=1, pending=1)
        self.assertEqual(self.server.claim(self.queue, wait="0s"), [], "not due yet")
        second = self.server.claim_one(self.queue, wait="10s")
        self.shows(task_id, "running", 2, length=1, pending=1)
        self.assertEqual(self.pending_entry(), entry, "the same entry, delivered again")
        self.server.fail(second, message="still no luck")
        self.shows(task_id, "suspended", 2, length=0, pending=0)
        self.assertEqual(self.dlq() - self.dlq_before, 1)
        self.server.good("POST", f"/v1/tasks/{task_id}/resume", {"reason": "mended"})
        self.shows(task_id, "queued", 2, length=1, pending=0)
        self.assertEqual(self.server.complete(self.server.claim_one(self.queue)), "ok")
        self.shows(task_id, "succeeded", 3, length=0, pending=0)

    def pending_entry(self):
        return self.redis.call("XPENDING", self.lane, GROUP, "-", "+", 10)[0][0]

    def test_two_failures_at_once_make_it_dead(self):
        """Seed 001, 5.1: at most 2 failures, no backoff, reclaimed at once."""
        task_id = self.submit("0s", most=2)
        self.server.fail(self.server.claim_one(self.queue), message="no answer from 127.0.0.1:65530")
        self.assertEqual(self.server.task(task_id)["retry"]["count"], 1)
        self.server.fail(self.server.claim_one(self.queue), message="no answer from 127.0.0.1:65530")
        task = self.server.reaches(task_id, "suspended")
        self.assertEqual(task["retry"]["count"], 2)
        self.assertIn("65530", task["error"]["message"])
        self.assertEqual(self.dlq() - self.dlq_before, 1)
        self.assertEqual(self.redis.call("XPENDING", self.lane, GROUP)[0], 0)
        steps = [(step["from"], step["to"]) for step in self.server.history(task_id)]
        for step in (("queued", "running"), ("running", "retrying"), ("retrying", "queued"), ("running", "suspended")):
            self.assertIn(step, steps)


class NoDlq(Shape):
    def test_an_empty_name_writes_no_dead_letters(self):
        server = Server("--redis-dlq", "", "--redis-prefix", "plain", store=self.redis.url)
        self.addCleanup(server.close)
        task_id = server.submit(queue=self.queue, retry={"max": 1})
        server.fail(server.claim_one(self.queue))
        self.assertEqual(server.task(task_id)["state"], "suspended")
        self.assertEqual([key for key in self.redis.keys("*dlq*") if "plain" in key], [])


class LeftBehind(Shape):
    def test_a_task_whose_worker_died_comes_back(self):
        task_id = self.submit("10ms", most=5)
        self.server.claim_one(self.queue, lease="1s")
        self.shows(task_id, "running", 1, length=1, pending=1)
        again = self.server.claim_one(self.queue, wait="10s")
        self.assertEqual(again["attempt"], 2)
        self.assertEqual(self.server.complete(again), "ok")
        self.shows(task_id, "succeeded", 2, length=0, pending=0)

    def test_an_entry_that_was_lost_is_pushed_again(self):
        """As a failover that lost the last writes would leave it."""
        task_id = self.submit("10ms")
        for entry, _ in self.redis.call("XRANGE", self.lane, "-", "+"):
            self.redis.call("XDEL", self.lane, entry)
        begun = time.monotonic()
        task = until(lambda: self.server.claim(self.queue, wait="1s"), "the sweep finds it", 60)[0]
        self.assertEqual(task["id"], task_id)
        self.assertLess(time.monotonic() - begun, 60)


del Shape

if __name__ == "__main__":
    unittest.main()
