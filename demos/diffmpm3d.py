"""A soft robot on four legs learns to walk in three dimensions, or to get out of water.

Elastic bodies and liquid are particles that move over a grid (MLS-MPM: Hu et al., SIGGRAPH 2018):
in each step, particles transfer mass and momentum to the nodes around them, gravity and walls act
on the grid, and particles read the velocities back. All of it is updated in place.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import taichi as ti

import difftile as dt
from demos.diffmpm import Mpm, watch
from demos.support.material_points import WALL, collect, spread
from demos.support.options import make_parser, start
from demos.support.particles import Swarm
from demos.support.perspective import save_perspective_animation, save_perspective_strip
from demos.support.pictures import save_loss_curve
from demos.support.training import Training, print_check, train
from difftile.arguments import positive_int
from scenes.mpm import make_controller
from scenes.mpm3d import PER_CELL, SCENE_NAMES, make_scene

LEARNING_RATES = {"robot": 0.2, "liquid": 0.6}  # of Adam

vec3, mat3 = ti.math.vec3, ti.math.mat3


@dt.func
def neo_hookean(F, stiffness):
    """Kirchhoff stress under a deformation F, where both Lamé parameters are `stiffness`."""
    return stiffness * (F @ F.transpose() + (ti.log(F.determinant()) - 1.0) * ti.math.eye(3))


@dt.data_oriented
class Mpm3d(Mpm):
    """The same in three dimensions, with its own stress."""

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
        for i, j, k in self.grid_m:
            self.grid_v[i, j, k], self.grid_m[i, j, k] = vec3(0.0), 0.0
        for p in self.x:
            F = self.F[p] + h * self.C[p] @ self.F[p]
            mass, stress = 1.0, mat3(0.0)
            if self.fluid[p] == 1:
                J = F.determinant()
                mass = scene.fluid_mass
                F = ti.Matrix.diag(3, 1.0)
                F[0, 0], F[1, 1] = ti.sqrt(J), ti.sqrt(J)
                stress = scene.stiffness * (J - 1.0) * ti.math.eye(3)
            else:
                stress = neo_hookean(F, scene.stiffness)
                if self.muscle[p] >= 0:
                    pull = scene.strength * self.activation[self.muscle[p]]
                    stress += pull * F[:, 2].outer_product(F[:, 2])
            self.F[p] = F
            affine = mass / n * self.C[p] - 4.0 * n * h * scene.volume * stress
            spread(self.grid_v, self.grid_m, n, self.x[p], mass, self.v[p], affine)

        # Material sticks to walls, and slides on the floor with friction.
        for i, j, k in self.grid_m:
            v = vec3(0.0)  # where there is no mass, so that a tape has less to keep
            if self.grid_m[i, j, k] > 0.0:
                v = self.grid_v[i, j, k] / (self.grid_m[i, j, k] + 1e-10)
                v.y -= h * scene.gravity
            if (i < WALL and v.x < 0.0) or (i > n - WALL and v.x > 0.0):
                v = vec3(0.0)
            if (k < WALL and v.z < 0.0) or (k > n - WALL and v.z > 0.0):
                v = vec3(0.0)
            if j < WALL and v.y < 0.0:
                slip = vec3(v.x, 0.0, v.z)
                v = ti.max(0.0, 1.0 + scene.friction * v.y / (slip.norm() + 1e-10)) * slip
            if j > n - WALL and v.y > 0.0:
                v = vec3(0.0)
            self.grid_v[i, j, k] = v

        # Grid to particles.
        for p in self.x:
            self.v[p], self.C[p] = collect(self.grid_v, n, self.x[p])
            self.x[p] += h * self.v[p]


def look(mpm: Mpm3d, label: str) -> Swarm:
    """Simulate once more without a tape, and keep the state of every few steps."""
    return replace(watch(mpm, label), spacing=1.0 / PER_CELL / mpm.n)


def learn(mpm: Mpm3d, iterations: int, memory: str | None = None) -> Training:
    """Train the controller; the one that got farthest is left in the fields."""
    rate = LEARNING_RATES[mpm.scene.name]
    optimiser = dt.optim.Adam(mpm.parameters, rate, nonfinite="skip")
    return train(mpm, optimiser, iterations, "learning to walk", memory=memory)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("diffmpm3d", __doc__, steps=512, iterations=25)
    parser.add_argument("--scene", choices=SCENE_NAMES, default="robot", help="default: robot")
    say = "cells along a side, 64 in the paper; default: %(default)s"
    parser.add_argument("--grid", type=positive_int, default=32, help=say)
    say = "keep a mistake of the paper's program: a floor that everything sticks to"
    parser.add_argument("--original", action="store_true", help=say)
    options = start(parser, argv)

    try:
        scene = make_scene(options.scene, options.grid, options.seed, options.original)
    except ValueError as error:
        parser.error(f"argument --grid: {error}")
    controller = make_controller(scene, options.seed)
    if options.check:
        short = Mpm3d(scene, controller, min(options.steps, 100), ti.f64)
        return print_check(short, "weights", eps=1e-4)

    mpm = Mpm3d(scene, controller, options.steps)
    before = look(mpm, "before")
    training = learn(mpm, options.iterations, options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    after = look(mpm, f"after {len(training.losses) - 1} iterations")
    print(training)
    print(
        f"the robot walks {after.distance:.2f} m in {after.times[-1]:.1f} s, "
        f"{after.distance / scene.width:.1f} body lengths; untrained it got {before.distance:.2f} m"
    )
    if not options.no_pictures:
        draw(options.out, training.losses, [before, after])
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, losses: list[float], swarms: list[Swarm]) -> None:
    """Write the pictures."""
    save_loss_curve(out / "loss.png", losses, "loss: minus x of the centre [m]")
    save_perspective_strip(out / "before_after.png", swarms)
    save_perspective_animation(out / "motion.gif", swarms)


if __name__ == "__main__":
    sys.exit(main())
