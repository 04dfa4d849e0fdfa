"""Recover a surface material from noisy measurements of the light that it reflects.

The model, mirroring microfacets over a diffuse base, is a single func. One kernel compares it with
thousands of measurements, another renders a lit ball. Gradients find five numbers.
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
from demos.support.training import print_check
from difftile import ti
from difftile.arguments import positive_int
from scenes.brdf import BrdfFit, make_scene

STEP_SIZE, SHORTER = 0.04, 0.98  # of Adam, and its factor from step to step
SMOOTHEST = 0.02  # roughness: below it a highlight lies between the measurements


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("brdf-fit", __doc__, iterations=200, memory=False)
    parser.add_argument(
        "--samples", type=positive_int, default=4096, help="measurements; default: %(default)s"
    )
    options = start(parser, argv)
    scene = make_scene(options.samples, seed=options.seed)
    if options.check:
        return print_check(BrdfFit(scene, ti.f64), "roughness")

    fitted = BrdfFit(scene)
    fitted.put(scene.material)
    target = fitted.picture()
    fitted.put(scene.guess)
    rate = dt.optim.schedules.exponential(STEP_SIZE, SHORTER)
    descent = dt.optim.Adam(fitted.parameters, rate, low=SMOOTHEST, high=1.0)
    fit = fit_pictures(
        fitted,
        descent,
        options.iterations,
        "finding it",
        picture=fitted.picture,
        quality=lambda: psnr(fitted.picture(), target),
    )
    if fit is None:
        return 130  # interrupted before there was anything to show
    print(fit)
    for name, off in fitted.off(scene.material).items():
        print(f"{name:9} is {off:.5f} off")
    spread = np.sqrt(min(fit.training.losses))
    print(f"measurements are {spread:.4f} off in logarithms; their noise is {scene.noise:.4f}")
    if not options.no_pictures:
        draw(options.out, fit, target)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, fit: PictureFit, target: np.ndarray) -> None:
    """Write the pictures."""
    save_fit_strip(out / "strip.png", [("", target, fit.frames[0], fit.result)], linear=True)
    save_fit_curve(out / "curve.png", fit, "mean square of logarithms")
    save_fit_animation(out / "ball.gif", fit, target, linear=True)


if __name__ == "__main__":
    sys.exit(main())
