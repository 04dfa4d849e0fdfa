"""How the arguments of a call go together: the shape of the call, and the axes of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from difftile.diagnostics import LaunchError, brief, counted
from difftile.fields.array_like import ArrayLike
from difftile.fields.structs import Member, StructField
from difftile.fields.view import View
from difftile.fields.window import whole
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class MappedArgument:
    """An argument of a call, or the field that takes its results.

    Args:
        name: The parameter.
        value: The argument.
        shape: The shape; None where each call gets the whole argument.
        axes: The axes of the call that it runs along, if `.map` says so; otherwise the last ones.
    """

    name: str
    value: object
    shape: tuple[int, ...] | None
    axes: tuple[int, ...] | None = None

    def along(self, ndim: int) -> tuple[int, ...]:
        """Return the axes of a call of `ndim` axes that the argument runs along."""
        if self.axes is not None:
            return self.axes
        count = len(self.shape or ())
        return tuple(range(ndim - count, ndim))


def call_shape(
    title: str, arguments: Sequence[MappedArgument], result: MappedArgument | None
) -> tuple[int, ...]:
    """Return the shape of a call.

    Args:
        title: The func in the words of an error.
        arguments: The arguments.
        result: The field that takes the results, which has that shape.

    Raises:
        LaunchError: The arguments do not go together.
    """
    shaped = [one for one in arguments if one.shape is not None]
    for one in shaped:
        if one.axes is not None and len(one.axes) != len(one.shape or ()):
            axes = counted(len(one.axes), "axis", "axes")
            raise LaunchError(
                f"{title}: 'map' gives {axes} for '{one.name}', which has {len(one.shape or ())}."
            )
    ndims = [max((-1, *one.along(len(one.shape or ())))) + 1 for one in shaped]
    ndim = max((0, *ndims))
    if result is not None and result.shape is not None and ndim == 0:
        return result.shape
    sizes: dict[int, int] = {}
    for one in shaped:
        for axis, size in zip(one.along(ndim), one.shape or (), strict=True):
            if sizes.get(axis, 1) == 1:
                sizes[axis] = size
            elif size not in (1, sizes[axis]):
                reason = f"{size} along axis {axis}, where others have {sizes[axis]}"
                raise _misfit(title, arguments, result, ndim, one, reason)
    for axis in range(ndim):
        if axis not in sizes:
            raise _misfit(title, arguments, result, ndim, None, f"nothing runs along axis {axis}")
    shape = tuple(sizes[axis] for axis in range(ndim))
    if result is not None and result.shape != shape:
        raise _misfit(title, arguments, result, ndim, result, f"the call has the shape {shape}")
    return shape


def _misfit(
    title: str,
    arguments: Sequence[MappedArgument],
    result: MappedArgument | None,
    ndim: int,
    offender: MappedArgument | None,
    reason: str,
) -> LaunchError:
    every = [*arguments, *([] if result is None else [result])]
    rows: list[tuple[str, str, str]] = []
    for one in every:
        runs, axes = f"shape {one.shape}", one.along(ndim)
        if one.shape is None or (one is not result and not axes):
            runs = "in every call"
        elif one is not result:
            noun = "axis" if len(axes) == 1 else "axes"
            runs += f" along {noun} {', '.join(map(str, axes))}"
        rows.append((one.name, shown(one.value), runs))
    widths = [max(len(row[k]) for row in rows) for k in range(3)]
    lines = [f"{title}: the shapes of its arguments do not go together."]
    for one, row in zip(every, rows, strict=True):
        text = "  ".join(part.ljust(width) for part, width in zip(row, widths, strict=True))
        arrow = f"  <-- {reason}" if one is offender else ""
        lines.append(f"    | {text}{arrow}".rstrip())
    if offender is None:
        lines.append(f"  Note: {reason}.")
    hint = "sizes are equal, or 1; a field of fewer axes is repeated along the first ones."
    return LaunchError("\n".join([*lines, f"  Hint: {hint}"]))


def shown(value: object) -> str:
    """Return the text of an argument in the table of shapes."""
    text = brief(value)
    return text if len(text) <= 48 else f"{text[:45]}..."


def spread(
    value: ArrayLike | StructField, axes: tuple[int, ...], shape: tuple[int, ...]
) -> ArrayLike | StructField:
    """Return a field, or a field of structs, repeated to a shape.

    Args:
        value: The field.
        axes: The axis of the shape for each axis of the field.
        shape: The shape.
    """
    if value.shape == shape and axes == tuple(range(len(shape))):
        return value
    if isinstance(value, StructField):
        members = {name: spread(one, axes, shape) for name, one in value.members.items()}
        return StructField(cast("dict[str, Member]", members), value.methods)
    window = whole(value.shape) if value.window is None else value.window
    return View(value.base, window.spread(axes, shape))
