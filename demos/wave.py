"""Waves on a square of water run into each other and show a picture.

Two fields hold the height of the water now and one time step before. A step computes the next
height in place of the older one, and the two swap roles. The equation is linear, so the gradient
needs no old values, and `with dt.Tape(loss):` stores none, however long the simulation is. With
`--view window` you can drop water into the pool, and watch the gradient run backwards in time.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.images import Look, Panel, save_images, save_images_animation
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.pools import Pool, make_descent, view
from demos.support.training import Training, print_check, train
from demos.support.viewing import add_view_options, is_viewed, show
from difftile.arguments import positive_int
from scenes.wave import WaveScene, make_scene

FRAMES = 64  # of the animation


@dt.data_oriented
class Wave:
    """A square of water; `initial` is its height at the start [m], shape (n, n).

    Args:
        scene: The square, and the goal for the water.
        steps: States of a run, the initial one included.
        dtype: Of the numbers.
    """

    def __init__(self, scene: WaveScene, steps: int, dtype=ti.f32):
        self.n, self.courant, self.steps = scene.n, scene.courant, steps
        self.initial = dt.zeros((self.n, self.n), dtype, grad=True)
        # A rim of cells that stay zero is the flat water outside.
        self.p, self.older = (dt.zeros((self.n + 2,) * 2, dtype, grad=True) for _ in range(2))
        self.target = dt.from_numpy(scene.target, dtype=dtype)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"initial": self.initial}

    @dt.kernel
    def advance(self, p, older):
        """Write the next height over the older one."""
        for i, j in ti.ndrange((1, self.n + 1), (1, self.n + 1)):
            laplacian = p[i - 1, j] + p[i + 1, j] + p[i, j - 1] + p[i, j + 1] - 4.0 * p[i, j]
            older[i, j] = 2.0 * p[i, j] - older[i, j] + self.courant * laplacian

    @dt.kernel
    def add(self, p, older, heights):
        """Raise the water, which keeps its velocity."""
        for i, j in heights:
            p[i + 1, j + 1] += heights[i, j]
            older[i + 1, j + 1] += heights[i, j]

    @dt.kernel
    def measure(self):
        """The mean squared difference of the water and the picture."""
        self.loss[None] = 0.0
        for i, j in self.target:
            self.loss[None] += (self.target[i, j] - self.p[i + 1, j + 1]) ** 2 / self.n**2

    def start(self) -> None:
        """Raise the water in state 0; in state 1 it is flat."""
        self.older[1:-1, 1:-1].copy_from(self.initial)
        self.p.fill(0.0)

    def step(self) -> None:
        """Advance by one time step."""
        self.advance(self.p, self.older)
        self.p, self.older = self.older, self.p

    def step_back(self) -> None:
        """Go back by one time step, with the water and with the gradients.

        Waves are the same in both directions of time: the water is run backwards, not kept.
        """
        self.p, self.older = self.older, self.p
        self.advance(self.p, self.older)
        self.advance.bwds(self.p, self.older)

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for _ in dt.steps(2, self.steps):
            self.step()
        self.measure()


def watch(wave: Wave) -> tuple[np.ndarray, np.ndarray]:
    """Simulate once more, and return some of the steps and the water at each, (frames, n, n)."""
    times = np.unique(np.linspace(0, wave.steps - 1, FRAMES).round().astype(int))
    wave.start()
    water = [wave.initial.to_numpy()]
    for t in range(1, wave.steps):
        if t > 1:
            wave.step()
        if t in times:
            water.append(wave.p.to_numpy()[1:-1, 1:-1])
    return times, np.array(water)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("wave", __doc__, steps=256, iterations=120)
    parser.add_argument(
        "--size", type=positive_int, default=256, help="cells along each axis; default: %(default)s"
    )
    add_view_options(parser)
    options = start(parser, argv)
    scene = make_scene(min(options.size, 64) if options.check else options.size)
    if options.check:
        return print_check(Wave(scene, options.steps, ti.f64), "initial")

    wave = Wave(scene, options.steps)
    if is_viewed(options):
        return show(view(Pool(wave), options), options)
    training = train(
        wave,
        make_descent(wave.parameters),
        options.iterations,
        "raising waves",
        memory=options.memory,
    )
    if not training.losses:
        return 130  # interrupted before there was anything to show
    shown = 1.0 - min(training.losses) / float(np.mean(scene.target**2))
    print(training)
    print(
        f"step {wave.steps - 1} shows {shown:.1%} of the picture's variance; at first it was flat"
    )
    if not options.no_pictures:
        draw(options.out, scene, training, *watch(wave))
        print(f"pictures in {options.out}")
    return 0


def draw(
    out: Path, scene: WaveScene, training: Training, times: np.ndarray, water: np.ndarray
) -> None:
    """Write the pictures."""
    save_loss_curve(out / "loss.png", training.losses, "mean square off the picture [m²]", "log")
    high = 1.2 * float(np.abs(scene.target).max())
    look = Look(-high, high, "RdBu", "height [m]")
    picks = np.linspace(0, len(times) - 1, 4).round().astype(int)
    after = [Panel(f"after: step {times[k]}", water[k]) for k in picks]
    before = Panel("before: all steps", np.zeros_like(scene.target))
    row = [before, *after, Panel("the picture", scene.target)]
    save_images(out / "before_after.png", [("", row)], look)
    panels = [Panel("the water", water), Panel("the picture", scene.target[None])]
    captions = [f"step {t}" for t in times]
    save_images_animation(out / "wave.gif", panels, look, captions=captions)


if __name__ == "__main__":
    sys.exit(main())
