"""The picture of a tape: folding, contents, and written files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import difftile as dt
from difftile.diagnosis.trace import Item, RepeatedItems, Trace
from difftile.launch.run import Run
from difftile.runtime.perform_run import perform_run


@dt.kernel
def swing(x, v):
    for i in x:
        v[i] -= 0.1 * x[i] * x[i]
    for i in x:
        x[i] += 0.1 * v[i]


@dt.kernel
def energy(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


def recorded(steps: int, **options: Any) -> tuple[dt.Tape, dt.Field]:
    x, v, loss = dt.ones(4, grad=True), dt.zeros(4, grad=True), dt.zeros((), grad=True)
    with dt.Tape(**options) as tape:
        for _ in range(steps):
            v.fill(1.0)
            for _ in range(3):
                swing(x, v)
        energy(x, loss)
    return tape, loss


def trace_of(tape: dt.Tape) -> Trace:
    return Trace(tape._recorder.history.steps())


def test_repetitions_are_folded_within_one_another() -> None:
    tape, _ = recorded(5)
    trace = trace_of(tape)
    assert [name for name, _ in trace.rows()] == ["v", "x", "loss"]
    steps, last = trace.folded()
    assert isinstance(steps, RepeatedItems) and isinstance(last, Item)
    assert steps.times == 5
    write, inner = steps.body
    assert isinstance(write, Item) and isinstance(inner, RepeatedItems)
    assert (write.name, inner.times) == ("write", 3)
    (launch,) = inner.body
    assert isinstance(launch, Item)
    assert (launch.name, len(launch.launches)) == ("swing", 15)
    assert launch.reads == launch.writes == {0, 1}
    assert launch.nbytes == tape.nbytes > 0


def test_a_long_tape_is_folded_fast() -> None:
    tape, _ = recorded(3000)
    assert len(trace_of(tape).folded()) == 2
    tape.release()


@pytest.mark.parametrize("options", [{}, {"memory": 200}, {"measure": True}])
@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_pictures_are_written(tmp_path: Path, options: dict[str, Any], suffix: str) -> None:
    tape, loss = recorded(20, **options)
    path = tmp_path / f"tape{suffix}"
    tape.visualize(path)
    first = path.read_bytes()
    assert first.startswith(b"\x89PNG" if suffix == ".png" else b"<?xml")
    tape.backward(loss)
    if "measure" not in options:
        with pytest.raises(dt.TapeError, match="make the tape with measure=True"):
            tape.visualize(path)
        return
    tape.visualize(str(path))
    assert path.read_bytes() != first  # now with the times of the adjoints


def test_a_program_without_repetition_is_shown_in_part(tmp_path: Path) -> None:
    fields = [dt.ones(2, grad=True) for _ in range(60)]
    with dt.Tape() as tape:
        for x, v in zip(fields[1:], fields[:-1], strict=True):
            swing(x, v)
    tape.visualize(tmp_path / "tape.png")


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    tape, _ = recorded(1)
    with pytest.raises(dt.TapeError, match=r"writes a \.png or an \.svg file, not 'tape.pdf'"):
        tape.visualize("tape.pdf")
    with dt.Tape() as empty:
        pass
    with pytest.raises(dt.TapeError, match="recorded nothing"):
        empty.visualize(tmp_path / "tape.png")


def test_a_fused_run_is_drawn_as_its_launches() -> None:
    found: list[Item] = []
    for count in (8, 1):
        x, v = dt.ones(4, grad=True), dt.zeros(4, grad=True)
        launch, values = swing._ready((x, v), {})
        with dt.Tape() as tape:
            for _ in range(8 // count):
                perform_run(Run((launch,), (values,), count, {}))
        if count > 1:
            assert len(list(tape._recorder.history.steps())) == 1, "the run was not fused"
        (loop,) = trace_of(tape).folded()
        assert isinstance(loop, RepeatedItems) and loop.times == 8
        (item,) = loop.body
        assert isinstance(item, Item)
        assert item.nbytes == tape.nbytes > 0
        found.append(item)
    fused, plain = found
    assert (fused.name, fused.reads, fused.writes) == (plain.name, plain.reads, plain.writes)
    assert fused.kept == plain.kept
    assert len(fused.launches) == len(plain.launches) == 8


def test_what_two_launches_keep_is_counted_once() -> None:
    x, y = dt.ones(4, grad=True), dt.zeros((), grad=True)
    with dt.Tape() as tape:
        energy(x, y)
        energy(x, y)
        x.fill(2.0)
    items = trace_of(tape).items
    assert sum(item.nbytes for item in items) == tape.nbytes > 0
