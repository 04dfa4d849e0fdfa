"""Arrays, fields, numbers and all else as arguments of one kernel in any order.

The result of a call, or its error, does not depend on the calls before it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt


@dt.kernel
def add(x, y):
    for i in x:
        x[i] += y[i]


@dt.kernel
def scale(x, h: float):
    for i in x:
        x[i] *= h


@dt.kernel
def shift(x, h):
    for i in x:
        x[i] += h[None]


@dt.func
def blend(a, b):
    return a * b + 1.0


def read_only() -> Any:
    values = np.arange(4.0)
    values.flags.writeable = False
    return values


FIRST: dict[str, Callable[[], Any]] = {
    "field": lambda: dt.from_numpy(np.arange(4.0)),
    "field of floats": lambda: dt.from_numpy(np.arange(4, dtype=np.float32)),
    "part": lambda: dt.from_numpy(np.arange(8.0))[::2],
    "gradient": lambda: dt.from_numpy(np.arange(4.0), grad=True),
    "array": lambda: np.arange(4.0),
    "array of floats": lambda: np.arange(4, dtype=np.float32),
    "slice": lambda: np.arange(8.0)[::2],
    "reversed": lambda: np.arange(4.0)[::-1],
    "column": lambda: np.arange(8.0).reshape(4, 2)[:, 1],
    "integers": lambda: np.arange(4),
    "read-only": read_only,
    "list": lambda: [0.0, 1.0, 2.0, 3.0],
    "number": lambda: 2.0,
    "number of NumPy": lambda: np.float32(2.0),
    "array of one": lambda: np.array(2.0),
    "field of one": lambda: dt.full((), 2.0, ti.f64),
    "table": lambda: np.arange(4.0).reshape(2, 2),
}
SECOND: dict[str, Callable[[], Any]] = {
    **FIRST,
    "booleans": lambda: np.array([True, False, True, True]),
    "repeated": lambda: np.broadcast_to(np.float64(2.0), 4),
    "tuple": lambda: (0.0, 1.0, 2.0, 3.0),
    "size of 1": lambda: np.array([2.0]),
    "short": lambda: np.arange(3.0),
    "long": lambda: np.arange(5.0),
    "empty": lambda: np.zeros(0),
    "complex": lambda: np.ones(4, complex),
    "text": lambda: np.array(["a"]),
    "objects": lambda: np.array([1, 2, 3, 4], object),
    "other byte order": lambda: np.arange(4.0).astype(">f8"),
    "masked": lambda: np.ma.array(np.arange(4.0), mask=[0, 1, 0, 0]),
    "half": lambda: np.arange(4, dtype=np.float16),
    "records": lambda: np.zeros(4, [("a", "f8")]),
    "none": lambda: None,
}


PLAIN = ("field", "array", "part", "slice", "reversed", "column")


def outcome(function: Any, first: Any, second: Any, tape: bool) -> tuple[str, Any]:
    """Return what a call leaves or returns, or its error, which is one of the library."""
    try:
        if tape:
            with dt.Tape():
                found = function(first, second)
        else:
            found = function(first, second)
    except dt.DifftileError as error:
        return type(error).__name__, str(error).partition("\n")[0]
    found = first if found is None else found
    return "", np.asarray(found).tolist()


@pytest.mark.filterwarnings("ignore::difftile.GradientWarning", "ignore::difftile.GradientCut")
@pytest.mark.parametrize("function", [add, scale, shift, blend], ids=lambda f: f.__name__)
def test_a_call_does_not_depend_on_those_before(function: Any) -> None:
    rng = random.Random(function.__name__)
    known_pairs = [(first, second) for first in PLAIN for second in PLAIN]
    pairs = known_pairs + rng.sample([(first, second) for first in FIRST for second in SECOND], 80)
    known: dict[tuple[str, str], tuple[str, Any]] = {}
    for tape in (False, True, False):
        rng.shuffle(pairs)
        for first, second in pairs:
            found = outcome(function, FIRST[first](), SECOND[second](), tape)
            assert known.setdefault((first, second), found) == found, (first, second, tape)
    for first, second in known_pairs:  # and what it is
        start, other = np.asarray(FIRST[first]()), np.asarray(SECOND[second]())
        wanted = {add: start + other, blend: start * other + 1.0}
        if function in wanted:
            assert known[first, second] == ("", wanted[function].tolist())


def test_arrays_in_place_change_the_field() -> None:
    x = dt.from_numpy(np.arange(4.0), grad=True)
    field = x
    for values in (np.ones(4), [1, 2, 3, 4], np.float64(2.0), np.array(1.0), 3):
        before = x.to_numpy()
        x += values
        x *= values
        assert x is field
        np.testing.assert_array_equal(x.to_numpy(), (before + values) * np.asarray(values))
    v = dt.zeros((2,), ti.math.vec3)
    v += np.arange(6.0).reshape(2, 3)
    v += [1, 1, 1]
    assert v.tolist() == [[1, 2, 3], [4, 5, 6]]
    for wrong in (np.ones(3), np.ones((2, 4)), np.array(["a"]), np.ma.array([1.0], mask=[1])):
        with pytest.raises(dt.DifftileError):
            x += wrong
    x = dt.ones(4, ti.f64, grad=True)
    with dt.Tape() as tape:
        y = x * 3.0
        y *= np.arange(4.0)
        total = dt.value(y.sum())
    tape.backward({total: 1.0})
    assert x.grad.tolist() == [0, 3, 6, 9]
    with pytest.warns(dt.GradientCut, match="an array read by Python"), dt.Tape():
        y = x * 1.0
        y += 2.0 * x.to_numpy()


def test_arrays_that_follow_from_fields_cut_no_gradient_in_silence() -> None:
    x, y = dt.ones(4, ti.f64, grad=True), dt.zeros(4, ti.f64, grad=True)
    with dt.Tape() as tape:
        with pytest.warns(dt.GradientCut, match="an array read by Python depends on <field f64"):
            add(y, np.sin(x))
        add(y, x)
        with dt.no_grad():
            sines = np.sin(x)
        add(y, sines)  # a constant, as is said
    tape.backward({y: 1.0})
    assert x.grad.tolist() == [1.0] * 4
