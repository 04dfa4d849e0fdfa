"""The turns of a loop that lanes of a device can share, as Python counts them."""

from __future__ import annotations


def lanes(start: int, stop: int | None = None, /) -> range:
    """Count the turns of a serial loop that run in any order: `for j in dt.lanes(n)`.

    Inside of a parallel loop, which is then a loop over blocks: on CUDA a warp of 32 threads runs
    each iteration, its lanes share the turns of these loops, and local arrays that the turns write
    are in memory that the lanes have together. The lanes wait for each other at the end of such a
    loop, so what the turns have written is there for all that comes after. Elsewhere, and from
    Python, it is `range`.

    Turns may add to a local that was bound before the loop, or take its maximum or minimum, and add
    to elements of arrays. Otherwise an element that one turn writes is touched in no other turn:
    that is checked when the kernel is compiled, on all devices.

    Args:
        start: The number of turns; or the first index, where there is a stop.
        stop: The end of the indices, which is not one of them.
    """
    return range(start) if stop is None else range(start, stop)
