"""Numbers that carry a tangent, and small arrays of them: forward mode in plain Python.

The rules are written down here a second time, from calculus and from `docs/kinks.md`, and not taken
from the table of operations, which is what they are compared with. A value that is not finite, or
that lies so near to a jump that rounding may decide the side, ends the run with `Discard`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

NEAR = 1e-9  # rounding may decide a comparison of numbers that are nearer to each other
LARGEST = 1e7  # rounding errors of larger values would hide wrong derivatives


class Discard(Exception):
    """The program has no derivative that can be compared here."""


class Dual:
    """A float and its tangent."""

    __slots__ = ("dot", "real")

    def __init__(self, real: float, dot: float = 0.0) -> None:
        if not (-LARGEST < real < LARGEST and -LARGEST < dot < LARGEST):
            raise Discard("large or not finite")
        self.real = real
        self.dot = dot

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Dual):
            return Dual(self.real + other.real, self.dot + other.dot)
        return NotImplemented if isinstance(other, Small) else Dual(self.real + other, self.dot)

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Dual):
            return Dual(self.real - other.real, self.dot - other.dot)
        return NotImplemented if isinstance(other, Small) else Dual(self.real - other, self.dot)

    def __rsub__(self, other: Any) -> Any:
        return Dual(other - self.real, -self.dot)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Dual):
            return Dual(self.real * other.real, self.dot * other.real + self.real * other.dot)
        return (
            NotImplemented
            if isinstance(other, Small)
            else Dual(self.real * other, self.dot * other)
        )

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, Small) else divided(self, dual(other))

    def __rtruediv__(self, other: Any) -> Any:
        return divided(dual(other), self)

    def __floordiv__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, Small) else floor(self / other)

    def __rfloordiv__(self, other: Any) -> Any:
        return floor(dual(other) / self)

    def __mod__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, Small) else self - other * floor(self / other)

    def __rmod__(self, other: Any) -> Any:
        return dual(other) % self

    def __pow__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, Small) else power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return power(dual(other), self)

    def __neg__(self) -> Dual:
        return Dual(-self.real, -self.dot)

    def __pos__(self) -> Dual:
        return self

    def __abs__(self) -> Dual:
        return Dual(abs(self.real), self.dot * math.copysign(1.0, self.real) if self.real else 0.0)

    def __lt__(self, other: Any) -> bool:
        return apart(self, other) < 0

    def __le__(self, other: Any) -> bool:
        return apart(self, other) <= 0

    def __gt__(self, other: Any) -> bool:
        return apart(self, other) > 0

    def __ge__(self, other: Any) -> bool:
        return apart(self, other) >= 0

    def __eq__(self, other: Any) -> bool:
        return apart(self, other) == 0

    def __ne__(self, other: Any) -> bool:
        return apart(self, other) != 0

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return self != 0

    def __int__(self) -> int:
        if abs(self.real - round(self.real)) < NEAR and self.real != round(self.real):
            raise Discard("near a jump")
        return int(self.real)

    def __float__(self) -> float:
        raise TypeError("the tangent would be lost")

    def __repr__(self) -> str:
        return f"{self.real!r} (dot {self.dot!r})"


def dual(value: Any) -> Dual:
    """Return a number as one with a tangent."""
    return value if isinstance(value, Dual) else Dual(float(value))


def apart(a: Any, b: Any) -> float:
    """Return the difference of two numbers, for a comparison."""
    a, b = value_of(a), value_of(b)
    difference = a - b
    if difference and abs(difference) < NEAR * max(1.0, abs(a)):
        raise Discard("near a tie")
    return difference


def value_of(number: Any) -> Any:
    """Return a number without its tangent."""
    return number.real if isinstance(number, Dual) else number


def divided(a: Dual, b: Dual) -> Dual:
    """Return a / b."""
    if abs(b.real) < NEAR:
        raise Discard("division by zero")
    z = a.real / b.real
    return Dual(z, (a.dot - z * b.dot) / b.real)


def power(a: Dual, b: Any) -> Dual:
    """Return a ** b; by the base the derivative is 0 where b is, by b it is 0 for a base <= 0."""
    exponent = value_of(b)
    if (a.real < 0 and exponent != int(exponent)) or (abs(a.real) < NEAR and exponent < 1):
        raise Discard("a power without a derivative")
    z = a.real**exponent
    dot = 0.0 if exponent == 0 else a.dot * exponent * a.real ** (exponent - 1)
    if isinstance(b, Dual) and a.real > 0:
        dot += b.dot * z * math.log(a.real)
    return Dual(z, dot)


def floor(x: Any) -> Any:
    """Return x rounded down."""
    return _stepped(x, math.floor)


def _stepped(x: Any, function: Callable[[float], float]) -> Any:
    if not isinstance(x, Dual):
        return float(function(x))
    at = x.real * 2  # `round` jumps at halves
    if at != round(at) and abs(at - round(at)) < NEAR:
        raise Discard("near a jump")
    return Dual(float(function(x.real)))


# Vectors and matrices

_LETTERS = {letter: k for letters in ("xyzw", "rgba") for k, letter in enumerate(letters)}


class Small:
    """A small vector or matrix: its components in order of rows."""

    __slots__ = ("parts", "shape")

    def __init__(self, parts: Iterable[Any], shape: tuple[int, ...]) -> None:
        self.parts = list(parts)
        self.shape = shape

    def copy(self) -> Small:
        return Small(self.parts, self.shape)

    def map(self, function: Callable[[Any], Any]) -> Small:
        return Small(map(function, self.parts), self.shape)

    def zip(self, other: Any, function: Callable[[Any, Any], Any]) -> Small:
        others = other.parts if isinstance(other, Small) else [other] * len(self.parts)
        return Small(map(function, self.parts, others), self.shape)

    def __add__(self, other: Any) -> Small:
        return self.zip(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Small:
        return self.zip(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> Small:
        return self.zip(other, lambda a, b: a * b)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Small:
        return self.zip(other, lambda a, b: b - a)

    def __truediv__(self, other: Any) -> Small:
        return self.zip(other, lambda a, b: dual(a) / b)

    def __rtruediv__(self, other: Any) -> Small:
        return self.zip(other, lambda a, b: dual(b) / a)

    def __floordiv__(self, other: Any) -> Small:
        return self.zip(other, lambda a, b: a // b)

    def __mod__(self, other: Any) -> Small:
        return self.zip(other, lambda a, b: a % b)

    def __pow__(self, other: Any) -> Small:
        return self.zip(other, lambda a, b: a**b)

    def __neg__(self) -> Small:
        return self.map(lambda a: -a)

    def __abs__(self) -> Small:
        return self.map(abs)

    def __matmul__(self, other: Small) -> Any:
        n, inner = self.shape
        columns = 1 if len(other.shape) == 1 else other.shape[1]
        found = [
            total(self.parts[r * inner + k] * other.parts[k * columns + c] for k in range(inner))
            for r in range(n)
            for c in range(columns)
        ]
        return Small(found, (n,) if len(other.shape) == 1 else (n, columns))

    def at(self, key: Any) -> int:
        """Return the place of a component."""
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) != len(self.shape) or any(
            not 0 <= k < n for k, n in zip(keys, self.shape, strict=True)
        ):
            raise IndexError(key)
        return keys[0] if len(keys) == 1 else keys[0] * self.shape[1] + keys[1]

    def __getitem__(self, key: Any) -> Any:
        return self.parts[self.at(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.parts[self.at(key)] = value

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Any:
        return iter(self.parts)

    def __getattr__(self, name: str) -> Any:
        picks = swizzle(name)
        if picks is None:
            raise AttributeError(name)
        return (
            self.parts[picks[0]]
            if len(picks) == 1
            else Small([self.parts[k] for k in picks], (len(picks),))
        )

    # Methods of the language

    def sum(self) -> Any:
        return total(self.parts)

    def dot(self, other: Small) -> Any:
        return total(map(lambda a, b: a * b, self.parts, other.parts))

    def norm_sqr(self) -> Any:
        return self.dot(self)

    def norm(self, eps: float = 0.0) -> Any:
        return sqrt(self.norm_sqr() + eps)

    def norm_inv(self, eps: float = 0.0) -> Any:
        return 1.0 / self.norm(eps)

    def normalized(self, eps: float = 0.0) -> Small:
        length = self.norm()
        return self / (length + eps) if value_of(length) else self.map(lambda a: 0.0)

    def cross(self, other: Small) -> Small:
        (a, b, c), (x, y, z) = self.parts, other.parts
        return Small((b * z - c * y, c * x - a * z, a * y - b * x), (3,))

    def outer_product(self, other: Small) -> Small:
        return Small((a * b for a in self.parts for b in other.parts), (len(self), len(other)))

    def transpose(self) -> Small:
        n, m = self.shape
        return Small((self.parts[r * m + c] for c in range(m) for r in range(n)), (m, n))

    def trace(self) -> Any:
        return total(self.parts[k * self.shape[1] + k] for k in range(self.shape[0]))

    def determinant(self) -> Any:
        a, b, c, d = self.parts
        return a * d - b * c

    def inverse(self) -> Small:
        a, b, c, d = self.parts
        return Small((d, -b, -c, a), (2, 2)) / self.determinant()

    def max(self) -> Any:
        return largest(*self.parts)

    def min(self) -> Any:
        return smallest(*self.parts)

    def __repr__(self) -> str:
        return f"Small({self.parts}, {self.shape})"


def swizzle(name: str) -> list[int] | None:
    """Return the components that letters name."""
    picks = [_LETTERS.get(letter) for letter in name]
    return None if None in picks else [k for k in picks if k is not None]


def total(values: Iterable[Any]) -> Any:
    """Return the sum of values."""
    found, *rest = values
    for value in rest:
        found = found + value
    return found


def vector(values: Any) -> Small:
    """Return `ti.Vector(values)`, or a matrix of nested values."""
    values = list(values)
    if values and isinstance(values[0], (list, tuple, Small)):
        rows = [list(row) for row in values]
        return Small((part for row in rows for part in row), (len(rows), len(rows[0])))
    return Small(values, (len(values),))


def vector_type(n: int) -> Callable[..., Small]:
    """Return `ti.math.vec3` or the like."""

    def make(*values: Any) -> Small:
        flat = [
            part for value in values for part in (value if isinstance(value, Small) else [value])
        ]
        return Small((dual(part) for part in (flat * n if len(flat) == 1 else flat)), (n,))

    return make


# Functions


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


def _sqrt(x: Any) -> Dual:
    x = dual(x)
    if x.real < 0 or 0 < x.real < NEAR:
        raise Discard("a root without a derivative")
    z = math.sqrt(x.real)
    return Dual(z, 0.5 * x.dot / z if z else 0.0)


def _pair(a: Any, b: Any, sign: int) -> Any:
    """Return the larger (sign 1) or smaller (-1) of two numbers, at a tie with half of each."""
    if not isinstance(a, Dual) and not isinstance(b, Dual):
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b) if sign > 0 else min(a, b)
        return dual(max(a, b) if sign > 0 else min(a, b))
    difference = sign * apart(a, b)
    a, b = dual(a), dual(b)
    if difference == 0:
        return Dual(a.real, 0.5 * (a.dot + b.dot))
    return a if difference > 0 else b


def _folded(sign: int) -> Function:
    pair = componentwise(lambda a, b: _pair(a, b, sign))

    def apply(*values: Any) -> Any:
        found, *rest = values
        for value in rest:
            found = pair(found, value)
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


sqrt = componentwise(_sqrt)
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
    "ceil": componentwise(lambda x: _stepped(x, math.ceil)),
    "round": componentwise(
        lambda x: _stepped(x, lambda at: math.trunc(at + math.copysign(0.5, at)))
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
    "safe_norm": lambda v, eps=1e-8: _pair(v.norm(), eps, 1),
}
