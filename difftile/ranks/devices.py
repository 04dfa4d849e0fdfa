"""The share of a rank in the hardware of its host: its device, and threads of the CPU."""

from __future__ import annotations

import ctypes
import os
import sys

from difftile.diagnostics import RankError, counted
from difftile.ranks.launchers import VARIABLE, RankPlace, place

_DEVICES = "CUDA_VISIBLE_DEVICES"
_NOT_STARTED = 3  # CUDA_ERROR_NOT_INITIALIZED


def choose_device() -> None:
    """Leave one device of CUDA visible to this process, by its number among the ranks of its host.

    The driver reads the variable when it starts, so this is called before. Where the launcher has
    left each process one device or none, or there is no launcher, nothing is done.

    Raises:
        RankError: The host has more ranks than devices, the launcher does not say which rank of the
            host this is, or the driver runs already and sees several devices.
    """
    here = _shared_place()
    visible = os.environ.get(_DEVICES)
    devices = (
        None if visible is None else [one.strip() for one in visible.split(",") if one.strip()]
    )
    if here is None or (devices is not None and len(devices) < 2):
        return
    advice = f"Start each rank with its own {_DEVICES}."
    if here.local_rank is None:
        raise RankError(
            f"{here.launcher} does not say which rank of its host this one is, so its device is "
            f"not known. {advice}"
        )
    running = _running_devices()
    if running is not None and running != 1:
        raise RankError(
            f"Rank {here.rank}: CUDA was started before dt.init(), by torch perhaps, and sees "
            f"{counted(running, 'device')}, of which difftile would use the first on each rank. "
            "Call dt.init(arch='cuda') before anything that uses CUDA; each rank then sees one "
            "device, torch's 'cuda:0'."
        )
    if running == 1:
        return
    if devices is None:
        os.environ[_DEVICES] = str(here.local_rank)
    elif here.local_rank < len(devices):
        os.environ[_DEVICES] = devices[here.local_rank]
    else:
        raise RankError(
            f"Rank {here.rank} is number {here.local_rank} on its host, where "
            f"{_DEVICES}={visible} has {counted(len(devices), 'device')}: start as many ranks on a "
            f"host as it has devices. To share them: {advice[0].lower()}{advice[1:]}"
        )


def threads() -> int | None:
    """Return how many threads of the CPU are this rank's share; None for all that it may use.

    Ranks whose launcher has bound them to cores of their own use all of those.
    """
    here = _shared_place()
    if here is None or here.local_size is None or _is_bound():
        return None
    return max(1, _usable() // here.local_size)


def _shared_place() -> RankPlace | None:
    """Return the place of this process, if a launcher has started several on this host."""
    here = None if os.environ.get(VARIABLE) == "alone" else place()
    return None if here is None or here.size == 1 or here.local_size == 1 else here


def _usable() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _is_bound() -> bool:
    """Tell whether this process may use fewer cores than the one that has started it."""
    if not hasattr(os, "sched_getaffinity"):
        return False
    try:
        return os.sched_getaffinity(0) < os.sched_getaffinity(os.getppid())
    except OSError:  # it has ended
        return False


def _running_devices() -> int | None:
    """Return how many devices the driver of CUDA sees; None if no driver runs."""
    try:
        library = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        found = ctypes.c_int()
        code: int = library.cuDeviceGetCount(ctypes.byref(found))
    except (OSError, AttributeError):
        return None
    return None if code == _NOT_STARTED else found.value
