"""Bindings of controls to an element of a field, an attribute, or a value of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import difftile as dt
from difftile.diagnostics import ViewerError

# A field of one element, (field, index), (object, "attribute"), or None.
Bind: TypeAlias = "dt.ArrayLike | tuple[Any, Any] | None"


@dataclass(frozen=True, slots=True)
class BoundValue:
    """Access to a bound value.

    Args:
        get: Returns the value.
        set: Changes the value.
        is_element: Whether the value is an element of a field, which stores an option by its index.
    """

    get: Callable[[], Any]
    set: Callable[[Any], None]
    is_element: bool = False


def bind_to(bind: Bind, initial: Any, label: str) -> BoundValue:
    """Return a binding.

    Args:
        bind: The bound value.
        initial: The initial value of a control without a binding.
        label: The label of the control, for errors.

    Raises:
        ViewerError: Such a value cannot be bound.
    """
    if bind is None:
        held = [initial]
        return BoundValue(lambda: held[0], lambda v: held.__setitem__(0, v))
    if isinstance(bind, dt.ArrayLike):
        if bind.size != 1:
            raise ViewerError(
                f"{label!r} is bound to {bind!r}, which has {bind.size} elements; "
                "bind=(field, index) names one of them"
            )
        return _element(bind, (0,) * bind.ndim)
    if isinstance(cast(object, bind), tuple) and len(bind) == 2:
        owner, which = bind
        if isinstance(owner, dt.ArrayLike):
            found = _element(owner, which)
            found.get()  # an index out of range is an error now, not when the mouse arrives
            return found
        if isinstance(which, str) and hasattr(owner, which):
            return BoundValue(lambda: getattr(owner, which), lambda v: setattr(owner, which, v))
        if isinstance(which, str):
            raise ViewerError(
                f"{label!r} is bound to {which!r}, but {type(owner).__name__} has no such attribute"
            )
    raise ViewerError(
        f"{label!r}: bind is a field of one element, (field, index), or (object, 'attribute')"
    )


def _element(field: Any, index: Any) -> BoundValue:
    where = None if field.shape == () else index

    def write(value: Any) -> None:
        field[where] = value

    return BoundValue(lambda: field[where], write, is_element=True)
