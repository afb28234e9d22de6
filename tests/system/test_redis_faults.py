"""Redis goes away, comes back, forgets to answer, moves house: the engine comes back by itself, and keeps its word as
far as the server kept its own."""

import time
import unittest

from tests.system.fight import Fight
from tests.system.harness import report
from tests.system.redis import Cluster, FaultProxy, Redis

TASKS = 8_000
WINDOW = 3  # seconds that everysec, or a failover, may lose


class Faults(unittest.TestCase):
    maxDiff = None

    def fight(self, store, **more):
        fight = Fight(store, may_log_errors=True, **more)
        self.addCleanup(fight.__exit__, None, None, None)
        fight.begin(TASKS)
        return fight

    def check(self, fight, what, **more):
        begun = time.monotonic()
        fight.finish()
        fight.check(self, **more)
        report(f"{what}: finished after {time.monotonic() - begun:.1f} s, {len(fight.submitted)} acknowledged, none lost")

    def test_killed_and_started_again_with_every_write_on_disk(self):
        redis = Redis("--appendfsync", "always")
        self.addCleanup(redis.close)
        fight = self.fight(redis.url)
        for _ in range(3):
            time.sleep(0.5)
            redis.kill()
            time.sleep(0.3)
            redis.start()
        self.check(fight, "Redis killed three times")

    def test_killed_with_everysec_loses_no_more_than_it_says(self):
        redis = Redis()
        self.addCleanup(redis.close)
        fight = self.fight(redis.url)
        time.sleep(1)
        since = time.monotonic() - WINDOW
        redis.kill()
        redis.start()
        self.check(fight, "Redis with everysec killed", may_lose_since=since)

    def test_cut_connections(self):
        redis = Redis()
        proxy = FaultProxy(redis.port)
        self.addCleanup(redis.close)
        self.addCleanup(proxy.close)
        fight = self.fight(proxy.url)
        for _ in range(15):
            time.sleep(0.15)
            proxy.cut()
        self.check(fight, f"{proxy.counts['cut']} connections cut")
        self.assertGreater(proxy.counts["cut"], 15)

    def test_replies_that_are_lost(self):
        redis = Redis()
        proxy = FaultProxy(redis.port)
        self.addCleanup(redis.close)
        self.addCleanup(proxy.close)
        fight = self.fight(proxy.url)
        proxy.swallow = 0.005
        time.sleep(3)
        proxy.swallow = 0
        self.check(fight, f"{proxy.counts['swallowed']} replies lost")
        self.assertGreater(proxy.counts["swallowed"], 3)

    def test_replies_that_are_late(self):
        redis = Redis()
        proxy = FaultProxy(redis.port)
        self.addCleanup(redis.close)
        self.addCleanup(proxy.close)
        fight = self.fight(proxy.url)
        for delay in (0.02, 0.2, 0):
            proxy.delay = delay
            time.sleep(1)
        self.check(fight, "replies late")

    def test_a_slot_that_moves_under_load(self):
        cluster = Cluster(masters=3)
        self.addCleanup(cluster.close)
        fight = self.fight(cluster.url)
        time.sleep(0.3)
        moved = 0
        for _ in range(3):
            slot = self.busiest_slot(cluster)
            source = cluster.of_slot(slot)
            target = next(node for node in cluster.masters() if node.port != source.port)
            moved += cluster.migrate(slot, target, pause=0.002)
        self.check(fight, f"three slots with {moved} keys moved")
        self.assertGreater(moved, 20)

    @staticmethod
    def busiest_slot(cluster):
        counts = {}
        for node in cluster.masters():
            for key in node.call("SCAN", 0, "COUNT", 2000)[1]:
                slot = node.call("CLUSTER", "KEYSLOT", key)
                counts[slot] = counts.get(slot, 0) + 1
        return max(counts, key=counts.get)

    def test_a_failover_under_load(self):
        cluster = Cluster(masters=3, replicas=1)
        self.addCleanup(cluster.close)
        fight = self.fight(cluster.url)
        time.sleep(1)
        since = time.monotonic() - WINDOW
        cluster.masters()[0].kill()
        self.check(fight, "a master killed", may_lose_since=since)


if __name__ == "__main__":
    unittest.main()
