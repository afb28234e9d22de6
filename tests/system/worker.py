"""A worker on its stream, for tests: hides nothing that the server says."""

import asyncio
import contextlib
import json

import websockets

from tests.system.harness import PATIENCE, ref


class Worker:
    """A connected worker: keeps every frame it was sent."""

    def __init__(self, line):
        self.line = line
        self.frames = []
        self.news = asyncio.Event()
        self.closed = asyncio.Event()
        self.reader = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, server, **hello):
        line = await websockets.connect(
            f"ws://127.0.0.1:{server.port}/v1/work", ping_interval=None, compression=None, max_size=None, close_timeout=2
        )
        worker = cls(line)
        if hello:
            await worker.say("hello", **{"worker": "w", "slots": 1, **hello})
            await worker.hear("welcome")
        return worker

    async def _read(self):
        with contextlib.suppress(websockets.ConnectionClosed, OSError):
            async for text in self.line:
                self.frames.append(json.loads(text))
                self.news.set()
        self.closed.set()
        self.news.set()

    async def say(self, op, **fields):
        await self.line.send(json.dumps({"op": op, **fields}))

    async def hear(self, op, count=1, patience=PATIENCE):
        """Waits for the `count`th frame with this op."""

        async def heard():
            while len(found := self.all(op)) < count:
                if self.closed.is_set():
                    raise AssertionError(f"closed before {op}: {self.frames[-5:]}")
                self.news.clear()
                await self.news.wait()
            return found[count - 1]

        try:
            return await asyncio.wait_for(heard(), patience)
        except TimeoutError:
            raise AssertionError(f"no {op} number {count} within {patience} s: {self.frames[-5:]}") from None

    def all(self, op):
        return [frame for frame in self.frames if frame["op"] == op]

    def assigned(self):
        return [task for frame in self.all("assign") for task in frame["tasks"]]

    async def has(self, count, patience=PATIENCE):
        """The first `count` tasks it was assigned."""
        for frames in range(1, count + 1):
            if len(self.assigned()) >= count:
                break
            await self.hear("assign", frames, patience)
        return self.assigned()[:count]

    async def settled(self, op, items):
        """Says done, fail, … and gives the outcomes, by id."""
        before = len(self.all("outcome"))
        await self.say(op, items=items)
        frame = await self.hear("outcome", before + 1)
        assert frame["of"] == op, frame
        return {item["id"]: item["outcome"] for item in frame["items"]}

    async def done(self, *tasks, result=None):
        return await self.settled("done", [{**ref(task), "result": result} for task in tasks])

    async def vanish(self):
        """As when the process is killed: nothing is said, not even on the WebSocket."""
        self.line.transport.abort()
        await self.closed.wait()

    async def leave(self):
        with contextlib.suppress(Exception):
            await self.line.close()
        await self.reader
