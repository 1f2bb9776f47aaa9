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

RESULTS = Path(__file__).resolve().parents[2] / "results"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("runs", type=Path, help="where the sweep's runs are")
    parser.add_argument("name", help="of the markers, and of the file in results/")
    parser.add_argument("document", type=Path)
    arguments = parser.parse_args()
    begin, end = (f"<!-- {arguments.name}: {what} -->" for what in ("begin", "end"))
    text = arguments.document.read_text()
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"{arguments.document}: expected {begin} and {end}, once each")
    tables = (arguments.runs / "tables.md").read_text()
    finished, total = re.search(r"Generated from (\d+) of (\d+) runs", tables).groups()
    if finished != total:
        print(f"note: {finished} of {total} runs are finished")
    tables = tables[tables.index("### ") :].strip()
    before, after = text.split(begin)[0], text.split(end)[1]
    arguments.document.write_text(f"{before}{begin}\n\n{tables}\n\n{end}{after}")
    data = (arguments.runs / "runs.json").read_bytes()
    (RESULTS / f"{arguments.name}.json").write_bytes(data)


if __name__ == "__main__":
    main()
