"""Loops of launches: `dt.steps`, `dt.repeat`, and the runs that they make."""

from __future__ import annotations

import functools
import gc
import itertools
import math
import operator
import random
from dataclasses import dataclass

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.fields.pending import PENDING
from difftile.fields.step_expression import STEP
from difftile.fields.step_number import Moment, StepNumber
from difftile.fusion import fused_run
from difftile.launch.run import Run
from difftile.runtime import queue, repeat
from difftile.runtime.perform_run import launch_one, perform_run
from difftile.runtime.queue import QUEUE
from tests.fusing import fusing
from tests.harness import many_threads


@dt.kernel
def push(x, v, force: float):
    for i in x:
        v[i] += force * ti.sin(x[i])
        x[i] += 0.1 * v[i]


@dt.kernel
def advance(p, q, t: int, gain: float):
    for i in p:
        q[i] = 0.9 * p[i] + 0.01 * t + gain * ti.cos(p[i])


@dt.kernel
def total(x, loss):
    for i in x:
        loss[None] += x[i] ** 2


@dt.kernel
def note(x, t: int, history):
    for _ in range(1):
        history[t] += x[0]


@dt.kernel
def blow(x, wind: ti.math.vec2):
    for i in x:
        x[i] += wind[0] - 0.5 * wind[1] * x[i]


def test_numbers_of_steps_are_exact_where_they_are_large() -> None:
    """A product of 64 bits would be another number modulo 97."""
    found = []
    for steps in (range(6), dt.steps(6)):
        x = dt.zeros(1, ti.i32)
        for t in steps:
            note_number(x, (t * 3_000_000_019 * 4_000_000_007 - 5) % 97)
        found.append(x.to_numpy().tolist())
    assert (
        found[0]
        == found[1]
        == [sum((t * 3_000_000_019 * 4_000_000_007 - 5) % 97 for t in range(6))]
    )


@dt.kernel
def note_number(x, number: int):
    for i in x:
        x[i] += number


def test_the_adjoint_of_a_run_goes_back_through_its_kernels() -> None:
    """On many threads some periods are one kernel, and those that are left one each."""
    start, weights = np.array([0.3, -0.7, 1.1]), np.array([1.0, 2.0, -0.5])
    x = dt.from_numpy(start, grad=True)
    v, n = dt.zeros(3, ti.f64, grad=True), 19
    forces = np.linspace(-0.4, 0.7, n)
    with many_threads(), fusing("always"):
        with dt.Tape() as tape:
            for k in range(n):
                push(x, v, float(forces[k]))
        tape.backward({x: weights})

    def end(x: np.ndarray) -> np.ndarray:
        v = np.zeros_like(x)
        for force in forces:
            v = v + force * np.sin(x)
            x = x + 0.1 * v
        return x

    np.testing.assert_allclose(x.to_numpy(), end(start), rtol=1e-13)
    expected = weights * end(start + 1e-30j).imag / 1e-30
    np.testing.assert_allclose(x.grad.to_numpy(), expected, rtol=1e-12)


@pytest.fixture
def runs(monkeypatch):
    """The runs that are performed: how many launches a period has, and how many periods.

    They are performed one launch after the other, so that results are those of Python to the bit.
    """
    found = []

    def performed(run):
        found.append((len(run.launches), run.count))
        for t in range(run.count):
            for j, launch in enumerate(run.launches):
                launch_one(launch, run.values_at(j, t))

    def repeated(run):
        found.append((len(run.launches), run.count))
        with monkeypatch.context() as patched:
            patched.setattr(PENDING, "hot", math.inf)  # off
            perform_run(run)

    monkeypatch.setattr(PENDING, "hot", 2**62)  # no loops over range
    monkeypatch.setattr(queue, "perform_fused", performed)
    monkeypatch.setattr(repeat, "perform_run", repeated)
    return found


def fields(count=2, grad=True):
    start = np.linspace(1, 2, 3)
    return [dt.from_numpy(start / (k + 1), dtype=ti.f64, grad=grad) for k in range(count)]


def gradient_of(simulate, loop, **options):
    """Return the result of a simulation and the gradient, with some loop in it."""
    x, *others = fields(3)
    loss = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss, **options):
        total(simulate(loop, x, *others), loss)
    return [loss.to_numpy(), x.grad.to_numpy(), *[one.grad.to_numpy() for one in others]]


def same(one, other):
    return all(map(np.array_equal, one, other))


def assert_close(one, other):
    """Compare what a fused run and its launches have computed: rounding may differ."""
    for found, wanted in zip(one, other, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-15)


# Runs

FORCES = np.linspace(0.5, 2.0, 6)


