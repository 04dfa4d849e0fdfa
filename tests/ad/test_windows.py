"""Adjoints of loops in windows: logs that do not fit into the memory of a tape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.recording import replay, windows


@dt.kernel
def sweeps(x: Any, b: Any, n: int) -> None:
    ti.loop_config(serialize=True)
    for k in range(n):
        for i in range(1, x.shape[0] - 1):
            x[i] = ti.sin(x[i - 1]) + 0.3 * x[i] * x[i + 1] + b[i] * (k + 1)


@dt.kernel
def carrying(x: Any, b: Any, n: int) -> None:
    s = 0.5
    count = 0
    rising = True
    ti.loop_config(serialize=True)
    for k in range(n):
        i = (k + count) % x.shape[0]
        if x[i] > 0.3:
            count += 1
            rising = not rising
        s = ti.cos(s * x[i]) + b[i]
        x[i] = s * x[(i + 1) % x.shape[0]] if rising else s * s


@dt.kernel
def rows(x: Any, b: Any, n: int) -> None:
    for i in range(x.shape[0] // 3):
        for _ in range(n):
            for j in range(3 * i, 3 * i + 2):
                x[j + 1] = ti.sin(x[j]) * b[j] + x[j + 1] * x[j]


@dt.kernel
def ordered(x: Any, b: Any, n: int) -> None:
    """A while, which has no windows."""
    k = 0
    ti.loop_config(serialize=True)
    while k < n:
        x[k % 3] = x[k % 3] * x[(k + 1) % 3] + b[k % 3]
        k += 1


CASES = [(sweeps, 12), (carrying, 40), (rows, 6)]


def gradients(kernel: Any, n: int, **options: Any) -> tuple[list[np.ndarray], dt.Tape]:
    rng = np.random.default_rng(3)
    x, b = (dt.from_numpy(rng.uniform(0.1, 0.9, 9), grad=True) for _ in range(2))
    with dt.Tape(**options) as tape:
        kernel(x, b, n)
        kernel(x, b, n)
    tape.backward({x: rng.uniform(0.5, 1.5, 9)})
    return [x.grad.to_numpy(), b.grad.to_numpy()], tape


def test_a_log_is_as_long_as_each_launch_asks_for() -> None:
    rng = np.random.default_rng(3)
    start, weights = rng.uniform(0.1, 0.9, 9), rng.uniform(0.5, 1.5, 9)
    x, b = dt.from_numpy(start, grad=True), dt.from_numpy(rng.uniform(0.1, 0.9, 9), grad=True)
    found: list[np.ndarray] = []
    for n in (3, 12, 3):
        for one in (x, dt.from_numpy(start, grad=True)):  # launches of one field go on
            one.from_numpy(start)
            with dt.Tape() as tape:
                sweeps(one, b, n)
            tape.backward({one: weights})
            found.append(one.grad.to_numpy())
    for again, anew in zip(found[::2], found[1::2], strict=True):
        np.testing.assert_allclose(again, anew, rtol=1e-14)
    np.testing.assert_array_equal(found[0], found[4])


@pytest.mark.parametrize(("kernel", "n"), CASES, ids=lambda one: getattr(one, "__name__", ""))
@pytest.mark.parametrize("share", [0.9, 0.4, 0.1])
def test_windows_change_nothing(
    kernel: Any, n: int, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, _ = gradients(kernel, n)
    lengths: list[int] = []

    def length(count: int, nbytes: int, state: int, room: float) -> int:
        lengths.append(max(1, int(share * count)))
        return lengths[-1]

    monkeypatch.setattr(windows, "_length", length)
    monkeypatch.setattr(windows._Windows, "_check", lambda *_: None)
    monkeypatch.setattr(replay, "LOG_BYTES", 0)
    monkeypatch.setattr("difftile.recording.history.LOG_BYTES", 0)
    found, _ = gradients(kernel, n)
    assert len(lengths) == 2
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, 1e-13, 1e-13)


def test_a_loop_without_windows_keeps_its_whole_log(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, _ = gradients(ordered, 9)
    monkeypatch.setattr("difftile.recording.history.LOG_BYTES", 0)
    found, _ = gradients(ordered, 9)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("memory", [12_000, 30_000])
def test_a_log_keeps_within_the_memory_of_the_tape(memory: int) -> None:
    rng = np.random.default_rng(3)

    def run(**options: Any) -> tuple[np.ndarray, dt.Tape]:
        x = dt.from_numpy(np.linspace(0.1, 0.9, 20), grad=True)
        b = dt.from_numpy(np.linspace(0.0, 0.2, 20), grad=True)
        with dt.Tape(**options) as tape:
            sweeps(x, b, 300)
        tape.backward({x: 1.0})
        return b.grad.to_numpy(), tape

    expected, whole = run()
    found, tape = run(memory=memory)
    np.testing.assert_allclose(found, expected, 1e-12)
    assert tape.peak_nbytes <= memory < whole.peak_nbytes
    del rng


def test_too_little_memory_is_refused_with_what_it_takes() -> None:
    x, b = dt.full(20, 0.5, grad=True), dt.zeros(20, grad=True)
    with dt.Tape(memory=900) as tape:
        sweeps(x, b, 300)
    with pytest.raises(dt.TapeError, match="is too small: to reverse its loop takes"):
        tape.backward({x: 1.0})


@pytest.mark.parametrize(
    ("count", "nbytes", "state", "room"),
    [(100, 10_000, 50, 2_000), (7, 7_000, 10, 1_100), (1_000, 8_000, 400, 10**9), (5, 50, 0, 20)],
)
def test_windows_are_as_long_as_the_room_allows(
    count: int, nbytes: int, state: int, room: float
) -> None:
    def taken(length: int) -> float:
        return length * nbytes / count + -(-count // length) * state

    found = windows._length(count, nbytes, state, room)
    fitting = [k for k in range(1, count + 1) if taken(k) <= room]
    assert found == max(fitting) if fitting else taken(found) <= min(map(taken, range(1, count)))
