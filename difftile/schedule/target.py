"""What programs are compiled for: a processor, and what its compiler does."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from difftile.ir.types import Type
from difftile.records import dataclass
from difftile.schedule.grids import Grids

SHORT = 2**28
"""Where a loop is to end so that the numbers of its elements, up to 8 each, have 31 bits."""

DETERMINISTIC = "deterministic"
"""The strategy whose sums are the same in every run."""

_PARTS_A_THREAD = 4  # a thread that is done, or wakes before others, takes the next part


FEWEST_BLOCKS = 32
"""Of a sum on a CPU: more lose digits where their sums meet."""

_BLOCKS_A_THREAD = 4
_BLOCKS_ON_DEVICE = 65_536


def blocks_of_sums(threads: int | None) -> int:
    """Return the largest number of blocks of a sum for threads of a CPU; None for a device."""
    return _BLOCKS_ON_DEVICE if threads is None else max(FEWEST_BLOCKS, _BLOCKS_A_THREAD * threads)


def parts_of_loops(threads: int) -> int:
    """Return the number of parts that a parallel loop is cut into for so many threads."""
    return _PARTS_A_THREAD * threads


@dataclass(frozen=True, slots=True)
class Polynomials:
    """The functions that are polynomials in loops of vector instructions.

    Args:
        ops: Their ops.
        limits: The size from which on arguments have no polynomial, by op and type; ops that
            have one everywhere have no entry.
    """

    ops: Collection[str]
    limits: Mapping[str, Mapping[Type, float]]


@dataclass(frozen=True, slots=True)
class Target:
    """A processor and a compiler.

    Args:
        grids: The threads of a device, which share all iterations of a loop; None on CPUs.
        warps: The threads of the device run in warps.
        threads: How many threads of a CPU share a parallel loop; 0 leaves that to the compiler.
        vectors: Loops on the CPU may become functions, and vector instructions.
        functions: The functions that are polynomials there; None for none.
        fast_math: Sums of floats may be computed in another order than they are written in.
        guarded: The compiler assumes that no number is NaN: comparisons ask for it.
        unrolls: The compiler writes loops out at run time: see `opaque_steps`.
        strategy: How loops add to elements that iterations share: see `scatters`.
        blocks: The largest number of blocks that a sum of a parallel loop is cut into.
    """

    grids: Grids | None = None
    warps: bool = False
    threads: int = 0
    vectors: bool = False
    functions: Polynomials | None = None
    fast_math: bool = True
    guarded: bool = False
    unrolls: bool = False
    strategy: str = "auto"
    blocks: int = FEWEST_BLOCKS

    @property
    def repeats(self) -> bool:
        """Whether results are the same in every run."""
        return self.strategy == DETERMINISTIC

    @property
    def on_host(self) -> bool:
        """Whether loops run on a CPU."""
        return self.grids is None

    @property
    def parts(self) -> int:
        """The number of parts that a parallel loop of the CPU is cut into."""
        return parts_of_loops(self.threads)
