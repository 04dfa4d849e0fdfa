"""A network of layers whose parameters are the same on all ranks, each with inputs of its own."""

from __future__ import annotations

import numpy as np

import difftile as dt
from difftile import distributed as dist
from difftile import ti

WAYS = ("no reduction", "after", "during")
BATCH = 512  # inputs of a rank


@dt.kernel
def layer(x, w, y):
    for i, b in y:
        total = 0.0
        for j in range(w.shape[1]):
            total += w[i, j] * x[j, b]
        y[i, b] = total / (1.0 + abs(total))


@dt.kernel
def measure(y, loss):
    for i, b in y:
        loss[None] += y[i, b] * y[i, b]


class Data:
    """Layers of one width, f32, and their gradients on all ranks.

    Args:
        width: Inputs and outputs of a layer.
        layers: The number of layers.
    """

    def __init__(self, width: int, layers: int) -> None:
        self.steps, rng = 1, np.random.default_rng(0)
        drawn = width**-0.5 * rng.standard_normal((layers, width, width))
        self.ws = [dt.from_numpy(one.astype(np.float32), grad=True) for one in drawn]
        self.xs = [dt.zeros((width, BATCH), ti.f32, grad=True) for _ in range(layers + 1)]
        inputs = np.random.default_rng(dist.rank()).standard_normal((width, BATCH))
        self.xs[0].from_numpy(inputs.astype(np.float32))
        self.loss = dt.zeros((), ti.f32, grad=True)
        self._gradients = dist.Gradients(self.ws)

    def reduce(self, way: str) -> dist.Gradients | None:
        """Return what a tape of one of the ways adds up during its backward pass."""
        return self._gradients if way == "during" else None

    def finish(self, way: str) -> None:
        """Add up the gradients of all ranks, if that is left to do."""
        if way == "after":
            self._gradients.all_reduce()

    def run(self, way: str) -> None:
        """Run the layers, on the open tape."""
        self.loss.fill(0.0)
        for k, w in enumerate(self.ws):
            layer(self.xs[k], w, self.xs[k + 1])
        measure(self.xs[-1], self.loss)
