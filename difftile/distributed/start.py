"""The ranks of a program as users see them."""

from __future__ import annotations

from difftile.ranks import current
from difftile.ranks import start as connect
from difftile.tracebacks import boundary


@boundary
def start(backend: str | None = None, timeout: float | None = None) -> None:
    """Connect this process with the others; each of them calls this, or none does.

    Without this call the first use of ranks connects them. Devices are chosen by `dt.init`.

    Args:
        backend: "torch", "mpi" or "alone"; by default the environment variable DIFFTILE_RANKS
            decides, or else a group of torch or MPI that this process has started already, or the
            launcher: torchrun, mpiexec, srun, or none.
        timeout: The time after which a rank stops waiting for others, 300 by default [s].

    Raises:
        RankError: There is no such engine, it is not installed, it does not reach the other
            processes, or another one runs already.
    """
    connect(backend, timeout)


def rank() -> int:
    """Return the number of this process among the ranks, from 0.

    Raises:
        RankError: As `start`.
    """
    return current().rank


def size() -> int:
    """Return the number of ranks, 1 for a program without a launcher.

    Raises:
        RankError: As `start`.
    """
    return current().size
