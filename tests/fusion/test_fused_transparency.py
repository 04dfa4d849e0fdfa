"""Each way in which Python can observe memory sees what the launches before have written.

With `fuse="always"` launches that repeat are noted and run later. An observation is a function of a
scene whose launches may not have run yet; the same program without fusion says what it must see. A
second test takes the flush of the queue away: every observation must then fail, so each depends on
the flush.
"""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import threading
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias
from unittest import mock

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.fields.recording import RECORDING
from difftile.fusion import fused_run
from difftile.launch.streams import STREAMS
from difftile.runtime import queue
from difftile.runtime.tape import Tape
from difftile.substrate import current_session, pool
from difftile.viewer import App
from tests.fusing import flushing_nothing, fusing

N = 6


@dt.kernel
def step(x, y, h: float):
    for i in x:
        y[i] = 0.5 * y[i] + h * ti.sin(x[i])
    for i in x:
        x[i] = x[i] + 0.1 * y[i]


@dt.kernel
def add(x, a: float):
    for i in x:
        x[i] += a


@dt.kernel
def measure(x, loss):
    for i in x:
        loss[None] += x[i] * x[i]


@dt.kernel
def mean(x):
    found = 0.0
    for i in x:
        found += x[i]
    return found / x.shape[0]


@dt.kernel
def draw(x):
    for i in x:
        x[i] += dt.rand()


@dt.kernel
def poke(x, k: int):
    x[k] = 1.0


@dt.kernel
def turn(x, a: float):
    for i in x:
        x[i] += ti.atan2(a, -1.0 - i)


@dt.kernel
def linear(x, y, a):
    for i in x:
        y[i] = 2.0 * x[i] + a[i]


@dt.kernel
def slope(t: float, y, dy, k):
    for i in y:
        dy[i] = -k[i] * y[i] * t


@dt.func
def squared(x: ti.f64) -> ti.f64:
    return x * x


class Scene:
    """Fields, and launches on them that repeat."""

    def __init__(self) -> None:
        self.x = dt.from_numpy(np.linspace(0.2, 1.4, N), grad=True)
        self.y = dt.from_numpy(np.linspace(1.0, -1.0, N), grad=True)
        self.loss = dt.zeros((), ti.f64, grad=True)

    def note(self, times: int = 7) -> Scene:
        """Launch the same again and again; the last launches wait for somebody who looks."""
        for k in range(times):
            step(self.x, self.y, 0.1 * k)
        return self

    def taped(self, **options: Any) -> dt.Tape:
        """Return a tape that has recorded such launches."""
        with dt.Tape(**options) as tape:
            self.note()
            measure(self.x, self.loss)
        return tape


Observation: TypeAlias = Callable[[Scene], object]
OBSERVATIONS: dict[str, Observation] = {}


def observation(function: Observation) -> Observation:
    """Enter an observation into the table."""
    OBSERVATIONS[function.__name__] = function
    return function


# Reads of values


@observation
def an_element(s: Scene) -> object:
    return s.note().x[2]


@observation
def all_values(s: Scene) -> object:
    return s.note().x.to_numpy()


@observation
def the_field_that_only_the_first_loop_writes(s: Scene) -> object:
    return s.note().y.to_numpy()


@observation
def an_array_made_by_numpy(s: Scene) -> object:
    return np.asarray(s.note().x)


@observation
def numpy_arithmetic(s: Scene) -> object:
    return np.sum(s.note().x) + np.ones(N)


@observation
def elements_one_by_one(s: Scene) -> object:
    s.note()
    return [s.x[k] for k in range(N)]


@observation
def a_part(s: Scene) -> object:
    return s.note().x[1::2].to_numpy()


@observation
def a_part_taken_before(s: Scene) -> object:
    part = s.x[1:]
    s.note()
    return part.to_numpy()


@observation
def another_shape(s: Scene) -> object:
    return s.note().x.view(2, 3).to_numpy()


@observation
def another_shape_taken_before(s: Scene) -> object:
    other = s.x.view(2, 3)
    s.note()
    return other[1, 2]


@observation
def repeated_elements(s: Scene) -> object:
    return s.note().x.broadcast_to(2, N).to_numpy()


@observation
def a_detached_field(s: Scene) -> object:
    other = s.x.detach()
    s.note()
    return other.to_numpy()


@observation
def a_single_number(s: Scene) -> object:
    for _ in range(7):
        measure(s.x, s.loss)
    return float(s.loss.to_numpy()), s.loss[None]


@observation
def a_copy(s: Scene) -> object:
    return copy.copy(s.note().x).to_numpy()


