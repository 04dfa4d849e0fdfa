"""How a step uses its fields: what it reads and writes, and which contents its reverse reads."""

from __future__ import annotations

from enum import Enum

from difftile.fields.field import Field
from difftile.fields.window import Window
from difftile.records import dataclass


class Keeps(Enum):
    """Which contents of a field the reverse of a step reads."""

    NOTHING = "none"
    BEFORE = "those from before the step"
    AFTER = "those from after the step"
    BOTH = "those from before the step, and those from after it"
    UNWRITTEN = "its only ones, if it turns out that the step does not write it"


@dataclass(frozen=True, slots=True)
class Use:
    """The use of a field by a step.

    Args:
        field: The field; one that shares its memory with another one is the same to a tape.
        reads: Whether the contents before the step matter. A field, or a part, that is written and
            not read is overwritten whole.
        writes: Whether the step changes it; None where the tape has to find out.
        keeps: Which contents the reverse reads; of a field that is not written they are the same.
        name: The name of the field in errors and pictures.
        parts: The parts that may be written; none stands for all of it.
        passes: Whether the contents before the step matter only where the step leaves them.
    """

    field: Field
    reads: bool
    writes: bool | None
    keeps: Keeps = Keeps.NOTHING
    name: str = ""
    parts: tuple[Window, ...] = ()
    passes: bool = False

    @property
    def overwrites(self) -> bool:
        """Whether no earlier contents of the field stay."""
        return self.writes is True and not self.reads and not self.parts

    @property
    def updates(self) -> bool:
        """Whether the step writes the field, and what it computes depends on earlier contents."""
        return self.writes is True and self.reads and not self.passes