def a_run():
    """Return fields and a run of `push`, whose force changes from period to period."""
    x, v = fields()
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
    assert_close([x.to_numpy(), v.to_numpy()], [y.to_numpy(), w.to_numpy()])
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
        gradients.append([x.grad.to_numpy()])
    assert_close(*gradients)


# Loops


def by_steps(body, n):
    for t in dt.steps(n):
        body(t)


def by_range(body, n):
    for t in range(n):
        body(t)


LOOPS = [by_steps, dt.repeat]


def in_place(loop, x, v, w):
    for t in loop:
        push(x, v, 0.5 * np.sin(t * 0.1) + t / 3)
    return x


def swapping(loop, x, v, w):
    for t in loop:
        advance(x, v, t, 0.1 * t)
        x, v = v, x
    return x


def ring(loop, x, v, w):
    for t in loop:
        advance(x, v, 2 * t - 1, 0.3)
        advance(v, w, t % 3, 1 / (t + 1))
        x, v, w = v, w, x
    return x


class Sim:
    """Fields that swap roles as attributes, at two speeds."""

    def __init__(self, x, v, w):
        self.x, self.v, self.w = x, v, w

    def step(self, t):
        for _ in range(3):
            advance(self.x, self.v, t, 0.1)
            self.x, self.v = self.v, self.x
        push(self.w, self.x, 0.01)


def object_loop(loop, x, v, w):
    sim = Sim(x, v, w)
    for t in loop:
        sim.step(t)
    return sim.x


SIMULATIONS = [in_place, swapping, ring, object_loop]


@pytest.mark.parametrize("simulate", SIMULATIONS)
def test_steps_compute_what_a_loop_of_python_computes(simulate, runs):
    for n in range(10):
        a, b = fields(3), fields(3)
        found, wanted = simulate(dt.steps(n), *a), simulate(range(n), *b)
        assert same([one.to_numpy() for one in a], [one.to_numpy() for one in b])
        assert [found is one for one in a] == [wanted is one for one in b]  # the state of Python
    period = {in_place: 1, swapping: 2, ring: 3, object_loop: 2}[simulate]
    assert runs[-1][1] == 9 // period


@pytest.mark.parametrize("simulate", SIMULATIONS)
@pytest.mark.parametrize("options", [{}, {"snapshots": 3}, {"memory": "400B"}])
def test_gradients_through_steps_are_those_of_a_loop_of_python(simulate, options, runs):
    for n in (0, 1, 5, 13, 30):
        found = gradient_of(simulate, dt.steps(n), **options)
        assert same(found, gradient_of(simulate, range(n), **options))
    assert runs


@pytest.mark.parametrize("simulate", SIMULATIONS)
def test_fused_steps(simulate):
    for n, options in [(9, {}), (40, {}), (40, {"snapshots": 3}), (40, {"memory": "400B"})]:
        found = gradient_of(simulate, dt.steps(n), **options)
        assert_close(found, gradient_of(simulate, range(n), **options))


