"""The failures of a kernel that runs under debug, and the errors they raise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from difftile.diagnostics import (
    AssertionFailure,
    DifftileError,
    DivisionByZero,
    IndexOutOfRange,
    IntegerTooLarge,
    NotUnique,
    Span,
)
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class AssertionFailed:
    """An assertion that does not hold; its values are those shown in the message.

    Args:
        test: The condition, as it is written.
        message: A format for the operator `%`.
    """

    test: str
    message: str

    def error(self, span: Span | None, values: Sequence[float]) -> DifftileError:
        """Return the error of one thread."""
        return AssertionFailure(span, self.test, self.message % tuple(values))


@dataclass(frozen=True, slots=True)
class BadIndex:
    """An access outside a shape; its values are the index, and after it the shape.

    Args:
        what: The indexed object, in the user's words.
    """

    what: str

    def error(self, span: Span | None, values: Sequence[float]) -> DifftileError:
        """Return the error of one thread."""
        numbers = [int(value) for value in values]
        half = len(numbers) // 2
        return IndexOutOfRange(span, self.what, tuple(numbers[half:]), tuple(numbers[:half]))


@dataclass(frozen=True, slots=True)
class ZeroDivisor:
    """An integer that is divided by zero; there are no values.

    Args:
        operation: The operation, as it is written.
    """

    operation: str

    def error(self, span: Span | None, values: Sequence[float]) -> DifftileError:
        """Return the error of one thread."""
        return DivisionByZero(span, self.operation)


@dataclass(frozen=True, slots=True)
class TooLarge:
    """An integer where one of 32 bits is expected; its values are the integer, and 2**31.

    Args:
        what: What it is, in the user's words.
    """

    what: str

    def error(self, span: Span | None, values: Sequence[float]) -> DifftileError:
        """Return the error of one thread."""
        return IntegerTooLarge(span, self.what, int(values[0]))


@dataclass(frozen=True, slots=True)
class BrokenPromise:
    """Two iterations with an index that is promised to be unique.

    Its values are the numbers of both, counted from 1, and the starts and widths of the loop.

    Args:
        array: The field that both store to.
        indices: The names of the indices of the loop.
    """

    array: str
    indices: tuple[str, ...]

    def error(self, span: Span | None, values: Sequence[float]) -> DifftileError:
        """Return the error of two iterations."""
        first, second, *box = (int(value) for value in values)
        count = len(self.indices)
        starts, widths = box[:count], box[count:]

        def named(number: int) -> str:
            at: list[int] = []
            rest = number - 1
            for start, width in zip(reversed(starts), reversed(widths), strict=True):
                rest, step = divmod(rest, width)
                at.insert(0, start + step)
            pairs = zip(self.indices, at, strict=True)
            return ", ".join(f"{name} = {k}" for name, k in pairs)

        return NotUnique(span, self.array, named(min(first, second)), named(max(first, second)))


Failure: TypeAlias = AssertionFailed | BadIndex | BrokenPromise | TooLarge | ZeroDivisor
