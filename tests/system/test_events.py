"""Server-sent events: in order, resumable without loss, for many readers at once."""

import asyncio
import os
import re
import socket
import time
import unittest

from tests.system.harness import (
    PATIENCE, Events, Server, SystemTest, allow_many_files, in_parallel, percentile, report, until,
)  # fmt: skip

QUICK_RETRY = {"max": 3, "policy": {"schedule": ["10ms"]}}


def of_task(events, task_id):
    return [e["data"] for e in events if e["data"].get("task") == task_id]


class Feed(SystemTest):
    def live(self, task_id):
        """Two failures and a success: eleven steps."""
        for _ in range(2):
            self.server.fail(self.claim_one())
        self.server.complete(self.claim_one())
        return [(s["event"], s["from"], s["to"]) for s in self.server.history(task_id)]

    def test_every_step_of_a_task_is_told_once_and_in_order(self):
        events = self.events(f"/v1/events?filter=queue:{self.queue}")
        task_id = self.submit(retry=QUICK_RETRY)
        steps = self.live(task_id)
        events.wait_for(1, "completed")
        told = of_task(events.named(), task_id)
        self.assertEqual([(e["event"], e["from"], e["to"]) for e in told], steps)
        versions = [e["version"] for e in told]
        self.assertEqual(versions, sorted(set(versions)))
        for e in told:
            self.assertEqual((e["queue"], e["type"]), (self.queue, "t"))

    def test_tasks_that_live_at_the_same_time_are_each_in_order(self):
        events = self.events(f"/v1/events?filter=queue:{self.queue}")
        ids = [self.submit(retry=QUICK_RETRY) for _ in range(20)]

        def worker(_):
            while tasks := self.claim(5, wait="1s"):
                for task in tasks:
                    if task["attempt"] < 3:
                        self.server.fail(task)
                    else:
                        self.server.complete(task)

        in_parallel(3, worker)
        events.wait_for(20, "completed")
        for task_id in ids:
            versions = [e["version"] for e in of_task(events.named(), task_id)]
            self.assertEqual(versions, list(range(1, len(versions) + 1)))
            self.assertEqual(len(versions), len(self.server.history(task_id)))

    def resumed(self, go_on):
        """Reads a part, goes away while more happens, comes back; what was seen in both parts together."""
        path = f"/v1/events?filter=queue:{self.queue}"
        first = Events(self.server, path)
        ids = [self.submit() for _ in range(10)]
        seen = first.wait_for(10, "submitted")
        last = first.last_id()
        first.close()
        self.assertTrue(last, "events carry a watermark")
        for _ in range(2):  # more than one page of the feed
            batch = [{"type": "t", "queue": self.queue} for _ in range(750)]
            ids += [task["id"] for task in self.server.good("POST", "/v1/tasks", batch)["tasks"]]
        for task in self.claim(10):
            self.server.complete(task)
        second = go_on(path, last)
        self.addCleanup(second.close)
        ids += [self.submit() for _ in range(5)]
        second.wait_for(10, "completed")
        second.wait_for(1505, "submitted")
        both = [e["data"]["task"] for e in seen] + [e["data"]["task"] for e in second.named("submitted")]
        self.assertEqual(sorted(set(both)), sorted(ids))
        self.assertEqual(second.named("reset"), [])

    def test_a_reader_that_names_its_last_event_misses_nothing(self):
        self.resumed(lambda path, last: Events(self.server, path, {"Last-Event-ID": last}))

    def test_a_reader_that_says_since_misses_nothing(self):
        self.resumed(lambda path, last: Events(self.server, f"{path}&since={last}"))

    def test_every_watermark_is_a_place_to_go_on_from(self):
        events = self.events(f"/v1/events?filter=queue:{self.queue}")
        for _ in range(5):
            self.submit()
            time.sleep(0.12)  # each in a page of its own
        seen = events.wait_for(5, "submitted")
        marks = [e["id"] for e in seen if "id" in e]
        self.assertGreaterEqual(len(marks), 3)
        for mark in marks:
            after = [e["data"]["task"] for e in seen[[e.get("id") for e in seen].index(mark) + 1 :]]
            again = self.events(f"/v1/events?filter=queue:{self.queue}&since={mark}")
            told = [e["data"]["task"] for e in again.wait_for(len(after), "submitted")] if after else []
            self.assertEqual(told, after)

    def test_since_oldest_tells_all_there_is(self):
        ids = [self.submit() for _ in range(20)]
        events = self.events(f"/v1/events?since=oldest&filter=queue:{self.queue}")
        self.assertEqual([e["data"]["task"] for e in events.wait_for(20, "submitted")], ids)

    def test_a_new_reader_hears_only_what_is_new(self):
        self.submit()
        events = self.events(f"/v1/events?filter=queue:{self.queue}")
        late = self.submit()
        self.assertEqual(events.wait_for(1)[0]["data"]["task"], late)

    def test_a_watermark_nobody_gave_is_answered_with_reset_and_all_there_is(self):
        task_id = self.submit()
        events = self.events(f"/v1/events?since=no-such-place&filter=queue:{self.queue}")
        events.wait_for(1, "reset")
        self.assertEqual(events.wait_for(1, "submitted")[0]["data"]["task"], task_id)

    def test_a_watermark_that_is_too_old_is_answered_with_reset(self):
        server = self.own_server("--retention-feed", "1s")
        events = Events(server)
        self.addCleanup(events.close)
        server.submit()
        events.wait_for(1, "submitted")
        mark = events.last_id()
        server.submit()  # what the reader has not seen, and will never see

        def told_to_begin_anew():
            again = Events(server, f"/v1/events?since={mark}")
            time.sleep(0.3)
            again.close()
            return again.named("reset")

        until(told_to_begin_anew, "the feed forgets what is too old", 60, every=0.7)

    def test_filters_and_kinds(self):
        other = self.queue + "-other"
        by_type = self.events(f"/v1/events?filter=queue:{self.queue}%20type:video")
        by_state = self.events(f"/v1/events?filter=queue:{self.queue}%20state:succeeded")
        by_kind = self.events(f"/v1/events?filter=queue:{self.queue}&kinds=claimed,completed")
        self.server.submit(queue=other)
        mail, video = self.submit("mail"), self.submit("video")
        for task in (self.claim_one(), self.claim_one()):
            self.server.complete(task)
        by_kind.wait_for(4)
        self.assertEqual({e["event"] for e in by_kind.named()}, {"claimed", "completed"})
        self.assertEqual([e["data"]["task"] for e in by_state.wait_for(2)], [mail, video])
        self.assertEqual({e["data"]["to"] for e in by_state.named()}, {"succeeded"})
        self.assertEqual([e["data"]["event"] for e in by_type.wait_for(3)], ["submitted", "claimed", "completed"])
        self.assertEqual({e["data"]["task"] for e in by_type.named()}, {video})

    def test_the_events_of_one_task(self):
        task_id, other = self.submit(), self.submit()
        events = self.events(f"/v1/tasks/{task_id}/events?since=oldest")
        for task in (self.claim_one(), self.claim_one()):
            self.server.complete(task)
        self.assertEqual([e["event"] for e in events.wait_for(3)], ["submitted", "claimed", "completed"])
        self.assertEqual(of_task(events.named(), other), [])

    def test_counters_come_every_second(self):
        events = self.events("/v1/events?counters=1&kinds=none")
        self.submit()
        begun = time.monotonic()
        events.wait_for(3, "counters")
        self.assertGreater(time.monotonic() - begun, 0.9)
        self.assertLess(time.monotonic() - begun, 15)
        last = events.named("counters")[-1]["data"]
        (row,) = [r for r in last["queues"] if r["queue"] == self.queue]
        self.assertEqual(row["tasks"]["queued"], 1)

    def test_a_silent_stream_shows_that_it_lives(self):
        events = self.events("/v1/events?filter=queue:nobody-uses-this")
        begun = time.monotonic()
        self.submit()  # of no interest, and yet the watermark goes on

        def beats():
            with events.changed:
                return [e for e in events.seen if e.get("comment") == "hb"]

        until(lambda: len(beats()) >= 2, "a second heartbeat", 15 * 3)
        self.assertGreater(time.monotonic() - begun, 10)
        self.assertTrue(beats()[-1].get("id"))

    def test_a_server_that_stops_does_not_wait_for_its_readers(self):
        server = self.own_server()
        events = Events(server)
        self.addCleanup(events.close)
        begun = time.monotonic()
        self.assertEqual(server.stop(), 0)
        took = time.monotonic() - begun
        report(f"SIGTERM with a reader of events: {took:.2f} s")
        self.assertLess(took, 5)

    def test_a_reader_goes_on_after_a_restart(self):
        server = self.own_server()
        events = Events(server)
        first = server.submit()
        events.wait_for(1, "submitted")
        mark = events.last_id()
        events.close()
        second = server.submit()
        server.kill()
        server.start()
        third = server.submit()
        again = Events(server, "/v1/events", {"Last-Event-ID": mark})
        self.addCleanup(again.close)
        self.assertEqual([e["data"]["task"] for e in again.wait_for(2, "submitted")], [second, third])
        self.assertNotEqual(first, second)


