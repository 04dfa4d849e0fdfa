"""Programs of ranks whose fields are in memory of a device: of a GPU that they share, or a fake."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from typing import Any

import numpy as np

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.distributed.messaging import device_memory
from difftile.ranks import current
from tests.device_arrays import device_arrays
from tests.distributed import particle_programs, waves

FLAT, DEEP = (13, 10), (6, 7, 5)
WANDER = True, 40, 40, 6, 1  # periodic, particles, capacity, steps, seed
WEIGHTS = np.linspace(-1.0, 1.0, 3000)


@dt.kernel
def weigh(w: Any, loss: Any, scale: float) -> None:
    for k in w:
        loss[None] += scale * w[k] ** 2


def programs(boxes: dict[str, Any]) -> dict[str, Any]:
    """Run programs; return their results by name.

    Args:
        boxes: The boxes of the grids in two and three dimensions, "flat" and "deep".
    """
    found: dict[str, Any] = {}
    for name, shape in (("flat", FLAT), ("deep", DEEP)):
        for overlap in (False, True):
            one = waves.gradients(shape, boxes[name], overlap=overlap, higher=False)
            found[f"{name} {overlap}"] = [one[f"{key} 0"] for key in ("loss", "initial", "speed")]
    loss, final, gradients, counts = particle_programs.wander(boxes["flat"], *WANDER)
    found["particles"] = [*final.values(), *gradients.values()]
    found["part of the loss"], found["counts"] = loss, counts
    w, some = (dt.from_numpy(WEIGHTS, grad=True) for _ in range(2))
    scale = 1.0 + dist.rank()
    total = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(total, reduce=dist.Gradients([w], bucket="8KB")):
        weigh(w, total, scale)
        dist.sum(total)
    other = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(other):
        weigh(some, other, scale)
    dist.all_reduce([some])
    found["sums"] = [total.to_numpy(), w.grad.to_numpy(), some.grad.to_numpy()]
    return found


def run(kind: str, boxes: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Run programs on a device; return the results, and how many messages left its memory.

    Args:
        kind: "cuda", a GPU that all ranks share; or a fake device whose memory the engine takes
            ("direct"), or does not ("staged").
        boxes: See `programs`.
    """
    try:
        with _DEVICES[kind]() as sent:
            return programs(boxes), len(sent)
    finally:
        dt.init(default_fp="f64", cpu_max_num_threads=1)


def alone_with_nccl() -> tuple[list[Any], list[Any], list[Any]]:
    """Run what one rank sends to itself through NCCL's engine on a GPU.

    Returns:
        Results of a periodic wave on the CPU and on the GPU; sums of ones that launches change
        before and after them.
    """

    def wave() -> list[Any]:
        one = waves.gradients(DEEP, (1, 1, 1), True, overlap=True, higher=False)
        return [one[f"{key} 0"] for key in ("loss", "initial", "speed")]

    on_host = wave()
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")
    dt.init(arch="cuda", default_fp="f64")
    try:
        assert current().takes_device_memory, "torch has no NCCL"
        on_gpu = wave()
        x, sums = dt.full(1 << 20, 1.0, ti.f32), []
        for _ in range(20):  # each launch waits for the sum before it, and the sum for the launch
            double(x)
            current().all_reduce(device_memory(x.buffer)).wait("the test")
            double(x)
            sums.append(float(x.to_numpy().min()))
            x.fill(1.0)
        return on_host, on_gpu, sums
    finally:
        dt.init(default_fp="f64", cpu_max_num_threads=1)


@dt.kernel
def double(x: Any) -> None:
    for k in x:
        x[k] *= 2.0


@contextmanager
def _shared_gpu() -> Generator[list[Any]]:
    """Use one GPU on all ranks, whose messages go through the host: NCCL wants a GPU for each."""
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")
    dt.init(arch="cuda", default_fp="f64")
    engine: Any = current()
    before = getattr(engine, "_has_nccl", None)
    engine._has_nccl = False
    try:
        yield []
    finally:
        engine._has_nccl = before


@contextmanager
def _fake(direct: bool) -> Generator[list[Any]]:
    """Use memory that Python does not see, whose addresses gloo takes in the place of NCCL."""
    engine: Any = current()
    before = engine._has_nccl, engine._devices, engine._running
    sent: list[Any] = []

    def tensor(array: Any) -> Any:
        of = array.__cuda_array_interface__
        (size,), (address, _) = of["shape"], of["data"]
        dtype = np.dtype(of["typestr"])
        memory: Any = (ctypes.c_char * (size * dtype.itemsize)).from_address(address)
        sent.append(address)
        return import_module("torch").from_numpy(np.frombuffer(memory, dtype))

    engine._has_nccl = direct
    engine._devices = engine._group or import_module("torch.distributed").group.WORLD
    engine._tensor, engine.on_stream, engine._post = tensor, nullcontext, posted
    try:
        with device_arrays():
            yield sent
    finally:
        engine._has_nccl, engine._devices, engine._running = before
        del engine._tensor, engine.on_stream, engine._post


def posted(sent: Any, received: Any) -> list[Any]:
    """Start messages in gloo, which starts each by itself."""
    comm = import_module("torch.distributed")
    sides = (comm.isend, sent), (comm.irecv, received)
    return comm.batch_isend_irecv(
        [comm.P2POp(function, *one) for function, side in sides for one in side]
    )


_DEVICES = {
    "cuda": _shared_gpu,
    "direct": lambda: _fake(True),
    "staged": lambda: _fake(False),
}
