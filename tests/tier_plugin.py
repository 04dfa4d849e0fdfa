"""What a run has of the suite, and which of its programs are compiled: hooks of pytest."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Generator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from difftile.substrate import chosen
from tests import lengths, recorded, tiers


def is_whole(config: pytest.Config) -> bool:
    """Tell whether a run is one of the whole suite; whoever names tests wants all of them."""
    named = config.option.keyword or config.option.markexpr
    return not named and all(Path(given).resolve() == tiers.ROOT / "tests" for given in config.args)


class Run:
    """The tiers of a run, its record, and what it says of both in the end.

    Raises:
        UsageError: An option names no tier, or BASE no revision.
    """

    def __init__(self, config: pytest.Config) -> None:
        for number, title in enumerate(tiers.TITLES):
            config.addinivalue_line("markers", f"tier{number}: {title}")
        try:
            self.wanted = tiers.parsed(config.getoption("--tier"))
            base = os.environ.get("BASE")
            self.skipped = tiers.untouched(tiers.touched_since(base)) if base else frozenset[str]()
        except tiers.TierError as error:
            raise pytest.UsageError(str(error)) from None
        self.sample: int = config.getoption("--sample")
        self.long = config.getoption("--long") or ("drawn" if is_whole(config) else "all")
        self.times: bool = config.getoption("--times")
        self.seconds: dict[str, float] = {}
        self.left_out: dict[str, int] = {}
        self.failed: set[str] = set()
        self.passed: set[str] = set()  # texts
        self.others: list[dict[str, Any]] = []  # counts of workers
        self.records: bool = config.getoption("--record")
        self.compiler = recorded.compiler_name()
        compiles_all = config.getoption("--no-record")
        self.known = frozenset[str]() if compiles_all else recorded.read(self.compiler)
        # The texts that processes compile, which tests start: those of all workers in one folder.
        self.sink = tiers.ROOT / "build" / "recorded" if self.records else None
        if self.sink is not None and not hasattr(config, "workerinput"):
            shutil.rmtree(self.sink, ignore_errors=True)
            self.sink.mkdir(parents=True)
        self.recorded = recorded.install(self.known, self.sink)
        self.draw = tiers.draw()

    # Which tests

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out files of other tiers, and folders that are as they were, unimported."""
        path = collection_path.relative_to(tiers.ROOT).as_posix()
        if not path.startswith("tests/") or collection_path.suffix not in ("", ".py"):
            return None
        if path in self.skipped:
            self.left_out[f"{path}, unchanged since BASE"] = 0
            return True
        wanted = tiers.LAST in self.wanted or tiers.tiers_under(path) & self.wanted
        return None if wanted else True

    @pytest.hookimpl(trylast=True)  # after tests have been left out by their marks
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Leave out tests of other tiers, those of Taichi elsewhere, and those no sample has."""
        kept: list[pytest.Item] = []
        for item in items:
            marks = {mark.name for mark in item.iter_markers()}
            path = item.path.relative_to(tiers.ROOT).as_posix()
            tier = tiers.tier_of_test(path, marks)
            item.add_marker(f"tier{tier}")
            if chosen() != "taichi" and "taichi" in marks:
                reason = f"is about Taichi itself, and kernels run on {chosen()}"
                item.add_marker(pytest.mark.skip(reason=reason))
            if tier in self.wanted:
                kept.append(item)
            else:
                title = f"tier {tier} ({tiers.TITLES[tier]})"
                self.left_out[title] = self.left_out.get(title, 0) + 1
        kept = self._without_long(kept)
        if self.sample > 1:
            files: dict[Path, list[pytest.Item]] = {}
            for item in kept:
                if not item.get_closest_marker("skip"):
                    files.setdefault(item.path, []).append(item)
            kept = [item for of_file in files.values() for item in of_file[:: self.sample]]
        if (seed := config.getoption("--shuffle")) is not None:
            random.Random(seed).shuffle(kept)
        if len(kept) < len(items):
            stays = {*kept}
            config.hook.pytest_deselected(items=[item for item in items if item not in stays])
        items[:] = kept

    def _without_long(self, items: list[pytest.Item]) -> list[pytest.Item]:
        if self.long == "all":
            return items
        usual = [item.nodeid for item in items if not item.get_closest_marker("always")]
        out = lengths.left_out(usual, self.draw if self.long == "drawn" else None)
        if out:
            drawn = f", others drawn by DRAW={self.draw[:12]}" if self.long == "drawn" else ""
            self.left_out[f"long (over {lengths.SECONDS} s){drawn}"] = len(out)
        return [item for item in items if item.nodeid not in out]

    # Which programs

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Say what a test needs compiled, and keep the texts of those that pass."""
        self.recorded.test += 1
        self.recorded.compiles = (
            not self.known
            or item.get_closest_marker("compiled") is not None
            or tiers.is_drawn(item.nodeid, self.draw, recorded.ONE_IN)
        )
        recorded.hand_on(self.recorded)
        self.recorded.each = item.get_closest_marker(f"tier{tiers.CODE}") is not None
        self.recorded.noted.clear()
        result = yield
        if item.nodeid not in self.failed:
            self.passed |= self.recorded.noted
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note which tests have failed, and how long they took."""
        if report.failed:
            self.failed.add(report.nodeid)
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    # What it says

    def _counts(self) -> dict[str, Any]:
        passed = sorted(self.passed) if self.records else []
        return {"left_out": self.left_out, "passed": passed, **asdict(self.recorded.counts)}

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Hand the counts of a worker to the process that has started it."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["counts"] = self._counts()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the counts of a worker, unless it has crashed."""
        counts = getattr(node, "workeroutput", {}).get("counts")
        if counts is not None:
            self.others.append(counts)

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int
    ) -> None:
        """Say what was left out, a line for each, and write the record if that is wanted."""
        say = terminalreporter.write_line
        all_counts = self.others or [self._counts()]
        for title, count in sorted(all_counts[0]["left_out"].items()):
            say(f"left out: {title}" + (f": {count} tests" if count else ""))
        compiled, by_meaning = (sum(one[n] for one in all_counts) for n in ("compiled", "recorded"))
        say(
            f"compiled {compiled} texts; left out {by_meaning} of the record, which ran by their "
            f"meaning; 1 test in {recorded.ONE_IN} compiles all, by DRAW={self.draw[:12]}"
        )
        if self.times:
            lengths.write(lengths.read() | lengths.means(self.seconds))
            say(f"{len(lengths.read())} long functions of tests")
        if self.records:
            passed = {key for one in all_counts for key in one["passed"]}
            assert self.sink is not None
            passed |= {file.name for file in self.sink.iterdir()}
            # What an earlier version has emitted goes where all tests have compiled all programs.
            kept = self.known if exitstatus == 0 else recorded.read(self.compiler)
            recorded.write(self.compiler, kept | passed)
            say(f"recorded {len(passed)} texts of {self.compiler}")
