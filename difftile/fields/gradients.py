"""The gradients of all fields, and of some: which there are, and setting them to zero."""

from __future__ import annotations

from collections.abc import Iterable

from difftile.fields.array_like import ArrayLike
from difftile.fields.elements import check_is_field
from difftile.fields.field import Field
from difftile.fields.gradient_changes import GradientGuard
from difftile.fields.values import WITH_GRADS
from difftile.substrate import LOCK, current_session
from difftile.tracebacks import boundary


def fields_with_grads() -> list[Field]:
    """Return all fields that live and have gradients."""
    with LOCK:
        return [one for one in WITH_GRADS if isinstance(one, Field)]


def carrier(fields: Iterable[Field]) -> Field:
    """Return the one of some fields with the same memory to which derivatives pass, if any does."""
    return min(fields, key=lambda one: (not one.has_grads, one.is_cut))


@boundary
def zero_grads(fields: ArrayLike | Iterable[ArrayLike] | None = None) -> None:
    """Set the gradients of fields to zero.

    Args:
        fields: A field, or several; all fields that live by default.

    Raises:
        FieldError: A value is not a field.
    """
    if fields is None:
        fields = fields_with_grads()
    for field in (fields,) if isinstance(fields, ArrayLike) else fields:
        check_is_field(field, "zero_grads() takes")
        clear_grads(field)


def clear_grads(field: ArrayLike) -> None:
    """Set the gradients of a field to zero, if they belong to this session."""
    into, out = field.grad_in, field.grad_out
    if GradientGuard.open:
        GradientGuard.changes({one.base.storage for one in (into, out) if one is not None})
    for gradient in (out,) if into is out else (into, out):
        if gradient is None:
            continue
        buffer = gradient.base.storage.buffer
        if buffer.zeros or buffer.pool is not current_session().pool:
            continue
        if not isinstance(gradient, Field):
            gradient.clear()
        elif buffer.pins:
            gradient.fresh_if_pinned(keep=False).fill(0.0)
        else:
            buffer.fill(0.0)
