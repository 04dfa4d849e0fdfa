"""Recover a triangle from a picture of it, by edges that are soft at first.

Whether a pixel lies inside a triangle jumps as a vertex moves, and the derivative of a jump is zero
almost everywhere. Here the test is replaced by a coverage that rises with the signed distance to
the edges over a width. Wide edges feel a triangle that is far away; during the fit they become as
sharp as pixels. `difftile` differentiates the coverage; only its formula was chosen by hand.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.fits import (
    PictureFit,
    fit_pictures,
    psnr,
    save_fit_animation,
    save_fit_curve,
    save_fit_strip,
)
from demos.support.options import make_parser, start
from demos.support.search import Search
from demos.support.training import print_check
from difftile.arguments import positive_int
from scenes.triangle import TriangleScene, make_scene

WIDEST, NARROWER, NARROWEST = 0.06, 0.97, 0.25  # widths of edges; the last one in pixels
STEP_SIZE, SHORTER = 0.03, 0.97  # of Adam, and its factor from step to step
MILESTONES = 100, 200, 400  # iterations after which the vertices are printed

vec2 = ti.math.vec2


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


def slopes_of_area(raster: SoftRaster, covered) -> np.ndarray:
    """Return the derivative of the displayed area by the vertices, shape (3, 2)."""
    with dt.Tape() as tape:
        raster.draw(covered)
    tape.backward({raster.image: np.full((raster.n,) * 2, 1.0 / raster.n**2)})
    return raster.vertices.grad.to_numpy()


def true_slopes_of_area(vertices: np.ndarray) -> np.ndarray:
    """Return the derivative of the area of a triangle by its vertices, shape (3, 2)."""
    (ax, ay), (bx, by), (cx, cy) = vertices
    turn = np.sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
    return turn / 2 * np.array([[by - cy, cx - bx], [cy - ay, ax - cx], [ay - by, bx - ax]])


def compare_slopes(raster: SoftRaster) -> None:
    """Print the derivative of the area for each way to cover pixels."""
    true = true_slopes_of_area(raster.vertices.to_numpy())
    print("change of the displayed area when the first vertex moves to the right:")
    print(f"  the triangle itself                      {true[0, 0]:+.5f}")
    for name, covered in (
        ("the test", inside),
        ("a coverage that rises with the distance", coverage),
        ("the test, with the slope of the coverage", inside_with_slope),
    ):
        print(f"  {name:40} {slopes_of_area(raster, covered)[0, 0]:+.5f}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("soft-raster", __doc__, iterations=400, memory=False)
    parser.add_argument(
        "--size",
        type=positive_int,
        default=128,
        help="pixels of the picture along each axis; default: %(default)s",
    )
    options = start(parser, argv)
    scene = make_scene(options.size)
    if options.check:
        return print_check(SoftRaster(scene, ti.f64), "vertices")

    raster = SoftRaster(scene)

    def miss() -> float:
        """Return the largest distance of a vertex from its target."""
        return float(np.hypot(*(raster.vertices.to_numpy() - scene.vertices).T).max())

    rate = dt.optim.schedules.exponential(STEP_SIZE, SHORTER)
    descent = dt.optim.Adam(raster.parameters, rate)
    search = Search(descent, miss, raster.sharpen)
    fit = fit_pictures(
        raster,
        search,
        options.iterations,
        "finding it",
        picture=raster.image.to_numpy,
        quality=lambda: psnr(raster.image.to_numpy(), scene.picture),
        keep="last",
    )
    if fit is None:
        return 130  # interrupted before there was anything to show
    print(fit)
    search.print("a vertex", MILESTONES)
    compare_slopes(raster)
    if not options.no_pictures:
        draw(options.out, scene, fit)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, scene: TriangleScene, fit: PictureFit) -> None:
    """Write the pictures."""
    save_fit_strip(out / "strip.png", [("", scene.picture, fit.frames[0], fit.result)])
    save_fit_curve(out / "curve.png", fit, "mean square off the picture")
    save_fit_animation(out / "triangle.gif", fit, scene.picture)


if __name__ == "__main__":
    sys.exit(main())
