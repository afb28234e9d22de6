"""Killed and stopped under load, through the real server: what was acknowledged is there, and happened once."""

import asyncio
import collections
import contextlib
import http.client
import itertools
import os
import random
import threading
import time
import unittest

from tests.system.harness import PATIENCE, Events, Server, ref, report, until
from tests.system.worker import Worker

SEED = int(os.environ.get("CRASH_SEED", "0")) or 20_261_116
ROUNDS = int(os.environ.get("CRASH_ROUNDS", "5"))
QUEUE = "crash"
PATIENT_RETRY = {"max": 0, "policy": {"schedule": ["10ms"]}}
BROKEN = (OSError, http.client.HTTPException, ValueError)


class Load:
    """Submits, claims and completes, over HTTP and the stream, through whatever happens to the server; and remembers
    what it was told."""

    def __init__(self, server):
        self.server = server
        self.lock = threading.Lock()
        self.submitted = {}  # key → id, as acknowledged
        self.completed = {}  # id → result, as acknowledged
        self.wrong = []  # what no promise allows
        self.submitting = True
        self.working = True
        self.numbers = itertools.count()
        self.threads = [threading.Thread(target=self.submit, args=(i,), daemon=True) for i in range(3)]
        self.threads += [threading.Thread(target=self.work, args=(i,), daemon=True) for i in range(2)]
        self.threads += [threading.Thread(target=lambda: asyncio.run(self.stream()), daemon=True)]
        for thread in self.threads:
            thread.start()

    # ---- over HTTP ----

    def call(self, holder, path, body):
        """The answer's JSON, or None when there was no good one; the connection is made anew when it broke."""
        try:
            if holder.get("connection") is None:
                holder["connection"] = self.server.connect(timeout=5)
            answer = self.server.post(path, body, connection=holder["connection"])
        except BROKEN:
            if holder.get("connection") is not None:
                holder.pop("connection").close()
            time.sleep(0.01)
            return None
        if answer.status in (200, 202):
            return answer.json
        if answer.status != 503:
            self.wrong.append(f"{path}: {answer!r}")
        time.sleep(0.01)
        return None

    def submit(self, name):
        holder = {}
        while self.submitting:
            count = 1 + name * 7
            keys = [f"{name}-{next(self.numbers)}" for _ in range(count)]
            tasks = [
                {"type": "t", "queue": QUEUE, "payload": key, "idempotency_key": key, "retry": PATIENT_RETRY}
                for key in keys
            ]
            # The same again until it is acknowledged: who was not answered does not know.
            while self.working:
                said = self.call(holder, "/v1/tasks", tasks if count > 1 else tasks[0])
                if said is None:
                    continue
                receipts = said["tasks"] if count > 1 else [said]
                with self.lock:
                    for key, receipt in zip(keys, receipts):
                        if "id" in receipt:
                            self.submitted[key] = receipt["id"]
                break
        self.hang_up(holder)

    def work(self, name):
        holder = {}
        while self.working:
            body = {"queues": [QUEUE], "worker": f"http-{name}", "max": 5, "wait": "200ms", "lease": "1s"}
            said = self.call(holder, "/v1/claim", body)
            if not said or not said["tasks"]:
                continue
            items = [{**ref(task), "result": self.result_of(task)} for task in said["tasks"]]
            for _ in range(3):
                told = self.call(holder, "/v1/complete", {"items": items})
                if told is not None:
                    self.note(items, told["items"])
                    break
        self.hang_up(holder)

    @staticmethod
    def hang_up(holder):
        if holder.get("connection") is not None:
            holder["connection"].close()

    def result_of(self, task):
        return {"payload": task["payload"], "attempt": task["attempt"], "number": next(self.numbers)}

    def note(self, items, outcomes):
        with self.lock:
            for item, outcome in zip(items, outcomes):
                assert item["id"] == outcome["id"]
                if outcome["outcome"] == "ok":
                    before = self.completed.setdefault(item["id"], item["result"])
                    if before != item["result"]:
                        self.wrong.append(f"completed twice: {item['id']}: {before} and {item['result']}")
                elif outcome["outcome"] not in ("stale_lease", "wrong_state"):
                    self.wrong.append(f"{outcome}")

    # ---- over the stream ----

    async def stream(self):
        held = {}  # id → the item it will say; kept over broken connections
        while self.working:
            worker = None
            with contextlib.suppress(Exception):
                running = [{k: item[k] for k in ("id", "attempt", "epoch")} for item in held.values()]
                worker = await Worker.connect(
                    self.server, worker="stream", queues=[QUEUE], slots=8, lease="1s", running=running
                )
                await self.converse(worker, held)
            if worker is not None:
                worker.line.transport.abort()
                await worker.reader
            await asyncio.sleep(0.01)

    async def converse(self, worker, held):
        seen = 0
        while self.working and not worker.closed.is_set():
            assigned = worker.assigned()
            for task in assigned[seen:]:
                held[task["id"]] = {**ref(task), "result": self.result_of(task)}
            seen = len(assigned)
            if not held:
                worker.news.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(worker.news.wait(), 0.2)
                continue
            items = list(held.values())[:1000]
            before = len(worker.all("outcome"))
            await worker.say("done", items=items)
            outcome = await worker.hear("outcome", before + 1, patience=5)
            self.note(items, outcome["items"])
            for item in items:
                held.pop(item["id"], None)

    # ---- the end ----

    def stop_submitting(self):
        self.submitting = False
        for thread in self.threads[:3]:
            thread.join(PATIENCE)

    def stop(self):
        self.submitting = self.working = False
        for thread in self.threads:
            thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in self.threads), "a load thread hangs"


