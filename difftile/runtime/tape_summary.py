"""The summary of a tape: how many steps it has recorded, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from difftile.diagnostics import counted
from difftile.recording.budget import as_text
from difftile.recording.history import History
from difftile.recording.limited_history import LimitedHistory


class StepCounts:
    """Counts of the steps on a tape.

    Attributes:
        launches: All launches.
        fused: The launches that ran as one program, by its title and form.
        unfused: Why launches that repeat ran one by one, by their names.
        opaque: Calls of opaque steps, by title.
        approximate: The titles of those whose backward is approximate.
    """

    def __init__(self) -> None:
        self.launches = 0
        self.fused: Counter[tuple[str, str]] = Counter()
        self.unfused: dict[str, str] = {}
        self.opaque: Counter[str] = Counter()
        self.approximate: set[str] = set()

    def __str__(self) -> str:
        """Return the number of launches in words."""
        if self.launches > 999:
            return f"{self.launches:,} launches"
        return counted(self.launches, "launch", "launches")

    def lines(self) -> Iterator[str]:
        """Yield a line for each kind of step but plain launches."""
        for (names, form), count in self.fused.items():
            yield f"{names}: {counted(count, 'launch', 'launches')} as one program, {form}"
        for names, why in self.unfused.items():
            yield f"{names}: one by one, because {why}"
        for name, times in self.opaque.items():
            approximate = ", with an approximate backward" if name in self.approximate else ""
            yield f"{name}: {counted(times, 'call')}{approximate}"


def summary(counts: StepCounts, history: History, peak: int, runs: float | None) -> str:
    """Return a few lines on a recording.

    Args:
        counts: The steps.
        history: The records.
        peak: The most bytes of old values.
        runs: How often the forward has run, the backward pass included; None before that.
    """
    if runs is None:
        lines = [
            f"{counts}, {counted(len(history), 'record')}",
            f"{as_text(history.nbytes)} of old values, {as_text(peak)} at the most",
        ]
        if isinstance(history, LimitedHistory):
            lines.append(counted(history.snapshots, "snapshot"))
    else:
        number = f"{runs:.{int(runs < 9.95)}f}".removesuffix(".0")
        cost = f"{number} {'run' if number == '1' else 'runs'} of the forward"
        lines = [f"{counts}, {as_text(peak)} of old values held at most, {cost}"]
    lines += counts.lines()
    if history.recomputed:
        lines.append(f"{counted(history.recomputed, 'launch', 'launches')} run again")
    return "\n".join(lines)
