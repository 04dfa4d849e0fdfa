"""Plant faults, and print which tests notice them.

A fault is named by its name, or by its package for all of its faults. Tests that reach a fault run,
the most likely first, until one fails. `--needless` runs all of them, which takes as long as all
survivors would: hours for the whole suite.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from difftile.arguments import Parser, positive_float, positive_int
from tests import tiers
from tests.faults import results
from tests.faults.children import share
from tests.faults.decide import Judge, Limits, copy_tree
from tests.faults.entries import ROOT, Fault, FaultError, changed, chosen, load, read_source, sizes
from tests.faults.order import reaching
from tests.faults.reach import Map, is_mapped
from tests.faults.session import Plugin, collect
from tests.faults.swap import functions_by_file

_BUILD = ROOT / "build/faults"


def main(argv: Sequence[str] | None = None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    parser = _parser()
    options = parser.parse_args(argv)
    try:
        wanted = tiers.parsed(options.tier)
    except tiers.TierError as error:
        parser.error(str(error))
    for path in options.tests:
        if not (ROOT / path.partition("::")[0]).exists():
            parser.error(f"there are no tests in {path}")
    try:
        faults = chosen(load(), options.names)
        for fault in faults:
            changed(fault)
    except FaultError as error:
        parser.error(str(error))
    file = Path(options.results or _BUILD / f"tiers-{options.tier}-{options.long}.json")
    if options.list:
        _list(faults)
    elif options.check:
        print(f"{len(faults)} faults apply")
    elif options.against:
        for one in (file, Path(options.against)):
            if not one.is_file():
                parser.error(f"there are no results in {one}")
        print(results.compare(results.read(file), results.read(Path(options.against))))
    elif options.old:
        return _run_old(parser, options.old, file, argv)
    else:
        return _run(faults, options, wanted, file)
    return 0


def _parser() -> Parser:
    parser = Parser("python -m tests.faults", __doc__)
    add = parser.add_argument
    add("names", metavar="NAME", nargs="*", help="a fault or a package; all of them by default")
    add("--tier", metavar="N", default="0-3", help="run the tests of these tiers (%(default)s)")
    add("--long", choices=["all", "none"], default="none", help="run the long tests too, or not")
    add("--tests", metavar="PATH", nargs="+", default=["tests"], help="run only these tests")
    add("--jobs", type=positive_int, default=os.cpu_count(), help="faults at a time")
    add("--budget", type=positive_float, default=120.0, help="seconds for a fault (%(default)s)")
    add("--apart", action="store_true", help="plant all faults into a copy of the tree")
    add("--map", action="store_true", help="only map the tests that are in no map yet")
    add("--needless", action="store_true", help="run all tests, and print which kill nothing new")
    add(
        "--results",
        metavar="FILE",
        help="where results are kept, by default build/faults/TIER.json",
    )
    add("--against", metavar="FILE", help="only compare the results with those of another file")
    add("--old", metavar="REV", help="run the tests of a revision of git against today's library")
    add("--list", action="store_true", help="only print the faults and their number")
    add("--check", action="store_true", help="only check that the faults apply")
    return parser


def _list(faults: list[Fault]) -> None:
    for fault in faults:
        print(f"{fault.package:15} {fault.name}")
        print(f"{'':15} {fault.sentence}")
    counted = Counter(fault.package for fault in faults if fault.counts)
    lines = sizes()
    print(f"\n{'package':15} faults  lines")
    for package, count in lines.items():
        print(f"{package:15} {counted[package]:6} {count:6}")
    equivalent = len(faults) - counted.total()
    print(f"{'all':15} {counted.total():6} {sum(lines.values()):6}   and {equivalent} equivalent")


def _run(faults: list[Fault], options: Any, wanted: frozenset[int], file: Path) -> int:
    # Kernels are compiled once for all runs, and apart from those of the user: a fault may be one
    # of what is kept. Sources are compiled once as well.
    os.environ["XDG_CACHE_HOME"] = str(_BUILD / "cache")
    os.environ["DRAW"] = tiers.draw()  # which a copy without git cannot tell
    os.environ.pop("BASE", None)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # What is drawn in one run is not in the next.
    selected = ["--tier", options.tier, "--long", options.long]
    name = "slow" if tiers.LAST in wanted else "long" if options.long == "all" else "usual"
    missing = [path for path in _files(options.tests, wanted) if not is_mapped(name, path)]
    if missing:
        command = [sys.executable, "-m", "tests.faults.map", "--name", name]
        command += ["--jobs", str(options.jobs), "--tests", *missing]
        subprocess.run(command, cwd=ROOT, check=False)
    if options.map:
        return 0
    known = Map(name)
    needed: set[str] = set()
    for fault in faults:
        after = changed(fault)
        before = {path: read_source(path) for path in after}
        needed |= {name.partition("::")[0] for name in reaching(before, after, known)}
    paths = [path for path in sorted(needed) if _is_below(path, options.tests)]
    limits = Limits(options.budget, options.apart, not options.needless)
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    verdicts: list[results.Verdict] = []

    def judge(session: pytest.Session) -> None:
        judging = Judge(session, plugin, known, functions_by_file(), limits, folder, selected)
        started, killed = time.monotonic(), 0
        for k, (fault, verdict) in enumerate(share(judging, faults, options.jobs, folder), 1):
            verdicts.append(verdict)
            results.write(file, [verdict])
            killed += bool(verdict.killed_by)
            print(f"{fault.package:13} {fault.name}: {verdict}", flush=True)
            if k % 10 == 0:
                seconds = time.monotonic() - started
                print(f"-- {k} of {len(faults)}, {killed} killed, {seconds:.0f} s", flush=True)

    plugin = Plugin(judge)
    code = collect(paths, selected, plugin)
    print(results.table(verdicts))
    if options.needless:
        print(results.needless(verdicts))
    return code or len(verdicts) != len(faults)


def _files(paths: Sequence[str], wanted: frozenset[int]) -> list[str]:
    """Return the files of tests that are named or in named folders, and may be of some tiers."""
    found: set[Path] = set()
    for path in (ROOT / one.partition("::")[0] for one in paths):
        found |= {*path.rglob("test_*.py")} if path.is_dir() else {path}
    names = sorted(path.relative_to(ROOT).as_posix() for path in found)
    return [name for name in names if tiers.LAST in wanted or tiers.tier_of(name) in wanted]


def _is_below(path: str, tests: Sequence[str]) -> bool:
    return any(Path(path).is_relative_to(test.partition("::")[0]) for test in tests)


def _run_old(parser: Parser, revision: str, file: Path, argv: Sequence[str]) -> int:
    """Run the tests of a revision in a tree of their own, with the library of today."""
    command = ["git", "archive", revision, "tests", "pyproject.toml"]
    tests = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if tests.returncode:
        parser.error(f"there is no revision {revision!r}")
    folder = _BUILD / "trees" / revision
    kept = folder / "build/faults"
    if folder.exists():
        kept = kept.rename(folder.parent / f"{revision}.kept")
        shutil.rmtree(folder)
    copy_tree(folder)
    shutil.rmtree(folder / "tests")
    subprocess.run(["tar", "-x"], cwd=folder, input=tests.stdout, check=True)
    shutil.rmtree(folder / "tests/faults", ignore_errors=True)
    shutil.copytree(ROOT / "tests/faults", folder / "tests/faults")
    if kept.name.endswith(".kept"):
        (folder / "build").mkdir()
        kept.rename(folder / "build/faults")
    at = list(argv).index("--old")
    rest = [*argv[:at], *argv[at + 2 :]]
    results_file = file if "--results" in rest else _BUILD / f"{revision}-{file.name}"
    rest = [*rest, "--results", str(results_file.resolve())]
    return subprocess.run(
        [sys.executable, "-m", "tests.faults", *rest], cwd=folder, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
