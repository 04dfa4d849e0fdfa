"""A soft body of springs is thrown onto hills, so that it ends at a goal on them.

The body is a lattice of nodes, each with springs to the 26 around it. The hills are a mesh: each
node asks for the nearest point of it in every step, and is pushed out along the normal of the
triangle that is found there. Which triangle that is has no derivative; the distance has.

Run this file for a few steps of the optimisation; the demo `soft-drop` does all of them.
"""

from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile import ti


@dataclass(frozen=True, slots=True)
class DropScene:
    """A cube that is thrown, over a square of hills with its middle at 0 and z upwards.

    Attributes:
        nodes: Of the cube along each edge.
        spacing: Of nodes [m].
        start: The corner where the cube begins [m].
        goal: Where its centre should be at the end [m].
        throw: The velocity that the search begins with [m/s].
        side: Of the hills [m].
        squares: Of the mesh of the hills along each side.
        h: The time step [s].
        stiffness: Of springs, for each kilogram of a node [1/s^2].
        damping: Of springs [1/s].
        floor: The stiffness of the hills [1/s^2].
        friction: How fast sliding on them is damped [1/s].
        gravity: [m/s^2]
    """

    nodes: int = 4
    spacing: float = 0.12
    start: tuple[float, float, float] = (-1.3, -1.2, 1.1)
    goal: tuple[float, float, float] = (0.75, 0.35, 0.34)
    throw: tuple[float, float, float] = (1.2, 0.6, 1.0)
    side: float = 4.0
    squares: int = 24
    h: float = 1.0 / 600.0
    stiffness: float = 9000.0
    damping: float = 15.0
    floor: float = 9000.0
    friction: float = 8.0
    gravity: float = 9.81

    def lattice(self) -> np.ndarray:
        """Return the positions of the nodes at the start [m], shape (nodes, nodes, nodes, 3)."""
        k = self.spacing * np.arange(self.nodes)
        return np.stack(np.meshgrid(k, k, k, indexing="ij"), -1) + np.array(self.start)

    def hills(self) -> tuple[np.ndarray, np.ndarray]:
        """Return vertices [m] and faces of the hills."""
        n = self.squares + 1
        line = self.side * np.linspace(-0.5, 0.5, n)
        x, y = np.meshgrid(line, line, indexing="ij")
        z = 0.18 * np.sin(2.2 * x) * np.cos(1.9 * y) + 0.04 * (x**2 + y**2)
        first = (np.arange(self.squares)[:, None] * n + np.arange(self.squares)).ravel()
        halves = [[first, first + n, first + n + 1], [first, first + n + 1, first + 1]]
        faces = np.concatenate([np.stack(one, 1) for one in halves])
        return np.stack([x, y, z], -1).reshape(-1, 3), faces


@dt.data_oriented
class SoftDrop:
    """The body and the hills in fields.

    Args:
        scene: What is thrown.
        steps: Of a run.
        dtype: Of all numbers.
    """

    def __init__(self, scene: DropScene, steps: int, dtype=ti.f32):
        self.scene, self.steps, self.h, self.n = scene, steps, scene.h, scene.nodes
        self.stiffness, self.damping, self.spacing = scene.stiffness, scene.damping, scene.spacing
        self.floor, self.friction, self.gravity = scene.floor, scene.friction, scene.gravity
        vec, lattice = dt.vec(3, dtype), scene.lattice()
        vertices, faces = scene.hills()
        self.hills = dt.geometry.Mesh(dt.from_numpy(vertices, dtype=vec), faces)
        self.lattice = dt.from_numpy(lattice, dtype=vec)
        self.x, self.v, self.a = (dt.zeros(lattice.shape[:3], vec, grad=True) for _ in range(3))
        self.throw = dt.full((), scene.throw, dtype=vec, grad=True)
        self.goal = dt.full((), scene.goal, dtype=vec)
        self.centre, self.loss = dt.zeros((), vec, grad=True), dt.zeros((), dtype, grad=True)
        self.parameters = {"throw": self.throw}

    @dt.kernel
    def start(self):
        for at in ti.grouped(self.x):
            self.x[at] = self.lattice[at]
            self.v[at] = self.throw[None]

    @dt.func
    def pull(self, at):
        """Return what the springs of a node accelerate it by."""
        total = ti.Vector([0.0, 0.0, 0.0])
        for i, j, k in ti.ndrange((-1, 2), (-1, 2), (-1, 2)):
            step = ti.Vector([i, j, k])
            other = at + step
            if step.dot(step) > 0 and other.min() >= 0 and other.max() < self.n:
                away = self.x[other] - self.x[at]
                length = away.norm()
                rest = self.spacing * ti.sqrt(float(step.dot(step)))
                closing = (self.v[other] - self.v[at]).dot(away) / length
                total += (self.stiffness * (length - rest) + self.damping * closing) / length * away
        return total

    @dt.func
    def push(self, p, v):
        """Return what the hills accelerate a node by."""
        total = ti.Vector([0.0, 0.0, 0.0])
        near = self.hills.closest(p, self.spacing)
        if near.face >= 0 and near.distance < 0.0:
            normal = self.hills.normal(near.face)
            along = v - v.dot(normal) * normal
            total = -self.floor * near.distance * normal - self.friction * along
        return total

    @dt.kernel
    def accelerate(self):
        for at in ti.grouped(self.x):
            down = ti.Vector([0.0, 0.0, -self.gravity])
            self.a[at] = down + self.pull(at) + self.push(self.x[at], self.v[at])

    @dt.kernel
    def move(self):
        for at in ti.grouped(self.x):
            self.v[at] += self.h * self.a[at]
            self.x[at] += self.h * self.v[at]

    @dt.kernel
    def measure(self):
        self.centre[None] = ti.Vector([0.0, 0.0, 0.0])
        for at in ti.grouped(self.x):
            self.centre[None] += self.x[at] / self.n**3
        self.loss[None] = 0.5 * (self.centre[None] - self.goal[None]).norm_sqr()

    def step(self) -> None:
        """Advance by one time step."""
        self.accelerate()
        self.move()

    def run(self) -> None:
        """Simulate from the start and measure the loss, half the squared miss [m^2]."""
        self.start()
        for _ in range(self.steps):
            self.step()
        self.measure()


if __name__ == "__main__":
    drop = SoftDrop(DropScene(), steps=600)
    descent = dt.optim.Adam(drop.parameters, 0.1)
    for _ in range(8):
        with dt.Tape(drop.loss):
            drop.run()
        print(f"loss {drop.loss[None]:.6f}")
        descent.step()
