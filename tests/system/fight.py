"""Several instances on one store, load on all of them, and whatever befalls them meanwhile: what was acknowledged is
there, and happened once.

    with Fight(redis.url, instances=3) as fight:
        fight.begin(20_000)
        …kill and cut…
        fight.finish()
        fight.check(self)
"""

import collections
import contextlib
import http.client
import itertools
import os
import random
import subprocess
import threading
import time

from tests.system.harness import LEASH, PATIENCE, Events, Server, ref, until

WORKER = os.path.abspath(os.environ.get("HOLDFAST_STEADY_WORKER", "build/release/tests/steady_worker"))
BATCH = 250
LEASE = "2s"
BROKEN = (OSError, http.client.HTTPException, ValueError)
NOT_NOW = (408, 429, 503)


class SteadyWorker:
    """A worker of the C++ client in a process of its own: completes all it is given, over the stream."""

    def __init__(self, server, queue, slots=200):
        self.server, self.queue, self.slots = server, queue, slots
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [*LEASH, WORKER, f"http://127.0.0.1:{self.server.port}", self.queue, str(self.slots)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)

    close = kill


class Fight:
    def __init__(self, store, instances=2, flags=(), seed=1, queue="fight", may_log_errors=False):
        self.random = random.Random(seed)
        self.queue = queue
        self.lock = threading.Lock()
        self.submitted = {}  # key → (id, when), as acknowledged
        self.completed = {}  # id → (result, when), as acknowledged over HTTP
        self.wrong = []  # what no promise allows
        self.working = True
        self.numbers = itertools.count()
        self.threads = []
        self.stack = contextlib.ExitStack()
        self.servers = []
        try:
            for _ in range(instances):
                server = Server("--drain", "3s", *flags, store=store, may_log_errors=may_log_errors)
                self.servers.append(server)
                self.stack.callback(self.servers[-1].close)
            self.workers = [SteadyWorker(server, queue) for server in self.servers]
            for worker in self.workers:
                self.stack.callback(worker.close)
        except BaseException:
            self.stack.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop_load()
        self.stack.close()

    # ---- load ----

    def begin(self, tasks):
        shares = [tasks // 3, tasks // 3, tasks - 2 * (tasks // 3)]
        self.threads = [threading.Thread(target=self._submit, args=(share,), daemon=True) for share in shares]
        self.threads += [threading.Thread(target=self._work, args=(i,), daemon=True) for i in range(2)]
        for thread in self.threads:
            thread.start()

    def _call(self, holder, path, body):
        """The answer's JSON, or None when there was no good one. Whoever was not answered tries another instance."""
        try:
            if holder.get("line") is None:
                holder["server"] = self.random.choice(self.servers)
                holder["line"] = holder["server"].connect(timeout=10)
            answer = holder["server"].post(path, body, connection=holder["line"])
        except BROKEN:
            self._hang_up(holder)
            time.sleep(0.01)
            return None
        if answer.status in (200, 202):
            return answer.json
        if answer.status not in NOT_NOW:
            self.wrong.append(f"{path}: {answer!r}")
        self._hang_up(holder)
        time.sleep(0.02)
        return None

    @staticmethod
    def _hang_up(holder):
        if holder.get("line") is not None:
            holder.pop("line").close()

    def _submit(self, share):
        holder = {}
        while share > 0 and self.working:
            keys = [f"k-{next(self.numbers)}" for _ in range(min(BATCH, share))]
            left = {key: self._task(key) for key in keys}
            # The same again until each is acknowledged: who was not answered does not know.
            while left and self.working:
                asked = list(left)
                said = self._call(holder, "/v1/tasks", [left[key] for key in asked])
                now = time.monotonic()
                for key, receipt in zip(asked, said["tasks"] if said else ()):
                    if "id" in receipt:
                        with self.lock:
                            self.submitted[key] = (receipt["id"], now)
                        del left[key]
            share -= len(keys)
        self._hang_up(holder)

    def _task(self, key):
        return {
            "type": "t", "queue": self.queue, "payload": key, "idempotency_key": key,
            "retry": {"max": 0, "policy": {"schedule": ["10ms"]}},
        }  # fmt: skip

    def _work(self, name):
        holder = {}
        while self.working:
            body = {"queues": [self.queue], "worker": f"http-{name}", "max": 50, "wait": "200ms", "lease": LEASE}
            said = self._call(holder, "/v1/claim", body)
            if not said or not said["tasks"]:
                continue
            items = [
                {**ref(task), "result": {"http": next(self.numbers), "attempt": task["attempt"]}}
                for task in said["tasks"]
            ]
            for _ in range(3):
                told = self._call(holder, "/v1/complete", {"items": items})
                if told is not None:
                    self._note(items, told["items"])
                    break
        self._hang_up(holder)

    def _note(self, items, outcomes):
        now = time.monotonic()
        with self.lock:
            for item, outcome in zip(items, outcomes):
                if outcome["outcome"] == "ok":
                    before = self.completed.setdefault(item["id"], (item["result"], now))[0]
                    if before != item["result"]:
                        self.wrong.append(f"completed twice: {item['id']}: {before} and {item['result']}")
                elif outcome["outcome"] not in ("stale_lease", "wrong_state"):
                    self.wrong.append(f"{outcome}")

    # ---- what befalls them ----

    def kill_instance(self):
        server = self.random.choice(self.servers)
        server.kill()
        server.start()

    def kill_worker(self):
        worker = self.random.choice(self.workers)
        worker.kill()
        worker.start()

    # ---- the end ----

    def counts(self):
        """By state; none while the store is out of reach."""
        answer = self.servers[0].get(f"/v1/queues/{self.queue}")
        return answer.json["tasks"] if answer.status == 200 else {}

    def is_over(self):
        """Nobody submits any more."""
        return not any(thread.is_alive() for thread in self.threads[:3])

    def finish(self, patience=90):
        """Lets the load come to its end."""
        for thread in self.threads[:3]:
            thread.join(patience)
            assert not thread.is_alive(), "submitting does not come to an end"

        def all_finished():
            tasks = self.counts()
            return tasks and sum(tasks.values()) == tasks["succeeded"]

        try:
            until(all_finished, "every task is finished", patience, every=0.1)
        except AssertionError:
            stuck = [t for t in self.tasks() if t["state"] != "succeeded"][:3]
            raise AssertionError(f"unfinished: {self.counts()}; {stuck}") from None
        self.stop_load()

    def stop_load(self):
        self.working = False
        for thread in self.threads:
            thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in self.threads), "a load thread hangs"

    def tasks(self):
        tasks, cursor = [], ""
        while cursor is not None:
            path = f"/v1/tasks?queue={self.queue}&limit=1000" + (cursor and f"&cursor={cursor}")
            page = self.servers[0].good("GET", path)
            tasks += page["tasks"]
            cursor = page["next_cursor"]
        return tasks

    def check(self, test, may_lose_since=None):
        """`may_lose_since`: what was acknowledged after it may be gone, as the durability of the server says."""
        test.assertEqual(self.wrong[:5] if may_lose_since is None else [], [])
        tasks = self.tasks()
        by_id = {task["id"]: task for task in tasks}
        test.assertEqual(len(by_id), len(tasks), "listed twice")

        def promised(kept):
            return {k: v[0] for k, v in kept.items() if may_lose_since is None or v[1] < may_lose_since}

        submitted, completed = promised(self.submitted), promised(self.completed)
        lost = [key for key, task_id in submitted.items() if task_id not in by_id]
        test.assertEqual(lost[:5], [], f"{len(lost)} acknowledged submissions are lost")
        per_key = collections.Counter(task["context"]["idempotency_key"] for task in tasks)
        test.assertEqual([key for key, count in per_key.items() if count > 1][:5], [], "one key, two tasks")
        test.assertEqual([t["id"] for t in tasks if t["state"] != "succeeded"][:5], [])
        if may_lose_since is None:
            for task_id, result in completed.items():
                test.assertEqual(by_id[task_id]["result"], result, task_id)
            self._check_completed_once(test, by_id)
        doctor = self.servers[0].good("GET", "/v1/doctor")
        test.assertIs(doctor["healthy"], True, doctor)
        return len(tasks)

    def _check_completed_once(self, test, by_id):
        """By the feed for all of them, and by the history of some."""
        events = Events(self.servers[-1], f"/v1/events?since=oldest&kinds=completed&filter=queue:{self.queue}")
        try:
            told = events.wait_for(len(by_id), "completed")
            versions = collections.defaultdict(set)
            for event in told + events.named("completed"):
                versions[event["data"]["task"]].add(event["data"]["version"])
        finally:
            events.close()
        test.assertEqual([i for i, seen in versions.items() if len(seen) > 1][:5], [], "completed more than once")
        test.assertEqual(len(versions), len(by_id))
        for task_id in self.random.sample(sorted(by_id), min(30, len(by_id))):
            test.assertEqual(self.servers[0].events_of(task_id).count("completed"), 1)
