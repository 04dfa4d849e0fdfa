"""Air in a closed box with a wall in it, and a puff of smoke that should get behind the wall.

Quantities are on a staggered grid (Harlow and Welch, 1965): smoke and pressure in the middle of
square cells, velocities in the middle of their sides, each along the normal of its side. Lengths
are in cells and times in steps.

Run this file for a few steps of the optimisation; the demo `implicit-fluid` does all of them.
"""

from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile import ti

vec2 = ti.math.vec2


@dataclass(frozen=True, slots=True)
class Box:
    """A box of n by n cells; x is the first axis of all arrays, y, upwards, the second.

    Attributes:
        smoke: Density of the smoke at the start, shape (n, n).
        solid: Which cells are wall, shape (n, n).
        goal: Where the smoke should be in the end, (x, y).
        radius: How near to the goal counts as there.
        steps: Time steps of a run.
        softness: Outflow of a cell where the pressure is 1 and the same everywhere. Without
            any, pressures would be known up to a constant.
    """

    smoke: np.ndarray
    solid: np.ndarray
    goal: tuple[float, float]
    radius: float
    steps: int
    softness: float = 1e-6

    @property
    def n(self) -> int:
        """Number of cells along an axis."""
        return len(self.smoke)

    @property
    def near_goal(self) -> np.ndarray:
        """Which cells are in the circle around the goal, shape (n, n)."""
        x, y = np.indices(self.smoke.shape) + 0.5
        return np.hypot(x - self.goal[0], y - self.goal[1]) < self.radius

    @property
    def open_sides(self) -> tuple[np.ndarray, np.ndarray]:
        """Where air can pass: 1 between two cells of air and 0 elsewhere.

        For the sides across x, shape (n + 1, n), and for those across y, shape (n, n + 1).
        """
        air = 1.0 - np.pad(self.solid, 1, constant_values=True)
        return air[1:, 1:-1] * air[:-1, 1:-1], air[1:-1, 1:] * air[1:-1, :-1]


def make_box(n: int = 40, steps: int = 36) -> Box:
    """Return a box with a wall in the middle that leaves gaps above and below it.

    Args:
        n: Number of cells along an axis.
        steps: Time steps of a run.
    """
    x, y = (np.indices((n, n)) + 0.5) / n
    off = np.hypot(x - 0.25, y - 0.4) - 0.1
    return Box(
        smoke=np.clip(0.5 - off * n / 2.0, 0.0, 1.0),
        solid=(np.abs(x - 0.5) < 0.05) & (np.abs(y - 0.5) < 0.25),
        goal=(0.75 * n, 0.4 * n),
        radius=0.16 * n,
        steps=steps,
    )


@dt.func
def bilinear(f, at):
    """Interpolate a field between its elements; it is constant beyond the outermost ones."""
    last = ti.Vector([f.shape[0], f.shape[1]]) - 2
    corner = ti.math.clamp(ti.cast(ti.floor(at), ti.i32), 0, last)
    i, j = corner
    r = ti.math.clamp(at - corner, 0.0, 1.0)
    low = ti.math.mix(f[i, j], f[i, j + 1], r.y)
    return ti.math.mix(low, ti.math.mix(f[i + 1, j], f[i + 1, j + 1], r.y), r.x)


