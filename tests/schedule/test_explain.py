"""`kernel.explain()`: the exact text for one kernel that has something of everything."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from tests.diagnosis.test_diagnosis import line_of

ROOT = Path(__file__).parents[2]


@dt.func
def rough(a):
    return ti.floor(a) * 0.5


@rough.backward(approx=True)
def _(a, d_out):
    return 0.5 * d_out


@dt.kernel
def step(x, v, table, k, mask, loss, n: int):
    for i in x:
        q = x[i] * k[None]
        s = 0.0
        for _ in range(n):
            s = ti.sin(s + q)
        v[i] += 0.1 * s + rough(q) + dt.rand()
        mask[i] = 2.0 * x[i]
    for i in range(1, x.shape[0] - 1):
        bend = x[i - 1] - 2.0 * x[i] + x[i + 1]
        loss[None] += bend**2 + table[int(x[i])] + ti.round(x[i])


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def settle(x, y):
    for i in x:
        x[i] = ti.sin(x[i])
    for i in x:
        y[i] = x[i] * x[i]
    for i in x:
        x[i] = y[i] * x[i]


@dt.data_oriented
class Model:
    def __init__(self) -> None:
        self.x = dt.ones(3, grad=True)

    @dt.kernel
    def double(self):
        for i in self.x:
            self.x[i] *= 2.0


def readable(text: str) -> str:
    """Return a text without costs, and with lines counted from the kernel's first loop."""
    first = line_of(step, "for i in x:")
    text = re.sub(r"[\d.]+ s$", "0.1 s", text, flags=re.MULTILINE)
    text = re.sub(r"line (\d+)", lambda found: f"line +{int(found[1]) - first}", text)
    text = re.sub(r"[\d,]+ (statements|steps)", r"many \1", text)
    return re.sub(r'"[^"]*test_explain.py", ', "", text)


def test_all_there_is_to_say() -> None:
    x, v, table = (dt.ones(n, grad=True) for n in (64, 64, 9))
    k, loss, mask = dt.ones((), grad=True), dt.zeros((), grad=True), dt.zeros(64)
    text = step.explain(x, v, table, k, mask, loss, 10)
    assert np.all(v.to_numpy() == 1.0)  # it was not launched
    assert (
        readable(text)
        == """\
<kernel step(x, v, table, k, mask, loss, n)>: 1 specialisation, compiled in 0.1 s

Parameters
  x: In, f32 (64,), with gradient
  v: Sum, f32 (64,), with gradient
  table: In, f32 (9,), with gradient
  k: In, f32 (), with gradient
  mask: Out, f32 (64,)
  loss: Sum, f32 (), with gradient
  n: int, a constant to derivatives

Kept for the adjoint: at most 260 bytes a launch, where a later one overwrites them
  x as it is before it, 256 bytes
    for line +1: x[i] * k[None]
    for line +4: ti.sin(s + q)
    for line +9: bend**2
    for line +9: table[int(x[i])]
  k as it is before it, 4 bytes
    for line +1: x[i] * k[None]
    for line +4: ti.sin(s + q)

How the adjoint adds up
  the gradient of x: each element by its own iteration, not atomic
  the gradient of table: atomic, or copies for threads, or one thread, line +9: table[int(x[i])]
  the gradient of k: summed in blocks, one atomic addition each

Loops in the adjoint
  line +3: keeps its values, 128 numbers a thread

Schedule of the parallel loops
  line +0: serial: many steps take less than waking threads
  line +7: serial: many steps take less than waking threads
  adjoint, line +7: serial: many steps take less than waking threads
  adjoint, line +0: serial: many steps take less than waking threads

Loops as vector instructions
  forward: none, launches as small as this one run without them
  adjoint, line +7: vectorised
  adjoint, line +7: not vectorised: it writes 'table_bar' at computed places
    at line +9: table[int(x[i])]
  adjoint, line +3: not vectorised: it has values that each iteration computes from the one before

Cut: values that depend on fields with gradients without a derivative
  line +6: mask[i]: stored into 'mask', which has no gradient
  line +9: x[i]: cast to an integer here, which carries no derivative
  line +9: ti.round(x[i]): 'round' has the derivative 0

Derivatives by rules
  line +5: rough(q), an approximate derivative

Random numbers: 3 streams a launch; the adjoint draws them again

Programs on the way
  as written: many statements
  normalised: many statements
  forward: many statements
  adjoint: many statements"""
    )


