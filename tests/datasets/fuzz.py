"""Loads of mutated files: each gives finite, checked contents or a `DatasetError`, and soon.

    python -m tests.datasets.fuzz --loads 100000

A load depends only on the seed and its number: `--only 4711` repeats it, and shows its traceback.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from difftile.diagnostics import DatasetError
from tests.datasets.cases import Case, write_cases
from tests.datasets.mutations import MUTATORS, anything

SECONDS = 2.0  # of a processor that a load may take
_WAITING = 30.0  # seconds that it may take in all, on a machine that others keep busy
MEMORY = 2**29  # bytes that a load may take in addition to the process
_LONGEST = 1500  # characters of an error


class TooSlow(Exception):
    """A load that computes for longer than `SECONDS`, or waits."""


@dataclass
class Report:
    """The outcome of loads.

    Args:
        read: Number of successful loads, by format.
        refused: Number of loads refused with a `DatasetError`.
        wrong: The numbers of other loads, and their results.
    """

    read: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[int, str]] = field(default_factory=list)

    def __str__(self) -> str:
        rows = [f"  {k:20} {self.read[k]:6} read {self.refused[k]:6} refused" for k in self.read]
        loads = self.read.total() + self.refused.total() + len(self.wrong)
        said = f"{loads} loads: {self.read.total()} read, {self.refused.total()} refused, "
        wrong = [f"  load {number}: {what}" for number, what in self.wrong]
        return "\n".join([*rows, *wrong, f"{said}{len(self.wrong)} wrong"])


def fuzz(
    cases: Sequence[Case], folder: Path, numbers: Sequence[int], seed: int = 0, loud: bool = False
) -> Report:
    """Change a file of a case for each number, and load it.

    Args:
        cases: What is loaded, with its valid files below the folder.
        folder: Where that is.
        numbers: Those of the loads.
        seed: Of all of them.
        loud: Print tracebacks.
    """
    report = Report()
    for number in numbers:
        draw = random.Random(f"{seed} {number}")
        case = cases[number % len(cases)]
        root = folder / case.name
        path = root / draw.choice(case.files)
        before = path.read_bytes()
        what = _change(path, before, draw)
        try:
            with _limited():
                case.check(root, path)
        except DatasetError as error:
            fault = _fault_of(error)
            if fault is None:
                report.refused[case.name] += 1
            else:
                report.wrong.append((number, f"{case.name}, {what} {path.name}: {fault}"))
            if loud:
                print(error)
        except Exception as error:
            said = f"{type(error).__name__}: {str(error)[:300]}"
            report.wrong.append((number, f"{case.name}, {what} {path.name}: {said}"))
            if loud:
                traceback.print_exc()
        else:
            report.read[case.name] += 1
        _remove(path)
        path.write_bytes(before)
    return report


def _change(path: Path, before: bytes, draw: random.Random) -> str:
    """Change a file, once or twice; return how, in a word."""
    if draw.random() < 0.02:
        name = draw.choice([*_PLACES])
        path.unlink()
        _PLACES[name](path)
        return name
    raw, names = before, []
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        mutator = draw.choice(MUTATORS[path.suffix])
        try:
            raw = mutator(raw, draw)
        except Exception:  # an earlier change has left no content for this one
            raw = anything(raw, draw)
        names.append(mutator.__name__)
    path.write_bytes(raw)
    return "+".join(names)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**43)


# Objects that can stand in the place of a file.
_PLACES: dict[str, Callable[[Path], None]] = {
    "nothing for": lambda path: None,
    "a folder for": Path.mkdir,
    "a pipe for": os.mkfifo,
    "a device for": lambda path: path.symlink_to("/dev/zero"),
    "a link out of": lambda path: path.symlink_to("/etc/passwd"),
    "a circle for": lambda path: path.symlink_to(path.name),
    "8 TB for": _sparse,
}


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _fault_of(error: DatasetError) -> str | None:
    """Return the fault of an error itself."""
    said = str(error)
    lines = said.split("\n")
    if len(lines) > 1 + (error.hint is not None) or not all(line.isprintable() for line in lines):
        return f"an error that is not a line: {said[:300]!r}"
    if len(said) > _LONGEST:
        return f"an error of {len(said)} characters: {said[:300]!r}"
    if "allocate" in said or "MemoryError" in said:
        return f"memory was asked for that is not there: {said[:300]!r}"
    if error.__context__ is None and not os.path.basename(error.path):
        return "an error without a file"
    return None


@contextmanager
def _limited() -> Generator[None]:
    """End a load that takes too long, and treat warnings as errors."""

    def late(*_: object) -> None:
        raise TooSlow(f"more than {SECONDS:g} s")

    timers = {signal.ITIMER_PROF: signal.SIGPROF, signal.ITIMER_REAL: signal.SIGALRM}
    old = {number: signal.signal(number, late) for number in timers.values()}
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, _WAITING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        for timer in timers:
            signal.setitimer(timer, 0)
        for number, before in old.items():
            signal.signal(number, before)


def bound_memory(more: int = MEMORY) -> None:
    """Let this process take so much more memory than it has, and no more."""
    import resource  # noqa: PLC0415  (only on Unix)

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m tests.datasets.fuzz", description=__doc__)
    parser.add_argument("--loads", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="the number of one load")
    options = parser.parse_args(argv)
    faulthandler.enable()
    began = time.perf_counter()
    # In memory, where there is such a place: files are written and removed all the time.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        cases = write_cases(Path(folder))
        for case in cases:  # as they are
            for file in case.files:
                case.check(Path(folder) / case.name, Path(folder) / case.name / file)
        if sys.platform == "linux":
            bound_memory()
        numbers = range(options.loads) if options.only is None else [options.only]
        report = fuzz(cases, Path(folder), numbers, options.seed, options.only is not None)
    print(report)
    print(f"{time.perf_counter() - began:.1f} s")
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
