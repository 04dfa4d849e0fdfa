"""Sums over worlds: the same bits on any number of threads, and the form that devices run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.ir.nodes import Array
from difftile.ir.types import F32, FieldType
from difftile.passes.privatise import ATOMICS, Scatter
from difftile.schedule import choose as choosing
from difftile.schedule.scatters import ScatterChoice, rows_of
from difftile.schedule.work import LoopWork
from tests.harness import many_threads

pytestmark = pytest.mark.compiled

WORLDS = 1003


@dt.kernel
def swing(angle, speed, length, h: float, energy, kicks):
    for i in angle:
        speed[i] -= h * 9.8 / length[i] * ti.sin(angle[i]) * (1.0 + kicks[i % 2][1])
        angle[i] += h * speed[i]
    for i in angle:
        energy[None] += 0.5 * speed[i] ** 2


def results(steps: int = 6) -> list[np.ndarray]:
    """Return an energy, and its gradients by shared lengths and kicks, and by angles."""
    rng = np.random.default_rng(0)
    run = dt.batch(swing, WORLDS, shared=("length", "energy", "kicks"))
    angle = dt.from_numpy(rng.normal(size=(WORLDS, 3)), grad=True)
    speed = dt.zeros((WORLDS, 3), dtype=ti.f64, grad=True)
    length = dt.from_numpy(rng.uniform(1, 2, 3), grad=True)
    kicks = dt.zeros(2, dtype=dt.vec(2, ti.f64), grad=True)
    kicks.from_numpy(rng.normal(size=(2, 2)))
    energy = dt.zeros((), dtype=ti.f64, grad=True)
    with dt.Tape(energy):
        for _ in range(steps):
            run(angle, speed, length, 0.01, energy, kicks)
    return [energy.to_numpy(), *(f.grad.to_numpy() for f in (length, kicks, angle))]


@pytest.fixture
def sessions() -> Iterator[None]:
    yield
    dt.init()


@pytest.mark.usefixtures("sessions")
def test_sums_over_worlds_have_the_same_bits_on_any_number_of_threads() -> None:
    found = {}
    for threads in (1, 2, 3):
        for many in (False, True):
            dt.init(cpu_max_num_threads=threads)
            with many_threads(many):
                found[threads, many] = results()
    first = found[1, False]
    assert all(one.any() for one in first)
    for key, others in found.items():
        for one, other in zip(first, others, strict=True):
            np.testing.assert_array_equal(one, other, str(key))


def in_rows_always(scatters: Any, loops: Any, shapes: Any, **_: Any) -> ScatterChoice:
    """Let the CPU add up as a device does."""
    return ScatterChoice(rows_of(scatters, loops, shapes), 0.0, 0.0)


@pytest.mark.usefixtures("sessions")
def test_sums_over_worlds_in_rows_are_those_in_copies() -> None:
    dt.init(cpu_max_num_threads=3)
    wanted = results()
    dt.init(cpu_max_num_threads=3)
    with mock.patch.object(choosing, "choose_plan", in_rows_always), many_threads():
        found, again = results(), results()
    for one, other, third in zip(wanted, found, again, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)
        np.testing.assert_array_equal(other, third)


def test_rows_take_no_more_memory_than_they_may() -> None:
    target = Array("y", FieldType(F32, 1))
    scatter = Scatter(0, target, "add", ordered=True)
    works = [LoopWork(1.0, {target: 1.0}, (65_536,), ())]
    assert rows_of((scatter,), works, {target: (14,)}).rows == (scatter,)
    assert rows_of((scatter,), works, {target: (10_000,)}) == ATOMICS
    assert rows_of((replace(scatter, ordered=False),), works, {target: (14,)}) == ATOMICS
    assert rows_of((replace(scatter, op="max"),), works, {target: (14,)}) == ATOMICS


@pytest.mark.gpu
@pytest.mark.usefixtures("sessions")
def test_sums_over_worlds_on_cuda_repeat_bit_for_bit() -> None:
    wanted = results()
    try:
        dt.init(arch="cuda")
    except dt.FieldError as error:
        pytest.skip(f"no CUDA device: {error}")
    found = [results() for _ in range(3)]
    for one, other in zip(wanted, found[0], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)
    for again in found[1:]:
        for one, other in zip(found[0], again, strict=True):
            np.testing.assert_array_equal(one, other)
