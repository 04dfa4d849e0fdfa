"""Whether tests notice a fault: in a fork of the process that has collected them, or in a copy."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import FunctionType

import pytest

from tests.faults.children import Outcome, watch
from tests.faults.entries import ROOT, Fault, changed, read_source
from tests.faults.order import ordered, reaching
from tests.faults.reach import COLLECTION, Map
from tests.faults.results import Verdict
from tests.faults.session import Plugin, fork, run_items
from tests.faults.swap import NotHere, plan

_IGNORED = shutil.ignore_patterns(".git", ".venv", "build", "dist", "out", "*.egg-info")
_BATCH = 12  # tests that a process first collects, before it collects all that reach a fault


@dataclass(frozen=True, slots=True)
class Limits:
    """How far to go.

    Args:
        budget: Seconds for a fault.
        apart: Whether to plant all faults into a copy.
        stop: Whether to stop at the first test that fails.
    """

    budget: float
    apart: bool
    stop: bool


class Judge:
    """Decides faults, one after the other, in a process that has collected the tests.

    Args:
        session: The collected session.
        plugin: Its plugin.
        known: The map.
        functions: All functions, by file.
        limits: How far to go.
        folder: For temporary files.
        options: Of pytest, for other processes.
    """

    def __init__(
        self,
        session: pytest.Session,
        plugin: Plugin,
        known: Map,
        functions: Mapping[str, list[FunctionType]],
        limits: Limits,
        folder: Path,
        options: Sequence[str],
    ) -> None:
        self._session, self._plugin, self._map = session, plugin, known
        self._functions, self._limits, self._options = functions, limits, options
        self._folder = folder
        self._collected = {item.nodeid for item in session.items}
        self._trusted: dict[tuple[str, bool], bool] = {}
        self._copy: Path | None = None

    def __call__(self, fault: Fault) -> Verdict:
        """Decide a fault."""
        started = time.monotonic()
        after = changed(fault)
        before = {path: read_source(path) for path in after}
        tests = self._map.tests
        names = reaching(before, after, self._map) & self._collected
        order = ordered(fault, [name for name in names if tests[name].passes], tests)
        verdict = Verdict(fault.name, fault.package, fault.counts, reaching=len(order))
        try:
            plant = self._plan(before, after)
            here = [name for name in order if not tests[name].apart]
            apart = [name for name in order if tests[name].apart]
        except NotHere as reason:
            verdict.why_apart, plant, here, apart = str(reason), None, [], order
        until = started + self._limits.budget
        if plant is not None:
            run = functools.partial(self._here, plant)
            self._run(verdict, here, until, run, apart=False)
        if not self._is_done(verdict):
            for some in (apart[:_BATCH], apart[_BATCH:]):
                if not self._is_done(verdict):
                    run = functools.partial(self._apart, after)
                    self._run(verdict, some, until, run, apart=True)
        verdict.seconds = time.monotonic() - started
        return verdict

    def _is_done(self, verdict: Verdict) -> bool:
        return not verdict.complete or bool(self._limits.stop and verdict.killed_by)

    def _plan(self, before: Mapping[str, str], after: Mapping[str, str]) -> Callable[[], None]:
        if self._limits.apart:
            raise NotHere("as was asked for")
        if COLLECTION in reaching(before, after, self._map):
            raise NotHere("imports have used it")
        return plan(before, after, self._functions)

    def _run(
        self,
        verdict: Verdict,
        names: Sequence[str],
        until: float,
        run: Callable[[Sequence[str], float], Outcome],
        *,
        apart: bool,
    ) -> None:
        """Run tests until one fails that passes without the fault."""
        left = list(names)
        while left and not self._is_done(verdict):
            seconds = until - time.monotonic()
            if seconds <= 0:
                verdict.complete = False
                break
            outcome = run(left, seconds)
            verdict.ran += len(outcome.ran)
            for name, reason in outcome.failed.items():
                if self._passes(name, apart=apart):
                    verdict.killed_by.append(name)
                    verdict.reason = verdict.reason or reason
                else:
                    verdict.distrusted.append(f"{name}: {reason}")
            verdict.complete = outcome.complete or bool(outcome.failed)
            done = {name for name, _, _ in outcome.ran} | {*outcome.failed}
            left = [name for name in left if name not in done] if outcome.failed else []

    def _passes(self, name: str, *, apart: bool) -> bool:
        """Tell whether a test passes without a fault, which is asked once for each way."""
        if name not in self._map.tests:
            return True  # of a failure outside of tests
        if (name, apart) not in self._trusted:
            run = self._apart({}, [name], 600.0) if apart else self._here(_nothing, [name], 600.0)
            self._trusted[name, apart] = not run.failed
        return self._trusted[name, apart]

    def _limit(self, name: str) -> float:
        known = self._map.tests.get(name)
        return 60.0 + 20 * (known.seconds if known is not None else 10)

    def _here(self, plant: Callable[[], None], names: Sequence[str], seconds: float) -> Outcome:
        def run(connection: Connection) -> None:
            plant()
            run_items(self._session, self._plugin, names, connection, stop=self._limits.stop)

        place = self._folder / str(os.getpid())
        pid, connection = fork(run, place)
        outcome = watch(pid, connection, limit=self._limit, budget=seconds)
        shutil.rmtree(place, ignore_errors=True)
        return outcome

    def _apart(self, texts: Mapping[str, str], names: Sequence[str], seconds: float) -> Outcome:
        if self._copy is None:
            self._copy = copy_tree(self._folder / f"tree-{os.getpid()}")
        place = self._folder / str(os.getpid())
        place.mkdir(parents=True, exist_ok=True)
        theirs, ours = os.pipe()
        request = {
            "tests": list(names),
            "options": list(self._options),
            "stop": self._limits.stop,
            "connection": ours,
            "folder": str(place),
        }
        try:
            for path, text in texts.items():
                (self._copy / path).write_text(text, encoding="utf-8")
            child = subprocess.Popen(
                [sys.executable, "-B", "-m", "tests.faults.child"],
                cwd=self._copy,
                env=os.environ | {"PYTHONPATH": str(self._copy)},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[ours],
                start_new_session=True,
            )
            os.close(ours)
            assert child.stdin is not None
            with child.stdin:
                child.stdin.write(json.dumps(request).encode())
            connection = Connection(theirs, writable=False)
            outcome = watch(child.pid, connection, limit=self._limit, budget=seconds)
            child.wait()  # or tests in later forks fail by the warning that it still runs
            return outcome
        finally:
            for path in texts:
                shutil.copy2(ROOT / path, self._copy / path)
            shutil.rmtree(place, ignore_errors=True)


def _nothing() -> None:
    pass


def copy_tree(folder: Path) -> Path:
    """Copy this tree, with compiled files, to plant faults into."""
    shutil.copytree(ROOT, folder, symlinks=True, ignore=_IGNORED)
    (folder / ".venv").symlink_to(ROOT / ".venv")
    return folder
