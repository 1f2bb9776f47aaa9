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


#: A run with a teacher.
STUDENT = ["train", "--model", "pgn-ptrs", "--teacher", "run", "--out", "student", *SMALL]
#: A data set from given operations.
MAKE = "generate --task dsu --nodes 6 --operations operations.csv --force --out made.safetensors".split()


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
    if rng.random() < 0.4 or "tfevents" in path.name:
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


#: Finished runs, and commands that read them without writing there.
FINISHED = {
    "run": [
        "eval run --count 1",
        "analyse run",
        "rollout run --ops operations.csv --nodes 6",
        "report run --out report.html --force",
    ],
    "student": ["eval student --count 1", "rollout student --ops operations.csv --nodes 6"],
    "machine": [
        "eval machine --nodes 6 --count 1 --mode network",
        "rollout machine --ops operations.csv --nodes 6 --mode compiled",
        "compile machine --emit rust",
        "check machine",
    ],
}

#: Where every graph and every problem of the judge is read from.
GRAPHS = {
    "roads.gr": "c roads\np sp 4 3\na 1 2 2.5\na 2 3 1\na 3 4 4\n",
    "roads.mtx": "%%MatrixMarket matrix coordinate real general\n4 4 3\n1 2 2.5\n2 3 1\n3 4 4\n",
    "roads.csv": "from,to,length\na,b,2.5\nb,c,1\nc,d,4\n",
    "roads.txt": "# roads\n0 1 2.5\n1 2 1\n2 3 4\n",
}


class Reader:
    """A file, a command that reads it, and what must be refused."""

    def __init__(self, name: str, *command: str, sealed: bool = False) -> None:
        self.name, self.command = name, command
        #: Whether the command must refuse the file with a flipped bit.
        self.sealed = sealed


