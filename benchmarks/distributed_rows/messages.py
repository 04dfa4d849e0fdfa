"""Exchanges of messages of several sizes between neighbours in a ring, beside torch's by hand."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import taichi

from benchmarks.distributed_rows.by_hand import group_for
from difftile import distributed as dist
from difftile import ti

SIZES = (1 << 10, 1 << 14, 1 << 18, 1 << 22)  # bytes of a message


def measure(device: str, turns: int, largest: Callable[[float], float]) -> dict[str, float]:
    """Return medians of times by name, measured in turns [s].

    Args:
        device: "cpu" or "cuda".
        turns: How often, times ten for short messages.
        largest: Returns the largest number of all ranks, which begin together after it.
    """
    found: dict[str, float] = {}
    for nbytes in SIZES:
        cells = nbytes // 4
        grid = dist.Grid((4 * dist.size(), cells), (dist.size(), 1), periodic=(True, False))
        u = grid.field(ti.f32)

        def ours(u: Any = u) -> None:
            u.exchange()
            taichi.sync()

        ways = {"ours": ours, "by hand": _by_hand(cells, device)}
        times: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(turns * (10 if nbytes <= 1 << 18 else 1) + 1):
            for name, call in ways.items():
                largest(0.0)
                started = time.perf_counter()
                call()
                if turn:  # the first one compiles
                    times[name].append(largest(time.perf_counter() - started))
        found |= {f"message {nbytes} {n}": statistics.median(x) for n, x in times.items()}
    return found


def _by_hand(cells: int, device: str) -> Callable[[], None]:
    """Return the exchange of one row with each of both neighbours."""
    torch, comm = import_module("torch"), import_module("torch.distributed")
    rank, size = comm.get_rank(), comm.get_world_size()
    group = group_for(device)
    u = torch.zeros(6, cells, dtype=torch.float32, device=device)

    def exchange() -> None:
        requests: list[Any] = []
        # Of two ranks each is the other's neighbour on both sides. There gloo tells two messages
        # apart by their tags, and NCCL by their order.
        for row, step in ((1, -1), (4, 1)):
            peer = (rank + step) % size
            requests.append(comm.P2POp(comm.isend, u[row], peer, group=group, tag=row))
        for row, step in ((5, 1), (0, -1)):
            peer, tag = (rank + step) % size, 1 if row == 5 else 4
            requests.append(comm.P2POp(comm.irecv, u[row], peer, group=group, tag=tag))
        for work in comm.batch_isend_irecv(requests):
            work.wait()
        if device == "cuda":
            torch.cuda.synchronize()

    return exchange


def described(found: dict[str, float]) -> list[str]:
    """Return the lines of a table."""
    lines: list[str] = []
    for nbytes in SIZES:
        ours, theirs = (found.get(f"message {nbytes} {name}") for name in ("ours", "by hand"))
        if ours is not None and theirs is not None:
            lines.append(
                f"{nbytes:8} bytes to each neighbour: {1e6 * ours:.0f} us, by hand "
                f"{1e6 * theirs:.0f} us, ratio {ours / theirs:.2f}"
            )
    return lines
