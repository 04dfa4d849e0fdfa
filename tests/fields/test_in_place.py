"""Operators in place with operands that overlap, compared with NumPy and complex steps."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt

rng = np.random.default_rng(0)
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "/=": operator.itruediv,
    "**=": operator.ipow,
}


@dt.kernel
def weigh(x, w, loss):
    for i in x:
        loss[None] += w[i] * x[i] * x[i]


def reversed_(x: Any) -> None:
    x *= x[::-1]


def shifted(x: Any) -> None:
    x[:-1] -= x[1:]


def shifted_up(x: Any) -> None:
    x[1:] /= x[:-1]


def transposed(x: Any) -> None:
    g = x.reshape(4, 4) if isinstance(x, np.ndarray) else x.view(4, 4)
    g += g.transpose()


def one_row(x: Any) -> None:
    g = x.reshape(4, 4) if isinstance(x, np.ndarray) else x.view(4, 4)
    g *= g[1]


def one_element(x: Any) -> None:
    x *= x[2:3]


def apart(x: Any) -> None:
    x[::2] -= x[1::2]


def itself(x: Any) -> None:
    x *= x
    x[3:] += x[3:]


def other_shape(x: Any) -> None:
    g = x.reshape(4, 4) if isinstance(x, np.ndarray) else x.view(4, 4)
    g -= x[2:6]


def twice(x: Any) -> None:
    x **= x[::-1]
    x[2:9] *= x[5:12]
    x += x[::-1]


CASES = [
    *(reversed_, shifted, shifted_up, transposed, one_row, one_element, apart, itself),
    *(other_shape, twice),
]


def start() -> Any:
    return rng.uniform(0.5, 1.5, 16)


def reference(case: Callable[[Any], None], values: Any, w: Any) -> tuple[Any, Any]:
    """Return the end, and the slopes of the weighted squares of the end."""
    slopes, end = np.zeros(16), values.copy()
    case(end)
    for i in range(16):
        x = values.astype(complex)
        x[i] += 1e-30j
        case(x)
        slopes[i] = np.sum(w * x * x).imag / 1e-30
    return end, slopes


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_on_a_tape(case: Callable[[Any], None]) -> None:
    values, w = start(), start()
    end, slopes = reference(case, values, w)
    weights, loss = dt.from_numpy(w), dt.zeros((), ti.f64, grad=True)
    for options in ({}, {"snapshots": 3}):
        x = dt.from_numpy(values, grad=True)
        loss.clear()
        with dt.Tape(loss, **options):
            case(x)
            weigh(x, weights, loss)
        assert np.allclose(x.to_numpy(), end, rtol=1e-14)
        assert np.allclose(x.grad.to_numpy(), slopes, rtol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_transformations(case: Callable[[Any], None]) -> None:
    values, w, v = start(), start(), start()
    _, slopes = reference(case, values, w)
    weights = dt.from_numpy(w)

    def f(x: dt.Field) -> dt.Field:
        y, loss = x.copy(), dt.zeros((), ti.f64)
        case(y)
        weigh(y, weights, loss)
        return loss

    x = dt.from_numpy(values)
    assert np.allclose(dt.grad(f)(x).to_numpy(), slopes, rtol=1e-12)
    _, pushed = dt.jvp(f, (x,), (dt.from_numpy(v),))
    assert np.isclose(pushed[None], slopes @ v, rtol=1e-12)


@pytest.mark.parametrize("word", OPERATORS)
@pytest.mark.parametrize("number", range(2))
def test_random_parts(word: str, number: int) -> None:
    draw = np.random.default_rng(number)
    apply = OPERATORS[word]

    def piece(length: int) -> slice:
        step = int(draw.choice([-2, -1, 1, 2]))
        first = int(draw.integers(0, 7 - (length - 1) * abs(step)))
        places = range(first, first + length * abs(step), abs(step))
        ends = (places[0], places[-1] + 1) if step > 0 else (places[-1], places[0] - 1)
        return slice(ends[0], None if ends[1] < 0 else ends[1], step)

    for _ in range(3):
        values = draw.uniform(0.5, 1.5, (7, 7))
        rows, columns = (int(n) for n in draw.integers(1, 4, 2))
        x, into = dt.from_numpy(values), (piece(rows), piece(columns))
        if draw.random() < 0.5:
            out = piece(rows), piece(columns)
            apply(x[into], x[out])
            apply(values[into], values[out].copy())
        else:
            out = piece(columns), piece(rows)
            apply(x[into], x[out].transpose())
            apply(values[into], values[out].transpose().copy())
        assert np.allclose(x.to_numpy(), values, rtol=1e-14), (into, out)


def test_integers_vectors_and_other_memory() -> None:
    n = dt.from_numpy(np.arange(5, dtype=np.int32))
    n -= n[::-1]
    assert n.tolist() == [-4, -2, 0, 2, 4]
    v = dt.from_numpy(np.arange(12.0).reshape(4, 3), dtype=ti.math.vec3)
    v += v[::-1]
    assert v.to_numpy().tolist() == [[9, 11, 13]] * 4
    array = np.arange(6.0)
    first, second = dt.from_dlpack(array[:-1]), dt.from_dlpack(array[1:])
    first += second
    assert array.tolist() == [1, 3, 5, 7, 9, 5]
    x = dt.from_numpy(np.arange(4.0))
    y = x.detach()
    x *= y[::-1]
    assert x.tolist() == [0, 2, 2, 0]


def test_what_does_not_overlap_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(
        "difftile.runtime.field_operators._copied", lambda one: made.append(one) or one
    )
    x, y = dt.ones(6), dt.ones(6)
    x += y
    x += x
    x[::2] *= x[1::2]
    x[:3] -= x[3:]
    assert made == []
