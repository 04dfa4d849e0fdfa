"""Cube maps against the geometry of a cube, on every edge and at every corner."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from tests.textures import cube_reference as reference

# Towards middles, edges and corners, next to these, and towards places of half texels.
SPECIAL = np.array(
    [
        *itertools.product((-1.0, 0.0, 1.0), repeat=3),
        *itertools.product((-2.0, 2.0, 0.3, -1.99), repeat=3),
    ]
)
WEIGHTS = {"linear": reference.linear_weights, "nearest": reference.nearest_weights}
EXACT, SINGLE = (1e-12, 1e-12), (2e-5, 2e-4)  # of values and of gradients


@dt.kernel
def look(tex, direction, y):
    for i in direction:
        y[i] = tex.sample(direction[i])


@dt.kernel
def look_lod(tex, direction, lod, y):
    for i in direction:
        y[i] = tex.sample_lod(direction[i], lod[i])


@dt.kernel
def look_grad(tex, direction, ddx, ddy, y):
    for i in direction:
        y[i] = tex.sample_grad(direction[i], ddx[i], ddy[i])


def cube_map(n: int, scalar: Any = ti.f64, channels: int | None = 3, **options: Any) -> Any:
    """Return a cube map of random texels."""
    shape = (6, n, n) if channels is None else (6, n, n, channels)
    texels = np.random.default_rng(n).normal(size=shape)
    return dt.Texture(texels, cube=True, dtype=scalar, grad=True, **options)


def directions(count: int) -> Any:
    """Return the special directions and random ones, of all lengths."""
    rng = np.random.default_rng(3)
    drawn = rng.normal(size=(count, 3))
    drawn /= np.abs(drawn).max(axis=1, keepdims=True)
    edges = drawn.copy()  # within a texel of an edge
    edges[:, 0] = np.where(edges[:, 0] > 0, 0.95, -1.05)
    return np.concatenate([SPECIAL, np.exp(rng.normal(size=(count, 1))) * drawn, edges])


def check(tex: Any, kernel: Any, arguments: list[Any], weights: Any, limits: Any = EXACT) -> None:
    """Compare values and all gradients with `weights`, a function of the arguments."""
    scalar = ti.f32 if limits is SINGLE else ti.f64
    kinds = [scalar if a.ndim == 1 else dt.vec(3, scalar) for a in arguments]
    given = [
        dt.from_numpy(a, dtype=kind, grad=True) for a, kind in zip(arguments, kinds, strict=True)
    ]
    y = dt.zeros(len(arguments[0]), dt.vec(3, scalar), grad=True)
    with dt.Tape() as tape:
        kernel(tex, *given, y)
    seed = np.random.default_rng(1).normal(size=y.to_numpy().shape)
    tape.backward({y: seed})

    arguments = [field.to_numpy().astype(np.float64) for field in given]
    texels, n = tex.data.to_numpy().astype(np.float64).reshape(-1, 3), tex.data.shape[1]
    calls = list(zip(*arguments, strict=True))
    rows = np.array([weights(*call, n) for call in calls])
    near(y.to_numpy(), rows @ texels, limits[0])
    near(tex.data.grad.to_numpy().reshape(-1, 3), rows.T @ seed, limits[1])
    worth = seed @ texels.T  # of each call and texel
    for k, field in enumerate(given):
        slopes = [slope(weights, call, k, n) for call in calls]
        found = field.grad.to_numpy().reshape(len(calls), -1)
        near(found, np.einsum("it,itc->ic", worth, np.array(slopes)), limits[1])


def slope(weights: Any, call: Any, k: int, n: int) -> Any:
    """Return the derivatives of the weights of a call by its argument k, (texels, components)."""

    def moved(argument: Any) -> Any:
        argument = argument if np.ndim(call[k]) else argument[0]
        return weights(*call[:k], argument, *call[k + 1 :], n)

    return reference.by_complex_step(moved, np.atleast_1d(call[k]))


def near(found: Any, wanted: Any, limit: float) -> None:
    scale = max(1.0, float(np.abs(wanted).max()))
    np.testing.assert_allclose(found, wanted, rtol=limit, atol=limit * scale)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_between_texels(n: int) -> None:
    check(cube_map(n), look, [directions(40)], reference.linear_weights)


def test_between_texels_in_single_precision() -> None:
    # At kinks rounding decides between the sides, so that only values are compared there.
    check(
        cube_map(5, ti.f32),
        look,
        [directions(60)[len(SPECIAL) :]],
        reference.linear_weights,
        SINGLE,
    )


def test_nearest_texel() -> None:
    inside = np.random.default_rng(5).normal(size=(200, 3))
    check(cube_map(4, filter="nearest"), look, [inside], reference.nearest_weights)
    check(cube_map(3, filter="nearest"), look, [SPECIAL[:27]], reference.nearest_weights)


@pytest.mark.parametrize("n", [1, 5])
def test_between_levels(n: int) -> None:
    towards = directions(20)
    lod = np.random.default_rng(2).uniform(-1.0, n.bit_length() + 0.5, len(towards))

    def weights(direction: Any, lod: Any, n: int) -> Any:
        return reference.lod_weights(reference.linear_weights, direction, n, lod)

    check(cube_map(n, mip="linear"), look_lod, [towards, lod], weights)


def test_over_footprints() -> None:
    rng = np.random.default_rng(4)
    towards = rng.normal(size=(60, 3))
    steps = [0.2 * rng.normal(size=(60, 3)) for _ in range(2)]

    def weights(direction: Any, ddx: Any, ddy: Any, n: int) -> Any:
        lod = reference.footprint_lod(direction, ddx, ddy, n)
        return reference.lod_weights(reference.linear_weights, direction, n, lod)

    check(cube_map(8, mip="linear"), look_grad, [towards, *steps], weights)


def test_over_long_footprints() -> None:
    rng = np.random.default_rng(4)
    towards = rng.normal(size=(60, 3))
    steps = [scale * rng.normal(size=(60, 3)) for scale in (0.5, 0.2)]
    tex = cube_map(8, mip="linear", max_aniso=4)
    given = [dt.from_numpy(each, dtype=dt.vec(3, ti.f64)) for each in (towards, *steps)]
    y = dt.zeros(60, dt.vec(3, ti.f64))
    look_grad(tex, *given, y)
    texels = tex.data.to_numpy().reshape(-1, 3)
    taken = []
    for i, each in enumerate(zip(towards, *steps, strict=True)):
        taps, lod = reference.footprint_taps(*each, 8, most=4)  # pyrefly: ignore[bad-keyword-argument]
        taken.append(len(taps))
        rows = [reference.lod_weights(reference.linear_weights, tap, 8, lod) for tap in taps]
        np.testing.assert_allclose(y[i], np.mean(rows, axis=0) @ texels, rtol=1e-11, atol=1e-12)
    assert {2, 3, 4} <= set(taken)


def test_the_same_from_both_sides_of_an_edge() -> None:
    tex = cube_map(4)
    sides = []
    for tilt in (-1e-13, 1e-13):
        along = np.random.default_rng(6).uniform(-1, 1, 100)
        towards = np.stack([np.full(100, 1 + tilt), along, np.ones(100)], axis=1)
        sides.append(tex.sample(dt.from_numpy(towards, dtype=dt.vec(3, ti.f64))).to_numpy())
    np.testing.assert_allclose(*sides, atol=1e-11)


def test_corners_are_the_mean_of_three_faces() -> None:
    faces = np.arange(6.0)[:, None, None] * np.ones((6, 3, 3))
    tex = dt.Texture(faces, cube=True)
    for signs in itertools.product((0, 1), repeat=3):
        wanted = np.mean([2 * axis + sign for axis, sign in enumerate(signs)])
        found = tex.sample(ti.Vector([5.0 - 10.0 * sign for sign in signs]))
        assert found == pytest.approx(wanted, rel=1e-14)


def test_texels_that_are_numbers() -> None:
    tex, towards = cube_map(3, channels=None), directions(10)
    direction = dt.from_numpy(towards, dtype=dt.vec(3, ti.f64), grad=True)
    y = dt.zeros(len(towards), ti.f64, grad=True)
    with dt.Tape() as tape:
        look(tex, direction, y)
    tape.backward({y: np.ones(len(towards))})
    total = y.to_numpy().sum()
    assert np.sum(tex.data.grad.to_numpy() * tex.data.to_numpy()) == pytest.approx(total, rel=1e-12)
    along = np.sum(direction.grad.to_numpy() * towards, axis=1)  # the length does not count
    np.testing.assert_allclose(along, 0, atol=1e-12)


def test_the_zero_vector_gives_nothing_and_gets_nothing() -> None:
    tex = cube_map(4, mip="linear")
    nothing = np.zeros((5, 3))
    for kernel, arguments in (
        (look, [nothing]),
        (look_lod, [nothing, np.linspace(-1, 5, 5)]),
        (look_grad, [nothing, np.ones((5, 3)), np.eye(5, 3)]),
    ):
        check(tex, kernel, arguments, lambda *given: np.zeros(6 * given[-1] ** 2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wrap": "repeat"}, "A cube map has no outside: leave wrap, border and axes out."),
        ({"border": 1.0}, "A cube map has no outside: leave wrap, border and axes out."),
        ({"axes": "xy"}, "A cube map has no outside: leave wrap, border and axes out."),
        ({"filter": "cubic"}, "filter='cubic' has no meaning at the corners of a cube map"),
    ],
)
def test_what_a_cube_has_not(options: dict[str, Any], message: str) -> None:
    with pytest.raises(dt.FieldError, match=message):
        cube_map(2, **options)