def all_tasks(server):
    tasks, cursor = [], ""
    while cursor is not None:
        page = server.good("GET", f"/v1/tasks?queue={QUEUE}&limit=1000" + (cursor and f"&cursor={cursor}"))
        tasks += page["tasks"]
        cursor = page["next_cursor"]
    return tasks


class Crash(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.server = Server("--drain", "5s")
        self.addCleanup(self.server.close)
        self.load = Load(self.server)
        self.addCleanup(self.load.stop)
        self.random = random.Random(SEED)

    def finish(self):
        """Lets the load come to its end."""
        self.load.stop_submitting()

        def all_finished():
            tasks = self.server.good("GET", f"/v1/queues/{QUEUE}")["tasks"]
            return sum(tasks.values()) == tasks["succeeded"]

        until(all_finished, "every task is finished", 60)
        self.load.stop()

    def check(self):
        load = self.load
        self.assertEqual(load.wrong[:5], [])
        self.assertGreater(len(load.submitted), 50)
        self.assertGreater(len(load.completed), 50)
        tasks = all_tasks(self.server)
        by_id = {task["id"]: task for task in tasks}
        self.assertEqual(len(by_id), len(tasks), "listed twice")
        lost = [key for key, task_id in load.submitted.items() if task_id not in by_id]
        self.assertEqual(lost[:5], [], "acknowledged submissions are lost")
        per_key = collections.Counter(task["context"]["idempotency_key"] for task in tasks)
        self.assertEqual([key for key, count in per_key.items() if count > 1][:5], [], "one key, two tasks")
        for key, task_id in load.submitted.items():
            self.assertEqual(by_id[task_id]["payload"], key)
        for task_id, result in load.completed.items():
            task = by_id[task_id]
            self.assertEqual((task["state"], task["result"]), ("succeeded", result), task_id)
        self.check_completed_once(by_id)
        doctor = self.server.good("GET", "/v1/doctor")
        self.assertIs(doctor["healthy"], True, doctor)

    def check_completed_once(self, by_id):
        """By the feed for all of them, and by the history of some."""
        events = Events(self.server, f"/v1/events?since=oldest&kinds=completed&filter=queue:{QUEUE}")
        self.addCleanup(events.close)
        succeeded = [task_id for task_id, task in by_id.items() if task["state"] == "succeeded"]
        told = events.wait_for(len(succeeded), "completed")
        versions = collections.defaultdict(set)
        for event in told + events.named("completed"):
            versions[event["data"]["task"]].add(event["data"]["version"])
        self.assertEqual([i for i, seen in versions.items() if len(seen) > 1][:5], [], "completed more than once")
        self.assertEqual(set(versions), set(succeeded))
        for task_id in self.random.sample(succeeded, min(50, len(succeeded))):
            self.assertEqual(self.server.events_of(task_id).count("completed"), 1)

    def test_killed_again_and_again_under_load(self):
        for _ in range(ROUNDS):
            time.sleep(self.random.uniform(0.2, 1.2))
            self.server.kill()
            begun = time.monotonic()
            self.server.start()
            until(self.server.is_alive, "it answers again")
            took = time.monotonic() - begun
            self.assertLess(took, 10)
        report(f"last restart to first answer: {took * 1000:.0f} ms, seed {SEED}")
        time.sleep(0.5)
        self.finish()
        self.check()
        reruns = sum(result["attempt"] > 1 for result in self.load.completed.values())
        report(
            f"{ROUNDS} kills: {len(self.load.submitted)} submitted, {len(self.load.completed)} completed, "
            f"none lost, none twice; {reruns} were tried again"
        )

    def test_stopped_under_load_everything_that_was_answered_is_there(self):
        waiting = self.server.connect()
        waiting.request("GET", f"/v1/tasks/{self.server.submit(queue='nobody')}?wait=60s")
        idle = self.server.connect()
        idle.connect()
        time.sleep(1)
        begun = time.monotonic()
        code = self.server.stop()
        took = time.monotonic() - begun
        report(f"SIGTERM under load: exit {code} after {took:.2f} s")
        self.assertEqual(code, 0)
        self.assertLess(took, 5 + 5)
        self.assertEqual(waiting.getresponse().status, 200, "a long poll is answered before the end")
        waiting.close()
        idle.close()
        self.server.start()
        time.sleep(0.3)
        self.finish()
        self.check()


if __name__ == "__main__":
    unittest.main()
