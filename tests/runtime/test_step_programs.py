"""Random Python programs around launches do the same in loops over `range` and `dt.steps`."""

from __future__ import annotations

from collections.abc import Generator

import pytest

import difftile as dt
from tests import step_programs

pytestmark = pytest.mark.filterwarnings("ignore::difftile.GradientCut")


@pytest.mark.parametrize("number", [1, 4, 7, 10])
def test_compiled_loops_do_what_python_does(number: int) -> None:
    assert not step_programs.check(number)


@pytest.fixture(scope="module")
def python() -> Generator[None]:
    """Programs run without a compiler, and those of other tests with one afterwards."""
    dt.init(arch="python", seed=1)
    yield
    dt.init(arch="cpu")


@pytest.mark.parametrize("number", range(60))
def test_loops_do_what_python_does(number: int, python: None) -> None:
    assert not step_programs.check(number)


def test_a_wrong_loop_is_reported(python: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dt, "steps", lambda *bounds: list(range(*bounds))[:-1])
    said: list[str] = []
    assert step_programs.run(range(6), said.append)
    assert "program" in said[0]
