"""A soft robot on four legs learns to walk in three dimensions.

Elastic bodies and liquid are particles that move over a grid (MLS-MPM: Hu et al., SIGGRAPH 2018):
each step, particles give mass and momentum to the nodes around them, the grid feels gravity and
the walls, and particles take the velocities back. All of it is updated in place.
"""

import numpy as np
import taichi as ti

import difftile as dt
from demos.diffmpm import WALL, spline
from scenes.mpm import Controller, MpmScene

vec3, mat3 = ti.math.vec3, ti.math.mat3


@dt.func
def neo_hookean(F, stiffness):
    """Kirchhoff stress under a deformation F, where both Lamé parameters are `stiffness`."""
    return stiffness * (F @ F.transpose() + (ti.log(F.determinant()) - 1.0) * ti.math.eye(3))


@dt.data_oriented
class Mpm3d:
    """Particles and grid in fields, which a step updates in place, and what drives the muscles."""

    def __init__(self, scene: MpmScene, controller: Controller, steps: int, dtype=ti.f32):
        self.scene, self.steps, self.n = scene, steps, scene.n_grid
        vector, matrix, grid = dt.vec(3, dtype), dt.mat(3, 3, dtype), (self.n,) * 3
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
        for i, j, k in self.grid_m:
            self.grid_v[i, j, k], self.grid_m[i, j, k] = vec3(0.0), 0.0
        for p in self.x:
            base = ti.cast(self.x[p] * n - 0.5, ti.i32)
            f = self.x[p] * n - base
            w = spline(f)
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
            momentum = mass * self.v[p] - affine @ f
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                node, weight = base + ti.Vector([i, j, k]), w[i].x * w[j].y * w[k].z
                self.grid_v[node] += weight * (momentum + affine @ vec3(i, j, k))
                self.grid_m[node] += weight * mass

        # What meets a wall sticks there, what meets the floor slides with friction.
        for i, j, k in self.grid_m:
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
            base = ti.cast(self.x[p] * n - 0.5, ti.i32)
            f = self.x[p] * n - base
            w = spline(f)
            v, B = vec3(0.0), mat3(0.0)
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                g = w[i].x * w[j].y * w[k].z * self.grid_v[base + ti.Vector([i, j, k])]
                v += g
                B += g.outer_product(vec3(i, j, k))
            self.v[p], self.C[p] = v, 4.0 * n * (B - v.outer_product(f))
            self.x[p] += h * v

    @dt.kernel
    def measure(self):
        """The farther right what is elastic, the better."""
        self.loss[None] = 0.0
        for p in self.x:
            if self.fluid[p] == 0:
                self.loss[None] -= self.x[p].x / self.scene.n_solid

    def start(self) -> None:
        """Put all where it starts, at rest."""
        self.x.from_numpy(self.scene.positions)
        self.F.fill(np.eye(3))
        self.v.fill(0.0)
        self.C.fill(0.0)

    def run(self) -> None:
        """Simulate from the start and measure the loss."""
        self.start()
        for t in range(self.steps):
            self.step(t)
        self.measure()
