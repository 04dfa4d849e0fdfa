"""Numbers that carry a tangent: forward mode in plain Python.

The rules are written down here a second time, from calculus and from `docs/kinks.md`, and not taken
from the table of operations, with which they are compared. A value that is not finite, or
that lies so near to a jump that rounding may decide the side, ends the run with `Discard`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

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
        return (
            NotImplemented if not isinstance(other, NUMBERS) else Dual(self.real + other, self.dot)
        )

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Dual):
            return Dual(self.real - other.real, self.dot - other.dot)
        return (
            NotImplemented if not isinstance(other, NUMBERS) else Dual(self.real - other, self.dot)
        )

    def __rsub__(self, other: Any) -> Any:
        return Dual(other - self.real, -self.dot)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Dual):
            return Dual(self.real * other.real, self.dot * other.real + self.real * other.dot)
        return (
            NotImplemented
            if not isinstance(other, NUMBERS)
            else Dual(self.real * other, self.dot * other)
        )

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Any:
        return NotImplemented if not isinstance(other, NUMBERS) else divided(self, dual(other))

    def __rtruediv__(self, other: Any) -> Any:
        return divided(dual(other), self)

    def __floordiv__(self, other: Any) -> Any:
        return NotImplemented if not isinstance(other, NUMBERS) else floor(self / other)

    def __rfloordiv__(self, other: Any) -> Any:
        return floor(dual(other) / self)

    def __mod__(self, other: Any) -> Any:
        return (
            NotImplemented if not isinstance(other, NUMBERS) else self - other * floor(self / other)
        )

    def __rmod__(self, other: Any) -> Any:
        return dual(other) % self

    def __pow__(self, other: Any) -> Any:
        return NotImplemented if not isinstance(other, NUMBERS) else power(self, other)

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


NUMBERS = (Dual, int, float)


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


def quotient(a: Any, b: Any) -> Any:
    """Return a // b; constants that lie at a jump are seen, too."""
    return dual(a) // b if isinstance(a, float) or isinstance(b, float) else a // b


def remainder(a: Any, b: Any) -> Any:
    """Return a % b; constants that lie at a jump are seen, too."""
    return dual(a) % b if isinstance(a, float) or isinstance(b, float) else a % b


def floor(x: Any) -> Any:
    """Return x rounded down."""
    return stepped(x, math.floor)


def stepped(x: Any, function: Callable[[float], float]) -> Any:
    x = dual(x)
    at = x.real * 2  # `round` jumps at halves
    if at != round(at) and abs(at - round(at)) < NEAR:
        raise Discard("near a jump")
    return Dual(float(function(x.real)))


def root(x: Any) -> Dual:
    """Return the square root; its derivative at 0 is 0."""
    x = dual(x)
    if x.real < 0 or 0 < x.real < NEAR:
        raise Discard("a root without a derivative")
    z = math.sqrt(x.real)
    return Dual(z, 0.5 * x.dot / z if z else 0.0)


def pair(a: Any, b: Any, sign: int) -> Any:
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
