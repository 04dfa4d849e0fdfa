"""Fields as numbers of Python: `float(loss)`, `x.item()`, `f"{loss:.3f}"`, `x.sum()`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from difftile.diagnostics import FieldError, counted
from difftile.fields.elements import FieldElements
from difftile.fields.reductions import reduced
from difftile.fields.shown import asked_by_library, table_of, text_of
from difftile.ir.types import shape_of
from difftile.tracebacks import boundaries


@boundaries(
    *("item", "__float__", "__int__", "__bool__", "__iter__"),
    *("sum", "mean", "min", "max", "norm"),
)
class AsNumbers(FieldElements):
    """The conversions, reductions and texts of fields and of parts of fields."""

    __slots__ = ()

    # One number

    def item(self) -> Any:
        """Return the number in a field that holds one; on a tape it carries its gradient.

        Raises:
            FieldError: The field has more or fewer elements, or elements that are vectors.
        """
        return _one_number(self, "item() is")

    def tolist(self) -> Any:
        """Return the contents as nested lists of numbers; one number for a shape of ()."""
        return self.to_numpy().tolist()

    def __float__(self) -> float:
        return float(_one_number(self, "float() is"))

    def __int__(self) -> int:
        return int(_one_number(self, "int() is"))

    def __bool__(self) -> bool:
        return bool(_one_number(self, "bool() is"))

    # Several

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("a field of shape () is not iterated; its element is x[None]")
        return (self[k] for k in range(len(self)))

    def __contains__(self, value: object) -> bool:
        return bool(np.any(self.to_numpy() == value))

    def sum(self, axis: None = None) -> Any:
        """Return the sum of all elements.

        Floats are added in double precision, and integers and booleans exactly. Vectors and
        matrices give an array. The result is a plain number, as for all reductions; only on
        an open tape, and in other transformations, it carries its gradient, like a number that a
        kernel returns.

        Args:
            axis: None: reductions along one axis are for kernels, and for NumPy.
        """
        return reduced("sum", self, axis)

    def mean(self, axis: None = None) -> Any:
        """Return the mean of all elements; see `sum`.

        Raises:
            FieldError: There are no elements.
        """
        return reduced("mean", self, axis)

    def min(self, axis: None = None) -> Any:
        """Return the least element, of vectors by component; NaN if there is one; see `sum`.

        Raises:
            FieldError: There are no elements.
        """
        return reduced("min", self, axis)

    def max(self, axis: None = None) -> Any:
        """Return the greatest element, of vectors by component; NaN if there is one; see `sum`.

        Raises:
            FieldError: There are no elements.
        """
        return reduced("max", self, axis)

    def norm(self, axis: None = None) -> Any:
        """Return the root of the sum of the squares of all numbers; see `sum`."""
        return reduced("norm", self, axis)

    # Texts

    def __repr__(self) -> str:
        return self.named() if asked_by_library() else text_of(self)

    def __format__(self, spec: str) -> str:
        if spec:
            return format(_one_number(self, f"The format '{spec}' is"), spec)
        return self.named() if asked_by_library() else text_of(self)

    def _repr_html_(self) -> str:
        return table_of(self)


def _one_number(field: FieldElements, what: str) -> Any:
    """Return the number in a field that has only one.

    Args:
        field: The field.
        what: What was asked for, in an error, up to its verb.

    Raises:
        FieldError: It has more or fewer.
    """
    if field.size != 1:
        raise FieldError(
            f"{what} for a field of one number, and {field!r} has "
            f"{counted(field.size, 'element')}. Take one, x[{', '.join('0' * field.ndim)}], reduce "
            "them, x.sum(), or take all, x.to_numpy()."
        )
    if shape_of(field.element):
        raise FieldError(
            f"{what} for a field of one number, and the element of {field!r} has several. "
            "Take one of them, x[None][0], or all, x.to_numpy()."
        )
    return field[(0,) * field.ndim]
