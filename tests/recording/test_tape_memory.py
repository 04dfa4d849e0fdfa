"""Tapes with a limited memory: the same gradients, within the limit; and tapes that end early."""

from __future__ import annotations

import contextvars
import gc
import random
import re
import threading
from collections.abc import Callable, Generator
from contextlib import nullcontext
from typing import Any
from unittest import mock

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import OutOfMemory
from difftile.ir.types import F64
from difftile.recording.budget import as_text, parse_memory
from difftile.substrate import current_session
from tests.distributed.loops import Loop

N = 16
BYTES = N * 8


@dt.kernel
def step(u, v, k):
    for i in u:
        v[i] += -0.01 * k[None] * ti.sin(u[i])
    for i in u:
        u[i] += 0.1 * v[i] * u[i]


@dt.kernel
def energy(u, loss):
    for i in u:
        loss[None] += u[i] * u[i]


class Run:
    """A run of launches and writes from Python, and its gradient."""

    def __init__(self) -> None:
        self.u, self.v = (dt.field(ti.f64, N, grad=True) for _ in range(2))
        self.k, self.loss = (dt.field(ti.f64, (), grad=True) for _ in range(2))

    def start(self) -> None:
        rng = np.random.default_rng(0)
        self.u.from_numpy(rng.normal(size=N))
        self.v.from_numpy(0.1 * rng.normal(size=N))
        self.k[None] = 1.3
        self.loss[None] = 0.0

    def steps(self, count: int) -> None:
        for s in range(count):
            step(self.u, self.v, self.k)
            if s % 7 == 3:
                self.v[s % N] = 0.05
            if s == count // 2:
                self.u.fill(0.3)

    def gradient(
        self, count: int, steps: Callable[[int], None] | None = None, **limits: Any
    ) -> tuple[Any, ...]:
        self.start()
        with dt.Tape(self.loss, **limits) as self.tape:
            (steps or self.steps)(count)
            energy(self.u, self.loss)
        return self.state()

    def state(self) -> tuple[Any, ...]:
        fields = (self.u, self.v, self.u.grad, self.v.grad, self.k.grad)
        return tuple(field.to_numpy() for field in fields)


def assert_same(found: tuple[Any, ...], wanted: tuple[Any, ...]) -> None:
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("count", [1, 5, 40, 150])
def test_the_gradient_is_that_of_full_storage_in_any_memory(count: int) -> None:
    run = Run()
    wanted = run.gradient(count)
    kept = current_session().pool.kept
    for room in (100, 20, 9, 7):
        base = current_session().pool.peak = current_session().pool.kept
        assert_same(run.gradient(count, memory=room * BYTES), wanted)
        assert current_session().pool.peak - base <= room * BYTES
        assert current_session().pool.kept == kept
    for snapshots in (3, 10):
        assert_same(run.gradient(count, snapshots=snapshots), wanted)


@dt.kernel
def churn(u, grid, energy_grid):
    for i in grid:
        grid[i] = u[i] * u[i]
    for i in grid:
        energy_grid[i] = grid[i] * u[i]
    for i in grid:
        grid[i] = ti.sin(grid[i]) * energy_grid[i]
    for i in u:
        u[i] += 0.01 * grid[i] * grid[i]


def test_what_the_stages_of_one_launch_leave_behind_counts() -> None:
    u, grid, other = (dt.ones(100, dtype=ti.f64, grad=True) for _ in range(3))
    loss = dt.zeros((), dtype=ti.f64, grad=True)
    for limit in range(7300, 40 * 800, 700):
        u.fill(0.3)
        loss.fill(0.0)
        with dt.Tape(loss, memory=limit) as tape:
            for _ in range(12):
                churn(u, grid, other)
            energy(u, loss)
        assert tape.peak_nbytes <= limit


def test_what_fits_is_not_run_again() -> None:
    run = Run()
    run.gradient(20, memory="1 MB")
    assert "run again" not in run.tape.summary()
    run.gradient(20, memory=12 * BYTES)
    assert "launches run again" in run.tape.summary()


