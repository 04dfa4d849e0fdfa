"""Numbers as they follow from the number of a step, and their values in all steps at once."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from difftile.records import dataclass

Numbers: TypeAlias = npt.NDArray[Any]
Apply: TypeAlias = Callable[..., Any]
_EXACT = 2**53
"""Integers below this one are floats as well."""
_ROOM = 2**31
"""Sums and products of two integers below this one fit 64 bits."""


@dataclass(frozen=True, slots=True)
class StepConstant:
    """A number, or an array of a function of NumPy, that is the same in every step."""

    key: Hashable
    value: Any = field(compare=False)

    @staticmethod
    def of(value: Any) -> StepConstant:
        """Return a value as a constant; two are equal if all that is computed with them is."""
        if isinstance(value, (np.ndarray, list, tuple)):
            array: Numbers = np.array(cast("Sequence[float]", value))
            return StepConstant((array.dtype.str, array.shape, array.tobytes()), array)
        return StepConstant((cast("type[Any]", type(value)), repr(value)), value)


@dataclass(frozen=True, slots=True)
class StepExpression:
    """A number as it follows from the number of the step.

    Args:
        apply: The operation, a function of numbers.
        operands: What it is applied to; nothing for the number of the step itself.
        type: The type of the number.
    """

    apply: Apply
    operands: tuple[StepExpression | StepConstant, ...]
    type: type[Any]

    def at(self, steps: Numbers) -> Numbers:
        """Return the numbers of some steps, each as Python would compute it there.

        Args:
            steps: The numbers of the steps, integers, shape (n,).

        Raises:
            Exception: The operation has no result in one of the steps.
        """
        if self is STEP:
            return steps
        operands = [o.value if isinstance(o, StepConstant) else o.at(steps) for o in self.operands]
        types: list[type[Any]] = [
            type(o.value) if isinstance(o, StepConstant) else o.type for o in self.operands
        ]
        if _by_array(self.apply, operands, types):
            return np.broadcast_to(np.asarray(self.apply(*operands)), steps.shape)
        return self._one_by_one(operands, types, len(steps))

    def _one_by_one(self, operands: list[Any], types: list[type[Any]], count: int) -> Numbers:
        columns = [
            [operand] * count if isinstance(one, StepConstant) else _as_listed(operand, type_)
            for one, operand, type_ in zip(self.operands, operands, types, strict=True)
        ]
        return np.array([self.apply(*row) for row in zip(*columns, strict=True)])


def _as_listed(numbers: Numbers, type_: type[Any]) -> list[Any]:
    """Return numbers of steps as numbers of some type."""
    plain = cast("list[Any]", numbers.tolist())
    return [type_(one) for one in plain] if issubclass(type_, np.generic) else plain


STEP = StepExpression(int, (), int)
"""The number of the step itself."""


# Operations over the numbers of all steps at once


def _small(operands: Sequence[Any], limit: int) -> bool:
    """Tell whether all integers among some operands are small."""
    return all(_largest(one) < limit for one in operands if np.asarray(one).dtype.kind in "iuO")


def _largest(operand: Any) -> int:
    array = np.asarray(operand)
    return max(abs(int(array.min())), abs(int(array.max()))) if array.size else 0


def _has_room(operands: Sequence[Any]) -> bool:
    return _small(operands, _ROOM)


def _is_exact(operands: Sequence[Any]) -> bool:
    return _small(operands, _EXACT)


def _divides(operands: Sequence[Any]) -> bool:
    return _is_exact(operands) and bool(np.all(operands[1]))


def _divides_integers(operands: Sequence[Any]) -> bool:
    return _divides(operands) and all(np.asarray(one).dtype.kind == "i" for one in operands)


_CONDITIONS: dict[str, Callable[[Sequence[Any]], bool]] = {
    **dict.fromkeys(("add", "sub", "mul", "neg", "pos", "abs"), _has_room),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), _is_exact),
    **{"truediv": _divides, "floordiv": _divides_integers, "mod": _divides_integers},
}
"""The operators that NumPy computes as Python does, by name, and for which operands."""
_BY_ARRAY: dict[Apply, Callable[[Sequence[Any]], bool]] = {
    getattr(operator, name): condition for name, condition in _CONDITIONS.items()
}
FUNCTIONS = (np.where, np.clip, np.interp)
"""The functions of NumPy that take step numbers besides ufuncs."""


def _by_array(apply: Apply, operands: Sequence[Any], types: Sequence[type[Any]]) -> bool:
    """Tell whether an operation on the numbers of all steps gives the same results as Python."""
    if apply in FUNCTIONS or isinstance(apply, LookUp):
        return True
    if not {int, float, np.float64}.issuperset(types):
        return False
    return isinstance(apply, np.ufunc) or (apply in _BY_ARRAY and _BY_ARRAY[apply](operands))


@dataclass(frozen=True, slots=True, eq=False)
class LookUp:
    """The element of an array at some index."""

    values: Numbers

    def __call__(self, *index: Any) -> Any:
        """Return the element."""
        found = self.values[index]
        return found.item() if isinstance(found, np.generic) else found
