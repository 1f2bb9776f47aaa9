"""Puts generated text into a document, between `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""

import sys
from pathlib import Path


def put(document: Path, name: str, text: str) -> None:
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    old = document.read_text()
    if old.count(begin) != 1 or old.count(end) != 1:
        sys.exit(f"{document}: expected {begin} and {end}, once each")
    before, after = old.split(begin)[0], old.split(end)[1]
    document.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}")
