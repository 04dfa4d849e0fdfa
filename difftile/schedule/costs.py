"""The costs of adding to elements that threads share; `substrate.calibration` measures them."""

from __future__ import annotations

from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of sums into shared elements with a number of threads, in nanoseconds.

    The defaults are rounded from a server with 16 threads.

    Args:
        waking: To wake threads for a parallel loop, and wait for them.
        plain: To add a number to an element at random, without atomics.
        far: The same for an array that is larger than a thread's caches.
        atomic: To add a number atomically to an element that no other thread is near.
        contended: To add one to an element whose cache line another thread has just written. More
            threads are no faster, since they wait for each other.
        copying: To clear a byte of a copy and add it to the target, all threads at work.
    """

    waking: float = 60_000.0
    plain: float = 1.5
    far: float = 5.0
    atomic: float = 10.0
    contended: float = 40.0
    copying: float = 0.08


DEFAULT = Costs()