@dt.kernel
def squared(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def turned(x, y):
    for i in x:
        x[i] += 0.1 * ti.sin(y[i])


def test_what_is_retained_of_steps_is_what_is_retained_of_a_loop():
    found = []
    for loop in (dt.steps(20), range(20)):
        x, y = fields(2)
        loss = dt.zeros((), ti.f64, grad=True)
        with dt.Tape() as tape:
            for _ in loop:
                squared(x, y)
                turned(x, y)
            total(x, loss)
        tape.backward(loss, retain=(x, y))
        found.append([x.grad.to_numpy(), y.grad.to_numpy()])
    assert_close(*found)


def test_numbers_that_python_draws_unseen_are_no_repetition():
    """What an iterator has left is no part of the state, but what launches are given is seen."""
    found = []
    for loop in (dt.steps(24), range(24)):
        x, v = fields(2)
        gains, signs = itertools.cycle((0.1, 0.2)), itertools.cycle((0.0, -0.0))
        for t in loop:
            push(x, v, next(gains) * t)
        for _ in loop:
            whirl(x, next(signs))
        found.append([x.to_numpy(), v.to_numpy()])
    assert_close(*found)


@dt.kernel
def whirl(x, side: float):
    for i in x:
        x[i] = 0.9 * x[i] + i * ti.atan2(side, -1.0)


@dt.kernel
def twice(x):
    for i in x:
        x[i] *= 2.0


def test_launches_that_wait_are_told_apart():
    """By whether they are constants for the tape, by what they cut, and by the signs of zeros."""
    x, y = fields(2)
    between = dt.zeros(3, dtype=ti.f64)
    with fusing("always"):
        with dt.Tape() as tape:
            for _ in range(12):
                twice(x)
            with dt.no_grad():
                for _ in range(12):
                    twice(x)
        tape.backward({x: 1.0})
        assert not x.grad.to_numpy().any()
        with dt.Tape():
            for _ in range(2):
                between.fill(0.0)
                for _ in range(12):
                    squared(x, between)
            with pytest.warns(dt.GradientCut, match="is read again"):
                squared(between, y)
        array = np.ones(3)
        for _ in range(12):
            twice(dt.from_dlpack(array))
        assert (array == 2.0**12).all()  # whoever has it sees each launch
        shared = dt.from_dlpack(array)
        for _ in range(12):
            twice(shared)
        assert (array == 2.0**24).all()
        found = []
        for mode in ("always", False):
            with fusing(mode):
                x = fields(1)[0]
                for k in range(24):
                    whirl(x, -0.0 if k % 2 else 0.0)
                found.append([x.to_numpy()])
        assert_close(*found)


def test_a_field_that_follows_from_others_is_filled_in_each_step():
    found = []
    for loop in (dt.steps(12), range(12)):
        x, y = fields(2)
        levels = dt.DerivedField(x.dtype, x.shape, [x], functools.partial(squared, x))
        for _ in loop:
            turned(x, y)
            squared(levels, y)
        found.append([x.to_numpy(), y.to_numpy()])
    assert_close(*found)


def test_a_copy_between_parts_that_overlap_is_no_launch():
    found = []
    for loop in (dt.steps(9), range(9)):
        x = dt.from_numpy(np.arange(6.0))
        for _ in loop:
            x[1:].copy_from(x[:-1])
        found.append(x.to_numpy().tolist())
    assert found[0] == found[1]


def pushed(loop):
    """Return a state after pushes by the numbers of a loop."""
    x, v = fields(2)
    for t in loop:
        push(x, v, 0.1 * t)
    return x.to_numpy()


def test_bounds_are_those_of_a_range(runs):
    for bounds in [(3,), (2, 9), (20, 3, -2), (np.int64(7),), (-4,), (0,), (5, 5)]:
        assert np.array_equal(pushed(dt.steps(*bounds)), pushed(range(*bounds)))
        assert len(dt.steps(*bounds)) == len(range(*bounds))
    assert repr(dt.steps(3, 9, 2)) == "dt.steps(3, 9, 2)"


def test_a_long_body(runs):
    x, v = fields(2)
    names = {"dt": dt, "push": push, "x": x, "v": v}
    body = "".join(f"        push(x, v, {k} * 0.001 * t)\n" for k in range(40))
    exec(f"def run(loop):\n    for t in loop:\n{body}", names)
    names["run"](dt.steps(5))
    assert runs == [(40, 5)]


def test_bodies_that_begin_alike_are_told_apart(runs):
    def some(loop):
        x, v = fields(2)
        for t in loop:
            push(x, v, 0.1)
            if t < 5:
                twice(x)
            else:
                twice(v)
        return x.to_numpy()

    assert np.array_equal(some(dt.steps(9)), some(range(9)))
    assert runs == [(2, 5), (2, 4)]


def test_a_repeated_body_that_only_writes_runs_in_each_step():
    x, seen = dt.zeros(2), []
    dt.repeat(lambda: x.from_numpy(x.to_numpy() + 1.0), 9)
    assert x.tolist() == [9.0, 9.0]
    dt.repeat(lambda: x.add_numpy(np.ones(2)), 9)
    assert x.tolist() == [18.0, 18.0]
    dt.repeat(lambda: seen.append(float(x[0])), 9)
    assert seen == 9 * [18.0]


def test_a_loop_runs_again_from_the_start(runs):
    steps = dt.steps(5)
    assert np.array_equal(pushed(steps), pushed(steps))


def test_repeat_calls_a_function_or_kernel(runs):
    def by_repeat(n):
        x, v, w = fields(3)

        def swapping(t, x, v):
            advance(x, v, t, 0.1)
            return v, x

        def ring(x, v, w):
            advance(x, v, 3, 0.1)
            return v, w, x

        y, u = dt.repeat(swapping, n, x, v)
        dt.repeat(lambda gain=0.2: push(x, v, gain), np.int32(n))
        one, *_ = dt.repeat(ring, n, x, v, w)
        same_one = dt.repeat(lambda t, x: push(x, v, 0.1 * t), n, x)
        return [x.to_numpy(), v.to_numpy(), w.to_numpy(), y is x, u is v, one is x, same_one is x]

    def by_range(n):
        x, v, w = fields(3)
        y, u = x, v
        for t in range(n):
            advance(y, u, t, 0.1)
            y, u = u, y
        for _ in range(n):
            push(x, v, 0.2)
        turned = [x, v, w]
        for _ in range(n):
            advance(turned[0], turned[1], 3, 0.1)
            turned = [turned[1], turned[2], turned[0]]
        for t in range(n):
            push(x, v, 0.1 * t)
        one = turned[0] is x
        return [x.to_numpy(), v.to_numpy(), w.to_numpy(), y is x, u is v, one, True]

    for n in range(12):
        assert same(by_repeat(n), by_range(n))
    assert runs[-4:] == [(2, 5), (1, 11), (3, 3), (1, 11)]


@dt.data_oriented
class Pendula:
    def __init__(self):
        self.x, self.v = fields(2)

    @dt.kernel
    def swing(self, t: int):
        for i in self.x:
            self.v[i] -= 0.1 * ti.sin(self.x[i]) + 0.001 * t
            self.x[i] += 0.1 * self.v[i]

    @dt.kernel
    def rest(self):
        for i in self.x:
            self.v[i] *= 0.9


def test_repeat_calls_kernels_of_an_object(runs):
    a, b = Pendula(), Pendula()
    dt.repeat(a.swing, 7)
    dt.repeat(a.rest, 7)
    for t in range(7):
        b.swing(t)
    for _ in range(7):
        b.rest()
    assert np.array_equal(a.v.to_numpy(), b.v.to_numpy())
    assert runs == [(1, 7), (1, 7)]


def test_a_loop_of_python_is_left_where_its_body_says(runs):
    def some(loop, end):
        x, v = fields(2)
        count = 0
        for t in loop:
            push(x, v, 0.1 * t)
            count += 1
            if count == end:
                break
            if count > end:
                return None
        return x.to_numpy()

    for end in (1, 2, 5):
        assert np.array_equal(some(dt.steps(9), end), some(range(9), end))
        assert QUEUE._loop is None
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error):
            for _ in dt.steps(9):
                raise error
        assert QUEUE._loop is None

    def returns():
        for t in dt.steps(9):
            return t

    returns()
    assert QUEUE._loop is None
    assert runs == [(1, 5)]


