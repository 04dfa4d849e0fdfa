"""Smoke in a flow that forms a picture: a periodic square, sought is the velocity at the start.

The scene of the DiffTaichi paper (Hu et al., ICLR 2020, section 4.3, "smoke"): smoke starts as a
checkerboard, an incompressible flow carries it, and after a hundred steps it should look like a
picture.

Run this file for a few steps of the optimisation; the demo `smoke` does all of them.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

import difftile as dt
from difftile import distributed as dist
from difftile import ti


@dataclass(frozen=True, slots=True)
class SmokeScene:
    """A periodic square of n cells of side 1/n along each axis, with smoke in it.

    Velocities are in cells a step, and the time is counted in steps.

    Attributes:
        smoke: Density at the start, shape (n, n).
        target: Desired density at the end, shape (n, n).
        steps: States of a run, the first one included, so that it makes `steps` - 1 updates.
        relaxations: Jacobi iterations for the pressure of a step; with None conjugate gradients
            solve for it.
        tolerance: What they leave of the divergence, relative to it.
        softness: The divergence that a pressure of 1 everywhere causes; without any, pressures
            would be known up to a constant.
    """

    smoke: np.ndarray
    target: np.ndarray
    steps: int = 100
    relaxations: int | None = 10
    tolerance: float = 1e-6
    softness: float = 1e-6

    @property
    def n(self) -> int:
        """Number of cells along an axis."""
        return len(self.smoke)


def make_scene(
    n: int = 128, steps: int = 100, relaxations: int | None = 10, tolerance: float = 1e-6
) -> SmokeScene:
    """Return a checkerboard of eight squares along each axis, which should become a ∂.

    Args:
        n: Number of cells along an axis.
        steps: States of a run, the first one included.
        relaxations: Jacobi iterations for the pressure of a step, or None.
        tolerance: Of conjugate gradients, for None.
    """
    i, j = np.indices((n, n)) * 8 // n
    return SmokeScene(((i + j) % 2).astype(float), draw_del(n), steps, relaxations, tolerance)


def draw_del(n: int) -> np.ndarray:
    """Return a ∂ as an image with smooth edges, rows from top to bottom, shape (n, n).

    Its bowl is a tilted ellipse; its stem goes along an arc of a larger circle, from the right of
    the bowl to the top left.
    """
    y, x = (np.indices((n, n)) + 0.5) / n
    bowl = 0.19 * (np.hypot((x - 0.47) / 0.19, (y - 0.62) / 0.19) - 1.0)
    center, radius, end = (0.37, 0.5), 0.32, -1.9
    angle = np.arctan2(y - center[1], x - center[0])
    arc = np.abs(np.hypot(x - center[0], y - center[1]) - radius)
    tip = center[0] + radius * np.cos(end), center[1] + radius * np.sin(end)
    round_end = np.hypot(x - tip[0], y - tip[1])
    stem = np.where((angle > end) & (angle < 0.5), arc, round_end)
    distance = np.minimum(np.abs(bowl), stem) - 0.045
    return np.clip(0.5 - distance * n / 2.0, 0.0, 1.0)


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
    def apply(self, p, out):
        """Multiply by the matrix of the system, to which Jacobi's iterations lead."""
        for i, j in p:
            down, up, right, left = self.neighbours(p, i, j)
            out[i, j] = (4.0 + self.scene.softness) * p[i, j] - down - up - right - left

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
        if self.scene.relaxations is None:
            accuracy = {"tol": self.scene.tolerance, "adjoint_tol": self.scene.tolerance}
            dt.linear_solve(self.apply, self.div, self.p, **accuracy)
        for _ in range(self.scene.relaxations or 0):
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


