"""The functions of the kernel language and their derivatives, by the names of their modules.

The rules are written down a second time, from calculus and from `docs/kinks.md`, and compared with
the table of operations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tests.hunt.duals import (
    NEAR,
    Discard,
    Dual,
    apart,
    dual,
    floor,
    pair,
    power,
    root,
    stepped,
)
from tests.hunt.small import Small, total, vector_type

Function: TypeAlias = Callable[..., Any]


def componentwise(function: Function) -> Function:
    """Return a function that also takes vectors and matrices, by component."""

    def apply(*args: Any) -> Any:
        shaped = next((one for one in args if isinstance(one, Small)), None)
        if shaped is None:
            return function(*args)
        columns = [
            one.parts if isinstance(one, Small) else [one] * len(shaped.parts) for one in args
        ]
        return Small(map(function, *columns), shaped.shape)

    return apply


def smooth(value: Callable[[float], float], slope: Callable[[float], float]) -> Function:
    """Return a function of one float with its derivative."""

    def one(x: Any) -> Dual:
        x = dual(x)
        try:
            return Dual(value(x.real), slope(x.real) * x.dot if x.dot else 0.0)
        except (ValueError, OverflowError, ZeroDivisionError):
            raise Discard("outside of the domain") from None

    return componentwise(one)


def _folded(sign: int) -> Function:
    both = componentwise(lambda a, b: pair(a, b, sign))

    def apply(*values: Any) -> Any:
        found, *rest = values
        for value in rest:
            found = both(found, value)
        return found

    return apply


def _clamp(x: Any, low: Any, high: Any) -> Any:
    if apart(x, low) < 0:
        return low if apart(low, high) <= 0 else high
    return high if apart(x, high) > 0 else x


def _atan2(y: Any, x: Any) -> Dual:
    y, x = dual(y), dual(x)
    square = x.real**2 + y.real**2
    if square < NEAR or (x.real < 0 and abs(y.real) < NEAR):
        raise Discard("near a jump")
    return Dual(math.atan2(y.real, x.real), (y.dot * x.real - x.dot * y.real) / square)


def _sign(x: Any) -> Any:
    difference = apart(x, 0.0)
    return dual(math.copysign(1.0, difference) if difference else 0.0)


def _select(cond: Any, a: Any, b: Any) -> Any:
    return a if cond else b


def _cut(x: Any) -> Any:
    return Dual(x.real) if isinstance(x, Dual) else x


def _softplus(x: float, beta: float) -> float:
    return (max(0.0, beta * x) + math.log1p(math.exp(-abs(beta * x)))) / beta


def _sigmoid(x: float) -> float:
    return 0.5 * (1.0 + math.tanh(0.5 * x))


def _logsumexp(*values: Any) -> Any:
    parts: Sequence[Any] = values[0].parts if isinstance(values[0], Small) else values
    return log(total(exp(part) for part in parts))


sqrt = componentwise(root)
exp = smooth(math.exp, math.exp)
log = smooth(math.log, lambda x: 1 / x)
sin = smooth(math.sin, math.cos)
cos = smooth(math.cos, lambda x: -math.sin(x))
tanh = smooth(math.tanh, lambda x: 1 - math.tanh(x) ** 2)
largest, smallest = _folded(1), _folded(-1)
clamp = componentwise(_clamp)
select = componentwise(_select)

FUNCTIONS: dict[str, Function] = {
    "sin": sin,
    "cos": cos,
    "tan": smooth(math.tan, lambda x: 1 + math.tan(x) ** 2),
    "asin": smooth(math.asin, lambda x: 1 / math.sqrt(1 - x * x)),
    "acos": smooth(math.acos, lambda x: -1 / math.sqrt(1 - x * x)),
    "tanh": tanh,
    "exp": exp,
    "log": log,
    "sqrt": sqrt,
    "rsqrt": smooth(lambda x: 1 / math.sqrt(x), lambda x: -0.5 / math.sqrt(x) ** 3),
    "floor": componentwise(floor),
    "ceil": componentwise(lambda x: stepped(x, math.ceil)),
    "round": componentwise(
        lambda x: stepped(x, lambda at: math.trunc(at + math.copysign(0.5, at)))
    ),
    "abs": componentwise(abs),
    "max": largest,
    "min": smallest,
    "pow": componentwise(lambda a, b: power(dual(a), b)),
    "atan2": componentwise(_atan2),
    "select": select,
}
MATH: dict[str, Function] = {
    **FUNCTIONS,
    "clamp": clamp,
    "mix": lambda x, y, t: x * (1 - t) + y * t,
    "fract": componentwise(lambda x: x - floor(x)),
    "sign": componentwise(_sign),
    "mod": componentwise(lambda a, b: dual(a) % b),
    "step": componentwise(lambda edge, x: dual(0.0 if apart(x, edge) < 0 else 1.0)),
    "dot": lambda a, b: a.dot(b),
    "cross": lambda a, b: a.cross(b),
    "length": lambda a: a.norm(),
    "distance": lambda a, b: (a - b).norm(),
    "normalize": lambda a: a.normalized(),
    "vec2": vector_type(2),
    "vec3": vector_type(3),
}
OWN: dict[str, Function] = {
    "sigmoid": smooth(_sigmoid, lambda x: _sigmoid(x) * _sigmoid(-x)),
    "softplus": lambda x, beta=1.0: smooth(
        lambda at: _softplus(at, beta), lambda at: _sigmoid(beta * at)
    )(x),
    "log1p": smooth(math.log1p, lambda x: 1 / (1 + x)),
    "expm1": smooth(math.expm1, math.exp),
    "logsumexp": _logsumexp,
    "stop_grad": componentwise(_cut),
    "scale_grad": lambda x, factor: Dual(dual(x).real, dual(x).dot * factor),
    "safe_norm": lambda v, eps=1e-8: pair(v.norm(), eps, 1),
}
