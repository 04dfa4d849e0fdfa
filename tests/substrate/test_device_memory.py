"""Memory of devices: what moves its contents, and what a backward pass does beside its adjoints."""

from __future__ import annotations

import gc
import itertools
import random
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, nullcontext
from typing import Any
from unittest import mock

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.ir.types import SCALARS, numpy_dtype
from difftile.substrate import memory, zeros
from tests import run_programs, tape_programs
from tests.device_arrays import FEW, counted, device_arrays

pytestmark = pytest.mark.compiled

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
    for i in ti.grouped(x):
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
        ({y: np.float32(2.0)}, 2.0, {"launch": 1, "MemsetD32": 2}),
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


def random_box(rng: np.random.Generator, shape: tuple[int, ...]) -> memory.Box:
    """Return a box, which often reaches to the ends of axes."""
    ends = [sorted(rng.choice((0, size, *rng.integers(0, size + 1, 2)), 2)) for size in shape]
    return tuple((int(low), int(high)) for low, high in ends)


def move_box(rng: np.random.Generator, field: Any, array: Any, *other: Any) -> None:
    """Copy a box of a field, and put it into another field of its shape."""
    box = random_box(rng, field.shape)
    into, second = other
    if any(start == stop for start, stop in box):
        return
    values = field.buffer.box(box)
    if values is None:  # there are too many lines, or there is no driver
        return
    at = tuple(slice(*ends) for ends in box)
    np.testing.assert_array_equal(values.read(), array[at])
    second.buffer.set_box(box, values)
    into[at] = array[at]
    values.free()


def contents_as_arrays(rounds: int, shapes: Iterable[tuple[int, ...]]) -> None:
    """Do the same to fields and to arrays, in random orders; clears of boxes wait in between."""
    rng = np.random.default_rng(11)
    for shape, element in itertools.product(shapes, (ti.f32, ti.f64, ti.i8, dt.vec(2, ti.f32))):
        fields = [dt.zeros(shape, element) for _ in range(3)]
        arrays = [field.to_numpy() for field in fields]
        for _ in range(rounds):
            k, other, what = *rng.integers(0, 3, 2), rng.integers(0, 14)
            field, array = fields[k], arrays[k]
            at = tuple(int(rng.integers(size)) for size in shape)
            if what < 5:
                box = random_box(rng, shape)
                field.buffer.clear(box)
                array[tuple(slice(*ends) for ends in box)] = 0
            elif what == 5:
                field.fill(int(what))
                array[...] = int(what)
            elif what == 6:
                array[...] = rng.integers(1, 9, array.shape)
                field.from_numpy(array)
            elif what == 7:
                field[at] = array[at] = np.full(array.shape[len(shape) :], 3, array.dtype)
            elif what == 8:
                field.copy_from(fields[other])
                array[...] = arrays[other]
            elif what == 9:
                np.testing.assert_array_equal(np.asarray(field[at]), array[at])
            elif what == 10 and k != other and array.dtype.kind == "f":
                field.buffer.add(fields[other].buffer)
                array += arrays[other]
            elif what == 11:
                move_box(rng, field, array, arrays[other], fields[other])
            elif what == 12:
                size, (first, start) = array.size, rng.integers(0, array.size, 2).tolist()
                count = int(rng.integers(0, size - max(first, start) + 1))
                if k != other:
                    field.buffer.copy_part(first, fields[other].buffer, start, count)
                    array.reshape(-1)[first:][:count] = arrays[other].reshape(-1)[start:][:count]
            else:
                same(field, array)
        for field, array in zip(fields, arrays, strict=True):
            assert field.buffer.device is not None
            _ = field.buffer.device.handle  # as a launch asks for it
            same(field, array)


def test_clears_of_boxes_wait_and_are_made_up_for() -> None:
    with device_arrays():
        contents_as_arrays(60, ((7,), (5, 4), (3, 4, 5), (2, 3, 2, 3), (20, 3, 3)))
    with device_arrays(driver=False):
        contents_as_arrays(20, ((5, 4),))


