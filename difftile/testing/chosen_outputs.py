"""Which fields a check differentiates: those asked for, those returned, or those written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from difftile.diagnostics import LaunchError, did_you_mean
from difftile.fields.array_like import ArrayLike
from difftile.fields.structs import StructField
from difftile.ir.types import is_float
from difftile.testing.shadow_fields import ShadowFields
from difftile.testing.subject import Subject, leaves


def outputs_named(
    subject: Subject, asked: Any, result: Any, shadows: ShadowFields
) -> dict[str, ArrayLike] | None:
    """Return the outputs that were asked for, or returned, by name; None if there are none such.

    Raises:
        LaunchError: One is no field, or no argument.
    """
    if asked is not None:
        given = cast("Iterable[Any]", asked)
        if isinstance(asked, (str, ArrayLike, StructField)):
            given = (asked,)
        elif isinstance(asked, Mapping):
            given = cast("Mapping[Any, Any]", asked).values()
        return _floats([_asked_for(subject, one) for one in given], shadows)
    if subject.outputs:
        return dict(subject.outputs)
    if result is None or subject.is_launch:
        return None
    return _floats([("", result)], shadows)


def outputs_written(shadows: ShadowFields) -> dict[str, ArrayLike]:
    """Return the user's fields that were written and have gradients, by name."""
    return {
        one.name: one.field
        for one in shadows
        if one.written and one.is_parameter and one.field is not None
    }


def _asked_for(subject: Subject, asked: Any) -> tuple[str, Any]:
    known = {**subject.arguments, **subject.outputs}
    if not isinstance(asked, str):
        return next((name for name, value in known.items() if value is asked), ""), asked
    if asked in known:
        return asked, known[asked]
    guess = did_you_mean(asked, known)
    end = f"; {guess}" if guess else "."
    raise LaunchError(f"gradcheck(): {subject.title} has no argument '{asked}'{end}")


def _floats(given: list[tuple[str, Any]], shadows: ShadowFields) -> dict[str, ArrayLike]:
    found: dict[str, ArrayLike] = {}
    for name, value in (leaf for one in given for leaf in leaves(*one)):
        if not isinstance(value, ArrayLike):
            raise LaunchError(
                f"gradcheck(): an output is {value!r}, through which no gradient flows; "
                "return fields, such as a loss of shape ()."
            )
        if any(_same(value, other) for other in found.values()):
            continue
        if is_float(value.element):
            met = shadows.find(value.base)
            own = name if met is None or (name and name[0] != "[") else met.name
            own = own or "result"
            found[own if own not in found else f"{own} ({len(found)})"] = value
    return found


def _same(a: ArrayLike, b: ArrayLike) -> bool:
    """Tell whether two outputs are the same elements, which have one adjoint."""
    return a is b or (
        a.base.storage is b.base.storage and a.shape == b.shape and a.window == b.window
    )
