"""Programs of `benchmarks.outside` in JAX, on the CPU and in double precision, jitted.

Each takes inputs in NumPy and returns a call for the results. To import the module is to import JAX
and to switch its double precision on.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")
jax.config.update("jax_enable_x64", True)

Call = Callable[[], Any]


def call(f: Any, *inputs: Any) -> Call:
    """Return a call of the jitted function, on arrays that are there already."""
    jitted, of = jax.jit(f), [*map(jnp.asarray, inputs)]
    return lambda: jax.block_until_ready(jitted(*of))


def both(f: Any, *inputs: Any) -> Call:
    """Return a call for the value and the gradient by the first input."""
    return call(jax.value_and_grad(f), *inputs)


def gmm(
    alphas: Any, means: Any, factors: Any, x: Any, gamma: float, m: int, constant: float
) -> Call:
    (k, d), n = means.shape, len(x)
    columns, rows = np.triu_indices(d, 1)  # of the entries below the diagonal, column by column

    def log_likelihood(alphas: Any, means: Any, factors: Any, x: Any) -> Any:
        logs, below = factors[:, :d], factors[:, d:]
        roots = jnp.zeros((k, d, d)).at[:, rows, columns].set(below)
        roots = roots + jnp.exp(logs)[:, :, None] * jnp.eye(d)
        whitened = jnp.einsum("kab,nkb->nka", roots, x[:, None] - means)
        terms = alphas + logs.sum(1) - 0.5 * (whitened**2).sum(2)
        total = jax.nn.logsumexp(terms, axis=1).sum() - n * jax.nn.logsumexp(alphas)
        return constant + total + 0.5 * gamma**2 * (roots**2).sum() - m * logs.sum()

    def flat(alphas: Any, means: Any, factors: Any, x: Any) -> Any:
        value, gradients = jax.value_and_grad(log_likelihood, (0, 1, 2))(alphas, means, factors, x)
        return value, *gradients

    return call(flat, alphas, means, factors, x)


def kmeans(centres: Any, points: Any) -> Call:
    def cost(centres: Any, points: Any) -> Any:
        products = centres @ points.T
        squares = (centres**2).sum(1)[:, None] + (points**2).sum(1) - 2 * products
        return squares.min(0).sum()

    def direction(centres: Any, points: Any) -> Any:
        gradient = jax.grad(lambda centres: cost(centres, points))
        return jax.jvp(gradient, (centres,), (jnp.ones_like(centres),))

    return call(direction, centres, points)


def lse(x: Any) -> Call:
    def value(x: Any) -> Any:
        top = x.max()
        return top + jnp.log(jnp.exp(x - top).sum())

    return both(value, x)


def llsq(x: Any, n: int) -> Call:
    def value(x: Any) -> Any:
        t = -1 + 2 * jnp.arange(n) / (n - 1)
        powers = jnp.cumprod(jnp.broadcast_to(t[:, None], (n, x.size)).at[:, 0].set(1), axis=1)
        return 0.5 * ((powers @ x - jnp.sign(t)) ** 2).sum()

    return both(value, x)


def ode(x: Any, last: Any, steps: int) -> Call:
    h = 2.0 / steps

    def solution(x: Any) -> Any:
        def rate(y: Any) -> Any:
            return x * jnp.concatenate([jnp.ones(1), y[:-1]])

        def step(y: Any, _: Any) -> Any:
            k1 = rate(y)
            k2 = rate(y + 0.5 * h * k1)
            k3 = rate(y + 0.5 * h * k2)
            return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3)), None

        return jax.lax.scan(step, jnp.zeros_like(x), length=steps)[0]

    def pulled(x: Any, last: Any) -> Any:
        y, pull = jax.vjp(solution, x)
        return y, *pull(last)

    return call(pulled, x, last)


def lattice(f: Any, velocities: Any, weights: Any, omega: float, steps: int) -> Call:
    column = weights[:, None, None]

    def step(f: Any, _: Any) -> Any:
        moved = [jnp.roll(one, c, (0, 1)) for one, c in zip(f, velocities, strict=True)]
        f = jnp.stack(moved)
        density = f.sum(0)
        u = jnp.einsum("qk,qij->kij", velocities, f) / density
        along = 3 * jnp.einsum("qk,kij->qij", velocities, u)
        shape = 1 + along + 0.5 * along**2 - 1.5 * (u**2).sum(0)
        return f + omega * (column * density * shape - f), None

    def loss(f: Any) -> Any:
        return (jax.lax.scan(step, f, length=steps)[0].sum(0) ** 2).sum()

    return both(loss, f)


PROGRAMS: dict[str, Callable[..., Call]] = {
    "gmm": gmm,
    "kmeans": kmeans,
    "lse": lse,
    "llsq": llsq,
    "ode": ode,
    "lattice": lattice,
}