@pytest.mark.parametrize(("count", "said"), [(3, "4 launches"), (1200, "1,201 launches")])
def test_a_summary_after_use_is_one_sentence(count: int, said: str) -> None:
    run = Run()

    def steps(count: int) -> None:
        for _ in range(count):
            step(run.u, run.v, run.k)

    with dt.Tape(run.loss) as tape:
        steps(count)
        energy(run.u, run.loss)
        assert tape.summary().startswith(f"{said}, {count + 1} records\n")
    held = as_text(tape.peak_nbytes)
    assert tape.summary().startswith(f"{said}, {held} of old values held at most, 1 run of the ")
    run.gradient(count, steps, memory=9 * BYTES)
    runs = 1.0 + run.tape.recomputed / (count + 1)
    found = re.match(
        rf"{said}, (.*) of old values held at most, ([\d.]+) runs? of the forward",
        run.tape.summary(),
    )
    assert found
    assert found[1] == as_text(run.tape.peak_nbytes)
    assert float(found[2]) == pytest.approx(runs, abs=0.5 if runs > 9.95 else 0.05)
    assert run.tape.recomputed > 0 or count == 3


def test_too_little_memory_is_an_error_that_says_how_much_is_enough() -> None:
    run = Run()
    with pytest.raises(dt.TapeError, match=r"Three times that is enough: Tape\(memory=792\)"):
        run.gradient(40, memory=2 * BYTES)
    assert_same(run.gradient(40, memory=792), run.gradient(40))


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"memory": "much"}, "memory is a text such as '256MB' or a number of bytes, not 'much'"),
        ({"memory": -3}, "not -3"),
        ({"snapshots": 2}, "'snapshots' is a number from 3 on, not 2"),
        ({"snapshots": 5, "memory": 5}, "'memory' or 'snapshots', not both"),
    ],
)
def test_limits_that_are_none_are_errors(limits: dict[str, Any], text: str) -> None:
    with pytest.raises(dt.TapeError, match=text):
        dt.Tape(**limits)


def test_amounts_of_memory_are_read_and_written() -> None:
    assert parse_memory("256MB") == 256_000_000
    assert parse_memory("1.5 GiB") == 3 * 2**29
    assert parse_memory("800 kb") == 800_000
    assert parse_memory("17") == 17
    assert as_text(0) == "0 bytes"
    assert as_text(2_500_000) == "2.5 MB"
    assert as_text(7e12) == "7e+03 GB"


