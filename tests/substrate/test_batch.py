"""Launches that wait for each other: their order, and the sequences that become graphs.

Graphs of the tests run on the host: each launch is unpacked again from the bytes that a device
would be given.
"""

from __future__ import annotations

import dataclasses
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.ir.types import shape_of
from difftile.substrate import Buffer, batch, current_session, session, start_launches
from difftile.substrate.batch import Batches, Launches, apart, batch_of
from tests.device_arrays import device_arrays
from tests.fusing import fusing

pytestmark = pytest.mark.compiled


class Kernel:
    """A kernel that notes its launches."""

    def __init__(self, number: int, log: list[Any], tasks: int = 4) -> None:
        self.number, self.log, self.tasks = number, log, tasks

    def start(self, args: Sequence[Any]) -> None:
        if args[0] == "fails":
            raise dt.LaunchError("no launch")
        self.log.append((self.number, *args))

    def packed(self, args: Sequence[Any]) -> bytes | None:
        return None if args[0] == "unpacked" else str(args[0]).encode()


class Graphs:
    """Graphs that note what they are and how often they run."""

    def __init__(self, log: list[Any], *, fails: bool = False) -> None:
        self.log, self.fails, self.made = log, fails, 0

    def make(self, launches: Launches) -> Any:
        self.made += 1
        kernels = [kernel for kernel, _ in launches]
        log = self.log

        class Graph:
            def launch(self, arguments: Sequence[bytes]) -> None:
                log.append(
                    [(k.number, a.decode()) for k, a in zip(kernels, arguments, strict=True)]
                )

        return None if self.fails else Graph()


def launch(kernel: Kernel, *args: Any) -> None:
    """Launch as kernels do."""
    if batch.OPEN.batch is None:
        kernel.start(args)
    else:
        batch.OPEN.batch.add(kernel, args)


def made(**options: Any) -> tuple[list[Any], Kernel, Kernel, Graphs, Batches]:
    log: list[Any] = []
    graphs = Graphs(log, **options)
    return log, Kernel(1, log), Kernel(2, log), graphs, Batches(graphs)


def test_a_sequence_is_a_graph_from_the_second_time_on() -> None:
    log, one, two, graphs, batches = made()
    for k in range(3):
        with batch_of(batches):
            launch(one, k)
            launch(two, k + 10)
            assert not log  # they wait
        if k == 0:
            assert log == [(1, 0), (2, 10)]
        else:
            assert log == [[(1, str(k)), (2, str(k + 10))]]
        log.clear()
    with batch_of(batches):  # another sequence
        launch(two, 0)
        launch(one, 1)
    assert log == [(2, 0), (1, 1)] and graphs.made == 1


def test_what_uses_memory_otherwise_starts_what_waits() -> None:
    log, one, _, _, batches = made()
    with batch_of(batches):
        launch(one, 1)
        start_launches()
        assert log == [(1, 1)]
        launch(one, 2)
        with apart():
            assert log == [(1, 1), (1, 2)] or log[1:] == [[(1, "2")]]
            launch(one, 3)  # at once
            assert log[-1] == (1, 3)
        with batch_of(batches):  # is part of the open one
            launch(one, 4)
        assert len(log) == 3
    assert len(log) == 4
    start_launches()
    assert len(log) == 4


def test_launches_wait_in_their_own_thread_alone() -> None:
    log, one, two, _, batches = made()
    with batch_of(batches):
        launch(one, 1)
        other = threading.Thread(target=launch, args=(two, 2))
        other.start()
        other.join()
        assert log == [(2, 2)]
    assert log == [(2, 2), (1, 1)]


def test_an_error_between_launches_lets_them_run() -> None:
    log, one, two, _, batches = made()
    with pytest.raises(ValueError, match="between"), batch_of(batches):
        launch(one, 1)
        raise ValueError("between")
    assert log == [(1, 1)]
    assert batch.OPEN.batch is None
    with pytest.raises(dt.LaunchError, match="no launch"), batch_of(batches):
        launch(two, "fails")
    assert batch.OPEN.batch is None


