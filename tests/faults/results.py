"""What the tests say of the faults: one line each, tables, files and comparisons."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Verdict:
    """What the tests say of a fault.

    Args:
        name: The fault.
        package: Its package.
        counts: Whether tests could notice it.
        killed_by: The tests that failed; empty if it survives.
        reason: What the first one said.
        seconds: Of the clock, in all.
        ran: The number of tests that ran with it.
        reaching: The number of tests that reach it.
        complete: Whether all of these ran, or one failed.
        why_apart: Why it was planted into a copy of the tree; empty if it was not.
        distrusted: The tests that fail in the same way of running without it.
    """

    name: str
    package: str
    counts: bool
    killed_by: list[str] = field(default_factory=list)
    reason: str = ""
    seconds: float = 0.0
    ran: int = 0
    reaching: int = 0
    complete: bool = True
    why_apart: str = ""
    distrusted: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        count = len(self.distrusted)
        also = f"; {count} tests fail without it, as {self.distrusted[0]}" if count else ""
        return f"{self._fate()}{also}"

    def _fate(self) -> str:
        if self.killed_by:
            others = f" and {len(self.killed_by) - 1} more" if len(self.killed_by) > 1 else ""
            return f"killed by {self.killed_by[0]}{others} after {self.seconds:.0f} s"
        if not self.reaching:
            return "SURVIVES: no test reaches it"
        left = "" if self.complete else f" of {self.reaching}, out of time"
        return f"SURVIVES after {self.ran}{left} tests, {self.seconds:.0f} s"


def write(file: Path, verdicts: Iterable[Verdict]) -> None:
    """Write verdicts to a file, beside those of other faults that it has."""
    known = read(file) if file.exists() else {}
    known |= {verdict.name: verdict for verdict in verdicts}
    file.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps([asdict(verdict) for verdict in known.values()], indent=1)
    file.with_suffix(".part").write_text(text, encoding="utf-8")
    file.with_suffix(".part").replace(file)


def read(file: Path) -> dict[str, Verdict]:
    """Read the verdicts of a file, by fault."""
    records = json.loads(file.read_text(encoding="utf-8"))
    return {record["name"]: Verdict(**record) for record in records}


def table(verdicts: Iterable[Verdict]) -> str:
    """Return how many faults of each package are killed."""
    rows: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.counts:
            rows.setdefault(verdict.package, []).append(verdict)
    whole = [verdict for row in rows.values() for verdict in row]
    lines = [f"{'package':15} faults killed   rate  seconds"]
    for package, row in [*sorted(rows.items()), ("all", whole)]:
        killed = sum(bool(verdict.killed_by) for verdict in row)
        rate = 100 * killed / max(1, len(row))
        seconds = sum(verdict.seconds for verdict in row)
        lines.append(f"{package:15} {len(row):6} {killed:6} {rate:5.1f}% {seconds:8.0f}")
    return "\n".join(lines)


def compare(ours: Mapping[str, Verdict], theirs: Mapping[str, Verdict]) -> str:
    """Return the faults that one kills and the other does not."""
    lines: list[str] = []
    both = [name for name in ours if name in theirs and ours[name].counts]
    for title, one, other in (("only here", ours, theirs), ("only there", theirs, ours)):
        names = [name for name in both if one[name].killed_by and not other[name].killed_by]
        lines.append(f"killed {title}: {len(names)} of {len(both)}")
        lines += [f"  {name}: {one[name].killed_by[0]}" for name in names]
    return "\n".join(lines)


def needless(verdicts: Iterable[Verdict]) -> str:
    """Return the fewest functions of tests, about, that kill what all of them kill.

    The verdicts have to come from runs that did not stop at the first test that failed.
    """
    kills: dict[str, set[str]] = {}
    for verdict in verdicts:
        for test in verdict.killed_by:
            kills.setdefault(test.partition("[")[0], set()).add(verdict.name)
    left, lines = set[str]().union(*kills.values()), list[str]()
    everything = len(kills)
    while left:
        best = max(kills, key=lambda test: (len(kills[test] & left), test))
        lines.append(f"  {best}: {len(kills[best] & left)} of its {len(kills[best])}")
        left -= kills.pop(best)
    title = f"{len(lines)} of {everything} functions of tests kill what all of them kill:"
    return "\n".join(
        [title, *lines, "kill nothing else:", *(f"  {test}" for test in sorted(kills))]
    )
