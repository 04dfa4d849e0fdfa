"""A soft robot of material points learns to walk, or a fish to swim.

Bodies and water are particles that move over a grid (MLS-MPM: Hu et al., SIGGRAPH 2018). In each
step the particles transfer mass and momentum to the surrounding nodes of the grid, gravity and
walls act on the nodes, and the particles read their velocities back. Muscles are stresses driven by
sines of time, whose amplitudes are learnt.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.material_points import WALL, collect, spread
from demos.support.options import make_parser, start
from demos.support.particles import Swarm, save_particle_animation, save_particle_strip
from demos.support.pictures import save_loss_curve
from demos.support.training import Training, print_check, train
from difftile.arguments import positive_int
from scenes.mpm import SCENE_NAMES, Controller, MpmScene, make_controller, make_scene

FRAMES = 70  # of the animation
GRIDS = {"robot": 128, "fish": 64}  # cells along a side
LEARNING_RATES = {"robot": 0.1, "fish": 0.3}  # of Adam
VERBS = {"robot": "walk", "fish": "swim"}

vec2, mat2 = ti.math.vec2, ti.math.mat2


@dt.func
def corotated(F, stiffness):
    """Kirchhoff stress under a deformation F, where both Lamé parameters are `stiffness`."""
    R, _ = ti.polar_decompose(F)
    J = F.determinant()
    shear = 2.0 * (F - R) @ F.transpose()
    return stiffness * (shear + mat2((J - 1.0) * J, 0.0, 0.0, (J - 1.0) * J))


@dt.data_oriented
class Mpm:
    """Particles and grid in fields, which a step updates in place, and the control of muscles."""

    def __init__(self, scene: MpmScene, controller: Controller, steps: int, dtype=ti.f32):
        self.scene, self.steps, self.n = scene, steps, scene.n_grid
        self.dim = d = scene.positions.shape[1]
        vector, matrix, grid = dt.vec(d, dtype), dt.mat(d, d, dtype), (self.n,) * d
        self.x = dt.from_numpy(scene.positions, dtype=vector, grad=True)
        self.v = dt.zeros_like(self.x)
        self.C = dt.zeros(self.x.shape, dtype=matrix, grad=True)  # gradient of the velocity
        self.F = dt.zeros_like(self.C)  # gradient of the position by that at rest
        self.grid_v = dt.zeros(grid, dtype=vector, grad=True)  # momentum, then velocity
        self.grid_m = dt.zeros(grid, dtype=dtype, grad=True)
        self.activation = dt.zeros(scene.n_muscles, dtype=dtype, grad=True)
        self.loss = dt.zeros((), dtype=dtype, grad=True)
        self.fluid, self.muscle = dt.from_numpy(scene.fluid), dt.from_numpy(scene.muscle)
        self.weights = dt.from_numpy(controller.weights, dtype=dtype, grad=True)
        self.bias = dt.from_numpy(controller.bias, dtype=dtype, grad=True)
        self.parameters = {"weights": self.weights, "bias": self.bias}

    @dt.kernel
    def step(self, t: int):
        scene, n, h = self.scene, self.n, self.scene.time_step
        for k in self.activation:
            total = self.bias[k]
            for j in range(scene.n_clock):
                phase = 2.0 * ti.math.pi * j / scene.n_clock
                total += self.weights[k, j] * ti.sin(scene.clock_rate * h * t + phase)
            self.activation[k] = ti.tanh(total)

        # Particles to grid: the stress of a particle pushes the nodes around it.
        for i, j in self.grid_m:
            self.grid_v[i, j], self.grid_m[i, j] = vec2(0.0, 0.0), 0.0
        for p in self.x:
            F = self.F[p] + h * self.C[p] @ self.F[p]
            mass, stress = 1.0, mat2(0.0)
            if self.fluid[p] == 1:
                J = F.determinant()
                mass, pressure = scene.fluid_mass, scene.stiffness * (J - 1.0)
                F = mat2(ti.sqrt(J), 0.0, 0.0, ti.sqrt(J))
                stress = mat2(pressure, 0.0, 0.0, scene.uprightness * pressure)
            else:
                stress = corotated(F, scene.stiffness)
                if self.muscle[p] >= 0:
                    pull = scene.strength * self.activation[self.muscle[p]]
                    stress += pull * F[:, 1].outer_product(F[:, 1])
            self.F[p] = F
            affine = mass / n * self.C[p] - 4.0 * n * h * scene.volume * stress
            spread(self.grid_v, self.grid_m, n, self.x[p], mass, self.v[p], affine)

        # Material sticks to walls, and slides on the floor with friction.
        for i, j in self.grid_m:
            v = vec2(0.0, 0.0)  # where there is no mass, so that a tape has less to keep
            if self.grid_m[i, j] > 0.0:
                v = self.grid_v[i, j] / (self.grid_m[i, j] + 1e-10) - vec2(0.0, h * scene.gravity)
            left, right, top = i < WALL, i > n - WALL, j > n - WALL
            if (left and v.x < 0.0) or (right and v.x > 0.0) or (top and v.y > 0.0):
                v = vec2(0.0, 0.0)
            if j < WALL and v.y < 0.0:
                grip = scene.friction * v.y
                v = vec2(v.x - ti.math.clamp(v.x, grip, -grip), 0.0)
            self.grid_v[i, j] = v

        # Grid to particles.
        for p in self.x:
            self.v[p], self.C[p] = collect(self.grid_v, n, self.x[p])
            self.x[p] += h * self.v[p]

    @dt.kernel
    def measure(self):
        """The farther right the elastic particles, the better."""
        self.loss[None] = 0.0
        for p in self.x:
            if self.fluid[p] == 0:
                self.loss[None] -= self.x[p].x / self.scene.n_solid

    def start(self) -> None:
        """Put everything in its initial position, at rest."""
        self.x.from_numpy(self.scene.positions)
        self.F.fill(np.eye(self.dim))
        self.v.fill(0.0)
        self.C.fill(0.0)

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for t in dt.steps(self.steps):
            self.step(t)
        self.measure()


def watch(mpm: Mpm, label: str) -> Swarm:
    """Simulate once more without a tape, and keep the state of every few steps."""
    scene, every = mpm.scene, max(mpm.steps // FRAMES, 1)
    times, positions, activations = [], [], []
    mpm.start()
    for t in range(mpm.steps):
        if t % every == 0:
            times.append(t * scene.time_step)
            positions.append(mpm.x.to_numpy())
        mpm.step(t)
        if t % every == 0:
            activations.append(-mpm.activation.to_numpy())  # a stress that pulls shortens
    return Swarm(
        label=label,
        times=np.array(times),
        positions=np.array(positions),
        activations=np.array(activations),
        muscle=scene.muscle,
        fluid=scene.fluid,
        spacing=0.5 / scene.n_grid,
    )


def learn(mpm: Mpm, iterations: int, memory: str | None = None) -> Training:
    """Train the controller; the one that got farthest is left in the fields."""
    name = mpm.scene.name
    optimiser = dt.optim.Adam(mpm.parameters, LEARNING_RATES[name], nonfinite="skip")
    return train(mpm, optimiser, iterations, f"learning to {VERBS[name]}", memory=memory)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("diffmpm", __doc__, steps=1024, iterations=50)
    parser.add_argument("--scene", choices=SCENE_NAMES, default="robot", help="default: robot")
    parser.add_argument(
        "--grid", type=positive_int, help="cells along a side; default: 128, for the fish 64"
    )
    parser.add_argument(
        "--original",
        action="store_true",
        help="keep two mistakes of the paper's program: a floor that everything sticks to, and "
        "water that presses ten times harder sideways than down",
    )
    options = start(parser, argv)

    try:
        grid = options.grid or GRIDS[options.scene]
        scene = make_scene(options.scene, grid, options.original)
    except ValueError as error:
        parser.error(f"argument --grid: {error}")
    controller = make_controller(scene, options.seed)
    if options.check:
        return print_check(Mpm(scene, controller, min(options.steps, 100), ti.f64), "weights")

    mpm = Mpm(scene, controller, options.steps)
    before = watch(mpm, "before")
    training = learn(mpm, options.iterations, options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    after = watch(mpm, f"after {len(training.losses) - 1} iterations")
    print(training)
    print(
        f"the {scene.name} {VERBS[scene.name]}s {after.distance:.2f} m in {after.times[-1]:.1f} s, "
        f"{after.distance / scene.width:.1f} body lengths; untrained it got {before.distance:.2f} m"
    )
    if not options.no_pictures:
        draw(options.out, training.losses, [before, after])
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, losses: list[float], swarms: list[Swarm]) -> None:
    """Write the pictures."""
    heights = np.concatenate([swarm.positions[..., 1].ravel() for swarm in swarms])
    window, floor = (0.0, 1.0, 0.0, float(heights.max()) + 0.03), float(heights.min())
    save_loss_curve(out / "loss.png", losses, "loss: minus x of the centre [m]")
    save_particle_strip(out / "before_after.png", swarms, window, floor)
    save_particle_animation(out / "motion.gif", swarms, window, floor)


if __name__ == "__main__":
    sys.exit(main())
