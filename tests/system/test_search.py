"""Searching and acting on what was found, as people do it: filter lines, facets, failure groups, bulk acts."""

import json
import subprocess
import time
import unittest
import urllib.parse

from tests.system.harness import BINARY, SystemTest, check_problem, seconds_of, until


class Search(SystemTest):
    def ask(self, path, q, **more):
        return self.server.get(f"{path}?{urllib.parse.urlencode({'q': q, **more})}")

    def found(self, q, **more):
        answer = self.ask("/v1/tasks", q, fields="header", **more)
        self.assertEqual(answer.status, 200, answer.json)
        return [task["id"] for task in answer.json["tasks"]]

    def fail_one(self, message):
        task = self.claim_one(worker="w1")
        error = {"kind": "permanent", "message": message, "stack": "at main.py:1"}
        self.assertEqual(self.server.outcome("fail", task, error=error)["outcome"], "ok")
        return task["id"]

    def test_a_line_finds_what_it_says_and_rows_have_what_a_table_shows(self):
        pro = self.submit(labels={"plan": "pro"}, payload={"user": {"name": "Ann"}}, tenant="acme")
        free = self.submit(labels={"plan": "free"}, payload={"user": {"name": "Bob"}})
        mine = f"queue:{self.queue}"
        self.assertEqual(self.found(f"{mine} label.plan:pro"), [pro])
        self.assertEqual(self.found(f"{mine} -label.plan:pro"), [free])
        self.assertEqual(self.found(f"{mine} input.user.name:Bob"), [free])
        self.assertEqual(self.found(f"{mine} tenant:ac*"), [pro])
        self.assertEqual(self.found(f"queue：{self.queue}　label.plan：free"), [free])
        self.assertEqual(self.found(f"{mine} age:>1h"), [])
        task = self.claim_one(worker="w1")
        row = self.ask("/v1/tasks", f"{mine} worker:w1", fields="header").json["tasks"][0]
        self.assertEqual((row["id"], row["worker"], row["revision"]), (task["id"], "w1", 0))
        self.assertEqual((row["pause_requested"], row["cancel_requested"]), (False, False))
        self.assertGreater(row["lease_until"], row["updated_at"])

    def test_an_answer_says_what_it_cost(self):
        self.submit()
        by_index = self.ask("/v1/tasks", f"queue:{self.queue} state:queued").json
        self.assertEqual((by_index["cost"], by_index["complete"]), ("index", True))
        self.assertEqual(self.ask("/v1/tasks", "worker:nobody").json["cost"], "scan")

    def test_rows_are_read_again_by_their_ids(self):
        first, second = self.submit(), self.submit()
        gone = "0193d0a8-3c5e-7abc-8def-0123456789ab"
        answer = self.server.get(f"/v1/tasks?fields=header&ids={first},{gone},{second}")
        self.assertEqual({task["id"] for task in answer.json["tasks"]}, {first, second})
        check_problem(self, self.server.get("/v1/tasks?ids=nonsense"), field="ids")

    def test_a_mistake_is_named_with_its_place(self):
        answer = self.ask("/v1/tasks", "state:failed kind:x")
        check_problem(self, answer, field="q")
        self.assertEqual(answer.json["position"], 13)
        self.assertIn("did you mean type?", answer.json["detail"])
        body = {"action": "cancel", "filter": {"q": "stat:queued"}}
        self.assertIn("did you mean state?", self.server.post("/v1/tasks/bulk", body).json["detail"])

    def test_facets_count_what_a_line_finds(self):
        for number in range(5):
            self.submit("even" if number % 2 == 0 else "odd", tenant="acme")
        answer = self.ask("/v1/tasks/facets", f"queue:{self.queue}").json
        self.assertEqual((answer["total"], answer["exact"]), (5, True))
        self.assertEqual(answer["facets"]["type"], [{"value": "even", "count": 3}, {"value": "odd", "count": 2}])
        self.assertEqual(answer["facets"]["tenant"], [{"value": "acme", "count": 5}])
        narrow = self.ask("/v1/tasks/facets", f"queue:{self.queue} tenant:acme type:odd").json
        self.assertEqual((narrow["total"], narrow["exact"]), (2, True))

    def test_a_failing_group_is_found_and_resumed(self):
        for _ in range(3):
            self.submit()
        for number in range(3):
            self.fail_one(f"host {number} says 503")
        mine = f"queue:{self.queue}"
        groups = self.ask("/v1/failures", mine).json
        self.assertEqual((groups["total"], groups["exact"]), (1, True))
        group = groups["groups"][0]
        self.assertEqual((group["message"], group["open"], group["tasks"]["suspended"]), ("host # says #", 3, 3))
        whole = self.server.get(f"/v1/failures/{group['fingerprint']}").json
        self.assertEqual(whole["stack"], "at main.py:1")
        self.assertEqual(self.server.get("/v1/failures/1").json["code"], "not_found")
        body = {"action": "resume", "filter": {"q": f"group:{group['fingerprint']} state:suspended {mine}"}}
        rehearsed = self.server.post("/v1/tasks/bulk", {**body, "dry_run": True}).json
        self.assertEqual((rehearsed["matched"], rehearsed["done"], rehearsed["refused_by"]), (3, 3, {}))
        self.assertEqual(self.server.post("/v1/tasks/bulk", body).json["done"], 3)
        self.assertEqual(len(self.found(f"{mine} state:queued")), 3)

    def test_a_dry_run_says_what_would_be_refused_and_why(self):
        ids = [self.submit() for _ in range(3)]
        held = self.claim_one(worker="w1")["id"]
        body = {"action": "discard", "filter": {"q": f"queue:{self.queue}"}, "dry_run": True}
        report = self.server.post("/v1/tasks/bulk", body).json
        self.assertEqual((report["matched"], report["done"], report["refused_count"]), (3, 2, 1))
        self.assertEqual(report["refused_by"], {"the task is running": 1})
        by_ids = self.server.post("/v1/tasks/bulk", {"action": "discard", "ids": ids}).json
        self.assertEqual((by_ids["done"], by_ids["refused_by"]), (2, {"the task is running": 1}))
        self.assertEqual(self.found(f"queue:{self.queue} -state:discarded"), [held])

    def test_jobs_are_listed_with_what_they_were_asked(self):
        for _ in range(2):
            self.submit()
        body = {"action": "cancel", "filter": {"q": f"queue:{self.queue}"}, "rate": 100, "reason": "not needed"}
        job = self.server.post("/v1/tasks/bulk", body).json["bulk_id"]

        def finished():
            mine = [j for j in self.server.get("/v1/bulk").json["jobs"] if j["bulk_id"] == job]
            return mine[0] if mine and mine[0]["state"] == "succeeded" else None

        shown = until(finished, "the job has finished")
        self.assertEqual((shown["q"], shown["action"], shown["reason"]), (f"queue:{self.queue}", "cancel", "not needed"))
        self.assertEqual((shown["matched"], shown["done"]), (2, 2))

    def test_a_queue_says_since_when_its_oldest_task_waits(self):
        first = self.server.task(self.submit())
        time.sleep(0.02)
        self.submit()
        queue = self.server.get(f"/v1/queues/{self.queue}").json
        self.assertAlmostEqual(seconds_of(queue["oldest_at"]), seconds_of(first["created_at"]), delta=0.003)
        self.assertIn(self.queue, [row["queue"] for row in self.server.get("/v1/stats").json["oldest"]])
        self.claim(10)
        self.assertIsNone(self.server.get(f"/v1/queues/{self.queue}").json["oldest_at"])

    def test_the_command_line_finds_and_acts_by_a_line(self):
        def holdfast(*arguments):
            return subprocess.run([BINARY, *arguments, "--server", f"http://127.0.0.1:{self.server.port}"], capture_output=True, text=True, timeout=60)

        ids = {self.submit("image.small"), self.submit("image.large")}
        self.submit("mail")
        line = f"queue:{self.queue} type:image.*"
        listed = json.loads(holdfast("list", "-q", line, "-o", "json").stdout)
        self.assertEqual({task["id"] for task in listed}, ids)
        counted = holdfast("cancel", "-q", line, "--dry-run")
        self.assertIn("matched 2", counted.stdout)
        self.assertEqual(len(self.found(f"queue:{self.queue} state:queued")), 3, "nothing was done")
        self.assertIn("done 2", holdfast("cancel", "-q", line, "--yes").stdout)
        self.assertEqual(set(self.found(f"queue:{self.queue} state:cancelled")), ids)
        self.assertIn("did you mean type?", holdfast("list", "-q", "kind:x").stderr)
        self.fail_one("disk 7 is full")
        self.assertIn("disk # is full", holdfast("failures", "-q", f"queue:{self.queue}").stdout)


if __name__ == "__main__":
    unittest.main()
