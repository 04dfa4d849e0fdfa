"""Recover a torus from two pictures, through the points where rays hit its surface.

The surface is the zero set of a signed distance f. A ray marches by that distance until it arrives,
in a loop that the tape need not record: only its end matters. One step of Newton's method from
there, t - f(x) / (n . d), does not move the point, but has its derivative, by the implicit function
theorem. The normal n is the gradient of f, by `dt.bwd_diff`. Around the outline the coverage of a
pixel follows from the least distance along its ray. Where one part of the torus hides another,
there is a jump from pixel to pixel that has no derivative here.
"""

import sys
import time
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
from scenes.torus import REACHED, SdfTorus, implicit, make_scene, photograph, unrolled

STEP_SIZE, SHORTER = 0.05, 0.97  # of Adam, and its factor from step to step
MILESTONES = 50, 100, 200  # iterations after which the parameters are printed


def differentiate(torus: SdfTorus, meet) -> tuple[np.ndarray, float]:
    """Return the gradient, shape (6,), and the seconds that the adjoint of the shading takes.

    Args:
        torus: The torus with its pictures.
        meet: The func that gives derivatives to the points where rays hit the surface.
    """
    with dt.Tape(torus.loss):
        torus.run(meet)
    gradient = np.concatenate([f.grad.to_numpy().ravel() for f in torus.parameters.values()])
    torus.shade.bwds(meet)  # compiled
    started = time.perf_counter()
    torus.shade.bwds(meet)
    return gradient, time.perf_counter() - started


def compare_gradients(torus: SdfTorus) -> None:
    """Print the difference of the derivative through all steps and the implicit one."""
    rule, rule_seconds = differentiate(torus, implicit)
    steps, steps_seconds = differentiate(torus, unrolled)
    print(f"gradient by the implicit rule  {np.array2string(rule, precision=5)}")
    print(f"through the steps of the loop  {np.array2string(steps, precision=5)}")
    off = np.abs(steps - rule).max() / np.abs(rule).max()
    print(
        f"the loop, which stops {REACHED:g} from the surface, is {off:.1%} off; "
        f"adjoint of the shading {1e3 * rule_seconds:.1f} ms by the rule, "
        f"{1e3 * steps_seconds:.1f} ms through the loop"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("sdf-torus", __doc__, iterations=200, memory=False)
    parser.add_argument(
        "--resolution",
        type=positive_int,
        default=144,
        help="pixels of a picture along each axis; default: %(default)s",
    )
    options = start(parser, argv)
    scene = make_scene(options.resolution)
    pictures = photograph(scene)
    if options.check:
        torus = SdfTorus(scene, scene.guess, ti.f64)
        torus.target.from_numpy(pictures)
        return max(print_check(torus, name, eps=1e-6) for name in torus.parameters)

    torus = SdfTorus(scene, scene.guess)
    torus.target.from_numpy(pictures)
    compare_gradients(torus)
    true = np.array([*scene.torus.centre, *scene.torus.radii, scene.torus.tilt])

    def miss() -> float:
        """Return the largest error of a parameter."""
        return float(np.abs(torus.values() - true).max())

    rate = dt.optim.schedules.exponential(STEP_SIZE, SHORTER)
    descent = dt.optim.Adam(torus.parameters, rate)
    search = Search(descent, miss, torus.sharpen)
    fit = fit_pictures(
        torus,
        search,
        options.iterations,
        "finding it",
        picture=lambda: np.concatenate([*torus.image.to_numpy()], axis=1),
        quality=lambda: psnr(torus.image.to_numpy(), pictures),
        keep="last",
        begin=None
        if options.no_pictures
        else lambda frame: draw_strip(options.out, pictures, frame),
    )
    if fit is None:
        return 130  # interrupted before there was anything to show
    print(fit)
    search.print("a parameter", MILESTONES)
    if not options.no_pictures:
        draw(options.out, fit, pictures)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, fit: PictureFit, pictures: np.ndarray) -> None:
    """Write the pictures."""
    target = draw_strip(out, pictures, fit.frames[0], fit.result)
    save_fit_curve(out / "curve.png", fit, "mean square off the pictures")
    save_fit_animation(out / "torus.gif", fit, target, linear=True)


def draw_strip(
    out: Path, pictures: np.ndarray, start: np.ndarray, result: np.ndarray | None = None
) -> np.ndarray:
    """Draw each view at the start and in the end; return the targets side by side."""
    target = np.concatenate([*pictures], axis=1)
    n, last = len(target), start if result is None else result
    rows = []
    for k in range(len(pictures)):
        part = np.s_[:, k * n : (k + 1) * n]
        rows.append((f"view {k}", target[part], start[part], last[part]))
    save_fit_strip(out / "strip.png", rows, linear=True)
    return target


if __name__ == "__main__":
    sys.exit(main())