@observation
def a_deep_copy(s: Scene) -> object:
    return copy.deepcopy([s.note().x])[0].to_numpy()


@observation
def what_is_pickled_or_saved(s: Scene) -> object:
    return [pickle.loads(pickle.dumps(one)) for one in (s.x.to_numpy(), s.note().x.to_numpy())]


@observation
def what_comes_back_from_a_pickle(s: Scene) -> object:
    return pickle.loads(pickle.dumps(s.note().x)).to_numpy()


@observation
def an_archive(s: Scene) -> object:
    path = Path("build") / "fused_transparency.npz"
    path.parent.mkdir(exist_ok=True)
    np.savez(path, **{"x": s.note().x})
    with np.load(path) as saved:
        return saved["x"]


@observation
def a_gradient_that_launches_write(s: Scene) -> object:
    for _ in range(7):
        add(s.x.grad, 0.5)
    return s.x.grad[1], s.x.grad.to_numpy()


@observation
def members_of_structs(s: Scene) -> object:
    body = ti.types.struct(at=ti.f64, speed=ti.f64)
    bodies = dt.field(body, N)
    bodies.fill(0.5)
    for k in range(7):
        step(bodies.at, bodies.speed, 0.1 * k)
    return bodies.at[0], bodies.to_numpy()


@observation
def vectors_and_matrices(s: Scene) -> object:
    u = dt.zeros(N, dt.vec(2, ti.f64))
    for _ in range(7):
        add(u, 0.5)
    return u[1], u.to_numpy()


# Writes, copies and other launches: the noted ones come first


@observation
def an_element_written(s: Scene) -> object:
    s.note().x[2] = 5.0
    return s.x.to_numpy()


@observation
def a_part_written(s: Scene) -> object:
    s.note().x[1:3] = 5.0
    return s.x.to_numpy()


@observation
def a_field_filled(s: Scene) -> object:
    s.note().x.fill(5.0)
    return s.x.to_numpy(), s.y.to_numpy()


@observation
def a_field_filled_that_launches_read(s: Scene) -> object:
    for _ in range(7):
        measure(s.x, s.loss)
    s.x.from_numpy(np.zeros(N))
    return s.loss[None]


@observation
def a_copy_from(s: Scene) -> object:
    other = dt.zeros_like(s.x)
    other.copy_from(s.note().x)
    return other.to_numpy()


@observation
def a_copy_into(s: Scene) -> object:
    other = dt.ones_like(s.x)
    s.note().x.copy_from(other)
    step(s.x, s.y, 1.0)
    return s.x.to_numpy(), s.y.to_numpy()


@observation
def a_copy_between_parts(s: Scene) -> object:
    s.note().x[1:].copy_from(s.x[:-1])
    return s.x.to_numpy()


@observation
def numbers_added_to_a_gradient(s: Scene) -> object:
    for k in range(7):
        step(s.x.grad, s.y, 0.1 * k)
    s.x.grad.add_numpy(np.ones(N))
    return s.x.grad.to_numpy()


@observation
def arithmetic_of_fields(s: Scene) -> object:
    z = s.note().x * 2 + s.y
    s.x += z
    return z.to_numpy(), s.x.to_numpy()


@observation
def a_func_that_python_calls(s: Scene) -> object:
    return squared(s.note().x).to_numpy()


@observation
def another_kernel(s: Scene) -> object:
    add(s.note().x, 1.0)
    return s.x.to_numpy()


@observation
def a_result(s: Scene) -> object:
    return mean(s.note().x)


@observation
def a_result_passed_on(s: Scene) -> object:
    for _ in range(5):
        step(s.x, s.y, mean(s.y))
    return s.x.to_numpy()


@observation
def random_numbers(s: Scene) -> object:
    with STREAMS.given_back():
        for _ in range(7):
            draw(s.x)
        add(s.x, 1.0)
        draw(s.y)
        return s.x.to_numpy(), s.y.to_numpy()


@observation
def numbers_that_are_equal_and_not_the_same(s: Scene) -> object:
    for k in range(9):
        turn(s.x, (0.0, -0.0)[k % 2])
    return s.x.to_numpy()