def test_a_checkpointed_function_keeps_what_enters_it() -> None:
    run = Run()
    wanted = run.gradient(40)

    @dt.checkpoint
    def ten() -> None:
        for _ in range(10):
            step(run.u, run.v, run.k)

    def plain(count: int) -> None:
        for _ in range(count):
            step(run.u, run.v, run.k)

    wanted = run.gradient(40, plain)

    @dt.checkpoint
    def twenty() -> None:  # the calls inside are a part of it
        ten()
        plain(10)

    def steps(count: int) -> None:
        for _ in range(count // 20):
            twenty()
        held.append(run.tape.nbytes)

    held: list[int] = []
    assert_same(run.gradient(40, steps), wanted)
    assert held[0] <= 2 * 2 * BYTES
    assert "40 launches run again" in run.tape.summary()
    assert_same(run.gradient(40, steps, memory=12 * BYTES), wanted)
    ten()  # without a tape it is an ordinary function
    with dt.Tape() as tape:
        ten()
        energy(run.u, run.loss)
    tape.backward(run.loss, keep=True)
    tape.backward(run.loss)
    assert tape.recomputed == 20


@pytest.mark.parametrize("limits", [{}, {"snapshots": 3}])
def test_arrays_that_python_writes_may_change_afterwards(limits: dict[str, Any]) -> None:
    x, y = dt.from_numpy(np.ones(4), grad=True), dt.zeros(4, ti.f64)
    loss, given = dt.field(ti.f64, (), grad=True), np.zeros(4)
    with dt.Tape(**limits) as tape:
        for k in range(40):
            given[:] = 1.0 + k % 3
            y.from_numpy(given)
            product(x, y, loss)
            grown(x)
    tape.backward(loss)
    wanted = sum((1.0 + k % 3) * 1.01**k for k in range(40))
    np.testing.assert_allclose(x.grad.to_numpy(), wanted, rtol=1e-12)


@dt.kernel
def grown(x):
    for i in x:
        x[i] *= 1.01


@pytest.mark.parametrize("limits", [{}, {"memory": 9 * BYTES}, {"memory": 6 * BYTES}])
def test_backward_runs_twice_when_asked_to_keep(limits: dict[str, Any]) -> None:
    run = Run()
    once = run.gradient(30, **limits)
    run.start()
    with dt.Tape(**limits) as tape:
        run.steps(30)
        energy(run.u, run.loss)
    tape.backward(run.loss, keep=True)
    assert_same(run.state(), once)
    tape.backward({run.loss: 2.0})
    for found, wanted in zip(run.state()[2:], once[2:], strict=True):
        np.testing.assert_allclose(found, 3 * wanted, rtol=1e-12)
    with pytest.raises(dt.TapeError, match="keep=True"):
        tape.backward(run.loss)


@pytest.mark.parametrize("limits", [{}, {"memory": 9 * BYTES}])
def test_a_replay_that_is_interrupted_leaves_fields_and_memory_in_order(
    limits: dict[str, Any],
) -> None:
    run = Run()
    wanted = run.gradient(30)[:2]
    kept = current_session().pool.kept
    calls: list[tuple[int, int]] = []

    def interrupt(done: int, total: int) -> None:
        calls.append((done, total))
        if done == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.gradient(30, progress=interrupt, **limits)
    assert calls[0][0] == 1
    assert all(done <= total for done, total in calls)
    assert_same((run.u.to_numpy(), run.v.to_numpy()), wanted)
    assert current_session().pool.kept == kept
    with dt.Tape(run.loss):  # nothing is left open
        energy(run.u, run.loss)


@pytest.mark.parametrize("limits", [{}, {"memory": 9 * BYTES}])
def test_an_exception_in_the_block_lets_go_of_everything(limits: dict[str, Any]) -> None:
    run = Run()
    run.start()
    kept = current_session().pool.kept
    with pytest.raises(ZeroDivisionError), dt.Tape(run.loss, **limits) as tape:
        run.steps(10)
        _ = 1 / 0  # pyrefly: ignore[division-by-zero]
    assert current_session().pool.kept == kept
    assert tape.nbytes == 0


def test_a_loss_that_is_no_number_names_the_kernel_that_wrote_it() -> None:
    run = Run()
    run.start()
    run.u[0] = np.nan
    with pytest.raises(dt.TapeError, match=r"The loss is nan.*kernel 'energy' wrote it"):
        with dt.Tape(run.loss):
            energy(run.u, run.loss)


def test_a_launch_that_writes_a_field_on_the_tape_of_another_thread_is_an_error() -> None:
    run, free = Run(), dt.zeros((), grad=True)
    run.start()
    found: list[str] = []

    def other() -> None:
        for taped in (False, True):  # on a tape of its own, too
            with dt.Tape() if taped else nullcontext():
                energy(run.u, free)
                with pytest.raises(dt.DifftileError) as error:
                    energy(run.u, run.loss)
            found.append(str(error.value))
            del error  # whose traceback holds the tape

    with dt.Tape(run.loss):
        energy(run.u, run.loss)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert ["would miss it" in text for text in found] == [True, True]


@pytest.mark.parametrize("limits", [{}, {"snapshots": 3}])
def test_a_field_that_is_only_read_may_change_afterwards(limits: dict[str, Any]) -> None:
    run = Run()
    run.start()

    @dt.checkpoint
    def steps() -> None:
        run.steps(30)

    with dt.Tape(**limits) as tape:
        steps() if not limits else run.steps(30)
    run.k[None] = 5.0
    tape.backward({run.u: 1.0})
    assert run.k[None] == 5.0


@pytest.mark.parametrize("use", ["read", "written"])
def test_a_gradient_inside_a_limited_tape_is_refused(use: str) -> None:
    run = Run()
    run.start()
    with pytest.raises(dt.TapeError, match="A gradient was read or written while the tape was"):
        with dt.Tape(run.loss, snapshots=4):
            run.steps(40)
            if use == "read":
                energy(run.u.grad, run.loss)
            else:
                run.u.grad.fill(0.0)
            energy(run.u, run.loss)


# Launches without gradients, and tapes side by side


@dt.kernel
def scale(x, y):
    for i in x:
        y[i] = 3.0 * x[i]


@dt.kernel
def first(x, y):
    y[0] = x[1] * x[2]


@dt.kernel
def product(x, y, loss):
    for i in x:
        loss[None] += x[i] * y[i]


@pytest.mark.parametrize("limits", [{}, {"snapshots": 4}])
def test_what_is_written_without_gradient_is_a_constant(limits: dict[str, Any]) -> None:
    x, y = (dt.from_numpy(np.arange(1.0, 5.0), grad=True) for _ in range(2))
    loss = dt.field(ti.f64, (), grad=True)
    with dt.Tape(loss, **limits):
        scale(x, y)
        with dt.no_grad():
            first(x, y)  # overwrites one scaled element
        product(x, y, loss)
    values = y.to_numpy()
    assert values.tolist() == [6, 6, 9, 12]
    assert x.grad.to_numpy().tolist() == (values + 3 * np.array([0, 2, 3, 4])).tolist()
    loss[None] = 0.0
    with dt.Tape(loss, **limits):
        scale(x, y)
        with dt.no_grad():
            y.copy_from(x)
        product(x, y, loss)
    assert x.grad.to_numpy().tolist() == [1, 2, 3, 4]
    with dt.no_grad():  # without a tape it has no effect
        scale(x, y)


def test_two_tapes_recorded_before_either_is_replayed() -> None:
    x = dt.from_numpy(np.arange(1.0, 5.0), grad=True)
    y, z = (dt.zeros(4, ti.f64, grad=True) for _ in range(2))
    with dt.Tape() as one:
        scale(x, y)
    with dt.Tape() as other:
        scale(x, z)
        scale(z, y)
    one.backward({y: 1.0})
    other.backward({y: 1.0})
    assert x.grad.to_numpy().tolist() == [12, 12, 12, 12]


# Small writes into fields that records need


@dt.kernel
def square_in_place(x):
    for i in x:
        x[i] = x[i] * x[i]


@dt.kernel
def square_part(x, start: int, stop: int):
    for i in range(start, stop):
        x[i] = x[i] * x[i]


@dt.kernel
def rim(x, value: float):
    x[0] = value
    x[x.shape[0] - 1] *= value


@dt.kernel
def scattered(x, index):
    for i in index:
        x[index[i]] = 2.0


def small_writes(x: dt.Field, y: dt.Field, tape: dt.Tape) -> None:
    square_in_place(x)
    scale(x, y)
    square_in_place(y)  # pins the contents of y
    held = tape.nbytes
    for k in range(20):
        y[k % 3] = 0.03 * k
    square_part(y, 3, 7)
    y[7:9] = [1.0, 2.0]
    assert tape.nbytes - held <= (20 + 4 + 2) * 8
    square_in_place(y)
    rim(y, 0.25)
    square_in_place(y)


@pytest.mark.parametrize("keep", [False, True])
def test_small_writes_keep_what_they_overwrite(keep: bool) -> None:
    rng = np.random.default_rng(1)
    start, weights = rng.uniform(0.5, 1, 64), rng.normal(size=64)
    x = dt.from_numpy(start, grad=True)
    y = dt.zeros(64, ti.f64, grad=True)
    with dt.Tape() as tape:
        small_writes(x, y, tape)
    final = y.to_numpy()
    tape.backward({y: weights}, keep=keep)
    np.testing.assert_array_equal(y.to_numpy(), final)

    def reference(values: Any) -> Any:
        v = (3 * values**2) ** 2
        v[:3] = [0.54, 0.57, 0.51]
        v[3:7] = v[3:7] ** 2
        v[7:9] = [1.0, 2.0]
        v = v**2
        v[0] = 0.25
        v[-1] *= 0.25
        return v**2

    np.testing.assert_allclose(final, reference(start.copy()), rtol=1e-14)
    wanted = np.zeros(64)
    for k in range(64):
        step = start + 1e-30j * (np.arange(64) == k)
        wanted[k] = weights @ reference(step).imag / 1e-30
    np.testing.assert_allclose(x.grad.to_numpy(), wanted, rtol=1e-13)
    if keep:
        tape.backward({y: weights})
        np.testing.assert_allclose(x.grad.to_numpy(), 2 * wanted, rtol=1e-13)
        np.testing.assert_array_equal(y.to_numpy(), final)
    assert current_session().pool.kept == 0


def test_a_launch_between_a_tape_and_its_replay_leaves_what_is_kept() -> None:
    x, y = (dt.from_numpy(np.array([1.0, 2.0, 3.0]), grad=True) for _ in range(2))
    with dt.Tape() as tape:
        energy(x, Run().loss)
        product(x, y, loss := dt.field(ti.f64, (), grad=True))
    square_in_place(x)  # which no tape records
    tape.backward(loss)
    assert y.grad.to_numpy().tolist() == [1.0, 2.0, 3.0]
    assert x.to_numpy().tolist() == [1.0, 4.0, 9.0]


@dt.kernel
def first_then_all(x, y):
    for i in range(1):
        x[i] = ti.sin(x[i])
    for i in x:
        y[i] = x[i] * x[i]


def test_a_small_write_of_what_is_read_before_and_after_it() -> None:
    values = np.linspace(0.1, 1.0, 100)
    x, y, loss = dt.from_numpy(values, grad=True), dt.zeros(100, ti.f64, grad=True), Run().loss
    with dt.Tape() as tape:
        energy(x, loss)  # pins the contents of x
        first_then_all(x, y)
    tape.backward({y: np.ones(100), loss: 1.0})
    wanted = 4 * values
    wanted[0] = 2 * values[0] + 2 * np.sin(values[0]) * np.cos(values[0])
    np.testing.assert_allclose(x.grad.to_numpy(), wanted, rtol=1e-14)


@dt.kernel
def scaled_and_shifted(x, y, z):
    for i in x:
        x[i] = 2.0 * x[i]
    for i in y:
        y[i] = 3.0 * y[i]
    for i in z:
        z[i] = x[(i + 1) % 4] + y[i]


def test_each_field_that_is_kept_is_written_elsewhere() -> None:
    """The launch overwrites both fields whole, and reads what it has written."""
    start = np.arange(1.0, 5.0)
    x, y, z = (dt.from_numpy(start, grad=True) for _ in range(3))
    loss = dt.field(ti.f64, (), grad=True)
    for kept in ([x], [y], [x, y]):
        x.from_numpy(start)
        y.from_numpy(start)
        with dt.Tape() as tape:
            for one in kept:
                energy(one, loss)
            scaled_and_shifted(x, y, z)
        for one, factor in ((x, 2.0), (y, 3.0)):
            assert one.to_numpy().tolist() == (factor * start).tolist()
        assert z.to_numpy().tolist() == (2.0 * np.roll(start, -1) + 3.0 * start).tolist()
        tape.backward({loss: 1.0})
        for one in (x, y):
            wanted = 2 * start if one in kept else np.zeros(4)
            assert one.grad.to_numpy().tolist() == wanted.tolist()


def test_the_last_of_several_small_writes_stays() -> None:
    x, y = (dt.from_numpy(np.arange(1.0, 65.0), grad=True) for _ in range(2))
    loss = dt.field(ti.f64, (), grad=True)
    with dt.Tape() as tape:
        product(x, y, loss)
        for value in (1.0, 2.0, 3.0):
            y[7] = value
    tape.backward(loss)
    assert y[7] == 3.0
    np.testing.assert_array_equal(x.grad.to_numpy(), np.arange(1.0, 65.0))


def test_a_write_anywhere_copies_the_field() -> None:
    x, y = (dt.from_numpy(np.arange(1.0, 65.0), grad=True) for _ in range(2))
    index = dt.from_numpy(np.array([3, 5], np.int32))
    with dt.Tape() as tape:
        square_in_place(x)
        held = tape.nbytes
        product(x, y, dt.field(ti.f64, (), grad=True))
        scattered(x, index)
        assert tape.nbytes - held == x.nbytes
    tape.backward({x: 1.0})
    wanted = 2 * np.arange(1.0, 65.0)
    wanted[[3, 5]] = 0
    assert x.grad.to_numpy().tolist() == wanted.tolist()


def test_a_tape_that_is_kept_is_not_patched_by_another() -> None:
    x = dt.from_numpy(np.arange(1.0, 65.0), grad=True)
    loss = dt.field(ti.f64, (), grad=True)
    with dt.Tape() as one:
        product(x, x, loss)
    with dt.Tape() as other:
        x[3] = 100.0
        product(x, x, loss)
    one.backward(loss)
    wanted = 2 * np.arange(1.0, 65.0)
    assert x.grad.to_numpy().tolist() == wanted.tolist()
    other.backward(loss)
    wanted[3] *= 1
    second = 2 * x.to_numpy() * (np.arange(64) != 3)
    assert x.grad.to_numpy().tolist() == (wanted + second).tolist()


def test_a_tape_that_is_forgotten_lets_go() -> None:
    x = dt.from_numpy(np.arange(1.0, 65.0), grad=True)
    with dt.Tape():
        square_in_place(x)
        square_in_place(x)
    gc.collect()
    assert current_session().pool.kept == 0


# Tapes beside each other


@dt.kernel
def turn(x, v):
    for i in x:
        x[i] = x[i] + 0.125 * ti.sin(v[i] * x[i])


def turned(tape: dt.Tape, steps: int) -> Generator[int]:
    """Launch kernels on a tape; yield the bytes that it keeps after each."""
    x, v = dt.full(8, 0.5, F64, grad=True), dt.full(8, 1.25, F64, grad=True)
    with tape:
        for _ in range(steps):
            turn(x, v)
            yield tape.nbytes
    tape.backward({x: 1.0})
    yield tape.nbytes


@pytest.mark.parametrize("seed", range(4))
def test_a_limit_counts_the_bytes_of_its_own_tape(seed: int) -> None:
    rng = random.Random(seed)
    limit = rng.choice([400, 1000, 3000])
    alone = list(turned(dt.Tape(memory=limit), 15))
    begun = [turned(dt.Tape(), 40) for _ in range(3)]  # threads have tapes of their own each
    contexts = [contextvars.copy_context() for _ in begun]
    for other, context in zip(begun, contexts, strict=True):
        for _ in range(rng.randrange(1, 20)):
            context.run(next, other)
    found: list[int] = []
    own, mine = turned(dt.Tape(memory=limit), 15), contextvars.copy_context()
    for _ in range(16):
        found.append(mine.run(next, own))
        other = rng.randrange(len(begun))
        for _ in range(rng.randrange(12)):  # which keeps more, or lets go of all
            contexts[other].run(next, begun[other], None)
    for other, context in zip(begun, contexts, strict=True):
        context.run(other.close)
    assert found == alone and max(found) <= limit


# When memory ends or a launch fails


class Full:
    """Stands for the pool and has no memory left after some buffers."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.pool = current_session().pool
        self.allocate_like = self.pool.allocate_like

    def __call__(self, other: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise OutOfMemory("No memory for a field of f64, shape (16,).")
        return self.allocate_like(other)


@pytest.mark.parametrize("left", [0, 1, 5])
@pytest.mark.parametrize("limits", [{}, {"snapshots": 4}])
def test_without_memory_the_launch_is_named_and_fields_stay(
    left: int, limits: dict[str, Any]
) -> None:
    run = Run()
    run.start()
    with dt.Tape():  # compile
        step(run.u, run.v, run.k)
    run.start()
    kept, before = current_session().pool.kept, run.u.to_numpy()
    with pytest.raises(OutOfMemory, match=r"No memory is left at launch \d+ .* of kernel 'step'"):
        full = Full(left)
        with dt.Tape(run.loss, **limits), mock.patch.object(full.pool, "allocate_like", full):
            for _ in range(20):
                before = run.u.detach().to_numpy()
                step(run.u, run.v, run.k)
    assert current_session().pool.kept == kept
    # The second of the two stages did not run; the first may have changed v.
    np.testing.assert_array_equal(run.u.to_numpy(), before)


@pytest.mark.compiled
def test_a_launch_that_fails_leaves_a_renamed_field_as_it_was() -> None:
    x = dt.from_numpy(np.arange(1.0, 65.0), grad=True)
    with dt.Tape() as tape:
        square_in_place(x)
        values = x.detach().to_numpy()
        product(x, x, dt.field(ti.f64, (), grad=True))
        launch = "difftile.substrate.family.launcher.CompiledKernel.launch"
        with mock.patch(launch, side_effect=KeyboardInterrupt):
            with pytest.raises(KeyboardInterrupt):
                square_in_place(x)
        np.testing.assert_array_equal(x.detach().to_numpy(), values)
    tape.release()


def test_a_tape_tells_what_it_holds() -> None:
    run = Run()
    run.gradient(40, memory=20 * BYTES)
    assert re.fullmatch(
        r"<tape done: 41 launches, [\d.]+ kB of old values held at most, "
        r"[\d.]+ runs of the forward, \d+ launches run again>",
        repr(run.tape),
    )


def test_a_tape_that_nobody_holds_lets_go_at_once() -> None:
    u, v, k = dt.ones(N, grad=True), dt.ones(N, grad=True), dt.ones((), grad=True)
    kept = current_session().pool.kept
    gc.disable()
    try:
        with dt.Tape() as tape:
            step(u, v, k)
        assert tape.nbytes
        del tape
        assert current_session().pool.kept == kept
    finally:
        gc.enable()


@pytest.mark.parametrize("body", ["solve", "exchange", "accumulate"])
def test_a_limit_counts_all_that_steps_with_launches_inside_keep(body: str) -> None:
    pool, loop, loss = current_session().pool, Loop(body), dt.zeros((), ti.f64, grad=True)
    before = pool.kept
    with dt.Tape(loss, memory="10MB") as tape:
        loop.run(dt.steps(6), loss)
        assert 0 < tape.nbytes == pool.kept - before
