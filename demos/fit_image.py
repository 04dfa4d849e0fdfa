"""Paint a photograph with Gaussians, by optimising their positions, shapes and colours.

With `--model sum` the colours of the Gaussians add up (GaussianImage, Zhang and others, 2024) and
may be negative; with `--model alpha` they cover each other, the first in front. The derivative of
both is a rule that visits the pixels again and stores nothing. From time to time the Gaussians that
contribute least are moved to the places with the largest error. With `--view window` you can watch
the picture appear, and paint regions that should count more.
"""

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.brush import Brush
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
from demos.support.training import print_check, read, write
from demos.support.viewing import add_view_options, is_viewed, make_app, show
from difftile import ti
from difftile.arguments import positive_int
from scenes.painting import WIDTH, Painting

MODELS = ("sum", "alpha")
SMALLEST = 8  # pixels a side
RATES = {"means": 0.3, "factors": 0.15, "colours": 0.05, "opacities": 0.1}
BETAS = (0.9, 0.95)  # gradients are exact, so that a short memory of their size is enough
EVERY, MOVED, UNTIL = 20, 0.02, 0.7  # iterations between moves, how many move, and for how long
VIEW = -0.03, -0.13, 1.36, 1.09  # left, bottom, right, top; the painting is in the unit square
EASEL = 0.0, 0.0, 1.0, 1.0
THUMBNAIL = 0.28  # the side of the small pictures next to it
PLOT_EVERY = 5  # steps
UNPAINTED = 0.05  # the weight of an unpainted pixel; painted ones have weight 1
MOST_OFF = 0.25  # the error with the brightest colour
VIOLET = 0.7, 0.35, 1.0
PAINT = "Paint with the left button where the picture should count more: gaussians go there."
SHOWN = {
    "picture": (
        "as they look together",
        "g: the gradient. The loss falls as red pixels darken, and as blue ones brighten.",
    ),
    "gaussians": (
        "as ellipses (violet takes light away)",
        "g: the gradient of each place. The loss falls the other way than its arrow points.",
    ),
    "error": ("how far off they are", "Both others have gradients to show (g)."),
}
# PSNR of programs with Dr.Jit or PyTorch for the sum model [dB].
GOALS = {
    ("chelsea", 128, 500): {200: 28.9, 500: 31.0, 1000: 32.3},
    ("astronaut", 256, 2000): {500: 30.2, 1000: 32.0},
    ("astronaut", 256, 5000): {500: 35.6, 1000: 37.5},
}


class Painter:
    """Adam, and moves from time to time.

    Args:
        painting: The painting to optimise.
        rates: Learning rates, or schedules of them, by the names of the parameters.
        until: The number of iterations with moves.
    """

    def __init__(
        self,
        painting: Painting,
        rates: Mapping[str, float | Callable[[int], float]],
        until: float = math.inf,
    ):
        self.adam = dt.optim.Adam(painting.parameters, lr=rates, betas=BETAS, eps=1e-15)
        self.painting, self.until, self.done = painting, until, 0

    def step(self) -> None:
        self.adam.step()
        self.done += 1
        if self.done % EVERY == 0 and self.done <= self.until:
            n = self.painting.means.shape[0]
            self.painting.move(int(MOVED * n))


def schedules(painting: Painting, iterations: int) -> dict[str, Callable[[int], float]]:
    """Return rates that fall to a tenth over a number of iterations."""
    cosine = dt.optim.schedules.cosine
    return {k: cosine(RATES[k], iterations, 0.1 * RATES[k]) for k in painting.parameters}


