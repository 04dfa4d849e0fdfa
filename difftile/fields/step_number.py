"""Step numbers: Python numbers that stand for the numbers of all steps of a repetition.

Python runs the body of `dt.repeat` for a few steps only. What it computes from the number of the
step is kept as an expression, so that the numbers of all other steps follow by NumPy.
Whatever would make one plain number of it is refused: a branch, a conversion, an index.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError, StepsError, brief, counted
from difftile.fields.numbers import Number
from difftile.fields.step_expression import (
    FUNCTIONS,
    STEP,
    Apply,
    LookUp,
    Numbers,
    StepConstant,
    StepExpression,
)

_NUMBERS = (bool, int, float, np.number, np.bool_)


class Moment:
    """The step that a number belongs to.

    Attributes:
        live: Whether the body of that step is still running.
        constant: Whether the number counts as a constant from now on: the loop goes on in Python.
    """

    __slots__ = ("constant", "live")

    def __init__(self, *, constant: bool = False) -> None:
        self.live = True
        self.constant = constant


# Numbers


class StepNumber:
    """A number that follows from the number of the step; see `dt.repeat`.

    Args:
        plain: The number in the step that runs.
        expression: How it follows.
        moment: That step.
    """

    __slots__ = ("expression", "moment", "plain")

    _difftile_hint = "pass it to the kernel as an argument."

    def __init__(self, plain: Any, expression: StepExpression, moment: Moment) -> None:
        self.plain = plain
        self.expression = expression
        self.moment = moment

    def __repr__(self) -> str:
        return f"<step number {self.plain!r}>"

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs or ufunc.nout != 1:
            _refuse_array(f"given to 'np.{ufunc.__name__}'")
        found = _combined(ufunc, inputs)
        if found is NotImplemented:
            if any(isinstance(one, np.ndarray) for one in inputs):
                _refuse_array("combined with an array")
            return NotImplemented
        return found

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: Any, kwargs: Mapping[str, Any]
    ) -> Any:
        if func not in FUNCTIONS or kwargs:
            _refuse_array(f"given to 'np.{func.__name__}'")
        return _combined(func, args)

    # Refused, as there is one number for each step

    def __bool__(self) -> NoReturn:
        raise StepsError(
            "A branch on a step number would be the same in all steps, since the body runs in "
            "Python for a few of them only. Pass the number to the kernel and branch there, select "
            "a number by np.where(), make a loop of each part, or write 'for t in dt.steps(n)'."
        )

    def _refuse_plain(self) -> NoReturn:
        raise StepsError(
            "A step number stands for the numbers of all steps and is no plain number. Pass it to "
            "a kernel as it is, compute with it by operators and ufuncs of NumPy, look a number up "
            "in dt.table(), or write 'for t in dt.steps(n)'."
        )

    __int__ = __float__ = __index__ = __complex__ = __hash__ = __str__ = _refuse_plain

    def __format__(self, spec: str) -> NoReturn:
        self._refuse_plain()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise StepsError(
            "A step number is neither an element nor an index of an array of NumPy. For 'a[t]' "
            "write 'dt.table(a)[t]', and pass numbers to kernels one by one or as a list; or write "
            "'for t in range(n)'."
        )


def _refuse_array(what: str) -> NoReturn:
    raise StepsError(
        f"A step number is {what}. Operators, ufuncs of NumPy, np.where(), np.clip() "
        "and np.interp() take step numbers, and give single numbers of them; for anything else "
        "pass the step number to a kernel, or write 'for t in dt.steps(n)'."
    )


def plain_number(number: StepNumber) -> Any:
    """Return what a step number is in the step that runs.

    Raises:
        StepsError: Its step has ended.
    """
    if not number.moment.live:
        raise StepsError(
            "A step number is used after its step. Compute it from the number of the present step, "
            "such as 't - 1'."
        )
    return python_number(number.plain)


def python_number(number: Any) -> Any:
    """Return a number of NumPy as one of Python."""
    return cast(Any, number).item() if isinstance(number, np.generic) else number


def expression_of(number: StepNumber, moment: Moment) -> StepExpression | None:
    """Return how a number follows from the step of a moment; None where it does not."""
    return number.expression if number.moment is moment else None


def written_as(number: StepNumber) -> StepExpression:
    """Return how a number followed from its step, whether or not that has ended."""
    return number.expression


def _combined(apply: Apply, operands: Sequence[Any]) -> Any:
    """Return the result of an operation; `NotImplemented` for operands of other kinds."""
    moment = constant = None
    operands = [_unwrapped(one) for one in operands]
    for one in operands:
        if isinstance(one, StepNumber):
            plain_number(one)
            constant = one.moment
            moment = moment if constant.constant else constant
        elif isinstance(one, Number):
            raise StepsError(
                "A step number is combined with a number that carries derivatives, which would be "
                "lost. Pass both to the kernel and combine them there."
            )
        elif not isinstance(one, _NUMBERS) and not _is_array_of(apply, one):
            return NotImplemented
    plain: Any = _unwrapped(apply(*[o.plain if isinstance(o, StepNumber) else o for o in operands]))
    if isinstance(plain, np.ndarray):
        _refuse_array("combined with an array")
    if moment is None:
        assert constant is not None
        return StepNumber(plain, STEP, constant)
    given = tuple(
        one.expression
        if isinstance(one, StepNumber) and one.moment is moment
        else StepConstant.of(one.plain if isinstance(one, StepNumber) else one)
        for one in operands
    )
    return StepNumber(plain, StepExpression(apply, given, cast("type[Any]", type(plain))), moment)


def _unwrapped(value: Any) -> Any:
    """Return an array of shape () as its number, and anything else as it is."""
    if not isinstance(value, np.ndarray):
        return value
    array = cast(Numbers, value)
    return array if array.ndim else array[()]


def _is_array_of(apply: Apply, operand: Any) -> bool:
    """Tell whether an operand is an array that a function takes whole, as `interp` does."""
    return apply is np.interp and isinstance(operand, (np.ndarray, list, tuple))


def _methods(apply: Apply) -> tuple[Any, Any]:
    def on_left(self: StepNumber, *others: Any) -> Any:
        return _combined(apply, (self, *others))

    def on_right(self: StepNumber, other: Any) -> Any:
        return _combined(apply, (other, self))

    return on_left, on_right


_BINARY = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"),
    *("and", "or", "xor", "lshift", "rshift"),
)
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_UNARY = ("neg", "pos", "abs", "invert")
_ROUNDING: dict[str, Apply] = {
    **{"round": round, "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc}
}
for _name in (*_BINARY, *_COMPARISONS, *_UNARY):
    _left, _right = _methods(getattr(operator, f"__{_name}__"))
    setattr(StepNumber, f"__{_name}__", _left)
    if _name in _BINARY:
        setattr(StepNumber, f"__r{_name}__", _right)
for _name, _apply in _ROUNDING.items():
    setattr(StepNumber, f"__{_name}__", _methods(_apply)[0])


# Tables


class Table:
    """Numbers to be looked up by step number: `forces = dt.table(array)`, then `forces[t]`.

    Args:
        values: The numbers, any shape; the table holds a copy.

    Raises:
        FieldError: The values are not numbers.
    """

    def __init__(self, values: npt.ArrayLike) -> None:
        array: Numbers = np.array(values)
        if array.dtype.kind not in "iuf" or not array.ndim:
            raise FieldError(f"dt.table() takes an array of numbers, not {brief(values)}.")
        self._look_up = LookUp(array)

    def __repr__(self) -> str:
        values = self._look_up.values
        return f"<table {values.dtype} {values.shape}>"

    def __len__(self) -> int:
        return len(self._look_up.values)

    def __getitem__(self, index: Any) -> Any:
        parts = cast("tuple[Any, ...]", index) if isinstance(index, tuple) else (index,)
        if any(isinstance(one, StepNumber) for one in parts):
            ndim = self._look_up.values.ndim
            if len(parts) != ndim:
                raise StepsError(
                    f"A step number picks one number of a table, and {self!r} has "
                    f"{counted(ndim, 'index', 'indices')}: write all of them."
                )
            return _combined(self._look_up, parts)
        return self._look_up(*parts)


def table(values: npt.ArrayLike) -> Table:
    """Return a table of numbers that a step number is an index of.

    In the body of `dt.repeat`, where `t` is symbolic, `table[t]` is the number of the step, to be
    passed to kernels.

    Args:
        values: The numbers, any shape; the table holds a copy.

    Raises:
        FieldError: The values are not numbers.
    """
    return Table(values)
