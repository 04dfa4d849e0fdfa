"""The parts that run tests with a fault: exchanging code, order, limits, results."""

from __future__ import annotations

import ast
import os
import resource
import textwrap
import time
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from tests.faults import reach, results
from tests.faults.children import share, watch
from tests.faults.entries import Fault, Hunk
from tests.faults.order import changed_blocks, ordered
from tests.faults.probes import block_starts, instrument
from tests.faults.reach import Known, blocks_of
from tests.faults.results import Verdict
from tests.faults.session import fork
from tests.faults.swap import NotHere, exchanges

TOY = """
from functools import cache

LIMIT = 3
ROWS = {"double": lambda x: 2 * x, "half": lambda x: x / 2}


def clip(x, most=LIMIT):
    if x > most:
        return most
    return x


@cache
def cached(x):
    return [y + 1 for y in range(x)]


class Box:
    size = 1

    def grow(self):
        self.size += 1
        return self.size


def adder(n):
    def add(x):
        return x + n

    return add


one_more = adder(1)
"""


def _planted(old: str, new: str) -> dict[str, Any]:
    """Run the toy module, and change a line of it afterwards."""
    assert TOY.count(old) == 1
    names: dict[str, Any] = {}
    exec(compile(TOY, "toy.py", "exec", dont_inherit=True), names)
    held = [names["cached"].__wrapped__, names["Box"].grow, *names["ROWS"].values()]
    functions = [*held, names["clip"], names["adder"], names["one_more"]]
    assert all(isinstance(one, FunctionType) for one in functions)
    for one in exchanges(TOY, TOY.replace(old, new), "toy.py", {"toy.py": functions}):
        one.function.__code__ = one.code  # pyrefly: ignore[read-only]
    return names


def test_code_is_exchanged_where_a_function_changes() -> None:
    assert _planted("x > most", "x >= most - 1")["clip"](2) == 3
    assert _planted("y + 1", "y + 2")["cached"](2) == [2, 3]
    assert _planted("self.size += 1", "self.size += 2")["Box"]().grow() == 3
    assert _planted("2 * x", "3 * x")["ROWS"]["double"](1) == 3
    assert _planted("2 * x", "3 * x")["ROWS"]["half"](2) == 1


def test_functions_that_a_changed_one_has_made_before_change_too() -> None:
    planted = _planted("return x + n", "return x - n")
    assert planted["one_more"](1) == 0
    assert planted["adder"](1)(1) == 0


def test_functions_below_only_move() -> None:
    moved = _planted("        return most\n", "        # more\n        return most + 1\n")
    assert moved["clip"](5) == 4
    assert moved["Box"]().grow() == 2
    assert moved["one_more"](1) == 2
    line = TOY[: TOY.index("def adder")].count("\n") + 2
    assert moved["adder"].__code__.co_firstlineno == line


@pytest.mark.parametrize(
    "old, new",
    [
        ("LIMIT = 3", "LIMIT = 4"),  # a value that others have imported
        ("most=LIMIT", "most=2"),  # a default
        ("size = 1", "size = 2"),
        ("def clip", "@cache\ndef clip"),
        ("one_more = adder(1)", "one_more = adder(2)"),
        ("def grow", "def grown"),
    ],
)
def test_more_than_functions_needs_another_process(old: str, new: str) -> None:
    with pytest.raises(NotHere):
        _planted(old, new)


def test_a_function_that_is_not_at_hand_needs_another_process() -> None:
    with pytest.raises(NotHere, match="clip is not at hand"):
        exchanges(TOY, TOY.replace("x > most", "x < most"), "toy.py", {})


BRANCHES = textwrap.dedent("""
    def f(x):
        "Text."
        if x > 0:
            return 1
        for k in range(x, 0):
            x += k
        else:
            x = 3
        return (lambda y: y)(
            x)


    g = lambda x: x + 1
    """)


