"""Kernels run as the Python that they are written in, on numbers that carry a tangent.

The text is parsed, rewritten and executed with stand-ins for `taichi`, `difftile` and a few
builtins. Loops run in order.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.hunt import functions
from tests.hunt.duals import Dual, dual, value_of
from tests.hunt.memory import OPERATIONS, Memory, PlainField, Run, change, ndrange, place
from tests.hunt.rewrite import Rewritten
from tests.hunt.small import Small, vector


def _own(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_own, value))
    return value.copy() if isinstance(value, Small) else value


def _grouped(what: Any) -> Iterator[Small]:
    for index in what:
        parts = index if isinstance(index, tuple) else (index,)
        yield Small(parts, (len(parts),))


def _steps(*bounds: int) -> range:
    """Return a range, which is empty where its step is 0."""
    return range(0) if len(bounds) == 3 and bounds[2] == 0 else range(*bounds)


class _Number:
    """A number type: casts."""

    def __init__(self, whole: bool) -> None:
        self.whole = whole

    def __call__(self, value: Any = 0) -> Any:
        if isinstance(value, Small):
            return value.map(self)
        return int(value) if self.whole else dual(value)


# Derivatives of the funcs that kernels ask for themselves.
SLOPES: dict[str, Callable[..., Any]] = {
    "squared": lambda a, d: 2 * a * d,
    "both": lambda a, b, d: (
        functions.cos(a) * (b * d[0] - d[1]),
        functions.sin(a) * d[0] + d[1],
    ),
}
PUSHES: dict[str, Callable[..., Any]] = {
    "both": lambda a, b, a_dot, b_dot: (
        functions.cos(a) * a_dot * b + functions.sin(a) * b_dot,
        b_dot - functions.cos(a) * a_dot,
    ),
}


class PlainFunc:
    """A func, with a rule of its own if it was given one."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.rule: Callable[..., Any] | None = None
        self.push: Callable[..., Any] | None = None

    def backward(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        self.rule = rule
        return rule

    def forward(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        self.push = rule
        return rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.rule is None:
            return self.function(*args, **kwargs)
        cut = [functions.OWN["stop_grad"](one) for one in args]
        value = self.function(*cut)
        if self.push is not None:
            dots = [dual(one).dot for one in args]
            return Dual(value_of(value), value_of(self.push(*cut, *dots)))
        slopes = self.rule(*cut, 1.0)
        slopes = slopes if isinstance(slopes, tuple) else (slopes,)
        dots = [dual(one).dot for one in args]  # a whole number that stands for a float has none
        dot = sum(value_of(slope) * dot for slope, dot in zip(slopes, dots, strict=True))
        return Dual(value_of(value), dot)


class Interpreter:
    """Executes texts; `run` records the effects of kernels."""

    def __init__(self) -> None:
        self.run = Run()
        number = {"f32": False, "f64": False, "i32": True, "i64": True}
        numbers = {name: _Number(whole) for name, whole in number.items()}
        self.modules = {
            "taichi": SimpleNamespace(
                **functions.FUNCTIONS,
                **numbers,
                math=SimpleNamespace(**functions.MATH),
                Vector=vector,
                Matrix=vector,
                Struct=SimpleNamespace,
                static=lambda value: value,
                ndrange=ndrange,
                grouped=_grouped,
                cast=lambda value, type_: type_(value),
                loop_config=lambda **_: None,
                random=self._rand,
            ),
            "difftile": SimpleNamespace(
                **functions.OWN,
                func=PlainFunc,
                kernel=lambda function: function,
                unique=lambda value: value,
                bwd_diff=lambda func: SLOPES[func.function.__name__],
                fwd_diff=lambda func: PUSHES[func.function.__name__],
                rand=self._rand,
                randn=self._randn,
                randint=self._randint,
            ),
        }
        changed = {
            "__import__": self._import,
            "range": _steps,
            "max": functions.largest,
            "min": functions.smallest,
            "float": _Number(False),
            "int": _Number(True),
            "pow": functions.FUNCTIONS["pow"],
        }
        self.names = {
            "_own": _own,
            "_place": place,
            "_store": lambda value, at: at.store(value),
            "_change": change,
            "_operate": lambda name, a, b: OPERATIONS[name](a, b),
            "_parallel": self._parallel,
            "_streams": self._streams,
            "_step": self._step,
            "_skip": self._skip,
            "__builtins__": {**vars(builtins), **changed},
        }

    def _parallel(self, iterable: Iterable[Any]) -> Iterator[Any]:
        return self.run.parallel(iterable)

    def _streams(self, loops: int, drawn: bool) -> None:
        self.run.loops, self.run.drawn = loops, drawn

    def _step(self) -> bool:
        return self.run.step()

    def _skip(self, draws: int) -> None:
        self.run.draws += draws

    def _import(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self.modules.get(name) or builtins.__import__(name, *args, **kwargs)

    def execute(self, tree: ast.Module, *, kernels: bool, **known: Any) -> dict[str, Any]:
        """Return the names that a module defines; of kernels if so said, else of funcs."""
        names: dict[str, Any] = {**self.names, **known, "__name__": "plain"}
        tree = ast.fix_missing_locations(Rewritten(kernels).visit(tree))
        exec(compile(tree, "<plain>", "exec", dont_inherit=True), names)
        return names

    def field(self, memory: Memory, places: np.ndarray) -> PlainField:
        """Return a field over some places of a memory."""
        return PlainField(lambda: self.run, memory, places)

    # Random numbers

    def _fraction(self, upper: int, lower: int) -> float:
        return ((upper >> 5) * 2**26 + (lower >> 6)) * 2.0**-53

    def _rand(self, *_: Any) -> Dual:
        words = self.run.bits()
        return Dual(self._fraction(*words[:2]))

    def _randn(self, *_: Any) -> Dual:
        words = self.run.bits()
        level = (float(words[0]) * 2.0**32 + words[1] + 0.5) * 2.0**-64
        angle = 2 * math.pi * self._fraction(*words[2:])
        return Dual(math.sqrt(-2 * math.log(level)) * math.cos(angle))

    def _randint(self, low: int, high: int | None = None) -> int:
        low, high = (0, low) if high is None else (low, high)
        words = self.run.bits()
        size = max(high - low, 1)
        return low + ((words[0] * size + (words[1] * size >> 32)) >> 32)
