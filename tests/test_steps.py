"""Runs of launches: `dt.steps`, `dt.repeat`, and the run that they make."""

from __future__ import annotations

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.launch.run import Run
from difftile.runtime.perform_run import perform_run


@dt.kernel
def push(x, v, force: float):
    for i in x:
        v[i] += force * ti.sin(x[i])
        x[i] += 0.1 * v[i]


@dt.kernel
def total(x, loss):
    for i in x:
        loss[None] += x[i] ** 2


FORCES = np.linspace(0.5, 2.0, 6)


def a_run():
    """Return fields and a run of `push`, whose force changes from period to period."""
    x = dt.from_numpy(np.linspace(1, 2, 3), dtype=ti.f64, grad=True)
    v = dt.zeros_like(x)
    launch, values = push._ready((x, v, float(FORCES[0])), {})
    place = launch.numbers[0].value
    return x, v, Run((launch,), (values,), len(FORCES), {(0, place): FORCES})


def test_a_run_launches_every_period_with_its_numbers():
    x, v, run = a_run()
    perform_run(run.part(0, 2))
    perform_run(run.part(2, 4))
    y, w, _ = a_run()
    for force in FORCES:
        push(y, w, force)
    assert np.array_equal(x.to_numpy(), y.to_numpy())
    assert np.array_equal(v.to_numpy(), w.to_numpy())
    assert run.part(2, 3).part(1, 1).values_at(0, 0)[-1] == FORCES[3]


@pytest.mark.parametrize("options", [{}, {"snapshots": 3}])
def test_a_run_is_recorded(options):
    gradients = []
    for fused in (True, False):
        x, v, run = a_run()
        loss = dt.zeros((), ti.f64, grad=True)
        with dt.Tape(loss, **options):
            if fused:
                perform_run(run)
            else:
                for force in FORCES:
                    push(x, v, force)
            total(x, loss)
        gradients.append(x.grad.to_numpy())
    assert np.array_equal(*gradients)
