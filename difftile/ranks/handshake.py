"""Handshakes: what each rank is about to combine with the others, and short numbers themselves.

gloo ends the process where ranks combine numbers of different lengths, and MPI may give wrong ones.
So ranks first exchange handshakes of one length. Short numbers are part of them, at no extra cost.
"""

from __future__ import annotations

import numpy as np

from difftile.diagnostics import RankError, counted
from difftile.ranks.numbers import OPS, HostArray
from difftile.ranks.waiting import named

_WORDS = 64  # of 8 bytes
_HEAD = 3  # words: how many numbers, their type and the operation
_COMBINED = {"sum": np.add, "max": np.maximum, "min": np.minimum}
_SHOWN = {"sum": "the sum", "max": "the largest", "min": "the smallest"}


def is_short(numbers: HostArray) -> bool:
    """Tell whether numbers fit into a handshake."""
    return numbers.nbytes <= 8 * (_WORDS - _HEAD)


def handshakes_of(numbers: HostArray, op: str, dtype: str, rank: int, size: int) -> HostArray:
    """Return this rank's handshake among zeros for the other ranks: the sum over ranks has all.

    Args:
        numbers: The numbers to combine, without gaps.
        op: "sum", "max" or "min".
        dtype: The type that they have for the caller, in NumPy's short form.
        rank: This rank.
        size: The number of ranks.

    Returns:
        Integers of 64 bits, shape (ranks, words).
    """
    handshakes = np.zeros((size, _WORDS), np.int64)
    handshakes[rank, :_HEAD] = numbers.size, _code(dtype), OPS.index(op)
    if is_short(numbers):
        body = handshakes[rank, _HEAD:].view(np.uint8)
        body[: numbers.nbytes] = numbers.reshape(-1).view(np.uint8)
    return handshakes


def combine(handshakes: HostArray, numbers: HostArray, op: str, rank: int) -> None:
    """Compare the handshakes of all ranks; combine short numbers in place, in the order of ranks.

    Raises:
        RankError: The ranks are about to combine different numbers.
    """
    heads = handshakes[:, :_HEAD]
    if (heads != heads[0]).any():
        raise RankError(_differing(heads, rank))
    if is_short(numbers) and numbers.size:
        bodies = np.ascontiguousarray(handshakes[:, _HEAD:]).view(np.uint8)
        each = np.ascontiguousarray(bodies[:, : numbers.nbytes]).view(numbers.dtype)
        with np.errstate(all="ignore"):
            numbers.reshape(-1)[:] = _COMBINED[op].reduce(each, axis=0)


def _differing(heads: HostArray, rank: int) -> str:
    texts: dict[str, list[int]] = {}
    for one, (size, code, op) in enumerate(heads.tolist()):
        kind = code.to_bytes(8, "little").rstrip(b"\0").decode()
        text = f"{_SHOWN[OPS[op]]} of {counted(size, 'number')} of type {np.dtype(kind).name}"
        texts.setdefault(text, []).append(one)
    lines = "\n".join(f"  {named(ranks)}: {text}" for text, ranks in texts.items())
    return (
        f"Rank {rank}: the ranks are about to combine different numbers:\n{lines}\n"
        "All ranks make the same calls in the same order, with fields of the same shapes and "
        "types. dt.init(debug=True) compares the steps of a tape by their lines."
    )


def _code(dtype: str) -> int:
    return int.from_bytes(dtype.encode().ljust(8, b"\0"), "little")
