"""Sums into elements that iterations share: atomics, a copy for each thread, one thread."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import FieldError, OutOfMemory
from difftile.ir.nodes import Array
from difftile.ir.types import F32, FieldType
from difftile.passes.privatise import ATOMICS, Scatter
from difftile.schedule.scatters import STRATEGIES, ScatterChoice, choose
from difftile.schedule.work import LoopWork
from difftile.substrate import calibration, current_session
from difftile.substrate.calibration import DEFAULT, Costs, plausible, read_costs, write_costs
from tests import harness, programs

programs.load()
THREADS = 3

# Sums and maxima of several arrays, of vectors, in inner loops, and in loops that read what they
# combine; with results that are used.
PROGRAMS = [
    "atomics.maxima_of_computed_values",
    "atomics.slots",
    "fields.boxes",
    "gather_scatter.grid_to_particles",
    "gather_scatter.springs_of_a_mesh",
    "local_memory.a_histogram",
    "matrix_products.pairwise_energy",
    "reductions.sum_in_a_nested_loop",
]


@pytest.fixture(scope="module", params=STRATEGIES)
def strategy(request: Any) -> Iterator[str]:
    """Start with a strategy, and end with the usual session."""
    dt.init(scatter=request.param, cpu_max_num_threads=THREADS)
    yield request.param
    dt.init()


@dt.kernel
def binned(x, index, total, pairs, count, most):
    for i in x:
        total[index[i]] += x[i] * x[i]
        pairs[index[i]] += ti.Vector([x[i], 1.0])
        count[index[i] // 2, index[i] % 2] += 1
        ti.atomic_max(most[index[i]], i)


@dt.kernel
def gathered(x, index, y):
    for i in y:
        y[i] = x[index[i]] * x[index[i]]


def test_every_strategy_computes_the_same(strategy: str) -> None:
    n, bins = 20_000, 10
    rng = np.random.default_rng(3)
    values, places = rng.standard_normal(n), rng.integers(0, bins, n)
    for size in (n, THREADS - 1, 1):
        x = dt.from_numpy(values[:size], ti.f64, grad=True)
        index = dt.from_numpy(places[:size].astype(np.int32))
        total = dt.from_numpy(np.ones(bins), ti.f64, grad=True)
        pairs = dt.zeros(bins, dt.vec(2, ti.f64), grad=True)
        count = dt.from_numpy(np.full((bins // 2, 2), 5, np.int32))
        most = dt.from_numpy(np.full(bins, -7, np.int32))
        with harness.many_threads(), dt.Tape() as tape:
            binned(x, index, total, pairs, count, most)
        tape.backward({total: np.ones(bins), pairs: np.ones((bins, 2))})
        v, k = values[:size], places[:size]
        expected = np.ones(bins)
        np.add.at(expected, k, v * v)
        np.testing.assert_allclose(total.to_numpy(), expected, rtol=1e-12)
        np.testing.assert_array_equal(count.to_numpy().ravel(), 5 + np.bincount(k, minlength=bins))
        largest = np.full(bins, -7)
        np.maximum.at(largest, k, np.arange(size))
        np.testing.assert_array_equal(most.to_numpy(), largest)
        np.testing.assert_allclose(x.grad.to_numpy(), 2 * v + 1, rtol=1e-12)


@dt.kernel
def first(x, index, y, n: int):
    for i in range(n):
        y[index[i]] += x[i]


def test_empty_loops_leave_the_target(strategy: str) -> None:
    x, y = dt.from_numpy(np.ones(8)), dt.from_numpy(np.arange(4.0))
    index = dt.from_numpy(np.arange(8, dtype=np.int32) % 4)
    for n, added in ((0, 0.0), (-3, 0.0), (8, 2.0)):
        with harness.many_threads():
            first(x, index, y, n)
        np.testing.assert_array_equal(y.to_numpy(), np.arange(4.0) + added)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_under_every_strategy(strategy: str, name: str) -> None:
    if strategy in ("copies", "serial"):
        (one,) = (one for one in harness.PROGRAMS if one.name == name)
        harness.check(one, single=strategy == "copies")


def test_copies_give_the_same_gradient_in_every_run() -> None:
    dt.init(scatter="copies", cpu_max_num_threads=THREADS)
    try:
        n, m = 200_000, 700
        rng = np.random.default_rng(4)
        x = dt.from_numpy(rng.standard_normal(m), ti.f32, grad=True)
        index = dt.from_numpy(rng.integers(0, m, n).astype(np.int32))
        y = dt.zeros(n, ti.f32, grad=True)
        found: list[Any] = []
        for _ in range(5):
            with harness.many_threads(), dt.Tape() as tape:
                gathered(x, index, y)
            with harness.many_threads():
                tape.backward({y: np.ones(n)})
            found.append(x.grad.to_numpy())
        exact = 2.0 * x.to_numpy() * np.bincount(index.to_numpy(), minlength=m)
        for one in found:
            np.testing.assert_array_equal(one, found[0])
        np.testing.assert_allclose(found[0], exact, rtol=1e-5)
    finally:
        dt.init()


@dt.kernel
def attraction(x, force):
    for i in x:
        total = ti.Vector([0.0, 0.0, 0.0])
        for j in range(x.shape[0]):
            d = x[j] - x[i]
            r2 = d.dot(d) + 0.01
            total += d / (r2 * ti.sqrt(r2))
        force[i] = total


def test_sums_into_copies_are_vectors() -> None:
    """LLVM makes them for both; whether they run depends on what it knows of the places.

    Without vectors copies took four times as long.
    """
    n, seconds = 1024, dict[str, float]()
    for strategy in ("copies", "serial"):
        dt.init(scatter=strategy, cpu_max_num_threads=THREADS)
        values = np.random.default_rng(5).standard_normal((n, 3))
        x = dt.from_numpy(values, dt.vec(3, ti.f32), grad=True)
        force = dt.zeros(n, dt.vec(3, ti.f32), grad=True)
        times: list[float] = []
        for _ in range(6):
            with dt.Tape() as tape:
                attraction(x, force)
            with harness.many_threads():
                started = time.process_time()
                tape.backward({force: np.ones((n, 3))})
                times.append(time.process_time() - started)
        seconds[strategy] = min(times)
    dt.init()
    assert seconds["copies"] < 2.5 * seconds["serial"], seconds


def test_without_memory_for_copies_additions_are_atomic(monkeypatch: pytest.MonkeyPatch) -> None:
    dt.init(scatter="copies", cpu_max_num_threads=THREADS)
    try:
        x, y = dt.from_numpy(np.ones(5_000), ti.f32), dt.zeros(4, ti.f32)
        index = dt.from_numpy(np.arange(5_000, dtype=np.int32) % 4)
        with harness.many_threads():
            scattered(x, index, y)

            def allocate(*_: object) -> Any:
                raise OutOfMemory("No memory.")

            monkeypatch.setattr(current_session().pool, "allocate", allocate)
            scattered(x, index, y)
        np.testing.assert_array_equal(y.to_numpy(), 2 * 1250.0)
    finally:
        dt.init()


@dt.kernel
def scattered(x, index, y):
    for i in x:
        y[index[i]] += x[i]


# The choice


def _choice(
    added: float, size: int, *, threads: int = 16, steps: float | None = None
) -> ScatterChoice:
    target = Array("y", FieldType(F32, 1))
    return choose(
        (Scatter(0, target, "add"),),
        [LoopWork(4 * added if steps is None else steps, {target: added}, (), ())],
        {target: (size,)},
        strategy="auto",
        threads=threads,
        costs=Costs,
    )


@pytest.mark.parametrize(
    ("added", "size", "way"),
    [
        (1 << 20, 256, "copies"),
        (1 << 20, 1 << 16, "copies"),
        (1 << 20, 1 << 20, "atomics"),
        (1 << 12, 1 << 24, "atomics"),
    ],
)
def test_what_a_loop_takes(added: float, size: int, way: str) -> None:
    """As measured on 16 threads."""
    plan = _choice(added, size).plan
    taken = "alone" if plan.serial else "copies" if plan.copied else "atomics"
    assert taken == way


def test_ordered_sums_have_copies_on_any_number_of_threads() -> None:
    target = Array("y", FieldType(F32, 1))
    scatter = Scatter(0, target, "add", ordered=True)
    for added, threads in itertools.product((1.0, 1e12), (1, 16)):
        loops = [LoopWork(4 * added, {target: added}, (), ())]
        options: dict[str, Any] = {"strategy": "auto", "threads": threads, "costs": Costs}
        plan = choose((scatter,), loops, {target: (10,)}, **options).plan
        assert plan.copied == (scatter,)


def test_copies_that_do_not_fit_are_not_taken() -> None:
    assert _choice(1e12, 1 << 30).plan.copied == ()


def test_targets_that_the_loop_reads_have_no_copies() -> None:
    target = Array("y", FieldType(F32, 1))
    for strategy, plan in (("copies", ATOMICS), ("atomics", ATOMICS)):
        choice = choose(
            (Scatter(0, target, None),),
            [LoopWork(1e6, {target: 1e6}, (), ())],
            {target: (10,)},
            strategy=strategy,
            threads=4,
            costs=Costs,
        )
        assert choice.plan == plan


# Its costs


def test_costs_are_measured_once_for_a_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = replace(current_session().backend)
    monkeypatch.setattr(backend.devices, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(calibration, "_known", {})
    found = calibration.costs_on(backend, 2)
    assert found == plausible(found)
    monkeypatch.setattr(calibration, "_measured", None)
    assert calibration.costs_on(backend, 2) is found  # in this process
    monkeypatch.setattr(calibration, "_known", {})
    assert calibration.costs_on(backend, 2) == found  # in the next one
    assert len(list((tmp_path / "cache").iterdir())) == 1


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"waking": 1}', "[" * 100_000, '{"waking": NaN}', "\0\xff"],
)
def test_files_that_cannot_be_read_have_no_costs(text: str, tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    file.write_text(text, encoding="latin-1")
    assert read_costs(file) is None


def test_implausible_costs_are_not_believed(tmp_path: Path) -> None:
    file = tmp_path / "costs.json"
    for bad in (0.0, -1.0, float("inf"), float("nan"), 1e12):
        write_costs(file, replace(DEFAULT, contended=bad))
        assert read_costs(file) is None
        assert plausible(replace(DEFAULT, contended=bad)).contended > 0
    write_costs(file, DEFAULT)
    assert read_costs(file) == DEFAULT


def test_costs_that_cannot_be_kept_are_used(tmp_path: Path) -> None:
    write_costs(tmp_path / "x" / "y.json", DEFAULT)
    assert read_costs(tmp_path / "x" / "y.json") == DEFAULT
    (tmp_path / "file").write_text("")
    write_costs(tmp_path / "file" / "y.json", DEFAULT)
    assert read_costs(tmp_path / "file") is None
    (tmp_path / "folder").mkdir()
    write_costs(tmp_path / "folder", DEFAULT)
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".tmp"] == []


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(FieldError) as caught:
        dt.init(scatter="copy")
    expected = "scatter is 'auto', 'atomics', 'copies' or 'serial', not 'copy'."
    assert str(caught.value) == expected
