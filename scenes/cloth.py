"""A rectangular cloth of masses and springs above a ball, and the wind around it.

The cloth is the grid of Provot (Graphics Interface 1995): stretch springs between neighbours,
shear springs across each cell, bend springs between masses two apart. `SoftCloth` has hinges
for those, and takes large implicit steps; it needs SciPy.

Run this file for a few steps of the optimisation; the demos `cloth` and `cloth-newton` do all of
them.
"""

import importlib
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti

SPRING_KINDS = ("stretch", "shear", "bend")
_OFFSETS = (  # of the second end of a spring from the first, in rows and columns, and its kind
    *[(0, 1, 0), (1, 0, 0)],
    *[(1, 1, 1), (1, -1, 1)],
    *[(0, 2, 2), (2, 0, 2)],
)

STRETCH, SHEAR = 40.0, 8.0  # of springs [N/m]
BENDING = 5e-6  # energy of a hinge that is bent by one radian [J]
CONTACT = 20.0  # force of the ball on a vertex, per depth [N/m]
SLOPE = 1e-4  # the part of the expected decrease that a step must bring (Armijo, 1966)
SHORTEST = 1e-3  # part of a direction that is tried before the next kind of direction
SOLVED = 1e-10  # largest force that is left [N]; a vertex weighs some 2e-4 N

vec3 = ti.math.vec3


