"""Multilayer perceptrons of kernels, several networks of one shape side by side.

A row of the input belongs to the network `row // (rows / networks)`, so that runs with different
seeds are trained in one batch. Each hidden layer is an ELU, whose values are then brought to mean 0
and variance 1 within each row (layer normalisation).
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti

_BLOCK = 256  # rows whose contributions to the gradient of a weight one thread adds up
LEAST = 1e-5  # is added to a variance


@dt.kernel
def layer(x, w, b, y, is_hidden: int):
    """Compute y = x w + b, and ELU of that in a hidden layer.

    Args:
        x: Input, (rows, n).
        w: Weights, (networks, n, m).
        b: Biases, (networks, m).
        y: Result, (rows, m).
        is_hidden: Whether the layer is a hidden one.
    """
    for r, j in ti.ndrange(y.shape[0], y.shape[1]):
        k = r // (y.shape[0] // w.shape[0])
        z = b[k, j]
        for i in range(w.shape[1]):
            z += x[r, i] * w[k, i, j]
        if is_hidden != 0 and z < 0.0:
            z = ti.exp(z) - 1.0
        y[r, j] = z


@dt.func
def slope(y, is_hidden):
    """Return the derivative of the activation at its value."""
    return ti.select(is_hidden != 0, min(y, 0.0) + 1.0, 1.0)


# The derived adjoint would add to each weight once a row; a block of rows adds once here.
@layer.backward
@dt.kernel
def _(x, w, b, y, is_hidden: int):
    for r, i in ti.ndrange(x.shape[0], x.shape[1]):
        k = r // (y.shape[0] // w.shape[0])
        x_bar = 0.0
        for j in range(w.shape[2]):
            x_bar += w[k, i, j] * y.grad_in[r, j] * slope(y.after[r, j], is_hidden)
        x.grad_out[r, i] += x_bar
    for k, block, i, j in ti.ndrange(
        w.shape[0],
        (y.shape[0] // w.shape[0] + _BLOCK - 1) // _BLOCK,
        w.shape[1] + 1,
        w.shape[2],
    ):
        rows = y.shape[0] // w.shape[0]
        total = 0.0
        for r in range(k * rows + block * _BLOCK, k * rows + min((block + 1) * _BLOCK, rows)):
            z_bar = y.grad_in[r, j] * slope(y.after[r, j], is_hidden)
            if i < w.shape[1]:
                total += x[r, i] * z_bar
            else:
                total += z_bar
        if i < w.shape[1]:
            w.grad_out[k, i, j] += total
        else:
            b.grad_out[k, j] += total


@dt.kernel
def normalise(x, y):
    """Subtract the mean of each row, and divide by the root of its variance.

    Args:
        x: Rows, (rows, n).
        y: Result, (rows, n).
    """
    for r in range(x.shape[0]):
        mean, square = 0.0, 0.0
        for i in range(x.shape[1]):
            mean += x[r, i] / x.shape[1]
        for i in range(x.shape[1]):
            square += (x[r, i] - mean) ** 2 / x.shape[1]
        scale = 1.0 / ti.sqrt(square + LEAST)
        for i in range(x.shape[1]):
            y[r, i] = scale * (x[r, i] - mean)


@normalise.backward
@dt.kernel
def _(x, y):
    for r in range(x.shape[0]):
        mean, square, y_bar, slope_bar = 0.0, 0.0, 0.0, 0.0
        for i in range(x.shape[1]):
            mean += x[r, i] / x.shape[1]
            y_bar += y.grad_in[r, i] / x.shape[1]
            slope_bar += y.grad_in[r, i] * y.after[r, i] / x.shape[1]
        for i in range(x.shape[1]):
            square += (x[r, i] - mean) ** 2 / x.shape[1]
        scale = 1.0 / ti.sqrt(square + LEAST)
        for i in range(x.shape[1]):
            x.grad_out[r, i] += scale * (y.grad_in[r, i] - y_bar - y.after[r, i] * slope_bar)


@dt.kernel
def add_squares(gradient, squares):
    """Add the squares of gradients to a sum for each network."""
    for k, i in ti.ndrange(gradient.shape[0], gradient.shape[1]):
        total = 0.0
        for j in range(gradient.shape[2]):
            total += gradient[k, i, j] ** 2
        squares[k] += total


@dt.kernel
def limit(gradient, squares, scale: float, most: float):
    """Scale gradients, and shorten those of a network whose norm is above `most`."""
    for k, i, j in ti.ndrange(gradient.shape[0], gradient.shape[1], gradient.shape[2]):
        norm = ti.sqrt(squares[k]) * scale
        shorter = scale * min(1.0, most / max(norm, 1e-12))
        # A norm that is not finite leaves the network as it is.
        gradient[k, i, j] = ti.select(norm < 1e30, gradient[k, i, j] * shorter, 0.0)


@dt.kernel
def mix(source, share: float, target):
    """Move numbers by a share of the way to others."""
    for k, i, j in ti.ndrange(target.shape[0], target.shape[1], target.shape[2]):
        target[k, i, j] = share * source[k, i, j] + (1.0 - share) * target[k, i, j]


class Networks:
    """Networks of one shape, with their own weights.

    Args:
        sizes: Of the input, the hidden layers, and the output.
        seeds: One for each network.
        last: The scale of the weights of the output at first.
        dtype: `ti.f32` or `ti.f64`.

    Attributes:
        parameters: Weights "w0", "w1", ..., (networks, n, m), and biases "b0", ...,
            (networks, 1, m).
    """

    def __init__(
        self, sizes: Sequence[int], seeds: Sequence[int], last: float = 1.0, dtype: Any = ti.f32
    ) -> None:
        self.sizes, self.seeds = tuple(sizes), tuple(seeds)
        self.layers, self.dtype = len(sizes) - 1, dtype
        self.parameters: dict[str, dt.Field] = {}
        draws = [np.random.default_rng(seed) for seed in seeds]
        for k, (n, m) in enumerate(pairwise(sizes)):
            scale = (last if k == self.layers - 1 else np.sqrt(2.0)) / np.sqrt(n)
            w = np.array([draw.normal(0.0, scale, (n, m)) for draw in draws])
            self.parameters[f"w{k}"] = dt.from_numpy(w, dtype=dtype, grad=True)
            self.parameters[f"b{k}"] = dt.zeros((len(seeds), 1, m), dtype, grad=True)
        self._squares = dt.zeros((len(seeds),), dtype)

    def run(self, x: dt.Field, found: Sequence[dt.Field]) -> dt.Field:
        """Evaluate all rows of x; `found` are fields for the layers, see `rows`."""
        for k in range(self.layers):
            w, b = self.parameters[f"w{k}"], self.parameters[f"b{k}"]
            is_hidden = k < self.layers - 1
            layer(x, w, b[:, 0], found[2 * k], int(is_hidden))
            if is_hidden:
                normalise(found[2 * k], found[2 * k + 1])
            x = found[2 * k + is_hidden]
        return x

    def rows(self, count: int) -> list[dt.Field]:
        """Return fields for the results of the layers, for a number of rows of each network.

        Hidden layers have two: before and after they are normalised.
        """
        total, hidden = count * len(self.seeds), self.sizes[1:-1]
        sizes = [*(size for size in hidden for _ in range(2)), self.sizes[-1]]
        return [dt.zeros((total, size), self.dtype, grad=True) for size in sizes]

    def limit(self, scale: float, most: float) -> None:
        """Scale the gradients, then shorten those of each network to a norm of `most`."""
        self._squares.fill(0.0)
        for field in self.parameters.values():
            add_squares(field.grad, self._squares)
        for field in self.parameters.values():
            limit(field.grad, self._squares, scale, most)

    def follow(self, other: "Networks", share: float) -> None:
        """Move the weights towards those of others: a share of 1 copies them."""
        for name, field in self.parameters.items():
            mix(other.parameters[name], share, field)