# What Python does besides launches


def test_numbers_that_python_counts(runs):
    def some(loop):
        x, v = fields(2)
        time, seen = 0.0, []
        for t in loop:
            push(x, v, time)
            time += 0.1
            seen.append(time)
        return [x.to_numpy(), seen]

    assert same(some(dt.steps(20)), some(range(20)))
    assert runs == [(1, 20)]


class Counter:
    def __init__(self):
        self.inner = {"done": [0]}
        self.x, self.v = fields(2)

    def step(self, force):
        push(self.x, self.v, force)
        self.inner["done"][0] += 1
        if self.inner["done"][0] % 10 == 0:  # seldom enough for the first steps to look alike
            self.x, self.v = self.v, self.x


EVENTS = [0]


def test_what_python_remembers_wherever_it_is_kept(runs):
    def in_object(loop):
        one = Counter()
        for _ in loop:
            one.step(0.1)
        return one.x.to_numpy()

    def in_closure(loop):
        one, done = fields(2), 0

        def step():
            nonlocal done
            done += 1
            push(*one, 0.1 if done < 20 else 0.7)

        for _ in loop:
            step()
        return one[0].to_numpy()

    def in_module(loop):
        one = fields(2)
        EVENTS[0] = 0
        for _ in loop:
            count_event(one)
        return one[0].to_numpy()

    def in_iterator(loop):
        one, forces = fields(2), iter([0.1] * 20 + [0.7] * 20)
        for _ in loop:
            push(*one, next(forces))
        return one[0].to_numpy()

    for some in (in_object, in_closure, in_module, in_iterator):
        assert np.array_equal(some(dt.steps(33)), some(range(33)))
    assert runs == [*3 * [(1, 10)], (1, 3), *3 * [(1, 33)]]


@pytest.mark.compiled
def test_long_loops_are_several_runs(runs, monkeypatch):
    monkeypatch.setattr(queue, "_MOST_IN_LOOPS", 8)
    for simulate in SIMULATIONS:
        found = gradient_of(simulate, dt.steps(30))
        assert same(found, gradient_of(simulate, range(30)))
    assert (1, 5) in runs
    monkeypatch.setattr(repeat, "_AT_ONCE", 4)
    x, v = fields(2)
    dt.repeat(lambda t: push(x, v, 0.1 * t), 30)
    assert np.array_equal(x.to_numpy(), pushed(range(30)))
    assert (1, 4) in runs


def count_event(one):
    EVENTS[0] += 1
    push(*one, 0.1 if EVENTS[0] < 20 else 0.7)


def test_loops_that_count_the_steps_themselves(runs):
    def some(loop):
        x, v = fields(2)
        for t, force in loop:
            push(x, v, force + 0.1 * t)
        return x.to_numpy()

    forces = [0.1] * 20 + [0.7] * 20
    assert np.array_equal(
        some(zip(dt.steps(33), forces, strict=False)), some(enumerate(forces[:33]))
    )
    assert list(dt.steps(3)) == [0, 1, 2]
    assert [t + 1 for t in dt.steps(3)] == [1, 2, 3]

    def generated(n):
        x, v = fields(2)
        for t in dt.steps(n):
            push(x, v, 0.1 * t)
            yield x.to_numpy()  # a read, outside the body

    assert len(list(generated(5))) == 5
    assert runs == [(1, 33)]


