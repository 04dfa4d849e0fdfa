"""Reconstruct a knotted tube as Gaussians in space, from sixteen pictures of it.

At first only points near the tube are known. Each becomes a round, grey Gaussian; the gradient of
all pictures at once then fits positions, shapes, rotations, opacities and colours (3D Gaussian
Splatting, Kerbl and others, 2023). Pictures from four other viewpoints, which are never learnt
from, measure the quality of the reconstruction. With `--view window` you can watch from any side
while it learns.
"""

import argparse
import itertools
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.fits import (
    PictureFit,
    fit_pictures,
    psnr,
    save_fit_curve,
    save_fit_strip,
)
from demos.support.images import Panel, save_images_animation
from demos.support.options import make_parser, start
from demos.support.splat_view import MODES, WORDS, SplatView, frusta, nearest
from demos.support.training import print_check, read, write
from demos.support.viewing import add_view_options, is_viewed, make_app, show
from difftile import ti
from difftile.arguments import positive_int
from scenes.torus_knot import (
    DISTANCE,
    HARMONIC,
    Reconstruction,
    TorusKnot,
    look_from,
    make_knot,
    make_scene,
    make_splatter,
    see,
    turn,
)

RATES = {"means": 0.01, "scales": 0.03, "quaternions": 0.02, "opacities": 0.1, "sh0": 0.05}
BETAS = (0.9, 0.95)
FRAMES = 48  # of the animation, once around the knot
LEARNT, HELD_OUT = "#4db6ac", "#f2a65a"  # the colours of their cameras
PALE = "#98a2ae"
MIDDLE = (0.0, 0.0, 0.0)
AFAR = {"distance": 8.0, "yaw": 0.6, "pitch": 0.5}
TURN = "Drag to turn, right button to move, wheel to zoom.   h: all keys"
SHARE = 0.2  # largest fraction of time spent on pictures of the Gaussians
MEASURE_EVERY = 10  # steps, with a viewer
INSETS = (  # left, bottom, right and top of the pictures in the corner, and their titles
    ((0.02, 0.06, 0.27, 0.2475), "a picture to learn from"),
    ((0.30, 0.06, 0.55, 0.2475), "rendered there"),
)
# PSNR of a program with another library in the held-out pictures [dB].
GOALS = {50: 28.1, 100: 33.7, 200: 36.1, 300: 38.4}


def view(
    reconstruction: Reconstruction, scene: TorusKnot, options: argparse.Namespace
) -> dt.viewer.App:
    """Return an app that shows Gaussians from any side while they learn."""
    app = make_app("fit-splats", options, (0.0, 0.0, 1.125, 1.0))
    gaussians, cameras = reconstruction.gaussians, reconstruction.cameras
    exact = options.view == "none" or options.record is not None
    seen = app.backdrop(SplatView(gaussians, None if exact else SHARE))
    app.choice("show", MODES, (seen, "mode"))
    app.slider("size of ellipsoids [std]", (seen, "level"), min=0.5, max=3.0)
    eyes = app.checkbox("cameras", value=True)
    pace = app.slider("learning rate", min=0.05, max=4.0, log=True, value=1.0)
    rates = {name: lambda _, rate=rate: pace.value * rate for name, rate in RATES.items()}
    adam = dt.optim.Adam(gaussians, lr=rates, betas=BETAS, eps=1e-15)
    first, untrained = read(reconstruction), adam.state_dict()
    held_out = HeldOut(scene)
    learnt, others = frusta(cameras, 0.5), frusta(held_out.cameras, 0.5)
    pictures = reconstruction.target.to_numpy()
    visits = itertools.cycle(range(len(scene.eyes)))

    def visit() -> None:
        x, y, z = scene.eyes[next(visits)] / DISTANCE
        app.look(at=MIDDLE, distance=DISTANCE, yaw=np.arctan2(x, -y), pitch=np.arcsin(z))

    def leave() -> None:
        app.look(at=MIDDLE, up=(0.0, 0.0, 1.0), **AFAR)

    app.button("look through the next camera", visit)
    app.button("look from afar", leave)
    app.key("c", "look through the next camera", visit)
    app.plot("PSNR, held out [dB]")
    leave()

    @app.step
    def improve() -> None:
        with dt.Tape(reconstruction.loss):
            reconstruction.run()
        adam.step()
        seen.version += 1
        if app.steps % MEASURE_EVERY == 0:
            app.plot("PSNR, held out [dB]", held_out.quality(gaussians))

    @app.draw
    def draw_knot() -> None:
        k = nearest(scene.eyes, app.orbit.eye())
        if eyes.value:
            for edges, colour, width in (
                (learnt, LEARNT, 1.0),
                (others, HELD_OUT, 1.0),
                (learnt[k], "white", 2.0),
            ):
                ends = edges.reshape(-1, 2, 3)
                app.lines(ends[:, 0], ends[:, 1], colour=colour, width=width)
        if seen.mode == "centres":
            colours = np.clip(0.5 + HARMONIC * gaussians.sh0.to_numpy(), 0.0, 1.0)
            app.points(gaussians.means, colour=colours, radius=3.0)
        shown = (pictures[k], reconstruction.seen.image.to_numpy()[k])
        for (box, name), picture in zip(INSETS, shown, strict=True):
            app.image(picture, box=box)
            app.text((box[0] + 0.006, box[3] - 0.004), name, size=12.0)
        words = f"{len(gaussians)} gaussians learn from {len(pictures)} pictures of a knot"
        words += f", step {app.steps}: {WORDS[seen.mode]}"
        app.text((0.02, 0.985), words)
        app.text((0.02, 0.955), TURN, colour=PALE, size=12.0)
        if eyes.value:
            app.text((0.02, 0.03), "cameras: learnt from", colour=LEARNT, size=12.0)
            app.text((0.235, 0.03), "held out", colour=HELD_OUT, size=12.0)
            app.text((0.33, 0.03), "nearest to you", colour="white", size=12.0)

    @app.reset
    def forget() -> None:
        write(reconstruction, first)
        adam.load_state_dict(untrained)
        reconstruction.run()
        seen.version += 1

    reconstruction.run()
    return app


