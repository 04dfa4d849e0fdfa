"""Sessions: from one `dt.init` to the next, with the memory and the compiled code of that time."""

from __future__ import annotations

import itertools
import os
import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from difftile.diagnostics import FieldError
from difftile.ir.types import F32, FLOATS, SCALARS, Scalar, Type
from difftile.lang.type_objects import value_type
from difftile.ranks import choose_device, threads, use_stream
from difftile.records import dataclass
from difftile.releases import ARCH_VARIABLE
from difftile.schedule.grids import Grids
from difftile.schedule.target import DETERMINISTIC, Target, blocks_of_sums
from difftile.substrate.backend import Backend, NativeKernel
from difftile.substrate.batch import Batches
from difftile.substrate.compiler import backend, choose, chosen
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import DeviceArray
from difftile.substrate.pool import Pool
from difftile.substrate.python.backend import BACKEND as PYTHON
from difftile.substrate.shaders import check_element
from difftile.substrate.streams import NULL_STREAM, handle_of


@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """One start of a backend; memory and kernels made under an earlier one are gone.

    Args:
        number: Counts the starts.
        backend: Compiles and runs.
        pool: The memory; a buffer of another pool belongs to a session that has ended.
        device: Where fields live and kernels run: "cpu", "cuda", "vulkan" or "metal".
        on_host: Fields live in host memory, and kernels run on the CPU.
        threads: How many threads of the CPU share a parallel loop.
        float_type: The type of float literals where no field says another.
        debug: Accesses out of range are errors.
        fast_math: Sums may be computed in another order than they are written in.
        polynomials: Functions may be polynomials instead of calls of the C library.
        seed: Seed of random numbers.
        scatter: How loops add to elements that iterations share: as in `dt.init`, or so that
            results are the same in every run.
        warps: Kernels run in warps of CUDA.
        native: Kernels that the backend has for warps, by name; none for debugging, which checks
            the accesses of kernels of the language, and none where results repeat: they add
            atomically.
        grids: How many threads share a loop of the device; None on the CPU.
        batches: The graphs of launches; None where each launch goes to the device by itself.
        stream: The handle of the stream of CUDA that launches and copies are on.
        holder: The object that keeps the stream alive.
        kept: The folder of cached compilation results; None without a cache.
    """

    number: int
    backend: Backend
    pool: Pool
    device: str
    on_host: bool
    threads: int
    float_type: Scalar
    debug: bool
    fast_math: bool
    polynomials: bool
    seed: int
    scatter: str
    warps: bool
    native: Mapping[str, NativeKernel]
    grids: Grids | None
    batches: Batches | None
    stream: int = NULL_STREAM
    holder: object = None
    kept: Path | None = None

    @property
    def settings(self) -> tuple[object, ...]:
        """All that compiled code depends on besides the program."""
        grids = repr(self.grids)
        numbers = self.threads, self.fast_math, self.polynomials, self.warps, self.backend.unrolls
        return (
            chosen(),
            platform.machine(),
            self.device,
            self.on_host,
            self.scatter,
            grids,
            *numbers,
        )

    @property
    def target(self) -> Target:
        """What programs are compiled for."""
        backend = self.backend
        return Target(
            grids=None if self.on_host else self.grids,
            warps=self.warps,
            threads=self.threads,
            vectors=self.on_host and self.compiles and not self.debug,
            functions=backend.vector_math.polynomials if self.polynomials else None,
            fast_math=self.fast_math,
            guarded=not self.on_host and self.fast_math,
            unrolls=self.on_host and backend.unrolls,
            strategy=self.scatter,
            blocks=blocks_of_sums(self.threads if self.on_host else None),
        )

    @property
    def compiles(self) -> bool:
        """Whether kernels are compiled; otherwise programs run as they are."""
        return self.backend.run is None

    @property
    def schedules(self) -> bool:
        """Whether steps of loops can be set; otherwise programs run as they are written."""
        return self.compiles and not self.debug


_current: list[Session] = []
_numbers = itertools.count(1)


