"""Rows DT and IF of the conformance table: fields, gradient buffers, roles.

DT12 as a grid argument, DT16, DT18 and DT20 are about funcs called from Python, and wait for them;
their semantics in kernels are here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt

X = np.array([1, 2, 3, 4], np.float32)


def field(values: Any = X) -> dt.Field:
    return dt.from_numpy(np.asarray(values, np.float32), grad=True)


@dt.kernel
def polynomial(a, x, y):
    for i in x:
        y[i] = a[None] * x[i] * x[i] + 8.0 * x[i] - 1.0


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


def test_with_grads_shares_the_values_and_one_buffer_serves_both_ends() -> None:  # DT1
    x = dt.from_numpy(X)
    graded = x.with_grads()
    assert graded is not x
    assert graded.grad_in is graded.grad_out
    assert not x.has_grads
    assert graded.grad.dtype == x.dtype
    assert graded.grad.shape == x.shape
    x[0] = 7.0
    assert graded[0] == 7.0
    made = dt.field(ti.f32, 4, grad=True)
    assert made.grad_in is made.grad_out


@pytest.mark.parametrize("zero", [None, False, True])
def test_only_new_buffers_are_cleared_unless_asked_for(zero: bool | None) -> None:  # DT2
    ones = dt.ones(4)
    graded = dt.from_numpy(X).with_grads(grad_in=ones, zero=zero)
    assert graded.grad_in is ones
    npt.assert_array_equal(ones.to_numpy(), np.zeros(4) if zero else np.ones(4))
    npt.assert_array_equal(dt.from_numpy(X).with_grads().grad.to_numpy(), np.zeros(4))


def test_one_of_the_two_buffers_may_be_given_alone() -> None:  # DT3
    buffer = dt.zeros(4)
    assert dt.from_numpy(X).with_grads(grad_out=buffer).grad_in is None
    assert dt.from_numpy(X).with_grads(grad_in=buffer).grad_out is None


def test_grad_is_that_of_the_values_before_a_launch() -> None:  # DT4
    before, after = dt.zeros(4), dt.zeros(4)
    assert dt.from_numpy(X).with_grads(after, before).grad is before
    with pytest.raises(dt.FieldError, match=r"has no gradient. Make it with grad=True, or use x ="):
        _ = dt.from_numpy(X).grad
    with pytest.raises(dt.FieldError, match="has a grad_in alone"):
        _ = dt.from_numpy(X).with_grads(grad_in=after).grad


def test_gradients_are_cleared_and_filled() -> None:  # DT5
    x = field()
    x.grad.fill(3.0)
    npt.assert_array_equal(x.grad.to_numpy(), [3, 3, 3, 3])
    x.grad.clear()
    npt.assert_array_equal(x.grad.to_numpy(), [0, 0, 0, 0])


def test_every_maker_of_fields() -> None:  # DT6
    npt.assert_array_equal(dt.ones(4).to_numpy(), [1, 1, 1, 1])
    npt.assert_array_equal(dt.zeros((2, 2)).to_numpy(), np.zeros((2, 2)))
    npt.assert_array_equal(dt.full(3, 2.5).to_numpy(), [2.5, 2.5, 2.5])
    assert dt.empty((2, 3), ti.f64).shape == (2, 3)
    x = dt.from_numpy(X)
    npt.assert_array_equal(dt.ones_like(x).to_numpy(), np.ones(4))
    npt.assert_array_equal(dt.zeros_like(x).to_numpy(), np.zeros(4))
    npt.assert_array_equal(dt.full_like(x, 2).to_numpy(), np.full(4, 2))
    assert dt.empty_like(x).dtype == x.dtype


def test_shapes_and_types_survive_numpy_and_sizes_are_checked() -> None:  # DT7
    for dtype in (np.float32, np.float64, np.int32, np.uint8):
        array = np.arange(6).reshape(2, 3).astype(dtype)
        found = dt.from_numpy(array).to_numpy()
        assert (found.shape, found.dtype) == ((2, 3), dtype)
        npt.assert_array_equal(found, array)
    x = dt.from_numpy(X)
    with pytest.raises(dt.FieldError, match=r"shape \(4,\), not an array of shape \(3,\)"):
        x.from_numpy(X[:3])
    with pytest.raises(dt.FieldError, match="fractions would be cut"):
        dt.from_numpy(np.arange(4)).from_numpy(X)


def test_a_gradient_must_fit_the_values() -> None:  # DT8
    x = dt.from_numpy(X)
    for wrong in (dt.zeros(4, ti.i32), dt.zeros(3), dt.zeros(4, ti.f64), dt.zeros((4, 1))):
        with pytest.raises(ValueError, match="is no gradient of"):
            x.with_grads(grad_in=wrong)
    with pytest.raises(ValueError, match="is not its own gradient"):
        x.with_grads(grad_in=x)


def test_detach_leaves_the_original_as_it_is() -> None:  # DT9
    x = field()
    detached = x.detach()
    assert (detached.grad_out, x.has_grads) == (None, True)
    detached[1] = 9.0
    assert x[1] == 9.0


@pytest.mark.parametrize("dtype", [ti.i32, ti.i64, ti.u8])
def test_integers_have_no_derivative(dtype: Any) -> None:  # DT10
    with pytest.raises(dt.FieldError, match="holds integers, which have no derivative"):
        dt.field(dtype, 4, grad=True)
    with pytest.raises(dt.FieldError, match="holds integers, which have no derivative"):
        dt.field(dtype, 4).with_grads()


def test_gradients_are_assigned() -> None:  # DT11
    x, y = field(), dt.zeros(4, grad=True)
    y.grad_in = dt.ones(4)
    square(x, y)
    square.bwds(x, y)
    npt.assert_array_equal(x.grad.to_numpy(), 2 * X)
    y.grad_in = None
    assert y.grad_in is None


def test_indices_run_row_by_row_in_the_order_of_the_shape() -> None:  # DT12
    @dt.kernel
    def write(y):
        for i, j in ti.ndrange(2, 3):
            y[i, j] = ti.Vector([i, j])

    y = dt.zeros((2, 3), dtype=ti.math.ivec2)
    write(y)
    npt.assert_array_equal(y.to_numpy(), np.indices((2, 3)).transpose(1, 2, 0))


def test_bwds_runs_from_the_values_given_and_so_does_a_tape() -> None:  # DT13
    a, x, y = field(2.0), field(), dt.zeros(4, grad=True)
    polynomial(a, x, y)
    npt.assert_array_equal(y.to_numpy(), [9, 23, 41, 63])
    y.grad.fill(1.0)
    polynomial.bwds(a, x, y)
    npt.assert_array_equal(x.grad.to_numpy(), [12, 16, 20, 24])
    with dt.Tape() as tape:
        polynomial(a, x, y)
    tape.backward({y: 1.0})
    npt.assert_array_equal(x.grad.to_numpy(), [12, 16, 20, 24])


def test_bwds_of_what_has_no_derivative_is_an_error() -> None:  # DT14
    @dt.kernel
    def count(n):
        for i in n:
            n[i] += 1

    with pytest.raises(dt.LaunchError, match=r"kernel count\(n\).*'n' has none"):
        count.bwds(dt.zeros(4, ti.i32))


def test_bwds_names_the_argument_whose_gradient_is_missing() -> None:  # DT15
    x, y = field(), dt.zeros(4)
    with pytest.raises(dt.LaunchError, match=r"kernel square\(x, y\).*'y' has none"):
        square.bwds(x, y)


def test_results_go_into_the_field_that_is_passed() -> None:  # DT16
    results = [dt.zeros(4), dt.empty(4), dt.full(4, 7.0, grad=True)]
    for y in results:
        polynomial(field(2.0), field(), y)
        npt.assert_array_equal(y.to_numpy(), [9, 23, 41, 63])


def test_a_single_element_read_by_all_takes_the_sum() -> None:  # DT17
    a, x, y = field(2.0), field(), dt.zeros(4, grad=True)
    y.grad.fill(1.0)
    polynomial.bwds(a, x, y)
    assert a.grad[None] == 30
    npt.assert_array_equal(x.grad.to_numpy(), [12, 16, 20, 24])


def test_a_single_element_has_a_gradient_as_python_sees_it() -> None:  # DT18
    @dt.kernel
    def square_one(p, y):
        y[None] = p[None] * p[None]

    p, y = field(5.0), dt.ones((), grad=True)
    with dt.Tape(y):
        square_one(p, y)
    assert (y[None], p.grad[None]) == (25.0, 10.0)
    assert isinstance(p.grad[None], float)


def test_inputs_without_gradient_are_left_out() -> None:  # DT19
    a, x, y = dt.from_numpy(np.float32(2.0)), field(), dt.zeros(4, grad=True)
    y.grad.fill(1.0)
    polynomial.bwds(a, x, y)
    npt.assert_array_equal(x.grad.to_numpy(), [12, 16, 20, 24])
    assert not a.has_grads


def test_fields_of_other_shapes_are_told_apart() -> None:  # DT20
    with pytest.raises(dt.FieldError, match=r"\(5,\).*\(4,\).*shape or element type differ"):
        dt.zeros(5).copy_from(dt.zeros(4))
    y = dt.zeros(4, grad=True)
    with dt.Tape() as tape:
        square(field(), y)
    with pytest.raises(dt.FieldError, match=r"has the shape \(5,\), not \(4,\)"):
        tape.backward({y: np.ones(5)})


def test_nothing_is_recorded_without_a_tape() -> None:  # DT21
    x, y = field(), dt.zeros(4, grad=True)
    square(x, y)
    with dt.Tape() as tape:
        pass
    assert len(tape) == 0
    with pytest.raises(dt.TapeError, match="No launch on this tape wrote"):
        tape.backward({y: 1.0})


# Roles


def test_a_field_declared_in_is_not_written() -> None:  # IF1
    @dt.kernel
    def wrong(x: dt.In):
        for i in x:
            x[i] = 1.0

    @dt.kernel
    def right(x: dt.In, y: dt.Out):
        for i in x:
            y[i] = 3.0 * x[i]

    with pytest.raises(dt.KernelError, match=r"Field 'x' is declared dt\.In"):
        wrong(field())
    x, y = field(), dt.zeros(4, grad=True)
    y.grad.fill(1.0)
    right.bwds(x, y)
    npt.assert_array_equal(x.grad.to_numpy(), [3, 3, 3, 3])


def test_a_field_declared_out_is_not_read() -> None:  # IF2
    @dt.kernel
    def wrong(y: dt.Out):
        for i in y:
            y[i] = y[i] + 1.0

    with pytest.raises(dt.KernelError, match=r"Field 'y' is declared dt\.Out"):
        wrong(field())


@pytest.mark.parametrize("separate", [False, True])
def test_a_field_declared_inout_has_the_right_gradient(separate: bool) -> None:  # IF3
    @dt.kernel
    def double(d: dt.InOut):
        for i in d:
            d[i] *= 2.0

    d = dt.from_numpy(X)
    d = d.with_grads(dt.ones(4), dt.zeros(4)) if separate else d.with_grads(dt.ones(4))
    if not separate:
        d.grad_out = d.grad_in
    double.bwds(d)
    npt.assert_array_equal(d.grad.to_numpy(), [2, 2, 2, 2])
    assert d.grad_in is not None
    npt.assert_array_equal(d.grad_in.to_numpy(), [1, 1, 1, 1] if separate else [2, 2, 2, 2])


def test_a_launch_needs_no_gradients() -> None:  # IF4
    y = dt.zeros(4)
    polynomial(dt.full((), 2.0), dt.from_numpy(X), y)
    npt.assert_array_equal(y.to_numpy(), [9, 23, 41, 63])


@dt.kernel
def scale(val, amount):
    for i in val:
        val[i] *= amount[i]


def test_a_parameter_that_is_read_and_written_with_separate_buffers() -> None:  # IF6
    before, after = dt.zeros(2), dt.ones(2)
    val = dt.from_numpy(np.float32([3, 4])).with_grads(after, before)
    amount = field([5, 6])
    scale.bwds(val, amount)
    npt.assert_array_equal(amount.grad.to_numpy(), [3, 4])
    npt.assert_array_equal(before.to_numpy(), [5, 6])
    npt.assert_array_equal(after.to_numpy(), [1, 1])


def test_a_parameter_that_is_written_alone() -> None:  # IF7
    @dt.kernel
    def product(val, amount, r: dt.Out):
        for i in r:
            r[i] = val[i] * amount[i]

    val, amount, r = field([3, 4]), field([5, 6]), dt.zeros(2, grad=True)
    r.grad.fill(1.0)
    product.bwds(val, amount, r)
    npt.assert_array_equal(amount.grad.to_numpy(), [3, 4])
    npt.assert_array_equal(val.grad.to_numpy(), [5, 6])


def test_there_is_one_type_of_field() -> None:  # IF8, IF9
    plain = dt.from_numpy(X)
    graded = plain.with_grads()
    assert type(plain) is type(graded) is type(graded.grad)
    y = dt.zeros(4, grad=True)
    y.grad.fill(1.0)
    scaled = dt.zeros(4)

    @dt.kernel
    def both(x, c, y, scaled):
        for i in y:
            y[i] = x[i] * c[i]
            scaled[i] = 2.0 * c[i]

    c = dt.from_numpy(2 * X)
    both(graded, c, y, scaled)
    both.bwds(graded, c, y, scaled)
    npt.assert_array_equal(graded.grad.to_numpy(), 2 * X)
    npt.assert_array_equal(scaled.to_numpy(), 4 * X)


def test_tangents_are_pushed_through_a_launch() -> None:
    a, x, y = field(2.0), field(), dt.zeros(4, grad=True)
    x.grad.fill(1.0)
    polynomial.fwds(a, x, y)
    npt.assert_array_equal(y.grad.to_numpy(), [12, 16, 20, 24])
