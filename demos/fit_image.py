"""A photograph is painted with gaussians: their places, shapes and colours are found.

With `--model sum` the colours of gaussians add up (GaussianImage, Zhang and others, 2024), and may
be negative; with `--model alpha` they lie over each other, the first in front. The derivative of
both is a rule that walks the pixels again and keeps nothing. From time to time those gaussians that
do least are moved to where the picture is most off.
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
from demos.support.photographs import SAMPLES, PhotographError, read_photograph
from demos.support.training import print_check
from difftile.arguments import positive_int

MODELS = ("sum", "alpha")
SMALLEST = 8  # pixels a side
RATES = {"means": 0.3, "factors": 0.15, "colours": 0.05, "opacities": 0.1}
BETAS = (0.9, 0.95)  # gradients are exact, so that a short memory of their size is enough
FLAT = 0.1  # of the gaussians are spread evenly at first, the others where brightness changes
WIDTH = 0.6  # of a gaussian at first, in distances to the next one
EVERY, MOVED, UNTIL = 20, 0.02, 0.7  # iterations between moves, how many move, and for how long
# What a program with Dr.Jit or PyTorch reached by the sum model [dB].
GOALS = {
    ("chelsea", 128, 500): {200: 28.9, 500: 31.0, 1000: 32.3},
    ("astronaut", 256, 2000): {500: 30.2, 1000: 32.0},
    ("astronaut", 256, 5000): {500: 35.6, 1000: 37.5},
}


@dt.func
def opacity(logit):
    """Any number becomes one between 0 and 1."""
    return dt.sigmoid(logit)


class Painting:
    """Gaussians and the image that they make.

    Args:
        photograph: What they should look like, shape (size, size, 3).
        n: Number of gaussians.
        model: One of `MODELS`.
        random: Where they are at first.
        dtype: Of the numbers.
    """

    def __init__(
        self, photograph: np.ndarray, n: int, model: str, random: np.random.Generator, dtype=ti.f32
    ):
        self.photograph, self.random = photograph, random
        self.size = len(photograph)
        pixels, near = self.scatter(n)
        widths = np.clip(WIDTH * near, 0.5, self.size / 8)
        colours = photograph.reshape(-1, 3)[pixels]
        if model == "sum":
            colours = colours / (2.0 * np.pi * WIDTH**2)  # as many lie on each other

        def field(values: np.ndarray) -> dt.Field:
            element = dt.vec(values.shape[1], dtype) if values.ndim > 1 else dtype
            return dt.from_numpy(values, dtype=element, grad=True)

        self.means = field(self.points(pixels))
        self.factors = field(np.stack([widths, 0.0 * widths, widths], axis=1))
        self.colours = field(colours)
        self.parameters = {"means": self.means, "factors": self.factors, "colours": self.colours}
        self.target = dt.from_numpy(photograph, dtype=dt.vec(3, dtype))
        self.loss = dt.zeros((), dtype, grad=True)
        self.splats = None
        if model == "alpha":
            self.splats = dt.render.AlphaSplats(self.size, self.size, dtype=dtype)
            self.parameters["opacities"] = self.logits = field(np.zeros(n))
            self.image = self.splats.image
        else:
            self.image = dt.zeros((self.size, self.size), dt.vec(3, dtype), grad=True)

    def scatter(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw n pixels, and return their indices and how far apart they are there [pixels]."""
        steep = np.hypot(*np.gradient(self.photograph.mean(axis=2))).ravel() + 1e-6
        chance = (1.0 - FLAT) * steep / steep.sum() + FLAT / steep.size
        pixels = self.random.choice(steep.size, n, p=chance)
        return pixels, 1.0 / np.sqrt(n * chance[pixels])

    def points(self, pixels: np.ndarray) -> np.ndarray:
        """Return a point in each of these pixels, shape (n, 2)."""
        rows, columns = np.divmod(pixels, self.size)
        return np.stack([columns, rows], axis=1) + self.random.uniform(0.0, 1.0, (len(pixels), 2))

    def run(self) -> None:
        """Paint, and measure the mean square that it is off."""
        if self.splats is None:
            dt.render.sum_splats(self.means, self.factors, self.colours, self.image)
        else:
            self.splats(self.means, self.factors, opacity(self.logits), self.colours)
        self.loss.fill(0.0)
        dt.render.l2(self.image, self.target, self.loss)

    def move(self, n: int) -> None:
        """Take the n gaussians that do least to where the image is most off."""
        values = {name: field.to_numpy() for name, field in self.parameters.items()}
        strength = np.square(values["colours"]).sum(axis=1)
        if "opacities" in values:
            strength = 1.0 / (1.0 + np.exp(-values["opacities"]))
        least = np.argsort(strength * np.abs(np.prod(values["factors"][:, ::2], axis=1)))[:n]
        off = (self.photograph - self.image.to_numpy()).reshape(-1, 3)
        square = np.square(off).sum(axis=1) + 1e-12
        pixels = self.random.choice(len(off), n, p=square / square.sum())
        values["means"][least] = self.points(pixels)
        values["factors"][least] = (1.0, 0.0, 1.0)
        if "opacities" in values:
            values["opacities"][least] = 0.0
            values["colours"][least] = self.photograph.reshape(-1, 3)[pixels]
        else:
            values["colours"][least] = 0.5 * off[pixels]
        for name, array in values.items():
            self.parameters[name].from_numpy(array)