def test_a_clear_that_waits_costs_nothing_where_nobody_looks() -> None:
    with device_arrays():
        x = dt.from_numpy(np.arange(20.0, dtype=np.float32).reshape(4, 5))
        inner = ((1, 3), (1, 4))
        with counted() as counts:
            x.buffer.clear(inner)
            x.buffer.clear(inner)
            assert x[2, 3] == 0.0
            x.buffer.clear(((0, 4), (1, 5)))
            x.fill(0.0)
            x.buffer.clear(inner)
            assert not x.to_numpy().any()
            x.fill(1.0)
        assert not counts
        with counted() as counts:
            x.buffer.clear(inner)
            double(x)
            double(x)
        assert counts == {"launch": 2, "MemsetD32": 1, "MemsetD2D32": 1}
        assert x.to_numpy().sum() == 4.0 * (20 - 6)


@dt.kernel
def copy_box(x, y, low: int, high: int):
    for i in range(low, high):
        for j, k in ti.ndrange(4, 5):
            y[i, 1 + j, k + 2] = 2.0 * x[i, j, k]


@dt.kernel
def weigh(x, y, loss):
    for i, j, k in x:
        loss[None] += x[i, j, k] ** 2 * y[i, j, k] ** 2


def boxes_on_a_tape(interrupts: bool) -> tuple[list[Any], int]:
    """Change boxes of a field that adjoints read; return gradients, and the bytes of the tape."""
    rng = np.random.default_rng(5)
    x, y = (dt.from_numpy(rng.normal(size=(20, 8, 9)), ti.f32, grad=True) for _ in range(2))
    loss = dt.zeros((), ti.f32, grad=True)
    with dt.Tape() as tape:
        for low in range(0, 15, 3):
            weigh(x, y, loss)
            copy_box(x, y, low, low + 2)
            y[low, 0, 0] = 3.0
        nbytes = tape.nbytes
    after = y.to_numpy()
    if interrupts:
        ends = [0]
        set_box = memory.Buffer.set_box

        def interrupted(self: Any, *args: Any) -> None:
            set_box(self, *args)
            ends[0] += 1
            if ends[0] in (4, 12):  # on the way back, and while the contents are put in again
                raise KeyboardInterrupt

        with (
            mock.patch.object(memory.Buffer, "set_box", interrupted),
            pytest.raises(KeyboardInterrupt),
        ):
            tape.backward(loss)
        assert ends[0] == 8  # four were undone, and were redone
    else:
        tape.backward(loss)
    np.testing.assert_array_equal(y.to_numpy(), after)
    return [x.grad.to_numpy(), y.grad.to_numpy(), after], nbytes


@pytest.mark.parametrize("interrupts", [False, True])
def test_boxes_of_kept_memory_are_kept_themselves(interrupts: bool) -> None:
    wanted, _ = boxes_on_a_tape(False)
    with device_arrays():
        found, nbytes = boxes_on_a_tape(interrupts)
        with mock.patch.object(memory.Buffer, "box", lambda *_: None):
            others, more = boxes_on_a_tape(False)
    for one in (found, others) if not interrupts else (others,):
        for a, b in zip(one, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)
    assert nbytes < more / 3


@dt.kernel
def part(x, y):
    for i in range(1, x.shape[0]):
        y[i] = 3.0 * x[i]


@dt.kernel
def first(x, y):
    for i in x:
        y[i] = 3.0 * x[i]


@dt.kernel
def twice(x, y):
    for i in x:
        y[i] = x[i] * x[i]
    for i in x:
        y[i] += 2.0 * x[i]


@dt.kernel
def clear(x, y):
    for i in y:
        y[i] = 0.0
    for i in x:
        y[i] += 5.0 * x[i]


@pytest.fixture
def any_size_counts() -> Iterator[None]:
    with mock.patch.object(zeros, "_FRESH_BYTES", 0), device_arrays(grids=FEW):
        yield


