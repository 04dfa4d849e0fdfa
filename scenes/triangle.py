"""A triangle to be recovered from a picture of it.

The picture is that of a camera: a pixel holds the fraction that the triangle covers.

Run this file for a few steps of the optimisation; the demo `soft-raster` does all of them.
"""

from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile import ti

WIDEST, NARROWER, NARROWEST = 0.06, 0.97, 0.25  # widths of edges; the last one in pixels

vec2 = ti.math.vec2


@dataclass(frozen=True, slots=True)
class TriangleScene:
    """A square picture, of width 1, with x to the right and y down.

    Attributes:
        picture: Part of each pixel that the triangle covers, shape (n, n).
        vertices: Those that the picture shows, shape (3, 2).
        guess: Those to begin with, shape (3, 2), in the same order around the triangle.
    """

    picture: np.ndarray
    vertices: np.ndarray
    guess: np.ndarray

    @property
    def n(self) -> int:
        """Number of pixels along each axis."""
        return len(self.picture)


def cover(vertices: np.ndarray, n: int, samples: int = 8) -> np.ndarray:
    """Return the part of each pixel that a triangle covers, shape (n, n).

    Args:
        vertices: Of the triangle, shape (3, 2).
        n: Number of pixels along each axis.
        samples: Of a pixel along each axis, each inside or outside.
    """
    places = (np.arange(n * samples) + 0.5) / (n * samples)
    x, y = places[None, :], places[:, None]
    sides = []
    for (ax, ay), (bx, by) in zip(vertices, np.roll(vertices, -1, axis=0), strict=True):
        sides.append((bx - ax) * (y - ay) - (by - ay) * (x - ax))
    inside = np.all(np.greater(sides, 0), axis=0) | np.all(np.less(sides, 0), axis=0)
    return inside.reshape(n, samples, n, samples).mean(axis=(1, 3))


def make_scene(n: int = 128) -> TriangleScene:
    """Return the scene, whose guess is small and off most of the triangle.

    Args:
        n: Number of pixels along each axis.
    """
    vertices = np.array([[0.18, 0.27], [0.86, 0.41], [0.37, 0.88]])
    guess = np.array([[0.55, 0.20], [0.80, 0.25], [0.70, 0.45]])
    return TriangleScene(cover(vertices, n), vertices, guess)


@dt.func
def to_edge(p, a, b):
    """Return the distance of a point to an edge, and twice the area that it spans with it."""
    along, way = b - a, p - a
    near = ti.math.clamp(way.dot(along) / along.dot(along), 0.0, 1.0)
    return (way - near * along).norm(), along.x * way.y - along.y * way.x


@dt.func
def signed_distance(p, a, b, c):
    """Return the distance of a point to the edges of a triangle, negative outside of it."""
    d_ab, side_ab = to_edge(p, a, b)
    d_bc, side_bc = to_edge(p, b, c)
    d_ca, side_ca = to_edge(p, c, a)
    distance = ti.min(d_ab, d_bc, d_ca)
    around = side_ab + side_bc + side_ca  # twice the signed area, whatever p is
    within = ti.min(side_ab * around, side_bc * around, side_ca * around) > 0.0
    return distance if within else -distance


# Three ways to compute the coverage of a pixel from a signed distance and the width of an edge: a
# test, its smooth substitute, and the test with the derivative of the substitute.
inside = dt.func(lambda distance, width: 1.0 if distance > 0.0 else 0.0)


coverage = dt.func(lambda distance, width: dt.sigmoid(distance / width))


inside_with_slope = dt.surrogate(inside, coverage)


@dt.data_oriented
class SoftRaster:
    """A triangle of `vertices` and its picture.

    Args:
        scene: The picture that the triangle should have.
        dtype: Of the numbers.
    """

    def __init__(self, scene: TriangleScene, dtype=ti.f32):
        self.n, self.width = scene.n, WIDEST
        self.vertices = dt.from_numpy(scene.guess, dtype=dt.vec(2, dtype), grad=True)
        self.image = dt.zeros(scene.picture.shape, dtype, grad=True)
        self.target = dt.from_numpy(scene.picture, dtype=dtype)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"vertices": self.vertices}

    @dt.kernel
    def draw(self, covered):
        """Write the covered fraction of each pixel."""
        for i, j in self.image:
            p = vec2(j + 0.5, i + 0.5) / self.n
            distance = signed_distance(p, self.vertices[0], self.vertices[1], self.vertices[2])
            self.image[i, j] = covered(distance, self.width)

    @dt.kernel
    def measure(self):
        """The mean squared error of the picture."""
        self.loss[None] = 0.0
        for i, j in self.image:
            self.loss[None] += (self.image[i, j] - self.target[i, j]) ** 2 / self.n**2

    def sharpen(self) -> None:
        """Make edges a little narrower."""
        self.width = max(NARROWER * self.width, NARROWEST / self.n)

    def run(self) -> None:
        """Draw the triangle and measure the loss."""
        self.draw(coverage)
        self.measure()


if __name__ == "__main__":
    raster = SoftRaster(make_scene(64))
    descent = dt.optim.Adam(raster.parameters, 0.03)
    for _ in range(8):
        with dt.Tape(raster.loss):
            raster.run()
        print(f"loss {raster.loss[None]:.6f}")
        descent.step()
