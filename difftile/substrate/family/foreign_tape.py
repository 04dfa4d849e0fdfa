"""The compiler's own tape refuses fields of difftile, with the name of the one that takes them.

Such a tape records launches of the compiler's kernels only, and takes any loss that is not a field
of its own for a tensor of torch. Its `__enter__` is replaced once, when this module is imported,
and is the compiler's own for everything else.
"""

from __future__ import annotations

import functools
from typing import Any

from difftile.diagnostics import TapeError
from difftile.substrate.compiler import private, ti

_Tape: Any = ti.ad.Tape
_enter = _Tape.__enter__


@functools.wraps(_enter)
def _refusing(tape: Any) -> Any:
    if type(tape.loss).__module__.partition(".")[0] == "difftile":
        raise TapeError(
            f"A tape of {private.NAME} records its own kernels and fields only. "
            "Write 'with dt.Tape(loss):'."
        )
    return _enter(tape)


_Tape.__enter__ = _refusing