def test_probes_tell_which_blocks_run(monkeypatch: pytest.MonkeyPatch) -> None:
    reached = bytearray(20)
    tree = instrument(ast.parse(BRANCHES), "toy.py")
    names: dict[str, Any] = {"__probes_of_toy_py__": reached}
    exec(compile(tree, "toy.py", "exec"), names)

    def lines() -> list[int]:
        found = [k for k, hit in enumerate(reached) if hit]
        reached[:] = bytes(20)
        return found

    assert lines() == []
    assert names["f"](1) == 1
    assert lines() == [4, 5]
    assert names["f"](0) == 3
    assert lines() == [4, 6, 9, 10]
    assert names["f"](-1) == 3
    assert lines() == [4, 6, 7, 9, 10]
    assert names["g"](1) == 2
    assert lines() == [14]
    assert block_starts(ast.parse(BRANCHES)) == [4, 5, 6, 7, 9, 10, 14]


def test_files_of_tests_that_are_gone_are_in_no_map(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"ROOT": tmp_path, "FOLDER": tmp_path / "map"}.items():
        monkeypatch.setattr(reach, name, value)
    for name, found in {"tree": "now", "columns": (), "_read_table": []}.items():
        monkeypatch.setattr(reach, name, lambda *_, found=found: found)
    for file in ("test_here.py", "test_gone.py"):
        (tmp_path / file).touch()
        known = {f"{file}::test": Known(0.1, True, False, 0)}
        reach.write_part("usual", file, known, [np.zeros(0, np.uint8)])
    (tmp_path / "test_gone.py").unlink()
    assert [*reach.Map("usual").tests] == ["test_here.py::test"]


def test_a_change_is_in_the_blocks_of_its_lines() -> None:
    blocks = {block.line: block for block in blocks_of(BRANCHES, "toy.py")}
    assert {block.function for block in blocks.values()} == {"f", "<lambda>"}

    def changed(old: str, new: str) -> set[int]:
        return {b.line for b in changed_blocks(BRANCHES, BRANCHES.replace(old, new), "toy.py")}

    assert changed("x > 0", "x < 0") == {4}
    assert changed("x = 3", "x = 4") == {9}
    assert changed("        x += k\n", "        x += k\n        x += 1\n") == {6, 7}
    assert changed("x + 1", "x + 2") == {14}
    assert changed("def f(x)", "def f(x=1)") == set()
    after = "def f(x):\n    if x:\n        x = 1\n    return x\n"
    (one,) = changed_blocks(after, after.replace("return x", "return 2"), "toy.py")
    assert one.line == 2  # behind the branch the block goes on
    branch = "def f(x):\n    if x:\n        x = 1\n        x += 1\n    return x\n"
    left = changed_blocks(branch, branch.replace("        x += 1", "    x += 1"), "toy.py")
    assert {block.line for block in left} == {2, 3}


def test_short_tests_of_the_same_name_and_one_of_each_function_come_first() -> None:
    fault = Fault("sum-lost", "", (Hunk("difftile/ad/reverse.py", "a\n", "b\n"),), "ad.txt")
    tests = {
        "tests/test_x.py::test_long": Known(9.0, True, False, 100),
        "tests/test_x.py::test_short[1]": Known(0.1, True, False, 100),
        "tests/test_x.py::test_short[2]": Known(0.1, True, False, 100),
        "tests/test_x.py::test_everything": Known(0.1, True, False, 9000),
        "tests/test_x.py::test_reverse": Known(0.2, True, False, 100),
    }
    order = [name.partition("::test_")[2] for name in ordered(fault, tests, tests)]
    assert order == ["reverse", "short[1]", "everything", "long", "short[2]"]


def test_all_tests_that_are_about_the_changed_file_come_first() -> None:
    fault = Fault("sum-lost", "", (Hunk("difftile/ad/reverse.py", "a\n", "b\n"),), "ad.txt")
    names = [
        *("tests/test_x.py::test_it[1]", "tests/test_x.py::test_it[2]"),
        *(f"tests/passes/test_passes.py::test_case[{of}]" for of in ("dce-a", "reverse-a")),
        *("tests/passes/test_passes.py::test_case[reverse-b]", "tests/ad/test_reverse.py::test_a"),
        *("tests/test_reverse_loops.py::test_b", "tests/test_unreversed.py::test_c"),
    ]
    tests = {name: Known(0.1, True, False, 100) for name in names}
    order = [name.rpartition("_")[2] for name in ordered(fault, tests, tests)]
    about = ["a", "case[reverse-a]", "case[reverse-b]", "b"]
    assert order == [*about, "c", "it[1]", "it[2]", "case[dce-a]"]


