"""The worker stream as a worker sees it: a WebSocket with JSON text frames."""

import asyncio
import contextlib
import os
import socket
import struct
import time
import unittest

import websockets

from tests.system.harness import PATIENCE, Server, allow_many_files, ref, report, until
from tests.system.worker import Worker


class StreamTest(unittest.IsolatedAsyncioTestCase):
    flags = ()
    number = 0

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.flags)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def setUp(self):
        StreamTest.number += 1
        self.queue = f"s{StreamTest.number}"

    def submit(self, **fields):
        return self.server.submit(queue=self.queue, **fields)

    async def worker(self, server=None, **hello):
        worker = await Worker.connect(server or self.server, **{"queues": [self.queue], **hello})
        self.addAsyncCleanup(worker.leave)
        return worker


class Conversation(StreamTest):
    async def test_a_worker_is_welcomed_assigned_and_answered(self):
        worker = await self.worker(worker="alice", slots=2, lease="45s")
        welcome = worker.all("welcome")[0]
        self.assertTrue(welcome["instance"])
        self.assertEqual(welcome["lease"], "45s")
        task_id = self.submit(payload={"n": 1})
        (task,) = await worker.has(1)
        self.assertEqual((task["id"], task["payload"], task["attempt"]), (task_id, {"n": 1}, 1))
        self.assertEqual(await worker.done(task, result={"ok": 1}), {task_id: "ok"})
        self.assertEqual(self.server.task(task_id)["result"], {"ok": 1})
        listed = [w for w in self.server.good("GET", "/v1/workers")["workers"] if w["name"] == "alice"]
        self.assertEqual([(w["kind"], w["slots"], w["running"]) for w in listed], [("stream", 2, 0)])

    async def test_never_more_is_assigned_than_slots_are_free(self):
        ids = [self.submit() for _ in range(20)]
        worker = await self.worker(slots=3)
        held, finished = [], []
        for _ in range(20):
            got = await worker.has(min(20, len(finished) + 3))
            held = [task for task in got if task["id"] not in finished]
            await asyncio.sleep(0.02)
            self.assertLessEqual(len(worker.assigned()) - len(finished), 3, "more than it has slots for")
            await worker.done(held[0])
            finished.append(held[0]["id"])
        self.assertEqual(sorted(finished), sorted(ids))

    async def test_outcomes_of_a_batch_are_told_item_by_item(self):
        ids = [self.submit(retry={"max": 1}) for _ in range(4)]
        worker = await self.worker(slots=4)
        a, b, c, d = await worker.has(4)
        stale = {**ref(c), "epoch": c["epoch"] + 1}
        outcomes = await worker.settled("done", [{**ref(a), "result": 1}, {**ref(b), "result": 2}, stale])
        self.assertEqual(outcomes, {a["id"]: "ok", b["id"]: "ok", c["id"]: "stale_lease"})
        error = {"kind": "permanent", "message": "no", "stack": "here"}
        failed = await worker.settled("fail", [{**ref(c), "error": error}, {**ref(d), "error": error}])
        self.assertEqual(set(failed.values()), {"ok"})
        states = [self.server.task(task_id)["state"] for task_id in ids]
        self.assertEqual(sorted(states), ["succeeded", "succeeded", "suspended", "suspended"])

    async def test_heartbeats_renew_and_progress_is_seen(self):
        task_id = self.submit()
        worker = await self.worker(lease="1s")
        (task,) = await worker.has(1)
        for step in range(6):
            await asyncio.sleep(0.35)
            if step % 2:
                await worker.say("heartbeat")
            else:
                await worker.say("progress", **ref(task), value=step / 10, note="going on")
            frame = await worker.hear("heartbeat", step + 1)
            self.assertEqual([item["id"] for item in frame["items"]], [task_id])
            self.assertIn("lease_until", frame["items"][0])
        seen = self.server.task(task_id)
        self.assertEqual((seen["state"], seen["attempt"], seen["progress"]), ("running", 1, 0.4))
        self.assertEqual(await worker.done(task), {task_id: "ok"})

    async def test_an_idle_worker_hears_that_the_server_is_there(self):
        worker = await self.worker()
        await worker.say("heartbeat")
        self.assertEqual((await worker.hear("heartbeat"))["items"], [])

    async def test_stages_and_yields_over_the_stream(self):
        task_id = self.submit()
        worker = await self.worker()
        (task,) = await worker.has(1)
        self.assertEqual(await worker.settled("checkpoint", [{**ref(task), "stage": "a", "data": 7}]), {task_id: "ok"})
        self.assertEqual(await worker.settled("yield", [{**ref(task)}]), {task_id: "ok"})
        again = (await worker.has(2))[1]
        self.assertEqual((again["id"], again["checkpoints"]), (task_id, [{"stage": "a", "data": 7}]))

    async def test_a_node_that_announces_acks_moves_through_its_states(self):
        task_id = self.submit()
        worker = await self.worker(acks=True)
        (task,) = await worker.has(1)
        self.assertEqual(self.server.task(task_id)["state"], "dispatched")
        self.assertEqual(await worker.settled("ack", [ref(task)]), {task_id: "ok"})
        self.assertEqual(self.server.task(task_id)["state"], "accepted")
        self.assertEqual(await worker.settled("started", [ref(task)]), {task_id: "ok"})
        self.assertEqual(self.server.task(task_id)["state"], "running")
        self.assertEqual(await worker.done(task), {task_id: "ok"})

    async def test_a_cancellation_is_told_to_the_worker_with_its_next_heartbeat(self):
        task_id = self.submit()
        worker = await self.worker()
        (task,) = await worker.has(1)
        self.assertEqual(self.server.post(f"/v1/tasks/{task_id}/cancel").status, 202)
        await worker.say("heartbeat")
        self.assertEqual((await worker.hear("cancel"))["id"], task_id)
        error = {"kind": "transient", "message": "stopped"}
        self.assertEqual(await worker.settled("fail", [{**ref(task), "error": error}]), {task_id: "ok"})
        self.assertEqual(self.server.task(task_id)["state"], "cancelled")

    async def test_a_pause_is_told_to_the_worker_and_happens_at_its_checkpoint(self):
        task_id = self.submit()
        worker = await self.worker()
        (task,) = await worker.has(1)
        self.assertEqual(self.server.post(f"/v1/tasks/{task_id}/pause").status, 202)
        await worker.say("heartbeat")
        self.assertEqual((await worker.hear("pause"))["id"], task_id)
        outcome = await worker.settled("checkpoint", [{**ref(task), "stage": "a", "data": None}])
        self.assertEqual(outcome, {task_id: "pause"})
        self.assertEqual(self.server.task(task_id)["state"], "paused")
        other = self.submit()
        self.assertEqual((await worker.has(2))[1]["id"], other)  # the slot is free again

    async def test_what_is_submitted_later_is_pushed_soon(self):
        worker = await self.worker()
        await asyncio.sleep(0.2)
        begun = time.monotonic()
        self.submit()
        await worker.has(1)
        took = time.monotonic() - begun
        report(f"submitted to assigned: {took * 1000:.1f} ms")
        self.assertLess(took, 5)

    async def test_a_thousand_tasks_through_one_connection_each_once(self):
        batch = [{"type": "t", "queue": self.queue} for _ in range(1000)]
        ids = [task["id"] for task in self.server.good("POST", "/v1/tasks", batch)["tasks"]]
        worker = await self.worker(slots=100)
        finished = []
        while len(finished) < 1000:
            await worker.has(len(finished) + 1)
            fresh = worker.assigned()[len(finished) :]
            await worker.done(*fresh)
            finished += [task["id"] for task in fresh]
        self.assertEqual(sorted(finished), sorted(ids))
        self.assertEqual(self.server.good("GET", f"/v1/queues/{self.queue}")["tasks"]["succeeded"], 1000)


