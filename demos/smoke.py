"""Smoke forms a picture: found is the velocity that an incompressible flow has to start with.

Every step carries velocities and smoke along the flow, solves for a pressure by iterations of
Jacobi, and takes its gradient off the velocities. All of it is updated in place: on a tape,
`with dt.Tape(loss):` keeps what the adjoints read and leaves the gradient in the velocities of the
start.
"""

import taichi as ti

import difftile as dt
from scenes.smoke import SmokeScene

# The simulation. Fields are periodic: an index runs on at the other side.


@dt.data_oriented
class Smoke:
    """Smoke in an incompressible flow, updated in place.

    Args:
        scene: What there is at the start.
        original: Project as the program of the paper does: by an index that is one off, with the
            last but one pressure of the step before.
        dtype: Of all fields.
    """

    def __init__(self, scene: SmokeScene, original: bool = False, dtype=ti.f32):
        self.scene, self.original = scene, original
        self.n, self.steps, self.dx = scene.n, scene.steps, 1.0 / scene.n
        scalar, vector = {"dtype": dtype, "grad": True}, {"dtype": dt.vec(2, dtype), "grad": True}
        self.v0, self.v, self.u = (dt.zeros((self.n, self.n), **vector) for _ in range(3))
        self.smoke, self.carried = (dt.zeros((self.n, self.n), **scalar) for _ in range(2))
        self.p, self.q, self.div = (dt.zeros((self.n, self.n), **scalar) for _ in range(3))
        self.target = dt.from_numpy(scene.target, dtype=dtype)
        self.loss = dt.zeros((), **scalar)
        self.parameters = {"v0": self.v0}

    @dt.func
    def between(self, f, at):
        """Return the field between its cells, bilinearly."""
        corner = ti.floor(at)
        r, (i, j) = at - corner, ti.cast(corner, ti.i32) % self.n
        k, m = (i + 1) % self.n, (j + 1) % self.n
        low, high = ti.math.mix(f[i, j], f[i, m], r.y), ti.math.mix(f[k, j], f[k, m], r.y)
        return ti.math.mix(low, high, r.x)

    @dt.kernel
    def advect(self, f, carried):
        for i, j in ti.ndrange(self.n, self.n):
            carried[i, j] = self.between(f, ti.Vector([i, j]) - self.v[i, j])

    @dt.func
    def neighbours(self, f, i, j):
        """Return the field in the cells below, above, to the right and to the left."""
        n = self.n
        return f[(i + 1) % n, j], f[(i - 1) % n, j], f[i, (j + 1) % n], f[i, (j - 1) % n]

    @dt.kernel
    def diverge(self):
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
        for i, j in ti.ndrange(self.n, self.n):
            down, up, right, left = self.neighbours(p, i, j)
            self.v[i, j] = self.u[i, j] - 0.5 / self.dx * ti.Vector([down - up, right - left])

    @dt.kernel
    def measure(self):
        self.loss[None] = 0.0
        for i, j in self.smoke:
            self.loss[None] += (self.target[i, j] - self.smoke[i, j]) ** 2 / self.n**2

    def start(self) -> None:
        """Put smoke and velocities where they start; there is no pressure yet."""
        self.v.copy_from(self.v0)
        self.smoke.from_numpy(self.scene.smoke)
        self.p.fill(0.0), self.q.fill(0.0)

    def step(self, t: int) -> None:
        """Advance by one time step; `p` is the last pressure found, `q` the one before."""
        self.advect(self.v, self.u)
        self.diverge()
        if self.original:
            self.project(self.q)
        for _ in range(self.scene.relaxations):
            self.relax(self.p, self.q)
            self.p, self.q = self.q, self.p
        if not self.original:
            self.project(self.p)
        self.advect(self.smoke, self.carried)
        self.smoke, self.carried = self.carried, self.smoke

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for t in range(1, self.steps):
            self.step(t)
        self.measure()
