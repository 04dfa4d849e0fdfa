"""A network of two hidden layers, each a loop over the units of one sample."""

from typing import Any

import difftile as dt
from benchmarks.first_rows import inputs
from benchmarks.first_rows.texts import layers


def run(quick: bool) -> list[Any]:
    """Return the sum of squares of the outputs, and its gradients by the weights."""
    *given, x = inputs.network(quick)
    weights = [dt.from_numpy(values, grad=True) for values in given]
    loss = dt.zeros((), grad=True)
    network = dt.kernel(layers(x.shape[1], len(given[0])))
    with dt.Tape(loss):
        network(*weights, dt.from_numpy(x), loss)
    return [loss, *(weight.grad for weight in weights)]
