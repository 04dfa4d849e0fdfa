"""Numbers and bytes of all ranks, or of one of them, by the calls of an engine."""

from __future__ import annotations

import zlib
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from difftile.ranks.choice import current
from difftile.ranks.engine import Message

Numbers: TypeAlias = npt.NDArray[np.float64]


def gather(numbers: npt.ArrayLike, what: str, dtype: npt.DTypeLike = np.float64) -> Numbers:
    """Return the numbers of all ranks, the same bits on each.

    Args:
        numbers: Numbers of this rank, shape (n,), with the same n on all ranks.
        what: The step in errors.
        dtype: The type that the caller has the numbers in, the same on all ranks.

    Returns:
        Row r has the numbers of rank r, shape (ranks, n).

    Raises:
        RankError: Another rank failed or did not answer, or ranks have other numbers.
    """
    engine = current()
    own = np.asarray(numbers, np.float64).reshape(-1)
    found = np.zeros((engine.size, own.size))
    found[engine.rank] = own  # the others add zeros, which changes no number but -0.0
    if engine.size > 1:
        engine.all_reduce(found.reshape(-1), dtype=np.dtype(dtype).str).wait(what)
    return found


def gather_bytes(data: bytes, what: str) -> list[bytes]:
    """Return the bytes of every rank, of any length, on all ranks.

    Raises:
        RankError: Another rank failed, or did not answer.
    """
    engine = current()
    sizes = gather([len(data)], what)[:, 0].astype(int)
    own = np.frombuffer(data, np.uint8).copy()
    found = [own if rank == engine.rank else np.empty(n, np.uint8) for rank, n in enumerate(sizes)]
    peers = [rank for rank in range(engine.size) if rank != engine.rank]
    engine.exchange(
        [Message(rank, own) for rank in peers if own.size],
        [Message(rank, found[rank]) for rank in peers if found[rank].size],
    ).wait(what)
    return [one.tobytes() for one in found]


def compare(text: str, what: str) -> tuple[int, str, str] | None:
    """Compare a text of all ranks, line by line; all ranks get the same answer.

    Args:
        text: The text of this rank. A fingerprint travels, and the text only if it differs.
        what: The step in errors.

    Returns:
        The first rank whose text differs from rank 0's, with its line and rank 0's line where they
        part, "nothing" for none; or None where all are the same.

    Raises:
        RankError: Another rank failed, or did not answer.
    """
    if current().size == 1:
        return None
    prints = gather([float(zlib.crc32(text.encode()))], what)[:, 0]
    if (prints == prints[0]).all():
        return None
    rank = int(np.argmax(prints != prints[0]))
    texts = [one.decode().split("\n") for one in gather_bytes(text.encode(), what)]
    pairs = zip_longest(texts[rank], texts[0], fillvalue="nothing")
    return rank, *next((here, there) for here, there in pairs if here != there)


def broadcast(array: npt.NDArray[Any], root: int, what: str) -> None:
    """Overwrite an array with one rank's, along a binomial tree.

    Args:
        array: Numbers without gaps, as many on all ranks.
        root: The rank that keeps its numbers.
        what: The step in errors.

    Raises:
        RankError: Another rank failed, or did not answer.
    """
    engine = current()
    if engine.size == 1 or not array.size:
        return
    raw = array.reshape(-1).view(np.uint8)
    place = (engine.rank - root) % engine.size
    have = 1  # the ranks at places below have it already
    while have < engine.size:
        sends: list[Message] = []
        receives: list[Message] = []
        if place < have and place + have < engine.size:
            sends = [Message((place + have + root) % engine.size, raw)]
        elif have <= place < 2 * have:
            receives = [Message((place - have + root) % engine.size, raw)]
        engine.exchange(sends, receives).wait(what)
        have *= 2
