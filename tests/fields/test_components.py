"""Components of vectors and matrices, read and set from Python."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt


def vectors() -> dt.Field:
    return dt.from_numpy(np.arange(6.0).reshape(2, 3), dtype=ti.math.vec3, grad=True)


def matrices() -> dt.Field:
    values = np.arange(12.0).reshape(3, 2, 2)
    return dt.from_numpy(values, dtype=ti.types.matrix(2, 2, ti.f64), grad=True)


@dt.kernel
def weigh(v, loss):
    for i in v:
        loss[None] += v[i].dot(v[i] * ti.math.vec3(1.0, 2.0, 3.0))


def test_components_are_read_and_set() -> None:
    v = vectors()
    assert v[1, 2] == v[1][2] == v[1].z == v[1].b == 5.0
    v[0][1] = 7.0
    v[1, 0] = -1
    v[1].z = 9.0
    v[0, -1] = np.float32(4.0)
    assert v.to_numpy().tolist() == [[0, 7, 4], [-1, 4, 9]]
    v[0].xy = [1.0, 2.0]
    v[1].yz += 1.0
    v[1][1:] = 2.0 * v[1][1:]
    assert v.to_numpy().tolist() == [[1, 2, 4], [-1, 10, 20]]
    v[0] += [1.0, 2.0, 3.0]
    v[1] *= 2.0
    v[1][:] = 0.0
    assert v.to_numpy().tolist() == [[2, 4, 7], [0, 0, 0]]
    part = v[::-1]
    part[1, 0] = 5.0
    part[0].y = 6.0
    assert part[1, 0] == 5.0 and v.to_numpy().tolist() == [[5, 4, 7], [0, 6, 0]]


def test_entries_of_matrices() -> None:
    m = matrices()
    m[1][0, 1] = 50.0
    m[2, 1, 0] = 60.0
    m[0][1] = [7.0, 8.0]
    assert m[1, 0, 1] == 50.0 and m[2][1, 0] == 60.0 and m[0][1].tolist() == [7.0, 8.0]
    single = dt.zeros((), ti.math.vec2)
    single[None].x = 3.0
    single[None][1] = 4.0
    assert single[None].tolist() == [3.0, 4.0]
    n = dt.zeros(2, ti.types.vector(2, ti.i32))
    n[0, 1] = 3
    n[1].x = 4
    assert n.to_numpy().tolist() == [[0, 3], [4, 0]]


def test_an_element_is_a_copy_that_knows_its_place() -> None:
    v = vectors()
    first = v[0]
    v[0] = [7.0, 8.0, 9.0]
    assert first.tolist() == [0.0, 1.0, 2.0]
    first[1] = 5.0
    assert first.tolist() == [0.0, 5.0, 2.0] and v[0].tolist() == [7.0, 5.0, 9.0]
    assert first.is_of(v, (0,)) and repr(first) == "array([0., 5., 2.])"
    for other in (first + 1.0, 2.0 * first, np.sin(first), np.array(first)):
        assert type(other) is np.ndarray
        other[0] = 100.0
    for other in (first.copy(), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        other[0] = 100.0
    assert v[0].tolist() == [7.0, 5.0, 9.0]
    assert isinstance(np.dot(first, first), float) and np.linalg.norm(first) == np.sqrt(29.0)


def test_what_is_no_component() -> None:
    v = vectors()
    with pytest.raises(dt.FieldError, match="1 dimension and is given 3 indices"):
        v[0, 1, 2]
    with pytest.raises(dt.FieldError, match="1 dimension and is given 2 indices"):
        v[:, 0] = 1.0
    with pytest.raises(IndexError):
        v[0, 3] = 1.0
    with pytest.raises(IndexError):
        v[0][3] = 1.0
    with pytest.raises(dt.FieldError, match="takes a number"):
        v[0, 1] = dt.ones(())
    with pytest.raises(dt.FieldError):
        v[0, 1] = "a"
    with pytest.raises(dt.FieldError):
        dt.zeros(2, ti.types.vector(2, ti.i32))[0, 1] = 0.5
    with pytest.raises(AttributeError, match="has no attribute 'w'"):
        _ = v[0].w
    with pytest.raises(AttributeError, match="has no attribute 'x'"):
        _ = matrices()[0].x
    assert v.to_numpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def run(v: dt.Field, loss: dt.Field) -> None:
    v[0, 1] = 5.0
    weigh(v, loss)
    v[1, 2] = 2.0
    weigh(v, loss)


def test_only_the_component_loses_its_gradient() -> None:
    # 1 v0^2 + 2 v1^2 + 3 v2^2, twice, without the components that were overwritten.
    values = np.arange(6.0).reshape(2, 3)
    wanted = 2 * values * [1.0, 2.0, 3.0] * [[2, 0, 2], [2, 2, 1]]
    for options in ({}, {"snapshots": 3}):
        v, loss = vectors(), dt.zeros((), ti.f64, grad=True)
        with dt.Tape(loss, **options):
            run(v, loss)
        np.testing.assert_allclose(v.grad.to_numpy(), wanted)

    def f(v: dt.Field) -> dt.Field:
        w, loss = v.copy(), dt.zeros((), ti.f64)
        run(w, loss)
        return loss

    np.testing.assert_allclose(dt.grad(f)(vectors()).to_numpy(), wanted)
    tangent = dt.from_numpy(np.arange(6.0).reshape(2, 3) + 1.0, dtype=ti.math.vec3)
    _, pushed = dt.jvp(f, (vectors(),), (tangent,))
    assert np.isclose(pushed[None], np.sum(wanted * tangent.to_numpy()))


def test_gradients_and_seeds_have_components() -> None:
    v, loss = vectors(), dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        weigh(v, loss)
    assert v.grad[1, 2] == v.grad[1].z == 30.0
    v.grad[1].z = 1.0
    assert v.grad.to_numpy().tolist() == [[0, 4, 12], [6, 16, 1]]


def test_a_number_with_a_gradient_goes_into_a_component() -> None:
    @dt.kernel
    def total(v) -> float:
        found = 0.0
        for i in v:
            found += v[i].x * v[i].x
        return found

    v, w, loss = vectors(), vectors(), dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        w[0, 1] = total(v)
        weigh(w, loss)
    a: Any = 9.0  # 0 + 3^2
    assert w[0, 1] == a
    np.testing.assert_allclose(v.grad.to_numpy(), [[0, 0, 0], [4 * a * 2 * 3.0, 0, 0]])


def test_elements_that_are_set_on_a_tape_carry_gradients() -> None:
    v, h = vectors(), dt.full((), 2.0, ti.f64, grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        v[0][1] = 3.0 * h[None]
        v[1] += [1.0, 2.0, h[None]]
        v[1].x *= h[None]
        weigh(v, loss)
    # (0, 3 h, 2) and ((3 + 1) h, 4 + 2, 5 + h)
    assert v.to_numpy().tolist() == [[0, 6, 2], [8, 6, 7]]
    np.testing.assert_allclose(v.grad.to_numpy(), [[0, 0, 12], [32, 24, 42]])
    assert np.isclose(h.grad[None], 2 * 2 * 6 * 3 + 2 * 8 * 4 + 2 * 3 * 7)
