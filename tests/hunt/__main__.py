"""Look for programs that difftile gets wrong: `python -m tests.hunt --programs 20000`.

Each number is a program. One that is wrong is cut down to the least that is still wrong and
printed; `python -m tests.hunt --show NUMBER` prints a whole one and what becomes of it.
"""

from __future__ import annotations

import gc
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Iterator

import difftile as dt
from difftile.arguments import Parser, positive_int
from tests.hunt.check import check
from tests.hunt.draw import draw
from tests.hunt.report import Finding, examine

CHUNK = 200


def _chunk(first: int) -> tuple[Counter[str], list[Finding]]:
    counts: Counter[str] = Counter()
    findings: list[Finding] = []
    for number in range(first, first + CHUNK):
        word, finding = examine(number)
        counts[word] += 1
        if finding is not None:
            findings.append(finding)
    gc.collect()
    return counts, findings


def _start() -> None:
    dt.init(arch="cpu")
    gc.freeze()
    gc.set_threshold(100_000, 10, 10)


def _chunks(firsts: range, jobs: int) -> Iterator[tuple[Counter[str], list[Finding]]]:
    if jobs == 1:
        _start()
        yield from map(_chunk, firsts)
        return
    with multiprocessing.get_context("spawn").Pool(jobs, _start) as pool:
        yield from pool.imap_unordered(_chunk, firsts)


def main(argv: list[str] | None = None) -> int:
    parser = Parser("python -m tests.hunt", "Look for programs that difftile gets wrong.")
    parser.add_argument("--programs", type=positive_int, default=2000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--jobs", type=positive_int, default=1, help="processes")
    parser.add_argument("--show", type=int, help="print this program and what becomes of it")
    arguments = parser.parse_args(sys.argv[1:] if argv is None else argv)
    if arguments.show is not None:
        _start()
        print(program := draw(arguments.show))
        print(check(program, thorough=True))
        return 0
    started, counts, wrong = time.perf_counter(), Counter[str](), 0
    firsts = range(arguments.first, arguments.first + arguments.programs, CHUNK)
    for found, findings in _chunks(firsts, arguments.jobs):
        counts += found
        wrong += len(findings)
        for finding in findings:
            print(f"\r{finding}\n", flush=True)
        rate = counts.total() / (time.perf_counter() - started)
        parts = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
        print(f"\r{counts.total()} programs, {rate:.0f}/s: {parts}", end="", flush=True)
    print()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