@dt.kernel
def settled(x, y, at, total):
    for i in range(1, x.shape[0] - 1):
        y[i] = ti.sin(x[i - 1]) + x[(i + 1) % x.shape[0]]
    for i in x:
        if x[i] > 0.5:
            y[i] += dt.lgamma(x[i])
    for i in x:
        y[at[i]] = x[i]
    for i in x:
        total[None] += x[i] * x[i]
    s = 0.0
    for i in range(x.shape[0]):
        s = 0.5 * s + x[i]
        y[i] = s


def test_loops_that_are_vector_instructions_and_others() -> None:
    x, y, total = (dt.ones(shape, grad=True) for shape in (9000, 9000, ()))
    text = settled.explain(x, y, dt.zeros(9000, ti.i32), total)
    first = line_of(settled, "for i in range(1")
    text = re.sub(r"line (\d+)", lambda found: f"line +{int(found[1]) - first}", text)
    text = re.sub(r'"[^"]*test_explain.py", ', "", text)
    (section,) = (part for part in text.split("\n\n") if part.startswith("Loops as vector"))
    assert (
        section
        == """\
Loops as vector instructions
  line +0: vectorised
  line +2: not vectorised: it calls 'lgamma'
    at line +4: dt.lgamma(x[i])
    compute it in a loop of its own
  line +5: not vectorised: it writes 'y' at computed places
    at line +6: y[at[i]]
    let iteration i write element i
  line +7: vectorised
  line +10: not vectorised: it has values that each iteration computes from the one before
    only sums, products and counts can be passed on in vectors
  adjoint, line +10: not vectorised: it has values that each iteration computes from the one before
  adjoint, line +7: vectorised
  adjoint, line +5: not vectorised: it reads 'y_bar' at computed places
  adjoint, line +2: not vectorised: it calls 'digamma'
  adjoint, line +0: not vectorised: it writes elements of 'x_bar' and uses others
    at line +1: x[(i + 1) % x.shape[0]]"""
    )


def _schedule(text: str, first: int) -> str:
    """Return the section about the schedule, with lines counted from one of them."""
    text = re.sub(r"line (\d+)", lambda found: f"line +{int(found[1]) - first}", text)
    (section,) = (part for part in text.split("\n\n") if part.startswith("Schedule of"))
    return section


def test_schedules_and_their_reasons() -> None:
    dt.init(cpu_max_num_threads=4)
    x, y, total = (dt.ones(shape, grad=True) for shape in (900_000, 900_000, ()))
    text = settled.explain(x, y, dt.zeros(900_000, ti.i32), total)
    assert (
        _schedule(text, line_of(settled, "for i in range(1"))
        == """\
Schedule of the parallel loops
  line +0: threads(16): 99,899,778 steps take longer than waking 4 threads
  line +0: split_ends: between its ends, indices that wrap or stop there are sums
  line +0: vector_math: calls of the library would keep its loops from being vectors
  line +2: threads(16): 94,500,000 steps take longer than waking 4 threads
  line +5: threads(16): 3,600,000 steps take longer than waking 4 threads
  line +7: threads(16): 699,691 steps take longer than waking 4 threads
  line +7: small_copies(total): a copy for each thread takes less than atomic additions
  adjoint, line +7: threads(16): 900,000 steps take longer than waking 4 threads
  adjoint, line +5: threads(16): 4,500,000 steps take longer than waking 4 threads
  adjoint, line +2: threads(16): 96,300,000 steps take longer than waking 4 threads
  adjoint, line +0: threads(16): 101,699,774 steps take longer than waking 4 threads
  adjoint, line +0: copies(x_bar): a copy for each thread takes less than atomic additions
  adjoint, line +0: split_ends: between its ends, indices that wrap or stop there are sums"""
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cpu_max_num_threads": 1}, "serial: there is one thread"),
        (
            {"cpu_max_num_threads": 4, "scatter": "copies"},
            "small_copies(y): dt.init(scatter='copies') asks for them",
        ),
        (
            {"cpu_max_num_threads": 4, "scatter": "serial"},
            "serial: several threads would take longer to add to y",
        ),
    ],
)
def test_reasons_that_sessions_give(options: Any, said: str) -> None:
    dt.init(**options)
    text = scattered.explain(dt.ones(900_000), dt.zeros(900_000, ti.i32), dt.zeros(4))
    section = _schedule(text, line_of(scattered, "for i in x:"))
    assert f"  line +0: {said}" in section.splitlines()