class Endings(StreamTest):
    async def test_drain_finishes_what_it_has_and_says_bye(self):
        self.submit()
        worker = await self.worker(slots=2)
        (task,) = await worker.has(1)
        await worker.say("drain")
        self.submit()
        await asyncio.sleep(0.3)
        self.assertEqual(len(worker.assigned()), 1, "assigned after drain")
        await worker.done(task)
        self.assertEqual((await worker.hear("bye"))["reason"], "drained")
        await asyncio.wait_for(worker.closed.wait(), PATIENCE)
        self.assertEqual(self.server.task(task["id"])["state"], "succeeded")

    async def test_drain_now_gives_everything_back_at_once(self):
        task_id = self.submit()
        worker = await self.worker(lease="1h")
        await worker.has(1)
        await worker.say("drain", now=True)
        await worker.hear("bye")
        other = await self.worker(worker="other")
        (task,) = await other.has(1)
        self.assertEqual(task["id"], task_id)
        self.assertEqual(self.server.task(task_id)["retry"]["count"], 0)

    async def test_a_worker_that_drains_and_goes_gives_its_tasks_back_at_once(self):
        task_id = self.submit()
        worker = await self.worker(lease="1h")
        await worker.has(1)
        await worker.say("drain")
        await worker.vanish()
        other = await self.worker(worker="other")
        (task,) = await other.has(1)
        self.assertEqual(task["id"], task_id)

    async def test_a_lost_workers_task_goes_to_another_when_its_lease_ends(self):
        task_id = self.submit(retry={"max": 3, "policy": {"schedule": ["10ms"]}})
        lost = await self.worker(worker="lost", lease="1s")
        (first,) = await lost.has(1)
        begun = time.monotonic()
        await lost.vanish()
        other = await self.worker(worker="other")
        (second,) = await other.has(1)
        self.assertGreater(time.monotonic() - begun, 0.6, "before its lease was over")
        self.assertEqual((second["id"], second["attempt"]), (task_id, 2))
        self.assertEqual(self.server.complete(first, "late"), "stale_lease")
        await other.done(second, result="right")
        self.assertEqual(self.server.task(task_id)["result"], "right")
        self.assertEqual(self.server.events_of(task_id).count("completed"), 1)

    async def test_a_worker_that_reconnects_keeps_its_task(self):
        task_id = self.submit()
        worker = await self.worker(lease="20s")
        (task,) = await worker.has(1)
        await worker.vanish()
        again = await self.worker(lease="20s", running=[ref(task)])
        frame = await again.hear("heartbeat")
        self.assertEqual([item["id"] for item in frame["items"]], [task_id])
        other = self.submit()
        await asyncio.sleep(0.3)
        self.assertEqual(again.assigned(), [], "its only slot is taken by what it runs")
        self.assertEqual(await again.done(task), {task_id: "ok"})
        self.assertEqual((await again.has(1))[0]["id"], other)
        self.assertEqual(self.server.task(task_id)["attempt"], 1)

    async def test_an_operator_drains_a_worker(self):
        self.submit()
        worker = await self.worker(worker="tired")
        (task,) = await worker.has(1)
        self.assertEqual(self.server.post("/v1/workers/tired/drain").status, 202)
        await worker.done(task)
        self.assertEqual((await worker.hear("bye"))["reason"], "drained_by_operator")
        self.assertEqual(self.server.post("/v1/workers/nobody/drain").status, 404)


