"""The benchmark of bridges: how it times and what it prints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import interop
from benchmarks.interop_rows.row import Row, Sides, timed


def spending(microseconds: float) -> interop.Timed:
    return lambda calls: 1e-6 * microseconds * calls


def test_a_row_is_the_difference_of_its_sides_beside_its_target() -> None:
    sides = Sides(spending(20.0), spending(32.0), {"by hand": spending(90.0)})
    row = Row("a call", lambda: sides, most=15.0)
    times = interop.measure(row.make(), 3, 1e-3)
    assert {name: len(of) for name, of in times.items()} == {"alone": 3, "bridged": 3, "by hand": 3}
    first, second = interop.lines_of(row, times)
    assert first.split() == ["a", "call", "20.0", "32.0", "12.0", "<=", "15"]
    assert second.split() == ["by", "hand", "90.0"]
    assert interop.lines_of(Row("a call", lambda: sides, 11.0), times)[0].endswith(">  11")


def test_turns_are_as_long_as_asked_for() -> None:
    assert interop.calls_within(spending(100.0), 0.02) == 200
    assert interop.calls_within(spending(1e6), 0.02) == 1


def test_what_runs_before_a_call_is_not_timed() -> None:
    order: list[str] = []
    clock = timed(lambda: order.append("call"), before=lambda: order.append("before"))
    assert clock(2) > 0
    assert order == ["before", "call"] * 2


def test_a_missing_library_is_named_and_the_rest_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def rows(group: str) -> dict[str, Row]:
        if group == "torch_ops":
            raise ModuleNotFoundError(name="torch")
        return {"call": Row("a call", lambda: Sides(spending(1.0), spending(2.0)))}

    monkeypatch.setattr(interop, "rows_of", rows)
    monkeypatch.setattr(interop.dt, "init", lambda **_: None)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert interop.main(["--quick", "--groups", "torch_ops", "jax_ops"]) == 0
    said = capsys.readouterr().out
    assert "not measured: torch is not installed" in said
    assert "a call" in said


def test_each_module_of_rows_is_a_group() -> None:
    folder = Path(interop.__file__).parent / "interop_rows"
    assert {file.stem for file in folder.glob("[!_]*.py")} - {"row"} == set(interop.GROUPS)
