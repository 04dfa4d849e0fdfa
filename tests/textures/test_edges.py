"""Lookups at the limits of floats: far away, tiny, infinite and NaN.

Positions, levels, footprints and directions are swept in tables, and compared with exact fractions
of the floats that were given: a lookup is right however far its position is from the texture.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.textures.footprint import count_of, divided_footprint, footprint_lod, footprint_size

NAN, INF = math.nan, math.inf
FLOATS = {"f32": (ti.f32, np.float32), "f64": (ti.f64, np.float64)}
FILTERS, WRAPS = ("nearest", "linear", "cubic"), ("clamp", "repeat", "mirror", "border")
NOT_FINITE = (NAN, INF, -INF)
BORDER = 16.0


def positions(precision: str) -> list[float]:
    """Return possible positions, rounded to a precision."""
    rng = np.random.default_rng(7)
    kind = FLOATS[precision][1]
    largest = float(np.finfo(kind).max)
    tiny = float(np.finfo(kind).tiny)
    sizes = [0.0, tiny, 1e-30, 1e-12, 0.3, 1.0, 1e5 + 0.3, 2**31 + 0.3, 1e9, 1e20, 1e37, largest]
    drawn = 10.0 ** rng.uniform(-3, 15, 60)
    every = [sign * size for size in (*sizes, *drawn) for sign in (1.0, -1.0)]
    return [float(kind(u)) for u in (*NOT_FINITE, *every)]


# The reference, in fractions


def texel_at(wrap: str, i: int, n: int) -> int | None:
    """Return the texel that stands for an index; None for the border."""
    if wrap == "repeat":
        return i % n
    if wrap == "mirror":
        return min(i % (2 * n), 2 * n - 1 - i % (2 * n))
    return None if wrap == "border" and not 0 <= i < n else min(max(i, 0), n - 1)


def taps(filter: str, t: Fraction) -> list[tuple[int, Fraction, Fraction]]:
    """Return index, weight and slope of each texel that a position in texels takes."""
    if filter == "nearest":
        return [(math.floor(t), Fraction(1), Fraction(0))]
    low = math.floor(t - Fraction(1, 2))
    f = t - Fraction(1, 2) - low
    if filter == "linear":
        return [(low, 1 - f, Fraction(-1)), (low + 1, f, Fraction(1))]
    g, sixth = 1 - f, Fraction(1, 6)
    return [
        (low - 1, g**3 * sixth, -(g**2) / 2),
        (low, (4 - 6 * f**2 + 3 * f**3) * sixth, (3 * f**2 - 4 * f) / 2),
        (low + 1, (4 - 6 * g**2 + 3 * g**3) * sixth, -(3 * g**2 - 4 * g) / 2),
        (low + 2, f**3 * sixth, f**2 / 2),
    ]


def is_somewhere(wrap: str, u: float) -> bool:
    return not math.isnan(u) if wrap in ("clamp", "border") else math.isfinite(u)


def look_up(texels: Any, filter: str, wrap: str, u: float, by: Fraction) -> tuple[float, float]:
    """Return value and slope at `by` texels from a position."""
    n = len(texels)
    if not is_somewhere(wrap, u):
        return 0.0, 0.0
    exact = Fraction(u) if math.isfinite(u) else Fraction(math.copysign(9, u))
    value, slope = Fraction(0), Fraction(0)
    for i, weight, rise in taps(filter, exact * n + by):
        k = texel_at(wrap, i, n)
        texel = Fraction(BORDER if k is None else float(texels[k]))
        value += weight * texel
        slope += n * rise * texel
    return float(value), float(slope)


# Positions


@dt.kernel
def look(many: ti.template(), u, outs: ti.template()):
    for i in u:
        for k in ti.static(range(len(many))):
            outs[k][i] = many[k].sample(u[i])


@pytest.mark.parametrize("precision", FLOATS)
@pytest.mark.parametrize("n", [1, 5])
def test_any_position_gives_the_texels_that_its_wrap_says(precision: str, n: int) -> None:
    scalar, kind = FLOATS[precision]
    at = positions(precision)
    rng = np.random.default_rng(n)
    kinds = list(itertools.product(FILTERS, WRAPS))
    texels = [rng.integers(-8, 8, n).astype(float) for _ in kinds]
    textures = [
        dt.Texture(t, filter, wrap, BORDER if wrap == "border" else 0.0, dtype=scalar, grad=True)
        for t, (filter, wrap) in zip(texels, kinds, strict=True)
    ]
    bars = [rng.normal(size=len(at)) for _ in kinds]
    total = np.zeros((len(at), 2))
    u = dt.from_numpy(np.array(at), dtype=scalar, grad=True)
    outs = [dt.zeros(len(at), scalar, grad=True) for _ in kinds]
    with dt.Tape() as tape:
        look(textures, u, outs)
    tape.backward(dict(zip(outs, bars, strict=True)))
    step = 4 * n * Fraction(float(np.finfo(kind).eps))  # texels by which rounding may be off
    scale = 24.0 * n * float(step)
    for (filter, wrap), tex, t, y, bar in zip(kinds, textures, texels, outs, bars, strict=True):
        for i, position in enumerate(at):
            near = [look_up(t, filter, wrap, position, by * step) for by in (-1, 0, 1)]
            low, high = min(near)[0] - scale, max(near)[0] + scale
            assert low <= y[i] <= high, (filter, wrap, position, y[i], near)
            slopes = sorted(bar[i] * slope for _, slope in near)
            total[i] += slopes[0], slopes[-1]
        found = tex.data.grad.to_numpy()
        there = np.array([is_somewhere(wrap, position) for position in at])
        weight = found.sum() + (tex.border.grad[None] if wrap == "border" else 0.0)
        assert weight == pytest.approx(bar[there].sum(), abs=1e4 * float(step))
    slack = 1e3 * n * n * np.finfo(kind).eps * 24
    found = u.grad.to_numpy()
    wrong = (found < total[:, 0] - slack) | (found > total[:, 1] + slack)
    assert not wrong.any(), list(zip(np.array(at)[wrong], found[wrong], total[wrong], strict=True))
    assert (found[:3] == 0).all()


@dt.kernel
def look_in_plane(many: ti.template(), uv, outs: ti.template()):
    for i in uv:
        for k in ti.static(range(len(many))):
            outs[k][i] = many[k].sample_lod(uv[i], 0.0)


def test_axes_do_not_mix() -> None:
    """The texels are products, and so are the lookups: of lookups along each axis."""
    at = positions("f64")[:20]
    pairs = list(itertools.product(at, repeat=2))
    a, b = np.array([1.0, 3.0, -2.0]), np.array([2.0, -1.0, 5.0, 4.0])
    wraps = [("repeat", "clamp"), ("mirror", "repeat"), ("clamp", "clamp")]
    textures = [dt.Texture(np.outer(b, a), wrap=wrap, mip="nearest", grad=True) for wrap in wraps]
    uv = dt.from_numpy(np.array(pairs), dtype=dt.vec(2, ti.f64), grad=True)
    outs = [dt.zeros(len(pairs), ti.f64, grad=True) for _ in wraps]
    with dt.Tape() as tape:
        look_in_plane(textures, uv, outs)
    tape.backward({y: np.ones(len(pairs)) for y in outs})
    assert np.isfinite(uv.grad.to_numpy()).all()
    for wrap, tex, y in zip(wraps, textures, outs, strict=True):
        assert np.isfinite(tex.data.grad.to_numpy()).all()
        for i, (u, v) in enumerate(pairs):
            along = look_up(a, "linear", wrap[0], u, Fraction(0))[0]
            down = look_up(b, "linear", wrap[1], v, Fraction(0))[0]
            there = is_somewhere(wrap[0], u) and is_somewhere(wrap[1], v)
            assert y[i] == pytest.approx(along * down if there else 0.0, abs=1e-12), (wrap, u, v)


@pytest.mark.parametrize("bad", NOT_FINITE)
def test_texels_that_are_no_numbers_are_seen_where_they_are_taken(bad: float) -> None:
    texels = np.array([bad, 1.0, 2.0, 3.0])
    at = np.array([-9.0, -INF, 0.05, 0.6, 0.7])
    for wrap in ("clamp", "border"):
        tex = dt.Texture(texels, wrap=wrap, border=7.0 if wrap == "border" else 0.0, grad=True)
        u, y = dt.from_numpy(at, grad=True), dt.zeros(len(at), ti.f64, grad=True)
        with dt.Tape() as tape:
            look([tex], u, [y])
        tape.backward({y: np.ones(len(at))})
        outside = wrap == "border"
        assert not np.isfinite(y[2])
        np.testing.assert_allclose(y.to_numpy()[3:], [1.9, 2.3], rtol=1e-12)
        np.testing.assert_allclose(u.grad.to_numpy()[3:], 4.0, rtol=1e-12)
        if outside:
            np.testing.assert_array_equal(y.to_numpy()[:2], 7.0)
            np.testing.assert_array_equal(u.grad.to_numpy()[:2], 0.0)
        assert np.isfinite(tex.data.grad.to_numpy()).all()


# Levels and footprints


@dt.kernel
def look_lod(many: ti.template(), lod, outs: ti.template()):
    for i in lod:
        for k in ti.static(range(len(many))):
            outs[k][i] = many[k].sample_lod(0.3, lod[i])


@pytest.mark.parametrize("precision", FLOATS)
def test_any_level_is_kept_to_those_there_are(precision: str) -> None:
    scalar, kind = FLOATS[precision]
    largest = float(np.finfo(kind).max)
    given = [NAN, INF, -INF, largest, -largest, 1e20, -1e20, -1e-30, -0.0, 0.0, 1e-30, 0.25]
    given += [1.0, 1.75, 2.0, 2.5, 3.0, 3.25]
    texels = np.array([1.0, 9.0, 2.0, 7.0, 3.0, 3.0, 8.0, 5.0])
    textures = [
        dt.Texture(texels, "nearest", mip=mip, dtype=scalar, grad=True)
        for mip in ("linear", "nearest")
    ]
    lod = dt.from_numpy(np.array(given), dtype=scalar, grad=True)
    outs = [dt.zeros(len(given), scalar, grad=True) for _ in textures]
    with dt.Tape() as tape:
        look_lod(textures, lod, outs)
    tape.backward({y: np.ones(len(given)) for y in outs})
    levels = [texels.reshape(-1, 2**k).mean(1) for k in range(4)]
    at = [float(level[int(0.3 * len(level))]) for level in levels]
    for i, one in enumerate(given):
        kept = 0.0 if math.isnan(one) else min(max(one, 0.0), 3.0)
        low = min(int(kept), 2)
        blend = at[low] + (kept - low) * (at[low + 1] - at[low])
        assert outs[0][i] == pytest.approx(blend, rel=1e-6), one
        assert outs[1][i] == pytest.approx(at[min(int(kept + 0.5), 3)], rel=1e-6), one
        inside = not math.isnan(one) and 0 <= one < 3
        rise = at[int(kept) + 1] - at[int(kept)] if inside else 0.0
        assert lod.grad[i] == pytest.approx(rise, rel=1e-6), one
    for tex in textures:
        assert tex.data.grad.to_numpy().sum() == pytest.approx(len(given), rel=1e-5)


@dt.kernel
def measured(tex, uv, ddx, ddy, lod, count):
    for i in ddx:
        size = footprint_size(tex, uv[i], ddx[i], ddy[i])
        dx, dy = divided_footprint(tex, uv[i], ddx[i], ddy[i], size)
        found, longer = footprint_lod(tex, dx, dy, size)
        lod[i] = found
        count[i] = count_of(tex, found, longer)


@dt.kernel
def look_grad(tex, uv, ddx, ddy, y):
    for i in uv:
        y[i] = tex.sample_grad(uv[i], ddx[i], ddy[i])


SPREADS = (0.0, 1e-30, 1e-12, 1e-3, 0.004, 0.03, 0.7, 20.0, 1e12, 1e18, 1e30)


@pytest.mark.parametrize("precision", FLOATS)
@pytest.mark.parametrize("most", [1, 6])
def test_footprints_of_any_size(precision: str, most: int) -> None:
    scalar, _ = FLOATS[precision]
    rng = np.random.default_rng(3)
    turns = rng.normal(size=(40, 2, 2))
    spread = np.array([s * t for s in SPREADS for t in turns])
    spread[::3, 1] *= 1e-3  # long ones, and lines
    spread[1::7, 1] = 0.0
    spread = spread.astype(FLOATS[precision][1]).astype(float)
    shape, last = np.array([16, 32]), 5  # rows, columns
    tex = dt.Texture(rng.random((16, 32)), mip="linear", max_aniso=most, dtype=scalar)
    vec2 = dt.vec(2, scalar)
    uv = dt.from_numpy(np.full((len(spread), 2), 0.4), dtype=vec2)
    sides = [dt.from_numpy(spread[:, k].copy(), dtype=vec2) for k in (0, 1)]
    lod, count = dt.zeros(len(spread), scalar), dt.zeros(len(spread), ti.i32)
    measured(tex, uv, *sides, lod, count)
    for i, m in enumerate(spread * shape[::-1]):
        p = np.linalg.svd(m.T, compute_uv=False)
        size = max(p[0] / most, p[1]) if most > 1 else p[0]
        wanted = math.log2(size) if size > 0 else -INF
        kept = min(max(wanted, 0.0), last)
        assert min(max(lod[i], 0.0), last) == pytest.approx(kept, abs=1e-4), m
        along = p[0] / 2**kept
        counts = {max(1, min(math.ceil(along * (1 - by)), most)) for by in (0.0, 1e-5, 3e-5)}
        assert count[i] in counts, (m, along, count[i])


def test_one_lookup_is_enough_under_magnification() -> None:
    """At a kink, where the mean of several lookups would be another value."""
    tex = dt.Texture(np.array([[0.0, 8.0, 0.0, 0.0]]), mip="linear", max_aniso=8, grad=True)
    vec2 = dt.vec(2, ti.f64)
    centre = dt.from_numpy(np.array([[0.375, 0.5]]), dtype=vec2)
    ddx = dt.from_numpy(np.array([[0.2, 0.0]]), dtype=vec2)  # 0.8 texels
    ddy = dt.from_numpy(np.array([[0.0, 1e-3]]), dtype=vec2)
    y = dt.zeros(1, ti.f64)
    look_grad(tex, centre, ddx, ddy, y)
    assert y[0] == 8.0


@pytest.mark.parametrize("cube", [False, True])
@pytest.mark.parametrize("most", [1, 4])
def test_footprints_that_are_not_finite(cube: bool, most: int) -> None:
    dims = 3 if cube else 2
    rng = np.random.default_rng(0)
    texels = rng.random((6, 8, 8)) if cube else rng.random((8, 8))
    tex = dt.Texture(texels, cube=cube, mip="linear", max_aniso=most, dtype=ti.f64, grad=True)
    at = np.tile([0.4, 0.3, 0.9][:dims], (4 * dims + 3, 1))
    sides = np.zeros((2, *at.shape))
    sides[:, :] = 1e-3
    for k in range(2 * dims):
        sides[k // dims, 2 * k, k % dims] = INF if k % 3 else -INF
        sides[k // dims, 2 * k + 1, k % dims] = NAN
    at[-2], at[-1] = NAN, (0.0 if cube else NAN)
    kind = dt.vec(dims, ti.f64)
    given = [dt.from_numpy(x.copy(), dtype=kind, grad=True) for x in (at, *sides)]
    y = dt.zeros(len(at), ti.f64, grad=True)
    with dt.Tape() as tape:
        look_grad(tex, *given, y)
    tape.backward({y: np.ones(len(at))})
    found = y.to_numpy()
    top = texels[:, :, :].mean(axis=(1, 2))[4] if cube else texels.mean()
    if not cube:
        np.testing.assert_allclose(found[0 : 4 * dims : 2], top, rtol=1e-12)  # infinite: the last
        np.testing.assert_allclose(found[1 : 4 * dims : 2], found[-3], rtol=1e-12)  # NaN: the first
    assert (found[-2:] == 0).all() and np.isfinite(found).all()
    for field in given:
        gradient = field.grad.to_numpy()
        assert np.isfinite(gradient).all()
        assert (gradient[-2:] == 0).all()
    for side in given[1:]:
        assert (side.grad.to_numpy()[: 4 * dims] == 0).all()
    assert tex.data.grad.to_numpy().sum() == pytest.approx(len(at) - 2)


# Directions


@dt.kernel
def look_around(many: ti.template(), v, outs: ti.template()):
    for i in v:
        for k in ti.static(range(len(many))):
            outs[k][i] = many[k].sample(v[i])


@pytest.mark.parametrize("precision", FLOATS)
def test_directions_of_any_length(precision: str) -> None:
    scalar, kind = FLOATS[precision]
    limits = np.finfo(kind)
    lengths = [1.0, 1e-30, 1e-12, 1e12, 1e20, 1e30, 0.9 * float(limits.max)]
    lengths += [1e6 * float(limits.tiny)]
    rng = np.random.default_rng(1)
    towards = rng.normal(size=(30, 3))
    towards /= abs(towards).max(axis=1, keepdims=True)
    bad = np.array([v for v in itertools.product((0.0, 1.0, *NOT_FINITE), repeat=3)])
    bad = bad[~np.isfinite(bad).all(1) | (bad == 0).all(1)]
    given = np.concatenate([*(s * towards for s in lengths), bad])
    texels = rng.normal(size=(6, 4, 4))
    textures = [
        dt.Texture(texels, filter, cube=True, dtype=scalar, grad=True)
        for filter in ("linear", "nearest")
    ]
    v = dt.from_numpy(given, dtype=dt.vec(3, scalar), grad=True)
    outs = [dt.zeros(len(given), scalar, grad=True) for _ in textures]
    with dt.Tape() as tape:
        look_around(textures, v, outs)
    tape.backward({y: np.ones(len(given)) for y in outs})
    gradient, eps = v.grad.to_numpy().astype(float), float(limits.eps)
    for y in outs:
        values = y.to_numpy()
        assert (values[-len(bad) :] == 0).all()
        for k in range(len(lengths)):
            part = slice(30 * k, 30 * (k + 1))
            np.testing.assert_allclose(values[part], values[:30], atol=40 * eps)
    assert (gradient[-len(bad) :] == 0).all()
    for k, length in enumerate(lengths):
        rows = gradient[30 * k : 30 * (k + 1)]
        if 1e3 * float(limits.tiny) < 1 / length < 1e-2 * float(limits.max):
            np.testing.assert_allclose(rows * length, gradient[:30], rtol=1e-3, atol=1e4 * eps)
        assert not np.isnan(rows).any()
    for tex in textures:
        total = tex.data.grad.to_numpy().sum()
        assert total == pytest.approx(30 * len(lengths), rel=1e-5)
