"""An elastic block of material points, whose velocity is sought with which it is thrown at a point.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, "diffmpm_simple"), by MLS-MPM with
quadratic B-splines (Hu et al., SIGGRAPH 2018).

Run this file for a few steps of the optimisation; the demo `mpm-velocity` does all of them.
"""

from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile import ti

WALL = 3  # nodes from the border of the grid to the walls

vec2, mat2 = ti.math.vec2, ti.math.mat2


@dataclass(frozen=True, slots=True)
class BlockScene:
    """An elastic block of unit masses that is thrown at a point.

    Attributes:
        positions: Initial positions of the particles [m], shape (n, 2).
        target: Desired final position of their centre [m], shape (2,).
        n_grid: Cells along a side of the unit square.
        time_step: [s].
        gravity: Acceleration along -y [m/s^2].
        stiffness: Both Lamé parameters [Pa].
        volume: Of a particle at rest.
    """

    positions: np.ndarray
    target: np.ndarray
    n_grid: int
    time_step: float = 3e-4
    gravity: float = 9.8
    stiffness: float = 100.0
    volume: float = 1.0


def make_block(n_grid: int = 120) -> BlockScene:
    """Return a block of a third of a metre, with four particles a cell; 6400 of them at 120.

    Raises:
        ValueError: The grid has less than 18 cells: nodes around the block would not be on it.
    """
    if n_grid < 18:
        raise ValueError(f"the block needs a grid of 18 cells or more, not {n_grid}")
    i, j = np.indices((2 * n_grid // 3, 2 * n_grid // 3))
    positions = np.array([10.0, 25.0]) / 120 + np.stack([i, j], axis=-1).reshape(-1, 2) / 2 / n_grid
    return BlockScene(
        positions=positions,
        target=np.array([0.3, 0.6]),
        n_grid=n_grid,
        time_step=3e-4 * min(1.0, 120 / n_grid),
    )


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
        dt.repeat(self.step, self.steps)
        self.measure()


if __name__ == "__main__":
    block = Throw(make_block(40), steps=300)
    descent = dt.optim.SGD(block.parameters, 10.0)
    for _ in range(6):
        with dt.Tape(block.loss):
            block.run()
        print(f"loss {block.loss[None]:.6f}")
        descent.step()
