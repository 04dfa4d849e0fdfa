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
from difftile import ti
from difftile.arguments import positive_int
from scenes.triangle import (
    SoftRaster,
    TriangleScene,
    coverage,
    inside,
    inside_with_slope,
    make_scene,
)

STEP_SIZE, SHORTER = 0.03, 0.97  # of Adam, and its factor from step to step
MILESTONES = 100, 200, 400  # iterations after which the vertices are printed


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
