"""Small vectors and matrices of numbers that carry a tangent."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from tests.hunt.duals import dual, pair, quotient, remainder, root, value_of

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
        return self.zip(other, quotient)

    def __mod__(self, other: Any) -> Small:
        return self.zip(other, remainder)

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
        return root(self.norm_sqr() + eps)

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
        return functools.reduce(lambda a, b: pair(a, b, 1), self.parts)

    def min(self) -> Any:
        return functools.reduce(lambda a, b: pair(a, b, -1), self.parts)

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
