"""What "accepted" means is what the Redis server says of itself, and what was asked of it besides."""

import time
import unittest

from tests.system.harness import check_problem, until
from tests.system.redis import Redis


class Said(unittest.TestCase):
    def redis(self, *flags):
        redis = Redis(*flags)
        self.addCleanup(redis.close)
        return redis

    def server(self, redis, *flags):
        server = redis.server(*flags, may_log_errors=True)
        self.addCleanup(server.close)
        return server

    def said(self, server):
        submitted = server.good("POST", "/v1/tasks", {"type": "t"}, status=(202,))["durability"]
        self.assertEqual(server.good("GET", "/readyz")["durability"], submitted)
        return submitted

    def refused(self, redis, *flags):
        """What it says when it does not start."""
        server = redis.server(*flags, start=False)
        with self.assertRaises(AssertionError):
            server.start()
        self.assertEqual(server.ended(), 1)
        return server.log()

    def test_by_how_often_the_server_syncs(self):
        redis = self.redis()
        self.assertEqual(self.said(self.server(redis)), "everysec")
        redis.call("CONFIG", "SET", "appendfsync", "always")
        self.assertEqual(self.said(self.server(redis)), "always")

    def test_another_server_may_say_something_else(self):
        redis = self.redis("--appendfsync", "always")
        server = self.server(redis)
        self.assertEqual(self.said(server), "always")
        redis.kill()
        redis.flags[1] = "everysec"
        redis.start()
        until(lambda: server.get("/readyz").status == 200 and self.said(server) == "everysec", "it is said", 10)

    def test_a_server_that_forgets_is_refused_unless_that_is_accepted(self):
        redis = self.redis("--appendonly", "no")
        said = self.refused(redis)
        self.assertIn("appendonly", said)
        self.assertIn("--accept-loss", said)
        self.assertEqual(self.said(self.server(redis, "--accept-loss")), "none")

    def test_a_server_that_evicts_is_refused(self):
        redis = self.redis("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
        self.assertIn("noeviction", self.refused(redis))

    def test_a_server_that_says_nothing_of_itself(self):
        redis = self.redis("--rename-command", "CONFIG", "")
        self.assertEqual(self.said(self.server(redis)), "unknown")

    def test_an_answer_waits_for_a_replica(self):
        redis = self.redis()
        replica = self.redis("--replicaof", "127.0.0.1", str(redis.port))
        until(lambda: replica.info("replication", "master_link_status") == "up", "the replica follows")
        server = self.server(redis, "--redis-wait-replicas", "1", "--redis-wait-timeout", "500ms")
        self.assertEqual(self.said(server), "everysec+wait")
        task_id = server.submit(queue="q")
        self.assertEqual(replica.hash(f"{{hf:0}}:task:{task_id}").get("s"), "queued")

        replica.freeze()
        begun = time.monotonic()
        answer = server.post("/v1/tasks", {"type": "t", "idempotency_key": "k"})
        took = time.monotonic() - begun
        replica.thaw()
        self.assertEqual(answer.status, 503, answer)
        check_problem(self, answer)
        self.assertEqual(answer.json["code"], "unavailable")
        self.assertLess(took, 5)
        # It may have been written: with its key it is one task all the same.
        until(lambda: server.post("/v1/tasks", {"type": "t", "idempotency_key": "k"}).status == 202, "it goes on")

    def test_an_answer_waits_for_the_disk_of_a_server_that_can_tell(self):
        redis = self.redis()
        flags = ("--redis-wait-aof", "--redis-wait-timeout", "3s")
        version = tuple(int(part) for part in redis.info("server", "redis_version").split("."))
        if version < (7, 2):
            self.assertIn("needs Redis 7.2", self.refused(redis, *flags))
            return
        server = self.server(redis, *flags)
        self.assertEqual(self.said(server), "everysec+wait")
        # A disk that lags: what was accepted before is known to be there, what comes now is not.
        redis.call("CONFIG", "SET", "appendfsync", "no")
        answer = server.post("/v1/tasks", {"type": "t", "idempotency_key": "k"})
        self.assertEqual(answer.status, 503, answer)
        check_problem(self, answer)
        self.assertEqual(answer.json["code"], "unavailable")
        self.assertIn("disk", answer.json["detail"])
        redis.call("CONFIG", "SET", "appendfsync", "everysec")
        until(lambda: server.post("/v1/tasks", {"type": "t", "idempotency_key": "k"}).status == 202, "it goes on")

    def test_full_memory_takes_no_new_work_and_lets_workers_finish(self):
        redis = self.redis()
        server = self.server(redis)
        for _ in range(20):
            server.submit(queue="q", payload="x" * 1000)
        held = server.claim("q", most=20)
        redis.call("CONFIG", "SET", "maxmemory", "1mb")
        answer = server.post("/v1/tasks", {"type": "t"})
        self.assertEqual(answer.status, 503, answer)
        check_problem(self, answer)
        for task in held:
            self.assertEqual(server.complete(task), "ok")
        redis.call("CONFIG", "SET", "maxmemory", "0")
        self.assertEqual(server.post("/v1/tasks", {"type": "t"}).status, 202)


if __name__ == "__main__":
    unittest.main()
