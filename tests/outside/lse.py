"""The logarithm of a sum of exponentials: GradBench's `lse`."""

from __future__ import annotations

import taichi as ti

import difftile as dt


@dt.kernel
def logsumexp(x, y):
    top, total = x[0], 0.0
    for i in x:
        ti.atomic_max(top, x[i])
    for i in x:
        total += ti.exp(x[i] - top)
    y[None] = top + ti.log(total)


def value(x: dt.Field) -> dt.Field:
    """Return the logarithm of the sum of exp(x)."""
    y = dt.zeros((), dtype=ti.f64)
    logsumexp(x, y)
    return y
