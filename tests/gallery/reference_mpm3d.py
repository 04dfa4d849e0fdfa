"""Material points in three dimensions, in NumPy: an independent reference.

Complex numbers pass through (comparisons look at real parts), so a complex step gives derivatives.
"""

from itertools import product

import numpy as np

from scenes.mpm import MpmScene


def simulate(
    scene: MpmScene, weights: np.ndarray, bias: np.ndarray, steps: int
) -> tuple[complex | float, np.ndarray]:
    """Run `steps` updates from rest.

    Args:
        scene: Particles and world.
        weights: Of the controller, shape (muscles, sines); real or complex.
        bias: Shape (muscles,).
        steps: Number of updates.

    Returns:
        The loss, minus the mean x of the elastic particles [m], and positions, (n, 3).
    """
    n, h, dx = scene.n_grid, scene.time_step, 1.0 / scene.n_grid
    dtype = np.result_type(weights, bias, np.float64)
    eye, count = np.eye(3), len(scene.positions)
    x, v = scene.positions.astype(dtype), np.zeros((count, 3), dtype)
    c, f = np.zeros((count, 3, 3), dtype), np.tile(eye, (count, 1, 1)).astype(dtype)
    wet, muscle = scene.fluid == 1, scene.muscle
    mass = np.where(wet, scene.fluid_mass, 1.0)
    phases = 2 * np.pi * np.arange(scene.n_clock) / scene.n_clock
    for step in range(steps):
        clock = np.sin(scene.clock_rate * step * h + phases)
        activation = np.where(muscle >= 0, np.tanh(weights @ clock + bias)[muscle], 0.0)

        f = (eye + h * c) @ f
        jacobian = np.einsum("pij,pij->p", np.cross(f[:, 1], f[:, 2])[:, None], f[:, :1])
        one = np.ones_like(jacobian)
        flowing = np.stack([np.sqrt(jacobian), np.sqrt(jacobian), one], axis=1)[:, :, None] * eye
        f = np.where(wet[:, None, None], flowing, f)
        pressure = ((jacobian - 1) * scene.stiffness)[:, None, None] * eye
        elastic = scene.stiffness * (f @ f.swapaxes(1, 2))
        elastic += scene.stiffness * (np.log(jacobian) - 1)[:, None, None] * eye
        stress = np.where(wet[:, None, None], pressure, elastic)
        pull = np.diag([0.0, 0.0, scene.strength]) * activation[:, None, None]
        stress = stress + f @ pull @ f.swapaxes(1, 2)
        affine = -h * scene.volume * 4 / dx**2 * stress + mass[:, None, None] * c

        nodes, ways, shares = _neighbours(x, n)
        grid_v, grid_m = np.zeros((n, n, n, 3), dtype), np.zeros((n, n, n), dtype)
        for node, way, share in zip(nodes, ways, shares, strict=True):
            given = mass[:, None] * v + (affine @ way[:, :, None])[:, :, 0]
            np.add.at(grid_v, tuple(node.T), share[:, None] * given)
            np.add.at(grid_m, tuple(node.T), share * mass)

        grid_v = grid_v / (grid_m + 1e-10)[..., None]
        grid_v[..., 1] -= h * scene.gravity
        _hit_walls(grid_v, n, scene.friction)

        v, c = np.zeros_like(v), np.zeros_like(c)
        for node, way, share in zip(nodes, ways, shares, strict=True):
            taken = share[:, None] * grid_v[tuple(node.T)]
            v += taken
            c += 4 / dx**2 * taken[:, :, None] * way[:, None, :]
        x = x + h * v
    return -x[~wet, 0].mean(), x


def _neighbours(x: np.ndarray, n: int) -> tuple[list, list, list]:
    """Return indices, ways [m] and weights of the 27 nodes around each particle."""
    base = np.trunc(x.real * n - 0.5).astype(int)
    fx = x * n - base
    shares = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
    found = list(product(range(3), repeat=3))
    return (
        [base + np.array(one) for one in found],
        [(np.array(one) - fx) / n for one in found],
        [shares[i][:, 0] * shares[j][:, 1] * shares[k][:, 2] for i, j, k in found],
    )


def _hit_walls(v: np.ndarray, n: int, friction: float) -> None:
    """Stop motion into walls, and slow down sliding over the floor."""
    at = np.indices((n, n, n))
    for axis in (0, 2):
        into = v[..., axis].real
        v[((at[axis] < 3) & (into < 0)) | ((at[axis] > n - 3) & (into > 0))] = 0
    down = (at[1] < 3) & (v[..., 1].real < 0)
    slip = v[down] * [1, 0, 1]
    length = np.sqrt((slip * slip).sum(axis=1)) + 1e-10
    rest = 1 + friction * v[down][:, 1] / length
    v[down] = np.where(rest.real > 0, rest, 0)[:, None] * slip
    v[(at[1] > n - 3) & (v[..., 1].real > 0)] = 0
