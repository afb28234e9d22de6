"""Three servers on one Redis, of which one after the other is killed while work goes on: nothing is lost, nothing is done
twice. KILL_ROUNDS says how often somebody is killed."""

import http.client
import json
import os
import random
import threading
import time
import unittest

from tests.system.harness import report, until
from tests.system.redis import Redis

ROUNDS = int(os.environ.get("KILL_ROUNDS", "10"))
TASKS = 20000
BATCH = 50
WORKERS = 6
LEASE = "2s"
SEED = int(os.environ.get("KILL_SEED", str(random.randrange(10**6))))
# What a connection to a server that is being killed says.
GONE = (OSError, http.client.HTTPException, json.JSONDecodeError)


class Kills(unittest.TestCase):
    redis_options = ()

    def setUp(self):
        self.random = random.Random(SEED)
        self.redis = Redis(*self.redis_options)
        self.addCleanup(self.redis.close)
        self.servers = []
        for _ in range(3):
            server = self.redis.server("--log-level", "error")
            self.servers.append(server)
            self.addCleanup(server.close)
        self.ports = [server.port for server in self.servers]
        self.done = {}  # how often a completion was new, by id
        self.lock = threading.Lock()
        self.kills = 0
        self.over = threading.Event()
        self.faults = []

    def ask(self, chance, path, body):
        """Until some server answers well."""
        while True:
            port = chance.choice(self.ports)
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            try:
                connection.request("POST", path, json.dumps(body))
                answer = connection.getresponse()
                text = answer.read()
                if answer.status in (200, 202):
                    return json.loads(text)
                if answer.status != 503:
                    self.faults.append(f"{path}: {answer.status} {text[:300]}")
            except GONE:
                pass
            finally:
                connection.close()
            time.sleep(0.02)

    def produce(self, first, ids):
        while first > TASKS * (self.kills + 1) / ROUNDS:  # there is work in every round
            time.sleep(0.05)
        chance = random.Random(SEED + first)
        batch = [{"type": "t", "queue": "q", "idempotency_key": f"k{first + i}"} for i in range(BATCH)]
        tasks = []
        while len(tasks) < len(batch):
            tasks = [task for task in self.ask(chance, "/v1/tasks", batch)["tasks"] if "id" in task]
        with self.lock:
            ids.extend(task["id"] for task in tasks)

    def work(self, number):
        chance = random.Random(SEED * 31 + number)
        claim = {"queues": ["q"], "worker": f"w{number}", "max": 20, "lease": LEASE, "wait": "1s"}
        while not self.over.is_set():
            tasks = self.ask(chance, "/v1/claim", claim)["tasks"]
            if tasks and tasks[0]["attempt"] == 1 and chance.random() < 0.03:
                continue  # as if it had died with them
            items = [{k: task[k] for k in ("id", "attempt", "epoch")} for task in tasks]
            if items:
                self.count(self.ask(chance, "/v1/complete", {"items": items})["items"])

    def count(self, outcomes):
        with self.lock:
            for item in outcomes:
                if item["outcome"] == "ok" and not item.get("duplicate"):
                    self.done[item["id"]] = self.done.get(item["id"], 0) + 1
                elif item["outcome"] not in ("ok", "stale_lease", "wrong_state", "unavailable", "overloaded"):
                    self.faults.append(f"complete: {item}")

    def kill_one(self):
        server = self.random.choice(self.servers)
        server.kill()
        time.sleep(self.random.uniform(0, 0.3))
        server.start()

    def kill_somebody(self):
        self.kill_one()

    def test_no_task_is_lost_and_none_is_completed_twice(self):
        ids, begun = [], time.monotonic()
        workers = [threading.Thread(target=self.work, args=(i,), daemon=True) for i in range(WORKERS)]
        producer = threading.Thread(
            target=lambda: [self.produce(i, ids) for i in range(0, TASKS, BATCH)], daemon=True
        )  # fmt: skip
        for thread in (*workers, producer):
            thread.start()
        while producer.is_alive() or self.kills < ROUNDS:
            time.sleep(self.random.uniform(0.1, 0.6))
            self.kill_somebody()
            self.kills += 1
        try:
            until(lambda: self.counts() == {"succeeded": TASKS}, "", 90, 0.5)
        except AssertionError:
            self.fail(f"seed {SEED}: after 90 s there are {self.counts()}")
        self.over.set()
        for thread in workers:
            thread.join(30)
        report(f"{TASKS} tasks, {self.kills} kills, {time.monotonic() - begun:.1f} s")

        self.assertEqual(self.faults, [], f"seed {SEED}")
        self.assertEqual(len(set(ids)), TASKS, f"seed {SEED}")
        self.assertEqual([i for i, times in self.done.items() if times > 1], [], f"seed {SEED}")
        for task_id in self.random.sample(ids, 200):
            events = self.servers[0].events_of(task_id)
            self.assertEqual(events.count("completed"), 1, f"seed {SEED}: {events}")
        self.assertTrue(self.servers[1].good("GET", "/v1/doctor")["healthy"])

    def counts(self):
        answer = self.servers[0].get("/v1/stats")
        tasks = answer.json["tasks"] if answer.status == 200 else {}
        return {state: count for state, count in tasks.items() if count}


class KillsOfRedisToo(Kills):
    """What was answered is on its disk: not even that loses anything."""

    redis_options = ("--appendfsync", "always")

    def kill_somebody(self):
        if self.kills % 5 != 4:
            return self.kill_one()
        self.redis.kill()
        time.sleep(self.random.uniform(0, 0.5))
        self.redis.start()


if __name__ == "__main__":
    unittest.main()