@dataclass(frozen=True, slots=True)
class Cloth:
    """Equal point masses in a grid, joined by springs; the skin between them is triangles.

    Attributes:
        shape: Rows and columns of masses.
        positions: Initial positions of the masses [m], at rest, shape (n, 3), row by row.
        springs: The two masses each spring joins and the index of its kind in `SPRING_KINDS`, shape
            (m, 3), int32.
        rest_length: Lengths without force, as at the start [m], shape (m,).
        triangles: The masses at the corners, anticlockwise seen from above, shape (k, 3), int32;
            first one of each cell, then the other.
        mass: Of each of the masses [kg].
    """

    shape: tuple[int, int]
    positions: np.ndarray
    springs: np.ndarray
    rest_length: np.ndarray
    triangles: np.ndarray
    mass: float


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters that can be fitted.

    Attributes:
        wind: Velocity of the air at 0 s and at 1 s [m/s], shape (2, 3); linear in time.
        stiffness: Of the springs by kind [N/m], shape (3,).
    """

    wind: np.ndarray
    stiffness: np.ndarray


@dataclass(frozen=True, slots=True)
class ClothScene:
    """A cloth, the ball it falls on, and the air. z points up.

    Attributes:
        cloth: Masses and springs.
        time_step: [s].
        gravity: Acceleration along z [m/s^2].
        damping: Rate at which a spring slows the change of its length, for each end of it [1/s].
        drag: Force of the air on a triangle, along its normal, per area and speed along that normal
            [N s/m^3].
        center: Of the ball [m], shape (3,).
        radius: Of the ball [m], with half the thickness of the cloth.
        friction: Coulomb's coefficient between cloth and ball.
    """

    cloth: Cloth
    time_step: float
    gravity: float = -9.8
    damping: float = 100.0
    drag: float = 2.0
    center: np.ndarray = field(default_factory=lambda: np.array([0.04, -0.03, 0.0]))
    radius: float = 0.3
    friction: float = 0.2


def make_cloth(
    rows: int, columns: int, width: float = 1.0, height: float = 0.36, density: float = 0.2
) -> Cloth:
    """Return a level cloth of square cells.

    Args:
        rows: Of masses, along y.
        columns: Of masses, along x.
        width: Along x [m].
        height: Above the middle of the ball [m].
        density: Mass per area [kg/m^2].
    """
    gap = width / (columns - 1)
    row, column = np.mgrid[:rows, :columns]
    x, y = gap * (column - 0.5 * (columns - 1)), gap * (row - 0.5 * (rows - 1))
    positions = np.stack([x, y, np.full(x.shape, height)], axis=-1).reshape(-1, 3)

    number = np.arange(rows * columns).reshape(rows, columns)
    springs = []
    for down, right, kind in _OFFSETS:
        first = number[: rows - down, max(0, -right) : columns - max(0, right)].ravel()
        second = number[down:, max(0, right) : columns - max(0, -right)].ravel()
        springs.append(np.stack([first, second, np.full(first.size, kind)], axis=1))
    springs = np.concatenate(springs).astype(np.int32)

    # The corners of the cells, anticlockwise from low x and y. Neighbours are cut along different
    # diagonals, so that the skin has no grain.
    cells = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    a, b, c, d = (corner.ravel() for corner in cells)
    other = ((row + column)[:-1, :-1].ravel() % 2 == 1)[:, None]
    first = np.where(other, np.stack([a, b, d], axis=1), np.stack([a, b, c], axis=1))
    second = np.where(other, np.stack([b, c, d], axis=1), np.stack([a, c, d], axis=1))
    return Cloth(
        shape=(rows, columns),
        positions=positions,
        springs=springs,
        rest_length=np.linalg.norm(positions[springs[:, 0]] - positions[springs[:, 1]], axis=1),
        triangles=np.concatenate([first, second]).astype(np.int32),
        mass=density * gap**2,
    )


def make_scene(rows: int = 25, columns: int = 25, **changes: object) -> ClothScene:
    """Return the scene with a cloth of that many masses, and the given attributes changed.

    Damping allows a step of 1.25 ms, springs on the light masses of a fine cloth less.
    """
    step = {"time_step": min(1.25e-3, 0.03 / (columns - 1))}
    return ClothScene(cloth=make_cloth(rows, columns), **(step | changes))


def guess_parameters() -> Parameters:
    """Return the initial guess of a fit: no wind, and springs of one stiffness."""
    return Parameters(wind=np.zeros((2, 3)), stiffness=np.full(3, 4.0))


def draw_parameters(seed: int) -> Parameters:
    """Return the hidden values: a breeze that turns and grows, and a stiffness of each kind."""
    rng = np.random.default_rng(seed)
    angle, turn = rng.uniform(-np.pi, np.pi), rng.uniform(0.5, 1.5) * rng.choice([-1.0, 1.0])
    angles, speeds = angle + np.array([0.0, turn]), rng.uniform([1.0, 2.5], [2.0, 4.0])
    updraft = rng.uniform(0.0, 0.6, 2)
    wind = np.stack([speeds * np.cos(angles), speeds * np.sin(angles), updraft], axis=1)
    return Parameters(wind=wind, stiffness=rng.uniform([7.0, 4.0, 6.0], [12.0, 8.0, 10.0]))


def choose_masses(cloth: Cloth, stride: int) -> np.ndarray:
    """Return every `stride`-th mass along rows and columns, shape (k,), int32."""
    number = np.arange(len(cloth.positions), dtype=np.int32).reshape(cloth.shape)
    return number[::stride, ::stride].ravel()


def find_hinges(triangles: np.ndarray) -> np.ndarray:
    """Return the pairs of triangles that share an edge, shape (h, 4), int32.

    Args:
        triangles: The corners of the triangles, all in one sense of rotation, shape (k, 3).

    Returns:
        The two ends of the edge, the third corner of the triangle in which the edge runs from the
        first end to the second, and that of the other triangle.
    """
    edges = np.concatenate([triangles[:, [k, (k + 1) % 3, (k + 2) % 3]] for k in range(3)])
    order = np.lexsort((edges[:, :2].max(axis=1), edges[:, :2].min(axis=1)))
    edges = edges[order]
    first, second = edges[:-1], edges[1:]
    same = (first[:, 0] == second[:, 1]) & (first[:, 1] == second[:, 0])
    return np.concatenate([first[same], second[same, 2:]], axis=1).astype(np.int32)


@dt.data_oriented
class FallingCloth:
    """A cloth over a ball, and its distance from the observations.

    `places`, shape (looks, masses), are the observed positions of the masses [m].

    Args:
        scene: Cloth, ball and air.
        parameters: The wind and the stiffness.
        masses: The observed masses.
        every: Time steps between observations.
        steps: Of a run.
        dtype: Of the numbers.
    """

    def __init__(
        self,
        scene: ClothScene,
        parameters: Parameters,
        masses: np.ndarray,
        every: int,
        steps: int,
        dtype=ti.f32,
    ):
        cloth, vector, three = scene.cloth, dt.vec(3, dtype), ti.math.ivec3
        self.scene, self.every, self.steps = scene, every, steps
        self.x = dt.from_numpy(cloth.positions, dtype=vector, grad=True)
        self.v = dt.zeros(self.x.shape, vector, grad=True)
        self.free = dt.zeros(self.x.shape, vector, grad=True)  # velocity without the ball
        self.loss = dt.zeros((), dtype, grad=True)
        self.wind = dt.from_numpy(parameters.wind, dtype=vector, grad=True)
        self.stiffness = dt.from_numpy(parameters.stiffness, dtype=dtype, grad=True)
        self.parameters = {"wind": self.wind, "stiffness": self.stiffness}
        self.springs = dt.from_numpy(cloth.springs, dtype=three)
        self.rest_length = dt.from_numpy(cloth.rest_length, dtype=dtype)
        self.triangles = dt.from_numpy(cloth.triangles, dtype=three)
        self.center = dt.from_numpy(scene.center, dtype=vector)
        self.ball = dt.zeros((), vector)  # where the ball is pushed to
        self.goal = dt.zeros((), vector)  # of a corner
        self.masses = dt.from_numpy(masses)
        self.places = dt.zeros((steps // every, len(masses)), vector)
        self.h, self.mass, self.gravity = scene.time_step, cloth.mass, scene.gravity
        self.damping, self.drag = scene.damping, scene.drag
        self.radius, self.friction = scene.radius, scene.friction

    def start(self) -> None:
        """Put the cloth in its initial position, at rest."""
        self.x.from_numpy(self.scene.cloth.positions)
        self.v.fill(0.0)
        self.loss.fill(0.0)

    @dt.kernel
    def step(self, t: int):
        """Advance by one time step: gravity, springs, air, then the ball."""
        h = self.h
        for p in self.x:
            self.free[p] = self.v[p] + vec3(0.0, 0.0, h * self.gravity)
        for s in self.springs:
            a, b, kind = self.springs[s]
            d = self.x[a] - self.x[b]
            length = d.norm()
            pull = self.stiffness[kind] * (length - self.rest_length[s]) / self.mass
            slow = self.damping * (self.v[a] - self.v[b]).dot(d) / length
            change = h * (pull + slow) / length * d
            self.free[a] -= change
            self.free[b] += change
        # The air pushes a triangle along its normal, as fast as it comes through.
        for k in self.triangles:
            a, b, c = self.triangles[k]
            area = 0.5 * (self.x[b] - self.x[a]).cross(self.x[c] - self.x[a])
            air = ti.math.mix(self.wind[0], self.wind[1], t * h)
            through = (air - (self.v[a] + self.v[b] + self.v[c]) / 3).dot(area) / area.norm()
            change = h * self.drag * through / (3 * self.mass) * area
            self.free[a] += change
            self.free[b] += change
            self.free[c] += change
        # A mass that would end up inside the ball is put on its surface, and the loss of
        # speed limits friction. All of it is continuous: there are kinks where a mass just touches
        # the ball (max shares the derivative), and where it begins to slide; one that sticks has
        # no derivative along the surface.
        for p in self.x:
            d = self.x[p] + h * self.free[p] - self.center[None]
            distance = d.norm()
            normal = d / distance
            push = max(self.radius - distance, 0.0) / h
            inward = self.free[p].dot(normal)
            slide = self.free[p] - inward * normal
            slide *= max(1.0 - self.friction * push / dt.safe_norm(slide), 0.0)
            self.v[p] = slide + (inward + push) * normal
            self.x[p] += h * self.v[p]

    @dt.kernel
    def look(self, k: int):
        """Add the mean squared distance [cm²] of masses from their observed positions."""
        for i in self.masses:
            off = 100.0 * (self.x[self.masses[i]] - self.places[k, i])
            self.loss[None] += off.norm_sqr() / (self.places.shape[0] * self.places.shape[1])

    @dt.kernel
    def miss(self, corner: int):
        """The squared distance of a mass from the goal [m²]."""
        self.loss[None] = (self.x[corner] - self.goal[None]).norm_sqr()

    @dt.kernel
    def push_ball(self, way: float):
        """Move the ball towards `ball`, `way` [m] at the most."""
        rest = self.ball[None] - self.center[None]
        self.center[None] += rest * min(1.0, way / (rest.norm() + 1e-9))

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for t in range(self.steps):
            self.step(t)
            if (t + 1) % self.every == 0:
                self.look(t // self.every)


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


if __name__ == "__main__":
    scene = make_scene(9, 9)
    masses = choose_masses(scene.cloth, stride=2)
    cloth = FallingCloth(scene, guess_parameters(), masses, every=50, steps=200)
    cloth.goal.from_numpy(np.array([0.6, 0.5, 0.3]))  # where the wind should blow a corner
    descent = dt.optim.Adam({"wind": cloth.wind}, 0.5)
    for _ in range(8):
        with dt.Tape(cloth.loss):
            cloth.start()
            for t in range(cloth.steps):
                cloth.step(t)
            cloth.miss(80)
        print(f"loss {cloth.loss[None]:.6f}")
        descent.step()
