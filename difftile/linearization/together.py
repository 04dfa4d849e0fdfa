"""Many directions through a stretch: all together, or one after the other where that cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from difftile.fields.array_like import ArrayLike
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.linearization.derivatives import push, push_pull
from difftile.linearization.pullback import Pullback
from difftile.passes.batch import Unbatchable
from difftile.recording.seeds import Seed

CHUNK = 64  # directions that one launch takes
MEMORY = 2**29  # bytes of the tangents that one run keeps


def chunks(count: int, chunk: int) -> Iterator[slice]:
    """Yield slices of about the same length, none longer than `chunk`, that cover a range."""
    parts = -(-count // chunk)
    for k in range(parts):
        yield slice(count * k // parts, count * (k + 1) // parts)


def pushed(
    linear: Pullback, tangents: Mapping[Field, HostArray], outputs: Sequence[Field]
) -> dict[Field, HostArray]:
    """Return tangents of the contents after a function, along several directions.

    Args:
        linear: The launches of the function.
        tangents: For each input that varies the tangents of its contents before, one after the
            other along the first axis.
        outputs: The fields to return tangents for.
    """
    width = _width(tangents)
    if width > 1:
        try:
            return push(linear, tangents, outputs, width)
        except Unbatchable:
            pass
    each = [push(linear, one, outputs) for one in _each(tangents, width)]
    return {out: np.stack([found[out] for found in each]) for out in outputs}


def pulled(
    linear: Pullback, seeds: Mapping[Field, HostArray], wrt: Sequence[Field]
) -> dict[Field, HostArray]:
    """Return cotangents of the contents before a function, for several seeds.

    Args:
        linear: The launches of the function.
        seeds: For each output the cotangents of its contents after, one after the other along the
            first axis.
        wrt: The fields to return cotangents for.
    """
    width = _width(seeds)
    if width > 1:
        try:
            return linear.pull_many(seeds, wrt, width)
        except Unbatchable:
            pass
    each: list[dict[Field, HostArray]] = []
    for one in _each(seeds, width):
        bars = linear.pull({**one}, wrt)
        each.append({field: bars[field].to_numpy() for field in wrt})
    return {field: np.stack([found[field] for found in each]) for field in wrt}


def curved(
    linear: Pullback,
    tangents: Mapping[Field, HostArray],
    seeds: Mapping[ArrayLike, Seed],
    wrt: Sequence[Field],
) -> dict[Field, HostArray]:
    """Return tangents of the cotangents before a function, along several directions.

    Args:
        linear: The launches of the function.
        tangents: For each input that varies the tangents of its contents before, one after the
            other along the first axis.
        seeds: For each output the cotangent of its contents after.
        wrt: The fields to return cotangents for.
    """
    width = _width(tangents)
    if width > 1:
        try:
            _, dots = push_pull(linear, tangents, seeds, {}, wrt, width)
            return {field: dots[field.origin].to_numpy() for field in wrt}
        except Unbatchable:
            pass
    each: list[dict[Field, HostArray]] = []
    for one in _each(tangents, width):
        _, dots = push_pull(linear, one, seeds, {}, wrt)
        each.append({field: dots[field].to_numpy() for field in wrt})
    return {field: np.stack([found[field] for found in each]) for field in wrt}


def _width(given: Mapping[Field, HostArray]) -> int:
    return len(next(iter(given.values())))


def _each(given: Mapping[Field, HostArray], width: int) -> Iterator[dict[Field, HostArray]]:
    """Yield the arrays of one direction after the other."""
    for k in range(width):
        yield {one: values[k] for one, values in given.items()}
