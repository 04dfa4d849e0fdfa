"""Rows BA and MU of the conformance table that are about launches and Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt


@dt.kernel
def polynomial(x, y):
    for i in x:
        y[i] = 2.0 * x[i] * x[i] + 8.0 * x[i] - 1.0


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def square_in_place(x):
    for i in x:
        x[i] = x[i] * x[i]


def test_gradients_accumulate_until_they_are_cleared() -> None:  # BA3
    x, y = dt.from_numpy(np.array([1, 2, 3, 4], np.float32), grad=True), dt.zeros(4, grad=True)
    for expected in ([12, 16, 20, 24], [24, 32, 40, 48]):
        with dt.Tape(accumulate=True) as tape:
            polynomial(x, y)
        tape.backward({y: 1.0})
        npt.assert_array_equal(x.grad.to_numpy(), expected)
    x.grad.clear()
    y.grad.clear()
    with dt.Tape(accumulate=True) as tape:
        polynomial(x, y)
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [12, 16, 20, 24])


def test_arrays_of_any_strides_are_copied_right() -> None:  # BA12
    a = np.arange(12, dtype=np.float32).reshape(4, 3)
    odd = (a[:, 1], a[::-1, ::2], a.T, np.asfortranarray(a), a[1:3].astype(">f4"), a[:, 1:2])
    for one in odd:
        npt.assert_array_equal(dt.from_numpy(one).to_numpy(), one)
        x = dt.zeros(one.shape)
        x.from_numpy(one)
        npt.assert_array_equal(x.to_numpy(), one)
    npt.assert_array_equal(dt.from_numpy(a[:, 1]).to_numpy(), [1, 4, 7, 10])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_every_float_accumulates(dtype: Any) -> None:  # BA14
    x = dt.from_numpy(np.array([1, 2, -3], dtype), grad=True)
    y, total = dt.field(dtype, 3, grad=True), dt.field(dtype, (), grad=True)

    @dt.kernel
    def total_of_squares(x, total):
        for i in x:
            total[None] += x[i] * x[i]

    with dt.Tape(total):
        total_of_squares(x, total)
    assert total[None] == 14
    npt.assert_array_equal(x.grad.to_numpy(), np.array([2, 4, -6], dtype))
    with dt.Tape() as tape:
        square(x, y)
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), np.array([2, 4, -6], dtype))
    assert x.grad.to_numpy().dtype == dtype


def test_vectors_accumulate() -> None:  # BA14
    x = dt.from_numpy(np.array([[1, 2, 3]], np.float32), dtype=ti.math.vec3, grad=True)
    y = dt.zeros(4, ti.math.vec3, grad=True)

    @dt.kernel
    def spread(x, y):
        for i in y:
            y[i] = x[0] * x[0]

    with dt.Tape() as tape:
        spread(x, y)
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [[8, 16, 24]])


def test_fields_hold_what_the_launches_left_there() -> None:  # MU2, MU3, MU13
    x = dt.from_numpy(np.array([1, 2, 3, 4], np.float32), grad=True)
    count = dt.zeros((), ti.i32)

    @dt.kernel
    def counted(x, count):
        for i in x:
            x[i] = x[i] * 2
            count[None] += 1

    with dt.Tape() as tape:
        counted(x, count)
    tape.backward({x: 1.0})
    npt.assert_array_equal(x.to_numpy(), [2, 4, 6, 8])
    npt.assert_array_equal(x.grad.to_numpy(), [2, 2, 2, 2])
    assert count[None] == 4
    for _ in range(3):
        before = x.to_numpy()
        with dt.Tape() as tape:
            square_in_place(x)
        tape.backward({x: 1.0})
        npt.assert_allclose(x.grad.to_numpy(), 2 * before)
        npt.assert_allclose(x.to_numpy(), before**2)


def test_a_value_that_goes_through_a_field_without_gradient_is_told() -> None:  # MU12
    x, y = dt.ones(2, grad=True), dt.zeros(2, grad=True)
    t = dt.zeros(2)
    with pytest.warns(dt.GradientCut, match="'y' has none"), dt.Tape() as tape:
        square(x, t)
        square(t, y)
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [0, 0])


def test_a_name_of_a_field_in_python_is_the_field() -> None:  # MU9
    x = dt.from_numpy(np.array([1, 2, 3], np.float32), grad=True)
    y = x
    with dt.Tape() as tape:
        square_in_place(y)
        square_in_place(x)
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [4, 32, 108])
