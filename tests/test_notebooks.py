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

KERNEL = """
@dt.kernel
def scale(x, loss):
    for i in x:
        loss[None] += {} * x[i]
"""
FUNC = """
@dt.func
def slope(a):
    return {} * a

@dt.kernel
def sloped(x, loss):
    for i in x:
        loss[None] += slope(x[i])
"""
OP = """
@dt.custom_op
def add(x, loss):
    loss.from_numpy(x.to_numpy().sum())
"""
KERNEL_RULE = """
@scale.backward
def _(x, loss):
    for i in x:
        x.grad_out[i] += {} * loss.grad_in[None]
"""
FUNC_RULE = """
@slope.backward
def _(a, d):
    return {} * d
"""
OP_RULE = """
@add.backward
def _(x, loss):
    x.grad_out.add_numpy(np.full(8, {}))
"""
GRADIENT = """
loss.fill(0.0)
with dt.Tape(loss):
    {}(x, loss)
float(x.grad[0])
"""
ALIVE = """
import gc
from difftile.runtime.kernel import Kernel
_ = gc.collect()
sum(isinstance(one, Kernel) and one.__name__ in ("scale", "sloped") for one in gc.get_objects())
"""
# Cells that are edited, or run again as they are; and the results of those that have one.
REDEFINING = [
    *(KERNEL.format(2.0), GRADIENT.format("scale")),
    *(KERNEL.format(3.0), GRADIENT.format("scale")),
    *(KERNEL_RULE.format(4.0), GRADIENT.format("scale")),
    *(KERNEL_RULE.format(5.0), GRADIENT.format("scale")),
    *(KERNEL_RULE.format(5.0), GRADIENT.format("scale")),
    *(FUNC.format(2.0), GRADIENT.format("sloped")),
    *(FUNC_RULE.format(6.0), GRADIENT.format("sloped")),
    *(FUNC_RULE.format(7.0), GRADIENT.format("sloped")),
    *(FUNC.format(3.0), GRADIENT.format("sloped")),
    *(OP, OP_RULE.format(8.0), GRADIENT.format("add")),
    *(OP_RULE.format(9.0), GRADIENT.format("add")),
    ALIVE,
]
FOUND = ["2.0", "3.0", "4.0", "5.0", "5.0", "2.0", "6.0", "7.0", "3.0", "8.0", "9.0", "2"]


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
    sources += ["app.picture.shape, app.error", "total", *REDEFINING]
    cells = run(sources, tmp_path, monkeypatch, DIFFTILE_VIEWER="notebook")
    kernel, redefined, progress, wrong, check, app, after, launched, *others = cells
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

    found = [one.data["text/plain"] for cell in others for one in of_type(cell, "execute_result")]
    assert found == FOUND
