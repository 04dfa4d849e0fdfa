"""Taichi's own tape refuses fields of difftile, with the name of the one that takes them.

A tape of Taichi records launches of Taichi's kernels only, and takes any loss that is not a field
of Taichi for a tensor of torch. Its `__enter__` is replaced once, when this module is imported, and
is Taichi's own for everything else.
"""

from __future__ import annotations

import functools
from typing import Any

import taichi as ti

from difftile.diagnostics import TapeError

_Tape: Any = ti.ad.Tape
_enter = _Tape.__enter__


@functools.wraps(_enter)
def _refusing(tape: Any) -> Any:
    if type(tape.loss).__module__.partition(".")[0] == "difftile":
        raise TapeError(
            "A tape of Taichi records Taichi's kernels and fields only. "
            "Write 'with dt.Tape(loss):'."
        )
    return _enter(tape)


_Tape.__enter__ = _refusing
