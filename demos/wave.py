"""Waves on a square of water run into each other and show a picture.

Two fields hold the water: its height, and that of one time step before. A step computes the next
height where the older one is, and the two change roles. The equation is linear, so the gradient
needs no old values, and `with dt.Tape(loss):` keeps none, however long the simulation is.
"""

import taichi as ti

import difftile as dt
from scenes.wave import WaveScene


@dt.data_oriented
class Wave:
    """A square of water; `initial` is its height at the start [m], shape (n, n).

    Args:
        scene: The square, and what the water should look like at the end.
        steps: States of a run, the initial one included.
        dtype: Of the numbers.
    """

    def __init__(self, scene: WaveScene, steps: int, dtype=ti.f32):
        self.n, self.courant, self.steps = scene.n, scene.courant, steps
        self.initial = dt.zeros((self.n, self.n), dtype, grad=True)
        # A rim of cells that stay zero is the flat water outside.
        self.p, self.older = (dt.zeros((self.n + 2,) * 2, dtype, grad=True) for _ in range(2))
        self.target = dt.from_numpy(scene.target, dtype=dtype)
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"initial": self.initial}

    @dt.kernel
    def start(self):
        """Raise the water at time 0; at the next time it is flat."""
        for i, j in self.initial:
            self.older[i + 1, j + 1] = self.initial[i, j]
            self.p[i + 1, j + 1] = 0.0

    @dt.kernel
    def advance(self):
        """Write the next height over the older one."""
        for i, j in ti.ndrange((1, self.n + 1), (1, self.n + 1)):
            around = self.p[i - 1, j] + self.p[i + 1, j] + self.p[i, j - 1] + self.p[i, j + 1]
            change = self.courant * (around - 4.0 * self.p[i, j])
            self.older[i, j] = 2.0 * self.p[i, j] - self.older[i, j] + change

    @dt.kernel
    def measure(self):
        """The mean square of what the water is off the picture."""
        self.loss[None] = 0.0
        for i, j in self.target:
            self.loss[None] += (self.target[i, j] - self.p[i + 1, j + 1]) ** 2 / self.n**2

    def step(self) -> None:
        """Advance by one time step."""
        self.advance()
        self.p, self.older = self.older, self.p

    def travel(self) -> None:
        """Simulate from the start."""
        self.start()
        for _ in range(2, self.steps):
            self.step()

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.travel()
        self.measure()
