"""What a check of gradients found, and how it is shown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from difftile.diagnostics import GradientMismatch, counted

_ROWS = 10
_HEADER = ("", "analytic", "numeric", "its error", "difference", "")


class Verdict(Enum):
    """What the comparison of two derivatives says; worse ones come later."""

    RIGHT = "right"
    KINK = "kink nearby"
    EDGE = "edge of the domain"
    UNCERTAIN = "numeric too uncertain"
    WRONG = "wrong"

    @property
    def rank(self) -> int:
        """How bad it is."""
        return list(Verdict).index(self)


@dataclass(frozen=True, slots=True)
class Probe:
    """A derivative, by the adjoint and by differences.

    Args:
        field: The field, by name; empty for a direction in all of them.
        index: The element; of a vector or matrix the component's index follows.
        place: Both as one writes them: `x[3]`, `v[0][1]`.
        analytic: What the adjoint says.
        numeric: What differences say.
        error: How far the numeric value may be from the truth: truncation and rounding.
        sides: The derivatives from smaller and from larger values.
        kink: Whether these differ: a kink or a jump is here, or too near to step in front of it.
        verdict: What follows.
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
        """The difference between both, relative to the larger of them."""
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
    """A field that the gradient was taken by, and how much of it was looked at.

    Args:
        name: The field, as `Probe.field` calls it.
        shape: Its shape.
        size: How many entries it has: numbers, those of vectors and matrices one by one.
        probed: How many of them were probed one by one.
        directions: How many directions had a part in it.
    """

    name: str
    shape: tuple[int, ...]
    size: int
    probed: int
    directions: int

    def __str__(self) -> str:
        some = f"{self.probed} of " if self.probed < self.size else ""
        return f"{self.name} ({some}{counted(self.size, 'entry', 'entries')})"


@dataclass(frozen=True, slots=True)
class GradCheck:
    """The result of `dt.gradcheck`; true if the gradient passed, and readable as a text.

    Args:
        subject: What was checked.
        outputs: The outputs, by name.
        probes: All derivatives that were compared.
        fields: The fields that the gradient was taken by, and how much of each was probed.
        weighted: Whether they are more than one number, which random numbers weigh.
        skipped: What was given and not checked, by name, and why.
        notes: What else was seen, such as where the gradient is cut.
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

        At kinks, and where differences are too uncertain, nothing is said.
        """
        found = {probe.verdict for probe in self.probes}
        return Verdict.RIGHT in found and Verdict.WRONG not in found

    @property
    def worst(self) -> Probe | None:
        """The worst derivative: of an entry, if one is as bad as the worst direction."""
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
        hidden = len(self.probes) - len(self._shown())
        if hidden:
            yield f"  and {hidden} more, none of them worse"
        if self.fields:
            most = max(one.directions for one in self.fields)
            along = f"; {counted(most, 'direction')} in all of them" if most else ""
            yield f"  Probed: {', '.join(map(str, self.fields))}{along}."
        if self.skipped:
            reasons = dict.fromkeys(self.skipped.values())
            named = {r: [name for name, why in self.skipped.items() if why == r] for r in reasons}
            parts = (f"{', '.join(names)} ({reason})" for reason, names in named.items())
            yield f"  Skipped: {'; '.join(parts)}."
        for note in self.notes:
            yield from (f"  {line}" for line in f"Note: {note}".splitlines())

    def _shown(self) -> list[Probe]:
        """Return the worst derivatives; of those that are right, the worst of each field."""
        bad = [p for p in self._sorted() if p.verdict is not Verdict.RIGHT][:_ROWS]
        seen = {p.field for p in bad}
        for probe in self._sorted():
            if probe.verdict is Verdict.RIGHT and probe.field not in seen and len(bad) < _ROWS:
                bad.append(probe)
                seen.add(probe.field)
        return bad


def table(rows: list[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table, whose first row is its head."""
    if len(rows) == 1:
        return []
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
