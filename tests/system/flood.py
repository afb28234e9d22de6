"""Submits single tasks as fast as it is told to, and counts the answers.

    python3 -m tests.system.flood closed PORT CONNECTIONS SECONDS   each connection waits for its answer
    python3 -m tests.system.flood open   PORT PER_SECOND  SECONDS   by the clock, whatever is answered

A program of its own, so that several can share the work. Prints one JSON object.
"""

import collections
import json
import re
import select
import socket
import sys
import time

from tests.system.harness import percentile

BODY = json.dumps({"type": "t", "queue": "flood", "payload": "x" * 200}).encode()
REQUEST = (
    b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
)  # fmt: skip
MOST_CONNECTIONS = 2000
LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n")


class Line:
    __slots__ = ("socket", "sent_at", "due_at", "buffer")

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.buffer = b""


class Flood:
    def __init__(self, port):
        self.port = port
        self.poll = select.epoll()
        self.lines = {}
        self.free = []
        self.statuses = collections.Counter()
        self.took = collections.defaultdict(list)  # by status: sending to answer
        self.late = []  # how late it was sent itself
        self.bare = 0  # refusals without Retry-After
        self.broken = 0

    def open(self):
        line = Line(self.port)
        self.lines[line.socket.fileno()] = line
        self.poll.register(line.socket, select.EPOLLIN)
        return line

    def close(self, line):
        self.poll.unregister(line.socket)
        del self.lines[line.socket.fileno()]
        line.socket.close()

    def send(self, line, due_at):
        line.sent_at = time.monotonic()
        line.due_at = due_at
        self.late.append(line.sent_at - due_at)
        line.socket.send(REQUEST)

    def receive(self, timeout):
        """Takes what answers there are; the lines they came on are free again."""
        freed = []
        for number, _ in self.poll.poll(timeout):
            line = self.lines[number]
            try:
                data = line.socket.recv(65536)
            except ConnectionResetError:
                data = b""
            if not data:
                self.broken += 1
                self.close(line)
                continue
            line.buffer += data
            head = line.buffer.find(b"\r\n\r\n")
            if head < 0 or len(line.buffer) < head + 4 + int(LENGTH.search(line.buffer)[1]):
                continue
            status = int(line.buffer[9:12])
            self.statuses[status] += 1
            self.took[status].append(time.monotonic() - line.sent_at)
            if status != 202 and b"\r\nRetry-After: " not in line.buffer[: head + 2]:
                self.bare += 1
            line.buffer = b""
            freed.append(line)
        return freed

    def closed(self, connections, seconds):
        end = time.monotonic() + seconds
        for _ in range(connections):
            self.send(self.open(), time.monotonic())
        while (now := time.monotonic()) < end:
            for line in self.receive(0.1):
                self.send(line, now)
        return seconds

    def by_the_clock(self, rate, seconds):
        begun = time.monotonic()
        for number in range(int(rate * seconds)):
            due = begun + number / rate
            while (left := due - time.monotonic()) > 0 or not self.has_line():
                self.free += self.receive(max(0, left))
            self.send(self.free.pop(), due)
        took = time.monotonic() - begun
        end = time.monotonic() + 10
        while time.monotonic() < end and len(self.free) < len(self.lines):
            self.free += self.receive(0.1)
        return took

    def has_line(self):
        if not self.free and len(self.lines) < MOST_CONNECTIONS:
            self.free.append(self.open())
        return bool(self.free)

    def summary(self, seconds):
        refused = [t for status, times in self.took.items() if status in (429, 503) for t in times]
        return {
            "seconds": seconds,
            "sent": len(self.late),
            "statuses": self.statuses,
            "accepted": self.statuses[202],
            "refused": len(refused),
            "bare_refusals": self.bare,
            "broken": self.broken,
            "connections": len(self.lines),
            "unanswered": sum(1 for line in self.lines.values() if line not in self.free) if self.free else 0,
            "accepted_p99_ms": percentile(self.took[202], 0.99) * 1000 if self.took[202] else None,
            "refused_p50_ms": percentile(refused, 0.5) * 1000 if refused else None,
            "refused_p99_ms": percentile(refused, 0.99) * 1000 if refused else None,
            "late_p99_ms": percentile(self.late, 0.99) * 1000,
        }


def main(how, port, amount, seconds):
    flood = Flood(int(port))
    run = flood.closed if how == "closed" else flood.by_the_clock
    print(json.dumps(flood.summary(run(float(amount) if how == "open" else int(amount), float(seconds)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