@dt.kernel
def scattered(x, index, y):
    for i in x:
        y[index[i]] += ti.sin(x[i])


@dt.kernel
def summed(x, y):
    for i in y:
        for j in range(x.shape[1]):
            y[i] += x[i, j] * x[i, j]


def test_few_rows_are_spread() -> None:
    dt.init(cpu_max_num_threads=4)
    text = summed.explain(dt.ones((3, 900_000)), dt.zeros(3))
    section = _schedule(text, line_of(summed, "for i in y:"))
    assert section.splitlines()[2] == (
        "  line +0: spread(16): 3 iterations or rows are fewer than threads can share"
    )


@pytest.mark.parametrize(
    ("options", "why"),
    [({"debug": True}, "debug sessions run without them"), ({"scatter": "atomics"}, "")],
)
def test_sessions_with_and_without_vector_instructions(options: Any, why: str) -> None:
    script = f"""
import difftile as dt
dt.init(arch="cpu", cpu_max_num_threads=2, offline_cache=False, **{options})
from tests.schedule.test_explain import square
print(square.explain(dt.ones(9000), dt.ones(9000)))
"""
    command = [sys.executable, "-c", script]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert (f"No vector instructions: {why}" in text) == bool(why)
    assert ("Loops as vector instructions" in text) == (not why)


def test_without_gradients_and_without_a_launch() -> None:
    square(dt.ones(3), dt.ones(3))
    text = square.explain()
    assert "Kept for the adjoint, if all float fields had gradients: at most 12 bytes" in text
    square(dt.ones(3, ti.f64), dt.ones(3, ti.f64))
    assert "2 specialisations" in square.explain()


def test_rule_of_the_kernel() -> None:
    @dt.kernel
    def cube(x, y):
        for i in x:
            y[i] = x[i] ** 3

    @cube.backward
    def _(x, y):
        for i in x:
            x.grad_out[i] += 3.0 * x[i] ** 2 * y.grad_in[i]

    text = cube.explain(dt.ones(3, grad=True), dt.ones(3, grad=True))
    assert "A rule of its own: backward." in text


def test_stages_and_methods() -> None:
    x, y = dt.ones(3, grad=True), dt.ones(3, grad=True)
    text = settle.explain(x, y)
    assert "adjoint of stage 2" in text
    model: Any = Model()
    assert "with gradient" in model.double.explain()
    model.double()
    assert "InOut" in model.double.explain()


def test_adjoint_of_a_periodic_stencil_gathers() -> None:
    @dt.kernel
    def smooth(x, y):
        for i, j in x:
            n, m = x.shape[0], x.shape[1]
            across = x[(i + 1) % n, j] + x[(i - 1) % n, j]
            y[i, j] = across + x[i, (j + 1) % m] + x[i, (j - 1 + m) % m]

    text = smooth.explain(dt.ones((3, 4), grad=True), dt.ones((3, 4), grad=True))
    assert "the gradient of x: each element by its own iteration, not atomic" in text


@dt.kernel
def through_layers(x, y):
    left, total = 1.0, 0.0
    for i in x:
        left *= 1 - x[i]
    for i in x:
        total += x[i]
    ti.loop_config(serialize=True)
    for i in x:
        y[None] += left * total * i


def test_loops_in_order() -> None:
    x, y = dt.zeros(4, grad=True), dt.zeros((), grad=True)
    text = through_layers.explain(x, y)
    first = through_layers.function.__code__.co_firstlineno
    expected = f"Loops that one thread runs, in order\n  line {first + 3}: carries 'left'\n"
    assert f"{expected}  line {first + 8}\n\n" in text
