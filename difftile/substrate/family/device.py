"""Starts of the compiler, the end of its compiled code, and the folder where that is kept."""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from difftile.caches import caches_named, can_keep
from difftile.diagnostics import FieldError, did_you_mean
from difftile.substrate.backend import Device
from difftile.substrate.compiler import private, ti
from difftile.substrate.family import cuda, ndarrays
from difftile.substrate.family.kept_kernels import remove_damaged
from difftile.substrate.family.launcher import LIVING
from difftile.substrate.streams import NULL_STREAM

impl, misc = private.impl, private.misc

HAS_STREAMS: bool = private.HAS_STREAMS
ARCHS: dict[str, Any] = {name: getattr(ti, name) for name in private.ARCHS}
# The compiler's own list goes on to OpenGL, and asking for that on a machine without a GPU crashes.
ARCHS["gpu"] = [ARCHS[name] for name in ("cuda", "amdgpu", "metal", "vulkan") if name in ARCHS]

_OF_OTHERS = 32  # multiprocessors, where the number is unknown; GPUs have 10 to 140

_LOOKED_AT = set[str]()  # folders; the files that this process writes are sound

# Before any start, which overwrites this with its own arguments.
_FOLDER = Path(impl.default_cfg().offline_cache_file_path).parent


def settings_of(
    arch: str, seed: int, debug: bool, fast_math: bool, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments of `ti.init`, with the user's options.

    Raises:
        FieldError: The architecture is not there, an option is unknown, or compiled kernels cannot
            be kept where an option says.
    """
    if not os.path.exists(os.curdir):
        raise FieldError(
            "The working directory is gone, to which the compiler returns as it starts."
        )
    if arch != "cpu":
        ti.set_logging_level(ti.ERROR)  # the error below replaces a warning
        chosen = ARCHS[arch]
        if not any(map(misc.is_arch_supported, chosen if isinstance(chosen, list) else [chosen])):
            raise FieldError(
                f"arch '{arch}' is not available on this machine; use dt.init(arch='cpu')."
            )
    settings: dict[str, Any] = {
        "log_level": ti.ERROR,
        "force_scalarize_matrix": True,
        "random_seed": seed % 2**31,
        "fast_math": fast_math,
        # The pass keeps `y[i, 0]` in a register over a loop that writes `y[i, j]`, too.
        "cache_loop_invariant_global_vars": False,
        # That option is not part of the keys of the cache on disk, so ours has its own folder.
        "offline_cache_file_path": str(cache_folder()),
        # No warnings about functions of the compiler's own that unroll loops over long vectors.
        "unrolling_limit": 0,
        # Emitted literals carry their type; the default must stay f32 for them.
        "default_fp": ti.f32,
    }
    for option in options:
        if not hasattr(impl.default_cfg(), option):
            names = [name for name in dir(impl.default_cfg()) if not name.startswith("_")]
            hint = did_you_mean(option, names) or "it passes the options of ti.init on."
            raise FieldError(f"dt.init() has no option '{option}'; {hint}")
    settings |= options
    folder = settings["offline_cache_file_path"]
    if not can_keep(Path(folder)):
        if "offline_cache_file_path" in options:
            raise FieldError(
                f"Compiled kernels cannot be kept in {folder!r}: no files can be written there. "
                "Name another folder, or leave the option out."
            )
        # The folder is made even so, and the process crashes if it cannot be.
        settings |= {"offline_cache": False, "offline_cache_file_path": tempfile.gettempdir()}
    return settings


def running() -> str:
    """Return the architecture that the user has given `ti.init`, or "cpu"."""
    if not private.is_running():
        return "cpu"
    arch = impl.current_cfg().arch
    return next((name for name, one in ARCHS.items() if name != "gpu" and one == arch), "cpu")


def start(arch: str, settings: Mapping[str, Any], stream: int = NULL_STREAM) -> Device:
    """Start or restart the compiler, to launch on a stream of CUDA."""
    cuda.leave_stream()
    folder = settings.get("offline_cache_file_path")
    if folder and settings.get("offline_cache", True) and folder not in _LOOKED_AT:
        _LOOKED_AT.add(folder)
        remove_damaged(Path(folder))
    with caches_named(), _in_silence():
        ti.init(arch=ARCHS[arch], **settings)
    # This thread may do it and no other; with the first launch it would be any.
    impl.get_runtime().materialize()
    cuda.use_stream(stream)
    config = impl.current_cfg()
    found = cuda.multiprocessors() if config.arch == ti.cuda else None
    multiprocessors, resident = found or (_OF_OTHERS, 0)
    on_host = config.arch in (ti.x64, ti.arm64)
    return Device(
        name="cpu" if on_host else str(config.arch.name),
        on_host=on_host,
        threads=config.cpu_max_num_threads,
        fast_math=config.fast_math,
        warps=config.arch == ti.cuda,
        multiprocessors=multiprocessors,
        resident=resident,
    )


@contextmanager
def _in_silence() -> Generator[None]:
    """Keep a line to itself that no setting turns off; other threads may print."""
    quiet: Any = misc
    quiet.print = lambda *_: None  # pyrefly: ignore[implicit-any-lambda]
    try:
        yield
    finally:
        del quiet.print


def end(why: str) -> None:
    """Refuse later launches of all compiled kernels, which would crash, and leave all memory."""
    for kernel in list(LIVING):
        kernel.end(why)
    LIVING.clear()
    ndarrays.leave()


def abandon() -> None:
    """Keep the program of a process that was forked; freeing it would wait for its threads."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(impl.get_runtime().prog))


def cache_folder() -> Path:
    """Return the folder of compiled kernels, unless an option of `start` names another."""
    return _FOLDER / "difftile"


def let_wait(waiting: int, stream: int) -> None:
    """Let later work on one stream of CUDA wait for earlier work on another."""
    cuda.let_wait(waiting, stream)
