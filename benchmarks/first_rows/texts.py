"""Kernels that plain Taichi compiles from the same text, without a gradient."""

from typing import Any

import taichi as ti


def mixture(
    alpha: ti.types.ndarray(),
    mu: ti.types.ndarray(),
    icf: ti.types.ndarray(),
    x: ti.types.ndarray(),
    terms: ti.types.ndarray(),
    loss: ti.types.ndarray(),
):
    size = mu.shape[1]
    for n in range(x.shape[0]):
        highest = -1e30
        for k in range(mu.shape[0]):
            squares, logs, at = 0.0, 0.0, size
            for i in range(size):
                logs += icf[k, i]
                row = ti.exp(icf[k, i]) * (x[n, i] - mu[k, i])
                for j in range(i):
                    row += icf[k, at + j] * (x[n, j] - mu[k, j])
                at += i
                squares += row * row
            terms[n, k] = alpha[k] + logs - 0.5 * squares
            highest = ti.max(highest, terms[n, k])
        total = 0.0
        for k in range(mu.shape[0]):
            total += ti.exp(terms[n, k] - highest)
        loss[None] -= highest + ti.log(total)
    for k in range(mu.shape[0]):
        for i in range(icf.shape[1]):
            if i < size:
                loss[None] += 0.5 * ti.exp(2.0 * icf[k, i]) - icf[k, i]
            else:
                loss[None] += 0.5 * icf[k, i] ** 2


def layers(width: int, units: int) -> Any:
    """Return the network, with the sizes as literals."""

    def network(
        first: ti.types.ndarray(),
        second: ti.types.ndarray(),
        last: ti.types.ndarray(),
        x: ti.types.ndarray(),
        loss: ti.types.ndarray(),
    ):
        for n in range(x.shape[0]):
            low, high = ti.Vector.zero(ti.f32, units), ti.Vector.zero(ti.f32, units)
            for u in range(units):
                for i in range(width):
                    low[u] += first[u, i] * x[n, i]
            for u in range(units):
                low[u] = ti.tanh(low[u])
            for u in range(units):
                for i in range(units):
                    high[u] += second[u, i] * low[i]
            out = 0.0
            for u in range(units):
                out += last[0, u] * ti.tanh(high[u])
            loss[None] += out * out

    return network
