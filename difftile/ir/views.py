"""The types of views, for which kernels are compiled: how their axes run in the field.

Starts and sizes are run-time integers; steps are part of the type, so that the passes see that two
iterations touch different elements.
"""

from __future__ import annotations

from typing import NamedTuple


class AxisMap(NamedTuple):
    """How a view runs along one axis of the field.

    Args:
        axis: The axis of the view that runs along it; None where the view stays at one index.
        step: The distance of two neighbours.
        whole: All of the axis, in order: no start and no size are passed for it. Where the view
            stays at one index, that is the only one there is.
    """

    axis: int | None
    step: int
    whole: bool


class ViewKind(NamedTuple):
    """The type of a view: its map of each axis of the field, and its own number of axes.

    An axis of the view that none of the field's maps to repeats elements.
    """

    axes: tuple[AxisMap, ...]
    ndim: int

    @property
    def whole(self) -> dict[int, int]:
        """The axes of the view that are all of an axis of the field, and which."""
        return {
            one.axis: k for k, one in enumerate(self.axes) if one.whole and one.axis is not None
        }

    @property
    def repeats(self) -> bool:
        """Whether an element of the field occurs more than once in the view."""
        return len({one.axis for one in self.axes} - {None}) < self.ndim