class HeldOut:
    """The cameras whose pictures are held out, and those pictures."""

    def __init__(self, scene: TorusKnot):
        self.cameras, self._splatter = look_from(scene.held_out), make_splatter()
        self._drawn = self._splatter(make_knot(scene), self.cameras)
        self.target = self._drawn.image.to_numpy()

    def look(self, gaussians: dt.Rows) -> np.ndarray:
        """Return pictures of the Gaussians from there, shape (views, rows, columns, 3)."""
        with dt.no_grad():
            self._splatter(gaussians, self.cameras, self._drawn)
        return self._drawn.image.to_numpy()

    def quality(self, gaussians: dt.Rows) -> float:
        """Return the PSNR of that [dB]."""
        return psnr(self.look(gaussians), self.target)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("fit-splats", __doc__, iterations=300, memory=False)
    say = "default: %(default)s"
    parser.add_argument(
        "--gaussians", type=positive_int, default=400, help=f"number of them; {say}"
    )
    parser.add_argument(
        "--views", type=positive_int, default=16, help=f"pictures to learn from; {say}"
    )
    add_view_options(parser)
    options = start(parser, argv)
    if options.check:
        return print_check(Reconstruction(make_scene(20, 2), ti.f64), "means", eps=1e-6)

    scene = make_scene(options.gaussians, options.views, seed=options.seed)
    reconstruction = Reconstruction(scene)
    if is_viewed(options):
        return show(view(reconstruction, scene, options), options)
    held_out = HeldOut(scene)
    cosine = dt.optim.schedules.cosine
    rates = {k: cosine(rate, options.iterations, 0.1 * rate) for k, rate in RATES.items()}
    fit = fit_pictures(
        reconstruction,
        dt.optim.Adam(reconstruction.gaussians, lr=rates, betas=BETAS, eps=1e-15),
        options.iterations,
        "reconstructing",
        picture=lambda: held_out.look(reconstruction.gaussians),
        quality=lambda: held_out.quality(reconstruction.gaussians),
        every=10,
        begin=None if options.no_pictures else partial(draw_held_out, options.out, held_out.target),
    )
    if fit is None:
        return 130  # interrupted before there was anything to show
    print(fit)
    target = held_out.target
    print(f"{len(target)} held-out pictures reach {psnr(fit.result, target):.2f} dB")
    if not options.no_pictures:
        draw(options.out, fit, target, scene, reconstruction.gaussians)
        print(f"pictures and knot.ply in {options.out}")
    return 0


def draw(out: Path, fit: PictureFit, target: np.ndarray, scene: TorusKnot, found: dt.Rows) -> None:
    """Write the pictures, and the gaussians as a file."""
    draw_held_out(out, target, fit.frames[0], fit.result)
    save_fit_curve(out / "curve.png", fit, "mean square off the pictures", GOALS)
    around = turn(FRAMES)
    clouds = {"found": found, "the knot": make_knot(scene)}
    panels = [Panel(name, np.clip(see(rows, around), 0.0, 1.0)) for name, rows in clouds.items()]
    save_images_animation(out / "turn.gif", panels)
    arrays = {name: field.to_numpy() for name, field in found.items()}
    splats = dt.datasets.Splats(**arrays, shN=np.zeros((len(found), 0, 3)))
    dt.datasets.write_splats(out / "knot.ply", splats)


def draw_held_out(
    out: Path, target: np.ndarray, start: np.ndarray, result: np.ndarray | None = None
) -> None:
    """Draw the held-out pictures beside those of the gaussians, at the start and in the end."""
    rows = zip(target, start, start if result is None else result, strict=True)
    strip = [(f"held out {k + 1}", *row) for k, row in enumerate(rows)]
    save_fit_strip(out / "strip.png", strip)


if __name__ == "__main__":
    sys.exit(main())
