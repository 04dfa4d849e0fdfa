"""A cloth of ten thousand vertices falls on a ball in large steps, by Newton's method.

Each step of implicit Euler is the minimum of an energy: inertia, springs, hinges between triangles,
weight, and the ball, which pushes back. `dt.sparse_hessian` gives its Hessian as a sparse matrix,
and SciPy solves for the step. Where the Hessian gives no direction of descent, that of terms made
positive semidefinite does. The demo measures the order in which the forces that are left vanish.
"""

import importlib
import importlib.util
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.convergence import orders, save_convergence
from demos.support.options import make_parser, start
from demos.support.surfaces import Ball, Drape, save_drape_animation, save_drape_strip
from difftile.arguments import positive_float, positive_int
from difftile.progress import progress_bar
from scenes.cloth import ClothScene, find_hinges, make_cloth

STRETCH, SHEAR = 40.0, 8.0  # of springs [N/m]
BENDING = 5e-6  # energy of a hinge that is bent by one radian [J]
CONTACT = 20.0  # force of the ball on a vertex, per depth [N/m]
HEIGHT = 0.31  # of the cloth at first, over the middle of the ball [m]
SLOPE = 1e-4  # the part of the expected decrease that a step must bring (Armijo, 1966)
SHORTEST = 1e-3  # part of a direction that is tried before the next kind of direction
SOLVED = 1e-10  # largest force that is left [N]; a vertex weighs some 2e-4 N
SKIN = 0.02  # the part of the ball's radius that is not drawn: flat triangles cut the corner
QUADRATIC = 1.7  # the least order of convergence that counts as quadratic


@dt.kernel
def inertia(x, goal, mass: float, h: float, energy):
    """Add the energy that holds vertices where they would fly."""
    for i in x:
        energy[None] += 0.5 * mass / h**2 * (x[i] - goal[i]).norm_sqr()


@dt.kernel
def stretch(x, springs, rest, stiffness, energy):
    """Add the energy of springs."""
    for s in springs:
        d = x[springs[s][0]] - x[springs[s][1]]
        energy[None] += 0.5 * stiffness[springs[s][2]] * (d.norm() - rest[s]) ** 2


@dt.kernel
def bend(x, hinges, stiffness: float, energy):
    """Add the energy of the angles between triangles that share an edge."""
    for k in hinges:
        a, b, c, d = x[hinges[k][0]], x[hinges[k][1]], x[hinges[k][2]], x[hinges[k][3]]
        edge = b - a
        one, other = edge.cross(c - a), (d - a).cross(edge)
        angle = ti.atan2(edge.norm() * (d - a).dot(one), one.dot(other))
        energy[None] += 0.5 * stiffness * angle**2


@dt.kernel
def press(x, center, radius: float, stiffness: float, energy):
    """Add the energy of vertices inside the ball."""
    for i in x:
        depth = ti.max(radius - (x[i] - center[None]).norm(), 0.0)
        energy[None] += 0.5 * stiffness * depth**2


@dataclass
class Effort:
    """What the steps took.

    Attributes:
        iterations: Of Newton's method, over all steps.
        projected: Those that followed a direction by positive semidefinite terms.
        hessians: Seconds in Hessians.
        solutions: Seconds in linear systems.
        total: Seconds in all.
        forces: The largest force that was left before each iteration and at the end [N], by step.
    """

    iterations: int = 0
    projected: int = 0
    hessians: float = 0.0
    solutions: float = 0.0
    total: float = 0.0
    forces: list[list[float]] = field(default_factory=list)


