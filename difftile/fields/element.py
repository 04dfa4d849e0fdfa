"""Elements that are vectors and matrices, as Python reads them, and their components."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from numbers import Real
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.fields.arithmetic import Operators
from difftile.fields.elements import FieldElements, WholeElements
from difftile.fields.exchange import as_contents, as_index
from difftile.fields.step_number import StepNumber
from difftile.fields.window import picks_part
from difftile.ir.types import is_float, scalar_of, shape_of
from difftile.lang.type_objects import without
from difftile.lang.values import components_named


class FieldElement(np.ndarray[Any, Any]):
    """A copy of a vector or matrix of a field, whose components set those in the field.

    What NumPy makes of it is a plain array.
    """

    _field: WholeElements | None = None
    _where: tuple[int, ...] = ()
    _values: npt.NDArray[Any]

    @staticmethod
    def of(field: WholeElements, where: tuple[int, ...], values: npt.NDArray[Any]) -> FieldElement:
        """Return the values of an element of a field."""
        made = values.view(FieldElement)
        made.flags.writeable = False  # for NumPy, whose writes would miss the field
        made.__dict__.update(_field=field, _where=where, _values=values)
        return made

    def is_of(self, field: WholeElements, where: tuple[int, ...]) -> bool:
        """Tell whether the element is the one at some index of a field."""
        return self._field is field and self._where == where

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else array

    def __getitem__(self, index: Any) -> Any:
        return self.view(np.ndarray)[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        field = self._field
        if field is None:
            super().__setitem__(index, value)
            return
        shape = cast("tuple[int, ...]", self.shape)
        places: npt.NDArray[np.intp] = np.arange(math.prod(shape)).reshape(shape)[index]
        if places.size == self.size:
            values = np.broadcast_to(value, places.shape).reshape(shape)
            field[self._where or None] = values
        else:
            given = [value] if places.ndim == 0 else np.broadcast_to(value, places.shape).flat
            for place, one in zip(places.flat, given, strict=True):
                component = tuple(int(k) for k in np.unravel_index(place, shape))
                set_component(field, (*self._where, *component), one)
        if self._values.dtype == object:
            self._values[index] = value
        else:  # as the field holds it: a conversion of a number with a derivative would warn
            self._values[index] = field.buffer.read_at(self._where)[index]

    def __getattr__(self, name: str) -> Any:
        picks = components_named(name, self.size) if self.ndim == 1 else None
        if picks is None:
            raise without("An element", name)
        return self[picks[0] if len(picks) == 1 else picks]

    def __setattr__(self, name: str, value: Any) -> None:
        picks = components_named(name, self.size) if self.ndim == 1 else None
        if picks is None:
            super().__setattr__(name, value)
        else:
            self[picks[0] if len(picks) == 1 else picks] = value

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))

    def __reduce__(self) -> Any:
        return self.view(np.ndarray).__reduce__()


def _in_place(apply: Callable[[Any, Any], Any]) -> Any:
    def method(self: FieldElement, other: Any) -> FieldElement:
        self[...] = apply(self, other)
        return self

    return method


for _name in ("add", "sub", "mul", "truediv", "mod", "pow"):
    setattr(FieldElement, f"__i{_name}__", _in_place(getattr(operator, f"__{_name}__")))


def picks_component(owner: FieldElements, index: object) -> bool:
    """Tell whether an index picks a component: `v[0, 1]` of a vector in a field of one axis."""
    if type(index) is not tuple or len(index) <= owner.ndim:
        return False
    inner = len(shape_of(owner.element))
    is_long = bool(inner and owner.ndim) and len(index) == owner.ndim + inner
    return is_long and not picks_part(index, len(index))


def component(owner: FieldElements, index: tuple[Any, ...]) -> Any:
    """Return a component of an element."""
    return owner[index[: owner.ndim]][_inner(owner, index)]


def set_component(owner: FieldElements, index: tuple[Any, ...], value: Any) -> None:
    """Set a component of an element, by a launch: other components keep their gradient.

    Raises:
        FieldError: The value is no number, or a float for an integer.
    """
    inner, scalar = _inner(owner, index), scalar_of(owner.element)
    if isinstance(value, FieldElements):
        raise FieldError(f"A component of {owner!r} takes a number: 'y[None]' of a field.")
    carries = isinstance(value, (Real, StepNumber)) and type(value) not in (bool, int, float)
    if not carries or isinstance(value, np.generic) or not is_float(owner.element):
        value = as_contents(owner, scalar, value, ()).item()
    where = as_index(owner, owner.shape, index[: owner.ndim])
    assert Operators.put is not None
    Operators.put(owner[(*(slice(k, k + 1) for k in where), ...)], inner, value)


def _inner(owner: FieldElements, index: tuple[Any, ...]) -> tuple[int, ...]:
    shape = shape_of(owner.element)
    return as_index(owner, shape, index[owner.ndim :])
