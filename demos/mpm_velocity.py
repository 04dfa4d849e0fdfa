"""Throw an elastic block so that it reaches a given point in time.

The demo learns the two components of its initial velocity through a thousand steps of material
points (MLS-MPM: Hu et al., SIGGRAPH 2018). All old values that the gradient needs would take
hundreds of megabytes; the tape has a limit, stores snapshots within it and runs steps again.
"""

import sys
from collections.abc import Sequence

import numpy as np
import taichi as ti

import difftile as dt
from demos.diffmpm import corotated
from demos.support.material_points import WALL, collect, spread
from demos.support.options import make_parser, start
from demos.support.particles import Swarm, save_particle_animation, save_particle_strip
from demos.support.pictures import save_loss_curve
from demos.support.training import print_check, train
from difftile.arguments import positive_int
from scenes.mpm import BlockScene, make_block

FRAMES = 50  # of the animation
LEARNING_RATE = 10.0

vec2, mat2 = ti.math.vec2, ti.math.mat2


@dt.data_oriented
class Throw:
    """A block of particles over a grid, in fields which a step updates in place."""

    def __init__(self, scene: BlockScene, steps: int, dtype=ti.f32):
        self.scene, self.steps, self.n = scene, steps, scene.n_grid
        vector, matrix = dt.vec(2, dtype), dt.mat(2, 2, dtype)
        self.x = dt.from_numpy(scene.positions, dtype=vector, grad=True)
        self.v = dt.zeros_like(self.x)
        self.C = dt.zeros(self.x.shape, dtype=matrix, grad=True)  # gradient of the velocity
        self.F = dt.zeros_like(self.C)  # gradient of the position by that at rest
        self.grid_v = dt.zeros((self.n, self.n), dtype=vector, grad=True)
        self.grid_m = dt.zeros((self.n, self.n), dtype=dtype, grad=True)
        self.center = dt.zeros((), dtype=vector, grad=True)
        self.target = dt.from_numpy(scene.target, dtype=vector)
        self.loss = dt.zeros((), dtype=dtype, grad=True)
        self.velocity = dt.zeros((), dtype=vector, grad=True)
        self.parameters = {"velocity": self.velocity}

    @dt.kernel
    def throw(self):
        for p in self.x:
            self.v[p] = self.velocity[None]

    @dt.kernel
    def step(self):
        scene, n, h = self.scene, self.n, self.scene.time_step
        for i, j in self.grid_m:
            self.grid_v[i, j], self.grid_m[i, j] = vec2(0.0, 0.0), 0.0
        for p in self.x:
            F = self.F[p] + h * self.C[p] @ self.F[p]
            self.F[p] = F
            stress = corotated(F, scene.stiffness)
            affine = self.C[p] / n - 4.0 * n * h * scene.volume * stress
            spread(self.grid_v, self.grid_m, n, self.x[p], 1.0, self.v[p], affine)

        # Walls take the part of the velocity that goes into them.
        for i, j in self.grid_m:
            v = self.grid_v[i, j] / (self.grid_m[i, j] + 1e-10) - vec2(0.0, h * scene.gravity)
            if (i < WALL and v.x < 0.0) or (i > n - WALL and v.x > 0.0):
                v.x = 0.0
            if (j < WALL and v.y < 0.0) or (j > n - WALL and v.y > 0.0):
                v.y = 0.0
            self.grid_v[i, j] = v

        for p in self.x:
            self.v[p], self.C[p] = collect(self.grid_v, n, self.x[p])
            self.x[p] += h * self.v[p]

    @dt.kernel
    def measure(self):
        """How far the centre is from the target."""
        self.center[None] = vec2(0.0, 0.0)
        for p in self.x:
            self.center[None] += self.x[p] / self.x.shape[0]
        self.loss[None] = 0.5 * (self.center[None] - self.target[None]).norm_sqr()

    def start(self) -> None:
        """Put the block in its initial position and throw it."""
        self.x.from_numpy(self.scene.positions)
        self.F.fill(np.eye(2))
        self.C.fill(0.0)
        self.throw()

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for _ in dt.steps(self.steps):
            self.step()
        self.measure()


def watch(simulation: Throw, label: str) -> Swarm:
    """Simulate once more without a tape, and keep the state of every few steps."""
    scene, every = simulation.scene, max(simulation.steps // FRAMES, 1)
    n, times, positions = len(scene.positions), [], []
    simulation.start()
    for t in range(simulation.steps + 1):
        if t % every == 0:
            times.append(t * scene.time_step)
            positions.append(simulation.x.to_numpy())
        simulation.step()
    return Swarm(
        label=label,
        times=np.array(times),
        positions=np.array(positions),
        activations=np.zeros((len(times), 0)),
        muscle=np.full(n, -1),
        fluid=np.zeros(n, dtype=bool),
        spacing=0.5 / scene.n_grid,
    )


def bytes_of_all(simulation: Throw, few: int = 16) -> float:
    """Return the memory of a tape without a limit [B], measured over a few steps."""
    steps, simulation.steps = simulation.steps, min(few, simulation.steps)
    with dt.Tape() as tape:
        simulation.run()
    ratio, simulation.steps = steps / simulation.steps, steps
    nbytes = ratio * tape.nbytes
    tape.release()
    return nbytes


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("mpm-velocity", __doc__, steps=1024, iterations=20, limit="32MB")
    parser.add_argument(
        "--grid", type=positive_int, default=120, help="cells per side; default: 120"
    )
    options = start(parser, argv)

    try:
        scene = make_block(options.grid)
    except ValueError as error:
        parser.error(f"argument --grid: {error}")
    if options.check:
        return print_check(Throw(scene, min(options.steps, 100), ti.f64), "velocity")

    simulation = Throw(scene, options.steps)
    print(f"all old values of a run: {bytes_of_all(simulation) / 1e6:.1f} MB")
    before = watch(simulation, "dropped")
    optimiser = dt.optim.SGD(simulation.parameters, LEARNING_RATE, nonfinite="skip")
    label = "learning to throw"
    training = train(simulation, optimiser, options.iterations, label, memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    u, w = training.best["velocity"]
    after = watch(simulation, f"at ({u:.2f}, {w:.2f}) m/s")
    print(training)
    missed = [np.sqrt(2 * loss) for loss in (training.losses[0], min(training.losses))]
    print(
        f"thrown with ({u:.3f}, {w:.3f}) m/s the block misses the target by {missed[1]:.4f} m; "
        f"at first it missed it by {missed[0]:.4f} m"
    )
    if not options.no_pictures:
        window, target = (0.0, 0.62, 0.0, 0.8), (float(scene.target[0]), float(scene.target[1]))
        floor = WALL / scene.n_grid
        label = "loss: half the squared miss [m²]"
        save_loss_curve(options.out / "loss.png", training.losses, label, "log")
        save_particle_strip(
            options.out / "before_after.png", [before, after], window, floor, target
        )
        save_particle_animation(options.out / "throw.gif", [before, after], window, floor, target)
        print(f"pictures in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
