"""The shortcuts of the library's start leave the interpreter as it was, and answer rightly."""

from __future__ import annotations

import copy
import dataclasses
import gc
import inspect
import pickle
import sys
from collections.abc import Callable
from dataclasses import field, fields, replace
from types import SimpleNamespace
from typing import Any

import pytest

import difftile as dt
from difftile import records
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


def undecorated() -> Any:
    class Record:
        __qualname__ = "Record"  # for pickles
        a: int
        b: str = "b"
        c: list[int] = field(default_factory=list[int])
        d: float = field(default=2.0, compare=False, repr=False)
        e: int = field(init=False)
        f: dict[str, int] = field(init=False, default_factory=dict[str, int])

        def __post_init__(self) -> None:
            object.__setattr__(self, "e", self.a + 1)

    return Record


KEYWORDS = [
    {},
    {"slots": True},
    {"frozen": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"eq": False, "repr": False},
]


def outcome(of: Callable[[], Any]) -> str:
    """Return the text of a value or of an error, without addresses and names of parameters."""
    try:
        return str(of())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("keywords", KEYWORDS, ids=str)
def test_records_are_dataclasses(keywords: dict[str, bool], monkeypatch: Any) -> None:
    def answers(decorator: Any) -> list[str]:
        made: Any = decorator(**keywords)(undecorated())
        monkeypatch.setattr(sys.modules[__name__], "Record", made, raising=False)
        one, same, other = made(1), made(1, d=3.0), made(a=2, b="x", c=[1])
        signature = inspect.signature(made)
        asked: list[Callable[[], Any]] = [
            lambda: [(p.name, p.kind, p.default is p.empty) for p in signature.parameters.values()],
            lambda: [f.name for f in fields(made)],
            lambda: made.__match_args__,
            lambda: made.__dataclass_params__.frozen,
            lambda: one == same,
            lambda: one == other,
            lambda: one == 1,
            lambda: hash(replace(one, c=())) == hash(replace(same, c=())),
            lambda: hash(one) and "some number",
            lambda: repr(one) if keywords.get("repr", True) else "",
            lambda: setattr(one, "a", 5),
            lambda: delattr(one, "a"),
            lambda: [getattr(replace(other, a=7), name) for name in "abcdef"],
            lambda: [getattr(copy.copy(other), name) for name in "abcdef"],
            lambda: [getattr(copy.deepcopy(other), name) for name in "abcdef"],
            lambda: [getattr(pickle.loads(pickle.dumps(other)), name) for name in "abcdef"],
            made,
            lambda: made(1, a=1),
            lambda: made(1, 2, 3, 4, 5),
            lambda: made(1, unknown=2),
        ]
        return [outcome(one) for one in asked]

    assert answers(records.dataclass) == answers(dataclasses.dataclass)


def test_methods_of_records_are_compiled_when_they_are_looked_up() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Point:
        x: int

        def __repr__(self) -> str:
            return "own"

    assert not inspect.isfunction(vars(Point)["__init__"])
    point = Point(1)
    assert inspect.isfunction(vars(Point)["__init__"])
    assert not inspect.isfunction(vars(Point)["__hash__"])
    assert {point: 1}[Point(1)] == 1
    assert inspect.isfunction(vars(Point)["__eq__"])
    assert repr(point) == "own"


def test_a_record_may_derive_from_another() -> None:
    @records.dataclass(slots=True)
    class Step:
        a: int

    @records.dataclass(slots=True)
    class Longer(Step):
        b: int = 2

    assert (Longer(1), Longer(1) == Longer(1, 3), Step(1) == Longer(1)) == (
        Longer(a=1, b=2),
        False,
        False,
    )


def test_a_public_name_is_looked_up_once() -> None:
    names = vars(dt)
    names.pop("zeros_like", None)
    found = dt.zeros_like
    assert names["zeros_like"] is found is dt.zeros_like
    with pytest.raises(AttributeError, match="'zeros_lik'"):
        dt.zeros_lik  # noqa: B018  # pyrefly: ignore[missing-attribute]