@pytest.mark.usefixtures("any_size_counts")
def test_gradients_are_stored_whole_and_cleared_by_fills_that_wait() -> None:
    points = np.linspace(0.0, 1.0, 100, dtype=np.float32)
    x, y = dt.from_numpy(points, grad=True), dt.zeros(100, ti.f32, grad=True)
    slopes = np.cos(points) * points + np.sin(points)
    for _ in range(3):
        with dt.Tape() as tape:
            product(x, y)
        with counted() as counts:
            tape.backward({y: 2.0})
        assert counts == {"launch": 1, "MemsetD32": 1}  # of the seed
        np.testing.assert_allclose(x.grad.to_numpy(), 2 * slopes, rtol=1e-5)
        with counted() as counts:
            assert not y.grad.to_numpy().any()
        assert not counts
    with dt.Tape(accumulate=True) as tape:
        product(x, y)
    tape.backward({y: 1.0})
    np.testing.assert_allclose(x.grad.to_numpy(), 3 * slopes, rtol=1e-5)
    source = product.source("adjoint")
    assert "x_bar[i] + " in source
    assert "y_bar[i] = 0.0" in source


@pytest.mark.usefixtures("any_size_counts")
def test_the_gradient_of_a_copy_moves_on_the_device() -> None:
    points = np.linspace(0.0, 1.0, 100)
    x, y, z = (dt.from_numpy(points, grad=True) for _ in range(3))
    for _ in range(2):
        with dt.Tape() as tape:
            y.copy_from(x)
            z.copy_from(y)
            first(z, y)
        with counted() as counts:
            tape.backward({y: 1.0, z: points})
        assert "MemcpyDtoH" not in counts
        np.testing.assert_allclose(x.grad.to_numpy(), 3.0 + points)
        assert not y.grad.to_numpy().any()
        assert not z.grad.to_numpy().any()


# The kernel, its values, their slopes, and which of them it overwrites.
CASES: list[tuple[Any, Any, Any, slice]] = [
    (part, lambda x: 3.0 * x, lambda x: 3.0 * (np.arange(40) > 0), slice(1, 40)),
    (first, lambda x: 3.0 * x, lambda x: 3.0, slice(0, 40)),
    (twice, lambda x: x * x + 2.0 * x, lambda x: 2.0 * x + 2.0, slice(0, 40)),
    (clear, lambda x: 5.0 * x, lambda x: 5.0, slice(0, None)),
    (product, lambda x: np.sin(x) * x, lambda x: np.cos(x) * x + np.sin(x), slice(0, 40)),
]


@pytest.mark.usefixtures("any_size_counts")
def test_outside_what_a_launch_overwrites_gradients_pass_through() -> None:
    rng = np.random.default_rng(7)
    points = rng.uniform(0.5, 1.5, 40)
    for (kernel, values, slope, overwritten), longer in itertools.product(CASES, (0, 3)):
        weights = rng.uniform(0.5, 1.5, 40 + longer)
        x, y = dt.from_numpy(points, grad=True), dt.zeros(40 + longer, ti.f64, grad=True)
        rest = weights.copy()
        rest[overwritten] = 0.0
        for seed in (weights, dt.from_numpy(weights), weights):
            with dt.Tape() as tape:
                kernel(x, y)
            tape.backward({y: seed})
            expected = slope(points) * weights[:40]
            np.testing.assert_allclose(x.grad.to_numpy(), expected, rtol=1e-12)
            np.testing.assert_allclose(y.grad.to_numpy(), rest, rtol=1e-12)
            np.testing.assert_allclose(y.to_numpy()[1:40], values(points)[1:], rtol=1e-12)
        # Twice on a tape: gradients are added to, and the first result is overwritten.
        with dt.Tape() as tape:
            kernel(x, y)
            kernel(x, y)
        tape.backward({y: weights})
        np.testing.assert_allclose(x.grad.to_numpy(), expected, rtol=1e-12)
        np.testing.assert_allclose(y.grad.to_numpy(), rest, rtol=1e-12)


@dt.kernel
def five_points(x, y):
    for i, j in ti.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
        around = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]
        y[i, j] = ti.sin(x[i, j]) + 0.2 * (around - 4.0 * x[i, j])


