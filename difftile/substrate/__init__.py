"""Sessions, memory and compiled launches.

The rest of the library imports from here; `tests/test_layers.py` checks it. The modules of this
package know no compiler. Each package inside is a backend, and only it knows its compiler.
"""

from pathlib import Path

from difftile.substrate.backend import Backend, Launcher, NativeKernel
from difftile.substrate.batch import apart, batch_of, start_launches
from difftile.substrate.compile import CompiledProgram, Native, Speculation
from difftile.substrate.compiler import backend as _backend
from difftile.substrate.compiler import chosen
from difftile.substrate.debug_report import failed, raise_first, silence
from difftile.substrate.desktop import Desktop, RawEvent, open_desktop
from difftile.substrate.dlpack import ForeignBlock, block_of, capsule_of
from difftile.substrate.kept_code import KeptResults, kept_for, kept_together
from difftile.substrate.launchers import NativeLaunch
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import Box, Buffer, Terms
from difftile.substrate.pool import Pool, keep, pack, relieve, unpin
from difftile.substrate.session import Session, current_session, default_float, start_session
from difftile.substrate.spellings import op_text
from difftile.substrate.streams import NULL_STREAM


def cache_folder() -> Path:
    """Return the folder of compiled kernels, unless an option of a start names another."""
    return _backend().devices.cache_folder()


def let_wait(waiting: int, stream: int) -> None:
    """Let later work on one stream of CUDA wait for earlier work on another."""
    _backend().devices.let_wait(waiting, stream)


__all__ = [
    "LOCK",
    "NULL_STREAM",
    "Backend",
    "Box",
    "Buffer",
    "CompiledProgram",
    "Desktop",
    "ForeignBlock",
    "KeptResults",
    "Launcher",
    "Native",
    "NativeKernel",
    "NativeLaunch",
    "Pool",
    "RawEvent",
    "Session",
    "Speculation",
    "Terms",
    "apart",
    "batch_of",
    "block_of",
    "cache_folder",
    "capsule_of",
    "chosen",
    "current_session",
    "default_float",
    "failed",
    "keep",
    "kept_for",
    "kept_together",
    "let_wait",
    "op_text",
    "open_desktop",
    "pack",
    "raise_first",
    "relieve",
    "silence",
    "start_launches",
    "start_session",
    "unpin",
]
