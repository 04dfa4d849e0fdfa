"""Derivatives of a stretch of launches: tangents, cotangents, and tangents of these.

The derivative of `x -> J(x)^T s` along v is a Hessian-vector product where s is one number; the
derivative of that along w is one with the third derivatives, and so on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.linearization.pullback import Pullback
from difftile.linearization.sweep import Mode, Moves, Seeds, Sweep


def push(
    stretch: Pullback,
    tangents: Mapping[Field, HostArray],
    outputs: Iterable[Field],
    width: int | None = None,
) -> dict[Field, HostArray]:
    """Return the tangents of the fields' contents after a function.

    Args:
        stretch: The launches of the function.
        tangents: For each input the tangent of its contents before, an array of its shape.
        outputs: The fields whose tangents are returned.
        width: The number of tangents, if several go together: one after the other along the first
            axis of these arrays and of the result.

    Raises:
        TapeError: A step has no rule for tangents.
        Unbatchable: Loops have bounds that differ between directions.
    """
    return push_parts(stretch, [{}, tangents], outputs, width)[1]


def push_parts(
    stretch: Pullback, moves: Moves, outputs: Iterable[Field], width: int | None = None
) -> list[dict[Field, HostArray]]:
    """Return tangents of tangents after a function, by part (`ir.derived.part_of`).

    Args:
        stretch: The launches of the function.
        moves: The tangents of inputs before it, by part; there is nothing for part 0.
        outputs: The fields whose tangents are returned; part 0 has no tangents.
        width: As for `push`.

    Raises:
        TapeError: A step has no rule for tangents.
        Unbatchable: Loops have bounds that differ between directions.
    """
    mode = Mode(levels=(len(moves) - 1).bit_length(), width=width)
    sweep = _over(stretch, (), moves, mode)
    outputs = list(outputs)
    return [
        {one: sweep.part(part, one).to_numpy() for one in outputs} if part else {}
        for part in mode.parts
    ]


def push_pull(
    stretch: Pullback,
    tangents: Mapping[Field, HostArray],
    seeds: Seeds,
    seed_tangents: Seeds,
    wrt: Iterable[Field],
    width: int | None = None,
) -> tuple[dict[Field, Field], dict[Field, Field]]:
    """Return cotangents of the fields' contents before the function, and their tangents.

    Args:
        stretch: The launches.
        tangents: For each input that varies the tangent of its contents before.
        seeds: For each output the cotangent of its contents after.
        seed_tangents: The tangents of the cotangents that vary.
        wrt: The fields whose cotangents are returned.
        width: The number of tangents, as for `push`; all of them share the cotangents.

    Raises:
        NotDifferentiable: A launch has no adjoint.
        TapeError: The derivative of a step, or of its backward, is not known.
        Unbatchable: Loops have bounds that differ between directions.
    """
    bars, dots = pull_parts(stretch, [{}, tangents], [seeds, seed_tangents], wrt, width)
    return bars, dots


def pull_parts(
    stretch: Pullback,
    moves: Moves,
    seeds: Sequence[Seeds],
    wrt: Iterable[Field],
    width: int | None = None,
) -> list[dict[Field, Field]]:
    """Return cotangents before the function and their tangents along directions, by part.

    Cotangents without tangents are good until the next call for the same fields.

    Args:
        stretch: The launches.
        moves: The tangents of inputs before it, by part; there is nothing for part 0.
        seeds: For each output the cotangent of its contents after, by part.
        wrt: The fields whose cotangents are returned.
        width: As for `push_pull`.

    Raises:
        NotDifferentiable: A launch has no adjoint.
        TapeError: The derivative of a step, or of its backward, is not known.
        Unbatchable: Loops have bounds that differ between directions.
    """
    fields = [one.origin for one in wrt]
    if len(moves) == 1:
        return [stretch.pull(seeds[0], fields)]
    mode = Mode(levels=(len(moves) - 1).bit_length(), adjoint=True, width=width)
    sweep = _over(stretch, fields, moves, mode)
    try:
        bars = sweep.pull(seeds)
    finally:
        sweep.release()
    return [{one: memory.gradient(one) for one in fields} for memory in bars]


def directions_within(nbytes: int, stretch: Pullback, wrt: Iterable[Field]) -> int:
    """Return how many directions `push_pull` follows at once within some memory, at least 1.

    Each takes about as much as the gradient: the old values, and gradients of all fields.
    """
    kept = {id(one): one.nbytes for record in stretch.records(wrt) for one in record.buffers}
    fields = {one.storage: one.nbytes for one in stretch.fields}
    each = sum(kept.values()) + 2 * sum(fields.values())
    return max(1, nbytes // max(1, each))


def _over(stretch: Pullback, wrt: Iterable[Field], moves: Moves, mode: Mode) -> Sweep:
    """Return a sweep that has run over a stretch."""
    wanted = frozenset(one.origin for one in (*wrt, *(one for each in moves for one in each)))
    stretch.warn_of_cuts(wanted)
    sweep = Sweep(wanted, mode)
    sweep.move(moves)
    try:
        sweep.over(stretch)
    except BaseException:
        sweep.release()
        raise
    return sweep
