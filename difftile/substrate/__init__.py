"""Sessions, memory and compiled launches.

The rest of the library imports from here; `tests/test_layers.py` checks it. The modules of this
package know no compiler. Each package inside is a backend, and only it knows its compiler.
"""

from pathlib import Path

from difftile.substrate.backend import Backend, Launcher, NativeKernel
from difftile.substrate.batch import apart, batch_of, start_launches
from difftile.substrate.compile import (
    CompiledProgram,
    Native,
    NativeLaunch,
    Speculation,
    speed_of,
)
from difftile.substrate.compiler import backend as _backend
from difftile.substrate.compiler import chosen
from difftile.substrate.debug_report import failed, raise_first, silence
from difftile.substrate.desktop import Desktop, RawEvent, open_desktop
from difftile.substrate.dlpack import Block, block_of, capsule_of
from difftile.substrate.kept_code import Kept, kept_for, kept_together
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import MAX_ELEMENTS, Buffer, Terms, nbytes_of
from difftile.substrate.pool import Pool, keep, pack, relieve, unpin
from difftile.substrate.scatters import check_strategy
from difftile.substrate.session import Session, current_session, default_float, start_session
from difftile.substrate.spellings import op_text
from difftile.substrate.streams import NULL_STREAM
from difftile.substrate.vector_loops import REASONS, LoopCode
from difftile.substrate.work import Work, work_of


def cache_folder() -> Path:
    """Return the folder of compiled kernels, unless an option of a start names another."""
    return _backend().devices.cache_folder()


def let_wait(waiting: int, stream: int) -> None:
    """Let later work on one stream of CUDA wait for earlier work on another."""
    _backend().devices.let_wait(waiting, stream)


__all__ = [
    "LOCK",
    "MAX_ELEMENTS",
    "NULL_STREAM",
    "REASONS",
    "Backend",
    "Block",
    "Buffer",
    "CompiledProgram",
    "Desktop",
    "Kept",
    "Launcher",
    "LoopCode",
    "Native",
    "NativeKernel",
    "NativeLaunch",
    "Pool",
    "RawEvent",
    "Session",
    "Speculation",
    "Terms",
    "Work",
    "apart",
    "batch_of",
    "block_of",
    "cache_folder",
    "capsule_of",
    "check_strategy",
    "chosen",
    "current_session",
    "default_float",
    "failed",
    "keep",
    "kept_for",
    "kept_together",
    "let_wait",
    "nbytes_of",
    "op_text",
    "open_desktop",
    "pack",
    "raise_first",
    "relieve",
    "silence",
    "speed_of",
    "start_launches",
    "start_session",
    "unpin",
    "work_of",
]