@dt.data_oriented
class SmokeOnRanks:
    """The same smoke in parts, one for each rank; each process runs this program.

    Compared with `Smoke`: fields are those of a grid, whose halos take the place of the other side;
    kernels loop over the cells of this rank; whatever is carried is exchanged first; the loss
    is summed over ranks. Pressures are found by conjugate gradients.

    Args:
        scene: The initial state.
        reach: The farthest that the flow may go along an axis in a step [cells].
        dtype: Of all fields.
    """

    def __init__(self, scene: SmokeScene, reach: int = 3, dtype=ti.f32):
        self.scene, self.reach, self.halo = scene, reach, reach + 1
        self.n, self.steps, self.dx = scene.n, scene.steps, 1.0 / scene.n
        self.grid = dist.Grid((self.n, self.n), halo=self.halo, periodic=True)
        field = partial(self.grid.field, grad=True)
        self.v0, self.v, self.u = (field(dt.vec(2, dtype)) for _ in range(3))
        self.smoke, self.carried, self.p, self.div = (field(dtype) for _ in range(4))
        self.target = self.grid.field(dtype)
        self.target.from_global(scene.target)
        self.farthest = dt.zeros((), dtype)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"v0": self.v0}

    @dt.func
    def before(self, f, i, j):
        """Return a field where the air of a cell was one step earlier, bilinearly."""
        v = self.v[i, j]
        ti.atomic_max(self.farthest[None], ti.max(abs(v.x), abs(v.y)))
        at = ti.Vector([i, j]) - v
        last = ti.Vector([f.shape[0], f.shape[1]]) - 2
        corner = ti.math.clamp(ti.cast(ti.floor(at), ti.i32), 0, last)
        r, (k, m) = at - corner, corner
        low = ti.math.mix(f[k, m], f[k, m + 1], r.y)
        return ti.math.mix(low, ti.math.mix(f[k + 1, m], f[k + 1, m + 1], r.y), r.x)

    @dt.kernel
    def advect(self):
        """Carry the velocities, those of one more cell too, and compute the divergence."""
        h, (n, m) = self.halo, self.div.shape
        for i, j in ti.ndrange((h - 1, n - h + 1), (h - 1, m - h + 1)):
            self.u[i, j] = self.before(self.v, i, j)
        for i, j in ti.ndrange((h, n - h), (h, m - h)):
            across = self.u[i + 1, j].x - self.u[i - 1, j].x
            self.div[i, j] = -0.5 * self.dx * (across + self.u[i, j + 1].y - self.u[i, j - 1].y)

    @dt.kernel
    def apply(self, p, out):
        """Multiply by the matrix of the system; the solver exchanges the pressures."""
        h, (n, m) = self.halo, p.shape
        for i, j in ti.ndrange((h, n - h), (h, m - h)):
            around = p[i + 1, j] + p[i - 1, j] + p[i, j + 1] + p[i, j - 1]
            out[i, j] = (4.0 + self.scene.softness) * p[i, j] - around

    @dt.kernel
    def project(self):
        """Take the gradient of the pressure off the velocities, which carry the smoke then."""
        h, p, (n, m) = self.halo, self.p, self.p.shape
        for i, j in ti.ndrange((h, n - h), (h, m - h)):
            rise = ti.Vector([p[i + 1, j] - p[i - 1, j], p[i, j + 1] - p[i, j - 1]])
            self.v[i, j] = self.u[i, j] - 0.5 / self.dx * rise
        for i, j in ti.ndrange((h, n - h), (h, m - h)):
            self.carried[i, j] = self.before(self.smoke, i, j)

    @dt.kernel
    def measure(self, smoke, target):
        """The mean squared difference of the smoke and the picture, the part of this rank."""
        for i, j in smoke:
            self.loss[None] += (target[i, j] - smoke[i, j]) ** 2 / self.n**2

    def start(self) -> None:
        """Set the initial smoke and velocities, without pressure."""
        self.v.copy_from(self.v0)
        self.smoke.from_global(self.scene.smoke)
        for field in (self.p, self.farthest, self.loss):
            field.fill(0.0)

    def step(self) -> None:
        """Advance by one time step."""
        self.grid.exchange(self.v, self.smoke)
        self.advect()
        accuracy = {"tol": self.scene.tolerance, "adjoint_tol": self.scene.tolerance}
        dt.linear_solve(self.apply, self.div, self.p, **accuracy)
        self.project()
        self.smoke, self.carried = self.carried, self.smoke

    def check_reach(self) -> None:
        """Raise an error, on all ranks, if the flow has gone farther in a step than it may."""
        farthest = dist.max(self.farthest)[None]
        if not farthest <= self.reach:
            raise ValueError(
                f"The flow goes {farthest:.2f} cells in a step, and halos allow {self.reach}: "
                f"make it slower, or pass SmokeOnRanks(scene, reach={int(np.ceil(farthest))})."
            )

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for _ in range(1, self.steps):
            self.step()
        self.check_reach()
        self.measure(self.smoke.inner, self.target.inner)
        dist.sum(self.loss)


if __name__ == "__main__":
    smoke = Smoke(make_scene(32, steps=20))
    descent = dt.optim.SGD(smoke.parameters, 80.0, momentum=0.9, clip_norm=0.02)
    for _ in range(8):
        with dt.Tape(smoke.loss):
            smoke.run()
        print(f"loss {smoke.loss[None]:.6f}")
        descent.step()
