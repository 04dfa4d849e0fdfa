"""Starting Taichi, and telling which start a field or a compiled kernel belongs to."""

from __future__ import annotations

import ctypes
import itertools
import os
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import taichi as ti
from taichi.lang import impl, misc

from difftile.diagnostics import FieldError, did_you_mean
from difftile.ir.types import F32, FLOATS, SCALARS, Scalar
from difftile.substrate.lock import LOCK
from difftile.substrate.taichi.cache import caches_named, can_keep
from difftile.substrate.taichi.names import value_type

_ARCHS = {"cpu": ti.cpu, "cuda": ti.cuda, "vulkan": ti.vulkan, "metal": ti.metal, "gpu": ti.gpu}


@dataclass(frozen=True, slots=True)
class Session:
    """One start of Taichi; memory and kernels made under an earlier one are gone.

    Args:
        number: Counts the starts.
        on_host: Fields live in host memory, and kernels run on the CPU.
        threads: How many threads of the CPU share a parallel loop.
        float_type: The type of float literals where no field says another.
        debug: Accesses out of range are errors.
        fast_math: Sums may be computed in another order than they are written in.
        seed: Seed of what is random.
        warps: Kernels run in warps of CUDA.
    """

    number: int
    on_host: bool
    threads: int
    float_type: Scalar
    debug: bool
    fast_math: bool
    seed: int
    warps: bool


# Before any start, since this becomes what the last one was given.
_TAICHIS_FOLDER = Path(impl.default_cfg().offline_cache_file_path).parent

_current: list[Session] = []
_numbers = itertools.count(1)
_ends: list[Callable[[str], None]] = []


def at_end(end: Callable[[str], None]) -> None:
    """Have a function called when a session ends, with the reason, before Taichi starts anew."""
    _ends.append(end)


def start(
    arch: str,
    default_fp: object,
    seed: int,
    debug: bool,
    fast_math: bool | None = None,
    **options: Any,
) -> Session:
    """Start Taichi, anew if it runs already; fast math is on unless this is for debugging.

    Any thread may do so: kernels are launched and compiled by all threads afterwards.

    Raises:
        FieldError: The architecture is unknown or not there, the float type is none, the seed is no
            integer, or compiled kernels cannot be kept where an option says. What ran before goes
            on then.
    """
    if arch not in _ARCHS:
        raise FieldError(f"Unknown arch '{arch}'. Choose one of: {', '.join(_ARCHS)}.")
    scalar = SCALARS.get(default_fp) if isinstance(default_fp, str) else value_type(default_fp)
    if not isinstance(scalar, Scalar) or scalar not in FLOATS:
        raise FieldError(f"default_fp is a float type such as ti.f32, not {default_fp}.")
    if not isinstance(seed, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise FieldError(f"A seed is an integer, not {seed!r}.")
    if _forked.session is not None and not _forked.session.on_host:
        raise FieldError(f"{_forked.why} A GPU cannot be used from here at all.")
    if not os.path.exists(os.curdir):
        raise FieldError("The working directory is gone, to which Taichi returns as it starts.")
    if arch != "cpu" and not _is_there(_ARCHS[arch]):
        raise FieldError(
            f"arch '{arch}' is not available on this machine; use dt.init(arch='cpu')."
        )
    settings: dict[str, Any] = {
        "log_level": ti.ERROR,
        "force_scalarize_matrix": True,
        "random_seed": seed % 2**31,
        "fast_math": not debug if fast_math is None else fast_math,
        # Taichi 1.7.4 keeps `y[i, 0]` in a register over a loop that writes `y[i, j]`, too.
        "cache_loop_invariant_global_vars": False,
        # That is no part of the keys of its cache on disk: ours is one of its own.
        "offline_cache_file_path": str(cache_folder()),
    }
    # Emitted literals carry their type; Taichi's own default must stay f32 for them.
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
        # Taichi makes the folder even so, and crashes if it cannot.
        settings |= {"offline_cache": False, "offline_cache_file_path": tempfile.gettempdir()}
    with LOCK:
        _end("dt.init() was called, which ends what was made before.")
        with caches_named(), _in_silence():
            ti.init(arch=_ARCHS[arch], default_fp=ti.f32, **settings)
        # Taichi lets this thread do it and no other; with the first launch it would be any.
        impl.get_runtime().materialize()
        got = impl.current_cfg().arch
        session = Session(
            number=next(_numbers),
            on_host=got in (ti.x64, ti.arm64),
            threads=impl.current_cfg().cpu_max_num_threads,
            float_type=scalar,
            debug=debug,
            fast_math=impl.current_cfg().fast_math,
            seed=seed,
            warps=got == ti.cuda,
        )
        _current[:] = [session]
        _forked.left()
        return session


def _is_there(arch: Any) -> bool:
    """Tell whether this machine has an architecture, or one of several."""
    ti.set_logging_level(ti.ERROR)  # what is missing is said once, by who asks
    return any(map(misc.is_arch_supported, arch if isinstance(arch, (list, tuple)) else [arch]))


def _end(why: str) -> None:
    """End the session: nothing that belongs to it is launched any more."""
    _current.clear()
    for end in _ends:
        end(why)


@contextmanager
def _in_silence() -> Generator[None]:
    """Keep a line to itself that no setting of Taichi turns off; other threads may print."""
    quiet: Any = misc
    quiet.print = lambda *_: None
    try:
        yield
    finally:
        del quiet.print


def cache_folder() -> Path:
    """Return the folder of compiled kernels, unless an option of `start` names another."""
    return _TAICHIS_FOLDER / "difftile"


def current() -> Session:
    """Return the running session; start one on the CPU if there is none.

    Raises:
        FieldError: The process was forked from one that has a session.
    """
    while True:
        try:
            return _current[0]
        except IndexError:  # none yet, or another thread is starting one
            _start_first()


def _start_first() -> None:
    with LOCK:
        if _forked.session is not None:
            raise FieldError(_forked.why)
        if not _current:  # another thread may have been faster
            start("cpu", F32.name, 0, False)


class _Forked:
    """What a process that was forked knows of the session of its parent.

    The threads that kernels run on stay with the parent: to wait for them would never end.
    """

    why = (
        "difftile was started before this process was forked, and its threads stayed behind. Call "
        "dt.init() here first and make fields anew; or start processes with "
        "multiprocessing.get_context('spawn') or 'forkserver'."
    )

    def __init__(self) -> None:
        self.session: Session | None = None

    def left(self) -> None:
        """Forget the parent's session, since there is one of this process; a GPU is not left."""
        if self.session is not None and self.session.on_host:
            self.session = None

    def note(self) -> None:
        """Take leave of the parent's session, in the child."""
        if _current:
            self.session = _current[0]
            _end(self.why)
            # At the end of the process Taichi's program would wait for its threads.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(impl.get_runtime().prog))


_forked = _Forked()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked.note)


def shut_down() -> None:
    """Forget the session, for tests."""
    _current.clear()
