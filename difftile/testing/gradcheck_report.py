"""The report of `dt.gradcheck` and its text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from difftile.diagnostics import GradientMismatch, counted
from difftile.markup import html_block, html_lines, html_table

_ROWS = 10
_HEADER = ("", "analytic", "numeric", "its error", "difference", "")


class Verdict(Enum):
    """The verdict of a comparison of two derivatives; worse ones come later."""

    RIGHT = "right"
    KINK = "kink nearby"
    EDGE = "edge of the domain"
    UNCERTAIN = "numeric too uncertain"
    WRONG = "wrong"

    @property
    def rank(self) -> int:
        """The severity."""
        return list(Verdict).index(self)


@dataclass(frozen=True, slots=True)
class Probe:
    """A derivative, by the adjoint and by differences.

    Args:
        field: The name of the field; empty for a direction in all fields.
        index: The index of the element, followed by the index of its component.
        place: Field and index as code: `x[3]`, `v[0][1]`.
        analytic: The derivative by the adjoint.
        numeric: The derivative by differences.
        error: The estimated error of the numeric value: truncation and rounding.
        sides: The one-sided derivatives, from smaller and from larger values.
        kink: Whether these differ: there is a kink or a jump nearer than the steps.
        verdict: The verdict.
    """

    field: str
    index: tuple[int, ...]
    place: str
    analytic: float
    numeric: float
    error: float
    sides: tuple[float, float]
    kink: bool
    verdict: Verdict

    @property
    def difference(self) -> float:
        """The difference of both values, relative to the larger one."""
        if self.analytic == self.numeric:
            return 0.0
        if not (math.isfinite(self.analytic) and math.isfinite(self.numeric)):
            return math.inf
        return abs(self.analytic - self.numeric) / max(abs(self.analytic), abs(self.numeric))

    def row(self) -> tuple[str, ...]:
        """Return the probe as cells of a table."""
        shown = (self.analytic, self.numeric)
        verdict = self.verdict.value
        if self.kink and self.verdict is not Verdict.KINK:
            verdict += ", at a kink"
        if self.kink or self.verdict is Verdict.EDGE:
            verdict += f": {self.sides[0]:.6g} from the left, {self.sides[1]:.6g} from the right"
        return (
            self.place,
            *(f"{value:.8g}" for value in shown),
            f"{self.error:.0e}",
            f"{self.difference:.1e}" if self.difference else "0",
            verdict,
        )


@dataclass(frozen=True, slots=True)
class Probed:
    """A differentiated field, and how much of it was probed.

    Args:
        name: The name of the field, as in `Probe.field`.
        shape: Its shape.
        size: The number of its entries, counting the components of vectors and matrices.
        probed: The number of entries that were probed one by one.
        directions: The number of directions with a component in the field.
    """

    name: str
    shape: tuple[int, ...]
    size: int
    probed: int
    directions: int

    def __str__(self) -> str:
        some = f"{self.probed} of " if self.probed < self.size else ""
        return f"{self.name} ({some}{counted(self.size, 'entry', 'entries')})"


@dataclass(frozen=True, slots=True, repr=False)
class GradCheck:
    """The result of `dt.gradcheck`: true if the gradient passed, and readable as text.

    Args:
        subject: The function that was checked.
        outputs: The names of the outputs.
        probes: All derivatives that were compared.
        fields: The differentiated fields, and how much of each was probed.
        weighted: Whether random weights combine several output numbers.
        skipped: The reasons why arguments were not checked, by name.
        notes: Further observations, such as where the gradient is cut.
    """

    subject: str
    outputs: tuple[str, ...]
    probes: tuple[Probe, ...]
    fields: tuple[Probed, ...]
    weighted: bool = False
    skipped: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no derivative is wrong, and some are right.

        Derivatives at kinks, and with too uncertain differences, do not count.
        """
        found = {probe.verdict for probe in self.probes}
        return Verdict.RIGHT in found and Verdict.WRONG not in found

    @property
    def worst(self) -> Probe | None:
        """The worst derivative; an entry rather than a direction that is as bad."""
        return self._sorted()[0] if self.probes else None

    def __bool__(self) -> bool:
        return self.passed

    def raise_if_failed(self) -> GradCheck:
        """Return the result.

        Raises:
            GradientMismatch: The gradient did not pass; its text is this report.
        """
        if not self.passed:
            raise GradientMismatch(str(self))
        return self

    def _sorted(self) -> list[Probe]:
        return sorted(
            self.probes,
            key=lambda p: (-p.verdict.rank, not p.field, not p.kink, -p.difference, p.place),
        )

    def __str__(self) -> str:
        lines = [f"gradcheck of {self.subject}: {self._title()}", *self._lines()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        worst = "" if self.worst is None else f", worst {_in_short(self.worst)}"
        return f"<gradcheck of {self.subject}: {self._title()}{worst}>"

    def _repr_html_(self) -> str:
        return html_block(
            f"gradcheck of {self.subject}: {self._title()}",
            html_table(_HEADER, [probe.row() for probe in self._shown()]),
            html_lines(self._remarks()),
        )

    def _title(self) -> str:
        if not self.probes:
            return "nothing to check"
        total = counted(len(self.probes), "derivative")
        wrong = sum(p.verdict is Verdict.WRONG for p in self.probes)
        if wrong:
            return f"{wrong} of {total} wrong"
        if not self.passed:
            return f"none of {total} could be verified"
        right = sum(p.verdict is Verdict.RIGHT for p in self.probes)
        return "passed" if right == len(self.probes) else f"passed, {right} of {total} verified"

    def _lines(self) -> Iterable[str]:
        if self.fields:
            weighted = ", weighted at random," if self.weighted else ""
            names = ", ".join(one.name for one in self.fields)
            yield f"  of {', '.join(self.outputs)}{weighted} with respect to {names}"
        rows = [_HEADER, *(probe.row() for probe in self._shown())]
        yield from (f"  {line}" for line in table(rows))
        for remark in self._remarks():
            yield from (f"  {line}" for line in remark.splitlines())

    def _remarks(self) -> Iterable[str]:
        hidden = len(self.probes) - len(self._shown())
        if hidden:
            yield f"and {hidden} more, none of them worse"
        if self.fields:
            most = max(one.directions for one in self.fields)
            along = f"; {counted(most, 'direction')} in all of them" if most else ""
            yield f"Probed: {', '.join(map(str, self.fields))}{along}."
        if self.skipped:
            reasons = dict.fromkeys(self.skipped.values())
            named = {r: [name for name, why in self.skipped.items() if why == r] for r in reasons}
            parts = (f"{', '.join(names)} ({reason})" for reason, names in named.items())
            yield f"Skipped: {'; '.join(parts)}."
        for note in self.notes:
            yield f"Note: {note}"

    def _shown(self) -> list[Probe]:
        """Return the worst derivatives, and of the right ones the worst of each field."""
        bad = [p for p in self._sorted() if p.verdict is not Verdict.RIGHT][:_ROWS]
        seen = {p.field for p in bad}
        for probe in self._sorted():
            if probe.verdict is Verdict.RIGHT and probe.field not in seen and len(bad) < _ROWS:
                bad.append(probe)
                seen.add(probe.field)
        return bad


def _in_short(probe: Probe) -> str:
    difference = f"{probe.difference:.1e}" if probe.difference else "0"
    return f"{probe.place or 'direction'} by {difference}, {probe.verdict.value}"


def table(rows: list[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table; the first row is its head."""
    if len(rows) == 1:
        return []
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
