"""A fluid of Lennard-Jones atoms in a periodic box, with energy and pressure.

Its states are among those that NIST publishes for tests of programs ("Lennard-Jones Fluid
Properties", Standard Reference Simulation Website, section 3, Monte Carlo in NVT: cutoff 3 sigma
with long-range corrections). Forces and pressure are derivatives of the energy, by the positions
and by the scale of all distances.

Run this file for a short average; the demo `lennard-jones` takes a longer one and draws it.
"""

from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile import ti


@dataclass(frozen=True, slots=True)
class FluidScene:
    """Atoms of one kind, in units of their diameter sigma, energy epsilon and mass.

    Attributes:
        side: Atoms along each edge of the box at the start.
        temperature: [epsilon/k]
        density: Atoms in a cube of one diameter [1/sigma^3].
        cutoff: Of the potential, which is cut off and not shifted [sigma].
        skin: Neighbours are listed anew when an atom has moved by half of it [sigma].
        time_step: [sigma (mass/epsilon)^(1/2)]
        damping: Rate at which the thermostat draws velocities anew [1/time].
        energy: Published potential energy of an atom [epsilon].
        pressure: Published pressure [epsilon/sigma^3].
    """

    side: int = 8
    temperature: float = 0.85
    density: float = 0.776
    cutoff: float = 3.0
    skin: float = 0.4
    time_step: float = 0.005
    damping: float = 4.0
    energy: float = -5.5121
    pressure: float = 0.0067714

    @property
    def n(self) -> int:
        """Number of atoms."""
        return self.side**3

    @property
    def edge(self) -> float:
        """Of the box [sigma]."""
        return (self.n / self.density) ** (1 / 3)

    def lattice(self) -> np.ndarray:
        """Return positions on a cubic lattice [sigma], shape (n, 3)."""
        steps = np.arange(self.side) * self.edge / self.side
        return np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), -1).reshape(-1, 3)

    @property
    def tails(self) -> tuple[float, float]:
        """What lies beyond the cutoff adds to the energy of an atom and to the pressure.

        Allen and Tildesley, Computer Simulation of Liquids, equations 2.144 and 2.145.
        """
        s = self.cutoff**-3
        energy = 8 / 3 * np.pi * self.density * (s**3 / 3 - s)
        return energy, 16 / 3 * np.pi * self.density**2 * (2 / 3 * s**3 - s)


@dt.data_oriented
class Fluid:
    """Atoms that move by the gradient of their energy.

    Args:
        scene: The fluid.
        seed: Of velocities.
        dtype: Of all numbers.
    """

    def __init__(self, scene: FluidScene, seed: int = 0, dtype=ti.f64):
        self.scene = scene
        self.x = dt.from_numpy(scene.lattice(), dtype=dt.vec(3, dtype), grad=True)
        start = np.random.default_rng(seed).normal(0, scene.temperature**0.5, (scene.n, 3))
        self.v = dt.from_numpy(start - start.mean(0), dtype=dt.vec(3, dtype))
        self.scale = dt.full((), 1.0, dtype, grad=True)
        self.energy = dt.zeros((), dtype, grad=True)
        self.grid = dt.geometry.Neighbours(scene.cutoff, box=[scene.edge] * 3, skin=scene.skin)
        self.lists = None

    @dt.kernel
    def measure(self, lists):
        """Add up the energy of all pairs."""
        for i in self.x:
            for j in lists.of(i):
                if self.grid.is_near(self.x[i], self.x[j]):
                    d = self.scale[None] * self.grid.displacement(self.x[i], self.x[j])
                    s = 1.0 / d.norm_sqr() ** 3
                    self.energy[None] += 4.0 * (s * s - s)

    @dt.kernel
    def kick(self, force, h: float, keep: float, noise: float):
        """Change velocities by minus the gradient, with the thermostat in the middle."""
        for i in self.v:
            v = keep * (self.v[i] - 0.5 * h * force[i])
            v += noise * ti.Vector([dt.randn(), dt.randn(), dt.randn()])
            self.v[i] = v - 0.5 * h * force[i]

    @dt.kernel
    def drift(self, h: float):
        for i in self.x:
            self.x[i] += h * self.v[i]

    def differentiate(self) -> None:
        """Compute the energy, its gradient by positions, and by the scale of distances."""
        if self.grid.update(self.x) or self.lists is None:
            self.lists = self.grid.lists(half=True)
        self.energy.fill(0.0)
        with dt.Tape(self.energy):
            self.measure(self.lists)

    def step(self) -> None:
        """Advance by one time step of Langevin dynamics.

        The order is ABOBA (Leimkuhler and Matthews, Molecular Dynamics, section 7.3.1), whose
        positions between the two halves of a drift are sampled.
        """
        h, rate = self.scene.time_step, self.scene.damping
        keep = float(np.exp(-rate * h))
        noise = float(np.sqrt(self.scene.temperature * (1 - keep**2)))
        self.drift(0.5 * h)
        self.differentiate()
        self.kick(self.x.grad, h, keep, noise)
        self.drift(0.5 * h)

    def state(self) -> tuple[float, float]:
        """Return the potential energy of an atom and the pressure, tails included.

        The virial is minus the gradient by the scale: p = rho T - (dE/d scale) / (3 V).
        """
        scene = self.scene
        energy, pressure = scene.tails
        energy += self.energy[None] / scene.n
        pressure += scene.density * scene.temperature - self.scale.grad[None] / (3 * scene.edge**3)
        return energy, pressure


if __name__ == "__main__":
    fluid, found = Fluid(FluidScene()), []
    for t in range(600):
        fluid.step()
        if t >= 300 and t % 10 == 0:
            found.append(fluid.state())
    print("energy and pressure", np.mean(found, axis=0), "published", -5.5121, 0.0068)