class Reader(asyncio.Protocol):
    """One of many: remembers when it saw which task submitted."""

    def __init__(self, path):
        self.path = path
        self.rest = b""
        self.seen = {}
        self.total = 0
        self.lost = False

    def connection_made(self, transport):
        self.transport = transport
        transport.write(b"GET " + self.path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")

    def data_received(self, data):
        self.rest += data
        whole, mark, rest = self.rest.rpartition(b"\n\n")
        if not mark:
            return
        self.rest = rest
        now = time.monotonic()
        for task_id in re.findall(rb'"task":"([0-9a-f-]{36})","kind":"task","event":"submitted"', whole):
            self.total += 1
            self.seen.setdefault(task_id.decode(), now)

    def connection_lost(self, _):
        self.lost = True


class ManyReaders(unittest.IsolatedAsyncioTestCase):
    READERS = 200
    PER_SECOND = 50
    SECONDS = 5

    async def asyncSetUp(self):
        if not allow_many_files(self.READERS + 100):
            self.skipTest("the system does not allow that many open files")
        self.server = Server()
        self.addCleanup(self.server.close)

    async def readers(self, count):
        loop = asyncio.get_running_loop()
        readers = []
        for _ in range(count):
            _, reader = await loop.create_connection(lambda: Reader(b"/v1/events"), "127.0.0.1", self.server.port)
            self.addCleanup(reader.transport.abort)
            readers.append(reader)
        await asyncio.sleep(1)
        return readers

    def submit_steadily(self):
        """When each task was accepted."""
        accepted = {}
        connection = self.server.connect()
        begun = time.monotonic()
        for number in range(self.PER_SECOND * self.SECONDS):
            time.sleep(max(0, begun + number / self.PER_SECOND - time.monotonic()))
            task_id = self.server.post("/v1/tasks", {"type": "t"}, connection=connection).json["id"]
            accepted[task_id] = time.monotonic()
        connection.close()
        return accepted

    async def all_seen(self, readers, accepted):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and any(len(r.seen) < len(accepted) for r in readers):
            await asyncio.sleep(0.05)
        for reader in readers:
            self.assertFalse(reader.lost, "a reader that reads was cut")
            self.assertEqual(set(reader.seen), set(accepted))
            self.assertEqual(reader.total, len(accepted), "told twice without a reason")

    async def test_two_hundred_readers_receive_every_event(self):
        readers = await self.readers(self.READERS)
        before = self.server.rss_kb()
        accepted = await asyncio.to_thread(self.submit_steadily)
        await self.all_seen(readers, accepted)
        delays = [reader.seen[i] - at for reader in readers for i, at in accepted.items()]
        report(
            f"{self.READERS} readers at {self.PER_SECOND} events/s: delay p50 {percentile(delays, 0.5) * 1000:.0f} ms, "
            f"p99 {percentile(delays, 0.99) * 1000:.0f} ms; {(self.server.rss_kb() - before) / 1024:.1f} MB more"
        )
        self.assertLess(percentile(delays, 0.5), 2)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.server.pid}/fd"))

    async def test_one_that_never_reads_is_cut_and_the_others_do_not_notice(self):
        batch = [{"type": "old", "labels": {"fat": "x" * 250}} for _ in range(1000)]
        for _ in range(30):
            self.server.post("/v1/tasks", batch)
        readers = await self.readers(20)
        before, memory = self.descriptors(), self.server.rss_kb()
        deaf = socket.socket()
        self.addCleanup(deaf.close)
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(("127.0.0.1", self.server.port))
        deaf.sendall(b"GET /v1/events?since=oldest HTTP/1.1\r\nHost: localhost\r\n\r\n")
        begun = time.monotonic()
        while self.descriptors() == before:  # until it is there
            self.assertLess(time.monotonic() - begun, PATIENCE)
            await asyncio.sleep(0.01)
        accepted = await asyncio.to_thread(self.submit_steadily)
        await self.all_seen(readers, accepted)
        delays = [reader.seen[i] - at for reader in readers for i, at in accepted.items()]
        grown = (self.server.rss_kb() - memory) / 1024
        report(f"beside one that never reads: delay p99 {percentile(delays, 0.99) * 1000:.0f} ms, {grown:.1f} MB more")
        self.assertLess(percentile(delays, 0.5), 2)
        self.assertLess(grown, 64)
        while self.descriptors() > before:
            self.assertLess(time.monotonic() - begun, 60, "it is not cut")
            await asyncio.sleep(0.1)
        report(f"it is cut after {time.monotonic() - begun:.0f} s")
        self.assertFalse(any(reader.lost for reader in readers))


if __name__ == "__main__":
    unittest.main()
