"""Starting Taichi, and telling which start a field or a compiled kernel belongs to."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import taichi as ti
from taichi.lang import impl

from difftile.diagnostics import FieldError, did_you_mean
from difftile.ir.types import F32, FLOATS, SCALARS, Scalar
from difftile.substrate.names import value_type

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


_current: list[Session] = []


def start(
    arch: str,
    default_fp: object,
    seed: int,
    debug: bool,
    fast_math: bool | None = None,
    **options: Any,
) -> Session:
    """Start Taichi, anew if it runs already; fast math is on unless this is for debugging.

    Raises:
        FieldError: The architecture is unknown or not there, the float type is none, or the seed is
            no integer.
    """
    if arch not in _ARCHS:
        raise FieldError(f"Unknown arch '{arch}'. Choose one of: {', '.join(_ARCHS)}.")
    scalar = SCALARS.get(default_fp) if isinstance(default_fp, str) else value_type(default_fp)
    if not isinstance(scalar, Scalar) or scalar not in FLOATS:
        raise FieldError(f"default_fp is a float type such as ti.f32, not {default_fp}.")
    if not isinstance(seed, int):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise FieldError(f"A seed is an integer, not {seed!r}.")
    settings: dict[str, Any] = {
        "log_level": ti.ERROR,  # a missing device is reported below, once
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
    with redirect_stdout(io.StringIO()):  # a line that no setting of Taichi turns off
        ti.init(arch=_ARCHS[arch], default_fp=ti.f32, **(settings | options))
    got = impl.current_cfg().arch
    on_host = got in (ti.x64, ti.arm64)
    if arch != "cpu" and on_host:
        raise FieldError(
            f"arch '{arch}' is not available on this machine; use dt.init(arch='cpu')."
        )
    number = _current[0].number + 1 if _current else 1
    session = Session(
        number=number,
        on_host=on_host,
        threads=impl.current_cfg().cpu_max_num_threads,
        float_type=scalar,
        debug=debug,
        fast_math=impl.current_cfg().fast_math,
        seed=seed,
        warps=got == ti.cuda,
    )
    _current[:] = [session]
    return session


def cache_folder() -> Path:
    """Return the folder of compiled kernels, unless an option of `start` names another."""
    return Path(impl.default_cfg().offline_cache_file_path).parent / "difftile"


def current() -> Session:
    """Return the running session; start one on the CPU if there is none."""
    if not _current:
        start("cpu", F32.name, 0, False)
    return _current[0]


def shut_down() -> None:
    """Forget the session, for tests."""
    _current.clear()
