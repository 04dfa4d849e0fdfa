"""Areas of pixels that edges and triangles cover, their derivatives, and fits that need them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti
from scipy.ndimage import uniform_filter

import difftile as dt

Array = npt.NDArray[np.float64]
vec2 = ti.math.vec2
VECTOR = dt.vec(2, ti.f64)


def clipped(polygon: Array, half: float = 0.5) -> float:
    """Return the area of a convex polygon inside the square around 0 (Sutherland and Hodgman)."""
    points = [*polygon]
    for axis in (0, 1):
        for sign in (1.0, -1.0):
            kept = []
            for p, q in zip([points[-1], *points[:-1]], points, strict=True) if points else ():
                inside = half - sign * p[axis], half - sign * q[axis]
                if (inside[0] >= 0) != (inside[1] >= 0):
                    kept.append(p + inside[0] / (inside[0] - inside[1]) * (q - p))
                if inside[1] >= 0:
                    kept.append(q)
            points = kept
    if not points:
        return 0.0
    x, y = np.array(points).T
    return 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))


def triangles() -> Array:
    """Return triangles around a pixel: tiny, of its size, large and thin, shape (n, 3, 2)."""
    rng = np.random.default_rng(0)
    sizes = rng.choice([0.02, 0.5, 2.0, 100.0], (400, 1, 1))
    found = sizes * rng.normal(size=(400, 3, 2)) + 0.5 * rng.normal(size=(400, 1, 2))
    thin = found[:100].copy()
    thin[:, 2] = 0.5 * (thin[:, 0] + thin[:, 1]) + 1e-3 * rng.normal(size=(100, 2))
    return np.concatenate([found, thin])


@pytest.mark.parametrize("dtype", [ti.f32, ti.f64], ids=["f32", "f64"])
def test_area_and_derivatives_of_triangles_are_exact(dtype: Any) -> None:
    given = triangles()
    corners = [dt.from_numpy(given[:, k], dtype=dt.vec(2, dtype), grad=True) for k in range(3)]
    with dt.Tape() as tape:
        found = dt.render.triangle_coverage(np.zeros(2), *corners)
    areas = np.array([clipped(one) for one in given])
    worst = np.abs(found.to_numpy() - areas).max()
    assert worst < (1e-13 if dtype == ti.f64 else 5e-5)  # corners are 100 pixels away
    if dtype == ti.f32:
        return
    tape.backward({found: np.ones(len(given))})
    h = 1e-6
    for k, corner in enumerate(corners):
        for axis in (0, 1):
            step = np.zeros((3, 2))
            step[k, axis] = h
            known = [(clipped(one + step) - clipped(one - step)) / (2 * h) for one in given]
            off = np.abs(corner.grad.to_numpy()[:, axis] - known)
            # Differences cross kinks of second order, where a corner or edge meets the border.
            assert np.quantile(off, 0.99) < 1e-8 and off.max() < 1e-2


def test_edges_are_half_planes() -> None:
    rng = np.random.default_rng(1)
    distance, slope = 0.7 * rng.normal(size=500), rng.normal(size=(500, 2))
    slope[:50, 0] = 0.0
    slope[50:100] *= 1e-3
    distance[50:100] *= 1e-3
    found = dt.render.coverage(distance, slope)
    for d, s, area in zip(distance, slope, found, strict=True):
        normal = s / np.hypot(*s)
        along, foot = np.array([-normal[1], normal[0]]), -d / np.hypot(*s) * normal
        plane = [foot + 9 * along, foot - 9 * along, foot - 9 * normal - 9 * along]
        plane.append(foot - 9 * normal + 9 * along)
        np.testing.assert_allclose(area, clipped(np.array(plane)), rtol=0, atol=1e-13)


@dt.kernel
def cover_disc(x, image, width: float):
    for i, j in image:
        p = vec2(j + 0.5, i + 0.5) - vec2(x[0], x[1])
        image[i, j] = dt.render.coverage(p.norm() - x[2], p.normalized(), width)


@dt.kernel
def fill_disc(x, image, width: float):
    for i, j in image:
        p = vec2(j + 0.5, i + 0.5) - vec2(x[0], x[1])
        image[i, j] = 1.0 if p.norm() < x[2] else 0.0


@dt.kernel
def cover_triangle(x, image, width: float):
    for i, j in image:
        a, b, c = vec2(x[0], x[1]), vec2(x[2], x[3]), vec2(x[4], x[5])
        image[i, j] = dt.render.triangle_coverage(vec2(j + 0.5, i + 0.5), a, b, c, width)


@dt.kernel
def fill_triangle(x, image, width: float):
    for i, j in image:
        p = vec2(j + 0.5, i + 0.5)
        a, b, c = vec2(x[0], x[1]) - p, vec2(x[2], x[3]) - p, vec2(x[4], x[5]) - p
        u, v, w = a.cross(b), b.cross(c), c.cross(a)
        image[i, j] = 1.0 if min(u, v, w) >= 0.0 or max(u, v, w) <= 0.0 else 0.0


@dt.kernel
def measure(image, target, loss):
    for i, j in image:
        loss[None] += (image[i, j] - target[i, j]) ** 2


def supersampled(draw: Any, x: Array, n: int, times: int) -> Array:
    """Return the means of a picture with hard edges over its pixels."""
    scaled = dt.from_numpy(times * x)
    image = dt.zeros((n * times, n * times), ti.f64)
    draw(scaled, image, 1.0)
    return image.to_numpy().reshape(n, times, n, times).mean(axis=(1, 3))


def test_a_disc_against_many_samples_of_each_pixel() -> None:
    """Derivatives of single pixels are within 4 percent, those of smooth sums within 1."""
    n, x = 24, np.array([11.3, 12.6, 7.25])
    given = dt.from_numpy(x, grad=True)
    image = dt.zeros((n, n), ti.f64, grad=True)
    cover_disc(given, image, 1.0)
    assert np.abs(image.to_numpy() - supersampled(fill_disc, x, n, 64)).max() < 0.02
    angle = (np.arange(200_000) + 0.5) * np.pi / 100_000
    edge = x[:2] + x[2] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    moves = np.stack([np.cos(angle), np.sin(angle), np.ones_like(angle)])
    pixel = np.floor(edge).astype(int)
    for k in range(3):
        known = np.zeros((n, n))  # what the edge sweeps
        np.add.at(known, (pixel[:, 1], pixel[:, 0]), moves[k] * x[2] * np.pi / 100_000)
        given.grad.from_numpy(np.eye(3)[k])
        image.grad.fill(0.0)
        cover_disc.fwds(given, image, 1.0)
        found = image.grad.to_numpy()
        assert np.linalg.norm(found - known) < 0.04 * np.linalg.norm(known)
        weights = np.add.outer(np.arange(n), 2 * np.arange(n))
        reach = np.abs(known * weights).sum()
        assert abs((found * weights).sum() - (known * weights).sum()) < 0.01 * reach


def fit(draw: Any, start: Array, target: Array, steps: int) -> Array:
    """Return the numbers of a shape, fitted to a picture; both are blurred less and less."""
    n = len(target)
    x, image = dt.from_numpy(start, grad=True), dt.zeros((n, n), ti.f64, grad=True)
    wanted, loss = dt.zeros((n, n), ti.f64), dt.zeros((), ti.f64, grad=True)
    adam = dt.optim.Adam([x], lr=0.3)
    for k in range(steps):
        width = max(1, round(24 * 0.96**k))
        wanted.from_numpy(uniform_filter(target, width, mode="constant"))
        with dt.Tape(loss):
            loss.fill(0.0)
            draw(x, image, float(width))
            measure(image, wanted, loss)
        adam.step()
        if len(start) == 3:
            x[2] = start[2]  # a disc only moves
    return x.to_numpy()


@pytest.mark.parametrize(
    ("soft", "hard", "start", "true"),
    [
        (cover_disc, fill_disc, [15.0, 17.0, 5.0], [29.0, 27.5, 5.0]),
        (cover_triangle, fill_triangle, [4.0, 4, 14, 5, 6, 14], [15.5, 8, 28, 19, 12, 27]),
    ],
    ids=["disc", "triangle"],
)
def test_shapes_find_their_picture_only_by_coverage(
    soft: Any, hard: Any, start: list[float], true: list[float]
) -> None:
    """At first they do not overlap it."""
    target = supersampled(hard, np.array(true), 48, 16)
    assert fit(hard, np.array(start), target, 20).tolist() == start
    np.testing.assert_allclose(fit(soft, np.array(start), target, 260), true, rtol=0, atol=0.05)


def test_triangles_with_shared_edges_leave_no_seam() -> None:
    rng = np.random.default_rng(3)
    n = 12
    hub = dt.from_numpy(np.array([5.7, 6.2]), grad=True)
    rim = [(1.2, 1.4), (10.5, 2.0), (11.0, 9.6), (3.0, 11.1)]
    image = dt.zeros((n, n), ti.f64, grad=True)
    colours = dt.from_numpy(rng.uniform(size=4), grad=True)

    @dt.kernel
    def fan(hub, colours, image):
        for i, j in image:
            for k in ti.static(range(4)):
                a, b = ti.Vector(rim[k]), ti.Vector(rim[(k + 1) % 4])
                part = dt.render.triangle_coverage(
                    vec2(j + 0.5, i + 0.5), vec2(hub[0], hub[1]), a, b
                )
                image[i, j] += colours[k] * part

    def run() -> None:
        image.fill(0.0)
        fan(hub, colours, image)

    assert dt.gradcheck(run, {"hub": hub, "colours": colours})
    colours.fill(1.0)
    with dt.Tape() as tape:
        run()
    known = [
        sum(
            clipped(np.array([(5.7, 6.2), rim[k], rim[(k + 1) % 4]]) - (j + 0.5, i + 0.5))
            for k in range(4)
        )
        for i in range(n)
        for j in range(n)
    ]
    np.testing.assert_allclose(image.to_numpy().ravel(), known, rtol=0, atol=1e-12)
    tape.backward({image: rng.uniform(size=(n, n))})
    np.testing.assert_allclose(hub.grad.to_numpy(), 0, atol=1e-12)  # nobody sees the hub


def test_an_edge_on_the_border_of_pixels_has_its_whole_derivative() -> None:
    n = 6
    image = dt.zeros((n, n), ti.f64, grad=True)
    x = dt.from_numpy(np.array([1.0, 1.0, 4.0, 1.0, 1.0, 4.0]), grad=True)
    with dt.Tape() as tape:
        cover_triangle(x, image, 1.0)
    tape.backward({image: np.ones((n, n))})
    np.testing.assert_allclose(x.grad.to_numpy(), [-1.5, -1.5, 1.5, 0.0, 0.0, 1.5], atol=1e-14)
    distance = dt.from_numpy(np.array([0.5, -0.5, 0.0]), grad=True)
    with dt.Tape() as tape:
        parts = dt.render.coverage(distance, np.array([1.0, 0.0]))
    tape.backward({parts: np.ones(3)})
    assert parts.to_numpy().tolist() == [0.0, 1.0, 0.5]
    assert distance.grad.to_numpy().tolist() == [-1.0, 0.0, -1.0]
    nothing = dt.render.coverage(np.array([1.0, -1.0]), np.zeros(2))
    assert nothing.tolist() == [0.0, 1.0]
