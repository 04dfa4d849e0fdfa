"""Parts of fields and their other shapes, from Python: BA10 and related cases."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import Race
from difftile.fields.window import whole

S = np.s_
ONE_AXIS = (S[1:3], S[::2], S[::-1], S[-2:], S[5:0:-2], S[...], S[:], S[3:100], S[-1::-3])
TWO_AXES = (S[1:], S[:, 0], S[2, 1:], S[1:, ::-2], S[..., 2], S[-1, :], S[::-1, ::-1], S[0:1, 1:2])


@dt.kernel
def squares(a, y):
    for i in a:
        y[i] = a[i] * a[i]


@dt.kernel
def squares_of_rows(a, y):
    for i, j in a:
        y[i, j] = a[i, j] * a[i, j]


def counting(*shape: int) -> np.ndarray:
    return np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)


CASES = [(counting(6), s) for s in ONE_AXIS] + [(counting(3, 4), s) for s in TWO_AXES]


@pytest.mark.parametrize(
    ("array", "index"), CASES, ids=lambda v: "" if isinstance(v, np.ndarray) else str(v)
)
def test_a_part_is_what_numpy_picks(array: Any, index: Any) -> None:
    x = dt.from_numpy(array, grad=True)
    v, expected = x[index], array[index]
    assert (v.shape, v.ndim, v.size, len(v)) == (
        expected.shape,
        expected.ndim,
        expected.size,
        len(expected),
    )
    assert v.dtype == x.dtype
    npt.assert_array_equal(v.to_numpy(), expected)
    npt.assert_array_equal(np.asarray(v), expected)
    for cell in np.ndindex(*v.shape):
        assert v[cell] == expected[cell]
    last = (-1,) * v.ndim
    assert v[last] == expected[last]


@pytest.mark.parametrize(
    ("array", "index"), CASES, ids=lambda v: "" if isinstance(v, np.ndarray) else str(v)
)
def test_writing_through_a_part_changes_the_field(array: Any, index: Any) -> None:
    shape = array[index].shape
    numbers = 100 + counting(*shape)
    writes = (
        lambda x, a: x[index].from_numpy(numbers),
        lambda x, a: x.__setitem__(index, numbers),
        lambda x, a: x.__setitem__(index, 7),
        lambda x, a: x[index].fill(-1),
        lambda x, a: x[index].clear(),
        lambda x, a: x[index].__setitem__((0,) * len(shape), 5.5),
        lambda x, a: x[index].copy_from(dt.from_numpy(numbers)),
    )
    values = (numbers, numbers, 7, -1, 0, None, numbers)
    for write, value in zip(writes, values, strict=True):
        x, expected = dt.from_numpy(array), array.copy()
        write(x, expected)
        if value is None:
            expected[index][(0,) * len(shape)] = 5.5
        else:
            expected[index] = value
        npt.assert_array_equal(x.to_numpy(), expected)


def test_parts_of_parts() -> None:
    array = counting(5, 6, 4)
    x = dt.from_numpy(array)
    first = (S[1:, ::-2, 1:], S[::2, 3, :], S[:, :, ::3])
    then = {3: (S[1:, 0, ::-1], S[:, ::2, 0], S[-1, -1, :]), 2: (S[1, :], S[::-1, 1:])}
    for one in first:
        for two in then[x[one].ndim]:
            npt.assert_array_equal(x[one][two].to_numpy(), array[one][two])


def test_parts_of_fields_of_vectors() -> None:
    array = counting(4, 3, 2)
    x = dt.from_numpy(array, dtype=ti.math.vec2)
    npt.assert_array_equal(x[1:, ::2].to_numpy(), array[1:, ::2])
    npt.assert_array_equal(x[1:, ::2][2, 1], array[3, 2])
    x[:, 0] = [1, 2]
    x[0, 1:] = counting(2, 2)
    array[:, 0] = [1, 2]
    array[0, 1:] = counting(2, 2)
    npt.assert_array_equal(x.to_numpy(), array)


def test_another_shape() -> None:
    array = counting(3, 4)
    x = dt.from_numpy(array, grad=True)
    for shape in ((12,), (2, 6), (2, 2, 3), (4, 3)):
        npt.assert_array_equal(x.view(*shape).to_numpy(), array.reshape(shape))
        npt.assert_array_equal(x.view(shape).to_numpy(), array.reshape(shape))
    assert x.view(-1).shape == (12,)
    assert x.view(2, -1, 3).shape == (2, 2, 3)
    assert dt.zeros(()).view(1, 1).shape == (1, 1)
    assert dt.zeros((1, 1)).view(()).shape == ()
    y = x.view(2, 6)
    y[1, 2] = 50
    y[0, ::5] = [60, 70]
    array.reshape(2, 6)[1, 2] = 50
    array.reshape(2, 6)[0, ::5] = [60, 70]
    npt.assert_array_equal(x.to_numpy(), array)
    y.fill(3)
    assert (x.to_numpy() == 3).all()
    assert y.grad.shape == (2, 6) and y.grad.storage is x.grad.storage
    assert y.view(3, 4).view(4, 3)[::2].shape == (2, 3)


def test_repeated_elements() -> None:
    array = counting(1, 4)
    x = dt.from_numpy(array)
    for shape in ((3, 4), (2, 3, 4), (1, 4)):
        npt.assert_array_equal(x.broadcast_to(*shape).to_numpy(), np.broadcast_to(array, shape))
        npt.assert_array_equal(x.broadcast_to(shape).to_numpy(), np.broadcast_to(array, shape))
    npt.assert_array_equal(x[:, 1:].broadcast_to(2, 3)[1, ::-1].to_numpy(), array[0, :0:-1])
    npt.assert_array_equal(dt.full((), 5.0).broadcast_to(2, 2).to_numpy(), np.full((2, 2), 5))


def test_axes_in_another_order() -> None:
    array = counting(2, 3, 4)
    x = dt.from_numpy(array, grad=True)
    for axes in ((), (1, 2, 0), (-1, 0, 1), (2, 1, 0)):
        npt.assert_array_equal(x.transpose(*axes).to_numpy(), array.transpose(*axes or (2, 1, 0)))
    part, same = x[:, ::2, 1:].transpose((2, 0, 1)), array[:, ::2, 1:].transpose(2, 0, 1)
    npt.assert_array_equal(part.to_numpy(), same)
    npt.assert_array_equal(np.from_dlpack(part), same)
    assert part[2, 1, 0] == same[2, 1, 0] and part.transpose().shape == (2, 2, 3)
    npt.assert_array_equal(part.transpose()[1].to_numpy(), same.transpose()[1])
    part += np.arange(12).reshape(3, 2, 2)
    same += np.arange(12).reshape(3, 2, 2)
    npt.assert_array_equal(x.to_numpy(), array)
    y = dt.zeros((3, 4, 2), grad=True)
    with dt.Tape() as tape:
        y.copy_from(x.transpose(1, 2, 0))
    seed = np.arange(24).reshape(3, 4, 2)
    tape.backward({y: seed})
    npt.assert_array_equal(x.grad.to_numpy(), seed.transpose(2, 0, 1))
    for wrong in ((0, 1), (0, 0, 1), (0, 1, 3), ("a", 1, 2)):
        with pytest.raises(dt.FieldError, match="transposed by all of its 3 axes"):
            x.transpose(*wrong)


def test_overlapping_parts_are_copied_as_if_at_once() -> None:
    x = dt.from_numpy(counting(6), grad=True)
    with dt.Tape() as tape:
        x[1:].copy_from(x[:-1])
    npt.assert_array_equal(x.to_numpy(), [1, 1, 2, 3, 4, 5])
    tape.backward({x: [1, 10, 100, 1000, 10000, 100000]})
    npt.assert_array_equal(x.grad.to_numpy(), [11, 100, 1000, 10000, 100000, 0])


def test_text_and_copies() -> None:
    x = dt.from_numpy(counting(4), grad=True)
    assert x[1:3].named() == "<view f32 (2,) of <field f32 (4,), grad>>"
    twin = copy.deepcopy(x[1:3])
    x[1] = 100.0
    npt.assert_array_equal(twin.to_numpy(), [2, 3])
    assert twin.has_grads and dt.zeros_like(x[1:3]).has_grads
    assert not x[1:3].detach().has_grads
    assert x[1:3] == x[1:3] != x[1:4]


def test_parts_that_share_elements() -> None:
    shapes = {1: (7,), 2: (3, 5)}
    for ndim, indices in ((1, ONE_AXIS), (2, TWO_AXES)):
        ids = np.arange(np.prod(shapes[ndim])).reshape(shapes[ndim])
        for one, two in itertools.product(
            (*indices, *((S[::2], S[1::2], S[3:4]) * (ndim == 1))), repeat=2
        ):
            a, b = (whole(shapes[ndim]).sliced(ids, index) for index in (one, two))
            common = set(ids[one].ravel()) & set(ids[two].ravel())
            assert a.shares(b) == bool(common)


@dt.kernel
def in_turn(a, b, c):
    for i in a:
        a[i] *= 2.0
    for i in b:
        b[i] *= 3.0
    for i in c:
        c[i] = c[i] * c[i]


def test_a_part_that_joins_two_others() -> None:
    x = dt.from_numpy(np.array([1.0, 2.0, 3.0, 4.0]), grad=True)
    with dt.Tape() as tape:
        in_turn(x[:2], x[2:], x[1:3])
    np.testing.assert_array_equal(x.to_numpy(), [2, 16, 81, 12])
    tape.backward({x: np.ones(4)})
    np.testing.assert_array_equal(x.grad.to_numpy(), [2, 4 * 4, 6 * 9, 3])


@dt.kernel
def beside(a, b, c, y):
    for i in y:
        b[i] = a[i]
        y[i] = c[i]


def test_a_part_that_joins_two_others_meets_both() -> None:
    x, y = dt.ones(6, dtype=ti.f64), dt.zeros(2, ti.f64)
    beside(x[:2], x[2:4], x[4:], y)
    with pytest.raises(Race):
        beside(x[:2], x[2:4], x[1:3], y)


@dt.kernel
def product_of(a, b, y):
    for i in y:
        y[i] = a[i] * b[i]


def test_parts_that_share_elements_in_other_steps_are_other_arguments() -> None:
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    x, y = dt.from_numpy(values, grad=True), dt.zeros(3, ti.f64)
    for pick in (S[1:4], S[3:0:-1], S[::2]):
        product_of(x[:3], x[pick], y)
        np.testing.assert_array_equal(y.to_numpy(), values[:3] * values[pick])


# Gradients


@pytest.mark.parametrize(
    ("kernel", "pick", "expected"),
    [  # BA10
        (squares, lambda x: x[::2], [2, 0, 6, 0]),
        (squares, lambda x: x[1:3], [0, 4, 6, 0]),
        (squares_of_rows, lambda x: x.view(2, 2), [2, 4, 6, 8]),
        (squares_of_rows, lambda x: x.broadcast_to(3, 4), [6, 12, 18, 24]),
        (squares, lambda x: x[::-1], [2, 4, 6, 8]),
        (squares, lambda x: x.view(2, 2)[1, ::-1], [0, 0, 6, 8]),
        (squares, lambda x: x.view(2, 2)[:, 1], [0, 4, 0, 8]),
        (squares, lambda x: x[3:].broadcast_to(5), [0, 0, 0, 40]),
    ],
)
def test_the_gradient_of_a_view_is_the_view_of_the_gradient(
    kernel: Any, pick: Any, expected: list[float]
) -> None:
    for dtype in (np.float32, np.float64):
        x = dt.from_numpy(np.array([1, 2, 3, 4], dtype), grad=True)
        y = dt.field(dtype, pick(x).shape, grad=True)
        for _ in range(2):
            with dt.Tape() as tape:
                kernel(pick(x), y)
            tape.backward({y: 1.0})
            npt.assert_array_equal(y.to_numpy(), pick(x).to_numpy() ** 2)
            npt.assert_array_equal(x.grad.to_numpy(), expected)
            for of in ("grad", "grad_in", "grad_out"):
                part = getattr(pick(x), of)
                npt.assert_array_equal(part.to_numpy(), pick(getattr(x, of)).to_numpy())


def test_a_kernel_writes_a_row_at_a_time() -> None:
    x = dt.from_numpy(counting(3, 4), grad=True)
    y = dt.zeros((3, 4), grad=True)
    with dt.Tape() as tape:
        for k in range(3):
            squares(x[k, :], y[2 - k, ::-1])
        squares(y[1, :], y[1, :])
    npt.assert_array_equal(y.to_numpy()[[0, 2]], (counting(3, 4) ** 2)[[2, 0], ::-1])
    npt.assert_array_equal(y.to_numpy()[1], counting(3, 4)[1, ::-1] ** 4)
    tape.backward({y: 1.0})
    expected = 2 * counting(3, 4)
    expected[1] = 4 * counting(3, 4)[1] ** 3
    npt.assert_array_equal(x.grad.to_numpy(), expected)


def test_parts_as_loss_and_as_output() -> None:
    x, y = dt.from_numpy(counting(4), grad=True), dt.zeros(4, grad=True)
    with dt.Tape(y[2:3]):
        squares(x, y)
    npt.assert_array_equal(x.grad.to_numpy(), [0, 0, 6, 0])
    with dt.Tape() as tape:
        squares(x, y)
    tape.backward({y[1:3]: [10, 100], y.view(2, 2): x.view(2, 2)})
    npt.assert_array_equal(x.grad.to_numpy(), [2, 4 * 12, 6 * 103, 32])
    dt.zero_grads(x[1:])
    npt.assert_array_equal(x.grad.to_numpy(), [2, 0, 0, 0])


def test_writes_through_parts_are_recorded() -> None:
    x, y = dt.from_numpy(counting(4), grad=True), dt.zeros(4, grad=True)
    with dt.Tape() as tape:
        squares(x, y)
        y[1:3] = 0.0
        y.view(2, 2)[0, 0] = 5.0
        x[2:] = [7.0, 8.0]  # the launch read the old contents
        y[3:].fill(1.0)
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [0, 0, 0, 0])
    with dt.Tape() as tape:
        squares(x, y)
        y[::2].copy_from(y[1::2])
        y[:2].copy_from(x[:1].broadcast_to(2))
    tape.backward({y: [1.0, 10.0, 100.0, 1000.0]})
    npt.assert_array_equal(x.grad.to_numpy(), [11, 0, 0, 1100 * 2 * 8])


@pytest.mark.parametrize("snapshots", [None, 3])
def test_old_values_of_a_field_updated_in_parts(snapshots: int | None) -> None:
    x = dt.from_numpy(counting(6) / 6, grad=True)

    @dt.kernel
    def step(a, b):
        for i in a:
            a[i] = a[i] * a[i] + b[i]

    def run(values: np.ndarray) -> np.ndarray:
        v = values.copy()
        for k in range(5):
            a, b = (v[::2], v[1::2]) if k % 2 else (v.reshape(2, 3)[0], v.reshape(2, 3)[1])
            a[...] = a * a + b
            v[k : k + 2] = 0.5
            v[3:5] = v[0:2]
        return v

    with dt.Tape(snapshots=snapshots) as tape:
        for k in range(5):
            if k % 2:
                step(x[::2], x[1::2])
            else:
                step(x.view(2, 3)[0, :], x.view(2, 3)[1, :])
            x[k : k + 2] = 0.5
            x[3:5].copy_from(x[:2])
    npt.assert_allclose(x.to_numpy(), run(counting(6) / 6), rtol=1e-6)
    tape.backward({x: 1.0})
    start = (counting(6) / 6).astype(complex)
    for k in range(6):
        v = start.copy()
        v[k] += 1e-30j
        npt.assert_allclose(x.grad[k], run(v).sum().imag / 1e-30, rtol=1e-5)


def test_separate_gradients_of_parts() -> None:
    g_in, g_out = dt.ones(4), dt.zeros(4)
    x = dt.from_numpy(counting(4)).with_grads()
    x.grad_in, x.grad_out = g_in, g_out
    with dt.Tape(accumulate=True) as tape:
        squares(x[1:], x[1:])
    tape.backward({x[1:]: 0.0})
    npt.assert_array_equal(g_in.to_numpy(), [1, 1, 1, 1])
    npt.assert_array_equal(x[1:].grad_out.to_numpy(), [4, 6, 8])
    reshaped = x.view(2, 2).grad_in
    assert reshaped is not None and reshaped.storage is g_in.storage


# Launches


def test_equal_parts_share_a_prepared_launch() -> None:
    x, y = dt.from_numpy(counting(8)), dt.zeros(2)
    squares(x[1:3], y)
    call = squares._launches.latest
    squares(x[1:3], y)
    assert squares._launches.latest is call
    code = squares._latest
    for k in range(7):
        squares(x[k : k + 2], y)
        npt.assert_array_equal(y.to_numpy(), counting(8)[k : k + 2] ** 2)
        assert squares._latest is code, "starts and sizes are run-time values"


def test_captured_parts() -> None:
    x = dt.from_numpy(counting(6), grad=True)
    v: Any = x[1:5]

    @dt.kernel
    def scale(y):
        for i in y:
            y[i] = v[i] * v[len(v) - 1 - i] * x[0]

    y = dt.zeros(4, grad=True)
    with dt.Tape() as tape:
        scale(y)
    npt.assert_array_equal(y.to_numpy(), [10, 12, 12, 10])
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [44, 10, 8, 6, 4, 0])
    v = x[2:6]
    scale(y)
    npt.assert_array_equal(y.to_numpy(), [18, 20, 20, 18])
    v = x[::-1][2:]
    scale(y)
    npt.assert_array_equal(y.to_numpy(), [4, 6, 6, 4])


def test_a_part_and_the_field_it_is_captured_of() -> None:
    x = dt.from_numpy(counting(4), grad=True)

    @dt.kernel
    def both(a, y):
        for i in a:
            y[i] = a[i] * x[i]

    y = dt.zeros(2, grad=True)
    with dt.Tape() as tape:
        both(x[2:], y)
    npt.assert_array_equal(y.to_numpy(), [3, 8])
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [3, 4, 1, 2])
