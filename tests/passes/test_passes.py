"""Every case of every file: the text of the result, its legality, and what it computes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import difftile
from difftile.ir.parse import parse
from difftile.ops.check import check
from difftile.ops.table import OPS
from tests.passes import cases
from tests.passes.cases import Case
from tests.passes.table import COVERED, PASSES, run

FILES = sorted(path.stem for path in cases.FOLDER.glob("*.txt"))
CASES = {file: cases.read(file) for file in FILES}


@pytest.mark.parametrize(
    "case",
    [one for file in FILES for one in CASES[file]],
    ids=lambda one: f"{one.file}-{one.title}",
)
def test_case(case: Case, request: pytest.FixtureRequest) -> None:
    program = check(parse(case.before, OPS))
    result = run(PASSES[case.file], program, case.options)
    for one in result.programs:
        check(one)
    if result.check is not None:
        result.check()
    params = {p.name for p in program.params}
    unknown = set(case.options.given) - case.options.used - params
    assert not unknown, f"no pass asked for the options {sorted(unknown)}"
    if request.config.getoption("--update-golden"):
        case.after = result.text
        cases.write(case.file, CASES[case.file])
    assert case.after == result.text


def test_titles_are_sentences_that_occur_once() -> None:
    titles = Counter(case.title for file in FILES for case in CASES[file])
    assert [title for title, count in titles.items() if count > 1] == []
    assert [title for title in titles if not title[0].isupper() or title.endswith(".")] == []


def test_every_pass_has_cases() -> None:
    root = Path(difftile.__file__).parent
    modules = {
        path.stem
        for package in ("passes", "ad")
        for path in (root / package).glob("*.py")
        if not path.stem.startswith("_")
    }
    assert set(PASSES) == set(FILES)
    assert set(PASSES) | set(COVERED) == modules
    assert set(COVERED.values()) <= set(PASSES)


def test_there_are_many_cases() -> None:
    assert sum(len(CASES[file]) for file in FILES) >= 150
