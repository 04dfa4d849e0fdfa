"""Launchers, which start ranks, and the variables by which a rank knows its place."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from difftile.diagnostics import RankError
from difftile.records import dataclass

VARIABLE = "DIFFTILE_RANKS"
"""The variable that names the engine, whatever the launcher."""


@dataclass(frozen=True, slots=True)
class RankPlace:
    """The place that a launcher has given this process.

    Args:
        launcher: Its name.
        engine: The engine that connects its processes by default.
        rank: The number of this process, from 0.
        size: The number of processes.
        local_rank: Its number among those on this host, from 0; None if the launcher does not say.
        local_size: How many are on this host; None if the launcher does not say.
    """

    launcher: str
    engine: str
    rank: int
    size: int
    local_rank: int | None
    local_size: int | None


@dataclass(frozen=True, slots=True)
class _Launcher:
    """The variables of a launcher: of the rank, the size, and of both on this host."""

    name: str
    engine: str
    rank: str
    size: str
    local_rank: str
    local_size: str


# The first whose rank and size are both there counts, since torchrun and mpiexec run under srun.
# Slurm's size belongs to the step, which scripts of sbatch are not: they run once.
_LAUNCHERS = (
    _Launcher("torchrun", "torch", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    _Launcher(
        "mpiexec of Open MPI",
        "mpi",
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
    ),
    _Launcher("mpiexec", "mpi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    _Launcher(
        "srun",
        "mpi",
        "SLURM_PROCID",
        "SLURM_STEP_NUM_TASKS",
        "SLURM_LOCALID",
        "SLURM_STEP_TASKS_PER_NODE",
    ),
)


def place(environment: Mapping[str, str] | None = None) -> RankPlace | None:
    """Return the place of this process, or None if no launcher has started it.

    Args:
        environment: The variables; by default the environment of this process.

    Raises:
        RankError: A variable does not hold the number that it should.
    """
    given = os.environ if environment is None else environment
    for one in _LAUNCHERS:
        if one.rank in given and one.size in given:
            return _place(one, given)
    return None


def has_address(environment: Mapping[str, str] | None = None) -> bool:
    """Tell whether variables say where torch's processes meet."""
    given = os.environ if environment is None else environment
    return bool(given.get("MASTER_ADDR")) and bool(given.get("MASTER_PORT"))


def _place(one: _Launcher, given: Mapping[str, str]) -> RankPlace:
    rank, size = _number(one.rank, given), _number(one.size, given)
    assert rank is not None and size is not None
    if not 0 <= rank < size:
        raise RankError(f"{one.rank}={rank} is no rank: {one.size}={size} processes count from 0.")
    under_slurm = one.name == "srun"
    return RankPlace(
        launcher=one.name,
        engine="torch" if under_slurm and has_address(given) else one.engine,
        rank=rank,
        size=size,
        local_rank=_number(one.local_rank, given),
        local_size=_tasks_of_node(given) if under_slurm else _number(one.local_size, given),
    )


def _number(name: str, given: Mapping[str, str]) -> int | None:
    text = given.get(name)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise RankError(
            f"The environment variable {name} is to hold a number, and holds {text!r}."
        ) from None


def _tasks_of_node(given: Mapping[str, str]) -> int | None:
    """Return how many tasks of a step of Slurm are on this node, from a list such as "4(x2),3"."""
    node = _number("SLURM_NODEID", given)
    counts: list[int] = []
    for part in given.get("SLURM_STEP_TASKS_PER_NODE", "").split(","):
        found = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part.strip())
        if found is None:
            return None
        counts += [int(found[1])] * int(found[2] or 1)
    return counts[node] if node is not None and node < len(counts) else None
