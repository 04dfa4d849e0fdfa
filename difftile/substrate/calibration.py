"""What scattering costs on this machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of scattering with a number of threads, in nanoseconds.

    Args:
        waking: To wake threads for a parallel loop, and wait for them.
        plain: To add a number to some element, without atomics.
        atomic: To add a number atomically to an element that no other thread is near.
        contended: To add one to an element whose cache line another thread has just written. More
            threads are no faster, since they wait for each other.
        clearing: To clear a byte of copies, all threads at work.
        adding: To add a byte of copies to the target, all threads at work.
    """

    waking: float = 60_000.0
    plain: float = 2.0
    atomic: float = 12.0
    contended: float = 45.0
    clearing: float = 0.04
    adding: float = 0.04


def costs_of_scatters(threads: int) -> Costs:
    """Return the costs on this machine with so many threads."""
    return Costs()
