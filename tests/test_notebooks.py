"""The page on notebooks, run cell by cell in a kernel of IPython, as Jupyter does."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image

PAGE = Path(__file__).parents[1] / "docs" / "notebooks.md"
CELL = re.compile(r"^```python[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def run(
    sources: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch, **environment: str
) -> list[NotebookNode]:
    """Run cells, and return them with their outputs."""
    monkeypatch.delenv("DIFFTILE_TRACEBACK", raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(folder))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")  # without it jupyter_core warns
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True)
    client.execute(cwd=str(folder))
    return notebook.cells


def of_type(cell: NotebookNode, kind: str) -> list[Any]:
    return [one for one in cell.outputs if one.output_type == kind]


def text_of(cell: NotebookNode) -> str:
    return "".join(one.text for one in of_type(cell, "stream"))


def traceback_of(cell: NotebookNode) -> str:
    (error,) = of_type(cell, "error")
    return COLOURS.sub("", "\n".join(error.traceback))


def picture_of(cell: NotebookNode) -> Any:
    (shown,) = of_type(cell, "display_data")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(shown.data["image/png"]))))


def test_the_page_on_notebooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = PAGE.read_text(encoding="utf-8")
    sources = CELL.findall(page)
    more = ["app.picture.shape, app.error", "total"]
    cells = run([*sources, *more], tmp_path, monkeypatch, DIFFTILE_VIEWER="notebook")
    kernel, redefined, progress, wrong, check, app, after, launched = cells
    for cell in cells:
        assert cell is wrong or not of_type(cell, "error"), traceback_of(cell)

    (shown,) = of_type(kernel, "execute_result")
    assert shown.data["text/plain"] == "<kernel total(x, loss)>"
    assert "compiled at its first launch" in shown.data["text/html"]
    assert "<td" in of_type(launched, "execute_result")[0].data["text/html"]

    (shown,) = of_type(redefined, "execute_result")
    assert shown.data["text/plain"].startswith("<tape done: 1 launch")

    (shown,) = of_type(progress, "execute_result")
    assert shown.data["text/plain"].startswith("<dt.optim.Adam of 1 field with 8 numbers: lr 0.1")
    assert "fit: 100%" in text_of(progress)

    (text,) = SHOWN.findall(page)
    lines = [line.rstrip() for line in traceback_of(wrong).splitlines()]
    assert lines[1:] == text.splitlines()

    (shown,) = of_type(check, "execute_result")
    assert "passed" in shown.data["text/plain"]
    assert "<table>" in shown.data["text/html"]

    assert picture_of(app).shape == (320, 480, 3)
    assert of_type(after, "execute_result")[0].data["text/plain"] == "((320, 480, 3), None)"
