"""Redis goes away, comes back, forgets to answer, moves house: the engine comes back by itself, and keeps its word as
far as the server kept its own."""

import itertools
import time
import unittest

from tests.system.fight import Fight
from tests.system.harness import report
from tests.system.redis import Cluster, FaultProxy, Redis

TASKS = 20_000
WINDOW = 3  # seconds that everysec, or a failover, may lose


class Faults(unittest.TestCase):
    maxDiff = None

    def fight(self, store, **more):
        fight = Fight(store, may_log_errors=True, **more)
        self.addCleanup(fight.__exit__, None, None, None)
        fight.begin(TASKS)
        return fight

    def during(self, fight, act, most, every=0.15):
        """Does it again and again while there is work to disturb; returns how often that was."""
        times = 0
        while times < most and not fight.is_over():
            time.sleep(every)
            act()
            times += 1
        self.assertGreater(times, 2, "there was nothing to disturb")
        return times

    def check(self, fight, what, **more):
        begun = time.monotonic()
        fight.finish()
        fight.check(self, **more)
        report(f"{what}: finished after {time.monotonic() - begun:.1f} s, {len(fight.submitted)} acknowledged, none lost")

    def test_killed_and_started_again_with_every_write_on_disk(self):
        redis = Redis("--appendfsync", "always")
        self.addCleanup(redis.close)
        fight = self.fight(redis.url)

        def restart():
            redis.kill()
            time.sleep(0.2)
            redis.start()

        times = self.during(fight, restart, 5, every=0.4)
        self.check(fight, f"Redis killed {times} times")

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
        self.during(fight, proxy.cut, 20)
        self.check(fight, f"{proxy.counts['cut']} connections cut")

    def test_replies_that_are_lost(self):
        redis = Redis()
        proxy = FaultProxy(redis.port)
        self.addCleanup(redis.close)
        self.addCleanup(proxy.close)
        fight = self.fight(proxy.url)
        self.during(fight, proxy.swallow_next, 20)
        proxy.swallowing = False
        self.check(fight, f"{proxy.counts['swallowed']} replies lost")
        self.assertGreater(proxy.counts["swallowed"], 2)

    def test_replies_that_are_late(self):
        redis = Redis()
        proxy = FaultProxy(redis.port)
        self.addCleanup(redis.close)
        self.addCleanup(proxy.close)
        fight = self.fight(proxy.url)
        delays = itertools.cycle((0.02, 0.2, 0))

        def hold_up():
            proxy.delay = next(delays)

        self.during(fight, hold_up, 12, every=0.3)
        proxy.delay = 0
        self.check(fight, "replies late")

    def test_a_slot_that_moves_under_load(self):
        cluster = Cluster(masters=3)
        self.addCleanup(cluster.close)
        fight = self.fight(cluster.url)
        moved = []

        def migrate():
            slot = self.some_slot(cluster, fight.random)
            source = cluster.of_slot(slot)
            target = next(node for node in cluster.masters() if node.port != source.port)
            moved.append(cluster.migrate(slot, target, pause=0.002))

        self.during(fight, migrate, 5, every=0.05)
        self.check(fight, f"{len(moved)} slots with {sum(moved)} keys moved")
        self.assertGreater(sum(moved), 100)

    @staticmethod
    def some_slot(cluster, random):
        """That has keys."""
        node = random.choice([node for node in cluster.masters() if node.call("DBSIZE") > 0])
        return node.call("CLUSTER", "KEYSLOT", node.call("RANDOMKEY"))

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