class SoftCloth:
    """A cloth that two of its corners hold, over a ball.

    Args:
        scene: Cloth and ball; its air and its friction are left out.
        most: Iterations of Newton's method in a step.
    """

    def __init__(self, scene: ClothScene, most: int = 60):
        cloth, vector = scene.cloth, dt.vec(3, ti.f64)
        self.scene, self.most = scene, most
        self.h, self.mass = scene.time_step, cloth.mass
        self.x = dt.from_numpy(cloth.positions, dtype=vector)
        self.v = np.zeros_like(cloth.positions)
        self.goal = dt.zeros_like(self.x)
        kept = cloth.springs[:, 2] < 2  # hinges bend instead of long springs
        self.springs = dt.from_numpy(cloth.springs[kept], dtype=ti.math.ivec3)
        self.rest = dt.from_numpy(cloth.rest_length[kept].astype(np.float64))
        self.stiffness = dt.from_numpy(np.array([STRETCH, SHEAR]))
        self.hinges = dt.from_numpy(find_hinges(cloth.triangles), dtype=ti.math.ivec4)
        self.center = dt.from_numpy(scene.center.astype(np.float64), dtype=vector)
        free = np.ones(cloth.positions.shape, bool)
        free[[0, cloth.shape[1] - 1]] = False  # the corners
        self.free = np.flatnonzero(free)
        self.value_and_forces = dt.value_and_grad(self.energy)
        self.hessian = dt.sparse_hessian(self.energy)
        self.projected = dt.sparse_hessian(self.energy, psd=True)
        self.linalg = importlib.import_module("scipy.sparse.linalg")  # an extra
        self.effort = Effort()

    def energy(self, x: dt.Field) -> dt.Field:
        """Return the energy whose minimum is the next step [J]."""
        energy = dt.zeros((), dtype=ti.f64)
        inertia(x, self.goal, self.mass, self.h, energy)
        stretch(x, self.springs, self.rest, self.stiffness, energy)
        bend(x, self.hinges, BENDING, energy)
        press(x, self.center, self.scene.radius, CONTACT, energy)
        return energy

    def measure(self, positions: np.ndarray) -> float:
        """Return the energy at some positions [J]."""
        self.x.from_numpy(positions)
        return float(self.energy(self.x)[None])

    def step(self) -> None:
        """Advance by one time step."""
        started, before = time.perf_counter(), self.x.to_numpy()
        # Weight is part of where the vertices would fly: a linear energy has no Hessian.
        fall = np.array([0.0, 0.0, self.scene.gravity * self.h**2])
        self.goal.from_numpy(before + self.h * self.v + fall)
        left: list[float] = []
        for _ in range(self.most):
            energy, gradient = self.value_and_forces(self.x)
            forces = gradient.to_numpy().ravel()[self.free]
            left.append(float(np.abs(forces).max()))
            if left[-1] < SOLVED or not self._descend(float(energy[None]), forces):
                break
            self.effort.iterations += 1
        self.v = (self.x.to_numpy() - before) / self.h
        self.effort.forces.append(left)
        self.effort.total += time.perf_counter() - started

    def _descend(self, energy: float, forces: np.ndarray) -> bool:
        """Go to a place of less energy; tell whether there was one."""
        start = self.x.to_numpy()
        for hessian in (self.hessian, self.projected):
            change = np.zeros(start.size)
            change[self.free] = self._solve(hessian, forces)
            slope, share = float(change[self.free] @ forces), 1.0
            while slope < 0.0 and share > SHORTEST:
                found = start + share * change.reshape(start.shape)
                # Near the minimum energies differ by less than their rounding errors.
                rounding = 1e-14 * abs(energy)
                if self.measure(found) <= energy + SLOPE * share * slope + rounding:
                    self.effort.projected += hessian is self.projected
                    return True
                share *= 0.5
            self.x.from_numpy(start)
        return False

    def _solve(self, hessian: Any, forces: np.ndarray) -> np.ndarray:
        """Return the change of the free coordinates that would balance the forces."""
        started = time.perf_counter()
        matrix = hessian(self.x)[self.free][:, self.free].tocsc()
        computed = time.perf_counter()
        symmetric = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
        factors = self.linalg.splu(matrix, "MMD_AT_PLUS_A", **symmetric)
        found = factors.solve(-forces)
        self.effort.hessians += computed - started
        self.effort.solutions += time.perf_counter() - computed
        return found


