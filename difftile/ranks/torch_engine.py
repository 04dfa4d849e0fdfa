"""The engine over torch.distributed: gloo for memory of the host, NCCL for memory of GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, cast

import numpy as np
import torch
import torch.distributed as dist

from difftile.diagnostics import RankError
from difftile.ranks.alone import copy_own
from difftile.ranks.engine import Array, Message


class _Works:
    """Requests of torch that have been started."""

    def __init__(
        self, works: Sequence[Any], held: Sequence[Any], rank: int, seconds: float
    ) -> None:
        self._works = works
        self._held = held  # memory that they use
        self._rank = rank
        self._seconds = seconds

    def wait(self, what: str) -> None:
        """Wait for the requests."""
        for work in self._works:
            try:
                work.wait(timedelta(seconds=self._seconds))
            except RuntimeError as error:
                raise RankError(
                    f"Rank {self._rank}: {what} failed: {str(error).splitlines()[0]}"
                ) from None
        self._works = self._held = ()


class TorchEngine:
    """torch.distributed.

    Args:
        timeout: The time after which a rank stops waiting for others [s].
    """

    name = "torch"

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._started = not dist.is_initialized()
        cuda = torch.cuda.is_available() and dist.is_nccl_available()
        if self._started:
            dist.init_process_group(
                "cpu:gloo,cuda:nccl" if cuda else "gloo", timeout=timedelta(seconds=timeout)
            )
        self.rank: int = dist.get_rank()
        self.size: int = dist.get_world_size()
        self.takes_device_memory = cuda
        self._ops = {"sum": dist.ReduceOp.SUM, "max": dist.ReduceOp.MAX, "min": dist.ReduceOp.MIN}

    def _tensor(self, array: Array) -> Any:
        """Return a tensor over the memory of an array."""
        if not isinstance(array, np.ndarray):
            return torch.as_tensor(array, device="cuda")
        return cast(Any, torch).from_numpy(array)

    def all_reduce(self, array: Array, op: str = "sum") -> _Works:
        """Start to combine the numbers of all ranks."""
        tensor = self._tensor(array)
        work = cast(Any, dist).all_reduce(tensor, self._ops[op], async_op=True)
        return _Works([work], [tensor, array], self.rank, self._timeout)

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> _Works:
        """Start to send and receive messages."""
        copy_own(sends, receives, self.rank)
        requests: list[Any] = []
        for function, messages in ((dist.irecv, receives), (dist.isend, sends)):
            for one in messages:
                if one.peer != self.rank and one.array.size:
                    requests.append(dist.P2POp(function, self._tensor(one.array), one.peer))
        if not requests:
            return _Works((), (), self.rank, self._timeout)
        if requests[0].tensor.is_cuda:
            works = dist.batch_isend_irecv(requests)
        else:
            works = [one.op(one.tensor, one.peer) for one in requests]
        return _Works(works, [requests, sends, receives], self.rank, self._timeout)

    def stop(self) -> None:
        """End the process group, if it was started here."""
        if self._started and dist.is_initialized():
            dist.destroy_process_group()
