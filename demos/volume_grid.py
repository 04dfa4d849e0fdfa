"""Reconstruct a glowing cloud from twelve pictures, and render it from new viewpoints.

Along a ray the cloud emits light and absorbs the light from farther away. The loop ends where the
ray leaves the cube, or where no light is left, which depends on the cloud. Its adjoint needs the
light that was left at each sample: `difftile` runs stretches of the loop again for it, and stores a
few numbers per ray instead of all of them. The cloud is a `dt.Texture` in three dimensions.
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
    save_fit_curve,
    save_fit_strip,
)
from demos.support.images import Panel, save_images_animation
from demos.support.options import make_parser, start
from demos.support.training import print_check
from difftile import ti
from difftile.arguments import positive_int
from scenes.glow import (
    GlowScene,
    VolumeGrid,
    around,
    make_guess,
    make_scene,
    photograph,
    spread_out,
)

STEP_SIZE, SHORTER = 0.06, 0.99  # of Adam, and its factor from step to step
HELD_OUT, TURN = 6, 1.0  # held-out pictures, and the rotation of their cameras [rad]
FRAMES = 48  # of the animation, once around the cloud


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("volume-grid", __doc__, iterations=100, memory=False)
    say = "default: %(default)s"
    for name, default, what in (
        ("--size", 32, "texels of the cloud along each axis"),
        ("--resolution", 64, "pixels of a picture along each axis"),
        ("--views", 12, "pictures"),
    ):
        parser.add_argument(name, type=positive_int, default=default, help=f"{what}; {say}")
    options = start(parser, argv)
    scene = make_scene(options.size, options.resolution, options.views)
    if options.check:
        grid = VolumeGrid(scene, make_guess(scene, ti.f64), dtype=ti.f64)
        grid.target.from_numpy(photograph(scene, ti.f64))
        return print_check(grid, "cloud", eps=1e-4)

    cloud = make_guess(scene)
    grid = VolumeGrid(scene, cloud)
    grid.target.from_numpy(photograph(scene))
    elsewhere = scene.seen_from(spread_out(HELD_OUT, TURN))
    seen, unseen = VolumeGrid(elsewhere, cloud), photograph(elsewhere)

    def see() -> np.ndarray:
        """Render the held-out cameras."""
        seen.render()
        return seen.image.to_numpy()

    rate = dt.optim.schedules.exponential(STEP_SIZE, SHORTER)
    descent = dt.optim.Adam(grid.parameters, rate, low=0.0, high=1.0)
    fit = fit_pictures(
        grid,
        descent,
        options.iterations,
        "finding it",
        picture=see,
        quality=lambda: psnr(see(), unseen),
        every=5,
    )
    if fit is None:
        return 130  # interrupted before there was anything to show
    given = psnr(grid.image.to_numpy(), grid.target.to_numpy())
    print(f"{fit} (of held-out pictures)")
    print(f"training pictures: {given:.2f} dB")
    if not options.no_pictures:
        draw(options.out, scene, cloud, fit, unseen)
        print(f"pictures in {options.out}")
    return 0


def draw(
    out: Path, scene: GlowScene, cloud: dt.Texture, fit: PictureFit, unseen: np.ndarray
) -> None:
    """Write the pictures."""
    shown = zip(unseen[:3], fit.frames[0], fit.result, strict=False)
    rows = [(f"held out, {k}", *pictures) for k, pictures in enumerate(shown)]
    save_fit_strip(out / "strip.png", rows)
    save_fit_curve(out / "curve.png", fit, "mean square off the pictures")
    circle = scene.seen_from(around(FRAMES))
    found = VolumeGrid(circle, cloud)
    found.render()
    panels = [
        Panel("result", np.clip(found.image.to_numpy(), 0.0, 1.0)),
        Panel("the cloud", np.clip(photograph(circle), 0.0, 1.0)),
    ]
    save_images_animation(out / "turn.gif", panels)


if __name__ == "__main__":
    sys.exit(main())
