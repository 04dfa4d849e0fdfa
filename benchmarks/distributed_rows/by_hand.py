"""Exchanges as they are written by hand, by isend and irecv of torch: over NCCL on GPUs."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any


@cache
def group_for(device: str) -> Any:
    """Return the group of all ranks that sends memory of a device; all ranks call it together."""
    return (
        import_module("torch.distributed").new_group(backend="nccl") if device == "cuda" else None
    )


def halo_exchange(grid: Any, device: str, start: Any = None) -> Callable[[], Any]:
    """Return an exchange of one f32 field of a grid, halo 1, axis by axis, corners included.

    Args:
        grid: Gives the sizes and the boxes; not periodic.
        device: "cpu" or "cuda".
        start: The contents of the field on this rank; zeros by default.

    Returns:
        The exchange, which returns the field.
    """
    if math.prod(grid.ranks) == 1:
        return lambda: None
    torch: Any = import_module("torch")
    comm: Any = import_module("torch.distributed")
    u = torch.zeros(grid.local_shape, dtype=torch.float32, device=device)
    if start is not None:
        u.copy_(torch.from_numpy(start))
    group = group_for(device)
    rank, place = comm.get_rank(), []
    for count in reversed(grid.ranks):
        rank, here = divmod(rank, count)
        place.insert(0, here)

    def neighbour(axis: int, step: int) -> int | None:
        at = [p + step * (axis == k) for k, p in enumerate(place)]
        if not 0 <= at[axis] < grid.ranks[axis]:
            return None
        found = 0
        for one, count in zip(at, grid.ranks, strict=True):
            found = found * count + one
        return found

    def exchange() -> Any:
        for axis, n in enumerate(grid.local_shape):
            requests: list[Any] = []
            arriving: list[tuple[int, Any]] = []
            for step, inner, outer in ((-1, 1, 0), (1, n - 2, n - 1)):
                peer = neighbour(axis, step)
                if peer is None:
                    continue
                received = torch.empty_like(u.select(axis, outer).contiguous())
                arriving.append((outer, received))
                sent = u.select(axis, inner).contiguous()
                requests += [
                    comm.P2POp(comm.irecv, received, peer, group=group),
                    comm.P2POp(comm.isend, sent, peer, group=group),
                ]
            for work in comm.batch_isend_irecv(requests) if requests else ():
                work.wait()
            for outer, received in arriving:
                u.select(axis, outer).copy_(received)
        if device == "cuda":
            torch.cuda.synchronize()
        return u

    return exchange
