"""Launches that wait, and several threads: each sees its own launches in order."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.runtime import queue
from tests.fusing import fusing

ROUNDS = 60


@dt.kernel
def add(x, y, a: float):
    for i in x:
        x[i] += a
    for i in y:
        y[i] = x[i] - 0.5 * y[i]


@pytest.fixture
def switching() -> Generator[None]:
    """Let Python change threads after nearly every instruction."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(2e-5)
    yield
    sys.setswitchinterval(before)


def test_a_thread_sees_its_launches_while_another_one_runs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started, perform = threading.Event(), queue.perform_fused

    def perform_slowly(run: Any) -> Any:
        started.set()
        time.sleep(0.2)  # as if a program was compiled
        return perform(run)

    monkeypatch.setattr(queue, "perform_fused", perform_slowly)
    x, y = dt.zeros(4, ti.f64), dt.zeros(4, ti.f64)
    with fusing("always"):
        for _ in range(10):
            add(x, y, 1.0)
        reader = threading.Thread(target=y.to_numpy)
        reader.start()
        assert started.wait(60)
        seen = x.to_numpy()
        reader.join()
    assert seen.tolist() == [10.0] * 4


@pytest.mark.usefixtures("switching")
@pytest.mark.parametrize("taped", [False, True])
def test_threads_that_launch_and_read_at_once(taped: bool) -> None:
    wrong: list[str] = []
    shared = dt.zeros(4, ti.f64)

    def work(number: int) -> None:
        try:
            x, y = dt.zeros(4, ti.f64, grad=taped), dt.zeros(4, ti.f64, grad=taped)
            loss = dt.zeros((), ti.f64, grad=True)
            for k in range(ROUNDS):
                x.fill(0.0)
                y.fill(0.0)
                if taped:
                    with dt.Tape() as tape:
                        for _ in range(9):
                            add(x, y, 0.5)
                    tape.backward({x: np.ones(4)})
                    if x.grad[1] != 1.0:
                        wrong.append(f"gradient {x.grad.to_numpy()} in round {k}")
                else:
                    for _ in range(9):
                        add(x, y, 0.5)
                    shared.to_numpy()  # runs what any thread has noted
                if x[1] != 4.5:
                    wrong.append(f"thread {number} sees {x.to_numpy()} in round {k}")
            assert loss[None] == 0
        except BaseException as error:
            wrong.append(f"thread {number}: {type(error).__name__}: {error}")

    with fusing("always"):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert not wrong, "\n".join(wrong[:5])
