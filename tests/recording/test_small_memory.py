"""Tapes with little memory, whose kernels run as Python: windows of loops, room for snapshots."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile.recording import windows
from tests.ad.test_windows import carrying, gradients, rows, sweeps
from tests.recording.test_tape_memory import Run, energy, step


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