def start_session(
    arch: str,
    default_fp: object,
    seed: int,
    debug: bool,
    fast_math: bool | None = None,
    math: str = "polynomials",
    scatter: str = "auto",
    graphs: bool = True,
    substrate: str | None = None,
    stream: object = None,
    **options: Any,
) -> Session:
    """Start or restart the backend; fast math is on by default, except for debugging.

    Any thread may call this; afterwards all threads compile and launch.

    Raises:
        FieldError: The process has another compiler than `substrate` says, the architecture is
            unknown or missing, `default_fp` is not a float type, `math` is neither "polynomials"
            nor "libm", the seed is not an integer, there are no such streams, or compiled kernels
            cannot be kept in the folder that an option names. The session before goes on then.
        RankError: A launcher has started this process, and its device is not known.
    """
    if substrate is not None:
        choose(substrate)
    if arch == "cpu" and _runs_as_python():
        arch, options = "python", {}
    own = PYTHON if arch == "python" else backend()
    devices = own.devices
    if arch not in devices.ARCHS:
        known = ", ".join((*devices.ARCHS, "python"))
        raise FieldError(f"Unknown arch '{arch}'. Choose one of: {known}.")
    is_name = isinstance(default_fp, str)
    scalar = SCALARS.get(default_fp) if is_name else value_type(default_fp)
    if not isinstance(scalar, Scalar) or scalar not in FLOATS:
        raise FieldError(f"default_fp is a float type such as ti.f32, not {default_fp}.")
    if math not in ("polynomials", "libm"):
        raise FieldError(f'math is "polynomials" or "libm", not {math!r}.')
    if not isinstance(seed, int):
        raise FieldError(f"A seed is an integer, not {seed!r}.")
    if _forked.session is not None and not _forked.session.on_host:
        raise FieldError(f"{_forked.why} A GPU cannot be used from here at all.")
    handle = handle_of(stream)
    if handle != NULL_STREAM and not (arch == "cuda" and devices.HAS_STREAMS):
        raise FieldError(
            "A stream is for launches on CUDA by Quadrants: "
            "dt.init(arch='cuda', substrate='quadrants', stream=...)."
        )
    fast = not debug if fast_math is None else fast_math
    if arch in ("cuda", "gpu"):
        choose_device()
    share = threads()
    if share is not None and own.run is None:
        options = {"cpu_max_num_threads": share, **options}
    settings = devices.settings_of(arch, seed, debug, fast, options)
    with LOCK:
        for ending in _current:
            ending.pool.clear()
        _end("dt.init() was called, which ends what was made before.")
        device = devices.start(arch, settings, handle)
        use_stream(handle)
        made = own.graphs() if graphs and not device.on_host and not debug else None
        session = Session(
            number=next(_numbers),
            backend=own,
            pool=Pool(None)
            if device.on_host
            else Pool(_memory_on(device.name, own), own.lent_memory),
            device=device.name,
            on_host=device.on_host,
            threads=device.threads,
            float_type=scalar,
            debug=debug,
            fast_math=device.fast_math,
            polynomials=math == "polynomials",
            seed=seed,
            scatter=scatter,
            warps=device.warps,
            native=own.native if device.warps and not debug and scatter != DETERMINISTIC else {},
            grids=None
            if device.on_host
            else Grids.on(device.multiprocessors, device.resident, warps=device.warps),
            batches=None if made is None else Batches(made),
            stream=handle,
            holder=stream,
            kept=None if debug or own.run is not None else _kept(settings),
        )
        _current[:] = [session]
        _forked.left()
        return session


def _kept(settings: Mapping[str, Any]) -> Path | None:
    """Return the folder of what compiling finds, if machine code is kept as well."""
    folder = settings.get("offline_cache_file_path")
    return Path(folder) / "programs" if folder and settings.get("offline_cache", True) else None


def current_session() -> Session:
    """Return the running session; start one if there is none, where `ti.init` did or on the CPU.

    Raises:
        FieldError: The process was forked from one that has a session.
    """
    while True:
        try:
            return _current[0]
        except IndexError:  # none yet, or another thread is starting one
            with LOCK:
                if _forked.session is not None:
                    raise FieldError(_forked.why) from None
                if not _current:  # another thread may have been faster
                    arch = "cpu" if _runs_as_python() else backend().devices.running()
                    start_session(arch, F32.name, 0, False)


def _runs_as_python() -> bool:
    """Tell whether the environment asks for Python where a program asks for the CPU.

    Raises:
        FieldError: It asks for something else.
    """
    asked = os.environ.get(ARCH_VARIABLE, "").strip().lower()
    if asked not in ("", "cpu", "python"):
        raise FieldError(f"{ARCH_VARIABLE} is 'cpu' or 'python', not {asked!r}.")
    return asked == "python"


def default_float() -> Scalar:
    """Return the float type of the session, or of one that `current_session` would start."""
    return _current[0].float_type if _current else F32


def _memory_on(device: str, own: Backend) -> Callable[[Type, tuple[int, ...]], DeviceArray]:
    def checked(element: Type, shape: tuple[int, ...]) -> DeviceArray:
        check_element(element, device)
        return own.memory(element, shape)

    return checked if device == "metal" else own.memory


def _end(why: str) -> None:
    """End the session, whose code is not launched any more."""
    ended = _current[:]
    _current.clear()
    for session in ended:
        session.pool.ended = True
        session.backend.devices.end(why)


class _Forked:
    """The session that the parent of a forked process had.

    The threads of kernels stay with the parent, so that waiting for them would never end.
    """

    why = (
        "difftile was started before this process was forked, and its threads stayed behind. Call "
        "dt.init() here first and make fields anew; or start processes with "
        "multiprocessing.get_context('spawn') or 'forkserver'."
    )

    def __init__(self) -> None:
        self.session: Session | None = None

    def left(self) -> None:
        """Forget the parent's session after a start in this process, unless it was on a GPU."""
        if self.session is not None and self.session.on_host:
            self.session = None

    def note(self) -> None:
        """End the parent's session in the child."""
        if _current and _current[0].compiles:  # Python has no threads of its own
            self.session = _current[0]
            _end(self.why)
            self.session.backend.devices.abandon()


_forked = _Forked()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked.note)
