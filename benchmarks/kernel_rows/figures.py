"""Ratios of measured times, their targets, and the tables of `benchmarks.kernels`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.kernel_rows.cases import Case, Target

MANY = 16  # threads from which on Taichi's autodiff is no slower target than itself
Turns = Sequence[dict[str, float]]
OURS = "forward", "recorded", "backward"


@dataclass(frozen=True)
class Figure:
    """A ratio, or a time, with its largest acceptable value.

    Attributes:
        of: Its name in a summary.
        value: The median over the turns.
        target: The largest acceptable value.
    """

    of: str
    value: float
    target: float

    @property
    def met(self) -> bool:
        return round(self.value, 2) <= self.target

    def __str__(self) -> str:
        return f"{self.value:6.2f} {'<=' if self.met else ' >'} {self.target:<4}"


def ratio(turns: Turns, mine: str, other: str) -> float:
    """Return the median over the turns; a sum of times is written 'a + b'."""

    def seconds(turn: dict[str, float], names: str) -> float:
        return sum(turn[name] for name in names.split(" + "))

    return median(seconds(turn, mine) / seconds(turn, other) for turn in turns)


def milliseconds(turns: Turns, of: str) -> float:
    return 1e3 * median(turn[of] for turn in turns)


TAICHI = f"""\
{"":14}{"forward /":>15}{"recorded /":>13}{"backward /":>16}{"backward /":>15}{"":7}milliseconds of
{"":14}{"Taichi":>13}{"Taichi":>13}{"its autodiff":>18}{"by hand":>13}{"":9}forward, backward"""


def beside_taichi(name: str, case: Case, turns: Turns, threads: int) -> tuple[str, list[Figure]]:
    """Return a line of the first table, and the ratios that have a target."""
    autodiff = case.target if threads < MANY else max(case.target, 1.0)
    found = [
        Figure(f"{name}, forward", ratio(turns, "forward", "Taichi forward"), 1.0),
        Figure(f"{name}, backward", ratio(turns, "backward", "Taichi backward"), autodiff),
        Figure(f"{name}, by hand", ratio(turns, "backward", "by hand"), 1.2),
    ]
    forward, backward, by_hand = found
    recorded = ratio(turns, "recorded", "Taichi forward")
    times = (milliseconds(turns, of) for of in ("forward", "backward"))
    line = f"{name:14}{forward!s:>15}{recorded:>11.2f}{backward!s:>18}{by_hand!s:>15}"
    return line + "".join(f"{time:>11.2f}" for time in times), found


# Columns of the second table: heading, difftile's time, the peer's time
COLUMNS = (
    ("NumPy forward", "forward", "NumPy forward"),
    ("backward", "backward", "NumPy backward"),
    ("torch forward", "forward", "torch forward"),
    ("backward", "backward", "torch backward"),
    ("JAX forward", "forward", "JAX forward"),
    ("both", "recorded + backward", "JAX both"),
)


def arrays_header(measured: Iterable[str]) -> str:
    """Return the heading of the second table."""
    names = [head for head, _, other in COLUMNS if other in measured]
    return f"{'':14}" + "".join(f"{name:>15}" for name in names)


def beside_arrays(name: str, turns: Turns) -> str:
    """Return a line of the second table."""
    found = [ratio(turns, mine, other) for _, mine, other in COLUMNS if other in turns[0]]
    return f"{name:14}" + "".join(f"{value:15.2f}" for value in found)


def further(name: str, targets: Iterable[Target], turns: Turns, absolute: bool) -> list[Figure]:
    """Return the figures of targets whose times were measured.

    Args:
        name: The row.
        targets: Its further targets.
        turns: What was measured.
        absolute: Milliseconds are figures too.
    """
    found: list[Figure] = []
    for target in targets:
        if target.other in turns[0]:
            value = ratio(turns, target.mine, target.other)
            found.append(Figure(f"{name}, {target.mine} / {target.other}", value, target.most))
        elif not target.other and absolute:
            value = milliseconds(turns, target.mine)
            found.append(Figure(f"{name}, {target.mine} [ms]", value, target.most))
    return found


def summary(found: Sequence[Figure]) -> str:
    """Return the number of targets that are met, and the names of the others."""
    missed = [f"  {figure.of}: {figure}".rstrip() for figure in found if not figure.met]
    return "\n".join((f"{len(found) - len(missed)} of {len(found)} targets met", *missed))


Measured = dict[str, dict[str, dict[str, float]]]  # by threads, row, name of the time: milliseconds


def comparison(now: Measured, before: Measured) -> Iterator[str]:
    """Yield the lines of a table: ratios of this run's times to those before, and of Taichi's."""
    control = "Taichi forward"
    for threads in now:
        if rows := [name for name in now[threads] if name in before.get(threads, {})]:
            yield f"to the earlier run, threads: {threads}; {', '.join(OURS)}; {control}"
        for name in rows:
            new, old = now[threads][name], before[threads][name]
            yield f"{name:14}" + "".join(f"{new[of] / old[of]:10.2f}" for of in (*OURS, control))
