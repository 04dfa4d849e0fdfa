"""The kernels of `benchmarks.kernels` for JAX, on the CPU.

Each takes inputs and constants, and returns outputs. To import the module is to import JAX.
"""

import importlib
from collections.abc import Callable
from typing import Any

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")

Arrays = tuple[Any, ...]


def elementwise(x: Any) -> Arrays:
    return (jnp.sin(x) * jnp.exp(-x) + jnp.sqrt(x * x + 1.0),)


def multiply_adds(x: Any) -> Arrays:
    total = x
    for _ in range(20):
        total = total * x + 0.25
    return (total,)


def map_(x: Any) -> Arrays:
    return (jnp.sin(x) * x + 0.5 * x * x,)


def stencil(x: Any) -> Arrays:
    inner = x[1:-1, 1:-1]
    around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    return (inner + 0.2 * (around - 4.0 * inner),)


def transpose(x: Any) -> Arrays:
    return ((x * x).T,)


def gather(x: Any, index: Any) -> Arrays:
    found = x[index]
    return (found * found,)


def scatter(x: Any, index: Any) -> Arrays:
    return (jnp.zeros_like(x).at[index].add(x * x),)


def sum_(x: Any) -> Arrays:
    return ((x * x).sum(),)


def matvec(a: Any, x: Any) -> Arrays:
    return (a @ x,)


def compositing(alpha: Any, colour: Any) -> Arrays:
    through = jnp.cumprod(1.0 - alpha[..., :-1], axis=-1)
    light = jnp.concatenate([jnp.ones_like(alpha[..., :1]), through], axis=-1)
    return ((light * alpha * colour).sum(-1),)


def p2g(x: Any, v: Any, c: Any, stress: Any, *, n: int) -> Arrays:
    f, weights, at = _around(x, n)
    offsets = jnp.array([[i, j] for i in range(3) for j in range(3)], x.dtype)
    way = (offsets - f[:, None]) / n
    affine = c + stress[:, None, None] * jnp.eye(2, dtype=x.dtype)
    added = weights[..., None] * (v[:, None] + (affine[:, None] * way[:, :, None]).sum(-1))
    momentum = jnp.zeros((n * n, 2)).at[at].add(added)
    mass = jnp.zeros(n * n).at[at].add(weights)
    return momentum.reshape(n, n, 2), mass.reshape(n, n)


def g2p(x: Any, velocity: Any) -> Arrays:
    n = velocity.shape[0]
    f, weights, at = _around(x, n)
    offsets = jnp.array([[i, j] for i in range(3) for j in range(3)], x.dtype)
    way = offsets - f[:, None]
    g = weights[..., None] * velocity.reshape(-1, 2)[at]
    return g.sum(1), 4.0 * n * (g[..., None] * way[:, :, None]).sum(1)


def _around(x: Any, n: int) -> Any:
    """Return offsets, and weights and indices of 9 nodes."""
    base = jax.lax.stop_gradient(x * n - 0.5).astype(jnp.int32)
    f = x * n - base
    w = jnp.stack([0.5 * (1.5 - f) ** 2, 0.75 - (f - 1.0) ** 2, 0.5 * (f - 0.5) ** 2], 1)
    weights = (w[:, :, None, 0] * w[:, None, :, 1]).reshape(-1, 9)
    steps = jnp.arange(3)
    rows, columns = base[:, 0, None] + steps, base[:, 1, None] + steps
    return f, weights, (rows[:, :, None] * n + columns[:, None, :]).reshape(-1, 9)


def n_body(x: Any, mass: Any) -> Arrays:
    d = [x[None, :, axis] - x[:, None, axis] for axis in range(3)]
    near = jax.lax.rsqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01)
    pull = mass * near * near * near
    return (jnp.stack([(pull * along).sum(1) for along in d], 1),)


def texture(texels: Any, uv: Any) -> Arrays:
    size = jnp.array(texels.shape[:2])
    p = uv[:, ::-1] * size - 0.5
    low = jnp.floor(p)
    f, first = p - low, low.astype(jnp.int32)
    (ai, aj), (bi, bj) = (jnp.clip(first + k, 0, size - 1).T for k in range(2))
    fi, fj = f[:, :1], f[:, 1:]
    upper = (1 - fj) * texels[ai, aj] + fj * texels[ai, bj]
    lower = (1 - fj) * texels[bi, aj] + fj * texels[bi, bj]
    return ((1 - fi) * upper + fi * lower,)


KERNELS: dict[str, Callable[..., Arrays]] = {
    "elementwise": elementwise,
    "multiply-adds": multiply_adds,
    "map": map_,
    "stencil": stencil,
    "transpose": transpose,
    "gather": gather,
    "scatter-add": scatter,
    "sum": sum_,
    "matvec": matvec,
    "compositing": compositing,
    "p2g": p2g,
    "g2p": g2p,
    "n-body": n_body,
    "texture": texture,
}