@observation
def numbers_of_several_types(s: Scene) -> object:
    for k in range(12):
        turn(s.x, (0.5, np.float64(0.5), 1, np.float32(0.25))[k // 3])
    return s.x.to_numpy()


@observation
def gradients_set_to_zero(s: Scene) -> object:
    for _ in range(7):
        add(s.x.grad, 0.5)
    dt.zero_grads(s.x)
    add(s.x.grad, 0.25)
    step(s.x.grad, s.y, 0.5)
    return s.x.grad.to_numpy(), s.y.to_numpy()


# Objects of the library that are made of fields


@observation
def rows(s: Scene) -> object:
    made = dt.Rows(x=s.x, y=s.y)
    s.note()
    made.take([3, 0, 0])
    first = made.to_numpy()
    for k in range(7):
        step(made.x, made.y, 0.1 * k)
    made.append(x=np.ones(1), y=np.ones(1))
    made.prune(made.y.to_numpy() > 0.9)
    return first, made.to_numpy()


@dt.kernel
def brighten(data):
    for i, j in data:
        data[i, j] *= 0.9


@dt.kernel
def look(tex: ti.template(), y):
    for i in y:
        y[i] += tex.sample_lod(ti.Vector([0.1 * i, 0.3]), 1.0)


@observation
def a_texture_and_its_levels(s: Scene) -> object:
    values = np.random.default_rng(1).normal(size=(8, 8))
    texture = dt.Texture(values, mip="linear", dtype=ti.f64)
    data = texture.data
    for _ in range(7):
        brighten(data)
    look(texture, s.y)
    for _ in range(7):
        brighten(data)
    return s.y.to_numpy(), data.to_numpy()


@observation
def a_shape_of_the_viewer(s: Scene) -> object:
    points = dt.zeros(N, dt.vec(2, ti.f64))
    for _ in range(7):
        add(points, 0.07)
    app = App(size=(480, 320), backend="null")

    @app.draw
    def draw_points() -> None:
        app.points(points, radius=4)

    app.run(frames=1)
    assert draw_points is not None
    return app.picture


@observation
def an_operation_of_the_user(s: Scene) -> object:
    @dt.custom_op
    def double(x: dt.In, y: dt.Out) -> None:
        y.from_numpy(2 * x.to_numpy())

    double(s.note().x, s.y)
    return s.y.to_numpy()


@observation
def launches_inside_an_operation(s: Scene) -> object:
    @dt.custom_op
    def several(x: dt.InOut, y: dt.InOut) -> None:
        for k in range(7):
            step(x, y, 0.1 * k)

    @several.backward
    def _(x: Any, y: Any) -> None:
        for _ in range(7):
            add(x.grad_out, 0.5)

    assert _ is not None
    with dt.Tape() as tape:
        s.note()
        several(s.x, s.y)
        s.note()
        measure(s.x, s.loss)
    tape.backward(s.loss)
    return s.x.to_numpy(), s.x.grad.to_numpy()


@pytest.mark.filterwarnings("ignore::difftile.GradientWarning")
@observation
def a_step_of_an_optimiser(s: Scene) -> object:
    optimiser = dt.optim.Adam(s.x, lr=0.1, clip_norm=1.0)
    for _ in range(2):
        for k in range(7):
            step(s.x.grad, s.y, 0.1 * k)
        optimiser.step()
        for _ in range(7):
            add(s.x, 0.01)
    return s.x.to_numpy(), optimiser.grad_norm, optimiser.state_dict()


@observation
def a_gradient_of_launches_and_an_optimiser(s: Scene) -> object:
    """A step leaves fields alone whose gradient nobody has computed since the last one."""
    optimiser = dt.optim.SGD(s.x, lr=0.1)
    for _ in range(3):
        for _ in range(7):
            add(s.x.grad, 0.5)
        optimiser.step()
    return s.x.to_numpy()


@observation
def lbfgs(s: Scene) -> object:
    optimiser = dt.optim.LBFGS(s.x)

    def closure() -> Any:
        s.loss.fill(0.0)
        with dt.Tape(s.loss):
            s.y.fill(0.5)
            s.note(4)
            s.x.copy_from(s.x)
            measure(s.x, s.loss)
        return s.loss[None]

    start = s.x.to_numpy()
    s.note()
    assert not np.array_equal(start, s.x.to_numpy())
    return optimiser.state_dict(), closure()


@observation
def a_check_of_gradients(s: Scene) -> object:
    s.note()

    def function() -> dt.Field:
        z, loss = dt.zeros_like(s.x), dt.zeros((), ti.f64, grad=True)
        z.copy_from(s.x)
        for _ in range(4):
            add(z, 0.5)
        measure(z, loss)
        return loss

    report = dt.gradcheck(function)
    add(s.x, 1.0)
    return bool(report), s.x.to_numpy()


@observation
def a_solution(s: Scene) -> object:
    matrix = dt.full(N, 2.0, ti.f64)
    s.note()
    for _ in range(7):
        add(matrix, 0.1)
    out = dt.zeros(N, ti.f64)

    def apply(v: dt.Field, w: dt.Field, a: dt.Field) -> None:
        w.copy_from(v * a)

    dt.linear_solve(apply, s.x, out, args=(matrix,))
    return out.to_numpy()


@observation
def an_equation(s: Scene) -> object:
    rate = dt.zeros(N, ti.f64)
    s.note()
    for _ in range(7):
        add(rate, 0.1)
    dt.odeint(slope, s.x, 0.0, 1.0, args=(rate,), method="rk4", steps=8)
    return s.x.to_numpy()


# Derivatives as functions


def _energy(x: dt.Field) -> dt.Field:
    z, w = dt.zeros_like(x, grad=True), dt.zeros_like(x, grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    z.copy_from(x)
    for _ in range(5):
        step(z, w, 0.3)
    measure(z, loss)
    return loss


@observation
def a_gradient_as_a_function(s: Scene) -> object:
    return np.asarray(dt.grad(_energy)(s.note().x))


@observation
def products_with_a_jacobian(s: Scene) -> object:
    value, pull = dt.vjp(_energy, s.note().x)
    pulled = pull(1.0)
    value_there, dot = dt.jvp(_energy, (s.note().x,), (np.ones(N),))
    return [np.asarray(one) for one in (value, *pulled, value_there, dot)]


@observation
def a_hessian(s: Scene) -> object:
    return np.asarray(dt.hessian(_energy)(s.note(4).x))


@observation
def the_adjoint_of_one_launch(s: Scene) -> object:
    s.note()
    for _ in range(7):
        add(s.x.grad, 0.5)
    step.bwds(s.x, s.y, 0.5)
    return s.x.grad.to_numpy(), s.y.grad.to_numpy()


@observation
def the_tangent_of_one_launch(s: Scene) -> object:
    s.note()
    for _ in range(7):
        add(s.x.grad, 0.5)
    step.fwds(s.x, s.y, 0.5)
    return s.x.to_numpy(), s.x.grad.to_numpy()


# Tapes


@observation
def launches_before_a_tape(s: Scene) -> object:
    tape = s.note().taped()
    length = len(tape)
    tape.backward(s.loss)
    return length, tape.recomputed, s.x.grad.to_numpy()


@observation
def launches_after_a_tape(s: Scene) -> object:
    tape = s.taped()
    s.note()
    tape.backward(s.loss)
    return s.x.grad.to_numpy(), s.x.to_numpy()


@observation
def a_loss_as_the_block_ends(s: Scene) -> object:
    with dt.Tape(s.loss):
        for _ in range(7):
            step(s.x, s.y, 0.3)
            measure(s.x, s.loss)
    return s.x.grad.to_numpy()


@observation
def gradients_that_are_read_on_a_tape(s: Scene) -> object:
    s.x.grad.fill(3.0)
    with dt.Tape():
        s.note()
        return s.x.grad.to_numpy(), s.x.to_numpy()


@observation
def seeds_that_launches_write(s: Scene) -> object:
    with dt.Tape() as tape:
        s.note()
    seed = dt.zeros(N, ti.f64)
    for _ in range(7):
        add(seed, 0.5)
    tape.backward({s.x: seed})
    return s.x.grad.to_numpy()


@observation
def gradients_that_launches_write_between_passes(s: Scene) -> object:
    tape = s.taped()
    tape.backward(s.loss, keep=True)
    for _ in range(7):
        add(s.x.grad, 0.5)
    tape.backward(s.loss)
    return s.x.grad.to_numpy()


@observation
def the_progress_of_a_backward_pass(s: Scene) -> object:
    tape, calls = s.taped(), []
    tape.backward(s.loss, progress=lambda done, total: calls.append((done, total)))
    assert calls == sorted(calls)
    return calls[-1], s.x.grad.to_numpy()


@observation
def retained_gradients(s: Scene) -> object:
    tape = s.taped()
    tape.backward(s.loss, retain=[s.x])
    return s.x.grad.to_numpy(), s.y.grad.to_numpy()


@observation
def the_length_of_an_open_tape(s: Scene) -> object:
    with dt.Tape() as tape:
        s.note()
        return len(tape)


@observation
def what_an_open_tape_says(s: Scene) -> object:
    with dt.Tape() as tape:
        s.note()
        return tape.summary().split(",")[0], repr(tape).split(",")[0]


@observation
def what_an_open_tape_has_written(s: Scene) -> object:
    with dt.Tape() as tape:
        for k in range(7):
            step(s.x, s.y, 0.1 * k)
        names = {s.x.storage: "x", s.y.storage: "y", s.loss.storage: "loss"}
        before = [names[one.storage] for one in tape.written]
        for _ in range(7):
            measure(s.x, s.loss)
        return before, [names[one.storage] for one in tape.written], s.loss[None]


@observation
def the_bytes_of_an_open_tape(s: Scene) -> object:
    with dt.Tape() as tape:
        s.note(2)
        before = tape.nbytes, tape.peak_nbytes
        s.note(9)
        return tape.nbytes > before[0], tape.peak_nbytes > before[1]


@observation
def a_picture_of_a_tape(s: Scene) -> object:
    path = Path("build") / "fused_transparency.svg"
    path.parent.mkdir(exist_ok=True)
    with dt.Tape() as tape:
        s.note()
        tape.visualize(path)
    return path.read_text().count("step"), s.x.to_numpy()


@observation
def launches_run_again_within_limits(s: Scene) -> object:
    tape = s.taped(snapshots=3)
    tape.backward(s.loss)
    return s.x.grad.to_numpy(), tape.recomputed > 0


@observation
def a_write_on_a_tape(s: Scene) -> object:
    with dt.Tape(s.loss):
        s.note()
        s.x.fill(0.25)
        s.note()
        s.y[2] = 0.5
        s.note()
        measure(s.x, s.loss)
    return s.x.grad.to_numpy(), s.y.grad.to_numpy()


@observation
def a_copy_on_a_tape(s: Scene) -> object:
    other = dt.ones_like(s.x)
    with dt.Tape(s.loss):
        s.note()
        other.copy_from(s.x)
        s.x.copy_from(s.y)
        s.note()
        measure(s.x, s.loss)
        measure(other, s.loss)
    return s.x.grad.to_numpy(), s.y.grad.to_numpy()


@observation
def a_block_of_constants(s: Scene) -> object:
    with dt.Tape(s.loss):
        s.note()
        with dt.no_grad():
            for _ in range(7):
                add(s.y, 0.1)
        s.note()
        measure(s.x, s.loss)
    return s.x.grad.to_numpy(), s.y.grad.to_numpy()


@observation
def a_checkpoint(s: Scene) -> object:
    with dt.Tape(s.loss) as tape:
        s.note()
        dt.checkpoint(s.note)()
        s.note()
        measure(s.x, s.loss)
    return s.x.grad.to_numpy(), s.y.grad.to_numpy(), tape.recomputed


@observation
def a_number_read_on_a_tape(s: Scene) -> object:
    with dt.Tape(s.loss):
        s.note()
        a = s.x[2] * 0.5
        s.note()
        add(s.x, a)
        measure(s.x, s.loss)
    return s.x.grad.to_numpy()


@dt.kernel
def shove(u, by: ti.types.vector(2, float)):
    for i in u:
        u[i] = 0.9 * u[i] + by


@observation
def vectors_with_a_gradient_among_others(s: Scene) -> object:
    u, w = (dt.full(N, [0.5, 0.25], dt.vec(2, ti.f64), grad=True) for _ in range(2))
    found: list[object] = []
    for others in (np.array([0.1, 0.2]), [0.1, 0.2], ti.Vector([0.1, 0.2])):
        with dt.Tape() as tape:
            by, number = w[2], s.x[1]
            for _ in range(7):
                shove(u, others)
            shove(u, by)
            for _ in range(7):
                shove(u, others)
            shove(u, [number, 0.5])
            for _ in range(7):
                shove(u, others)
        tape.backward({u: np.ones((N, 2))})
        found += [u.to_numpy(), u.grad.to_numpy(), w.grad.to_numpy(), s.x.grad.to_numpy()]
    return found


@observation
def numbers_with_a_gradient_among_others(s: Scene) -> object:
    with dt.Tape() as tape:
        number = s.y[2] * 0.5
        for _ in range(3):
            for _ in range(5):
                turn(s.x, 0.5)
            turn(s.x, number)
        for _ in range(7):
            turn(s.x, number)
    tape.backward({s.x: np.ones(N)})
    return s.x.grad.to_numpy(), s.y.grad.to_numpy(), s.x.to_numpy()


@observation
def numbers_with_a_gradient_that_are_constants(s: Scene) -> object:
    with warnings.catch_warnings(record=True) as warned, dt.Tape() as tape:
        warnings.simplefilter("always")
        number = s.y[2] * 0.5
        for _ in range(5):
            turn(s.x, 0.5)
        turn(s.x, float(number))
        for _ in range(5):
            turn(s.x, 0.5)
        turn(s.x, np.float64(number))
    tape.backward({s.x: np.ones(N)})
    return s.y.grad.to_numpy(), s.x.to_numpy(), [str(one.message) for one in warned]


@observation
def a_write_that_would_cut_a_gradient(s: Scene) -> object:
    with dt.Tape():
        s.note()
        with pytest.warns(dt.GradientCut) as caught:
            s.x[2] = 2 * float(s.x[2])
    return str(caught[0].message), s.x.to_numpy()


@observation
def a_result_that_python_overwrites(s: Scene) -> object:
    with dt.Tape():
        for _ in range(7):
            measure(s.x, s.loss)
        found = float(s.loss[None])
        for _ in range(7):
            measure(s.x, s.loss)
        s.loss[None] = found  # the launches came after the read
    return s.loss[None]


@observation
def gradients_attached_in_the_middle(s: Scene) -> object:
    z = dt.full(N, 0.5, ti.f64)
    with dt.Tape() as tape:
        for _ in range(7):
            step(z, s.y, 0.3)
        z = z.with_grads()
        for _ in range(7):
            step(z, s.y, 0.3)
        measure(z, s.loss)
    tape.backward(s.loss)
    return z.grad.to_numpy(), s.y.grad.to_numpy()


@observation
def another_gradient_assigned_in_the_middle(s: Scene) -> object:
    before = s.x.grad
    other = dt.ones_like(before)
    with dt.Tape() as tape:
        s.note()
        s.x.grad_out = s.x.grad_in = other
        s.note()
        measure(s.x, s.loss)
    tape.backward(s.loss)
    return s.x.grad.to_numpy(), before.to_numpy(), s.y.grad.to_numpy()


@observation
def a_gradient_taken_away_in_the_middle(s: Scene) -> object:
    other = s.x.grad
    with dt.Tape() as tape:
        s.note()
        s.x.grad_out = s.x.grad_in = None
        s.note()
        measure(s.y, s.loss)
    tape.backward(s.loss)
    return other.to_numpy(), s.y.grad.to_numpy()


@observation
def warnings_at_the_line_of_the_user(s: Scene) -> object:
    z = dt.full(N, 0.5, ti.f64)
    with warnings.catch_warnings(record=True) as warned, dt.Tape():
        warnings.simplefilter("always")
        for _ in range(5):
            linear(s.x, z, s.y)
            linear(z, s.x, s.y)
    said = [(one.lineno, one.filename, str(one.message)) for one in warned]
    return said, s.x.to_numpy()


@observation
def warnings_of_copies_at_the_line_of_the_user(s: Scene) -> object:
    z = dt.full(N, 0.5, ti.f64)
    with warnings.catch_warnings(record=True) as warned, dt.Tape():
        warnings.simplefilter("always")
        for _ in range(5):
            linear(z, s.x, s.y)
            z.copy_from(s.y)
        s.note()
        seen = s.x.to_numpy()
    return [(one.lineno, one.filename, str(one.message)) for one in warned], seen


# Errors


@observation
def a_launch_that_is_refused(s: Scene) -> object:
    said: list[object] = []
    for k in range(N + 2):
        try:
            poke(s.x, k)
        except dt.DifftileError as error:
            said.append((k, str(error)))
    return said, s.x.to_numpy()


@observation
def a_launch_that_is_refused_on_a_tape(s: Scene) -> object:
    said: list[object] = []
    with dt.Tape() as tape:
        s.note()
        for k in range(N + 2):
            try:
                poke(s.x, k)
            except dt.DifftileError as error:
                said.append((k, str(error)))
        s.note()
        measure(s.x, s.loss)
    tape.backward(s.loss)
    return said, len(tape), s.x.grad.to_numpy()


@observation
def an_exception_between_launches(s: Scene) -> object:
    try:
        for k in range(9):
            step(s.x, s.y, 0.1)
            if k == 7:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    return s.x.to_numpy()


@observation
def an_exception_on_a_tape(s: Scene) -> object:
    try:
        with dt.Tape(s.loss):
            s.note()
            raise ValueError
    except ValueError:
        pass
    after = s.x.to_numpy()
    with dt.Tape(s.loss):
        s.note()
        measure(s.x, s.loss)
    return after, s.x.grad.to_numpy()


# Objects, memory and code that change


@observation
def a_field_that_is_deleted(s: Scene) -> object:
    y = s.y
    s.note()
    del s.y
    gc.collect()
    other = dt.full(N, 7.0, ti.f64)  # may be given the memory of a field that is gone
    more = dt.full(N, 8.0, ti.f64)
    del y
    return s.x.to_numpy(), other.to_numpy(), more.to_numpy()


@observation
def fields_of_a_moment(s: Scene) -> object:
    for k in range(7):
        z = dt.full(N, 0.1 * k, ti.f64)
        for _ in range(5):
            step(s.x, z, 0.3)
    other = dt.full(N, 7.0, ti.f64)
    return s.x.to_numpy(), other.to_numpy()


class _Noticing:
    """Reads a field as it is collected."""

    def __init__(self, field: dt.Field, seen: list[object]) -> None:
        self.field, self.seen = field, seen

    def __del__(self) -> None:
        self.seen.append(self.field.to_numpy())


@observation
def a_finaliser_that_reads(s: Scene) -> object:
    seen: list[object] = []
    one = _Noticing(s.x, seen)
    weak = weakref.ref(one)
    s.note()
    del one
    gc.collect()
    assert weak() is None
    s.note()
    return seen, s.x.to_numpy()


@ti.data_oriented
class _Decaying:
    """A kernel that takes a number from its object."""

    rate = 0.5

    @dt.kernel
    def decay(self, x):
        for i in x:
            x[i] *= self.rate


@observation
def a_number_from_outside_that_changes(s: Scene) -> object:
    one = _Decaying()
    for k in range(9):
        one.rate = 0.5 + 0.1 * (k // 3)
        one.decay(s.x)
    one.rate = 0.0
    return s.x.to_numpy()


@observation
def a_rule_given_in_the_middle(s: Scene) -> object:
    @dt.kernel
    def bend(x: ti.template()):
        for i in x:
            x[i] = ti.sin(x[i])

    with dt.Tape() as tape:
        for _ in range(5):
            bend(s.x)

        @bend.backward
        def _(x):
            for i in x:
                x.grad_out[i] += 2.0 * x.grad_in[i]

        for _ in range(5):
            bend(s.x)
        measure(s.x, s.loss)
    tape.backward(s.loss)
    return s.x.grad.to_numpy(), _ is not None


# Threads and tasks


def _in_thread(work: Callable[[], object]) -> object:
    found: list[object] = []

    def body() -> None:
        try:
            found.append(work())
        except dt.DifftileError as error:
            found.append(f"{type(error).__name__}: {error}")

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    return found[0]


@observation
def a_read_in_another_thread(s: Scene) -> object:
    s.note()
    return _in_thread(s.x.to_numpy)


@observation
def a_launch_in_another_thread(s: Scene) -> object:
    s.note()
    _in_thread(lambda: add(s.x, 1.0))
    return s.x.to_numpy()


@observation
def launches_of_a_thread_that_has_ended(s: Scene) -> object:
    _in_thread(lambda: s.note() and None)
    return s.x.to_numpy()


@observation
def a_write_in_another_thread_that_a_tape_would_miss(s: Scene) -> object:
    with dt.Tape(s.loss):
        s.note()
        said = _in_thread(lambda: s.x.fill(1.0)), _in_thread(lambda: add(s.y, 1.0))
        seen = _in_thread(s.x.to_numpy)
        measure(s.x, s.loss)
    return said, seen, s.x.grad.to_numpy()


@observation
def tapes_of_two_threads(s: Scene) -> object:
    t, ready, done = Scene(), threading.Event(), threading.Event()

    def other() -> object:
        with dt.Tape(t.loss):
            t.note()
            ready.set()
            done.wait(60)
            t.note()
            measure(t.x, t.loss)
        return t.x.grad.to_numpy()

    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(other()))
    thread.start()
    ready.wait(60)
    with dt.Tape(s.loss):
        s.note()
        seen = t.x.to_numpy()  # runs what the other thread has noted, on the tape of that
        s.note()
        measure(s.x, s.loss)
    done.set()
    thread.join()
    return found, seen, s.x.grad.to_numpy()


@observation
def tasks_in_turn(s: Scene) -> object:
    t = Scene()

    async def record(one: Scene) -> object:
        with dt.Tape(one.loss):
            for _ in range(3):
                one.note()
                await asyncio.sleep(0)
            measure(one.x, one.loss)
        return one.x.grad.to_numpy()

    async def both() -> object:
        return await asyncio.gather(record(s), record(t))

    return asyncio.run(both())


# Memory


@dt.kernel
def sweep(x):
    """Its adjoint fills a log, so launches are not fused."""
    ti.loop_config(serialize=True)
    for _ in range(2):
        for i in range(1, x.shape[0]):
            x[i] = ti.sin(x[i] * x[i - 1])


def test_a_tape_lets_go_of_its_memory_where_launches_are_not_fused() -> None:
    s, memory = Scene(), current_session().pool
    before = memory.kept
    with fusing("always"):
        with dt.Tape() as tape:
            for _ in range(8):
                sweep(s.x)
        assert memory.kept > before
        del tape
    assert memory.kept == before


@pytest.mark.parametrize("most", [2, 30, 100])
def test_a_run_may_save_more_than_one_array_holds(most: int) -> None:
    """As if arrays had few elements at the most; there were once too many for 32 bits."""
    found: list[Any] = []
    for mode in (False, "always"):
        s = Scene()
        with (
            fusing(mode),
            mock.patch.object(pool, "MAX_ELEMENTS", max(most, N)),
            mock.patch.object(fused_run, "MAX_ELEMENTS", most),
        ):
            with dt.Tape(s.loss) as tape:
                s.note(50)
                measure(s.x, s.loss)
            found.append((s.x.grad.to_numpy(), s.y.grad.to_numpy(), len(tape)))
    assert _is_same(*found)


class _Interrupted:
    """A function that Ctrl+C breaks off as it ends, the nth time that it is called."""

    def __init__(self, function: Callable[..., Any], at: int) -> None:
        self.function, self.left = function, at

    def __call__(self, *args: Any) -> Any:
        found = self.function(*args)
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt
        return found


@pytest.mark.parametrize(
    ("place", "at"), [("offered", 1), ("offered", 2), *(("expected", k) for k in range(1, 5))]
)
def test_ctrl_c_loses_no_more_than_its_launch(
    place: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of launches of two kernels in turn one is broken off while it is noted."""
    if place == "offered":
        monkeypatch.setattr(queue, "_may_wait", _Interrupted(queue._may_wait, at))
    else:
        monkeypatch.setattr(queue, "get_ident", _Interrupted(queue.get_ident, 4 * at))
    results: list[Any] = []
    missing = -1
    for mode in ("always", False):
        s = Scene()
        with fusing(mode):
            for k in range(24):
                if k == missing:
                    continue
                try:
                    if k % 2:
                        add(s.x, 0.01 * k)
                    else:
                        step(s.x, s.y, 0.5)
                except KeyboardInterrupt:
                    missing = k
            results.append((s.x.to_numpy(), s.y.to_numpy()))
    assert missing >= 0
    assert _is_same(*results)


# Checking


def _seen(observe: Observation, mode: object) -> Any:
    """Return what an observation sees, or the error that it ends with."""
    with fusing(mode):
        try:
            return observe(Scene())
        except dt.DifftileError as error:
            # Where one program runs several launches, an error names all of them.
            said = str(error).replace("the launches up to ", "launch ")
            return f"{type(error).__name__}: {said}"
        finally:
            tape = RECORDING.get().recorder
            if isinstance(tape, Tape):
                tape.__exit__(ValueError, ValueError(), None)


def _is_same(wanted: Any, found: Any) -> bool:
    """Tell whether two results are the same, numbers to some roundings of double precision."""
    if isinstance(wanted, Mapping):
        return wanted.keys() == found.keys() and all(_is_same(wanted[k], found[k]) for k in wanted)
    if isinstance(wanted, (str, bool)) or isinstance(found, str) or wanted is None:
        return bool(wanted == found)
    if isinstance(wanted, Sequence):
        return len(wanted) == len(found) and all(map(_is_same, wanted, found))
    wanted, found = np.asarray(wanted), np.asarray(found)
    if wanted.dtype.kind not in "fiub":
        return np.array_equal(wanted, found)
    return wanted.shape == found.shape and np.allclose(wanted, found, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", OBSERVATIONS)
@pytest.mark.filterwarnings("ignore::difftile.GradientCut")
def test_python_sees_what_launches_have_written(name: str) -> None:
    wanted, found = _seen(OBSERVATIONS[name], False), _seen(OBSERVATIONS[name], "always")
    assert _is_same(wanted, found), f"{found}, not {wanted}"


@pytest.mark.parametrize("name", OBSERVATIONS)
@pytest.mark.filterwarnings("ignore")
def test_without_the_flush_python_would_see_something_else(name: str) -> None:
    wanted = _seen(OBSERVATIONS[name], False)
    with flushing_nothing():
        try:
            found = _seen(OBSERVATIONS[name], "always")
        except Exception as error:
            found = error
    assert isinstance(found, Exception) or not _is_same(wanted, found)
