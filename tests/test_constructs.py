"""The constructs of docs/peers.md in difftile; `benchmarks/constructs.py` has the kernels."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import difftile as dt
from benchmarks.constructs import CASES, Case, run_in_difftile

PAGE = Path(__file__).parents[1] / "docs" / "peers.md"
REFUSED = {
    "vector as an argument": ("Vectors as arguments from Python", "'g' is a Vector"),
}
"""What is refused: its row on the page, and a part of the message."""


@pytest.mark.parametrize("one", CASES, ids=[one.construct for one in CASES])
def test_a_construct_is_right_or_refused(one: Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dt.GradientCut)  # of casts and integers
        found = run_in_difftile(one)
    if one.construct in REFUSED:
        assert found.startswith("refuses: ")
        assert REFUSED[one.construct][1] in found
    else:
        assert found == "right"


def test_the_page_says_what_is_refused() -> None:
    page = PAGE.read_text(encoding="utf-8").partition("## Construct by construct")[2]
    table = page.partition("## Where difftile refuses")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]
    refused = {row[0] for row in rows if row[-1].startswith("refused")}
    assert refused == {title for title, _ in REFUSED.values()}
