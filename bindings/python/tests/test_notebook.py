"""The notebook runs from top to bottom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parent.parent / "examples" / "tour.ipynb"


@pytest.mark.filterwarnings("ignore")
def test_the_notebook(tmp_path: Path) -> None:
    nbclient: Any = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat: Any = pytest.importorskip("nbformat", reason="nbformat is not installed")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs for cell in code if "pgn." in cell.source), "committed without outputs"
    for cell in code:
        # As it is, but for the length of the two runs.
        cell.source = cell.source.replace("epochs=600", "epochs=20")
    client = nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3")
    client.execute(cwd=str(tmp_path))
    shown = [output for cell in code for output in cell.outputs]
    kinds = [kind for output in shown for kind in output.get("data", {})]
    assert kinds.count("image/png") == 3 and kinds.count("image/svg+xml") == 2
    pages = [output.data["text/html"] for output in shown if "text/html" in output.get("data", {})]
    bars = [page for page in pages if "<progress" in page]
    assert len(bars) == 2 and all("20/20" in bar for bar in bars)
    assert sum("<iframe" in page for page in pages) == 1
