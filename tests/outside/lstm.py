"""A network of LSTM layers that predicts the bits of characters: ADBench's `lstm`.

Gates see one unit each, so that units meet in the loss alone. The loss is that of ADBench, whose
normalisation adds 2 to the sum of the exponentials. The biases of each gate follow its weights.
"""

from __future__ import annotations

import taichi as ti

import difftile as dt


@dt.kernel
def predict(weights, ends, sequence, cell, hidden, y):
    """Run all units through time.

    Args:
        weights: Of forget, input, output and change, shape (layers, 2, 4, units).
        ends: Weights of the input, of the output, and its bias, shape (3, units).
        sequence: Bits of the characters, shape (characters, units).
        cell: Row 0 is the state at the beginning, shape (characters, layers, units).
        hidden: Likewise.
        y: The predictions, shape (characters - 1, units).
    """
    for i in range(y.shape[1]):
        for t in range(y.shape[0]):
            x = sequence[t, i] * ends[0, i]
            for k in range(weights.shape[0]):
                forget = dt.sigmoid(x * weights[k, 0, 0, i] + weights[k, 1, 0, i])
                write = dt.sigmoid(hidden[t, k, i] * weights[k, 0, 1, i] + weights[k, 1, 1, i])
                read = dt.sigmoid(x * weights[k, 0, 2, i] + weights[k, 1, 2, i])
                change = ti.tanh(hidden[t, k, i] * weights[k, 0, 3, i] + weights[k, 1, 3, i])
                cell[t + 1, k, i] = cell[t, k, i] * forget + write * change
                hidden[t + 1, k, i] = read * ti.tanh(cell[t + 1, k, i])
                x = hidden[t + 1, k, i]
            y[t, i] = x * ends[1, i] + ends[2, i]


@dt.kernel
def add_losses(sequence, y, loss):
    for t in range(y.shape[0]):
        total = 2.0
        for i in range(y.shape[1]):
            total += ti.exp(y[t, i])
        norm = ti.log(total)
        for i in range(y.shape[1]):
            loss[None] -= sequence[t + 1, i] * (y[t, i] - norm) / (y.shape[0] * y.shape[1])


@dt.kernel
def begin(state, cell, hidden):
    for k, i in ti.ndrange(state.shape[0], state.shape[2]):
        hidden[0, k, i] = state[k, 0, i]
        cell[0, k, i] = state[k, 1, i]


def loss(weights: dt.Field, ends: dt.Field, state: dt.Field, sequence: dt.Field) -> dt.Field:
    """Return the mean loss; `state` has hidden and cell of each layer, shape (layers, 2, units)."""
    (characters, units), layers = sequence.shape, weights.shape[0]
    cell, hidden = (dt.zeros((characters, layers, units), dtype=ti.f64) for _ in range(2))
    y, total = dt.zeros((characters - 1, units), dtype=ti.f64), dt.zeros((), dtype=ti.f64)
    begin(state, cell, hidden)
    predict(weights, ends, sequence, cell, hidden, y)
    add_losses(sequence, y, total)
    return total
