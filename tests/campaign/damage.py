"""Damaged files: every command that reads one says so in a sentence, and believes nothing wrong."""

from __future__ import annotations

import json
import random
import shutil
import struct
from pathlib import Path

from common import SMALL, Program, Row, spread

#: Values that readers may not expect.
ODD: list[object] = [
    0, -1, 1, 2**24, 2**31, 2**32, 2**53, 2**63, 2**64, -(2**63), 1e308, 1e-320, 0.5, None, True,
    "", "x", "\u0000", "../..", [], {}, [[]], [0] * 1000, "9" * 400, {"a": {"b": {}}},
]


def mutate_json(value: object, rng: random.Random) -> object:
    """A copy in which one value is an odd one, gone, or there twice."""
    value = json.loads(json.dumps(value))
    places: list[tuple[object, object]] = []

    def collect(node: object) -> None:
        items = node.items() if isinstance(node, dict) else enumerate(node)  # type: ignore[arg-type]
        for key, child in items:
            places.append((node, key))
            if isinstance(child, (dict, list)):
                collect(child)

    if not isinstance(value, (dict, list)) or not value:
        return rng.choice(ODD)
    collect(value)
    parent, key = rng.choice(places)
    match rng.randrange(4):
        case 0:
            del parent[key]  # type: ignore[attr-defined]
        case 1 if isinstance(parent, list):
            parent.extend(parent)
        case _:
            parent[key] = rng.choice(ODD)  # type: ignore[index]
    return value


def mutate_text(text: str, rng: random.Random) -> str:
    """A copy in which one number or word of a line is another, or a line is gone or there twice."""
    lines = text.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, rng.choice(lines))
        case _:
            key, equals, _ = lines[at].partition("=")
            odd = rng.choice(ODD)
            lines[at] = f"{key}{equals} {json.dumps(odd)}\n" if equals else f"{odd}\n"
    return "".join(lines)


def mutate_tensors(data: bytes, rng: random.Random) -> bytes:
    """A `.safetensors` file whose header is another."""
    (size,) = struct.unpack("<Q", data[:8])
    header = json.dumps(mutate_json(json.loads(data[8 : 8 + size]), rng)).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + data[8 + size :]


def mutate(path: Path, rng: random.Random) -> bytes:
    """A damaged copy of a file, by its structure or by its bytes."""
    data = path.read_bytes()
    if rng.random() < 0.4:
        return spread(rng, data)
    match path.suffix:
        case ".safetensors":
            return mutate_tensors(data, rng)
        case ".json":
            return json.dumps(mutate_json(json.loads(data), rng), indent=2).encode()
        case ".jsonl":
            lines = data.splitlines(keepends=True)
            at = rng.randrange(len(lines))
            lines[at] = json.dumps(mutate_json(json.loads(lines[at]), rng)).encode() + b"\n"
            return b"".join(lines)
        case _:
            return mutate_text(data.decode(), rng).encode(errors="surrogatepass")


