"""The shortcuts of the library's start leave the interpreter as it was, and answer rightly."""

from __future__ import annotations

import gc
import inspect
import sys
from types import SimpleNamespace

import pytest

from difftile.substrate.family.methods import answered_quickly, imported_quickly
from difftile.uncollected import uncollected


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with pytest.raises(ZeroDivisionError), uncollected():
            assert not gc.isenabled()
            raise ZeroDivisionError
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_only_frames_of_imports_are_described_quickly() -> None:
    described = inspect.getframeinfo
    frozen = eval(compile("lambda frame: frame()", "<frozen importlib>", "eval"))
    with imported_quickly():
        here = inspect.getframeinfo(sys._getframe())
        quick = frozen(lambda: inspect.getframeinfo(sys._getframe(1)))
    assert inspect.getframeinfo is described
    assert here.code_context is not None
    assert "getframeinfo(sys._getframe())" in here.code_context[0]
    assert quick[:5] == frozen(lambda: described(sys._getframe(1)))[:5]


def test_only_bodies_of_classes_are_searched() -> None:
    asked: list[str] = []

    def search(level: int) -> bool:
        asked.append(sys._getframe(level - 1).f_code.co_name)
        return True

    compiler = SimpleNamespace(_inside_class=search)
    answered_quickly(compiler)

    def decorator(found: list[bool]) -> None:
        found.append(compiler._inside_class(3))

    found: list[bool] = []
    decorator(found)

    class Body:
        decorator(found)

    assert (found, asked) == ([False, True], ["Body"])