@dt.kernel
def periodic(x, y):
    for i, j in ti.ndrange(x.shape[0], x.shape[1]):
        n, m = x.shape[0], x.shape[1]
        around = x[(i - 1) % n, j] + 2.0 * x[(i + 1) % n, j] + x[i, (j + 2) % m]
        y[i, j] = around - ti.cos(x[i, j])


@dt.kernel
def periodic_along_one_axis(x, y):
    for i, j in ti.ndrange((2, x.shape[0]), x.shape[1]):
        y[i, j] = x[i - 2, j] * x[i, (j + 1 + x.shape[1]) % x.shape[1]]


@dt.kernel
def some_neighbours(x, y):
    for i, j in ti.ndrange(x.shape[0], x.shape[1]):
        total = 3.0 * x[i, j]
        if i > 0:
            total += x[i - 1, j] * x[i - 1, j]
        if x[i, j] > 1.0 and j + 1 < x.shape[1]:
            total -= x[i, j + 1]
        y[i, j] = total


@dt.kernel
def two_sides(x, y):
    for i, j in ti.ndrange((1, x.shape[0] - 1), (2, x.shape[1])):
        y[i - 1, j] = x[i - 1, j] * x[i + 1, j]


@dt.kernel
def adds_to_neighbours(x, y):
    for i, j in ti.ndrange((1, x.shape[0] - 1), x.shape[1]):
        y[i - 1, j] += x[i, j]
        y[i + 1, j] += x[i, j] * x[i, j]
        y[i, j] -= 0.5 * x[i, j]


@dt.kernel
def walked_rows(x, y):
    for i in range(x.shape[0]):
        t = 1.0
        for k in range(x.shape[1]):
            y[i, k] = t * ti.sin(x[i, k])
            t *= 1.0 - 0.5 * x[i, k]


@dt.kernel
def rows_walked_by_halves(x, y):
    for i in range(x.shape[0]):
        t = 1.0
        for half in range(2):
            for k in range(x.shape[1] // 2):
                y[i, 2 * k + half] = t * x[i, 2 * k + half]
                t = ti.cos(t + x[i, 2 * k + half])


LOOPS = (
    walked_rows,
    rows_walked_by_halves,
    five_points,
    periodic,
    periodic_along_one_axis,
    some_neighbours,
    two_sides,
    adds_to_neighbours,
)
SHAPES = ((1, 1), (2, 5), (3, 3), (5, 140))


def gradients_of_loops() -> list[tuple[str, Any]]:
    """Return values and gradients of stencils and rows, of sizes down to those with no interior."""
    found: list[tuple[str, Any]] = []
    for kernel, shape in itertools.product(LOOPS, SHAPES):
        rng = np.random.default_rng(3)
        points, weights = rng.uniform(0.5, 1.5, (2, *shape))
        x, y = dt.from_numpy(points, grad=True), dt.zeros(shape, ti.f64, grad=True)
        for _ in range(2):
            y.fill(0.25)
            with dt.Tape() as tape:
                kernel(x, y)
            tape.backward({y: weights})
            contents = y.to_numpy(), x.grad.to_numpy(), y.grad.to_numpy()
            found += [(f"{kernel.__name__} {shape}", one) for one in contents]
        with dt.Tape() as tape:
            kernel(x, y)
            kernel(y, x)
            kernel(x, y)
        tape.backward({y: weights})
        found += [(f"{kernel.__name__} {shape}, thrice", f.grad.to_numpy()) for f in (x, y)]
    return found


def test_gradients_of_stencils_and_rows_are_those_of_the_cpu() -> None:
    dt.init(arch="cpu")
    expected = gradients_of_loops()
    with mock.patch.object(zeros, "_FRESH_BYTES", 0), device_arrays():
        found = gradients_of_loops()
        # One pass that stores, and reads what it needs without branches around what it adds.
        text = five_points.source("adjoint")
        assert "ti.cast(0, ti.u1)" not in text
    for (what, one), (_, other) in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-14, err_msg=what)