class Files:
    """A folder with one of every file that the program reads, and commands that read each."""

    def __init__(self, program: Program, folder: Path) -> None:
        self.program, self.folder = program, folder / "files"
        self.folder.mkdir()
        run = lambda *arguments: self.prepare(*arguments)
        run("train", "--out", "run", *SMALL)
        run("train", "--model", "pgn-ptrs", "--teacher", "run", "--out", "student", *SMALL)
        half = [*SMALL, "--epochs", "100000"]
        process = program.start(self.folder, "train", "--out", "half", *half[2:])
        while not (self.folder / "half/checkpoint.safetensors").exists():
            pass
        process.kill()
        process.wait()
        machine = "train --model pgn-machine --task dsu --out machine --epochs 300 --sequences 4"
        run(*machine.split(), "--nodes", "8", "--test-nodes", "6", "--test-sequences", "1")
        run("certify", "machine")
        run(*"generate --task lct --nodes 6 --count 3 --out set.safetensors".split())
        run("analyse", "run", "--out", "analyses.json")
        (self.folder / "sweep.toml").write_text(
            "[sweep]\ntask = ['dsu']\nmodel = ['pgn', 'gnn']\nepochs = [1]\n"
        )
        (self.folder / "operations.csv").write_text("u,v\n0,1\n2,3\n# a comment\n1,3\n")
        settings = ["--config", "settings.toml", "--out", "again"]
        shutil.copy(self.folder / "run/config.toml", self.folder / "settings.toml")
        again = ["train", "--out", "run", *SMALL]
        student = ["train", "--model", "pgn-ptrs", "--teacher", "run", "--out", "student", *SMALL]
        certified = [["eval", "machine", "--nodes", "6", "--count", "1"], ["compile", "machine"]]
        describe = [["generate", "--describe", "set.safetensors"], ["eval", "run", "--data", "set.safetensors"]]
        on = ["rollout", "run", "--nodes", "6", "--operations", "operations.csv"]
        #: The file, the commands that read it, and whether a flipped bit must not be accepted.
        self.readers: list[tuple[str, list[list[str]], bool]] = [
            ("run/config.toml", [["eval", "run", "--count", "1"], again], False),
            ("run/model.safetensors", [["eval", "run", "--count", "1"], again], True),
            ("run/results.json", [again, ["report", "run", "--out", "report.html"]], True),
            ("run/metrics.jsonl", [again, ["report", "run", "--out", "report.html"]], False),
            ("run/checkpoint.safetensors", [again], True),
            ("half/checkpoint.safetensors", [["eval", "half"], ["sweep", "sweep.toml", "--out", "half", "--list"]], False),
            ("student/teacher/model.safetensors", [["eval", "student", "--count", "1"], student], True),
            ("student/teacher/config.toml", [["eval", "student", "--count", "1"]], False),
            ("machine/config.toml", [["eval", "machine", "--nodes", "6", "--count", "1"]], False),
            ("machine/model.safetensors", certified, True),
            ("machine/certificate.json", certified, True),
            ("set.safetensors", describe, False),
            ("analyses.json", [["report", "run", "--analyses", "analyses.json", "--out", "report.html"], ["figures", ".", "--out", "drawn", "--no-png"]], False),
            ("operations.csv", [on], False),
            ("settings.toml", [["train", *settings, "--epochs", "1"]], False),
            ("sweep.toml", [["sweep", "sweep.toml", "--out", "swept", "--list"]], False),
        ]

    def prepare(self, *arguments: str) -> None:
        ended = self.program.run(self.folder, *arguments)
        assert ended.code == 0, (arguments, ended)

    def try_one(self, folder: Path, rng: random.Random, row: Row) -> None:
        """Damages one file and lets its readers have it."""
        name, commands, sealed = rng.choice(self.readers)
        path = folder / name
        whole = path.read_bytes()
        flip = sealed and rng.random() < 0.5
        if flip:
            data = bytearray(whole)
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            damaged = bytes(data)
        else:
            damaged = mutate(path, rng)
        path.write_bytes(damaged)
        command = rng.choice(commands)
        ended = self.program.run(folder, *command)
        row.tried += 1
        what = f"{name} damaged, {' '.join(command)[:80]}"
        row.judge(ended, what, (0, 1, 2))
        row.count({0: "accepted", 1: "said so"}.get(ended.code, f"code {ended.code}"))
        # A machine that is not finished, or whose certificate is of others, may not say which.
        if flip and ended.code == 0 and damaged != whole:
            row.trouble(f"{what}: a flipped bit was not noticed")
        if row.troubles and len(row.troubles) <= 20 and row.troubles[-1].startswith(what):
            kept = self.folder.parent / "kept"
            kept.mkdir(exist_ok=True)
            (kept / f"{row.tried}-{Path(name).name}").write_bytes(damaged)
        path.write_bytes(whole)
        shutil.rmtree(folder / "again", ignore_errors=True)
        if name in ("run/metrics.jsonl", "run/config.toml"):
            # What a command that was taken in may have written is not to stay.
            for file in (self.folder / "run").iterdir():
                if file.is_file():
                    shutil.copy(file, folder / "run" / file.name)
