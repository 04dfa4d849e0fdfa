"""The log-likelihood of a mixture of gaussians with a Wishart prior: ADBench's `gmm`.

Each component has the logarithms of the diagonal of its inverse factor, and the entries below it
column by column.
"""

from __future__ import annotations

import math

import taichi as ti

import difftile as dt


@dt.kernel
def add_points(alphas, means, factors, x, diagonals, terms, y):
    """Add the log-likelihood of the points; `terms` has a row for each and its components."""
    n, d, components = x.shape[0], x.shape[1], means.shape[0]
    for k, a in diagonals:
        diagonals[k, a] = ti.exp(factors[k, a])
    for i, k in ti.ndrange(n, components):
        log_det, square = 0.0, 0.0
        for a in range(d):
            log_det += factors[k, a]
            z = diagonals[k, a] * (x[i, a] - means[k, a])
            for b in range(a):  # entry (a, b), after the columns before b
                entry = factors[k, d + b * (2 * d - b - 1) // 2 + a - b - 1]
                z += entry * (x[i, b] - means[k, b])
            square += z * z
        terms[i, k] = alphas[k] + log_det - 0.5 * square
    for i in range(n):
        top, total = terms[i, 0], 0.0
        for k in range(components):
            top = max(top, terms[i, k])
        for k in range(components):
            total += ti.exp(terms[i, k] - dt.stop_grad(top))
        y[None] += dt.stop_grad(top) + ti.log(total)


@dt.kernel
def add_prior(alphas, factors, d: int, points: int, gamma: float, m: int, y):
    """Subtract the normalisation of the weights for each point; add the prior of the factors."""
    total = 0.0
    for k in alphas:
        total += ti.exp(alphas[k])
    y[None] -= points * ti.log(total)
    for k, e in factors:
        if e < d:
            y[None] += 0.5 * gamma**2 * ti.exp(factors[k, e]) ** 2 - m * factors[k, e]
        else:
            y[None] += 0.5 * gamma**2 * factors[k, e] ** 2


def log_likelihood(
    alphas: dt.Field, means: dt.Field, factors: dt.Field, x: dt.Field, gamma: float, m: int
) -> dt.Field:
    """Return the objective of ADBench, whose prior has the sign of a penalty.

    Args:
        alphas: Logarithms of the weights, not normalised, shape (k,).
        means: Shape (k, d).
        factors: Inverse factors of the covariances, shape (k, d (d + 1) / 2).
        x: Points, shape (n, d).
        gamma: Scale of the prior.
        m: Degrees of freedom of the prior, beyond d + 1.
    """
    (components, d), n = means.shape, x.shape[0]
    y = dt.full((), constant(n, d, components, gamma, m), dtype=ti.f64)
    diagonals, terms = dt.zeros_like(means), dt.zeros((n, components), dtype=ti.f64)
    add_points(alphas, means, factors, x, diagonals, terms, y)
    add_prior(alphas, factors, d, n, gamma, m, y)
    return y


def constant(n: int, d: int, components: int, gamma: float, m: int) -> float:
    """Return the part that depends on no parameter."""
    freedom = d + m + 1
    log_gamma = 0.25 * d * (d - 1) * math.log(math.pi)
    log_gamma += sum(math.lgamma(0.5 * (freedom - j)) for j in range(d))
    prior = freedom * d * (math.log(gamma) - 0.5 * math.log(2)) - log_gamma
    return -0.5 * n * d * math.log(2 * math.pi) - components * prior
