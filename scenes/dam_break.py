"""A column of water breaks down in a tank: smoothed particles (SPH) with gradients.

Weakly compressible SPH: Monaghan, "Simulating free surface flows with SPH" (Journal of
Computational Physics, 1994), with the kernel of Wendland (1995) and densities by summation. The
velocity with which the column is pushed at the start is sought, so that the water ends with its
centre at a goal.

Run this file for a few steps of the optimisation; the demo `dam-break` does all of them.
"""

from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile import ti


@dataclass(frozen=True, slots=True)
class DamScene:
    """A column of water in the left corner of a tank.

    Attributes:
        width: Of the column [m].
        height: Of the column [m].
        tank: Width of the tank [m].
        spacing: Of particles at the start [m].
        gravity: [m/s^2]
        density: Of water at rest [kg/m^3].
        sound: Speed of sound, several times that of the water [m/s].
        viscosity: Of Monaghan's artificial viscosity, without a unit.
        goal: Where the centre of the water should be at the end [m].
    """

    width: float = 0.3
    height: float = 0.6
    tank: float = 1.2
    spacing: float = 0.02
    gravity: float = 9.81
    density: float = 1000.0
    sound: float = 18.0
    viscosity: float = 0.5
    goal: tuple[float, float] = (0.42, 0.1)

    @property
    def smoothing(self) -> float:
        """Half of the radius of the kernel [m]."""
        return 1.3 * self.spacing

    @property
    def mass(self) -> float:
        """Of a particle, for one metre of depth [kg/m]."""
        return self.density * self.spacing**2

    @property
    def time_step(self) -> float:
        """In which sound travels a quarter of the smoothing length [s]."""
        return 0.25 * self.smoothing / self.sound

    def column(self) -> np.ndarray:
        """Return the positions of the particles at the start [m], shape (n, 2)."""
        x, y = (
            (np.arange(round(length / self.spacing)) + 0.5) * self.spacing
            for length in (self.width, self.height)
        )
        return np.stack(np.meshgrid(x, y, indexing="ij"), -1).reshape(-1, 2)


@dt.data_oriented
class Dam:
    """Water in fields: positions, velocities and densities of its particles.

    Args:
        scene: The water and its tank.
        steps: Of a run.
        dtype: Of all numbers.
    """

    def __init__(self, scene: DamScene, steps: int, dtype=ti.f32):
        self.scene, self.steps, self.h = scene, steps, scene.time_step
        vector, column = dt.vec(2, dtype), scene.column()
        self.n, self.mass, self.rest = len(column), scene.mass, scene.density
        self.smoothing, self.sound, self.tank = scene.smoothing, scene.sound, scene.tank
        self.gravity, self.viscosity = scene.gravity, scene.viscosity
        self.margin, self.stiffness = 0.5 * scene.spacing, (scene.sound / scene.spacing) ** 2
        self.column = dt.from_numpy(column, dtype=vector)
        self.x, self.v, self.a = (dt.zeros(self.n, vector, grad=True) for _ in range(3))
        self.rho = dt.zeros(self.n, dtype, grad=True)
        self.push = dt.zeros((), vector, grad=True)
        self.goal = dt.from_numpy(np.array(scene.goal), dtype=vector)
        self.centre, self.loss = dt.zeros((), vector, grad=True), dt.zeros((), dtype, grad=True)
        # The water moves for some steps before other particles come within reach.
        self.grid = dt.geometry.Neighbours(2 * scene.smoothing, skin=0.5 * scene.spacing)
        self.parameters = {"push": self.push}

    @dt.kernel
    def start(self):
        for i in self.x:
            self.x[i] = self.column[i]
            self.v[i] = self.push[None]

    @dt.kernel
    def weigh(self):
        """Sum up the densities."""
        for i in self.x:
            rho = 0.0
            for j in self.grid.around(self.x[i]):
                if self.grid.is_near(self.x[i], self.x[j]):
                    q = (self.x[i] - self.x[j]).norm() / self.smoothing
                    rho += (1.0 - 0.5 * q) ** 4 * (1.0 + 2.0 * q)
            self.rho[i] = self.mass * 7.0 / (4.0 * np.pi * self.smoothing**2) * rho

    @dt.func
    def pressure(self, rho):
        """Return the pressure; water at its surface, which lacks neighbours, pulls nothing."""
        return self.sound**2 * max(rho - self.rest, 0.0)

    @dt.kernel
    def accelerate(self):
        """Sum up pressures, viscosity and gravity, and what walls push back."""
        for i in self.x:
            p, rho = self.x[i], self.rho[i]
            a = ti.Vector([0.0, -self.gravity])
            mine = self.pressure(rho) / rho**2
            for j in self.grid.around(p):
                if self.grid.is_near(p, self.x[j]) and j != i:
                    d = p - self.x[j]
                    q = d.norm() / self.smoothing
                    slope = -35.0 / (4.0 * np.pi * self.smoothing**4) * (1.0 - 0.5 * q) ** 3
                    other = self.rho[j]
                    closing = (self.v[i] - self.v[j]).dot(d)
                    drag = self.viscosity * self.sound * self.smoothing * closing
                    drag /= (d.norm_sqr() + 0.01 * self.smoothing**2) * 0.5 * (rho + other)
                    a -= self.mass * (mine + self.pressure(other) / other**2 - drag) * slope * d
            a.x += self.stiffness * max(self.margin - p.x, 0.0)
            a.x -= self.stiffness * max(p.x - self.tank + self.margin, 0.0)
            a.y += self.stiffness * max(self.margin - p.y, 0.0)
            self.a[i] = a

    @dt.kernel
    def move(self):
        for i in self.x:
            self.v[i] += self.h * self.a[i]
            self.x[i] += self.h * self.v[i]

    @dt.kernel
    def measure(self):
        self.centre[None] = ti.Vector([0.0, 0.0])
        for i in self.x:
            self.centre[None] += self.x[i] / self.n
        self.loss[None] = 0.5 * (self.centre[None] - self.goal[None]).norm_sqr()

    def step(self) -> None:
        """Advance by one time step."""
        self.grid.update(self.x)
        self.weigh()
        self.accelerate()
        self.move()

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for _ in range(self.steps):
            self.step()
        self.measure()


if __name__ == "__main__":
    dam = Dam(DamScene(), steps=700)
    descent = dt.optim.Adam(dam.parameters, 0.2)
    for _ in range(4):
        with dt.Tape(dam.loss):
            dam.run()
        print(f"loss {dam.loss[None]:.6f}")
        descent.step()