def reverse_rows() -> None:
    """Count what the reverse of a walk along rows does: each element gets one store."""
    points = np.random.default_rng(2).uniform(0.1, 0.9, (3, 300))
    x, y = dt.from_numpy(points, grad=True), dt.zeros((3, 300), ti.f64, grad=True)
    for _ in range(2):
        with dt.Tape() as tape:
            walked_rows(x, y)
        with counted() as counts:
            tape.backward({y: points})
        assert counts["launch"] == 1
        assert "MemsetD32" not in counts


def reverse_a_stencil() -> None:
    """Count what the reverse of a stencil does: it fills nothing and clears nothing."""
    points = np.random.default_rng(2).uniform(0.5, 1.5, (30, 20))
    x, y = dt.from_numpy(points, grad=True), dt.zeros((30, 20), ti.f64, grad=True)
    with dt.Tape() as tape:
        five_points(x, y)
    with counted() as counts:
        tape.backward({y: points})
    assert counts == {"MemcpyHtoD": 1, "launch": 1}
    rim = points.copy()
    rim[1:-1, 1:-1] = 0.0
    with counted() as counts:
        np.testing.assert_array_equal(y.grad.to_numpy(), rim)
    assert counts == {"MemcpyDtoH": 1}
    with counted() as counts:
        dt.zero_grads()
        assert not y.grad.to_numpy().any()
    assert not counts


@pytest.mark.usefixtures("any_size_counts")
def test_the_reverse_of_a_stencil_or_of_rows_is_one_launch() -> None:
    reverse_a_stencil()
    reverse_rows()


@pytest.mark.usefixtures("any_size_counts")
def test_a_field_in_two_roles_is_neither_stored_whole_nor_left_out() -> None:
    x = dt.from_numpy(np.linspace(1.0, 2.0, 10), grad=True)
    for _ in range(2):
        with dt.Tape() as tape:
            first(x, x)
            first(x, x)
        tape.backward({x: 1.0})
        np.testing.assert_allclose(x.grad.to_numpy(), 9.0)


@pytest.mark.usefixtures("any_size_counts")
def test_random_programs_have_their_gradients_in_memory_of_devices() -> None:
    said: list[str] = []
    assert not tape_programs.run(range(190, 202), said.append), "\n".join(said)
    assert not run_programs.run(range(9, 12), said.append), "\n".join(said)


@dt.kernel
def raise_all(x: Any, by: float) -> None:
    for i in ti.grouped(x):
        x[i] += by


def sessions(number: int) -> None:
    """Make, change and let go fields of several sessions, in any order; check those of the last.

    The compiler frees by addresses, some of which are those of later memory.
    """
    rng = random.Random(number)
    kept: list[Any] = []  # of sessions before
    for _ in range(rng.randint(2, 4)):
        with device_arrays():
            own: list[tuple[dt.Field, float]] = []
            for _ in range(rng.randint(10, 30)):
                kind = rng.random()
                if kind < 0.5:
                    value, shape = rng.random(), rng.choice((3, 3, 3, (4, 5)))
                    for _ in range(rng.choice((10, 100))):
                        made = dt.from_numpy(np.full(shape, value), grad=rng.random() < 0.1)
                        own.append((made, value))
                elif kind < 0.6 and own:
                    at = rng.randrange(len(own))
                    with dt.Tape() if own[at][0].has_grads else nullcontext() as tape:
                        raise_all(own[at][0], 0.5)
                    own[at] = own[at][0], own[at][1] + 0.5
                    kept += [tape] * (rng.random() < 0.5)  # with its records
                elif kind < 0.9 and kept:
                    del kept[:: rng.choice((1, 2))]
                    gc.collect()
                elif own and rng.random() < 0.3:  # later fields take their memory
                    del own[:: rng.choice((2, 7))]
            for one, value in own:
                assert (one.to_numpy() == value).all()
            kept += [one for one, _ in own]


@pytest.mark.parametrize("number", range(2))
def test_memory_of_sessions_is_not_freed_in_others(number: int) -> None:
    sessions(number)
