"""Operators on numbers and objects that are known while compiling."""

from __future__ import annotations

import operator
from typing import Any

from difftile.diagnostics import TypeMismatch
from difftile.frontend.context import Context
from difftile.frontend.items import Static

_LARGEST_BITS = 256


def folded(cx: Context, python: str, *items: Static) -> Static:
    """Evaluate an operator on literals, as Python does."""
    values = [item.value for item in items]
    try:
        if python in ("pow", "lshift") and _too_large(python, *values):
            raise OverflowError("the result is too large")
        found = getattr(operator, python)(*values)
        if isinstance(found, complex):
            raise ValueError("a negative number has no fractional power")
        return Static(found)
    except TypeError:
        wanted = "vectors and matrices" if python == "matmul" else "integers"
        raise TypeMismatch(cx.b.span, f"{wanted} are wanted here.") from None
    except (ArithmeticError, ValueError) as error:
        reason = str(error.args[-1])
        raise TypeMismatch(cx.b.span, f"{reason[:1].lower()}{reason[1:]}.") from None


def _too_large(python: str, left: Any, right: Any) -> bool:
    if isinstance(left, float) or isinstance(right, float) or right <= 0:
        return False
    bits = right if python == "lshift" else right * max(1, abs(left)).bit_length()
    return bits > _LARGEST_BITS
