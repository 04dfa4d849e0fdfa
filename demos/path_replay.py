"""Recover the colours of a box from a picture, through light that bounces many times.

A path of light is a loop of bounces, each of which absorbs a part of the light and picks a random
direction. Random numbers are a hash of pixel, sample and bounce, so that a path can be retraced;
its geometry does not depend on the colours. A custom rule retraces the path for the gradient, with
the light that is still to come, and stores nothing ("path replay", Vicini et al., SIGGRAPH 2021).
Without the rule, `difftile` derives the adjoint of the loop itself; both give the same numbers.
Parameters that move edges of shadows and balls would have no derivative here; colours move none.
"""

import sys
import time
from collections.abc import Sequence
from functools import partial
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
from scenes.box import (
    LEFT,
    SURFACES,
    PathReplay,
    make_scene,
    photograph,
    radiance,
    replayed,
)

STEP_SIZE, SHORTER = 0.1, 0.98  # of Adam, and its factor from step to step
MILESTONES = 30, 50, 100  # iterations after which the colours are printed
DARKEST, BRIGHTEST = 0.01, 0.95


def compare_gradients(paths: PathReplay) -> None:
    """Print the difference of the rule and the derived adjoint, and their times."""
    gradients, seconds = [], []
    for light in (replayed, radiance):
        for _ in range(2):  # the first time it is compiled
            paths.albedo.grad.fill(0.0)
            paths.image.grad.fill(1.0)
            started = time.perf_counter()
            paths.render.bwds(paths.image, light, 1, paths.samples)
            gradients.append(paths.albedo.grad.to_numpy())
            seconds.append(time.perf_counter() - started)
    rule, derived = gradients[1], gradients[3]
    print(
        f"the replay and the derived adjoint differ by {np.abs(rule / derived - 1.0).max():.1e}; "
        f"they take {1e3 * seconds[1]:.1f} ms and {1e3 * seconds[3]:.1f} ms"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("path-replay", __doc__, iterations=100, memory=False)
    say = "default: %(default)s"
    for name, default, what in (
        ("--resolution", 96, "pixels of the picture along each axis"),
        ("--samples", 4, "paths of a pixel in an iteration, twice"),
    ):
        parser.add_argument(name, type=positive_int, default=default, help=f"{what}; {say}")
    parser.add_argument(
        "--derived", action="store_true", help="use the derived adjoint instead of the rule"
    )
    options = start(parser, argv)
    scene, light = make_scene(options.resolution), radiance if options.derived else replayed
    target = photograph(scene)
    if options.check:
        paths = PathReplay(scene, options.samples, light, ti.f64)
        paths.target.from_numpy(target)
        return print_check(paths, "albedo", eps=1e-4)

    paths = PathReplay(scene, options.samples, light)
    paths.target.from_numpy(target)
    compare_gradients(paths)

    def misses() -> np.ndarray:
        """Return the largest error of the colour of each surface, shape (5,)."""
        return np.abs(paths.albedo.to_numpy() - scene.albedo).max(axis=1)

    rate = dt.optim.schedules.exponential(STEP_SIZE, SHORTER)
    descent = dt.optim.Adam(paths.parameters, rate, low=DARKEST, high=BRIGHTEST)
    paths.seed = 1 + 2 * options.seed * (options.iterations + 2)
    search = Search(descent, lambda: float(misses()[LEFT]), paths.go_elsewhere)
    fit = fit_pictures(
        paths,
        search,
        options.iterations,
        "finding them",
        picture=paths.look,
        quality=lambda: psnr(paths.look(), target),
        every=10,
        keep="last",
        begin=None if options.no_pictures else partial(draw_strip, options.out, target),
    )
    if fit is None:
        return 130  # interrupted before there was anything to show
    print(fit)
    search.print("the red wall", MILESTONES)
    print(", ".join(f"{k} {off:.3f}" for k, off in zip(SURFACES, misses(), strict=True)), "off")
    if not options.no_pictures:
        draw(options.out, fit, target)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, fit: PictureFit, target: np.ndarray) -> None:
    """Write the pictures."""
    draw_strip(out, target, fit.frames[0], fit.result)
    save_fit_curve(out / "curve.png", fit, "mean product of both pictures' errors")
    save_fit_animation(out / "box.gif", fit, target, linear=True)


def draw_strip(
    out: Path, target: np.ndarray, start: np.ndarray, result: np.ndarray | None = None
) -> None:
    """Draw the picture at the start and in the end beside the target."""
    last = start if result is None else result
    save_fit_strip(out / "strip.png", [("", target, start, last)], linear=True)


if __name__ == "__main__":
    sys.exit(main())
