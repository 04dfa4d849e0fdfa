"""The long tests, of which a run of the whole suite has some, drawn by the hash of HEAD.

`tests/long.txt` names the functions whose tests take longer than `SECONDS`, each with the seconds
that one of its tests takes. Most of the time of the suite is theirs, and what they notice others
notice as well, but for those marked `always` (docs/decisions/0105-long-tests.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil
from pathlib import Path

from tests.tiers import is_drawn

FILE = Path(__file__).parent / "long.txt"
SECONDS = 0.3  # of one test: a tenth of the tests, which takes five sixths of the time
ONE_IN = 24  # of the tests of a second is in a run, and fewer of longer ones


def function_of(test: str) -> str:
    """Return the function of a test, by the names that pytest gives them."""
    return test.partition("[")[0]


def read() -> dict[str, float]:
    """Return the seconds of each long function."""
    if not FILE.exists():
        return {}
    lines = (line.split() for line in FILE.read_text().splitlines())
    return {name: float(seconds) for seconds, name in lines}


def write(functions: Mapping[str, float]) -> None:
    """Write the seconds of functions, those that are not long left out."""
    long = sorted((name, seconds) for name, seconds in functions.items() if seconds >= SECONDS)
    FILE.write_text("".join(f"{seconds:6.1f} {name}\n" for name, seconds in long))


def means(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the mean seconds of the tests of each function."""
    of: dict[str, list[float]] = {}
    for test, took in seconds.items():
        of.setdefault(function_of(test), []).append(took)
    return {name: sum(all_) / len(all_) for name, all_ in of.items()}


def left_out(tests: Iterable[str], draw: str | None) -> set[str]:
    """Return the long tests that a run leaves out: all of them if it draws none.

    Each takes a run about as much time as any other, on average.
    """
    functions = read()
    long = {test: functions[of] for test in tests if (of := function_of(test)) in functions}
    return {
        test
        for test, seconds in long.items()
        if draw is None or not is_drawn(test, draw, ONE_IN * ceil(seconds))
    }
