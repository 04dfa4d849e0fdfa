"""The plan for 64 ranks: its numbers on the page, and its limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.ranks_plan import STEPS, all_reduce, cost, table

PAGE = (Path(__file__).parents[2] / "docs" / "performance.md").read_text(encoding="utf-8")


def test_the_page_quotes_the_plan() -> None:
    assert "\n".join(table()) in PAGE
    assert f"{1e3 * all_reduce(100e6, 64):.1f} ms" in PAGE


def test_communication_vanishes_beside_large_boxes_and_dominates_small_ones() -> None:
    wave = STEPS[0]
    small, large = (replace(wave, faces=((n**2, 4),)) for n in (32, 4096))
    assert cost(small, 1.0).exposed < 2e-4 and cost(small, 1.0).face == 4 * 32**2
    assert cost(large, 1e-6).exposed > 1e-3  # messages that the interior does not hide
    assert cost(large, 1.0).exposed < cost(large, 1e-6).exposed < cost(large, 1.0).seconds + 1.0


def test_an_all_reduce_of_one_rank_takes_no_time() -> None:
    assert all_reduce(100e6, 1) == 0.0
