"""The constructs of docs/peers.md in difftile; `benchmarks/constructs.py` has the kernels."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import difftile as dt
from benchmarks.constructs import CASES, Case, run_in_difftile

PAGE = Path(__file__).parents[2] / "docs" / "peers.md"


@pytest.mark.parametrize("one", CASES, ids=[one.construct for one in CASES])
def test_a_construct_is_right(one: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dt.GradientCut)  # of casts and integers
        assert run_in_difftile(one) == "right"


def test_the_page_names_nothing_refused() -> None:
    page = PAGE.read_text(encoding="utf-8").partition("## Construct by construct")[2]
    table = page.partition("## Where difftile refuses")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]
    assert len(rows) > 30
    assert not [row[0] for row in rows if row[-1].startswith("refused")]
