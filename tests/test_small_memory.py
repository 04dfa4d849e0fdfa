"""Tapes with little memory, whose kernels run as Python: windows of loops, room for snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.recording import windows
from tests.test_tape_memory import Run, energy, step
from tests.test_windows import carrying, gradients, rows, sweeps


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@pytest.mark.parametrize("kernel", [sweeps, carrying, rows], ids=lambda one: one.__name__)
def test_gradients_in_windows_are_those_of_the_whole_loop(
    kernel: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, _ = gradients(kernel, 5)
    monkeypatch.setattr(windows, "_length", lambda *_: 2)
    monkeypatch.setattr(windows._Windows, "_check", lambda *_: None)
    monkeypatch.setattr("difftile.recording.replay.LOG_BYTES", 0)
    monkeypatch.setattr("difftile.recording.history.LOG_BYTES", 0)
    found, _ = gradients(kernel, 5)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, 1e-13, 1e-13)


@pytest.mark.parametrize("memory", [800, 1400, 3000])
def test_snapshots_leave_half_of_the_memory_for_what_runs_again(memory: int) -> None:
    run = Run()
    run.start()
    with dt.Tape(run.loss, memory=memory) as tape:
        for k in range(60):
            step(run.u, run.v, run.k)
            assert k < 30 or tape.nbytes <= memory / 2  # there are no records any more
        energy(run.u, run.loss)


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


def test_a_field_of_zeros_that_a_tape_keeps_is_cleared_in_its_new_memory() -> None:
    x, y = dt.zeros(5, ti.f64, grad=True), dt.zeros(5, ti.f64, grad=True)
    with dt.Tape() as tape:
        square(x, y)  # keeps the contents of x
        others = [dt.full(5, 7.0, ti.f64) for _ in range(4)]
        kept = x.buffer
        del others  # leaves memory that is not zero
        x.fill(0.0)
        assert x.buffer is not kept
        assert x.to_numpy().tolist() == [0.0] * 5
    tape.backward({y: 1.0})
