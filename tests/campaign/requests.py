"""Hostile requests to `pgn serve`: it refuses them, and answers everybody else all the while."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import time
from pathlib import Path

from common import Program, Row, spread
from damage import mutate_json

REPLAY = {"model": "built-in:dsu", "nodes": 8, "seed": 1, "sequence": 0}
#: Requests that are answered, to begin with.
GOOD: list[tuple[str, str, object]] = [
    ("GET", "/", None),
    ("GET", "/api/about", None),
    ("GET", "/api/runs", None),
    ("GET", "/api/run?id=run:run", None),
    ("GET", "/api/metrics?id=run:run&offset=0", None),
    ("GET", "/api/baselines?id=built-in:dsu", None),
    ("POST", "/api/replay", REPLAY),
    ("POST", "/api/replay", {"model": "run:run", "nodes": 5, "operations": [[0, 1], [1, 2]]}),
    ("POST", "/api/node", {"replay": REPLAY, "step": 1, "node": 0}),
    ("POST", "/api/step", {"replay": REPLAY, "step": 1}),
    ("POST", "/api/sequences", {"model": "built-in:dsu", "nodes": 6, "count": 2}),
    ("POST", "/api/micro-steps", {"task": "lct", "nodes": 6, "operations": [[0, 1]]}),
    ("POST", "/api/calls", {"program": "heap", "nodes": 6, "more": 3}),
    ("POST", "/api/operations", {"name": "a.csv", "nodes": 5, "text": "0,1\n"}),
]
#: Ids that must lead nowhere.
OUT = ["../outside", "..%2Foutside", "%2e%2e/outside", "/etc", "run%00", ".", "", "link", "a" * 9000]


class Server:
    """`pgn serve` on a folder, with a secret beside it."""

    def __init__(self, program: Program, folder: Path, served: Path, within: float) -> None:
        self.within = within
        self.secret = "a-secret-that-no-answer-may-contain"
        outside = served.parent / "outside"
        outside.mkdir(exist_ok=True)
        (outside / "config.toml").write_text(f"{self.secret}\n")
        link = served / "link"
        if not link.exists():
            os.symlink(outside, link)
        self.log = folder / "serve.log"
        limit = ["sh", "-c", 'ulimit -n 1024; exec "$@"', "sh"]
        with self.log.open("wb") as log:
            self.child = subprocess.Popen(
                [*limit, program.pgn, "serve", str(served), "--port", "0"], text=True,
                stdout=subprocess.PIPE, stderr=log,
            )
        assert self.child.stdout
        line = self.child.stdout.readline()
        self.port = int(line.split("/")[2].split(":")[1])
        self.held: list[socket.socket] = []

    def exchange(self, request: bytes, seconds: float = 120, whole: bool = True) -> bytes:
        """Sends bytes and reads all that comes back. What is not a whole request is ended, so that
        the server need not wait for more."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            try:
                connection.sendall(request)
                if not whole:
                    connection.shutdown(socket.SHUT_WR)
                parts = []
                while part := connection.recv(1 << 16):
                    parts.append(part)
                return b"".join(parts)
            except (ConnectionError, TimeoutError, BrokenPipeError) as error:
                return b"" if not isinstance(error, TimeoutError) else b"TIMEOUT"

    def alive(self, row: Row) -> None:
        """An honest request is answered at once, whatever else there is."""
        begun = time.monotonic()
        answer = self.exchange(request("GET", "/api/about", None))
        seconds = time.monotonic() - begun
        row.slowest = max(row.slowest, seconds)
        if b" 200 " not in answer[:20]:
            row.trouble(f"/api/about got {answer[:80]!r} after {seconds:.1f} s")
        elif seconds > self.within:
            row.trouble(f"/api/about took {seconds:.1f} s")

    def memory(self) -> int:
        status = Path(f"/proc/{self.child.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024

    def stop(self, row: Row) -> None:
        row.memory = max(row.memory, self.memory())
        if row.memory > 1 << 30:
            row.trouble(f"the server used {row.memory >> 20} MB")
        for connection in self.held:
            connection.close()
        self.child.terminate()
        try:
            code = self.child.wait(60)
        except subprocess.TimeoutExpired:
            self.child.kill()
            row.trouble("the server did not stop within 60 s of SIGTERM")
            return
        if code != 0:
            row.trouble(f"the server ended with code {code}")
        if "panicked" in self.log.read_text(errors="replace"):
            row.trouble(f"the server panicked: {self.log.read_text()[:300]}")


def request(method: str, path: str, body: object, head: str = "Host: localhost\r\n") -> bytes:
    data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = "Content-Type: application/json\r\n" if data else ""
    start = f"{method} {path} HTTP/1.1\r\n{head}{kind}Connection: close\r\n"
    return start.encode(errors="replace") + f"Content-Length: {len(data)}\r\n\r\n".encode() + data


def hostile(rng: random.Random) -> tuple[bytes, bool]:
    """One hostile request, and whether it is a whole one."""
    method, path, body = rng.choice(GOOD)
    match rng.randrange(8):
        case 0 | 1 | 2 if body is not None:
            return request(method, path, mutate_json(body, rng)), True
        case 3:
            name = rng.choice(("run", "metrics", "baselines"))
            return request("GET", f"/api/{name}?id=run:{rng.choice(OUT)}", None), True
        case 4:
            return request("POST", "/api/replay", {"model": f"run:{rng.choice(OUT)}", "nodes": 5}), True
        case 5:
            host = rng.choice(("evil.example", "localhost@evil.example", "[::2]", "", "\u00e9"))
            return request(method, path, body, f"Host: {host}\r\n"), True
        case 6:
            return rng.randbytes(rng.randrange(1, 3000)), False
        case _:
            return spread(rng, request(method, path, body)), False


def many(server: Server, rng: random.Random, row: Row, count: int = 50) -> None:
    """A batch of hostile requests, then an honest one."""
    for _ in range(count):
        request, whole = hostile(rng)
        answer = server.exchange(request, whole=whole)
        row.tried += 1
        status = answer[9:12].decode(errors="replace") if answer.startswith(b"HTTP/1.1 ") else ""
        row.count(status if status.isdigit() else "no answer")
        if answer == b"TIMEOUT":
            row.trouble("a request was neither answered nor refused")
        if status == "500":
            row.trouble(f"status 500: {answer[-200:]!r}")
        if server.secret.encode() in answer:
            row.trouble("an answer holds what lies outside the folder")
    server.alive(row)


HEADERS = (b"", b"G", b"GET / HTTP/1.1\r\nHost: local")
BODIES = (
    b"POST /api/step HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4096\r\n\r\n",
    b"POST /api/step HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4096\r\n\r\n{\"task\":",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{",
)


def half_open(
    server: Server, rng: random.Random, row: Row, sent: tuple[bytes, ...], count: int = 1100
) -> None:
    """More requests that never end than there are file descriptors; then an honest one."""
    for _ in range(count):
        try:
            connection = socket.create_connection(("127.0.0.1", server.port), timeout=2)
            connection.setblocking(False)
            connection.send(rng.choice(sent))
            server.held.append(connection)
        except OSError:
            row.count("refused")
        row.tried += 1
    row.count("held", len(server.held))
    server.alive(row)
    for connection in server.held:
        connection.close()
    server.held.clear()
