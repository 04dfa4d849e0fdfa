"""Equality of programs up to spans and the names of variables and arrays."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

from difftile.diagnostics import Span
from difftile.ir.nodes import Array, Const, Program, Var

_APART = ("span", "name")


def difference(a: Program, b: Program) -> str | None:
    """Return where two programs differ first, or None if they are equal."""
    return _Comparison().things(a, b, "program")


class _Comparison:
    def __init__(self) -> None:
        self.partner: dict[Any, Any] = {}

    def things(self, a: Any, b: Any, where: str) -> str | None:
        if type(a) is not type(b):
            return f"{where}: {a!r} and {b!r}"
        if isinstance(a, (Var, Array)):
            return self.named(a, b, where)
        if isinstance(a, tuple):
            if len(a) != len(b):
                return f"{where}: {len(a)} and {len(b)} items"
            pairs = enumerate(zip(a, b, strict=True))
            found = (self.things(one, other, f"{where}[{k}]") for k, (one, other) in pairs)
            return next((text for text in found if text), None)
        if isinstance(a, Const) and isinstance(a.value, float) and a.type == b.type:
            same = (a.value == b.value) or (math.isnan(a.value) and math.isnan(b.value))
            same = same and math.copysign(1, a.value) == math.copysign(1, b.value)
            return None if same and a.structural == b.structural else f"{where}: {a} and {b}"
        if is_dataclass(a) and not isinstance(a, Span):
            return self.members(a, b, where, skipped=("span", "facts"))
        return None if a == b else f"{where}: {a!r} and {b!r}"

    def named(self, a: Any, b: Any, where: str) -> str | None:
        """Compare variables or arrays of two programs, up to renaming."""
        known = self.partner.get(a)
        if known is None and b not in self.partner:
            self.partner[a], self.partner[b] = b, a
            return self.members(a, b, where, skipped=_APART)
        return None if known is b else f"{where}: {a.name} stands for {known}, and not for {b.name}"

    def members(self, a: Any, b: Any, where: str, skipped: tuple[str, ...]) -> str | None:
        for one in fields(a):
            if one.name in skipped:
                continue
            at = f"{where}.{one.name}"
            found = self.things(getattr(a, one.name), getattr(b, one.name), at)
            if found:
                return found
        return None