def check(cloth: SoftCloth, seed: int, eps: float = 1e-6) -> tuple[float, float]:
    """Return a curvature of the energy by the Hessian and by differences of the forces."""
    rng = np.random.default_rng(seed)
    start = cloth.x.to_numpy()
    start += 0.02 * rng.standard_normal(start.shape) / len(start) ** 0.5
    axis = rng.standard_normal(start.shape)
    cloth.x.from_numpy(start)
    by_hessian = axis.ravel() @ (cloth.hessian(cloth.x) @ axis.ravel())
    forces = []
    for way in (1.0, -1.0):
        cloth.x.from_numpy(start + way * eps * axis)
        forces.append(cloth.value_and_forces(cloth.x)[1].to_numpy())
    return float(by_hessian), float(np.sum(axis * (forces[0] - forces[1])) / (2 * eps))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("cloth-newton", __doc__, steps=20, iterations=60, memory=False)
    say = "default: %(default)s"
    parser.add_argument(
        "--masses", type=positive_int, default=100, help=f"in a row and in a column; {say}"
    )
    parser.add_argument(
        "--time-step", type=positive_float, default=0.01, help=f"of implicit Euler [s]; {say}"
    )
    options = start(parser, argv)
    if options.masses < 3:
        parser.error("argument --masses: this cloth has 3 or more in a row")
    if importlib.util.find_spec("scipy") is None:
        parser.error("the linear systems need SciPy: pip install difftile[demo]")
    grid = make_cloth(options.masses, options.masses, height=HEIGHT)
    cloth = SoftCloth(ClothScene(grid, options.time_step), options.iterations)
    if options.check:
        by_hessian, by_differences = check(cloth, options.seed)
        agree = abs(by_hessian - by_differences) <= 1e-6 * abs(by_differences)
        print(f"curvature by the Hessian {by_hessian:.12g}, by differences {by_differences:.12g}")
        return 0 if agree else 1

    shape = *cloth.scene.cloth.shape, 3
    frames = [cloth.x.to_numpy().reshape(shape)]
    with progress_bar(range(options.steps), desc="falling", unit="step") as bar:
        try:
            for _ in bar:
                cloth.step()
                frames.append(cloth.x.to_numpy().reshape(shape))
                bar.set_postfix(iterations=len(cloth.effort.forces[-1]) - 1)
        except KeyboardInterrupt:
            bar.set_description("interrupted")
    if len(frames) == 1:
        return 130  # interrupted before there was anything to show
    return report(cloth, options, frames)


def report(cloth: SoftCloth, options: Any, frames: list[np.ndarray]) -> int:
    """Print the figures and write the pictures; return the exit code."""
    effort, scene = cloth.effort, cloth.scene
    steps = len(effort.forces)
    explicit = 2 * np.sqrt(cloth.mass / (4 * STRETCH + 4 * SHEAR))
    print(
        f"{len(scene.cloth.positions):,} vertices, {steps} steps of {1e3 * cloth.h:g} ms, "
        f"{cloth.h / explicit:.0f} times the longest step of an explicit method"
    )
    print(
        f"{effort.iterations} iterations of Newton's method, {effort.projected} of them with terms "
        f"made semidefinite; {effort.total:.1f} s: {effort.hessians:.1f} s in Hessians, "
        f"{effort.solutions:.1f} s in linear systems"
    )
    if not options.no_pictures:
        draw(cloth, options.out, frames)
        print(f"pictures in {options.out}")
    unsolved = sum(one[-1] >= SOLVED for one in effort.forces)
    if unsolved:
        print(f"{unsolved} steps have not converged to {SOLVED:g} N")
    last = [found[-1] for one in effort.forces if len(found := orders(one))]
    if not last:
        return 0
    order = float(np.median(last))
    quadratic = order >= QUADRATIC
    print(
        f"the order of convergence at the end of a step is {order:.2f} (median)"
        + (", as it should" if quadratic else "")
    )
    return 0 if quadratic and not unsolved else 1


def draw(cloth: SoftCloth, out: Any, frames: list[np.ndarray]) -> None:
    """Write the pictures of the fall and of the convergence."""
    scene, count = cloth.scene, len(frames)
    ball = Ball(scene.center, (1 - SKIN) * scene.radius)
    drape = Drape(
        f"{len(scene.cloth.positions):,} vertices", np.array(frames), np.zeros((count, 0, 3))
    )
    captions = [f"{k * cloth.h:.2f} s" for k in range(count)]
    picks = sorted({round(share * (count - 1)) for share in (0.0, 0.25, 0.5, 0.75, 1.0)})
    triangles = scene.cloth.triangles
    save_drape_strip(
        out / "strip.png", [drape], triangles, ball, picks, [captions[k] for k in picks]
    )
    save_drape_animation(out / "cloth.gif", [drape], triangles, ball, captions, fps=10.0)
    save_convergence(out / "convergence.png", cloth.effort.forces, cloth.h)


if __name__ == "__main__":
    sys.exit(main())
