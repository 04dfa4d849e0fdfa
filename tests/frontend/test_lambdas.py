"""Lambdas in kernels: which one on a line is meant, and when a kernel is compiled again."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt
from tests.modules import imported


@dt.kernel
def apply(f, x):
    for i in x:
        x[i] = f(x[i])


def applied(f: Any, to: float = 3.0) -> float:
    x = dt.full((), to)
    apply_to_one(f, x)
    return float(x[None])


@dt.kernel
def apply_to_one(f, x):
    x[None] = f(x[None])


# fmt: off
MANY = [lambda x: x + 1, lambda x: x + 2, lambda x: x + 1.0, lambda y: y + 1, lambda x: (x) + (1), (lambda x: -x)]  # noqa: E501
CHOSEN = {"a": lambda x: 2 * x if x > 0 else x, "b": lambda x: x if x > 0 else 2 * x}
NESTED = [f(5) for f in (lambda k: lambda x: x * x * x, lambda k: lambda x: k * x)]
# fmt: on


def test_the_lambda_that_is_meant_is_found_on_its_line() -> None:
    assert [applied(f) for f in MANY] == [4, 5, 4, 4, 4, -3]
    assert [applied(f) for f in CHOSEN.values()] == [6, 3]
    assert [applied(f) for f in NESTED] == [27, 15]
    assert applied(max((lambda x: x - 1, lambda x: x - 2), key=lambda f: f(0))) == 2


def test_a_line_may_hold_wide_characters_and_a_lambda_several_lines(tmp_path: Path) -> None:
    text = "half, fourth = (lambda ä: ä / 2), (lambda ä: ä / 4)\n"
    text += "long = (\n  lambda x:\n  x\n  + 10.0\n)\n"
    found = imported(tmp_path / "wide.py", text)
    assert [applied(f) for f in (found.half, found.fourth, found.long)] == [1.5, 0.75, 13]


def test_a_lambda_that_is_made_anew_is_compiled_once() -> None:
    x = dt.ones(3)
    for _ in range(3):
        apply(lambda v: v + 1, x)
    np.testing.assert_array_equal(x.to_numpy(), 4)
    assert sum(len(found) for found in apply._specialisations.values()) == 1
    for k in range(2, 4):  # each has a value of its own
        apply(lambda v, k=k: k * v, x)
    np.testing.assert_array_equal(x.to_numpy(), 24)


def test_the_module_may_import_its_annotations_from_the_future(tmp_path: Path) -> None:
    text = "from __future__ import annotations\nclass Of:\n    f = lambda x: x + k\nk = 2\n"
    assert applied(imported(tmp_path / "future.py", text).Of.f) == 5


def test_a_cell_of_a_notebook_holds_lambdas() -> None:
    name, text = "<cell 1>", "f, g = lambda x: x + 1, lambda x: x * 5\n"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names: dict[str, Any] = {}
    exec(compile(text, name, "exec", dont_inherit=True), names)
    assert applied(names["f"]) == 4 and applied(names["g"]) == 15


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "changing.py"
    f = imported(path, "f = lambda x: x + 1\n").f
    path.write_text("f = lambda x: x + 2   # another\n", encoding="utf-8")
    with pytest.raises(dt.KernelError, match="has changed since Python read it"):
        applied(f)


def test_a_lambda_without_a_file_is_refused() -> None:
    with pytest.raises(dt.KernelError, match="source of '<lambda>' cannot be found"):
        applied(eval("lambda x: x"))


def test_a_captured_lambda_that_is_exchanged_has_its_own_captures() -> None:
    def scaled(factor: float) -> Any:
        return lambda v: factor * v

    f = scaled(2.0)

    @dt.kernel
    def apply_captured(x):
        for i in x:
            x[i] = f(1.0)

    x = dt.zeros(1)
    found: list[float] = []
    for factor in (2.0, 3.0):
        f = scaled(factor)
        apply_captured(x)
        found.append(float(x[0]))
    assert found == [2, 3]
