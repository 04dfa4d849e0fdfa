"""The step of XLB's issue 161: its loss and norm, and gradients through several steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.testing as npt

import difftile as dt
from tests.outside import complex_step, lattice
from tests.outside.lattice import OMEGA, SIDE, VELOCITIES, WEIGHTS

EXACT = 1e-13


def test_loss_and_norm_of_a_fluid_at_rest() -> None:
    rest = np.broadcast_to(WEIGHTS[:, None, None], (9, SIDE, SIDE)).copy()
    loss, gradient = dt.value_and_grad(lattice.squared_density)(rest)
    npt.assert_allclose(loss, 1024.0, rtol=EXACT)
    npt.assert_allclose(np.linalg.norm(gradient), 192.0, rtol=EXACT)


def stepped(f: Any) -> Any:
    moved = np.stack([np.roll(one, c, axis=(0, 1)) for one, c in zip(f, VELOCITIES, strict=True)])
    density = moved.sum(0)
    u = np.einsum("qij,qk->kij", moved, VELOCITIES) / density
    along = 3 * np.einsum("qk,kij->qij", VELOCITIES, u)
    shape = 1 + along + along**2 / 2 - 1.5 * (u * u).sum(0)
    return moved + OMEGA * (WEIGHTS[:, None, None] * density * shape - moved)


def test_gradient_through_three_steps() -> None:
    rng, n = np.random.default_rng(3), 6
    f = WEIGHTS[:, None, None] * rng.uniform(0.5, 1.5, (9, n, n))

    def loss(f: Any) -> Any:
        return (stepped(stepped(stepped(f))).sum(0) ** 2).sum()

    value, gradient = dt.value_and_grad(lattice.squared_density)(f, 3)
    npt.assert_allclose(value, loss(f), rtol=EXACT)
    npt.assert_allclose(gradient, complex_step.gradient(loss, f), rtol=EXACT)
