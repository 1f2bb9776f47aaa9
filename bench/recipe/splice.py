"""Puts the tables of a sweep into a document, and its scores beside the other results.

    pgn sweep bench/recipe/forcing.toml --out runs/forcing
    python bench/recipe/splice.py runs/forcing forcing docs/recipe.md
    pgn sweep bench/recipe/how_far.toml --out runs/how-far
    python bench/recipe/splice.py runs/how-far how-far docs/recipe.md

The tables go between the markers `<!-- NAME: begin -->` and `<!-- NAME: end -->`, and `runs.json` to
`results/NAME.json`. Nothing but Python is needed.
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import marked

RESULTS = Path(__file__).resolve().parents[2] / "results"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("runs", type=Path, help="where the sweep's runs are")
    parser.add_argument("name", help="of the markers, and of the file in results/")
    parser.add_argument("document", type=Path)
    arguments = parser.parse_args()
    tables = (arguments.runs / "tables.md").read_text()
    finished, total = re.search(r"Generated from (\d+) of (\d+) runs", tables).groups()
    if finished != total:
        print(f"note: {finished} of {total} runs are finished")
    marked.put(arguments.document, arguments.name, tables[tables.index("### ") :])
    data = (arguments.runs / "runs.json").read_bytes()
    (RESULTS / f"{arguments.name}.json").write_bytes(data)


if __name__ == "__main__":
    main()
