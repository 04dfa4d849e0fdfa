"""Sample arguments of a func: ordinary, small and large numbers, both signs, and edges."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
_EDGES = np.array([0.0, 1.0, -1.0, 2.0, -2.0, 0.5])
_SMALLEST, _LARGEST = -9.0, 4.0  # powers of ten
_MOST_SIGNS = 5  # arguments whose signs are all combined


def draw_samples(
    shapes: Mapping[str, tuple[int, ...]],
    count: int,
    examples: Mapping[str, Array],
    domain: Mapping[str, tuple[float, float]],
    rng: np.random.Generator,
) -> dict[str, Array]:
    """Return samples of arguments, an array for each with the samples along the first axis.

    The first sample holds the examples; the next ones all combinations of the signs of ones.

    Args:
        shapes: The shape of each argument.
        count: The number of samples.
        examples: Values of some or all arguments.
        domain: The interval of all components of an argument; the reals by default.
        rng: The random number generator.
    """
    drawn = {name: _drawn(count, shape, domain.get(name), rng) for name, shape in shapes.items()}
    free = [name for name in shapes if name not in domain][:_MOST_SIGNS]
    signs = itertools.product((1.0, -1.0), repeat=len(free))
    first = 1 if examples.keys() >= shapes.keys() and shapes else 0
    for row, combination in zip(range(first, count), signs, strict=False):
        for name, sign in zip(free, combination, strict=True):
            drawn[name][row] = sign
    for name, value in examples.items() if first else ():
        drawn[name][0] = value
    return drawn


def _drawn(
    count: int,
    shape: tuple[int, ...],
    interval: tuple[float, float] | None,
    rng: np.random.Generator,
) -> Array:
    full = (count, *shape)
    if interval is not None:
        low, high = interval
        values = rng.uniform(low, high, full)
        # A third near the ends, where rules fail first, and the ends themselves.
        near = (high - low) * 10.0 ** rng.uniform(_SMALLEST, -1.0, full)
        ends = np.where(rng.random(full) < 0.5, low + near, high - near)
        values = np.where(rng.random(full) < 1 / 3, ends, values)
        values[:2] = np.array([low, high]).reshape((2, *(1,) * len(shape)))[: len(values)]
        return values
    # Components of a vector or matrix have one magnitude, as they mostly have one meaning.
    each = (count, *(1,) * len(shape))
    ordinary = rng.normal(size=full)
    spread = rng.normal(size=full) * 10.0 ** rng.uniform(_SMALLEST, _LARGEST, each)
    edges = rng.choice(_EDGES, full)
    kind = rng.random(each)
    return np.where(kind < 0.4, ordinary, np.where(kind < 0.85, spread, edges))