# Nested loops


def nested(outer, inner, n, m):
    x, v, w = fields(3)
    history = dt.zeros(max(n, 1), ti.f64, grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        for t in outer(n):
            for k in inner(m):
                push(x, v, 0.1 * t - 0.02 * k * t)
                advance(x, w, k, 0.1)
                x, w = w, x
            note(x, t, history)
        total(history, loss)
    return [x.to_numpy(), history.to_numpy(), x.grad.to_numpy()]


def test_nested_loops(runs):
    for n, m in [(0, 3), (3, 0), (1, 1), (7, 2), (7, 3), (20, 1), (3, 40), (9, 33)]:
        wanted = nested(range, range, n, m)
        assert same(nested(dt.steps, dt.steps, n, m), wanted)
        assert same(nested(dt.steps, range, n, m), wanted)
        assert same(nested(range, dt.steps, n, m), wanted)
    assert (5, 7) in runs  # an inner loop of two steps belongs to the period of the outer one
    assert (4, 20) in runs  # a long one is a run of its own


def test_repeat_in_a_loop(runs):
    def some(repeat, loop):
        x, v = fields(2)
        for _ in loop:
            repeat(lambda k: push(x, v, 0.1 * k), 3)
        return x.to_numpy()

    def by_range(step, n):
        for k in range(n):
            step(k)

    assert np.array_equal(some(dt.repeat, dt.steps(9)), some(by_range, range(9)))
    assert runs == [(3, 9)]


def test_steps_of_many_launches_run_in_python(runs):
    def some(loop, inner):
        x, v = fields(2)
        for t in loop:
            for _ in range(70):
                push(x, v, 0.001 * t)
            for k in inner(40):
                push(x, v, 0.001 * k)
        return x.to_numpy()

    assert np.array_equal(some(dt.steps(5), dt.steps), some(range(5), range))
    assert runs.count((1, 40)) == 5


# Writes that are launches


def clearing(loop, x, v, w):
    force = dt.zeros_like(x)
    mean = dt.zeros((), ti.f64, grad=True)
    for t in loop:
        force.fill(0.1 * t)
        v.clear()
        mean[None] = 0.25
        push(x, v, 0.1)
        total(v, mean)
        w.copy_from(x)
        force[1:].copy_from(w[:2])
        force[:1].fill(2)
        push(force, w, 0.3)
        advance(force, x, t, 0.1)
    return x


def test_whole_writes_are_launches(runs):
    for n in (1, 2, 9):
        assert same(gradient_of(clearing, dt.steps(n)), gradient_of(clearing, range(n)))
    assert len(runs) == 1
    vectors, integers = dt.zeros(3, dt.vec(2, ti.f64)), dt.zeros(2, ti.i32)
    for t in dt.steps(5):
        vectors.fill([1.0, 2.0])
        integers.fill(t)
    assert vectors.to_numpy().tolist() == 3 * [[1.0, 2.0]]
    assert integers.to_numpy().tolist() == [4, 4]


# Where all steps run in Python


def test_tangents_see_every_launch_and_gradients_do_not(runs):
    def energy(x):
        v, loss = dt.zeros_like(x), dt.zeros((), ti.f64)
        for t in dt.steps(9):
            push(x, v, 0.1 * t)
        total(x, loss)
        return loss

    def plain(x):
        v, loss = dt.zeros_like(x), dt.zeros((), ti.f64)
        for t in range(9):
            push(x, v, 0.1 * t)
        total(x, loss)
        return loss

    x = dt.from_numpy(np.linspace(1, 2, 3))
    dots = [dt.jvp(f, x, np.ones(3))[1].to_numpy() for f in (energy, plain)]
    assert np.array_equal(*dots)
    assert not runs
    bars = [dt.grad(f)(x).to_numpy() for f in (energy, plain)]
    np.testing.assert_allclose(*bars, rtol=1e-13)
    assert runs == [(1, 9)]  # which a gradient records as a whole


def test_gradcheck_of_a_loop(runs):
    def loss(x, out):
        v = dt.zeros_like(x)
        for t in dt.steps(7):
            push(x, v, 0.1 * t)
        total(x, out)

    x = dt.from_numpy(np.linspace(1, 2, 3), grad=True)
    out = dt.zeros((), ti.f64, grad=True)

    def run():
        y = dt.zeros_like(x)
        y.copy_from(x)
        out.fill(0.0)
        loss(y, out)

    dt.gradcheck(run, x, outputs=out)


@pytest.mark.parametrize("options", [{"measure": True}, {"diagnose": True}])
def test_tapes_that_look_at_each_launch(options, runs):
    for simulate in SIMULATIONS:
        found = gradient_of(simulate, dt.steps(9), **options)
        assert same(found, gradient_of(simulate, range(9), **options))


def test_debug_runs_every_step_in_python(runs):
    try:
        dt.init(arch="cpu", debug=True)
        assert np.array_equal(pushed(dt.steps(9)), pushed(range(9)))
    finally:
        dt.init(arch="cpu")
    assert not runs


def test_funcs_and_operators_of_fields(runs):
    @dt.func
    def bend(a, b):
        return a + b * ti.sin(a)

    def some(loop, x, v, w):
        for t in loop:
            bend(x, 0.1 * t, _result=v)
            bend(v, w, _result=x)
            x *= 1.0 - 0.01 * t
            v += w
        return x

    assert same(gradient_of(some, dt.steps(9)), gradient_of(some, range(9)))
    assert runs == [(4, 9)]

    def new(loop, x, v, w):
        for t in loop:
            x = x + 0.1 * t * bend(x, 0.2)
        return x

    assert same(gradient_of(new, dt.steps(9)), gradient_of(new, range(9)))
    assert runs == [(4, 9)]  # new fields in every step


def test_gradients_that_stop_in_some_launches(runs):
    def partly(loop, x, v, w):
        for t in loop:
            push(x, v, 0.1)
            with dt.no_grad():
                advance(x, w, t, 0.1)
            push(x, w, 0.1)
        return x

    wanted = gradient_of(partly, range(9))
    assert same(gradient_of(partly, dt.steps(9)), wanted)
    assert not runs

    def wholly(loop, x, v, w):
        with dt.no_grad():
            for t in loop:
                push(w, v, 0.1 * t)
        push(x, w, 0.1)
        return x

    assert same(gradient_of(wholly, dt.steps(9)), gradient_of(wholly, range(9)))
    assert runs


def test_checkpoints_around_loops_and_in_them(runs):
    @dt.checkpoint
    def stretch(loop, x, v):
        for t in loop:
            push(x, v, 0.1 * t)

    def outside(loop, x, v, w):
        stretch(loop, x, v)
        return x

    def inside(loop, x, v, w):
        for _ in loop:
            stretch(range(3), x, v)
        return x

    for simulate in (outside, inside):
        assert same(gradient_of(simulate, dt.steps(9)), gradient_of(simulate, range(9)))
    assert runs


def test_numbers_that_carry_derivatives(runs):
    @dt.kernel
    def mean(x) -> float:
        result = 0.0
        for i in x:
            result += x[i] / 3
        return result

    def simulate(loop, x, v, w):
        gain = mean(w)
        for _ in loop:
            push(x, v, gain)
        return x

    assert same(gradient_of(simulate, dt.steps(9)), gradient_of(simulate, range(9)))


def test_a_kernel_with_a_rule(runs):
    @dt.kernel
    def halve(x, y):
        for i in x:
            y[i] = 0.5 * x[i]

    @halve.backward
    def _(x, y):
        for i in x:
            x.grad_out[i] += 3.0 * y.grad_in[i]

    def simulate(loop, x, v, w):
        for t in loop:
            halve(x, v)
            push(v, x, 0.1 * t)
        return v

    assert same(gradient_of(simulate, dt.steps(9)), gradient_of(simulate, range(9)))


@pytest.mark.parametrize("loop", LOOPS)
def test_an_index_that_leaves_its_shape_is_found_in_its_step(loop):
    def some(loop):
        x, _ = fields(2)
        history = dt.zeros(7, ti.f64)
        with pytest.raises(dt.KernelError, match="history"):
            loop(lambda t: note(x, t, history), 12)
        return history.to_numpy()

    assert np.array_equal(some(loop), some(by_range))


@pytest.mark.parametrize("loop", LOOPS)
def test_an_operation_that_fails_in_a_later_step(loop):
    def some(loop):
        x, v = fields(2)
        with pytest.raises(ZeroDivisionError):
            loop(lambda t: push(x, v, 1.0 / (t - 7)), 12)
        return x.to_numpy()

    np.testing.assert_allclose(some(loop), some(by_range), rtol=1e-12)


@pytest.mark.parametrize("loop", LOOPS)
def test_random_numbers_are_new_in_every_step(runs, loop):
    @dt.kernel
    def shake(x):
        for i in x:
            x[i] += dt.rand()

    def some(loop):
        dt.init(arch="cpu", seed=3)
        (x,) = fields(1)
        loop(lambda t: shake(x), 9)
        shake(x)
        return x.to_numpy()

    assert np.array_equal(some(loop), some(by_range))
    assert runs == [(1, 8 if loop is dt.repeat else 9)]  # after a step that could not wait


# Step numbers


@pytest.mark.parametrize("loop", LOOPS)
def test_vectors_of_step_numbers(runs, loop):
    def some(loop):
        (x,) = fields(1)

        def body(t):
            blow(x, [0.1 * t, 0.3])
            blow(x, (1, t % 4))

        loop(body, 9)
        return x.to_numpy()

    assert np.array_equal(some(loop), some(by_range))
    assert runs == [(2, 9)]


@pytest.mark.parametrize("loop", LOOPS)
def test_tables(runs, loop):
    forces, grid = np.linspace(0, 1, 12), np.arange(24.0).reshape(2, 12)

    def some(loop, one, two):
        x, v = fields(2)
        loop(lambda t: push(x, v, one[t] + two[1, -t - 1]), 12)
        return x.to_numpy()

    tables = dt.table(forces), dt.table(grid)
    assert np.array_equal(some(loop, *tables), some(by_range, forces.tolist(), grid))
    assert runs == [(1, 12)]
    assert repr(tables[1]) == "<table float64 (2, 12)>"
    assert len(tables[0]) == 12
    assert tables[0][3] == forces[3]


UNARY = [operator.neg, operator.pos, abs, round, math.floor, math.ceil, math.trunc, np.sin, np.exp]
BINARY = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
    *(operator.mod, operator.lt, operator.eq, operator.and_),
    *(np.add, np.maximum, np.arctan2, np.fmod),
    *(lambda a, b: np.where(a < b, a, b), lambda a, b: np.interp(a, [0.0, 5.0, 50.0], [1, 2, 3])),
    *(lambda a, b: 2 ** (a % 5) * abs(b) ** 0.5, lambda a, b: 1 << (a % 4)),
    *(lambda a, b: np.clip(a, 0.5, 4), lambda a, b: a**3 + b**-1, lambda a, b: 10**9 * a * b),
]
CONSTANTS = [0, 1, 2, 3, -5, 0.1, 2.5, -0.0, 1e300, 2**40, True, np.float64(0.3), np.float32(0.7)]


