"""The fields that a check differentiates: requested, returned, or written ones."""

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
    """Return the requested or returned outputs by name; None if there are neither.

    Raises:
        LaunchError: An output is not a field, or a requested name is not an argument.
    """
    if asked is not None:
        given = cast("Iterable[Any]", asked)
        if isinstance(asked, (str, ArrayLike, StructField)):
            given = (asked,)
        elif isinstance(asked, Mapping):
            given = cast("Mapping[Any, Any]", asked).values()
        known, chosen = {**subject.arguments, **subject.outputs}, list[tuple[str, Any]]()
        for one in given:
            if not isinstance(one, str):
                name = next((name for name, value in known.items() if value is one), "")
                chosen.append((name, one))
            elif one in known:
                chosen.append((one, known[one]))
            else:
                guess = did_you_mean(one, known)
                end = f"; {guess}" if guess else "."
                raise LaunchError(f"gradcheck(): {subject.title} has no argument '{one}'{end}")
        return _floats(chosen, shadows)
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


def _floats(given: list[tuple[str, Any]], shadows: ShadowFields) -> dict[str, ArrayLike]:
    found: dict[str, ArrayLike] = {}
    for name, value in (leaf for one in given for leaf in leaves(*one)):
        if not isinstance(value, ArrayLike):
            raise LaunchError(
                f"gradcheck(): an output is {value!r}, through which no gradient flows; "
                "return fields, such as a loss of shape ()."
            )
        storage = value.base.storage
        if any(
            other.base.storage is storage
            and other.shape == value.shape
            and other.window == value.window
            for other in found.values()
        ):
            continue  # the same elements, which have one adjoint
        if is_float(value.element):
            met = shadows.find(value.base)
            own = name if met is None or (name and name[0] != "[") else met.name
            own = own or "result"
            found[own if own not in found else f"{own} ({len(found)})"] = value
    return found
