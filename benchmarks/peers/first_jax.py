"""Programs of `benchmarks.first_gradient` in JAX, with its cache of compiled code on disk.

To import the module is to import JAX.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.first_rows import inputs

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")

Arrays = list[np.ndarray]


def start(program: str) -> None:
    """Start JAX."""
    jax.config.update("jax_enable_x64", program == "gmm")
    jax.config.update(
        "jax_compilation_cache_dir", os.path.join(os.environ["XDG_CACHE_HOME"], "jax")
    )
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.devices()


def _both(loss: Callable[..., Any], *of: np.ndarray) -> Arrays:
    given = [jnp.asarray(values) for values in of]
    value, gradients = jax.jit(jax.value_and_grad(loss, tuple(range(len(of)))))(*given)
    return [np.asarray(value), *map(np.asarray, gradients)]


def gmm(quick: bool) -> Arrays:
    *given, x = inputs.gmm(quick)
    size = x.shape[1]
    rows, columns = np.tril_indices(size, -1)

    def loss(alpha: Any, mu: Any, icf: Any) -> Any:
        logs, below = icf[:, :size], icf[:, size:]
        roots = jnp.zeros((len(mu), size, size)).at[:, rows, columns].set(below)
        roots = roots + jnp.exp(logs)[:, :, None] * jnp.eye(size)
        white = jnp.einsum("kij,nkj->nki", roots, x[:, None] - mu)
        terms = alpha + logs.sum(1) - 0.5 * (white**2).sum(2)
        prior = (0.5 * jnp.exp(2.0 * logs) - logs).sum() + 0.5 * (below**2).sum()
        return prior - jax.nn.logsumexp(terms, axis=1).sum()

    return _both(loss, *given)


def network(quick: bool) -> Arrays:
    *given, x = inputs.network(quick)

    def loss(first: Any, second: Any, last: Any) -> Any:
        return ((jnp.tanh(jnp.tanh(x @ first.T) @ second.T) @ last.T) ** 2).sum()

    return _both(loss, *given)


def wave(quick: bool) -> Arrays:
    initial, target = inputs.wave(quick)

    def step(state: Any, _: Any) -> Any:
        p, older = state
        around = jnp.pad(p, 1)
        laplacian = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:]
        return (2.0 * p - older + inputs.COURANT * (laplacian - 4.0 * p), p), None

    def loss(initial: Any) -> Any:
        state = jnp.zeros_like(initial), initial
        (p, _), _ = jax.lax.scan(step, state, length=inputs.wave_steps(quick) - 2)
        return ((target - p) ** 2).mean()

    return _both(loss, initial)


PROGRAMS: dict[str, Any] = {"gmm": gmm, "network": network, "wave": wave}