def single(value):
    """Return an array of shape () as its number."""
    return value[()] if isinstance(value, np.ndarray) else value


def drawn(rng, depth=0):
    """Return a random function of a number."""
    if depth > 3 or rng.random() < 0.2:
        constant = rng.choice(CONSTANTS)
        return (lambda t: t) if rng.random() < 0.7 else (lambda t: constant)
    if rng.random() < 0.3:
        one, a = rng.choice(UNARY), drawn(rng, depth + 1)
        return lambda t: single(one(a(t)))
    one, a, b = rng.choice(BINARY), drawn(rng, depth + 1), drawn(rng, depth + 1)
    return lambda t: single(one(a(t), b(t)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_arithmetic_with_step_numbers_is_that_of_python():
    rng, compared = random.Random(1), 0
    numbers = range(-3, 9)
    steps = np.arange(-3, 9)
    for _ in range(400):
        function = drawn(rng)

        def value(t, function=function):
            try:
                return function(t)
            except (ArithmeticError, TypeError, ValueError) as error:
                return type(error)

        plain = [value(t) for t in numbers]
        found = [value(StepNumber(t, STEP, Moment())) for t in numbers]
        for one, other in zip(plain, found, strict=True):
            given = other.plain if isinstance(other, StepNumber) else other
            assert repr(given) == repr(one) and type(given) is type(one)
        traced = [one for one in found if isinstance(one, StepNumber)]
        if not traced or any(isinstance(one, type) for one in plain):
            continue
        expressions = {one.expression for one in traced}
        if len(expressions) > 1:
            continue  # types that differ from step to step, as of `2**t`, run in Python
        try:
            table = expressions.pop().at(steps)
        except OverflowError:
            continue
        assert table.tolist() == np.array(plain).tolist() or repr(table.tolist()) == repr(
            np.array(plain).tolist()
        )
        compared += 1
    assert compared > 150


@dataclass
class Wind:
    speed: float


@pytest.mark.parametrize(
    "use",
    [
        bool,
        int,
        float,
        complex,
        hash,
        str,
        operator.index,
        math.sin,
        np.asarray,
        range,
        lambda t: f"{t:03}",
        lambda t: [1, 2, 3][t],
        lambda t: np.arange(3.0)[t],
        lambda t: np.arange(3.0) * t,
        lambda t: t * np.arange(3.0),
        np.sum,
        np.modf,
        np.add.reduce,
        lambda t: 1 if t > 3 else 2,
        lambda t: t in (5, 6),
        lambda t: max(t, 3),
        lambda t: {t: 1},
        lambda t: np.array([t, 1.0]),
        lambda t: dt.table(np.eye(3))[t],
        lambda t: dt.zeros(3)[t],
        dt.steps,
    ],
)
def test_what_would_make_one_number_of_all_is_refused(use):
    with pytest.raises(dt.StepsError, match=r"^(A branch on a|A) step number"):
        dt.repeat(lambda t: (use(t), None)[1], 5)
    assert QUEUE._loop is None


def test_step_numbers_do_not_outlive_their_step():
    x, v = fields(2)
    kept = [0]
    with pytest.raises(dt.StepsError, match="after its step"):
        dt.repeat(lambda t: (push(x, v, 0.1 * kept.pop()), kept.append(t))[0], 5)
    kept.clear()
    dt.repeat(kept.append, 5)
    with pytest.raises(dt.StepsError, match="after its step"):
        _ = kept[0] + 1
    with pytest.raises(dt.DifftileError):
        push(x, v, kept[0])


def test_loops_leave_nothing_behind():
    x, v = fields(2)

    def loop():
        for t in dt.steps(6):
            push(x, v, 0.1 * t)

    loop()  # compiles
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(20):
        loop()
    gc.collect()
    assert len(gc.get_objects()) < before + 50


@dt.kernel
def push_alone(x, v, force: float):
    for i in x:
        v[i] += force * ti.sin(x[i])
        x[i] += 0.1 * v[i]


def test_a_period_that_takes_long_to_compile_is_launched_one_by_one(monkeypatch):
    """A second run of worlds compiled ten of their steps as one kernel, for minutes."""
    monkeypatch.setattr(fused_run, "_MOST_STATEMENTS", 5)

    def simulate(loop, x, v, _):
        for t in loop:
            push_alone(x, v, 0.1 * t)
        return x

    wanted = gradient_of(simulate, range(9))
    with fusing("always"):
        assert same(gradient_of(simulate, dt.steps(9)), wanted)
    launch = push_alone._launches.latest
    assert launch is not None and launch.fusion is not None
    assert "statements takes longer than it saves" in launch.fusion


@dt.kernel
def _scaled(a, b, h: float):
    for i in a:
        a[i] = h * b[i]


def test_a_field_that_is_given_twice_leaves_numbers_in_their_places() -> None:
    found: list[np.ndarray] = []
    for loop in (range, dt.steps):
        x = dt.ones(3, ti.f64)
        for t in loop(40):
            _scaled(x, x, 1.0 + 0.01 * t)
        found.append(x.to_numpy())
    np.testing.assert_array_equal(*found)


@dataclass(frozen=True)
class Material:
    stiffness: float


@dt.data_oriented
class Body:
    """Names of all kinds that a kernel takes from outside, one of which changes in some step."""

    def __init__(self) -> None:
        self.x, self.other = dt.full(4, 1.0), dt.full(4, 2.0)
        self.gain, self.count, self.table = 0.5, 1, [0.25, 0.5]
        self.material = Material(1.5)

    @dt.kernel
    def turn(self, material: dt.template(), k: float):
        for i in range(self.x.shape[0]):
            self.x[i] = self.x[i] * self.gain + self.table[0] * MATERIALS[0].stiffness
            self.x[i] += k * self.count + material.stiffness + self.material.stiffness


MATERIALS = [Material(0.5)]
CHANGES = {
    "number": lambda body: setattr(body, "gain", 0.75),
    "integer": lambda body: setattr(body, "count", 3),
    "type of a number": lambda body: setattr(body, "gain", 2),
    "field": lambda body: setattr(body, "x", body.other),
    "item": lambda body: operator.setitem(body.table, 0, 3.0),
    "item of a module": lambda body: operator.setitem(MATERIALS, 0, Material(2.0)),
    "frozen object": lambda body: setattr(body, "material", Material(9.0)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_name_from_outside_changes_in_a_step(change, monkeypatch):
    found = []
    for loop in (range, dt.steps):
        monkeypatch.setitem(globals(), "MATERIALS", [Material(0.5)])
        body, material = Body(), Material(0.125)
        for t in loop(20):
            if t == 13:
                CHANGES[change](body)
            body.turn(Material(0.25) if t == 17 else material, 0.5 if t < 15 else 1.0)
        found.append([body.x.to_numpy(), body.other.to_numpy()])
    np.testing.assert_array_equal(*found)


def test_launches_that_take_names_from_outside_wait_by_a_shortcut(monkeypatch):
    body, material, taken = Body(), Material(0.125), []
    takes = QUEUE.takes
    monkeypatch.setattr(QUEUE, "takes", lambda *call: taken.append(takes(*call)) or taken[-1])
    for _ in dt.steps(20):
        body.turn(material, 0.5)
    assert sum(taken) >= 17
