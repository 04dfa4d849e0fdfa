"""Sessions, memory and compiled launches.

The rest of the library imports from here; `tests/test_layers.py` checks it. The modules of this
package know no compiler. Each package inside is a backend, and only it knows its compiler:
`taichi/` and `quadrants/` hold the private names of one release, `family/` runs on either,
`python/` runs programs without a compiler.

*Code.* `emit` writes source, a line for each statement: `spellings` has the text of each op,
`syntax` the text of types and numbers, `parallel` the headers of parallel loops, and `expressions`
decides what is inlined where it is used. The backend parses this source itself (decision 32) and
launches it through a context that it fills. Comparisons are spelled so that fast math preserves
NaN, and a program with an op `exact` is compiled without fast math (decision 18). On a CPU the code
of a thread is one function, which LLVM vectorises (decision 34). `kept_code` caches results on disk
under a key of everything that they depend on (decision 112).

*Memory.* On a CPU a buffer is NumPy memory, passed to kernels by address. On other devices it is an
array of the backend: fills wait until the contents are used (decisions 35 and 43), and on CUDA the
driver fills and copies, and only reads wait for the device. Buffers are pinned while a record reads
them, and return to a pool. With Quadrants on CUDA, launches of runs and backward passes wait in a
`Batch`, which starts them as a graph (decision 64); any other use of device memory calls
`start_launches` first, and code of other libraries runs inside `apart()`.

*Threads.* A launch holds Python's lock from end to end. Operations of the backend or the pool that
take several steps hold `LOCK`: start, compilation, moving a field out of pinned memory, and
launches with hidden fields until their results are read. A session ends what belongs to it:
compiled code raises when it is launched later, and so do fields of an earlier session. A forked
child has no session.
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
from difftile.substrate.kept_code import KeptResults, kept_for, kept_for_programs
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
    "kept_for_programs",
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
