"""Operators and methods of vectors and matrices, as operations of the tables."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any


class Arithmetic:
    """Something with the operators of numbers, and the methods of vectors and matrices."""

    __slots__ = ()

    @staticmethod
    @abstractmethod
    def _operate(op: str, *operands: Any) -> Any:
        """Return the value of an operation, or NotImplemented for operands that are no numbers."""

    @staticmethod
    @abstractmethod
    def _apply(op: str, *operands: Any) -> Any:
        """Return the value of an operation."""

    def dot(self, other: Any, /) -> Any:
        """Return the sum of the products of components."""
        return self._apply("dot", self, other)

    def cross(self, other: Any, /) -> Any:
        """Return the cross product; of two components, a number."""
        return self._apply("cross", self, other)

    def outer_product(self, other: Any, /) -> Any:
        """Return the matrix of all products of components."""
        return self._apply("outer", self, other)

    def norm(self, eps: Any = 0) -> Any:
        """Return the square root of the sum of squares and `eps`."""
        return self._apply("norm_eps", self, eps) if eps else self._apply("norm", self)

    def norm_sqr(self) -> Any:
        """Return the sum of squares."""
        return self._apply("norm_sqr", self)

    def norm_inv(self, eps: Any = 0) -> Any:
        """Return 1 / norm(eps)."""
        return self._apply("norm_inv_eps", self, eps) if eps else self._apply("norm_inv", self)

    def normalized(self, eps: Any = 0) -> Any:
        """Return the vector divided by its length and `eps`; zero stays zero."""
        return self._apply("normalized_eps", self, eps) if eps else self._apply("normalized", self)

    def sum(self) -> Any:
        """Return the sum of the components."""
        return self._apply("sum", self)

    def transpose(self) -> Any:
        """Return the transpose of a matrix."""
        return self._apply("transpose", self)

    def trace(self) -> Any:
        """Return the sum of the diagonal of a square matrix."""
        return self._apply("trace", self)

    def determinant(self) -> Any:
        """Return the determinant of a square matrix."""
        return self._apply("determinant", self)

    def inverse(self) -> Any:
        """Return the inverse of a square matrix; NaN for a singular one."""
        return self._apply("inverse", self)

    def __add__(self, other: Any) -> Any:
        return self._operate("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._operate("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._operate("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._operate("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._operate("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._operate("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._operate("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._operate("div", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return self._operate("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._operate("floordiv", other, self)

    def __mod__(self, other: Any) -> Any:
        return self._operate("mod", self, other)

    def __rmod__(self, other: Any) -> Any:
        return self._operate("mod", other, self)

    def __pow__(self, other: Any) -> Any:
        return self._operate("pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return self._operate("pow", other, self)

    def __matmul__(self, other: Any) -> Any:
        return self._operate("matmul", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return self._operate("matmul", other, self)

    def __and__(self, other: Any) -> Any:
        return self._operate("bit_and", self, other)

    def __rand__(self, other: Any) -> Any:
        return self._operate("bit_and", other, self)

    def __or__(self, other: Any) -> Any:
        return self._operate("bit_or", self, other)

    def __ror__(self, other: Any) -> Any:
        return self._operate("bit_or", other, self)

    def __xor__(self, other: Any) -> Any:
        return self._operate("bit_xor", self, other)

    def __rxor__(self, other: Any) -> Any:
        return self._operate("bit_xor", other, self)

    def __lshift__(self, other: Any) -> Any:
        return self._operate("shl", self, other)

    def __rlshift__(self, other: Any) -> Any:
        return self._operate("shl", other, self)

    def __rshift__(self, other: Any) -> Any:
        return self._operate("shr", self, other)

    def __rrshift__(self, other: Any) -> Any:
        return self._operate("shr", other, self)

    def __lt__(self, other: Any) -> Any:
        return self._operate("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return self._operate("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return self._operate("gt", self, other)

    def __ge__(self, other: Any) -> Any:
        return self._operate("ge", self, other)

    def __eq__(self, other: object) -> Any:
        return self._operate("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return self._operate("ne", self, other)

    __hash__ = object.__hash__

    def __neg__(self) -> Any:
        return self._operate("neg", self)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self._operate("abs", self)

    def __invert__(self) -> Any:
        return self._operate("invert", self)
