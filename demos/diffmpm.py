"""A soft robot of material points learns to walk, or a fish to swim.

Elastic bodies and water are particles that move over a grid (MLS-MPM: Hu et al., SIGGRAPH 2018):
each step, particles give mass and momentum to the nodes around them, the grid feels gravity and
the walls, and particles take the velocities back.
"""

import sys

import numpy as np
import taichi as ti

import difftile as dt
from scenes.mpm import Controller, MpmScene, make_controller, make_scene

mat2, vec2 = ti.math.mat2, ti.math.vec2
WALL = 3  # cells from the border of the grid to the walls


@dt.func
def spline(f):
    """The weights of three nodes in a row for a particle f cells from the first, 1/2 <= f < 3/2."""
    return [0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2]


@dt.func
def elastic(deformation, stiffness):
    """Kirchhoff stress of a corotated solid whose Lamé parameters are both `stiffness`."""
    turn, _ = ti.polar_decompose(deformation)
    volume = deformation.determinant()
    shear = 2.0 * (deformation - turn) @ deformation.transpose()
    return stiffness * (shear + (volume - 1.0) * volume * ti.Matrix.identity(float, 2))


@dt.data_oriented
class Mpm:
    """Particles and grid, which a step updates in place, and the controller of the muscles."""

    def __init__(self, scene: MpmScene, controller: Controller, steps: int, dtype=ti.f32):
        self.scene, self.steps = scene, steps
        n, n_grid = len(scene.positions), scene.n_grid
        vector, matrix = dt.vec(2, dtype), dt.mat(2, 2, dtype)
        self.x = dt.zeros(n, dtype=vector, grad=True)
        self.v = dt.zeros(n, dtype=vector, grad=True)
        self.C = dt.zeros(n, dtype=matrix, grad=True)  # gradient of the velocity
        self.F = dt.zeros(n, dtype=matrix, grad=True)  # of the position by that at rest
        self.grid_v = dt.zeros((n_grid, n_grid), dtype=vector, grad=True)  # momentum, velocity
        self.grid_m = dt.zeros((n_grid, n_grid), dtype=dtype, grad=True)
        self.activation = dt.zeros(scene.n_muscles, dtype=dtype, grad=True)
        self.loss = dt.zeros((), dtype=dtype, grad=True)
        self.fluid = dt.from_numpy(scene.fluid)
        self.muscle = dt.from_numpy(scene.muscle)
        self.weights = dt.from_numpy(controller.weights, dtype=dtype, grad=True)
        self.bias = dt.from_numpy(controller.bias, dtype=dtype, grad=True)
        self.parameters = {"weights": self.weights, "bias": self.bias}

    def start(self):
        self.x.from_numpy(self.scene.positions)
        self.v.fill(0.0)
        self.C.fill(0.0)
        self.F.fill(np.eye(2))

    @dt.kernel
    def step(self, t: int):
        scene, n = ti.static(self.scene), self.scene.n_grid
        h, dx = scene.time_step, 1.0 / n
        for k in self.activation:
            total = self.bias[k]
            for j in range(scene.n_clock):
                phase = 2.0 * np.pi * j / scene.n_clock
                total += self.weights[k, j] * ti.sin(scene.clock_rate * h * t + phase)
            self.activation[k] = ti.tanh(total)

        for i, j in self.grid_m:
            self.grid_v[i, j] = vec2(0.0, 0.0)
            self.grid_m[i, j] = 0.0
        for p in self.x:
            base = ti.cast(self.x[p] * n - 0.5, ti.i32)
            f = self.x[p] * n - base
            w = spline(f)
            F = self.F[p] + h * self.C[p] @ self.F[p]
            mass, stress = 1.0, mat2(0.0)
            if self.fluid[p] == 1:
                mass = scene.fluid_mass
                volume = F.determinant()
                F = ti.sqrt(volume) * ti.Matrix.identity(float, 2)
                stress = scene.stiffness * (volume - 1.0) * ti.Matrix.identity(float, 2)
            else:
                stress = elastic(F, scene.stiffness)
                if self.muscle[p] >= 0:
                    pull = scene.strength * self.activation[self.muscle[p]]
                    stress += pull * F[:, 1].outer_product(F[:, 1])
            self.F[p] = F
            affine = dx * mass * self.C[p] - h * scene.volume * 4.0 * n * stress
            momentum = mass * self.v[p] - affine @ f
            for i, j in ti.static(ti.ndrange(3, 3)):
                node, weight = base + ti.Vector([i, j]), w[i].x * w[j].y
                self.grid_v[node] += weight * (momentum + affine @ ti.Vector([i, j]))
                self.grid_m[node] += weight * mass

        for i, j in self.grid_m:
            v = self.grid_v[i, j] / (self.grid_m[i, j] + 1e-10)
            v.y -= h * scene.gravity
            if (i < WALL and v.x < 0.0) or (i > n - WALL and v.x > 0.0):
                v = vec2(0.0, 0.0)
            if (j < WALL and v.y < 0.0) or (j > n - WALL and v.y > 0.0):
                v = vec2(0.0, 0.0)
            self.grid_v[i, j] = v

        for p in self.x:
            base = ti.cast(self.x[p] * n - 0.5, ti.i32)
            f = self.x[p] * n - base
            w = spline(f)
            v, B = vec2(0.0, 0.0), mat2(0.0)
            for i, j in ti.static(ti.ndrange(3, 3)):
                g = w[i].x * w[j].y * self.grid_v[base + ti.Vector([i, j])]
                v += g
                B += g.outer_product(ti.Vector([i, j]))
            self.v[p] = v
            self.C[p] = 4.0 * n * (B - v.outer_product(f))
            self.x[p] += h * v

    @dt.kernel
    def measure(self):
        for p in self.x:
            if self.fluid[p] == 0:
                self.loss[None] -= self.x[p].x / self.n_solid

    def run(self):
        self.start()
        for t in range(self.steps):
            self.step(t)
        self.loss.fill(0.0)
        self.measure()

    @property
    def n_solid(self):
        return float(np.sum(self.scene.fluid == 0))
