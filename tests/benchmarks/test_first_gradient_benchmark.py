"""`benchmarks/first_gradient.py` measures each program in processes of its own."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

from benchmarks import first_gradient, first_step
from benchmarks.first_gradient import PARTS, PEERS, PROGRAMS, compare, report

pytestmark = pytest.mark.taichi

INSTALLED = [name for name in ("jax",) if find_spec(name)]


def test_a_row_is_split_and_compared(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["--quick", "--only", "gmm", "--peers", "taichi", *INSTALLED]
    assert first_gradient.main(argv) == 0
    head, cold, warm = capsys.readouterr().out.splitlines()
    assert head.split() == [
        *PARTS,
        *(word for one in ("taichi", *INSTALLED) for word in (one, "ratio")),
    ]
    for line, state in ((cold, "cold"), (warm, "warm")):
        name, of, start, compiler, ours, total, taichi, *_ = line.split()
        assert (name, of, taichi[-1]) == ("gmm", state, "*")
        assert float(start) + float(compiler) + float(ours) == pytest.approx(float(total), abs=0.02)


def test_all_programs_have_a_module() -> None:
    for program in PROGRAMS:
        assert callable(import_module(f"benchmarks.first_rows.{program}").run)
    assert all(set(programs) <= set(PROGRAMS) for programs in PEERS.values())


def test_other_results_end_the_benchmark() -> None:
    compare("x", [1.0], [1.0, 2.0])  # of a side that has only the value
    for wrong in (1.1, float("nan")):
        with pytest.raises(SystemExit, match=r"^x: "):
            compare("x", [1.0, wrong], [1.0, 1.0])


def test_the_table_has_ratios_of_totals() -> None:
    sides = ["difftile", "/other/checkout", "jax"]
    found = {
        ("gmm", side, state, part): seconds
        for side, seconds in zip(sides, (1.0, 2.0, 4.0), strict=True)
        for state in ("cold", "warm")
        for part in PARTS
    }
    head, cold, warm = report(found, ["gmm"], sides).splitlines()
    assert head.split() == [*PARTS, "checkout", "ratio", "jax", "ratio"]
    assert cold.split() == ["gmm", "cold", *4 * ["1.00"], "2.00", "0.50", "4.00", "0.25"]
    assert warm.split()[1:] == ["warm", *cold.split()[2:]]


def test_first_steps_have_a_line_for_each_state(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def apart(name: str, kind: str, cache: str) -> dict[str, Any]:
        parts = {part: float(k) for k, part in enumerate(first_step.PARTS)}
        return {"parts": parts, "sizes": [6, 8], "lines": 1689}

    monkeypatch.setattr(first_step, "apart", apart)
    assert first_step.main(["models/hopper.xml"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["nv", "slots", "lines", *first_step.PARTS]
    times = ["0.00", "1.00", "2.00", "3.00", "4.00"]
    assert [line.split() for line in lines] == [
        ["hopper", "6", "8", kind, "1689", state, *times]
        for kind in ("step", "gradient")
        for state in ("cold", "warm")
    ]
