"""Where programs run: sessions, memory, compiled launches, and what the objects of kernels mean.

Everything outside imports from here; `tests/test_layers.py` checks it. The modules beside this one
know no compiler; those of `substrate/taichi` are the only ones that know Taichi.
"""

import difftile.substrate.taichi  # noqa: F401 - before anything of Taichi is imported
from difftile.substrate.compile import CompiledProgram, Launchable
from difftile.substrate.device import Session, cache_folder
from difftile.substrate.device import current as current_session
from difftile.substrate.device import start as start_session
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import MAX_ELEMENTS, POOL, Buffer
from difftile.substrate.report import failed, raise_first, silence
from difftile.substrate.spellings import op_text
from difftile.substrate.taichi.desktop import Desktop, RawEvent
from difftile.substrate.taichi.language import ti
from difftile.substrate.taichi.names import (
    StructType,
    grouped,
    has_own_scalar,
    meaning_of,
    member_types,
    methods_of,
    static,
    struct_values,
    value_type,
)
from difftile.substrate.taichi.names import to_taichi as dtype_of
from difftile.substrate.work import work_of

__all__ = [
    "LOCK",
    "MAX_ELEMENTS",
    "POOL",
    "Buffer",
    "CompiledProgram",
    "Desktop",
    "Launchable",
    "RawEvent",
    "Session",
    "StructType",
    "cache_folder",
    "current_session",
    "dtype_of",
    "failed",
    "grouped",
    "has_own_scalar",
    "meaning_of",
    "member_types",
    "methods_of",
    "op_text",
    "raise_first",
    "silence",
    "start_session",
    "static",
    "struct_values",
    "ti",
    "value_type",
    "work_of",
]
