"""A knotted tube is found as gaussians in space, from sixteen pictures of it.

What is known at first are points near the tube. Each becomes a round, grey gaussian; found are the
places, shapes, turns, opacities and colours with which the pictures come out right, by the gradient
of all pictures at once (3D Gaussian Splatting, Kerbl and others, 2023). Pictures from four other
places say whether it is the knot that was found. They are never learnt from.
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
    save_fit_curve,
    save_fit_strip,
)
from demos.support.images import Panel, save_images_animation
from demos.support.options import make_parser, start
from demos.support.training import print_check
from difftile.arguments import positive_int
from scenes.torus_knot import ANGLE, TorusKnot, make_scene, turn

WIDTH, HEIGHT = 80, 60  # of a picture [pixels]
RATES = {"means": 0.01, "scales": 0.03, "quaternions": 0.02, "opacities": 0.1, "sh0": 0.05}
BETAS = (0.9, 0.95)
HARMONIC = 0.28209479177387814  # the constant one: colour = 0.5 + HARMONIC sh0
OPAQUE = 4.0  # the logit of the opacity of the knot's discs
SIZE = 0.12  # standard deviation of the gaussians at first [scene units]
FRAMES = 48  # of the animation, once around the knot
# What a program with another library reached in the pictures that are held out [dB].
GOALS = {50: 28.1, 100: 33.7, 200: 36.1, 300: 38.4}


def look_from(eyes: np.ndarray, dtype=ti.f32) -> dt.render.Cameras:
    """Return cameras at these places that look at the knot."""
    up = (0.0, 0.0, 1.0)
    return dt.render.Cameras.look_at(
        eyes, (0.0, 0.0, 0.0), WIDTH, HEIGHT, fov=ANGLE, up=up, dtype=dtype
    )


def make_splatter() -> dt.render.Splatter:
    return dt.render.Splatter(WIDTH, HEIGHT, sh_degree=0, depth=False)


def see(gaussians: dt.Rows, eyes: np.ndarray) -> np.ndarray:
    """Return pictures of gaussians, shape (views, rows, columns, 3)."""
    return make_splatter()(gaussians, look_from(eyes)).image.to_numpy()


def make_knot(scene: TorusKnot, dtype=ti.f32) -> dt.Rows:
    """Return the gaussians that are to be found, or others that look the same."""
    return dt.render.make_gaussians(
        means=scene.means,
        scales=np.log(scene.widths),
        quaternions=scene.quaternions,
        opacities=np.full(len(scene.means), OPAQUE),
        sh0=(scene.colours - 0.5) / HARMONIC,
        dtype=dtype,
        grad=False,
    )


class Reconstruction:
    """Gaussians, the cameras that see them, and how far what they see is off the pictures."""

    def __init__(self, scene: TorusKnot, dtype=ti.f32):
        n = len(scene.points)
        self.gaussians = dt.render.make_gaussians(
            means=scene.points,
            scales=np.full((n, 3), np.log(SIZE)),
            quaternions=np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)),
            opacities=np.zeros(n),
            sh0=np.zeros((n, 3)),
            dtype=dtype,
        )
        self.parameters = dict(self.gaussians)
        self.cameras = look_from(scene.eyes, dtype)
        self.splatter = make_splatter()
        self.seen = self.splatter(make_knot(scene, dtype), self.cameras)
        self.target = dt.from_numpy(self.seen.image.to_numpy(), dtype=dt.vec(3, dtype))
        self.loss = dt.zeros((), dtype, grad=True)

    def run(self) -> None:
        """Draw all pictures, and measure the mean square that they are off."""
        self.splatter(self.gaussians, self.cameras, self.seen)
        self.loss.fill(0.0)
        dt.render.l2(self.seen.image, self.target, self.loss)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("fit-splats", __doc__, iterations=300, memory=False)
    say = "default: %(default)s"
    parser.add_argument("--gaussians", type=positive_int, default=400, help=f"how many; {say}")
    parser.add_argument(
        "--views", type=positive_int, default=16, help=f"pictures to learn from; {say}"
    )
    options = start(parser, argv)
    if options.check:
        return print_check(Reconstruction(make_scene(20, 2), ti.f64), "means", eps=1e-6)

    scene = make_scene(options.gaussians, options.views, seed=options.seed)
    reconstruction = Reconstruction(scene)
    cameras, splatter = look_from(scene.held_out), make_splatter()
    drawn = splatter(make_knot(scene), cameras)
    target = drawn.image.to_numpy()

    def look() -> np.ndarray:
        with dt.no_grad():
            splatter(reconstruction.gaussians, cameras, drawn)
        return drawn.image.to_numpy()

    cosine = dt.optim.schedules.cosine
    rates = {k: cosine(rate, options.iterations, 0.1 * rate) for k, rate in RATES.items()}
    fit = fit_pictures(
        reconstruction,
        dt.optim.Adam(reconstruction.gaussians, lr=rates, betas=BETAS, eps=1e-15),
        options.iterations,
        "reconstructing",
        picture=look,
        quality=lambda: psnr(look(), target),
        every=10,
    )
    if fit is None:
        return 130  # interrupted before there was anything to show
    print(fit)
    print(f"{len(target)} pictures from elsewhere come out to {psnr(fit.result, target):.2f} dB")
    if not options.no_pictures:
        draw(options.out, fit, target, scene, reconstruction.gaussians)
        print(f"pictures and knot.ply in {options.out}")
    return 0


def draw(out: Path, fit: PictureFit, target: np.ndarray, scene: TorusKnot, found: dt.Rows) -> None:
    """Write the pictures, and the gaussians as a file."""
    rows = zip(target, fit.frames[0], fit.result, strict=True)
    strip = [(f"held out {k + 1}", *row) for k, row in enumerate(rows)]
    save_fit_strip(out / "strip.png", strip)
    save_fit_curve(out / "curve.png", fit, "mean square off the pictures", GOALS)
    around = turn(FRAMES)
    clouds = {"found": found, "the knot": make_knot(scene)}
    panels = [Panel(name, np.clip(see(rows, around), 0.0, 1.0)) for name, rows in clouds.items()]
    save_images_animation(out / "turn.gif", panels)
    arrays = {name: field.to_numpy() for name, field in found.items()}
    splats = dt.datasets.Splats(**arrays, shN=np.zeros((len(found), 0, 3)))
    dt.datasets.write_splats(out / "knot.ply", splats)


if __name__ == "__main__":
    sys.exit(main())