class Painter:
    """Adam, and the moves from time to time."""

    def __init__(self, painting: Painting, iterations: int):
        rates = {
            name: dt.optim.schedules.cosine(RATES[name], iterations, 0.1 * RATES[name])
            for name in painting.parameters
        }
        self.adam = dt.optim.Adam(painting.parameters, lr=rates, betas=BETAS, eps=1e-15)
        self.painting, self.iterations, self.done = painting, iterations, 0

    def step(self) -> None:
        self.adam.step()
        self.done += 1
        if self.done % EVERY == 0 and self.done <= UNTIL * self.iterations:
            n = self.painting.means.shape[0]
            self.painting.move(int(MOVED * n))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("fit-image", __doc__, iterations=1000, memory=False)
    say = "default: %(default)s"
    parser.add_argument(
        "photo",
        nargs="?",
        default=SAMPLES[0],
        help=f"an image file, or {' or '.join(SAMPLES)} of scikit-image; {say}",
    )
    parser.add_argument("--gaussians", type=positive_int, default=2000, help=f"how many; {say}")
    parser.add_argument("--size", type=positive_int, default=256, help=f"pixels a side; {say}")
    parser.add_argument("--model", choices=MODELS, default=MODELS[0], help=f"{say}")
    options = start(parser, argv)
    if options.size < SMALLEST:
        parser.error(f"argument --size: expected at least {SMALLEST}, not {options.size}")
    try:
        photograph = read_photograph(options.photo, options.size)
    except PhotographError as error:
        parser.error(str(error))
    random = np.random.default_rng(options.seed)
    if options.check:
        few = Painting(photograph, min(options.gaussians, 50), options.model, random, ti.f64)
        return print_check(few, "means")

    painting = Painting(photograph, options.gaussians, options.model, random)
    fit = fit_pictures(
        painting,
        Painter(painting, options.iterations),
        options.iterations,
        "painting",
        picture=painting.image.to_numpy,
        quality=lambda: float(-10.0 * np.log10(painting.loss[None])),
    )
    if fit is None:
        return 130  # interrupted before there was anything to show
    print(fit)
    reached = psnr(fit.result, photograph)
    print(f"{options.gaussians} gaussians show the photograph to {reached:.2f} dB")
    if not options.no_pictures:
        goals = GOALS.get((options.photo, options.size, options.gaussians))
        draw(options.out, photograph, fit, goals if options.model == "sum" else None)
        print(f"pictures in {options.out}")
    return 0


def draw(
    out: Path, photograph: np.ndarray, fit: PictureFit, goals: dict[int, float] | None
) -> None:
    """Write the pictures."""
    save_fit_strip(out / "strip.png", [("", photograph, fit.frames[0], fit.result)])
    save_fit_curve(out / "curve.png", fit, "mean square off the photograph", goals)
    save_fit_animation(out / "fit.gif", fit, photograph)


if __name__ == "__main__":
    sys.exit(main())
