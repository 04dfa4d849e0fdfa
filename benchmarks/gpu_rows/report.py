"""The tables of `benchmarks.gpu`, and its figures beside those of an earlier run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from benchmarks.gpu_rows.clocks import Times
from benchmarks.gpu_rows.rows import Row, Target
from benchmarks.gpu_rows.side import DIFFTILE

SHOWN = "forward", "backward", "total"
NAME, TIME = 20, 10
HEADING = (
    f"{'':{NAME}}{'on the wall [ms]':>{3 * TIME}}{'on the device [ms]':>{3 * TIME}}"
    f"{'difftile / this':>{3 * TIME}}\n{'':{NAME}}" + 3 * "".join(f"{of:>{TIME}}" for of in SHOWN)
)


@dataclass
class Found:
    """What was found of a row.

    Attributes:
        wall: Times by side, on the wall.
        device: The same, on the device.
        earlier: Sides whose times are those of an earlier run.
        missing: Libraries of sides that did not run.
        notes: Sides that failed, and how.
        apart: What differs from difftile's, and by how much.
    """

    wall: dict[str, Times] = field(default_factory=dict[str, Times])
    device: dict[str, Times] = field(default_factory=dict[str, Times])
    earlier: list[str] = field(default_factory=list[str])
    missing: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    apart: list[str] = field(default_factory=list[str])


def ratio_of(target: Target, wall: Mapping[str, Times]) -> float | None:
    """Return difftile's time over the best of the others; None if there is none."""
    times = [wall[side][target.divisor] for side in target.sides if side in wall]
    if not times or DIFFTILE not in wall:
        return None
    return wall[DIFFTILE][target.time] / min(times)


def is_met(target: Target, ratio: float) -> bool:
    return round(ratio, 2) <= target.most


def lines_of(row: Row, found: Found) -> Iterator[str]:
    """Yield the lines of a row."""
    yield row.title
    ours = found.wall.get(DIFFTILE, {})
    for side, times in found.wall.items():
        mark = " *" if side in found.earlier else ""
        cells = [_cell(times.get(of)) for of in SHOWN]
        cells += [_cell(found.device.get(side, {}).get(of)) for of in SHOWN]
        if side != DIFFTILE:
            cells += [_ratio(ours.get(of), times.get(of)) for of in SHOWN]
        yield f"  {side + mark:{NAME - 2}}{''.join(cells)}".rstrip()
    for target in row.targets:
        ratio = ratio_of(target, found.wall)
        if ratio is not None:
            met = "met" if is_met(target, ratio) else "NOT met"
            yield f"  {target}: {ratio:.2f}, {met}"
    yield from (f"  {note}" for note in (*found.notes, *found.apart))


def summary(rows: Mapping[str, Row], found: Mapping[str, Found]) -> Iterator[str]:
    """Yield the number of targets that are met, and the others."""
    ratios = [
        (name, target, ratio_of(target, found[name].wall))
        for name in found
        for target in rows[name].targets
    ]
    told = [(name, target, ratio) for name, target, ratio in ratios if ratio is not None]
    missed = [one for one in told if not is_met(one[1], one[2])]
    yield f"{len(told) - len(missed)} of {len(told)} targets met"
    yield from (f"  {name}: {target}: {ratio:.2f}" for name, target, ratio in missed)


def comparison(
    now: Mapping[str, Found], before: Mapping[str, Mapping[str, Times]]
) -> Iterator[str]:
    """Yield the ratios of this run's times to those of an earlier one."""
    rows = [name for name in now if name in before]
    if rows:
        yield "this run / the earlier one" + "".join(f"{of:>{TIME}}" for of in SHOWN)
    for name in rows:
        for side, times in now[name].wall.items():
            old = before[name].get(side, {})
            if old and side not in now[name].earlier:
                cells = (_ratio(times.get(of), old.get(of)) for of in SHOWN)
                yield f"  {f'{name}, {side}':24}{''.join(cells)}"


def _cell(milliseconds: float | None) -> str:
    return f"{'-' if milliseconds is None else format(milliseconds, '.3f'):>{TIME}}"


def _ratio(mine: float | None, other: float | None) -> str:
    shown = "-" if mine is None or not other else format(mine / other, ".2f")
    return f"{shown:>{TIME}}"
