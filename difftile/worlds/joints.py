"""Tests of the types of joints, without code for types that a model does not have."""

from __future__ import annotations

import difftile as dt
from difftile import ti
from difftile.worlds.kinds import FIXED


@dt.data_oriented(frozen=True)
class JointTypes:
    """The types that the joints, or some of the joints, of a model have.

    Quaternions are most of the code of a step, and robots on hinges have none: what stands under a
    test for a type that does not occur is not compiled.

    Args:
        types: The types, such as `Sizes.joints`.
    """

    def __init__(self, types: tuple[int, ...]) -> None:
        self.occurs = tuple(one in types for one in range(FIXED + 1))
        self.mixed = len(types) > 1

    @dt.func
    def match(self, kind, one: ti.template()):
        """Return whether a joint of type `kind`, which is among the types, has the type `one`."""
        if ti.static(self.occurs[one] and self.mixed):
            return kind == one
        return ti.static(self.occurs[one])
