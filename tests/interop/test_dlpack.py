"""Memory shared with arrays of others: both sides see what the other one writes."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.fields.foreign import field_over, point_at
from difftile.substrate import Terms


@dt.kernel
def double(x, y):
    for i in range(x.shape[0]):
        y[i] = 2.0 * x[i]


class Array(np.ndarray):
    """An array to which there are weak references."""


def array_of(*values: float) -> np.ndarray:
    return np.array(values, np.float32).view(Array)


def test_a_field_over_an_array_and_the_array_are_one_memory():
    a, b = array_of(1, 2, 3), array_of(0, 0, 0)
    x, y = dt.from_dlpack(a), dt.from_dlpack(b)
    double(x, y)
    assert b.tolist() == [2, 4, 6]
    a[1] = 5
    y[2] = -1.0
    assert x[1] == 5
    double(x, y)
    assert b.tolist() == y.to_numpy().tolist() == [2, 10, 6]


def test_an_array_over_a_field_and_the_field_are_one_memory():
    x, y = dt.ones(3), dt.zeros(3)
    for a in (np.from_dlpack(x), np.asarray(x, copy=False)):
        a[1] = 5
        double(x, y)
        assert y.to_numpy().tolist() == [2, 10, 2]
        x.fill(1.0)
        assert a.tolist() == [1, 1, 1]
    copy = np.asarray(x)
    x.fill(2.0)
    assert copy.tolist() == [1, 1, 1]


def test_components_are_trailing_axes():
    a = np.arange(12.0, dtype=np.float32).reshape(2, 2, 3)
    x = dt.from_dlpack(a, ti.math.vec3)
    m = dt.from_dlpack(a.reshape(2, 2, 3), dt.mat(2, 3))
    assert x.shape == (2, 2) and m.shape == (2,)
    x[0, 1] = [7, 8, 9]
    assert a[0, 1].tolist() == [7, 8, 9]
    assert np.from_dlpack(m).shape == (2, 2, 3)
    part = np.from_dlpack(x[:, ::-1])
    assert part.strides == (24, -12, 4) and part[0, 0].tolist() == [7, 8, 9]
    repeated = np.asarray(x[0, :].broadcast_to(4, 2), copy=False)
    assert repeated.strides == (0, 12, 4) and not repeated.flags.writeable


def test_the_memory_of_an_array_lives_as_long_as_its_field():
    a = array_of(1, 2)
    alive = weakref.ref(a)
    x = dt.from_dlpack(a)
    del a
    gc.collect()
    assert alive() is not None and x.to_numpy().tolist() == [1, 2]
    del x
    gc.collect()
    assert alive() is None


def test_the_memory_of_a_field_lives_as_long_as_its_arrays():
    x = dt.full(1000, 3.0)
    a = np.from_dlpack(x)
    del x
    others = [dt.full(1000, 4.0) for _ in range(3)]  # none of them is given that memory
    assert np.all(a == 3)
    del others, a


def test_a_field_that_is_guarded_leaves_before_it_is_written():
    a, b = array_of(1, 2, 3), array_of(0, 0, 0)
    y = dt.from_dlpack(b)
    x = field_over(y.element, (3,), a.ctypes.data, a, Terms.GUARDED)
    double(y, x)
    assert a.tolist() == [1, 2, 3] and x.to_numpy().tolist() == [0, 0, 0]
    alive = weakref.ref(a)
    point_at(x, b.ctypes.data, b, Terms.LENT)
    del a
    gc.collect()
    assert alive() is None and x.to_numpy().tolist() == [0, 0, 0]
    double(y, x)
    point_at(x, 0, None, Terms.LENT)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: np.ones(4, np.float32)[::2], "do not follow each other"),
        (lambda: np.ones((2, 3), np.float32).T, "do not follow each other"),
        (lambda: np.ones(4, ">f4"), "other byte order"),
        (lambda: np.ones(4, np.complex64), "cannot hold complex64"),
        (lambda: np.zeros(0, np.float32), "no elements"),
        (lambda: np.frombuffer(bytearray(9), np.uint8)[1:].view(np.float32), "not aligned"),
        (lambda: [1.0, 2.0], "has no memory to share"),
    ],
)
def test_memory_that_is_not_shared_is_refused_by_name(make, text):
    with pytest.raises(dt.FieldError, match=text):
        dt.from_dlpack(make())
