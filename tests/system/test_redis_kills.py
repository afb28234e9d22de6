"""Several instances on one Redis, killed at random with their workers: no task is lost, none is completed twice."""

import os
import time
import unittest

from tests.system.fight import Fight
from tests.system.harness import report
from tests.system.redis import Cluster, Redis

SEED = int(os.environ.get("FIGHT_SEED", "0")) or 20_261_116
ROUNDS = int(os.environ.get("FIGHT_ROUNDS", "3"))
CLUSTER_ROUNDS = max(1, ROUNDS // 10)
TASKS = 20_000


class Kills(unittest.TestCase):
    maxDiff = None

    def rounds(self, store, rounds, flush):
        kills = again = 0
        begun = time.monotonic()
        for number in range(rounds):
            with self.subTest(round=number, seed=SEED + number):
                with Fight(store, instances=2 + number % 2, seed=SEED + number) as fight:
                    fight.begin(TASKS)
                    for _ in range(fight.random.randrange(3, 7)):
                        time.sleep(fight.random.uniform(0.1, 0.5))
                        fight.random.choice([fight.kill_instance, fight.kill_worker])()
                        kills += 1
                    fight.finish()
                    self.assertEqual(fight.check(self), TASKS)
                    again += sum(result["attempt"] > 1 for result, _ in fight.completed.values())
                flush()
        report(
            f"{rounds} rounds of {TASKS} tasks with {kills} kills in {time.monotonic() - begun:.0f} s: "
            f"none lost, none twice; at least {again} were tried again"
        )

    def test_on_one_server(self):
        redis = Redis()
        self.addCleanup(redis.close)
        self.rounds(redis.url, ROUNDS, lambda: redis.call("FLUSHALL"))

    def test_on_a_cluster(self):
        cluster = Cluster(masters=3)
        self.addCleanup(cluster.close)
        self.rounds(cluster.url, CLUSTER_ROUNDS, lambda: [node.call("FLUSHALL") for node in cluster.nodes])


if __name__ == "__main__":
    unittest.main()
