"""Fields that follow from others: always up to date, and never a gradient lost."""

import numpy as np
import pytest
import taichi as ti

import difftile as dt

VALUES = np.array([1.0, 2.0, 3.0])


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def total(y, loss):
    for i in y:
        loss[None] += (i + 1) * y[i]


@dt.kernel
def double(x):
    for i in x:
        x[i] *= 2.0


class Squares:
    """A field, its squares, and how often they were computed."""

    def __init__(self, *, grad: bool = True):
        self.x = dt.from_numpy(VALUES, grad=grad)
        self.runs = 0
        self.y = dt.DerivedField(self.x.dtype, (3,), [self.x], self._fill)
        self.loss = dt.zeros((), ti.f64, grad=True)

    def _fill(self, y):
        self.runs += 1
        square(self.x, y)


def test_it_is_filled_before_it_is_read_and_only_if_a_source_changed():
    s = Squares(grad=False)
    assert s.y[1] == 4 and s.y[2] == 9 and s.runs == 1
    total(s.y, s.loss)
    assert s.loss[None] == 1 + 2 * 4 + 3 * 9 and s.runs == 1
    double(s.x)
    np.testing.assert_array_equal(s.y.to_numpy(), 4 * VALUES**2)
    s.x[0] = 5.0
    s.x[1:].fill(1.0)
    s.loss.fill(0.0)
    total(s.y, s.loss)
    assert s.loss[None] == 25 + 2 + 3
    s.x.fill(0.0)
    assert s.y[0] == 0
    s.y.fill(7.0)  # values written into it do not stay
    assert s.y[0] == 0


def test_it_follows_each_of_its_sources():
    one, two = dt.from_numpy(VALUES), dt.from_numpy(VALUES)

    def add(y):
        y.from_numpy(one.to_numpy() + two.to_numpy())

    y = dt.DerivedField(one.dtype, (3,), [one, two], add)
    assert y[0] == 2
    for source in (one, two):
        source[0] = 5.0
        assert y[0] == one[0] + two[0]


def test_each_tape_passes_the_gradient_on():
    s = Squares()
    for _ in range(2):  # nothing changed before the second
        s.loss.fill(0.0)
        with dt.Tape(s.loss):
            total(s.y, s.loss)
            total(s.y, s.loss)
        np.testing.assert_allclose(s.x.grad.to_numpy(), 2 * 2 * VALUES * [1, 2, 3])
    assert s.runs == 2


def test_a_block_without_gradients_does_not_hide_later_launches():
    s = Squares()
    with dt.Tape(s.loss):
        with dt.no_grad():
            total(s.y, s.loss)
        total(s.y, s.loss)
    np.testing.assert_allclose(s.x.grad.to_numpy(), 2 * VALUES * [1, 2, 3])


@pytest.mark.parametrize("limit", [None, 72])
def test_a_source_that_changes_on_a_tape(limit):
    s = Squares()
    with dt.Tape(s.loss, memory=limit) as tape:
        total(s.y, s.loss)
        double(s.x)
        with pytest.warns(dt.GradientCut, match="an array read by Python"):
            s.y.to_numpy()
        total(s.y, s.loss)
    assert s.runs == 2, tape
    np.testing.assert_allclose(s.x.grad.to_numpy(), (2 + 8) * VALUES * [1, 2, 3])


def test_transformations_see_it():
    s = Squares()

    def f(x):
        s.x.copy_from(x)
        s.loss.fill(0.0)
        total(s.y, s.loss)
        return s.loss

    np.testing.assert_allclose(dt.grad(f)(VALUES), 2 * VALUES * [1, 2, 3])
    assert dt.jvp(f, (VALUES,), (VALUES,))[1] == np.sum(2 * VALUES**2 * [1, 2, 3])


def test_gradients_are_checked_through_it():
    s = Squares()

    def f():
        s.loss.fill(0.0)
        total(s.y, s.loss)
        return s.loss

    dt.gradcheck(f, [s.x])
    np.testing.assert_array_equal(s.y.to_numpy(), VALUES**2)


def test_derivatives_of_one_launch_would_end_there():
    s = Squares()
    with pytest.raises(
        dt.LaunchError, match="follows from other fields: launch the kernel on a tape"
    ):
        total.bwds(s.y, s.loss)
    s = Squares(grad=False)
    s.loss.grad.fill(1.0)
    total.bwds(s.y, s.loss)


def test_its_type_is_given_as_that_of_other_fields_is():
    y = dt.DerivedField(dt.vec(2, ti.f32), (3,), [dt.zeros(3)], lambda y: y.fill(1.0))
    assert (y.element_shape, y.numpy_dtype) == ((2,), np.float32)
    with pytest.raises(dt.FieldError, match="is no element type"):
        dt.DerivedField("points", (3,), [], lambda y: None)
