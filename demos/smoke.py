"""Smoke forms a picture: optimise the initial velocity of an incompressible flow.

Every step carries velocities and smoke along the flow, solves for a pressure by Jacobi iterations,
and subtracts its gradient from the velocities. All of it is updated in place: `with dt.Tape(loss):`
stores the values that the adjoints read and computes the gradient with respect to the initial
velocities.
"""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.images import Look, Panel, save_images, save_images_animation
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import Training, print_check, train
from difftile.arguments import positive_int
from scenes.smoke import SmokeScene, make_scene

STEP_SIZE, MOMENTUM = 80.0, 0.9
# A velocity that grows without bounds gives a gradient without bounds; a step may not be that long.
CLIP_NORM = 0.02
FRAMES = 50  # of the animation


@dt.data_oriented
class Smoke:
    """Smoke in an incompressible flow, updated in place.

    Args:
        scene: The initial state.
        original: Project as the program of the paper does: by an index that is one off, with the
            last but one pressure of the step before.
        dtype: Of all fields.
    """

    def __init__(self, scene: SmokeScene, original: bool = False, dtype=ti.f32):
        self.scene, self.original = scene, original
        self.n, self.steps, self.dx = scene.n, scene.steps, 1.0 / scene.n
        zeros = partial(dt.zeros, (self.n, self.n), grad=True)
        self.v0, self.v, self.u = (zeros(dt.vec(2, dtype)) for _ in range(3))
        self.smoke, self.carried = zeros(dtype), zeros(dtype)
        self.p, self.q, self.div = (zeros(dtype) for _ in range(3))
        self.target = dt.from_numpy(scene.target, dtype=dtype)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"v0": self.v0}

    @dt.func
    def between(self, f, at):
        """Return the field between its cells, bilinearly."""
        corner = ti.floor(at)
        r, (i, j) = at - corner, ti.cast(corner, ti.i32) % self.n
        k, m = (i + 1) % self.n, (j + 1) % self.n
        low, high = ti.math.mix(f[i, j], f[i, m], r.y), ti.math.mix(f[k, j], f[k, m], r.y)
        return ti.math.mix(low, high, r.x)

    @dt.func
    def neighbours(self, f, i, j):
        """Return the field in the cells below, above, to the right and to the left."""
        n = self.n
        return f[(i + 1) % n, j], f[(i - 1) % n, j], f[i, (j + 1) % n], f[i, (j - 1) % n]

    @dt.kernel
    def advect(self):
        """Carry the velocities along themselves, and compute the divergence of the result."""
        for i, j in ti.ndrange(self.n, self.n):
            self.u[i, j] = self.between(self.v, ti.Vector([i, j]) - self.v[i, j])
        for i, j in ti.ndrange(self.n, self.n):
            down, up, right, left = self.neighbours(self.u, i, j)
            self.div[i, j] = -0.5 * self.dx * (down.x - up.x + right.y - left.y)

    @dt.kernel
    def relax(self, p, q):
        for i, j in ti.ndrange(self.n, self.n):
            down, up, right, left = self.neighbours(p, i, j)
            q[i, j] = 0.25 * (self.div[i, j] + down + up + right + left)

    @dt.kernel
    def project(self, p):
        """Take the gradient of a pressure off the velocities, which carry the smoke then."""
        for i, j in ti.ndrange(self.n, self.n):
            down, up, right, left = self.neighbours(p, i, j)
            self.v[i, j] = self.u[i, j] - 0.5 / self.dx * ti.Vector([down - up, right - left])
        for i, j in ti.ndrange(self.n, self.n):
            self.carried[i, j] = self.between(self.smoke, ti.Vector([i, j]) - self.v[i, j])

    @dt.kernel
    def measure(self):
        """The mean squared difference of the smoke and the picture."""
        for i, j in self.smoke:
            self.loss[None] += (self.target[i, j] - self.smoke[i, j]) ** 2 / self.n**2

    def start(self) -> None:
        """Set the initial smoke and velocities, without pressure."""
        self.v.copy_from(self.v0)
        self.smoke.from_numpy(self.scene.smoke)
        for field in (self.p, self.q, self.loss):
            field.fill(0.0)

    def step(self, t: int) -> None:
        """Advance by one time step; `p` is the last pressure found, `q` the one before."""
        self.advect()
        if self.original:
            self.project(self.q)
        for _ in range(self.scene.relaxations):
            self.relax(self.p, self.q)
            self.p, self.q = self.q, self.p
        if not self.original:
            self.project(self.p)
        self.smoke, self.carried = self.carried, self.smoke

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for t in range(1, self.steps):
            self.step(t)
        self.measure()


def watch(smoke: Smoke) -> tuple[np.ndarray, np.ndarray]:
    """Simulate once more, and return some of the steps and the smoke at each, (frames, n, n)."""
    times = np.unique(np.linspace(0, smoke.steps - 1, FRAMES).round().astype(int))
    smoke.start()
    found = [smoke.smoke.to_numpy()]
    for t in range(1, smoke.steps):
        smoke.step(t)
        if t in times:
            found.append(smoke.smoke.to_numpy())
    return times, np.array(found)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("smoke", __doc__, steps=100, iterations=150)
    say = "default: %(default)s"
    parser.add_argument(
        "--size", type=positive_int, default=128, help=f"cells along an axis; {say}"
    )
    parser.add_argument(
        "--relaxations", type=positive_int, default=10, help=f"iterations for a pressure; {say}"
    )
    parser.add_argument(
        "--original", action="store_true", help="use the pressure that the paper's program uses"
    )
    options = start(parser, argv)
    if options.check:
        scene = make_scene(min(options.size, 32), min(options.steps, 20), options.relaxations)
        smoke = Smoke(scene, options.original, ti.f64)
        # Between the cells: where a velocity is a whole number, interpolation has a kink.
        draws = np.random.default_rng(options.seed).standard_normal((scene.n, scene.n, 2))
        smoke.v0.from_numpy(draws)
        return print_check(smoke, "v0", eps=1e-6)

    scene = make_scene(options.size, options.steps, options.relaxations)
    smoke = Smoke(scene, options.original)
    descent = dt.optim.SGD(smoke.parameters, STEP_SIZE, momentum=MOMENTUM, clip_norm=CLIP_NORM)
    training = train(smoke, descent, options.iterations, "stirring smoke", memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    print(training)
    first, best = (np.sqrt(loss) for loss in (training.losses[0], min(training.losses)))
    print(
        f"after {scene.steps - 1} steps the smoke is {best:.3f} off the picture (root mean square; "
        f"its density is 0 to 1); at rest it stays a checkerboard, {first:.3f} off"
    )
    if not options.no_pictures:
        draw(options.out, smoke, training)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, smoke: Smoke, training: Training) -> None:
    """Write the pictures."""
    save_loss_curve(out / "loss.png", training.losses, "mean square off the picture", "log")
    times, found = watch(smoke)
    look, target = Look(0.0, 1.0, "Greys"), smoke.scene.target
    picks = np.linspace(0, len(times) - 1, 5).round().astype(int)[1:]
    before = Panel("before: all steps", smoke.scene.smoke)
    after = [Panel(f"after: step {times[k]}", found[k]) for k in picks]
    save_images(out / "before_after.png", [("", [before, *after, Panel("picture", target)])], look)
    panels = [Panel("smoke", found), Panel("picture", target[None])]
    captions = [f"step {t}" for t in times]
    save_images_animation(out / "smoke.gif", panels, look, captions=captions)


if __name__ == "__main__":
    sys.exit(main())
