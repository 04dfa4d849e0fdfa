"""Quaternions, rotation vectors and twists against SciPy, and their derivatives to second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti
from scipy.linalg import expm, expm_frechet
from scipy.spatial.transform import Rotation

import difftile as dt

Array = npt.NDArray[np.float64]
R = dt.rotations
EPS = {ti.f32: 1.2e-7, ti.f64: 2.2e-16}
LENGTHS = (0.0, 1e-30, 1e-8, 1e-4, 1e-3, 0.1, 0.2499, 0.4999, 0.5001, 1.0, 2.0, 3.0, 3.13, 3.1415)


def rotation_vectors(seed: int = 0) -> Array:
    """Return rotation vectors in every direction, of lengths from 0 to almost pi, shape (n, 3)."""
    rng = np.random.default_rng(seed)
    ways = np.concatenate([np.eye(3), -np.eye(3), rng.normal(size=(6, 3))])
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    return np.concatenate([length * ways for length in LENGTHS])


def quaternions(seed: int = 1) -> Array:
    """Return quaternions w, x, y, z of several lengths, shape (n, 4)."""
    rng = np.random.default_rng(seed)
    q = np.concatenate([np.eye(4), -np.eye(4), rng.normal(size=(20, 4))])
    return np.concatenate([length * q for length in (1.0, 1e-12, 3.0, 1e12)])


def of(q: Array) -> Rotation:
    return Rotation.from_quat(q[..., [1, 2, 3, 0]])


def given(values: npt.ArrayLike, dtype: Any) -> Any:
    values = np.asarray(values, np.float64)
    element = {1: dtype, 2: dt.vec(values.shape[-1], dtype)} if values.ndim < 3 else {}
    shape = element.get(values.ndim) or dt.mat(*values.shape[-2:], dtype)
    return dt.from_numpy(values, dtype=shape)


def close(found: Any, known: npt.ArrayLike, tolerance: float) -> None:
    np.testing.assert_allclose(found.to_numpy(), known, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", EPS, ids=["f32", "f64"])
def test_values_are_those_of_scipy(dtype: Any) -> None:
    eps = EPS[dtype]
    w = rotation_vectors()
    m = Rotation.from_rotvec(w).as_matrix()
    close(R.so3_exp(given(w, dtype)), m, 4 * eps)
    close(R.quat_to_matrix(R.quat_exp(given(w, dtype))), m, 8 * eps)
    close(R.so3_log(R.so3_exp(given(w, dtype))), w, 16 * eps)
    close(R.quat_log(R.quat_exp(given(w, dtype))), w, 16 * eps)
    q = quaternions()
    close(R.quat_to_matrix(given(q, dtype)), of(q).as_matrix(), 8 * eps)
    again = R.quat_from_matrix(given(of(q).as_matrix(), dtype)).to_numpy()
    np.testing.assert_allclose(np.linalg.norm(again, axis=1), 1, rtol=0, atol=4 * eps)
    np.testing.assert_allclose(of(again).as_matrix(), of(q).as_matrix(), rtol=0, atol=8 * eps)
    v = np.random.default_rng(3).normal(size=(len(q), 3))
    close(R.quat_rotate(given(q, dtype), given(v, dtype)), of(q).apply(v), 32 * eps)
    angle = np.linspace(-7, 7, len(v))
    unit = v / np.linalg.norm(v, axis=1, keepdims=True)
    made = R.quat_from_axis_angle(given(v, dtype), given(angle, dtype)).to_numpy()
    turned = Rotation.from_rotvec(angle[:, None] * unit)
    np.testing.assert_allclose(of(made).as_matrix(), turned.as_matrix(), rtol=0, atol=32 * eps)


def test_products_rotate_in_turn() -> None:
    rng = np.random.default_rng(4)
    p, q, v = rng.normal(size=(50, 4)), rng.normal(size=(50, 4)), rng.normal(size=(50, 3))
    both = R.quat_multiply(given(p, ti.f64), given(q, ti.f64))
    close(R.quat_rotate(both, given(v, ti.f64)), (of(p) * of(q)).apply(v), 1e-14)
    one = R.quat_multiply(given(p, ti.f64), R.quat_conjugate(given(p, ti.f64)))
    known = np.sum(p * p, axis=1)[:, None] * (1.0, 0.0, 0.0, 0.0)
    close(one, known, 1e-14)


def test_zeros_and_half_turns() -> None:
    zeros, v = given(np.zeros((1, 4)), ti.f64), given([[1.0, 2.0, 3.0]], ti.f64)
    close(R.quat_to_matrix(zeros), [np.eye(3)], 0)
    close(R.quat_rotate(zeros, v), [[1, 2, 3]], 0)
    close(R.quat_log(zeros), [[0, 0, 0]], 0)
    half = np.concatenate([np.diag(row)[None] for row in 2 * np.eye(3) - 1])
    found = R.so3_log(given(half, ti.f64)).to_numpy()
    np.testing.assert_allclose(np.abs(found), np.pi * np.eye(3), rtol=0, atol=1e-15)
    for arrays in (np.eye(3), half):
        assert isinstance(R.so3_log(arrays), np.ndarray)
    np.testing.assert_array_equal(R.so3_log(np.eye(3)), 0)


@pytest.mark.parametrize("dtype", EPS, ids=["f32", "f64"])
def test_the_shorter_arc(dtype: Any) -> None:
    rng = np.random.default_rng(5)
    p, q = rng.normal(size=(40, 4)), rng.normal(size=(40, 4))
    q[:10] = p[:10]
    q[10:20] = -p[10:20]
    t = np.linspace(0.0, 1.0, 40)
    found = R.slerp(given(p, dtype), given(q, dtype), given(t, dtype)).to_numpy()
    way = (of(p).inv() * of(q)).as_rotvec()
    known = of(p) * Rotation.from_rotvec(t[:, None] * way)
    np.testing.assert_allclose(
        of(found).as_matrix(), known.as_matrix(), rtol=0, atol=64 * EPS[dtype]
    )


def twist_matrix(twist: Array) -> Array:
    x, y, z, a, b, c = twist
    return np.array([[0, -c, b, x], [c, 0, -a, y], [-b, a, 0, z], [0, 0, 0, 0]])


@pytest.mark.parametrize("dtype", EPS, ids=["f32", "f64"])
def test_rigid_motions_are_those_of_scipy(dtype: Any) -> None:
    w = rotation_vectors(6)
    shifts = np.random.default_rng(7).normal(size=w.shape)
    twists = np.concatenate([shifts, w], axis=1)
    known = np.array([expm(twist_matrix(twist)) for twist in twists])
    rotation, translation = R.se3_exp(given(twists, dtype))
    close(rotation, known[:, :3, :3], 16 * EPS[dtype])  # SciPy is off by 8 in f64
    close(translation, known[:, :3, 3], 16 * EPS[dtype])
    close(R.se3_log(rotation, translation), twists, 64 * EPS[dtype])


# Derivatives


@dt.func
def entries(w):
    m = R.so3_exp(w)
    return ti.Vector([m[i, j] for i in ti.static(range(3)) for j in ti.static(range(3))])


@dt.func
def there_and_back(w):
    return R.so3_log(R.so3_exp(w))


@dt.func
def by_quaternion(w):
    return R.quat_log(R.quat_exp(w))


@dt.func
def motion_and_back(twist):
    rotation, shift = R.se3_exp(twist)
    return R.se3_log(rotation, shift)


@dt.func
def corner(twist):
    rotation, shift = R.se3_exp(twist)
    return rotation @ ti.Vector([0.3, -0.5, 0.7]) + shift


def derivatives(function: Any, points: Array, width: int) -> tuple[Array, Array]:
    """Return first derivatives [n, out, in] and second ones [n, out, in, in] of a func."""
    n, size = points.shape
    both = zip(*[(i, j) for i in range(size) for j in range(size)], strict=True)
    first, second = (np.eye(size)[list(k)] for k in both)
    shape = (n, size * size)
    y1, y2 = (dt.zeros(shape, dt.vec(width, ti.f64)) for _ in range(2))
    x = dt.from_numpy(points, dtype=dt.vec(size, ti.f64))
    a, b = (dt.from_numpy(k, dtype=dt.vec(size, ti.f64)) for k in (first, second))

    @dt.func
    def slope(p, way):
        return dt.fwd_diff(function)(p, way)

    @dt.kernel
    def differentiate(x, a, b, y1, y2):
        for i, k in y1:
            y1[i, k] = slope(x[i], a[k])
            y2[i, k] = dt.fwd_diff(slope)(x[i], a[k], b[k], 0.0 * a[k])

    differentiate(x, a, b, y1, y2)
    one = y1.to_numpy()[:, ::size].transpose(0, 2, 1)
    return one, y2.to_numpy().reshape(n, size, size, width).transpose(0, 3, 1, 2)


GENERATORS = np.array([Rotation.from_rotvec(0.5 * np.pi * k).as_matrix() for k in np.eye(3)])
GENERATORS = 0.5 * (GENERATORS - GENERATORS.transpose(0, 2, 1))  # v -> e x v


def test_derivatives_of_the_exponential() -> None:
    w = rotation_vectors(8)
    first, second = derivatives(entries, w, 9)
    hats = np.einsum("nk,kij->nij", w, GENERATORS)
    for k in range(3):
        known = [expm_frechet(hat, GENERATORS[k], compute_expm=False) for hat in hats]
        np.testing.assert_allclose(first[:, :, k].reshape(-1, 3, 3), known, rtol=0, atol=2e-14)
    # At the zero rotation the Hessian of exp is half of the anticommutator of the generators.
    products = np.einsum("aij,bjk->abik", GENERATORS, GENERATORS)
    known = 0.5 * (products + products.transpose(1, 0, 2, 3)).transpose(2, 3, 0, 1).reshape(9, 3, 3)
    tiny = np.linalg.norm(w, axis=1) < 1e-20
    assert tiny.sum() == 24
    np.testing.assert_allclose(second[tiny], np.broadcast_to(known, (24, 9, 3, 3)), atol=1e-14)
    # Elsewhere it is compared with differences of the first derivatives, which are right.
    h = 1e-5
    for k in range(3):
        step = h * np.eye(3)[k]
        ahead, before = (derivatives(entries, w + s, 9)[0] for s in (step, -step))
        np.testing.assert_allclose(second[..., k], (ahead - before) / (2 * h), rtol=0, atol=1e-9)


@pytest.mark.parametrize("function", [there_and_back, by_quaternion])
def test_the_logarithm_undoes_the_exponential_to_second_order(function: Any) -> None:
    w = rotation_vectors(9)
    first, second = derivatives(function, w, 3)
    np.testing.assert_allclose(first, np.broadcast_to(np.eye(3), first.shape), rtol=0, atol=1e-13)
    np.testing.assert_allclose(second, 0, atol=2e-12)


@pytest.mark.slow  # its second derivative takes long to compile
def test_and_so_do_those_of_rigid_motions() -> None:
    w = rotation_vectors(10)
    twists = np.concatenate([np.random.default_rng(11).normal(size=w.shape), w], axis=1)
    first, second = derivatives(motion_and_back, twists, 6)
    np.testing.assert_allclose(first, np.broadcast_to(np.eye(6), first.shape), rtol=0, atol=1e-12)
    np.testing.assert_allclose(second, 0, atol=1e-10)
    first, _ = derivatives(corner, twists, 3)
    for k in range(6):
        way = twist_matrix(np.eye(6)[k])
        known = [
            expm_frechet(twist_matrix(twist), way, compute_expm=False) @ (0.3, -0.5, 0.7, 1.0)
            for twist in twists
        ]
        np.testing.assert_allclose(first[:, :, k], np.array(known)[:, :3], rtol=0, atol=1e-13)


def test_gradients_on_a_tape() -> None:
    w = dt.from_numpy(rotation_vectors(12)[::5], dtype=dt.vec(3, ti.f64), grad=True)
    q = dt.from_numpy(
        np.random.default_rng(13).normal(size=(6, 4)), dtype=dt.vec(4, ti.f64), grad=True
    )
    other = dt.from_numpy(
        np.random.default_rng(14).normal(size=(6, 4)), dtype=dt.vec(4, ti.f64), grad=True
    )
    loss = dt.zeros((), ti.f64, grad=True)

    @dt.kernel
    def measure(w, q, other, loss):
        for i in w:
            m = R.so3_exp(w[i])
            loss[None] += (R.quat_rotate(R.quat_exp(w[i]), m @ ti.math.vec3(1.0, 2.0, 3.0))).x
        for i in q:
            v = R.quat_rotate(R.slerp(q[i], other[i], 0.3), ti.math.vec3(1.0, -2.0, 0.5))
            loss[None] += R.quat_log(q[i]).dot(v)

    def run() -> None:
        loss.fill(0.0)
        measure(w, q, other, loss)

    assert dt.gradcheck(run, {"w": w, "q": q, "other": other})
    with dt.Tape(loss):
        run()
    np.testing.assert_allclose(np.sum(q.to_numpy() * q.grad.to_numpy(), axis=1), 0, atol=1e-13)
    zero = dt.zeros(1, dt.vec(4, ti.f64), grad=True)
    with dt.Tape() as tape:
        turned = R.quat_rotate(zero, dt.ones(1, dt.vec(3, ti.f64)))
    tape.backward({turned: np.ones((1, 3))})
    assert zero.grad.to_numpy().tolist() == [[0, 0, 0, 0]]
