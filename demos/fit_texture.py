"""Recover a texture from views of it, near and far, rotated, and between its texels.

A kernel samples the texture over the area that a pixel covers: between four texels on each of two
mipmap levels. The gradient of all views reaches the texels through these levels, which the kernel
does not mention. The views were rendered by the same kernel, so there is a texture that explains
them exactly: a slightly wrong gradient would stop the optimisation early.
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
    to_srgb,
)
from demos.support.images import Panel, save_images
from demos.support.options import make_parser, start
from demos.support.photographs import SAMPLES, PhotographError, read_photograph
from demos.support.training import print_check
from difftile import ti
from difftile.arguments import positive_int
from scenes.texture_views import Views, make_task, make_views

STEP_SIZE, BETAS = 0.05, (0.8, 0.95)
GOALS = {50: 38.6, 100: 58.0, 200: 82.0}  # PSNR that others reached with such a texture [dB]


def fit(views: Views, truth: np.ndarray, iterations: int, memory: str | None) -> PictureFit | None:
    """Move the texels until the views look like their targets."""
    rate = dt.optim.schedules.cosine(STEP_SIZE, iterations)
    return fit_pictures(
        views,
        dt.optim.Adam(views.parameters, rate, betas=BETAS),
        iterations,
        "recovering texels",
        picture=views.texture.data.to_numpy,
        quality=lambda: psnr(views.texture.data.to_numpy(), truth),
        memory=memory,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("fit-texture", __doc__, iterations=200)
    parser.add_argument(
        "photograph",
        nargs="?",
        default=SAMPLES[0],
        help=f"image of the texture: a file, {' or '.join(SAMPLES)}; default: %(default)s",
    )
    say = "default: %(default)s"
    parser.add_argument(
        "--size", type=positive_int, default=64, help=f"texels along each side; {say}"
    )
    parser.add_argument("--views", type=positive_int, default=24, help=f"number of views; {say}")
    options = start(parser, argv)
    size = min(options.size, 16) if options.check else options.size
    try:
        photograph = read_photograph(options.photograph, size)
    except PhotographError as error:
        parser.error(str(error))
    truth = dt.Texture(
        photograph, srgb=True
    ).data.to_numpy()  # linear light, of which means are taken
    scene = make_views(options.views, size, size, options.seed)
    if options.check:
        return print_check(make_task(scene, truth, ti.f64), "texels")

    views = make_task(scene, truth)
    result = fit(views, truth, options.iterations, options.memory)
    if result is None:
        return 130  # interrupted before there was anything to show
    print(f"{options.views} views of {size} x {size} texels")
    print(result)
    if not options.no_pictures:
        draw(options.out, views, result, truth)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, views: Views, result: PictureFit, truth: np.ndarray) -> None:
    """Write the pictures."""
    start, seen = np.full_like(truth, 0.5), views.targets.to_numpy()
    row = ("texture", truth, start, result.result)
    save_fit_strip(out / "strip.png", [row], linear=True)
    label = "mean square that views are off"
    save_fit_curve(out / "curve.png", result, label, GOALS if truth.shape[0] == 64 else None)
    save_fit_animation(out / "texture.gif", result, truth, linear=True)
    panels = [Panel("", to_srgb(image)) for image in seen[:12]]
    rows = [("", panels[first : first + 6]) for first in range(0, len(panels), 6)]
    save_images(out / "views.png", rows)


if __name__ == "__main__":
    sys.exit(main())
