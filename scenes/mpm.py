"""Soft bodies and water of material points that move over a grid: robots with muscles, and a fish.

The scenes of the DiffTaichi paper (Hu et al., ICLR 2020, "diffmpm", "diffmpm3d" and "liquid"), by
MLS-MPM (Hu et al., SIGGRAPH 2018) with quadratic B-splines: a particle shares with the three nodes
along each axis that are nearest to it. A muscle is a box of particles under a stress along y, in
three dimensions along z, which an open loop of sines drives.

Run this file for a few steps of the optimisation; the demos `diffmpm` and `diffmpm3d` do all of
them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import difftile as dt
from difftile import ti

SCENE_NAMES = ("robot", "fish")
STICKS = 1e30  # a coefficient of friction that stops whatever touches the floor
WALL = 3  # nodes from the border of the grid to the walls
SCENE_NAMES_3D = ("robot", "liquid")
PER_CELL = 3  # particles along a side of a cell
_LEAST_GRID = 16  # on a coarser one the floor is as high as the robot
_ORIGINAL_GRID = 64  # cells along a side in the paper's program
_CORNER = np.array([0.1, 0.05, 0.3])  # of the robot's box [m], on that grid
_BLOCK = {"robot": 0.1, "liquid": 0.08}  # a third of the robot's length and depth [m]

vec2, mat2, vec3, mat3 = ti.math.vec2, ti.math.mat2, ti.math.vec3, ti.math.mat3


class _Box(NamedTuple):
    """A rectangle of particles: its lower left corner, its sides [m] and its material."""

    x: float
    y: float
    width: float
    height: float
    muscle: int = -1
    fluid: bool = False


_BOXES = {
    # A beam on two legs, each of a left and a right muscle.
    "robot": [
        _Box(0.1, 0.13, 0.3, 0.1),
        *[_Box(0.1 + x, 0.03, 0.05, 0.1, k) for k, x in enumerate((0.0, 0.05, 0.2, 0.25))],
    ],
    # A fish of a back and four muscles, above water at the bottom of the tank into which it falls.
    "fish": [
        _Box(0.025, 0.025, 0.95, 0.1, fluid=True),
        _Box(0.1, 0.2, 0.15, 0.05),
        *[_Box(x, 0.15, 0.025, 0.05, k) for k, x in enumerate((0.1, 0.125, 0.2, 0.225))],
    ],
}


@dataclass(frozen=True, slots=True)
class MpmScene:
    """Material points at rest in the unit square, whose walls lie three cells inside it.

    Attributes:
        name: One of `SCENE_NAMES`.
        positions: Initial positions of the particles [m], shape (n, 2).
        fluid: Which of them are fluid; the others are elastic. Shape (n,), int32.
        muscle: The muscle that a particle belongs to, or -1. Shape (n,), int32.
        n_grid: Cells along a side of the unit square.
        time_step: [s].
        gravity: Acceleration along -y [m/s^2].
        stiffness: Both Lamé parameters of elastic bodies, and the bulk modulus of the fluid [Pa].
        volume: Of a particle at rest, in an arbitrary unit (in which masses are given too).
        fluid_mass: Mass of a particle of fluid; one of an elastic body has 1.
        uprightness: Ratio of the vertical to the horizontal pressure in the fluid.
        friction: Coulomb's coefficient at the floor.
        strength: Stress of a muscle at full activation [Pa].
        n_clock: Number of sines that drive the muscles.
        clock_rate: Their angular frequency [rad/s].
    """

    name: str
    positions: np.ndarray
    fluid: np.ndarray
    muscle: np.ndarray
    n_grid: int
    time_step: float = 1e-3
    gravity: float = 3.8
    stiffness: float = 10.0
    volume: float = 1.0
    fluid_mass: float = 4.0
    uprightness: float = 1.0
    friction: float = 0.5
    strength: float = 4.0
    n_clock: int = 4
    clock_rate: float = 20.0

    @property
    def n_solid(self) -> float:
        """Number of elastic particles."""
        return float(np.sum(self.fluid == 0))

    @property
    def n_muscles(self) -> int:
        """Number of muscles."""
        return int(self.muscle.max()) + 1

    @property
    def width(self) -> float:
        """Extent of the elastic body along x at the start [m]: one body length."""
        return float(np.ptp(self.positions[self.fluid == 0, 0]))


@dataclass(frozen=True, slots=True)
class Controller:
    """The control of the muscles: activation k is tanh(weights[k] @ sines + bias[k]).

    Attributes:
        weights: Shape (muscles, sines).
        bias: Shape (muscles,).
    """

    weights: np.ndarray
    bias: np.ndarray


def make_scene(name: str = "robot", n_grid: int = 128, original: bool = False) -> MpmScene:
    """Return the scene of that name, with four particles a cell.

    Args:
        name: One of `SCENE_NAMES`.
        n_grid: Cells along a side of the unit square.
        original: Keep two mistakes of the paper's program: only a tenth of the pressure of the
            water acts along y, and everything sticks to the floor instead of sliding.

    Raises:
        ValueError: The name is not in `SCENE_NAMES`, or the grid is too coarse for the scene.
    """
    if name not in SCENE_NAMES:
        raise ValueError(f"there is no scene {name!r}: choose one of {', '.join(SCENE_NAMES)}")
    boxes = _BOXES[name]
    # A box has a cell at least, and the nodes around its particles are on the grid.
    sides = min(min(box.width, box.height) for box in boxes)
    margin = min(min(box.x, box.y, 1.0 - box.x - box.width) for box in boxes)
    least = round(max(1.0 / sides, 1.5 / margin))
    if n_grid < least:
        raise ValueError(f"the {name} needs a grid of {least} cells or more, not {n_grid}")
    positions = [_fill(box, n_grid) for box in boxes]
    counts = [len(points) for points in positions]
    return MpmScene(
        name=name,
        positions=np.concatenate(positions),
        fluid=np.repeat(np.array([box.fluid for box in boxes], np.int32), counts),
        muscle=np.repeat(np.array([box.muscle for box in boxes], np.int32), counts),
        n_grid=n_grid,
        time_step=1e-3 * min(1.0, 128 / n_grid),  # so that no wave of stress skips a cell
        uprightness=0.1 if original else 1.0,
        friction=STICKS if original else 0.5,
    )


def make_controller(scene: MpmScene, seed: int = 0) -> Controller:
    """Draw small normal weights, no biases.

    NumPy's legacy generator, since it gives the initial weights of the paper's own program.
    """
    rng = np.random.RandomState(seed)
    weights = 0.01 * rng.randn(scene.n_muscles, scene.n_clock)
    return Controller(weights=weights, bias=np.zeros(scene.n_muscles))


def _fill(box: _Box, n_grid: int) -> np.ndarray:
    """Return a regular lattice of positions in a box, two a cell along x and along y."""
    columns, rows = 2 * int(box.width * n_grid), 2 * int(box.height * n_grid)
    x = box.x + (np.arange(columns) + 0.5) * box.width / columns
    y = box.y + (np.arange(rows) + 0.5) * box.height / rows
    return np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)


# Three dimensions


class _Cuboid(NamedTuple):
    """A cuboid of particles: its least corner, its sides [m] and its material."""

    corner: np.ndarray
    sides: np.ndarray
    muscle: int = -1
    fluid: bool = False


def make_scene_3d(
    name: str = "robot",
    n_grid: int = _ORIGINAL_GRID,
    seed: int = 0,
    original: bool = False,
) -> MpmScene:
    """Return the scene of that name.

    A coarser grid has a higher floor, so bodies on it are lifted; a finer one lowers them.

    Args:
        name: One of `SCENE_NAMES_3D`.
        n_grid: Cells along a side of the unit cube.
        seed: Of the positions of the liquid.
        original: Keep a mistake of the paper's program: everything sticks to the floor instead
            of sliding.

    Raises:
        ValueError: The name is not in `SCENE_NAMES_3D`, or the grid is too coarse for the scene.
    """
    if name not in SCENE_NAMES_3D:
        raise ValueError(f"there is no scene {name!r}: choose one of {', '.join(SCENE_NAMES_3D)}")
    if n_grid < _LEAST_GRID:
        raise ValueError(f"the {name} needs a grid of {_LEAST_GRID} cells or more, not {n_grid}")
    boxes = [*_quadruped(_BLOCK[name])]
    if name == "liquid":
        boxes.append(_Cuboid(np.array([0.1, 0.15, 0.1]), np.array([0.2, 0.05, 0.2]), fluid=True))
    rng = np.random.default_rng(seed)
    positions = [_fill_cuboid(box, PER_CELL * n_grid, rng) for box in boxes]
    counts = [len(points) for points in positions]
    lift = np.array([0.0, 0.05 * (_ORIGINAL_GRID / n_grid - 1.0), 0.0])
    return MpmScene(
        name=name,
        positions=np.concatenate(positions) + _CORNER + lift,
        fluid=np.repeat(np.array([box.fluid for box in boxes], np.int32), counts),
        muscle=np.repeat(np.array([box.muscle for box in boxes], np.int32), counts),
        n_grid=n_grid,
        time_step=2e-3,
        gravity=10.0,
        friction=STICKS if original else 0.5,
        strength=5.0,
        clock_rate=40.0,
    )


def _quadruped(block: float) -> Iterator[_Cuboid]:
    """Four legs of four muscles each, two side by side and two above them, with a deck between."""
    for k in range(16):
        leg, part = divmod(k, 4)
        foot = np.array([leg // 2 * 2.0, 0.0, leg % 2 * 2.0])
        shift = np.array([0.5 * (part // 2), 0.35 * (part % 2), 0.0])
        yield _Cuboid(block * (foot + shift), block * np.array([0.5, 0.35, 1.0]), k)
    for i in range(3):
        yield _Cuboid(block * np.array([i, 0.0, 1.0]), block * np.array([1.0, 0.7, 1.0]))


def _fill_cuboid(box: _Cuboid, density: int, rng: np.random.Generator) -> np.ndarray:
    """Return positions in a box: a regular lattice, or for a fluid random ones."""
    counts = (box.sides * density).astype(int)
    if box.fluid:
        return box.corner + box.sides * rng.random((int(counts.prod()), 3))
    lattice = np.indices(counts.tolist()).reshape(3, -1).T
    return box.corner + (lattice + 0.5) * box.sides / counts


# Transfers between particles and the grid


@dt.func
def nodes_around(x, n):
    """The first node around a place, the way from it to there [cells], and the weights of three."""
    base = ti.cast(x * n - 0.5, ti.i32)
    f = x * n - base
    return base, f, [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]


@dt.func
def weight_of(w, at):
    """The weight of the node that is so many steps along each axis from the first one."""
    weight = 1.0
    for axis in ti.static(range(len(at))):
        weight *= w[at[axis]][axis]
    return weight


@dt.func
def spread(grid_v, grid_m, n, x, mass, v, affine):
    """Add momentum and mass of a particle to the nodes around it.

    `affine` is the change of the momentum per cell.
    """
    base, f, w = nodes_around(x, n)
    momentum = mass * v - affine @ f
    for at in ti.static(ti.ndrange(*[3] * x.n)):
        offset, weight = ti.Vector(at), weight_of(w, at)
        grid_v[base + offset] += weight * (momentum + affine @ offset)
        grid_m[base + offset] += weight * mass


@dt.func
def collect(grid_v, n, x):
    """The velocity at a place and its gradient there, from the nodes around."""
    base, f, w = nodes_around(x, n)
    v, B = ti.zero(x), ti.zero(x).outer_product(x)
    for at in ti.static(ti.ndrange(*[3] * x.n)):
        offset = ti.Vector(at)
        g = weight_of(w, at) * grid_v[base + offset]
        v += g
        B += g.outer_product(offset)
    return v, 4.0 * n * (B - v.outer_product(f))


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
        dt.repeat(self.step, self.steps)
        self.measure()


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


if __name__ == "__main__":
    scene = make_scene("robot", n_grid=64)
    robot = Mpm(scene, make_controller(scene), steps=200)
    descent = dt.optim.Adam(robot.parameters, 0.1)
    for _ in range(6):
        with dt.Tape(robot.loss):
            robot.run()
        print(f"loss {robot.loss[None]:.6f}")
        descent.step()
