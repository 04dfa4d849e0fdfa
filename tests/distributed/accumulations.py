"""Sums of halos at their owners, on any number of ranks."""

from __future__ import annotations

import numpy as np

import difftile as dt
from difftile import ti
from difftile.distributed import Grid
from difftile.ranks import current


def accumulated(cases, seed):
    """Return for each case where fields are, what they held, hold, and the gradients of both."""
    rng = np.random.default_rng((seed, current().rank))
    found = []
    for shape, ranks, halo, periodic in cases:
        grid = Grid(shape, ranks, halo=halo, periodic=periodic)
        fields = [grid.field(one, grad=True) for one in (ti.f64, dt.vec(2, ti.f64), ti.f64)]
        before = [rng.normal(size=one.to_numpy().shape) for one in fields]
        seeds = [rng.normal(size=one.shape) for one in before]
        for one, values in zip(fields, before, strict=True):
            one.from_numpy(values)
        with dt.Tape() as tape:
            grid.accumulate(*fields)
        tape.backward(dict(zip(fields, seeds, strict=True)))
        after = [one.to_numpy() for one in fields]
        grads = [one.grad.to_numpy() for one in fields]
        found.append((grid.origin, grid.inner_shape, before, after, seeds, grads))
    return found
