"""Memory of devices: what moves its contents, and what a backward pass does beside its adjoints."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.ir.types import SCALARS, numpy_dtype
from tests.device_arrays import counted, device_arrays

ELEMENTS = {
    "numbers": lambda scalar: scalar,
    "vectors": lambda scalar: dt.vec(3, dtype=scalar),
    "matrices": lambda scalar: dt.mat(2, 2, dtype=scalar),
}


def move(names: Iterable[str], elements: Iterable[str]) -> None:
    """Compare fields of some types with arrays, in all ways in which contents move."""
    rng = np.random.default_rng(4)
    for name in names:
        scalar = SCALARS[name]
        types = (
            [ELEMENTS[one](getattr(ti, name)) for one in elements] if name != "bool" else [ti.u1]
        )
        for dtype in types:
            field, other = dt.zeros((3, 5), dtype), dt.zeros((3, 5), dtype)
            inner = field.to_numpy().shape[2:]
            values = rng.integers(0, 100, (3, 5, *inner)).astype(numpy_dtype(scalar))
            field.from_numpy(values)
            same(field, values)
            np.testing.assert_array_equal(np.asarray(field[1, 2]), values[1, 2])
            field[2, 3] = values[2, 3] = values[0, 1]
            same(field, values)
            other.fill(1)
            other.copy_from(field)
            same(other, values)
            for number in (1, 0):
                other.fill(number)
                np.testing.assert_array_equal(np.asarray(other[0, 4]), np.full(inner, number))
                same(other, np.full_like(values, number))
                other.fill(number)
                other[1, 1] = values[1, 1]
                expected = np.full_like(values, number)
                expected[1, 1] = values[1, 1]
                same(other, expected)
                other.fill(number)
                field.copy_from(other)
                same(field, np.full_like(values, number))
            if numpy_dtype(scalar).kind == "f":
                grown = values.copy()
                grown[0, 0] = 0.5
                field.from_numpy(values)
                other.from_numpy(grown)
                field.buffer.add(other.buffer)
                same(field, values + grown)
                field.fill(np.nan)
                field[0, 0] = grown[0, 0]
                assert np.isnan(field.to_numpy()).sum() == values.size - grown[0, 0].size


def same(field: dt.Field, values: Any) -> None:
    found = field.to_numpy()
    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found, values)


def test_contents_of_all_types_move() -> None:
    with device_arrays():
        move(SCALARS, ELEMENTS)


def test_taichi_moves_contents_without_a_driver() -> None:
    with device_arrays(driver=False):
        move(("f32", "i16", "bool"), ("numbers",))
        move(("f64",), ("vectors",))


@dt.kernel
def product(x, y):
    for i in x:
        y[i] = ti.sin(x[i]) * x[i]


@dt.kernel
def double(x):
    for i in x:
        x[i] = 2.0 * x[i]


@dt.kernel
def total(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


def reverse_one_launch() -> None:
    """Count what is done to reverse a tape of one launch, by what the seed is."""
    points = np.linspace(0.0, 1.0, 1000, dtype=np.float32)
    x, y = dt.from_numpy(points, grad=True), dt.zeros(1000, dtype=ti.f32, grad=True)
    end, loss = dt.zeros((), ti.f32, grad=True), dt.zeros((), ti.f32, grad=True)
    weights = np.linspace(1.0, 2.0, 1000, dtype=np.float32)
    field = dt.from_numpy(weights)
    slopes = np.cos(points) * points + np.sin(points)
    # Each gradient is cleared before it is added to, unless it is given at once.
    cases: list[tuple[Any, Any, dict[str, int]]] = [
        ({y: 2.0}, 2.0, {"launch": 1, "MemsetD32": 2}),
        ({y: field}, weights, {"launch": 1, "MemsetD32": 1, "MemcpyDtoD": 1}),
        ({y: weights}, weights, {"launch": 1, "MemsetD32": 1, "MemcpyHtoD": 1}),
        (end, 0.0, {"launch": 1, "MemsetD32": 2}),
    ]
    for seeds, factor, expected in 2 * cases:
        with dt.Tape() as tape:
            product(x, y)
            end[None] = 0.0
        with counted() as counts:
            if seeds is end:
                with pytest.warns(dt.GradientCut):
                    tape.backward(seeds)
            else:
                tape.backward(seeds)
        assert counts == expected
        np.testing.assert_allclose(x.grad.to_numpy(), factor * slopes, rtol=1e-5, atol=1e-6)
        assert not y.grad.to_numpy().any()
    for _ in range(2):
        loss[None] = 0.0
        with ExitStack() as stack:
            with dt.Tape(loss):
                total(x, loss)
                counts = stack.enter_context(counted())
        # The loss is read to see whether it is finite.
        assert counts == {"MemcpyDtoH": 1, "launch": 1, "MemsetD32": 2}
        np.testing.assert_allclose(x.grad.to_numpy(), 2 * points, rtol=1e-6)


def test_reversing_one_launch_is_one_launch_and_clears() -> None:
    with device_arrays():
        reverse_one_launch()


def test_a_fill_waits_until_contents_are_used() -> None:
    with device_arrays():
        x, y = dt.ones(1000, ti.f32), dt.from_numpy(np.arange(1000.0, dtype=np.float32))
        double(x)
        with counted() as counts:
            for number in (3.0, 0.0, 5.0):
                x.fill(number)
            assert x[7] == 5.0
            assert (x.to_numpy() == 5.0).all()
            y.copy_from(x)
            x.from_numpy(np.ones(1000, np.float32))
            y.fill(2.0)
        assert counts == {"MemcpyHtoD": 1}
        with counted() as counts:
            double(y)
            double(y)
        assert counts == {"launch": 2, "MemsetD32": 1}
        assert (y.to_numpy() == 8.0).all()
        assert (x.to_numpy() == 1.0).all()


def test_a_fill_is_made_up_for_once_when_it_is_interrupted() -> None:
    with device_arrays():
        x = dt.ones(10, ti.f32)
        x.fill(3.0)
        memory: Any = x.buffer.device
        fill = type(memory._memory).fill

        def interrupted(self: Any, number: Any) -> bool:
            fill(self, number)
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(memory._memory), "fill", interrupted)
            with pytest.raises(KeyboardInterrupt):
                double(x)
        double(x)
        double(x)
        assert (x.to_numpy() == 12.0).all()
