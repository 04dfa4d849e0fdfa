"""Look for programs that difftile gets wrong: `python -m tests.hunt --programs 20000`.

Each number is a program. A wrong program is reduced to the smallest one that is still wrong and
printed; `python -m tests.hunt --show NUMBER` prints a whole program and its outcome.
"""

from __future__ import annotations

import functools
import gc
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator

import difftile as dt
from difftile.arguments import Parser, positive_int
from tests.hunt.check import check
from tests.hunt.compiled import check_compiled
from tests.hunt.draw import draw
from tests.hunt.report import Finding, examine

CHUNK = 200


def _chunk(numbers: range, *, compiled: bool) -> tuple[Counter[str], list[Finding]]:
    counts: Counter[str] = Counter()
    findings: list[Finding] = []
    for number in numbers:
        word, finding = examine(number, compiled=compiled)
        counts[word] += 1
        if finding is not None:
            findings.append(finding)
    gc.collect()
    return counts, findings


def _start() -> None:
    dt.init(arch="cpu")
    gc.freeze()
    gc.set_threshold(100_000, 10, 10)


def _chunks(
    chunks: list[range], jobs: int, compiled: bool
) -> Iterator[tuple[Counter[str], list[Finding]]]:
    chunk = functools.partial(_chunk, compiled=compiled)
    if jobs == 1:
        _start()
        yield from map(chunk, chunks)
        return
    with multiprocessing.get_context("spawn").Pool(jobs, _start, maxtasksperchild=10) as pool:
        yield from pool.imap_unordered(chunk, chunks)


def hunt(numbers: range, jobs: int, *, compiled: bool) -> int:
    """Examine programs; return how many are wrong."""
    started, counts, wrong = time.perf_counter(), Counter[str](), 0
    chunks = [numbers[k : k + CHUNK] for k in range(0, len(numbers), CHUNK)]
    for found, findings in _chunks(chunks, jobs, compiled):
        counts += found
        wrong += len(findings)
        for finding in findings:
            print(f"\r{finding}\n", flush=True)
        rate = counts.total() / (time.perf_counter() - started)
        parts = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
        print(f"\r{counts.total()} programs, {rate:.0f}/s: {parts}", end="", flush=True)
    print()
    return wrong


def main(argv: list[str] | None = None) -> int:
    """Hunt; the exit status says whether something is wrong."""
    parser = Parser("python -m tests.hunt", "Look for programs that difftile gets wrong.")
    parser.add_argument("--programs", type=positive_int, default=2000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--compiled", action="store_true", help="compile them; slower")
    parser.add_argument("--jobs", type=positive_int, default=1, help="processes")
    parser.add_argument("--show", type=int, help="print this program and what becomes of it")
    arguments = parser.parse_args(sys.argv[1:] if argv is None else argv)
    if arguments.show is not None:
        _start()
        print(program := draw(arguments.show))
        print(check_compiled(program) if arguments.compiled else check(program, thorough=True))
        return 0
    numbers = range(arguments.first, arguments.first + arguments.programs)
    return 1 if hunt(numbers, arguments.jobs, compiled=arguments.compiled) else 0


if __name__ == "__main__":
    sys.exit(main())
