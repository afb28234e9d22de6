"""Redis servers of a test's own, and servers on them."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile

from tests.system.harness import LEASH, Server, until


# Servers of a cluster talk to each other on a port that is so much higher.
BUS = 10000


def free_port():
    while True:
        with socket.socket() as listener, socket.socket() as bus:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
            if port + BUS > 65535:
                continue
            with contextlib.suppress(OSError):
                bus.bind(("127.0.0.1", port + BUS))
                return port


class Redis:
    """With an append-only file; outlives its process, and comes back on the same port."""

    def __init__(self, *options):
        self.options = ("--appendonly", "yes", *options)
        self.folder = tempfile.mkdtemp(prefix="holdfast-redis-")
        self.port = free_port()
        self.process = None
        self.start()

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}"

    def start(self):
        assert self.process is None, "it runs already"
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [
                    *LEASH, "redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder,
                    "--save", "", *self.options,
                ],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        until(lambda: self.ask("PING") == "+PONG", "redis-server answers")

    def ask(self, *words):
        """The first line of the answer; None: there is none."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as line:
                line.sendall((" ".join(words) + "\r\n").encode())
                return line.makefile().readline().strip()
        except OSError:
            return None

    def kill(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()
        self.process = None

    def freeze(self):
        """It holds its connections and answers nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        if self.process is not None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def server(self, *flags, start=True):
        return Server("--store", self.url, *flags, start=start)


class Cluster:
    """Three masters that share the slots."""

    def __init__(self):
        self.nodes = [Redis("--cluster-enabled", "yes", "--cluster-node-timeout", "2000") for _ in range(3)]
        addresses = [f"127.0.0.1:{node.port}" for node in self.nodes]
        made = subprocess.run(
            ["redis-cli", "--cluster", "create", *addresses, "--cluster-yes"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert made.returncode == 0, made.stdout + made.stderr
        until(lambda: all(self.is_well(node) for node in self.nodes), "the cluster is well")
        self.url = "redis-cluster://" + ",".join(addresses)

    @staticmethod
    def is_well(node):
        with socket.create_connection(("127.0.0.1", node.port), timeout=5) as line:
            line.sendall(b"CLUSTER INFO\r\n")
            return b"cluster_state:ok" in line.recv(4096)

    def close(self):
        for node in self.nodes:
            node.close()

    def server(self, *flags):
        return Server("--store", self.url, *flags)
