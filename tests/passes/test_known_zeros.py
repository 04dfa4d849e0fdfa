"""Gradients known to be zero take values by stores, and only while they are known to be zero."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from unittest import mock

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.compile.stage import Adjoint
from difftile.ir.derived import Bar
from difftile.substrate import zeros
from tests import run_programs
from tests.emitting import emitted


@pytest.fixture(autouse=True)
def small_fields_count() -> Iterator[None]:
    with mock.patch.object(zeros, "_FRESH_BYTES", 0):
        yield


@dt.kernel
def squares(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def sums_of_rows(a, y):
    for i in y:
        for j in range(a.shape[1]):
            y[i] += a[i, j] * a[i, j]


@dt.kernel
def halved_index(x, y):
    for i in y:
        for j in range(2):
            y[i] += x[i, j // 2] * x[i, j // 2]


def field(*values: float) -> dt.Field:
    return dt.from_numpy(np.array(values), grad=True)


def run(x: dt.Field) -> None:
    """Add the gradient of the sum of the squares of a field to its gradient."""
    y = dt.zeros_like(x, grad=True)
    with dt.Tape(accumulate=True) as tape:
        squares(x, y)
    tape.backward({y: 1.0})


def spoil_by_host(x: dt.Field) -> None:
    x.grad[1] = 10.0


def spoil_whole(x: dt.Field) -> None:
    x.grad.from_numpy(np.array([0.0, 10.0, 0.0]))


def spoil_by_fill(x: dt.Field) -> None:
    x.grad.fill(10.0)


def spoil_by_copy(x: dt.Field) -> None:
    x.grad.copy_from(field(0.0, 10.0, 0.0))


def spoil_by_kernel(x: dt.Field) -> None:
    @dt.kernel
    def add_ten(g):
        for i in g:
            g[i] += 10.0

    add_ten(x.grad)


def spoil_by_atomic(x: dt.Field) -> None:
    @dt.kernel
    def raise_to_ten(g):
        for _ in range(5):
            ti.atomic_max(g[1], 10.0)

    raise_to_ten(x.grad)


def spoil_part(x: dt.Field) -> None:
    x.grad[1:] = 10.0


def spoil_part_by_kernel(x: dt.Field) -> None:
    @dt.kernel
    def add_ten(g):
        for i in g:
            g[i] += 10.0

    add_ten(x.grad[::2])


def spoil_under_another_shape(x: dt.Field) -> None:
    x.grad.view(3, 1)[1, 0] = 10.0


def spoil_beside_another(x: dt.Field) -> None:
    @dt.kernel
    def add_ten(other, g):
        for i in g:
            other[i] += 1.0
            g[i] += 10.0

    add_ten(dt.zeros(3, ti.f64), x.grad)


@pytest.mark.parametrize(
    "spoil",
    [
        spoil_by_host,
        spoil_whole,
        spoil_by_fill,
        spoil_by_copy,
        spoil_by_kernel,
        spoil_by_atomic,
        spoil_part,
        spoil_part_by_kernel,
        spoil_under_another_shape,
        pytest.param(spoil_beside_another, marks=pytest.mark.compiled),
    ],
)
def test_what_was_written_is_added_to(spoil: Callable[[dt.Field], None]) -> None:
    x = field(1.0, 2.0, 3.0)
    run(x)
    npt.assert_array_equal(x.grad.to_numpy(), [2.0, 4.0, 6.0])
    x.grad.fill(0.0)
    spoil(x)
    before, slope = x.grad.to_numpy(), 2.0 * x.to_numpy()
    run(x)
    npt.assert_array_equal(x.grad.to_numpy(), before + slope)
    run(x)
    npt.assert_array_equal(x.grad.to_numpy(), before + 2.0 * slope)


def test_a_field_that_leaves_zeros_to_a_tape_is_cleared_where_it_goes() -> None:
    x, y = dt.zeros(3, ti.f64, grad=True), field(0.0, 0.0, 0.0)
    with dt.Tape() as tape:
        squares(x, y)
        sevens = [dt.from_numpy(np.full(3, 7.0)) for _ in range(3)]
        del sevens  # into the pool
        x.fill(0.0)
    npt.assert_array_equal(x.to_numpy(), 0.0)
    tape.backward({y: np.ones(3)})
    npt.assert_array_equal(x.grad.to_numpy(), 0.0)


def test_the_same_kernel_twice_on_a_tape_adds() -> None:
    x, y, z = field(1.0, 2.0, 3.0), field(0.0, 0.0, 0.0), field(0.0, 0.0, 0.0)
    with dt.Tape() as tape:
        squares(x, y)
        squares(x, z)
    tape.backward({y: 1.0, z: 10.0})
    npt.assert_array_equal(x.grad.to_numpy(), [22.0, 44.0, 66.0])


def stored(kernel: dt.Kernel) -> bool:
    """Tell whether the adjoint stores into a gradient of zeros instead of adding."""
    assert kernel._latest is not None
    (stage,) = kernel._latest.stages
    adjoints = [c for r, c in stage._codes.items() if isinstance(r, Adjoint) and c is not None]
    program = adjoints[0].code.program
    fresh = list(adjoints[0].fields(Bar).values())
    return emitted(program).text != emitted(program, fresh=fresh).text


def test_only_elements_touched_once_are_stored() -> None:
    run(field(1.0, 2.0))
    assert stored(squares)
    a, y = dt.ones((2, 3), grad=True), dt.zeros(2, grad=True)
    for kernel, expected in ((sums_of_rows, True), (halved_index, False)):
        a.grad.fill(0.0)
        with dt.Tape() as tape:
            kernel(a, y)
        tape.backward({y: 1.0})
        assert stored(kernel) is expected
    npt.assert_array_equal(a.grad.to_numpy(), [[4.0, 0.0, 0.0]] * 2)


def test_branches_leave_zero_what_they_do_not_touch() -> None:
    @dt.kernel
    def positive(x, y):
        for i in x:
            if x[i] > 0.0:
                y[i] = ti.sqrt(x[i])

    x, y = field(4.0, -1.0), field(0.0, 0.0)
    with dt.Tape() as tape:
        positive(x, y)
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [0.25, 0.0])


def test_fused_launches_add_to_what_others_of_them_have_stored() -> None:
    said: list[str] = []
    assert not run_programs.run((9, 41, 46, 50), said.append), "\n".join(said)
