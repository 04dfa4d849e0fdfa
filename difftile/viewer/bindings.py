"""What a control changes: an element of a field, an attribute, or a value of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from difftile.diagnostics import ViewerError
from difftile.fields.values import Values

# A field of one element, (field, index), (object, "attribute"), or None.
Bind: TypeAlias = Values | tuple[Any, Any] | None


@dataclass(frozen=True, slots=True)
class Binding:
    """How a value is read and written.

    Args:
        get: Returns it.
        set: Changes it.
        counts: Whether it is a number of a field, so that an option goes there by its index.
    """

    get: Callable[[], Any]
    set: Callable[[Any], None]
    counts: bool = False


def bind_to(bind: Bind, initial: Any, label: str) -> Binding:
    """Return a binding.

    Args:
        bind: What is changed.
        initial: The value of a control that changes nothing but its own.
        label: The control, for errors.

    Raises:
        ViewerError: Nothing of the kind can be changed.
    """
    if bind is None:
        return _own(initial)
    if isinstance(bind, Values):
        if bind.size != 1:
            raise ViewerError(
                f"{label!r} is bound to {bind!r}, which has {bind.size} elements; "
                "bind=(field, index) names one of them"
            )
        return _element(bind, (0,) * bind.ndim)
    if isinstance(cast(object, bind), tuple) and len(bind) == 2:
        owner, which = bind
        if isinstance(owner, Values):
            _element(
                owner, which
            ).get()  # an index out of range is an error now, not when the mouse comes
            return _element(owner, which)
        if isinstance(which, str) and hasattr(owner, which):
            return Binding(lambda: getattr(owner, which), lambda v: setattr(owner, which, v))
        if isinstance(which, str):
            raise ViewerError(
                f"{label!r} is bound to {which!r}, which {type(owner).__name__} has not"
            )
    raise ViewerError(
        f"{label!r}: bind is a field of one element, (field, index), or (object, 'attribute')"
    )


def _element(field: Any, index: Any) -> Binding:
    where = None if field.shape == () else index

    def write(value: Any) -> None:
        field[where] = value

    return Binding(lambda: field[where], write, counts=True)


def _own(initial: Any) -> Binding:
    held = [initial]

    def write(value: Any) -> None:
        held[0] = value

    return Binding(lambda: held[0], write)