class Files:
    """A folder with one of every file that the program reads, and commands that read each."""

    def __init__(self, program: Program, folder: Path) -> None:
        self.program, self.folder = program, folder / "files"
        #: What commands print of the intact runs.
        self.printed: dict[tuple[str, ...], tuple[int, bytes]] = {}
        self.folder.mkdir()
        self.make()
        again = ["train", "--out", "run", *SMALL]
        unfinished = ["train", "--out", "half", *SMALL]
        report = ["report", "run", "--out", "report.html", "--force"]
        tables = ["reproduce", "--tables", "grid"]
        one = ["--count", "1"]
        self.readers = [
            Reader("run/config.toml", "eval", "run", *one, sealed=True),
            Reader("run/config.toml", *again, sealed=True),
            Reader("run/model.safetensors", "eval", "run", *one, sealed=True),
            Reader("run/model.safetensors", *again, sealed=True),
            Reader("run/results.json", *again, sealed=True),
            Reader("run/results.json", *report, sealed=True),
            Reader("run/metrics.jsonl", *again, sealed=True),
            Reader("run/metrics.jsonl", *report, sealed=True),
            Reader("run/checkpoint.safetensors", *again, sealed=True),
            Reader("run/events.out.tfevents.pgn", *again),
            Reader("half/config.toml", *unfinished, sealed=True),
            Reader("half/checkpoint.safetensors", *unfinished, sealed=True),
            Reader("half/metrics.jsonl", *unfinished),
            Reader("half/events.out.tfevents.pgn", *unfinished),
            Reader("student/teacher/model.safetensors", "eval", "student", *one, sealed=True),
            Reader("student/teacher/model.safetensors", *STUDENT, sealed=True),
            Reader("student/teacher/config.toml", "eval", "student", *one, sealed=True),
            Reader("machine/config.toml", "eval", "machine", "--nodes", "6", *one),
            Reader("machine/model.safetensors", "eval", "machine", "--nodes", "6", *one, sealed=True),
            Reader("machine/model.safetensors", "compile", "machine", sealed=True),
            Reader("machine/certificate.json", "compile", "machine", sealed=True),
            Reader("grid/runs.json", "reproduce", "--tables", "tables"),
            Reader("grid/dsu/gnn/seed-1/results.json", *tables, sealed=True),
            Reader("set.safetensors", "generate", "--describe", "set.safetensors"),
            Reader("set.safetensors", "eval", "run", "--data", "set.safetensors"),
            Reader("analyses.json", *report, "--analyses", "analyses.json"),
            Reader("analyses.json", "figures", ".", "--out", "drawn"),
            Reader("operations.csv", *MAKE),
            Reader("settings.toml", "train", "--config", "settings.toml", "--out", "again"),
            Reader("sweep.toml", "sweep", "sweep.toml", "--out", "swept", "--list"),
        ]
        judge = ["judge", "minimum_spanning_tree", "dsu", "--graph"]
        self.readers += [Reader(name, *judge, name) for name in GRAPHS]
        # Otherwise nothing could be told from a damaged file's refusal.
        check = folder / "intact"
        shutil.copytree(self.folder, check)
        for reader in self.readers:
            self.at(reader, check)
            ended = program.run(check, *reader.command)
            assert ended.code == 0, (reader.command, ended)
            self.restore(check)
        shutil.rmtree(check)

    def make(self) -> None:
        """Makes one of every file."""
        run = self.prepare
        run("train", "--out", "run", *SMALL)
        run(*STUDENT)
        # A run as a kill leaves it that comes after the last checkpoint.
        shutil.copytree(self.folder / "run", self.folder / "half")
        for name in ("results.json", "model.safetensors"):
            (self.folder / "half" / name).unlink()
        machine = "train --model pgn-machine --task dsu --out machine --epochs 300 --sequences 4"
        run(*machine.split(), "--nodes", "8", "--test-nodes", "6", "--test-sequences", "1")
        run("certify", "machine")
        grid = "reproduce --out grid --tasks dsu --models gnn,pgn --seeds 1 --epochs 2 --threads 1"
        grid += " --sequences 4 --validation-sequences 2 --nodes 6 --test-nodes 6"
        run(*grid.split(), "--test-sequences", "2")
        run(*"generate --task dsu --nodes 6 --count 3 --out set.safetensors".split())
        run("analyse", "run", "--out", "analyses.json")
        texts = {
            "sweep.toml": "[sweep]\ntask = ['dsu']\nmodel = ['pgn', 'gnn']\nepochs = [1]\n",
            "operations.csv": "u,v\n0,1\n2,3\n# a comment\n1,3\n",
            **GRAPHS,
        }
        for name, text in texts.items():
            (self.folder / name).write_text(text)
        shutil.copy(self.folder / "run/config.toml", self.folder / "settings.toml")

    def prepare(self, *arguments: str) -> None:
        ended = self.program.run(self.folder, *arguments)
        assert ended.code == 0, (arguments, ended)

    def at(self, reader: Reader, folder: Path) -> Path:
        """Where the file is that the command reads."""
        if "tables" not in reader.command:
            return folder / reader.name
        # Alone in a folder, it is all there is to make tables of.
        (folder / "tables").mkdir(exist_ok=True)
        return Path(shutil.copy(folder / reader.name, folder / "tables/runs.json"))

    def restore(self, folder: Path) -> None:
        """Undoes what the commands have written."""
        for name in ("again", "drawn", "swept", "tables", "half"):
            shutil.rmtree(folder / name, ignore_errors=True)
        shutil.copytree(self.folder / "half", folder / "half")
        for file in (self.folder / "run").iterdir():
            if file.is_file():
                shutil.copy(file, folder / "run" / file.name)
        for name in ("runs.json", "tables.md"):
            shutil.copy(self.folder / "grid" / name, folder / "grid" / name)

    def flip_one(self, folder: Path, rng: random.Random, row: Row) -> None:
        """Flips a bit of a finished run: every command refuses it, or prints what it printed."""
        run = rng.choice(list(FINISHED))
        path = rng.choice(self.files_of(run))
        whole = (folder / path).read_bytes()
        bit = rng.randrange(8 * len(whole))
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        command = rng.choice(FINISHED[run]).split()
        if (run, *command) not in self.printed:
            self.printed[run, *command] = self.program.output(folder, *command)
        before = self.printed[run, *command]
        (folder / path).write_bytes(bytes(data))
        after = self.program.output(folder, *command)
        (folder / path).write_bytes(whole)
        row.tried += 1
        same = after == before
        row.count("printed the same" if same else "reported" if after[0] == 1 else "wrong")
        if not same and after[0] != 1:
            row.trouble(f"bit {bit} of {path} flipped: {' '.join(command)} printed something else")

    def files_of(self, run: str) -> list[str]:
        """The files of a run, but for the lock."""
        files = sorted(path for path in (self.folder / run).rglob("*") if path.is_file())
        return [str(path.relative_to(self.folder)) for path in files if path.name != ".lock"]

    def try_one(self, folder: Path, rng: random.Random, row: Row) -> None:
        """Damages one file and lets a command read it."""
        reader = rng.choice(self.readers)
        path = self.at(reader, folder)
        whole = path.read_bytes()
        flip = reader.sealed and rng.random() < 0.5
        if flip:
            data = bytearray(whole)
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            damaged = bytes(data)
        else:
            damaged = mutate(path, rng)
        path.write_bytes(damaged)
        ended = self.program.run(folder, *reader.command)
        row.tried += 1
        what = f"{reader.name} damaged, {' '.join(reader.command)[:80]}"
        row.judge(ended, what, (0, 1))
        row.count({0: "accepted", 1: "reported"}.get(ended.code, f"code {ended.code}"))
        if flip and ended.code == 0:
            row.trouble(f"{what}: a flipped bit was not noticed")
        if row.troubles and len(row.troubles) <= 20 and row.troubles[-1].startswith(what):
            kept = self.folder.parent / "kept"
            kept.mkdir(exist_ok=True)
            (kept / f"{row.tried}-{path.name}").write_bytes(damaged)
        path.write_bytes(whole)
        self.restore(folder)
