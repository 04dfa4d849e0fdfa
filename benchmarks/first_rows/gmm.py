"""The logarithm of the likelihood of gaussians with triangular factors, as in ADBench."""

from typing import Any

import taichi as ti

import difftile as dt
from benchmarks.first_rows import inputs
from benchmarks.first_rows.texts import mixture


def run(quick: bool) -> list[Any]:
    """Return the loss, and its gradients by weights, means and factors."""
    *given, x = inputs.gmm(quick)
    fields = [dt.from_numpy(values, grad=True) for values in given]
    terms = dt.zeros((len(x), len(given[0])), dtype=ti.f64, grad=True)
    loss = dt.zeros((), dtype=ti.f64, grad=True)
    with dt.Tape(loss):
        dt.kernel(mixture)(*fields, dt.from_numpy(x), terms, loss)
    return [loss, *(field.grad for field in fields)]