class BadFrames(StreamTest):
    async def complaint(self, text, field=None, before_hello=False):
        worker = await Worker.connect(self.server, **({} if before_hello else {"queues": [self.queue]}))
        self.addAsyncCleanup(worker.leave)
        await worker.line.send(text)
        error = await worker.hear("error")
        self.assertIn(error["code"], ("invalid_argument", "wrong_state"))
        self.assertTrue(error["detail"])
        if field is not None:
            self.assertEqual(error["field"], field)
        if not before_hello:  # the connection goes on
            await worker.say("heartbeat")
            await worker.hear("heartbeat")

    async def test_what_is_no_json(self):
        await self.complaint('{"op":')

    async def test_no_object(self):
        await self.complaint("[1]")

    async def test_no_op(self):
        await self.complaint('{"items":[]}', "op")

    async def test_an_unknown_op(self):
        await self.complaint('{"op":"explode"}', "op")

    async def test_a_second_hello(self):
        await self.complaint('{"op":"hello","worker":"w","queues":["q"]}', "op")

    async def test_something_before_hello(self):
        await self.complaint('{"op":"heartbeat"}', "op", before_hello=True)

    async def test_an_unknown_field_of_hello(self):
        await self.complaint('{"op":"hello","worker":"w","queues":["q"],"colour":1}', "colour", before_hello=True)

    async def test_too_many_slots(self):
        await self.complaint('{"op":"hello","worker":"w","queues":["q"],"slots":10001}', "slots", before_hello=True)

    async def test_no_slots(self):
        await self.complaint('{"op":"hello","worker":"w","queues":["q"],"slots":0}', "slots", before_hello=True)

    async def test_no_queues(self):
        await self.complaint('{"op":"hello","worker":"w"}', "queues", before_hello=True)

    async def test_an_unknown_field_of_an_item(self):
        await self.complaint('{"op":"done","items":[{"x":1}]}', "items[0].x")

    async def test_a_duplicate_key(self):
        await self.complaint('{"op":"heartbeat","op":"drain"}')

    async def test_a_deep_frame(self):
        await self.complaint('{"op":"done","items":' + "[" * 100_000)

    async def test_the_tenth_bad_frame_is_the_last(self):
        worker = await self.worker()
        for _ in range(10):
            await worker.line.send("nonsense")
        self.assertEqual((await worker.hear("bye"))["reason"], "protocol")
        self.assertEqual(len(worker.all("error")), 10)
        await asyncio.wait_for(worker.closed.wait(), PATIENCE)

    async def test_a_frame_beyond_the_limit_ends_the_connection(self):
        worker = await self.worker()
        with contextlib.suppress(websockets.ConnectionClosed):
            await worker.line.send('{"op":"heartbeat","x":"' + "y" * (2 << 20) + '"}')
        await asyncio.wait_for(worker.closed.wait(), PATIENCE)
        self.assertTrue(self.server.is_alive())

    async def test_binary_frames_do_no_harm(self):
        worker = await self.worker()
        await worker.line.send(b"\x00\xff")
        await worker.say("heartbeat")
        await worker.hear("heartbeat")

    async def test_an_unmasked_frame_ends_the_connection(self):
        line = IdleLine(self.server.port)
        self.addCleanup(line.close)
        line.hello(b"raw")
        line.socket.sendall(b"\x81\x02{}")
        self.assertTrue(line.is_ended())
        self.assertTrue(self.server.is_alive())


