"""Redis servers of a test's own, and a wire between them and us that can be cut.

Every server listens on a free loopback port, keeps its files in a folder of its own and is ended by its pid.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from tests.system.harness import LEASH, PATIENCE, Server, until


def free_port(spare=0):
    """A port that is free just now; of a cluster's server also the one of its bus, `spare` above it."""
    while True:
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
            if not spare:
                return port
            if port + spare > 65535:
                continue
            with contextlib.suppress(OSError):
                second.bind(("127.0.0.1", port + spare))
                return port


# Another one than the machine's own.
PROGRAM = os.environ.get("REDIS_SERVER", "redis-server")


class Redis:
    """A redis-server with an append-only file. Outlives its process: `kill()` and `start()` again."""

    def __init__(self, *flags, port=None, start=True):
        self.flags = list(flags)
        self.folder = tempfile.mkdtemp(prefix="holdfast-redis-")
        self.port = port or free_port()
        self.process = None
        if start:
            self.start()

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def start(self):
        assert self.process is None, "it runs already"
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [
                    *LEASH, PROGRAM, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "",
                    "--appendonly", "yes", "--appendfsync", "everysec", "--dir", self.folder,
                    *self.flags,
                ],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        until(self.answers, f"redis-server answers on {self.port}")
        return self

    def answers(self):
        if self.process.poll() is not None:
            with open(os.path.join(self.folder, "log"), encoding="utf-8") as log:
                raise AssertionError(f"redis-server ended:\n{log.read()[-2000:]}")
        with contextlib.suppress(OSError):
            return self.call("PING") == "PONG"
        return False

    def freeze(self):
        """It holds its connections and answers nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        """SIGKILL."""
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process = None

    def close(self):
        if self.process is not None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def server(self, *flags, **more):
        return Server(*flags, store=self.url, **more)

    def call(self, *words):
        """What redis-cli would show: text, number, list or None; an error is raised."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as line:
            texts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
            line.sendall(b"*%d\r\n" % len(texts) + b"".join(b"$%d\r\n%s\r\n" % (len(t), t) for t in texts))
            with line.makefile("rb") as reader:
                return read_reply(reader)

    def keys(self, pattern="*"):
        return sorted(self.call("KEYS", pattern))

    def hash(self, key):
        fields = self.call("HGETALL", key)
        return dict(zip(fields[::2], fields[1::2]))

    def info(self, section, field):
        for line in self.call("INFO", section).splitlines():
            if line.startswith(field + ":"):
                return line.split(":", 1)[1]
        return None


def read_reply(reader):
    head = reader.readline()
    if not head:
        raise ConnectionError("the server closed the connection")
    sort, rest = head[:1], head[1:-2]
    if sort == b"-":
        raise OSError(rest.decode())
    if sort == b"+":
        return rest.decode()
    if sort == b":":
        return int(rest)
    if sort == b"$":
        if int(rest) < 0:
            return None
        text = reader.read(int(rest) + 2)[:-2]
        try:
            return text.decode()
        except UnicodeDecodeError:
            return text
    if sort == b"*":
        return None if int(rest) < 0 else [read_reply(reader) for _ in range(int(rest))]
    raise AssertionError(f"not RESP2: {head!r}")


class Cluster:
    """Masters that share the slots, and replicas of each."""

    BUS = 10000

    def __init__(self, masters=3, replicas=0):
        self.nodes = []
        try:
            for _ in range(masters * (1 + replicas)):
                self.nodes.append(Redis(
                    "--cluster-enabled", "yes", "--cluster-node-timeout", "1500",
                    "--cluster-replica-validity-factor", "0", port=free_port(self.BUS),
                ))  # fmt: skip
            addresses = [f"127.0.0.1:{node.port}" for node in self.nodes]
            subprocess.run(
                ["redis-cli", "--cluster", "create", *addresses, "--cluster-replicas", str(replicas), "--cluster-yes"],
                check=True, stdout=subprocess.DEVNULL, timeout=120,
            )  # fmt: skip
            until(self.is_whole, "the cluster is whole")
        except BaseException:
            self.close()
            raise

    def is_whole(self):
        return all(
            "cluster_state:ok" in node.call("CLUSTER", "INFO") and self.known(node) == len(self.nodes)
            for node in self.nodes if node.process is not None
        )  # fmt: skip

    @staticmethod
    def known(node):
        return sum("fail" not in line.split()[2].split(",") for line in node.call("CLUSTER", "NODES").splitlines())

    @property
    def url(self):
        return "redis-cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes[:3])

    def server(self, *flags, **more):
        return Server(*flags, store=self.url, **more)

    @staticmethod
    def is_master(node):
        return node.process is not None and node.call("ROLE")[0] == "master"

    def masters(self):
        return [node for node in self.nodes if self.is_master(node)]

    def of_slot(self, slot):
        for first, last, master, *_ in self.masters()[0].call("CLUSTER", "SLOTS"):
            if first <= slot <= last:
                return next(node for node in self.nodes if node.port == master[1])
        raise AssertionError(f"nobody has slot {slot}")

    def migrate(self, slot, target, pause=0.0):
        """Moves a slot to another master the way redis-cli does, key by key."""
        source = self.of_slot(slot)
        ids = {node.port: node.call("CLUSTER", "MYID") for node in (source, target)}
        target.call("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source.port])
        source.call("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target.port])
        moved = 0
        while keys := source.call("CLUSTER", "GETKEYSINSLOT", slot, 20):
            source.call("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)
            moved += len(keys)
            time.sleep(pause)
        for node in (target, source, *self.masters()):
            node.call("CLUSTER", "SETSLOT", slot, "NODE", ids[target.port])
        return moved

    def close(self):
        for node in self.nodes:
            node.close()


class FaultProxy:
    """Stands between Holdfast and one Redis. What passes it may be cut, held up, or lost on the way back."""

    def __init__(self, port):
        self.target = port
        self.lock = threading.Lock()
        self.pairs = set()
        self.delay = 0.0  # seconds that every reply is late
        self.swallowing = False  # the server's next bytes are lost, and their connection with them
        self.counts = {"cut": 0, "swallowed": 0}
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def _accept(self):
        while True:
            try:
                ours, _ = self.listener.accept()
            except OSError:
                return
            try:
                theirs = socket.create_connection(("127.0.0.1", self.target), timeout=5)
            except OSError:
                ours.close()
                continue
            pair = (ours, theirs)
            for end in pair:
                end.settimeout(None)
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self.lock:
                self.pairs.add(pair)
            threading.Thread(target=self._pass, args=(pair, ours, theirs, False), daemon=True).start()
            threading.Thread(target=self._pass, args=(pair, theirs, ours, True), daemon=True).start()

    def _pass(self, pair, source, sink, is_reply):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 18):
                if is_reply and self.delay:
                    time.sleep(self.delay)
                if is_reply and self.swallowing:
                    self.swallowing = False
                    self.counts["swallowed"] += 1
                    break
                sink.sendall(data)
        self._end(pair)

    def _end(self, pair):
        with self.lock:
            if pair not in self.pairs:
                return
            self.pairs.discard(pair)
        for end in pair:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def swallow_next(self):
        """The next reply: what it answers was done."""
        self.swallowing = True

    def cut(self):
        """Every connection there is, at once."""
        with self.lock:
            pairs = list(self.pairs)
        for pair in pairs:
            self.counts["cut"] += 1
            self._end(pair)

    def close(self):
        self.listener.close()
        self.cut()
