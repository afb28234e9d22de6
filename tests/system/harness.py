"""What the system tests share: a server of their own, and clients that hide nothing of the protocol.

HOLDFAST_BIN names the binary; build/release/holdfast unless said. Every server listens on a free loopback port, keeps
its store in a folder of its own, and is ended by its pid.
"""

import contextlib
import http.client
import json
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BINARY = os.path.abspath(os.environ.get("HOLDFAST_BIN", "build/release/holdfast"))
# No server outlives tests that were themselves ended.
LEASH = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
PATIENCE = 30  # seconds; for what takes a moment on an idle machine and longer on a busy one


def seconds_of(text):
    """'2026-11-15T23:37:11.042Z' as seconds since 1970."""
    from datetime import datetime, timezone

    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()


def until(fact, what, patience=PATIENCE, every=0.02):
    """Waits for `fact()` to be true-ish and returns it."""
    end = time.monotonic() + patience
    while True:
        value = fact()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {patience} s: {what}")
        time.sleep(every)


class Answer:
    """An HTTP answer: status, headers by lower-case name, body."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:300]!r}>"


class Server:
    """A `holdfast serve`. Outlives its process: `kill()` and `start()` again to see what was kept."""

    def __init__(self, *flags, start=True, store=None, may_log_errors=False):
        self.flags = list(flags)
        self.may_log_errors = may_log_errors
        self.folder = tempfile.mkdtemp(prefix="holdfast-system-")
        self.log_path = os.path.join(self.folder, "log")
        self.store = store or "sqlite:" + os.path.join(self.folder, "store")
        self.process = None
        self.port = 0
        if start:
            self.start()

    # ---- its life ----

    def start(self):
        assert self.process is None, "it runs already"
        command = [
            *LEASH, BINARY, "serve",
            "--listen", f"127.0.0.1:{self.port}",
            "--store", self.store,
            *self.flags,
        ]  # fmt: skip
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HOLDFAST_")}
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log
            )
        line = self.process.stdout.readline().decode()
        match = re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", line)
        if not match:
            raise AssertionError(f"it did not say where it listens: {line!r}\n{self.log_end()}")
        self.port = int(match[1])
        return self

    @property
    def pid(self):
        return self.process.pid

    def stop(self, patience=PATIENCE):
        """SIGTERM; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.ended(patience)

    def kill(self):
        """SIGKILL."""
        self.process.kill()
        return self.ended()

    def ended(self, patience=PATIENCE):
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            self._forget()
            raise AssertionError(f"the server did not stop within {patience} s\n{self.log_end()}") from None
        self._forget()
        return code

    def _forget(self):
        self.process.stdout.close()
        self.process = None

    def close(self):
        """For the end of a test: stops it, whatever it does, and removes its store."""
        try:
            if self.process is not None:
                if self.process.poll() is not None:
                    code = self.ended()
                    raise AssertionError(f"the server died with {code}\n{self.log_end()}")
                code = self.stop()
                if code != 0:
                    raise AssertionError(f"the server ended with {code}\n{self.log_end()}")
            broken = [line for line in self.log().splitlines() if '"level":"error"' in line]
            if broken and not self.may_log_errors:
                raise AssertionError("the server logged errors:\n" + "\n".join(broken[:10]))
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        with open(self.log_path, encoding="utf-8") as log:
            return log.read()

    def log_end(self):
        return self.log()[-4000:]

    def rss_kb(self):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            return int(re.search(r"^VmRSS:\s+(\d+) kB", status.read(), re.M)[1])

    # ---- talking to it ----

    def connect(self, timeout=PATIENCE):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def call(self, method, path, body=None, headers=None, connection=None, timeout=PATIENCE):
        """One request; over a connection of its own unless one is given. `body`: bytes, or anything JSON."""
        given = connection or self.connect(timeout)
        sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        try:
            given.request(method, path, sent, headers or {})
            got = given.getresponse()
            return Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())
        finally:
            if connection is None:
                given.close()

    def get(self, path, **more):
        return self.call("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.call("POST", path, {} if body is None else body, **more)

    def good(self, method, path, body=None, status=(200, 202), **more):
        """The JSON of an answer that must be a good one."""
        answer = self.call(method, path, body, **more)
        if answer.status not in status:
            raise AssertionError(f"{method} {path}: {answer!r}")
        return answer.json

    def is_alive(self):
        return self.get("/healthz").status == 200

    # ---- the usual calls ----

    def submit(self, kind="t", headers=None, **fields):
        return self.good("POST", "/v1/tasks", {"type": kind, **fields}, status=(202,), headers=headers)["id"]

    def task(self, task_id):
        return self.good("GET", f"/v1/tasks/{task_id}")

    def history(self, task_id):
        return self.good("GET", f"/v1/tasks/{task_id}/history")["history"]

    def events_of(self, task_id):
        return [step["event"] for step in self.history(task_id)]

    def claim(self, queue="default", most=1, wait="10s", worker="w", **more):
        body = {"queues": [queue], "worker": worker, "max": most, "wait": wait, **more}
        return self.good("POST", "/v1/claim", body)["tasks"]

    def claim_one(self, queue="default", **more):
        tasks = self.claim(queue, **more)
        assert len(tasks) == 1, f"claimed {len(tasks)} tasks"
        return tasks[0]

    def outcomes(self, verb, items):
        return self.good("POST", f"/v1/{verb}", {"items": items})["items"]

    def outcome(self, verb, task, **fields):
        return self.outcomes(verb, [{**ref(task), **fields}])[0]

    def complete(self, task, result=None):
        return self.outcome("complete", task, result=result)["outcome"]

    def fail(self, task, kind="transient", message="no luck", **error):
        return self.outcome("fail", task, error={"kind": kind, "message": message, **error})["outcome"]

    def reaches(self, task_id, state, patience=PATIENCE):
        """Waits until the task is in this state and returns it."""
        last = {}

        def there():
            last.update(self.task(task_id))
            return last["state"] == state

        try:
            until(there, "", patience)
        except AssertionError:
            raise AssertionError(f"{task_id} is {last['state']}, not {state}, after {patience} s") from None
        return dict(last)


def ref(task):
    return {"id": task["id"], "attempt": task["attempt"], "epoch": task["epoch"]}


# ---- raw bytes ----


class Raw:
    """A socket, and the HTTP answers that come out of it, read without any help."""

    def __init__(self, port, timeout=PATIENCE):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.is_over = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        """What the server does not want any more need not all arrive."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)

    def read_some(self):
        """False when the other side has closed."""
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.buffer += data
        self.is_over = not data
        return not self.is_over

    def read_until(self, mark):
        while mark not in self.buffer:
            if not self.read_some():
                return None
        head, self.buffer = self.buffer.split(mark, 1)
        return head

    def answer(self, head_only=False):
        """The next answer that is not 100 Continue; None: the connection ended without one."""
        head = self.read_until(b"\r\n\r\n")
        if head is None:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        version, status, _ = first.split(" ", 2)
        assert version == "HTTP/1.1", first
        if status == "100":
            return self.answer(head_only)
        headers = {}
        for line in lines:
            name, value = line.split(": ", 1)
            assert name.lower() not in headers, f"twice: {line}"
            headers[name.lower()] = value
        size = 0 if head_only else int(headers["content-length"])
        while len(self.buffer) < size:
            assert self.read_some(), f"the body ends after {len(self.buffer)} of {size} bytes: {self.buffer!r}"
        body, self.buffer = self.buffer[:size], self.buffer[size:]
        return Answer(int(status), headers, body)

    def is_closed(self, within):
        """Whether the other side closes, saying nothing more."""
        self.socket.settimeout(within)
        try:
            while self.read_some():
                pass
        except TimeoutError:
            return False
        return True


def check_problem(test, answer, field=None):
    """An error is a problem with all its fields, and they agree with the answer."""
    test.assertEqual(answer.headers.get("content-type"), "application/problem+json", answer)
    problem = answer.json
    for name, sort in {
        "type": str, "title": str, "status": int, "code": str, "detail": str, "retryable": bool, "request_id": str,
    }.items():  # fmt: skip
        test.assertIsInstance(problem.get(name), sort, f"{name} in {problem}")
        test.assertNotEqual(problem[name], "", f"{name} in {problem}")
    test.assertEqual(problem["status"], answer.status)
    test.assertIn(
        problem["code"],
        {"invalid_argument", "not_found", "wrong_state", "stale_lease", "conflict", "overloaded", "unavailable",
         "forbidden"},
    )
    if answer.status in (429, 503):
        test.assertRegex(answer.headers.get("retry-after", ""), r"^[0-9]+$")
        test.assertTrue(problem["retryable"], problem)
    if field is not None:
        test.assertEqual(problem.get("field"), field, problem)


# ---- server-sent events ----


class Events:
    """Reads an SSE stream in a thread: each event as {"event", "id", "data"}; comments as {"comment"}."""

    def __init__(self, server, path="/v1/events", headers=None):
        self.connection = server.connect(timeout=PATIENCE)
        self.connection.request("GET", path, headers=headers or {})
        self.socket = self.connection.sock  # which the connection gives away with the answer
        self.response = self.connection.getresponse()
        if self.response.status != 200:
            body = self.response.read()
            self.connection.close()
            raise AssertionError(f"{path}: {self.response.status} {body!r}")
        assert self.response.getheader("content-type") == "text/event-stream"
        self.seen = []
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        block = {}
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException, AttributeError):
            while line := self.response.fp.readline():
                text = line.decode("utf-8").rstrip("\n")
                if text:
                    name, _, value = text.partition(":")
                    block[name or "comment"] = value.removeprefix(" ")
                    continue
                if "data" in block:
                    block["data"] = json.loads(block["data"])
                with self.changed:
                    self.seen.append(block)
                    self.changed.notify_all()
                block = {}

    def named(self, *names):
        with self.changed:
            return [e for e in self.seen if "data" in e and (not names or e.get("event") in names)]

    def wait_for(self, count, *names, patience=PATIENCE):
        """The first `count` events with one of these names."""
        end = time.monotonic() + patience
        with self.changed:
            while True:
                found = [e for e in self.seen if "data" in e and (not names or e.get("event") in names)]
                if len(found) >= count:
                    return found[:count]
                if not self.changed.wait(end - time.monotonic()):
                    raise AssertionError(f"{len(found)} of {count} events {names} after {patience} s: {self.seen[-5:]}")

    def last_id(self):
        with self.changed:
            ids = [e["id"] for e in self.seen if "id" in e]
        return ids[-1] if ids else None

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join(5)
        self.response.close()
        self.connection.close()


# ---- tests ----


class SystemTest(unittest.TestCase):
    """A test that has one server for all its methods, started with `flags`."""

    flags = ()
    maxDiff = None
    longMessage = True

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.flags)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def setUp(self):
        # One queue per test: they share the server and not their tasks.
        self.queue = f"q-{self._testMethodName[-40:]}-{random.randrange(10**6)}"

    def submit(self, kind="t", **fields):
        return self.server.submit(kind, queue=self.queue, **fields)

    def claim(self, most=1, **more):
        return self.server.claim(self.queue, most, **more)

    def claim_one(self, **more):
        return self.server.claim_one(self.queue, **more)

    def events(self, path="/v1/events", headers=None):
        events = Events(self.server, path, headers)
        self.addCleanup(events.close)
        return events

    def own_server(self, *flags):
        server = Server(*flags)
        self.addCleanup(server.close)
        return server


def in_parallel(count, work):
    """Runs work(0) … work(count - 1) in threads of their own; returns what they returned, raises what they raised."""
    results = [None] * count
    failures = []

    def run(i):
        try:
            results[i] = work(i)
        except BaseException as failure:  # a thread has nobody else to tell
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    if failures:
        raise failures[0]
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"
    return results


def allow_many_files(count):
    """As many descriptors as are needed; False when the system does not let us have them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= count:
        return True
    if hard != resource.RLIM_INFINITY and hard < count:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, hard))
    return True


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def report(text):
    """A measured figure, for whoever reads the log."""
    print(f"\n    figure: {text}", file=sys.stderr, flush=True)
