"""CLRS's `mst_kruskal` at n = 64 with a learned disjoint-set union.

    pip install -r bindings/python/requirements-clrs.txt && pip install --no-deps dm-clrs==2.0.3
    python bench/clrs/kruskal.py --pgn target/release/pgn --into results/uses/clrs.json

Graphs and their `in_mst` are from the benchmark's own sampler. The host sorts the edges by weight,
as the benchmark's hints do; which of them join two trees is decided by the learned structure. This
is not an end-to-end model: sorting is not learned, and the structure was supervised on micro-steps
of union-find, not on this task.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import clrs
import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pgn", default="target/release/pgn")
    parser.add_argument("--machine", default="results/machines/dsu")
    parser.add_argument("--graphs", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--into", default="results/uses/clrs.json")
    arguments = parser.parse_args()
    graphs = edges = entries = entries_right = 0
    folder = Path(tempfile.mkdtemp())
    for seed in range(arguments.graphs):
        # One at a time: the hints of a graph are hundreds of megabytes.
        sampler, _ = clrs.build_sampler(
            "mst_kruskal", seed=seed, num_samples=1, length=arguments.nodes
        )
        sample = sampler.next(1)
        weights = next(p.data for p in sample.features.inputs if p.name == "A")[0]
        (truth,) = (output.data[0] for output in sample.outputs if output.name == "in_mst")
        pairs = [(u, v) for u, v in zip(*np.nonzero(weights)) if u < v]
        path = folder / "graph.txt"
        path.write_text("".join(f"{u} {v} {float(weights[u, v])!r}\n" for u, v in pairs))
        command = [arguments.pgn, "judge", "minimum_spanning_tree", arguments.machine, "--graph", path]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        chosen = [int(word) for word in done.stdout.splitlines()[1].split()]
        found = np.zeros_like(truth)
        for number in chosen:
            u, v = pairs[number]
            found[u, v] = found[v, u] = 1
        # The benchmark may note an edge in one direction only.
        expected = np.maximum(truth, truth.T)
        graphs += bool(np.array_equal(found, expected))
        edges += len(pairs)
        entries += found.size
        entries_right += int((found == expected).sum())
        print(f"seed {seed}: {len(pairs)} edges, {len(chosen)} in the tree, {graphs} right", flush=True)
    row = {"task": "mst_kruskal", "nodes": arguments.nodes, "graphs": arguments.graphs}
    row |= {"graphs_right": graphs, "entries": entries, "entries_right": entries_right}
    row |= {"edges": edges, "mode": "compiled", "clrs": clrs.__version__}
    row["what"] = "edges sorted by the host; unions by a learned structure; not end to end"
    Path(arguments.into).parent.mkdir(parents=True, exist_ok=True)
    Path(arguments.into).write_text(json.dumps(row, indent=1) + "\n")
    print(row)


if __name__ == "__main__":
    main()
