"""The examples of sdks/cpp do what they say, against a real server."""

import os
import signal
import subprocess
import unittest

from tests.system.harness import BINARY, PATIENCE, Server

EXAMPLES = os.path.join(os.path.dirname(BINARY), "sdks", "cpp")


class Examples(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)

    def start(self, name):
        example = subprocess.Popen(
            [os.path.join(EXAMPLES, "example_" + name), f"http://127.0.0.1:{self.server.port}"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(example.wait)
        self.addCleanup(example.kill)
        self.addCleanup(example.stdout.close)
        self.addCleanup(example.stderr.close)
        return example

    def ends_well(self, worker):
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(PATIENCE), 0)

    def test_what_the_producer_submits_the_worker_does(self):
        worker = self.start("worker")
        out, err = self.start("submit").communicate(timeout=PATIENCE)
        self.assertIn("Ada", out, err)
        tasks = self.server.good("GET", "/v1/tasks?type=greet")["tasks"]
        self.assertEqual([task["state"] for task in tasks], ["succeeded"])
        self.ends_well(worker)

    def test_a_report_is_built_in_stages(self):
        worker = self.start("checkpoints")
        task = self.server.submit("report")
        done = self.server.good("GET", f"/v1/tasks/{task}?wait=30s")
        self.assertEqual(done["state"], "succeeded", done)
        steps = [step["event"] for step in self.server.good("GET", f"/v1/tasks/{task}/history")["history"]]
        self.assertIn("checkpointed", steps)
        self.ends_well(worker)


if __name__ == "__main__":
    unittest.main()