def test_cases_that_cover_a_file_are_about_it_and_two_letters_begin_no_name() -> None:
    names = (
        "tests/passes/test_passes.py::test_case[dce-a]",
        "tests/passes/test_passes.py::test_case[interchange-b]",
        "tests/ops/test_ops.py::test_c",
    )
    tests = {name: Known(0.1 * k, True, False, 100) for k, name in enumerate(names)}
    for path, first in (("passes/shared_sums", 1), ("ops/discrete", 0), ("torch/op", 0)):
        fault = Fault("lost", "", (Hunk(f"difftile/{path}.py", "-\n", "+\n"),), "passes.txt")
        assert ordered(fault, tests, tests)[0] == names[first]


def _ends(run: Any, folder: Path, **limits: Any) -> dict[str, str]:
    pid, connection = fork(run, folder)
    usual: dict[str, Any] = {"limit": lambda _: 60.0, "budget": 60.0}
    return watch(pid, connection, **usual | limits).failed


def test_a_test_that_hangs_or_ends_its_process_has_failed(tmp_path: Path) -> None:
    def hang(connection: Any) -> None:
        connection.send(("start", "a"))
        time.sleep(60)

    def leave(connection: Any) -> None:
        connection.send(("start", "a"))
        os._exit(3)

    def grow(connection: Any) -> None:
        connection.send(("start", "a"))
        held = bytearray(b"1") * 2**29  # written, so that it is there
        time.sleep(60 + len(held))

    assert _ends(hang, tmp_path, limit=lambda _: 0.3) == {"a": "took too long"}
    assert _ends(leave, tmp_path) == {"a": "ended its process"}
    assert _ends(hang, tmp_path, budget=0.3) == {}
    if (statm := Path("/proc/self/statm")).exists():
        # A fork begins with less than what the process has that runs the tests.
        own = int(statm.read_text().split()[1]) * resource.getpagesize()
        assert _ends(grow, tmp_path, memory=own + 2**26) == {"a": "took too much memory"}


def test_work_is_shared(tmp_path: Path) -> None:
    done = dict(share(lambda x: (x * x, os.getpid()), range(20), 2, tmp_path))
    assert {x: square for x, (square, _) in done.items()} == {x: x * x for x in range(20)}
    assert os.getpid() not in {pid for _, pid in done.values()}


def _verdict(name: str, *killed_by: str) -> Verdict:
    return Verdict(name, "ad", True, killed_by=list(killed_by), seconds=2.0, reaching=3, ran=3)


def test_results_are_kept_and_compared(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    results.write(file, [_verdict("one", "t.py::f[1]"), _verdict("two")])
    results.write(file, [_verdict("two", "t.py::g")])
    ours = results.read(file)
    assert [str(one) for one in ours.values()] == [
        "killed by t.py::f[1] after 2 s",
        "killed by t.py::g after 2 s",
    ]
    theirs = {"one": _verdict("one"), "two": _verdict("two", "t.py::f")}
    assert results.compare(ours, theirs).splitlines() == [
        "killed only here: 1 of 2",
        "  one: t.py::f[1]",
        "killed only there: 0 of 2",
    ]
    assert results.table(theirs.values()).splitlines()[-1].split() == [
        "all",
        "2",
        "1",
        "50.0%",
        "4",
    ]


def test_what_needs_no_other_test() -> None:
    verdicts = [
        _verdict("one", "t.py::f[1]", "t.py::g"),
        _verdict("two", "t.py::f[2]"),
        _verdict("three", "t.py::h"),
    ]
    assert results.needless(verdicts).splitlines() == [
        "2 of 3 functions of tests kill what all of them kill:",
        "  t.py::f: 2 of its 2",
        "  t.py::h: 1 of its 1",
        "kill nothing else:",
        "  t.py::g",
    ]
