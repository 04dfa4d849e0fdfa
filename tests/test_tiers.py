"""Which tests a run has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import tiers

ROOT = Path(__file__).parent.parent


def test_tiers_are_named_by_numbers_and_ranges() -> None:
    assert tiers.parsed("0-3") == {0, 1, 2, 3}
    assert tiers.parsed("0,2-3") == {0, 2, 3}


@pytest.mark.parametrize("text", ["5", "x", "", "0-", "-1", "0-5", "2,"])
def test_other_tiers_are_refused_in_one_line(text: str) -> None:
    with pytest.raises(tiers.TierError) as caught:
        tiers.parsed(text)
    assert "\n" not in str(caught.value) and "tiers 0 to 4" in str(caught.value)


def test_every_path_of_the_table_is_there() -> None:
    assert [path for path in (*tiers.PATHS, *tiers.ABOUT) if not (ROOT / path).exists()] == []


def test_files_belong_to_the_tier_of_the_longest_path() -> None:
    assert tiers.tier_of("tests/passes/test_passes.py") == tiers.MEANING
    assert tiers.tier_of("tests/runtime/test_tape.py") == tiers.RUNTIME
    assert tiers.tier_of_test("tests/ops/test_ops.py", {"slow"}) == tiers.LAST
    assert tiers.tiers_under("tests/viewer") == {tiers.VILLAGE}
    assert tiers.tiers_under("tests") == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("changed", "runs"),
    [
        ("README.md", set()),
        ("docs/tape.md", set()),
        ("pyproject.toml", {*tiers.ABOUT}),
        ("tests/harness.py", {*tiers.ABOUT}),
        ("tests/runtime/test_tape.py", set()),
        ("tests/viewer/screen.py", {"tests/viewer"}),
        ("difftile/ir/nodes.py", {*tiers.ABOUT} - {"tests/files", "tests/datasets"}),
        ("difftile/diagnostics.py", {*tiers.ABOUT}),
        ("scenes/wave.py", {"tests/gallery", "tests/newcomer"}),
        (
            "difftile/optim/adam.py",
            {*tiers.ABOUT} - {"tests/files", "tests/datasets", "tests/geometry", "tests/viewer"},
        ),
    ],
)
def test_folders_run_where_something_below_them_has_changed(changed: str, runs: set[str]) -> None:
    assert {*tiers.ABOUT} - tiers.untouched({changed}) == runs


def _run(*options: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *options],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **env},
    )
    return done.stdout + done.stderr


def test_bad_options_are_one_line() -> None:
    assert "--tier 7: there are tiers 0 to 4" in _run("--tier", "7", "tests/test_tiers.py")
    assert "BASE=nowhere: no revision" in _run("tests/test_tiers.py", BASE="nowhere")