def test_long_sequences_are_cut_and_short_ones_left_alone(monkeypatch: Any) -> None:
    log, one, _, graphs, batches = made()
    monkeypatch.setattr(batch, "_MOST_TASKS", 12)
    with batch_of(batches):
        for k in range(10):
            launch(one, k)
        assert len(log) == 3 + 1 + 1  # launches, and two graphs of three
    assert log[3:] == [[(1, "3"), (1, "4"), (1, "5")], [(1, "6"), (1, "7"), (1, "8")], (1, 9)]
    few = Kernel(3, log, tasks=1)
    for _ in range(3):
        with batch_of(batches):
            launch(few, 0)
    assert graphs.made == 1


def test_what_cannot_be_a_graph_is_launched() -> None:
    log, one, _, graphs, batches = made(fails=True)
    for _ in range(3):
        with batch_of(batches):
            launch(one, 1)
    assert log == 3 * [(1, 1)] and graphs.made == 1  # asked once
    log, one, _, graphs, batches = made()
    for what in (1, 1, "unpacked", 2):
        with batch_of(batches):
            launch(one, what)
    assert log == [(1, 1), [(1, "1")], (1, "unpacked"), [(1, "2")]]


def test_the_graphs_of_a_session_are_limited(monkeypatch: Any) -> None:
    log, _, _, graphs, batches = made()
    monkeypatch.setattr(batch, "_MOST_GRAPHS", 2)
    kernels = [Kernel(k, log) for k in range(3)]
    for _ in range(2):
        for kernel in kernels[:2]:
            for _ in range(2):
                with batch_of(batches):
                    launch(kernel, 0)
    assert graphs.made == 2
    for kernel in (kernels[2], kernels[2], kernels[0], kernels[0]):
        with batch_of(batches):
            launch(kernel, 0)
    assert graphs.made == 4  # the oldest one was let go and is made again


# Whole programs, in memory of a device on the host


class HostGraphs:
    """Graphs whose launches are unpacked from bytes, and run on the host one by one."""

    def __init__(self) -> None:
        self.launched = 0

    def make(self, launches: Launches) -> Any:
        kernels: list[Any] = [kernel for kernel, _ in launches]
        examples = [args for _, args in launches]
        graphs = self

        class Graph:
            def launch(self, arguments: Sequence[bytes]) -> None:
                graphs.launched += 1
                for kernel, args, packed in zip(kernels, examples, arguments, strict=True):
                    _unpack(kernel, args, packed)

        return Graph()


def _unpack(kernel: Any, examples: Sequence[Any], packed: bytes) -> None:
    values = list(kernel._packing.unpack(packed))
    context, _ = kernel._fresh_context()
    for k, (place, example) in enumerate(zip(kernel._places, examples, strict=True)):
        if isinstance(example, Buffer):
            count = len(example.shape or kernel._least_shape or (0,))
            shape, address = values[:count], values[count]
            del values[: count + 1]
            nbytes = int(np.prod([*shape, *shape_of(example.element)])) * 8
            context.set_arg_external_array_with_shape(place, address, nbytes, shape, 0)
        elif kernel._is_float[k]:
            context.set_arg_float(place, values.pop(0))
        else:
            context.set_arg_int(place, values.pop(0))
    assert not values
    kernel._run(kernel._compiled, context)


@contextmanager
def graphs_on_the_host() -> Generator[HostGraphs]:
    """Start as on a device whose graphs run on the host."""
    found = HostGraphs()
    with device_arrays():
        started = dataclasses.replace(current_session(), batches=Batches(found))
        session._current[:] = [started]
        yield found


