"""What `Tape(diagnose=True)` found: the report as an object, and as a text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import Span, counted, located
from difftile.fields.field import Field


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, or likely to be.

    Args:
        kind: "value" or "gradient" for the first one that is not finite, "zero" for a gradient that
            is zero, "growth" or "decay" for one that leaves all measure.
        text: All about it, with the lines at fault.
        launch: The number of the launch, from 1; 0 where it is none.
        kernel: Its kernel.
        field: The field by the name that a kernel gives it.
        index: The element, where it is one.
        spans: The places that the text shows.
    """

    kind: str
    text: str
    launch: int = 0
    kernel: str = ""
    field: str = ""
    index: tuple[int, ...] | None = None
    spans: tuple[Span, ...] = ()

    @property
    def line(self) -> int | None:
        """The line of the first place."""
        return self.spans[0].line if self.spans else None


@dataclass(frozen=True, slots=True)
class FieldGradient:
    """The numbers of a gradient, over all elements and their components.

    Args:
        name: The field by the name that a kernel gives it.
        field: The field.
        low: The least of the numbers that are finite.
        high: The largest.
        mean: Their mean size.
        zeros: How many are zero.
        bad: How many are NaN or infinite.
        size: How many there are.
    """

    name: str
    field: Field
    low: float
    high: float
    mean: float
    zeros: int
    bad: int
    size: int

    @staticmethod
    def of(name: str, field: Field, values: npt.NDArray[np.floating]) -> FieldGradient:
        """Return the numbers of a gradient."""
        numbers = values.astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        mean = float(np.abs(finite).mean()) if finite.size else 0.0
        zeros = int((finite == 0).sum())
        bad = numbers.size - finite.size
        return FieldGradient(name, field, low, high, mean, zeros, bad, numbers.size)


@dataclass(frozen=True, slots=True)
class Level:
    """How large gradients were after the adjoint of a launch.

    Args:
        launch: The number of the launch, from 1.
        kernel: Its kernel.
        size: The largest number in the gradients of what the launch read.
        factor: By how much it is larger than the largest of what the adjoint began with.
    """

    launch: int
    kernel: str
    size: float
    factor: float


@dataclass(frozen=True, slots=True)
class Tie:
    """A kink that was hit exactly, where the derivative is a convention (docs/kinks.md).

    Args:
        op: The function.
        span: Its place.
        hits: How often, over all launches.
    """

    op: str
    span: Span | None
    hits: int


@dataclass(frozen=True, slots=True)
class Report:
    """What the tape found. Its text says all of it.

    Args:
        launches: How many were recorded.
        findings: What is wrong or likely to be, the most important first.
        fields: The gradients of the fields that launches read.
        levels: Gradients launch by launch, in the order in which they were reversed.
        ties: The kinks that were hit, those hit most often first.
        approximate: What has a backward that is known to be no exact derivative.
        plain: The fields without gradient that values varied with: none was worked out for them.
    """

    launches: int
    findings: tuple[Finding, ...]
    fields: tuple[FieldGradient, ...]
    levels: tuple[Level, ...]
    ties: tuple[Tie, ...]
    approximate: tuple[str, ...]
    plain: tuple[str, ...]

    def __str__(self) -> str:
        found = f"{counted(len(self.findings), 'finding')} in ".capitalize()
        parts = [f"{found}{counted(self.launches, 'launch', 'launches')}."]
        parts += [finding.text for finding in self.findings]
        parts += self._gradients()
        parts += self._levels()
        if self.ties:
            lines = [
                f"  {tie.op}: {counted(tie.hits, 'time')}, {located(tie.span)}" for tie in self.ties
            ]
            parts.append("\n".join(("Kinks hit exactly (docs/kinks.md):", *lines)))
        if self.approximate:
            lines = [f"  {name}" for name in self.approximate]
            parts.append("\n".join(("With an approximate derivative:", *lines)))
        if self.plain:
            parts.append(f"Without a gradient, and none worked out: {', '.join(self.plain)}.")
        return "\n\n".join(parts)

    def _gradients(self) -> list[str]:
        if not self.fields:
            return []
        rows = [("gradient of", "least", "largest", "mean size", "zeros", "not finite", "of")]
        rows += [
            (
                f"{one.name} {one.field.shape}",
                f"{one.low:.4g}",
                f"{one.high:.4g}",
                f"{one.mean:.4g}",
                *(str(n) for n in (one.zeros, one.bad, one.size)),
            )
            for one in self.fields
        ]
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        lines = [
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        return ["\n".join(lines)]

    def _levels(self) -> list[str]:
        known = [level for level in self.levels if level.factor > 0]
        if not known:
            return []
        most = max(known, key=lambda level: level.factor)
        least = min(known, key=lambda level: level.factor)
        lines = [
            f"Largest number in the gradients: {known[-1].size:.4g} after the adjoint of launch "
            f"{known[-1].launch}.",
            *(
                f"  It grew {how}, {level.factor:.4g} times, in launch {level.launch}, of "
                f"'{level.kernel}'."
                for how, level in (("most", most), ("least", least))
            ),
        ]
        return ["\n".join(lines)]
