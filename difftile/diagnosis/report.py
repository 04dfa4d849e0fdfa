"""The report of `Tape(diagnose=True)`, as an object and as a text."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import Span, counted, located
from difftile.fields.field import Field
from difftile.markup import html_text
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """An error, or a likely one.

    Args:
        kind: "value" or "gradient" for the first one that is not finite, "zero" for a gradient that
            is zero, "growth" or "decay" for one that explodes or vanishes.
        text: The full message, with the lines at fault.
        launch: The number of the launch, from 1; 0 if no launch is at fault.
        kernel: Its kernel.
        field: The field by the name that a kernel gives it.
        index: The element, if a single one is at fault.
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
    """Statistics of a gradient, over all elements and their components.

    Args:
        name: The field by the name that a kernel gives it.
        field: The field.
        low: The least of the finite numbers.
        high: The largest of the finite numbers.
        mean: The mean of their absolute values.
        zeros: The number of zeros.
        bad: The number of NaN and infinite numbers.
        size: The number of all.
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
        """Return the statistics of a gradient."""
        numbers = values.astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        mean = float(np.abs(finite).mean()) if finite.size else 0.0
        zeros = int((finite == 0).sum())
        bad = numbers.size - finite.size
        return FieldGradient(name, field, low, high, mean, zeros, bad, numbers.size)


@dataclass(frozen=True, slots=True)
class Level:
    """The size of gradients after the adjoint of a launch.

    Args:
        launch: The number of the launch, from 1.
        kernel: Its kernel.
        size: The largest number in the gradients of the fields that the launch read.
        factor: The ratio of this number to the largest one in the incoming gradients.
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
        hits: The number of hits, over all launches.
    """

    op: str
    span: Span | None
    hits: int


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """The report of a diagnosis; `str()` returns its full text.

    Args:
        launches: The number of launches that were recorded.
        findings: Errors and likely errors, the most important first.
        fields: The gradients of the fields that launches read.
        levels: Gradients launch by launch, in the order in which they were reversed.
        ties: The kinks that were hit, those hit most often first.
        approximate: The rules and steps whose derivative is declared to be approximate.
        plain: The fields without a gradient from which values with one were computed.
    """

    launches: int
    findings: tuple[Finding, ...]
    fields: tuple[FieldGradient, ...]
    levels: tuple[Level, ...]
    ties: tuple[Tie, ...]
    approximate: tuple[str, ...]
    plain: tuple[str, ...]

    def __repr__(self) -> str:
        found = counted(len(self.findings), "finding")
        return f"<report of {counted(self.launches, 'launch', 'launches')}: {found}>"

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __str__(self) -> str:
        found = f"{counted(len(self.findings), 'finding')} in ".capitalize()
        parts = [f"{found}{counted(self.launches, 'launch', 'launches')}."]
        parts += [finding.text for finding in self.findings]
        if self.fields:
            parts.append(self._table())
        known = [level for level in self.levels if level.factor > 0]
        if known:
            last = f"{known[-1].size:.4g} after the adjoint of launch {known[-1].launch}"
            lines = [f"Largest number in the gradients: {last}."]
            for word, choose in (("Largest", max), ("Smallest", min)):
                level = choose(known, key=lambda level: level.factor)
                where = f"in launch {level.launch}, of '{level.kernel}'"
                lines.append(f"  {word} growth: {level.factor:.4g} times, {where}.")
            parts.append("\n".join(lines))
        if self.ties:
            lines = [
                f"  {tie.op}: {counted(tie.hits, 'time')}, {located(tie.span)}" for tie in self.ties
            ]
            parts.append("\n".join(("Kinks hit exactly (docs/kinks.md):", *lines)))
        if self.approximate:
            lines = [f"  {name}" for name in self.approximate]
            parts.append("\n".join(("With an approximate derivative:", *lines)))
        if self.plain:
            names = ", ".join(self.plain)
            parts.append(f"No gradient for fields made without one (use grad=True): {names}.")
        return "\n\n".join(parts)

    def _table(self) -> str:
        rows: list[tuple[str, ...]] = [
            ("gradient of", "least", "largest", "mean size", "zeros", "not finite", "of")
        ]
        for one in self.fields:
            numbers = (f"{number:.4g}" for number in (one.low, one.high, one.mean))
            counts = (str(count) for count in (one.zeros, one.bad, one.size))
            rows.append((f"{one.name} {one.field.shape}", *numbers, *counts))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join((row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])))
            for row in rows
        )
