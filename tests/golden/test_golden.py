"""The golden texts: a refactoring does not change them; `pytest --update-golden` rewrites them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import difftile as dt
from difftile.ir.printer import print_program
from tests.golden.cases import CASES

FOLDER = Path(__file__).parent


def _text(function: Callable[..., None]) -> str:
    kernel = dt.kernel(function)
    kernel(**CASES[function]())
    code = kernel._latest
    assert code is not None
    programs = "\n".join(print_program(stage.program) for stage in code.stages)
    parts = {
        "source": inspect.getsource(function),
        "program": programs,
        "forward": kernel.source("forward"),
        "adjoint": kernel.source("adjoint"),
    }
    text = "\n".join(f"==== {name}\n{part.rstrip()}\n" for name, part in parts.items())
    # Line numbers of the cases file would change every text below an edit.
    return re.sub(r" *# \d+$", "", text, flags=re.MULTILINE)


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_golden(
    function: Callable[..., None], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How many blocks a sum has depends on the machine otherwise.
    monkeypatch.setattr("difftile.schedule.target._BLOCKS_A_THREAD", 0)
    path = FOLDER / f"{function.__name__}.txt"
    text = _text(function)
    if request.config.getoption("--update-golden"):
        path.write_text(text)
    assert path.read_text() == text