def view(painting: Painting, options: argparse.Namespace) -> dt.viewer.App:
    """Return an app that shows the painting, and in which one marks regions that count more."""
    app = make_app("fit-image", options, VIEW, speed=1.0)  # all is over in seconds otherwise
    brush = Brush(painting.size, UNPAINTED)
    painting.weights = brush.weights
    shown = app.choice("show", [*SHOWN])
    radius = app.slider("brush: radius", min=0.02, max=0.3, value=0.08)
    erase = app.checkbox("brush: erase")
    app.button("clear the paint", brush.clear)
    app.key("e", "brush: paint or erase", lambda: setattr(erase, "value", not erase.value))
    pace = app.slider("learning rate", min=0.05, max=4.0, log=True, value=1.0)
    rates = {name: lambda _, rate=RATES[name]: pace.value * rate for name in painting.parameters}
    painter = Painter(painting, rates)
    first, untrained = read(painting), painter.adam.state_dict()
    ellipses = Ellipses(painting)
    photograph = painting.photograph.astype(np.float32)
    exact = (255.0 * photograph + 0.5).astype(np.uint8)
    before: tuple[float, float] | None = None
    app.plot("PSNR [dB]")

    @app.step
    def improve() -> None:
        with dt.Tape(painting.loss):
            painting.run()
        painter.step()
        if app.steps % PLOT_EVERY == 0:
            app.plot("PSNR [dB]", psnr(painting.image.to_numpy(), photograph))
            if brush.used:
                app.plot("weighted PSNR [dB]", -10.0 * np.log10(painting.loss[None]))

    @app.draw
    def draw_painting() -> None:
        nonlocal before
        at = app.mouse.at if app.mouse.down else None
        if at is not None:
            brush.stroke(before or at, at, radius.value, erase=erase.value)
        before = at
        # Not mean(axis=2), which takes four times as long.
        off = np.einsum("hwc->hw", np.abs(painting.image.to_numpy() - photograph)) / 3.0
        if shown.value == "picture":
            # A run overwrites the image and leaves no gradient there, as g shows.
            dt.zero_grads([painting.image, painting.loss])
            with dt.Tape(painting.loss, accumulate=True):
                painting.measure()
            app.image(painting.image, box=EASEL)
        elif shown.value == "gaussians":
            ellipses.draw(app)
        else:
            app.image(off, low=0.0, high=MOST_OFF, colours="magma", box=EASEL)
        thumbnails = (
            ("photograph", exact, {}),
            ("how far off", off, {"low": 0.0, "high": MOST_OFF, "colours": "magma"}),
            ("how much it counts", brush.weights, {"low": 0.0, "high": 1.0, "colours": "cividis"}),
        )
        for k, (name, values, look) in enumerate(thumbnails):
            top = 1.0 - k * (1.0 - THUMBNAIL) / 2
            app.text((1.04, top + 0.035), name, colour="#98a2ae", size=12.0)
            app.image(values, box=(1.04, top - THUMBNAIL, 1.04 + THUMBNAIL, top), **look)
        if app.mouse.at is not None and max(map(abs, np.subtract(app.mouse.at, 0.5))) < 0.5:
            app.circles([app.mouse.at], radius.value, colour="#f2a65a", outline=1.5)
        title, words = SHOWN[shown.value]
        n = painting.means.shape[0]
        app.text((0.0, 1.045), f"{n} gaussians after {app.steps} steps, {title}")
        app.text((0.0, -0.02), f"{PAINT}\n{words}", colour="#98a2ae", size=12.0)

    @app.reset
    def forget() -> None:
        write(painting, first)
        painter.adam.load_state_dict(untrained)
        painter.done = 0
        brush.clear()
        painting.run()

    painting.run()
    return app


class Ellipses:
    """Gaussians as ellipses of one standard deviation, and their centres with gradients."""

    def __init__(self, painting: Painting):
        self.painting = painting
        self.centres = dt.zeros(painting.means.shape, dt.vec(2, ti.f32), grad=True)
        angle = np.linspace(0.0, 2.0 * np.pi, 13)
        self.circle = np.stack([np.cos(angle), np.sin(angle)])
        # As many as lie on each other at first add up to a colour.
        self.share = 1.0 if painting.splats else 1.0 / (2.0 * np.pi * WIDTH**2)

    def draw(self, app: dt.viewer.App) -> None:
        """Draw them in the unit square with y up."""
        painting = self.painting
        flip = np.array([1.0, -1.0]) / painting.size
        centres = painting.means.to_numpy() * flip + np.array([0.0, 1.0])
        self.centres.from_numpy(centres)
        self.centres.grad.from_numpy(painting.means.grad.to_numpy() / flip)
        a, b, c = painting.factors.to_numpy().T
        x = a[:, None] * self.circle[0]
        y = b[:, None] * self.circle[0] + c[:, None] * self.circle[1]
        rings = centres[:, None] + np.stack([x, y], axis=2) * flip
        colours = painting.colours.to_numpy() / self.share
        colours[colours.sum(axis=1) < 0.0] = VIOLET
        colours = np.clip(colours, 0.0, 1.0)
        begins, ends = (rings[:, part].reshape(-1, 2) for part in (slice(-1), slice(1, None)))
        each = colours.repeat(len(self.circle[0]) - 1, axis=0)
        app.lines(begins, ends, colour=each, width=1.0)
        app.points(self.centres, colour=colours, radius=1.5)


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
    parser.add_argument(
        "--gaussians", type=positive_int, default=2000, help=f"number of them; {say}"
    )
    parser.add_argument("--size", type=positive_int, default=256, help=f"pixels per side; {say}")
    parser.add_argument("--model", choices=MODELS, default=MODELS[0], help=f"{say}")
    add_view_options(parser)
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
    if is_viewed(options):
        return show(view(painting, options), options)
    rates = schedules(painting, options.iterations)
    fit = fit_pictures(
        painting,
        Painter(painting, rates, until=UNTIL * options.iterations),
        options.iterations,
        "painting",
        picture=painting.image.to_numpy,
        quality=lambda: float(-10.0 * np.log10(painting.loss[None])),
    )
    if fit is None:
        return 130  # interrupted before there was anything to show
    print(fit)
    reached = psnr(fit.result, photograph)
    print(f"{options.gaussians} Gaussians show the photograph to {reached:.2f} dB")
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