class Restarts(StreamTest):
    async def test_sigterm_says_bye_and_what_was_acknowledged_is_there_afterwards(self):
        server = Server()
        self.addCleanup(server.close)
        ids = [server.submit(queue=self.queue) for _ in range(3)]
        worker = await self.worker(server, slots=2, lease="30s")
        first, second = await worker.has(2)
        self.assertEqual(await worker.done(first, result="kept"), {first["id"]: "ok"})
        third = (await worker.has(3))[2]
        begun = time.monotonic()
        server.process.terminate()
        self.assertEqual((await worker.hear("bye"))["reason"], "shutting_down")
        code = await asyncio.to_thread(server.ended)
        self.assertEqual(code, 0)
        report(f"SIGTERM with a worker attached: {time.monotonic() - begun:.2f} s")
        self.assertLess(time.monotonic() - begun, 10)
        server.start()
        self.assertEqual(server.task(first["id"])["result"], "kept")
        self.assertEqual({first["id"], second["id"], third["id"]}, set(ids))
        again = await self.worker(server, slots=2, running=[ref(second), ref(third)])
        self.assertEqual(set((await again.done(second, third)).values()), {"ok"})
        for task_id in ids:
            task = server.task(task_id)
            self.assertEqual((task["state"], task["attempt"]), ("succeeded", 1))
            self.assertEqual(server.events_of(task_id), ["submitted", "claimed", "completed"])

    async def test_after_a_kill_the_worker_completes_under_its_old_fence_and_nothing_runs_twice(self):
        server = Server()
        self.addCleanup(server.close)
        for _ in range(4):
            server.submit(queue=self.queue)
        worker = await self.worker(server, slots=4, lease="30s")
        tasks = await worker.has(4)
        # A claim is handed out before it is written, and written at the latest with whatever is answered next.
        fifth = server.submit(queue=self.queue)
        server.kill()
        await asyncio.wait_for(worker.closed.wait(), PATIENCE)
        server.start()
        idle = await self.worker(server, worker="idle", slots=10)
        await idle.has(1)
        again = await self.worker(server, slots=4, running=[ref(task) for task in tasks])
        frame = await again.hear("heartbeat")
        self.assertEqual(sorted(item["id"] for item in frame["items"]), sorted(task["id"] for task in tasks))
        await asyncio.sleep(1)
        self.assertEqual([task["id"] for task in idle.assigned()], [fifth], "a running task was handed out again")
        self.assertEqual(set((await again.done(*tasks, result="once")).values()), {"ok"})
        for task in tasks:
            seen = server.task(task["id"])
            self.assertEqual((seen["state"], seen["attempt"], seen["result"]), ("succeeded", 1, "once"))
            self.assertEqual(server.events_of(task["id"]).count("claimed"), 1)


