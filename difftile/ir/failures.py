"""What can go wrong while a kernel runs under debug, and the error it becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from difftile.diagnostics import AssertionFailure, DifftileError, IndexOutOfRange, Span


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
        what: What is indexed, in the user's words.
    """

    what: str

    def error(self, span: Span | None, values: Sequence[float]) -> DifftileError:
        """Return the error of one thread."""
        numbers = [int(value) for value in values]
        half = len(numbers) // 2
        return IndexOutOfRange(span, self.what, tuple(numbers[half:]), tuple(numbers[:half]))


Failure: TypeAlias = AssertionFailed | BadIndex
