"""Second derivatives through one function of JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti

jnp: Any = pytest.importorskip("jax.numpy", reason="needs JAX")


@dt.kernel
def add_cubes(x, loss):
    for i in x:
        loss[None] += x[i] ** 3


def test_a_function_of_jax_bends_what_follows_from_it() -> None:
    dt.init(arch="python")
    squares = dt.jax.wrap(lambda x: x * x * jnp.roll(x, 1), jit=False)

    def f(x: Any) -> Any:
        loss = dt.zeros((), ti.f32, grad=True)
        add_cubes(squares(x), loss)
        return loss

    x, v = np.float32([0.5, 1.5, -0.75]), np.float32([1.0, -2.0, 0.5])
    found = dt.hvp(f, dt.from_numpy(x), dt.from_numpy(v)).to_numpy()

    def gradient(x: Any) -> Any:
        """Return the gradient of the sum of (x_i^2 x_(i-1))^3."""
        before, after = np.roll(x, 1), np.roll(x, -1)
        return 6 * x**5 * before**3 + 3 * x**2 * after**6

    exact = gradient(x + 1e-30j * v.astype(np.float64)).imag / 1e-30
    np.testing.assert_allclose(found, exact, rtol=2e-5)