class IdleLine:
    """A worker's WebSocket by hand: a socket and nothing else, so that thousands are cheap on our side."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.socket.sendall(
            b"GET /v1/work HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        self.buffer = b""
        self._fill(lambda: b"\r\n\r\n" in self.buffer)
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        assert head.startswith(b"HTTP/1.1 101 "), head

    def _fill(self, enough):
        while not enough():
            data = self.socket.recv(4096)
            assert data, f"closed after {self.buffer!r}"
            self.buffer += data

    def send(self, payload):
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        size = struct.pack("!B", 0x80 | len(payload)) if len(payload) < 126 else struct.pack("!BH", 0xFE, len(payload))
        self.socket.sendall(b"\x81" + size + mask + masked)

    def hello(self, name):
        self.send(b'{"op":"hello","worker":"%s","queues":["nothing-comes"],"slots":8}' % name)
        self._fill(lambda: b'"op":"welcome"' in self.buffer)

    def is_ended(self):
        try:
            while self.socket.recv(4096):
                pass
        except ConnectionResetError:
            pass
        return True

    def close(self):
        self.socket.close()


class Many(unittest.TestCase):
    COUNT = 2000
    MOST_KB_EACH = 30

    def test_two_thousand_idle_workers_are_held_cheaply(self):
        if not allow_many_files(self.COUNT + 200):
            self.skipTest("the system does not allow that many open files")
        server = Server("--http-max-connections-per-address", "10000")
        self.addCleanup(server.close)
        lines = []

        def connect(count):
            for _ in range(count):
                line = IdleLine(server.port)
                lines.append(line)
                self.addCleanup(line.close)
                line.hello(b"w%d" % len(lines))

        connect(20)  # what is made once is not counted
        before = server.rss_kb()
        begun = time.monotonic()
        connect(self.COUNT)
        took = time.monotonic() - begun
        time.sleep(1)
        each = (server.rss_kb() - before) / self.COUNT
        report(f"{self.COUNT} idle workers: {each:.1f} KB each, connected in {took:.1f} s")
        self.assertEqual(len(server.good("GET", "/v1/workers")["workers"]), len(lines))
        self.assertLessEqual(each, self.MOST_KB_EACH)
        begun = time.monotonic()
        server.submit(queue="nothing-comes")
        until(lambda: server.good("GET", "/v1/queues/nothing-comes")["tasks"]["running"] == 1, "one of them has it")
        report(f"submitted to claimed among them: {(time.monotonic() - begun) * 1000:.0f} ms")


if __name__ == "__main__":
    unittest.main()
