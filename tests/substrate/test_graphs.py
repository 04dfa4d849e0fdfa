"""Graphs of CUDA: runs, adjoints and whole backward passes give the numbers of single launches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
import scenes.mpm
from difftile.substrate import batch, chosen, current_session
from tests.substrate.test_batch import CASES, push, simulated, spread

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def on_cuda() -> Generator[None]:
    """Start on CUDA, with a substrate that has graphs, and on the CPU again afterwards."""
    try:
        dt.init(arch="cuda")
    except dt.FieldError as error:
        pytest.skip(f"no CUDA device: {error}")
    if current_session().batches is None:
        dt.init(arch="cpu")
        pytest.skip(f"no graphs on {chosen()}")
    yield
    dt.init(arch="cpu")


@contextmanager
def counting() -> Generator[list[int]]:
    """Count the tasks of the graphs that are launched in the block."""
    batches: Any = current_session().batches
    found: list[int] = []
    make = batches._graphs.make

    def noting(launches: batch.Launches) -> Any:
        graph = make(launches)
        if graph is not None:
            launch = graph.launch

            class Noted:
                def launch(self, arguments: Any) -> None:
                    found.append(len(arguments))
                    launch(arguments)

            return Noted()
        return graph

    batches._graphs.make = noting
    yield found


def both(run: Callable[[], list[Any]]) -> tuple[list[Any], list[Any], list[int]]:
    """Return the results of single launches and of graphs, and the lengths of the graphs."""
    dt.init(arch="cuda", graphs=False)
    single = run()
    dt.init(arch="cuda")
    with counting() as lengths:
        return single, run(), lengths


@pytest.mark.parametrize("form", ["repeat", "one by one"])
def test_simulations_are_equal_to_the_bit(form: str) -> None:
    def run() -> list[Any]:
        return [one for n, force in CASES for one in simulated(n, force, form)]

    single, graphs, lengths = both(run)
    assert lengths
    # Only the sum over all elements is added up in any order, and its adjoint does not know it.
    for a, b in zip(single, graphs, strict=True):
        np.testing.assert_allclose(a, b, rtol=0 if np.ndim(a) else 1e-6)


@dt.kernel
def ripple(now, before, courant: float):
    n = now.shape[0]
    for i, j in ti.ndrange((1, n - 1), (1, n - 1)):
        around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1]
        before[i, j] = 2.0 * now[i, j] - before[i, j] + courant * (around - 4.0 * now[i, j])


def waves(n: int, memory: str | None) -> list[Any]:
    """Return fields and gradients of runs with other numbers and other fields in turn."""
    found: list[Any] = []
    pairs = [
        [dt.from_numpy(np.random.default_rng(k).normal(size=(n, n)), dtype=ti.f32, grad=True)]
        + [dt.zeros((n, n), ti.f32, grad=True) for _ in range(2)]
        for k in range(2)
    ]
    loss = dt.zeros((), ti.f32, grad=True)
    for courant in (0.1, 0.2, 0.3):
        for first, now, before in pairs:
            first.grad.fill(0.0)
            with dt.Tape(loss, memory=memory):
                now.copy_from(first)
                before.copy_from(first)
                for _ in dt.steps(150):
                    ripple(now, before, courant)
                    ripple(before, now, courant)
                sum_up_2d(now, loss)
            found += [now.to_numpy(), before.to_numpy(), first.grad.to_numpy()]
    return found


@dt.kernel
def sum_up_2d(x, loss):
    loss[None] = 0.0
    for i, j in x:
        loss[None] += x[i, j] * x[i, j]


@pytest.mark.parametrize("memory", [None, "3 MB"])
def test_waves_with_other_numbers_and_fields(memory: str | None) -> None:
    single, graphs, lengths = both(lambda: waves(64, memory))
    assert max(lengths) > 2
    for a, b in zip(single, graphs, strict=True):
        assert np.isfinite(a).all() and np.abs(a).max() > 0
        np.testing.assert_array_equal(a, b)


def test_particles_on_a_grid() -> None:
    def run() -> list[Any]:
        scene = scenes.mpm.make_scene("robot", 64)
        robot = scenes.mpm.Mpm(scene, scenes.mpm.make_controller(scene), 64)
        found: list[Any] = []
        for _ in range(3):
            with dt.Tape(robot.loss):
                robot.run()
            found += [robot.loss[None], robot.weights.grad.to_numpy()]
        return found

    single, graphs, lengths = both(run)
    assert lengths
    for a, b in zip(single, graphs, strict=True):  # sums of atomics
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4 * np.abs(a).max())


def test_an_error_inside_a_batch_lets_launches_run_and_later_ones_too() -> None:
    x, v, y = (dt.zeros(1000, ti.f32) for _ in range(3))
    batches = current_session().batches
    for k in range(5):
        with pytest.raises(ValueError, match="in between"), batch.batch_of(batches):
            for _ in range(4):
                push(x, v, y, 0.0, 10)
            raise ValueError("in between")
        np.testing.assert_allclose(v.to_numpy(), 0.04 * (k + 1), rtol=1e-5)


def test_sessions_have_graphs_of_their_own() -> None:
    found: list[Any] = []
    for _ in range(2):
        dt.init(arch="cuda")
        x, v, y = (dt.ones(100, ti.f32) for _ in range(3))
        with counting() as lengths:
            for _ in range(4):
                with batch.batch_of(current_session().batches):
                    for t in range(8):
                        push(x, v, y, 1.0, t)
                        spread(y, x)
        assert lengths == [16, 16, 16]
        found.append(x.to_numpy())
    np.testing.assert_array_equal(*found)


def test_types_and_shapes_of_arguments() -> None:
    @dt.kernel
    def mix(a, b, c, d, flag: int, wide: ti.f64, r: float):
        for i in b:
            b[i] += a[None] + r * c[i, 1, 0] + ti.cast(wide, ti.f32)
            d[i] = 2 * ti.cast(flag, ti.i64)

    a, b = dt.ones((), ti.f32), dt.zeros(5, ti.f32)
    c, d = dt.ones((5, 2, 3), ti.f32), dt.zeros(5, ti.i64)
    with counting() as lengths:
        for k in range(4):
            with batch.batch_of(current_session().batches):
                for _ in range(4):
                    mix(a, b, c, d, k - 2**30, 0.5, 0.25)
    assert lengths
    assert (b.to_numpy() == 16 * 1.75).all()
    assert (d.to_numpy() == 2 * (3 - 2**30)).all()


def test_a_session_on_a_stream_of_torch() -> None:
    torch = pytest.importorskip("torch")
    dt.init(arch="cuda", graphs=False)
    expected = [one for n, force in CASES for one in simulated(n, force, "repeat")]
    stream = torch.cuda.Stream()
    for graphs in (False, True):
        dt.init(arch="cuda", stream=stream, graphs=graphs)
        assert current_session().stream == stream.cuda_stream
        found = [one for n, force in CASES for one in simulated(n, force, "repeat")]
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_allclose(a, b, rtol=0 if np.ndim(a) else 1e-6)
        in_order_with(torch, stream)


def in_order_with(torch: Any, stream: Any) -> None:
    """Check that launches, fills, copies and torch's work on a stream wait for each other."""
    x, v, y = (dt.zeros(10_000, ti.f32) for _ in range(3))
    shared = torch.from_dlpack(v)
    with torch.cuda.stream(stream):
        for k in range(3):
            torch.cuda._sleep(20_000_000)  # about 10 ms, without which nothing would be seen
            shared.fill_(float(k))
            for _ in range(4):
                push(x, v, y, 0.0, 10)
            shared.add_(1.0)
            assert v[77] == pytest.approx(k + 1.04, rel=1e-6)
            v.fill(5.0)
            assert float(shared.sum()) == 50_000.0
            torch.cuda._sleep(20_000_000)
            shared.fill_(7.0)
            y.copy_from(v)
            assert (y.to_numpy() == 7.0).all()
            y.from_numpy(np.full(10_000, 3.0, np.float32))
            assert y[5] == 3.0


def test_launches_of_other_threads_are_on_the_stream_and_off_it_again() -> None:
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    for given in (stream, None):
        dt.init(arch="cuda", stream=given)
        x, v, y = (dt.zeros(1000, ti.f32) for _ in range(3))

        def work(x: dt.Field = x, v: dt.Field = v, y: dt.Field = y) -> None:
            for _ in range(10):
                push(x, v, y, 0.0, 10)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        work()
        np.testing.assert_allclose(v.to_numpy(), 0.4, rtol=1e-5)
