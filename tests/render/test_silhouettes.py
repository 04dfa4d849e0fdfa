"""Edges of signed distances and triangles: derivatives of pixels against those of the true image.

The true image is the mean over each pixel of a picture with hard edges. Lines through each
pixel find the edges by bisection, so derivatives of the means are sums over edges, without noise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt

Array = npt.NDArray[np.float64]
vec2, vec3 = ti.math.vec2, ti.math.vec3
N = 32  # pixels of an image along each axis
LINES, SAMPLES = 16, 3  # in a pixel: where edges are searched
NEAR = 0.01  # pixels around an edge, where it is after a small change
FAR = 10.0
FOCAL = 1.6  # in halves of the image
COLOURS = np.array([[0.9, 0.9, 0.2], [1.0, 0.3, 0.1], [0.1, 0.4, 0.9]])  # sky, first and second


@dt.func
def smooth_min(a, b):
    h = max(0.3 - abs(a - b), 0.0) / 0.3
    return min(a, b) - h * h * 0.075


@dt.data_oriented
class Scene:
    """A ball, a torus, or both, and a camera: nine and four numbers, in one field."""

    def __init__(self, kind: str, values: Any, dtype: Any = ti.f64, n: int = N) -> None:
        self.kind, self.n = kind, n
        self.x = dt.from_numpy(np.asarray(values, float), dtype=dtype, grad=True)
        self.image = dt.zeros((n, n), dt.vec(3, dtype), grad=True)
        self.colours = dt.from_numpy(COLOURS, dtype=dt.vec(3, dtype))

    @dt.func
    def ball(self, p):
        return (p - vec3(self.x[0], self.x[1], self.x[2])).norm() - self.x[3]

    @dt.func
    def torus(self, p):
        q = p - vec3(self.x[4], self.x[5], self.x[6])
        across, along = 0.9 * q.y + 0.435889894354 * q.z, 0.9 * q.z - 0.435889894354 * q.y
        return vec2(vec2(q.x, across).norm() - self.x[7], along).norm() - self.x[8]

    @dt.func
    def distance(self, p):
        found = self.ball(p)
        if ti.static(self.kind == "torus"):
            found = self.torus(p)
        elif ti.static(self.kind == "one before the other"):
            found = min(found, self.torus(p))
        elif ti.static(self.kind == "smooth union"):
            found = smooth_min(found, self.torus(p))
        return found

    @dt.func
    def colour(self, p):
        second = 0
        if ti.static(self.kind == "one before the other"):
            second = 1 if self.torus(p) < self.ball(p) else 0
        return self.colours[1 + second]

    @dt.func
    def eye(self):
        return vec3(self.x[9], self.x[10], self.x[11])

    @dt.func
    def way(self, column, row):
        x, y = 2.0 * column / self.n - 1.0, 2.0 * row / self.n - 1.0
        c, s = ti.cos(self.x[12]), ti.sin(self.x[12])
        return vec3(c * x + s * FOCAL, y, c * FOCAL - s * x).normalized()

    @dt.kernel
    def render(self):
        for i, j in self.image:
            x, y = j + 0.5, i + 0.5
            eye, way = self.eye(), self.way(x, y)
            right = self.way(x + 0.5, y) - self.way(x - 0.5, y)
            down = self.way(x, y + 0.5) - self.way(x, y - 0.5)
            colour, light, t = vec3(0.0, 0.0, 0.0), 1.0, 0.0
            for _ in range(8):
                alpha, at, t = dt.render.next_surface(self.distance, eye, way, right, down, t, FAR)
                colour += light * alpha * self.colour(eye + at * way)
                light *= 1.0 - alpha
                if t >= FAR or light <= 0.0:
                    break
            self.image[i, j] = colour + light * self.colours[0]


def lengths(*parts: Any) -> Any:
    return np.sqrt(sum(part * part for part in parts))


def seen_by(kind: str) -> Callable[[Array, Array], Any]:
    """Return a function that says what is seen at points of the image: 0 is the sky."""

    def ball(p: Any, x: Array) -> Any:
        return lengths(*(p[k] - x[k] for k in range(3))) - x[3]

    def torus(p: Any, x: Array) -> Any:
        q = [p[k] - x[4 + k] for k in range(3)]
        s = 0.435889894354
        across, along = 0.9 * q[1] + s * q[2], 0.9 * q[2] - s * q[1]
        return lengths(lengths(q[0], across) - x[7], along) - x[8]

    def distance(p: Any, x: Array) -> Any:
        if kind == "torus":
            return torus(p, x)
        if kind == "ball":
            return ball(p, x)
        a, b = ball(p, x), torus(p, x)
        h = np.maximum(0.3 - abs(a - b), 0.0) / 0.3 if kind == "smooth union" else 0.0
        return np.minimum(a, b) - h * h * 0.075

    def seen(points: Array, x: Array) -> Any:
        u, v = (2.0 * points / N - 1.0).T
        c, s = np.cos(x[12]), np.sin(x[12])
        way = np.stack([c * u + s * FOCAL, v, c * FOCAL - s * u])
        way /= np.linalg.norm(way, axis=0)
        found, t = np.zeros(len(points), int), np.zeros(len(points))
        alive = np.arange(len(points))
        for _ in range(400):
            p = x[9:12, None] + t[alive] * way[:, alive]
            f = distance(p, x)
            hit = f < 1e-9
            which = 1 + (torus(p, x) < ball(p, x)) if kind == "one before the other" else 1
            found[alive] = np.where(hit, which, 0)
            t[alive] += f
            alive = alive[~hit & (t[alive] < FAR)]
            if not len(alive):
                break
        return found

    return seen


class Edges:
    """The edges of a picture, where lines along its rows and columns cross them.

    Args:
        seen: Returns which colour is seen at points (x, y) of the image, given the numbers of the
            scene.
        values: The numbers.
        colours: The colours.
    """

    def __init__(self, seen: Callable[[Array, Array], Any], values: Array, colours: Array) -> None:
        self.seen, self.values, self.colours = seen, values, colours
        self.sides = [self._cross(axis) for axis in (0, 1)]

    def _at(self, axis: int, along: Array, line: Array) -> Array:
        return np.stack([along, line] if axis == 0 else [line, along], axis=-1)

    def _cross(self, axis: int) -> tuple[Any, ...]:
        """Return the places, lines and slopes of edges, and the colours before and after them."""
        lines, ends = (np.arange(N * LINES) + 0.5) / LINES, np.arange(N * SAMPLES + 1) / SAMPLES
        along, line = np.meshgrid(ends, lines)
        kinds = self.seen(self._at(axis, along.ravel(), line.ravel()), self.values)
        kinds = kinds.reshape(along.shape)
        row, column = np.nonzero(kinds[:, :-1] != kinds[:, 1:])
        line, before, after = lines[row], kinds[row, column], kinds[row, column + 1]
        place = self._bisect(axis, ends[column], ends[column + 1], line, before, self.values)
        d = 1e-4
        up, down = (
            self._bisect(axis, place - NEAR, place + NEAR, line + s, before, self.values)
            for s in (d, -d)
        )
        return place, line, (up - down) / (2 * d), before, after

    def _bisect(
        self, axis: int, low: Array, high: Array, line: Array, kind: Any, values: Array
    ) -> Array:
        for _ in range(30):
            middle = 0.5 * (low + high)
            same = self.seen(self._at(axis, middle, line), values) == kind
            low, high = np.where(same, middle, low), np.where(same, high, middle)
        return low

    def image(self) -> Array:
        """Return the mean of each pixel; the image begins with the first colour in each row."""
        place, line, _, before, after = self.sides[0]
        image = np.zeros((N * LINES, N, 3)) + self.colours[0]
        covered = np.clip(np.arange(N) + 1 - place[:, None], 0, 1)
        steps = self.colours[after] - self.colours[before]
        rows = np.floor(line * LINES).astype(int)
        np.add.at(image, rows, covered[..., None] * steps[:, None])
        return image.reshape(N, LINES, N, 3).mean(axis=1)

    def derivative(self, k: int, h: float = 1e-5) -> Array:
        """Return the derivative of the mean of each pixel by one of the numbers.

        An edge is integrated along rows where it is steep, and along columns where it is flat, with
        weights that add up to 1.
        """
        total = np.zeros((N, N, 3))
        step = h * np.eye(len(self.values))[k]
        for axis, (place, line, slope, before, after) in enumerate(self.sides):
            ahead, back = (
                self._bisect(axis, place - NEAR, place + NEAR, line, before, self.values + s)
                for s in (step, -step)
            )
            swept = (ahead - back) / (2 * h) / (1 + slope**2) / LINES
            at = np.floor(self._at(axis, place, line)).astype(int)
            parts = swept[:, None] * (self.colours[before] - self.colours[after])
            np.add.at(total, (at[:, 1], at[:, 0]), parts)
        return total


VALUES = (0.15, 0.08, -0.8, 0.35, 0.02, 0.05, 0.2, 0.75, 0.2, 0.03, -0.02, -3.0, 0.02)
NAMES = "ball x, ball y, ball z, ball r, x, y, z, R, r, eye x, eye y, eye z, pan".split(", ")
SHOWN = {
    "ball": (0, 2, 3, 9, 12),
    "torus": (4, 5, 8, 12),
    "one before the other": (0, 3, 8, 12),
    "smooth union": (0, 3, 5, 12),
}


def derivative(scene: Scene, k: int) -> Array:
    """Return the derivative of the image by one number, in forward mode."""
    scene.x.grad.from_numpy(np.eye(len(VALUES))[k])
    scene.image.grad.fill(0.0)
    scene.render.fwds()
    return scene.image.grad.to_numpy()


KINDS = [
    pytest.param(kind, marks=[] if kind == "ball" else [pytest.mark.slow])  # each compiles
    for kind in SHOWN
]


@pytest.mark.parametrize("kind", KINDS)
def test_derivatives_of_the_picture_of_a_signed_distance(kind: str) -> None:
    """Those of pixels are within 12 percent, and those of their sums within 2.

    The shapes have radii of 5 to 10 pixels. One before the other is a pixel or two nearer.
    """
    of_pixels, of_sums = (0.2, 0.04) if kind == "one before the other" else (0.12, 0.02)
    values = np.array(VALUES)
    if kind == "smooth union":
        values[:3] = 0.75, 0.1, 0.2
    scene = Scene(kind, values)
    edges = Edges(seen_by(kind), values, COLOURS)
    scene.render()
    image, true = scene.image.to_numpy(), edges.image()
    assert np.sqrt(np.mean((image - true) ** 2)) < 0.006
    for k in SHOWN[kind]:
        known, found = edges.derivative(k), derivative(scene, k)
        assert np.linalg.norm(found - known) < of_pixels * np.linalg.norm(known), NAMES[k]
        total = np.abs(found.sum((0, 1)) - known.sum((0, 1))).max()
        assert total < of_sums * np.abs(known).sum((0, 1)).max(), NAMES[k]


def test_a_hit_moves_with_the_surface() -> None:
    x = dt.from_numpy(np.array([0.3, 2.0, 0.5]), grad=True)  # place and radius of a ball
    found = dt.zeros(3, ti.f64, grad=True)

    @dt.func
    def distance(p):
        return (p - vec3(x[0], 0.0, x[1])).norm() - x[2]

    @dt.kernel
    def look(found):
        for k in range(1):
            eye, way = vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 1.0)
            right, down = vec3(0.01, 0.0, 0.0), vec3(0.0, 0.01, 0.0)
            alpha, at, _ = dt.render.next_surface(distance, eye, way, right, down, 0.0, FAR)
            found[0], found[1] = alpha, at
            alpha, _, _ = dt.render.next_surface(
                distance, vec3(0.3, 0.0, 2.0), way, right, down, 0.0, FAR
            )
            found[2] = alpha  # a ray that begins inside sees nothing

    with dt.Tape() as tape:
        look(found)
    np.testing.assert_allclose(found.to_numpy(), [1.0, 1.6, 0.0], atol=1e-12)
    tape.backward({found: np.array([0.0, 1.0, 0.0])})
    # at = z - sqrt(r^2 - x^2)
    np.testing.assert_allclose(x.grad.to_numpy(), [0.3 / 0.4, 1.0, -0.5 / 0.4], rtol=1e-5)
