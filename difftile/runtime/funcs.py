"""Funcs that Python can call: importing this module gives the funcs of `compile` a caller."""

from __future__ import annotations

from difftile.compile.func import Calling, func
from difftile.compile.surrogates import (
    clip_grad,
    finite_difference,
    lookup,
    scale_grad,
    straight_through,
    surrogate,
)
from difftile.runtime.caller import Caller

__all__ = [
    "clip_grad",
    "finite_difference",
    "func",
    "lookup",
    "scale_grad",
    "straight_through",
    "surrogate",
]

Calling.caller = Caller