@dt.kernel
def push(x, v, y, force: float, t: int):
    for i in x:
        v[i] += 0.01 * (force * ti.sin(3.0 * x[i]) + 0.1 * t)
        y[i] = x[i] + 0.01 * v[i]


@dt.kernel
def spread(y, x):
    for i in x:
        x[i] = y[i] + 0.1 * y[(i + 1) % y.shape[0]] - 0.1 * y[i]


@dt.kernel
def sum_up(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


def simulated(n: int, force: float, form: str) -> list[Any]:
    """Return the loss and gradients of a simulation."""
    x = dt.from_numpy(np.linspace(0.0, 1.0, n, dtype=np.float32), grad=True)
    v, y = dt.zeros(n, ti.f32, grad=True), dt.zeros(n, ti.f32, grad=True)
    loss = dt.zeros((), ti.f32, grad=True)
    found: list[Any] = []
    with dt.Tape(loss):
        for t in dt.steps(40) if form == "repeat" else range(40):
            push(x, v, y, force, t)
            spread(y, x)
        sum_up(x, loss)
    found += [loss[None], x.grad.to_numpy(), v.grad.to_numpy(), x.to_numpy()]
    x.fill(0.5)
    v.fill(0.0)
    for t in dt.steps(24) if form == "repeat" else range(24):
        push(x, v, y, 2.0 * force, t)
        spread(y, x)
    return [*found, x.to_numpy(), y.to_numpy()]


CASES = ((50, 2.0), (50, 3.0), (70, 3.0), (50, 2.0))


@pytest.mark.parametrize("form", ["repeat", "one by one"])
def test_programs_give_the_same_numbers_as_graphs(form: str) -> None:
    with device_arrays(), fusing(form == "repeat"):
        expected = [simulated(n, force, form) for n, force in CASES]
    with graphs_on_the_host() as graphs, fusing(form == "repeat"):
        for (n, force), wanted in zip(CASES, expected, strict=True):
            for a, b in zip(simulated(n, force, form), wanted, strict=True):
                np.testing.assert_array_equal(a, b)
        assert graphs.launched >= 3


def test_fills_and_reads_between_launches_keep_their_place() -> None:
    with graphs_on_the_host() as graphs:
        x, y = dt.zeros(8, ti.f32), dt.zeros(8, ti.f32)
        v = dt.zeros(8, ti.f32)
        for _ in range(4):
            with batch_of(current_session().batches):
                x.fill(1.0)
                v.fill(0.0)
                for _ in range(3):
                    push(x, v, y, 0.0, 10)  # v += 0.01
                    push(x, v, y, 0.0, 10)
                    v.fill(5.0)  # noted, after launches that wait
                    push(x, v, y, 0.0, 10)
                    push(x, v, y, 0.0, 10)
                push(x, v, y, 0.0, 10)
                assert v[3] == pytest.approx(5.03)
                x.copy_from(y)
                push(x, v, y, 0.0, 10)
                v.fill(7.0)
            assert v[3] == 7.0 and y[0] == pytest.approx(1.0503 + 0.0504, abs=1e-5)
        assert graphs.launched


def test_numbers_are_rounded_as_launches_round_them() -> None:
    with graphs_on_the_host() as graphs:
        x, v, y = (dt.zeros(4, ti.f32) for _ in range(3))
        for force in (1.0, 1.0, 1e300, float("nan")):
            x.fill(1.0)
            with batch_of(current_session().batches):
                for _ in range(4):
                    push(x, v, y, force, 0)
            assert (v[0] > 1e30) == (force == 1e300)
        assert np.isnan(v[0])
        # From Python 3.14 on, `struct` refuses 1e300, which is then launched by itself.
        assert graphs.launched == (3 if sys.version_info < (3, 14) else 2)


def test_debug_mode_and_the_option_leave_graphs_out() -> None:
    dt.init(arch="cpu", graphs=False)
    assert current_session().batches is None
    dt.init(arch="cpu")
    assert current_session().batches is None
