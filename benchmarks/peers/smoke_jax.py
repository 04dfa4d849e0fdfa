"""Smoke in an incompressible flow in JAX, which is imported when it is asked for."""

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from scenes.smoke import SmokeScene


class SmokeJax:
    """The loss as a function of the velocities at the start, and with its gradient, compiled.

    Raises:
        ModuleNotFoundError: JAX is not installed.
    """

    def __init__(self, scene: SmokeScene, v0: np.ndarray, dtype: type = np.float32) -> None:
        jax: Any = importlib.import_module("jax")
        jnp, n, dx = jax.numpy, scene.n, 1.0 / scene.n
        i, j = jnp.meshgrid(jnp.arange(n), jnp.arange(n), indexing="ij")
        first, target = jnp.asarray(scene.smoke, dtype), jnp.asarray(scene.target, dtype)

        def advected(f, v):
            y, x = i - v[..., 0], j - v[..., 1]
            k, m = jnp.floor(y).astype(int), jnp.floor(x).astype(int)
            shape = y.shape + (1,) * (f.ndim - 2)
            r, b = (y - k).reshape(shape), (x - m).reshape(shape)
            k, m, k1, m1 = k % n, m % n, (k + 1) % n, (m + 1) % n
            low = (1 - b) * f[k, m] + b * f[k, m1]
            high = (1 - b) * f[k1, m] + b * f[k1, m1]
            return (1 - r) * low + r * high

        def slopes(f, axis):
            return jnp.roll(f, -1, axis) - jnp.roll(f, 1, axis)

        def step(state, _):
            v, smoke, p = state
            u = advected(v, v)
            div = -0.5 * dx * (slopes(u[..., 0], 0) + slopes(u[..., 1], 1))
            for _ in range(scene.relaxations):
                around = sum(jnp.roll(p, way, axis) for axis in (0, 1) for way in (1, -1))
                p = 0.25 * (div + around)
            v = u - 0.5 / dx * jnp.stack([slopes(p, 0), slopes(p, 1)], axis=-1)
            return (v, advected(smoke, v), p), None

        def loss(v0):
            state = v0, first, jnp.zeros((n, n), dtype)
            (_, smoke, _), _ = jax.lax.scan(step, state, None, length=scene.steps - 1)
            return ((target - smoke) ** 2).mean()

        self.loss, self._with_gradient = jax.jit(loss), jax.jit(jax.value_and_grad(loss))
        self._v0, self._gradient, self._wait = v0.astype(dtype), v0, jax.block_until_ready

    def differentiate(self, clock: Callable[[], float] = time.perf_counter) -> tuple[float, float]:
        """Run and compute the gradient; return the seconds forward and backward.

        Forward is only the loss, and backward the additional time of the gradient with the loss.
        """
        started = clock()
        self._wait(self.loss(self._v0))
        forward = clock() - started
        started = clock()
        _, gradient = self._wait(self._with_gradient(self._v0))
        seconds = clock() - started
        self._gradient = np.asarray(gradient)
        return forward, seconds - forward

    def gradients(self) -> dict[str, np.ndarray]:
        """Return the gradient of the velocities at the start."""
        return {"v0": self._gradient}