@dt.data_oriented
class Fluid:
    """Air and smoke in a box, updated in place.

    Args:
        box: Where they are.
        relaxations: Of Jacobi, for each pressure; with None conjugate gradients solve for it.
        tolerance: What they leave of the inflow of all cells, relative to it.
        dtype: Of all fields.
    """

    def __init__(
        self, box: Box, relaxations: int | None = None, tolerance: float = 1e-6, dtype=ti.f64
    ):
        n = self.n = box.n
        self.box, self.steps, self.softness = box, box.steps, box.softness
        self.relaxations, self.tolerance = relaxations, tolerance
        sides, cells = ((n + 1, n), (n, n + 1)), (n, n)
        self.u0, self.u, self.u_next = (dt.zeros(sides[0], dtype, grad=True) for _ in range(3))
        self.v0, self.v, self.v_next = (dt.zeros(sides[1], dtype, grad=True) for _ in range(3))
        self.p, self.q, self.inflow = (dt.zeros(cells, dtype, grad=True) for _ in range(3))
        self.smoke, self.carried = (dt.zeros(cells, dtype, grad=True) for _ in range(2))
        self.open_u, self.open_v = (dt.from_numpy(a, dtype=dtype) for a in box.open_sides)
        self.goal = dt.from_numpy(np.array([box.goal]), dtype=dt.vec(2, dtype))
        self.moments = dt.zeros(2, dtype, grad=True)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"u0": self.u0, "v0": self.v0}

    @dt.func
    def before(self, at):
        """Return the position one step earlier of the air that is now at a place."""
        return at - vec2(bilinear(self.u, at - vec2(0, 0.5)), bilinear(self.v, at - vec2(0.5, 0)))

    @dt.kernel
    def advect(self):
        for i, j in self.u:
            self.u_next[i, j] = bilinear(self.u, self.before(vec2(i, j + 0.5)) - vec2(0, 0.5))
        for i, j in self.v:
            self.v_next[i, j] = bilinear(self.v, self.before(vec2(i + 0.5, j)) - vec2(0.5, 0))

    @dt.kernel
    def carry(self):
        for i, j in self.smoke:
            self.carried[i, j] = bilinear(self.smoke, self.before(vec2(i, j) + 0.5) - 0.5)

    @dt.kernel
    def close(self, u, v):
        """Stop the air at walls, and sum the inflow of each cell."""
        for i, j in u:
            self.u[i, j] = self.open_u[i, j] * u[i, j]
        for i, j in v:
            self.v[i, j] = self.open_v[i, j] * v[i, j]
        for i, j in self.inflow:
            across = self.u[i, j] - self.u[i + 1, j]
            self.inflow[i, j] = across + self.v[i, j] - self.v[i, j + 1]

    @dt.func
    def outflow(self, p, i, j):
        """Return the outflow of a cell caused by the pressure."""
        total = self.softness * p[i, j]
        if i > 0:
            total += self.open_u[i, j] * (p[i, j] - p[i - 1, j])
        if i < self.n - 1:
            total += self.open_u[i + 1, j] * (p[i, j] - p[i + 1, j])
        if j > 0:
            total += self.open_v[i, j] * (p[i, j] - p[i, j - 1])
        if j < self.n - 1:
            total += self.open_v[i, j + 1] * (p[i, j] - p[i, j + 1])
        return total

    @dt.kernel
    def apply(self, p, out):
        """Multiply by the matrix of the system: outflow equals inflow."""
        for i, j in p:
            out[i, j] = self.outflow(p, i, j)

    @dt.kernel
    def relax(self, p, q):
        for i, j in p:
            q[i, j] = p[i, j] + 0.25 * (self.inflow[i, j] - self.outflow(p, i, j))

    @dt.kernel
    def accelerate(self):
        for i, j in ti.ndrange((1, self.n), self.n):
            self.u[i, j] += self.open_u[i, j] * (self.p[i - 1, j] - self.p[i, j])
        for i, j in ti.ndrange(self.n, (1, self.n)):
            self.v[i, j] += self.open_v[i, j] * (self.p[i, j - 1] - self.p[i, j])

    @dt.kernel
    def measure(self):
        """The mean square of the distance from the goal, over the smoke."""
        for k in range(2):
            self.moments[k] = 0.0
        for i, j in self.smoke:
            away = vec2(i, j) + 0.5 - self.goal[0]
            self.moments[0] += self.smoke[i, j] * away.norm_sqr()
            self.moments[1] += self.smoke[i, j]
        self.loss[None] = self.moments[0] / self.moments[1]

    def project(self, u, v) -> None:
        """Take these velocities, less the gradient of a pressure that keeps the air together."""
        self.close(u, v)
        if self.relaxations is None:
            accuracy = {"tol": self.tolerance, "adjoint_tol": self.tolerance}
            dt.linear_solve(self.apply, self.inflow, self.p, **accuracy)
        for _ in range(self.relaxations or 0):
            self.relax(self.p, self.q)
            self.p, self.q = self.q, self.p
        self.accelerate()

    def start(self) -> None:
        """Put the smoke in its initial place, and stir the air."""
        self.smoke.from_numpy(self.box.smoke)
        self.p.fill(0.0)
        self.project(self.u0, self.v0)

    def step(self) -> None:
        """Advance by one time step."""
        self.advect()
        self.project(self.u_next, self.v_next)
        self.carry()
        self.smoke, self.carried = self.carried, self.smoke

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for _ in range(self.steps):
            self.step()
        self.measure()


if __name__ == "__main__":
    fluid = Fluid(make_box(20, steps=12))
    descent = dt.optim.Adam(fluid.parameters, 0.05)
    for _ in range(6):
        with dt.Tape(fluid.loss):
            fluid.run()
        print(f"loss {fluid.loss[None]:.6f}")
        descent.step()
