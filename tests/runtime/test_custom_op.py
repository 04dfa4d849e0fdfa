"""`@dt.custom_op`: Python code on the tape, with derivatives of its own."""

from __future__ import annotations

import importlib.util
import threading
import time
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.substrate import current_session

N = 8
FREQUENCIES = np.exp(-0.3 * np.minimum(np.arange(N), N - np.arange(N)))  # a real, even filter


def blurred(values: Any, strength: float) -> Any:
    """Return values convolved along the first axis with a periodic kernel, by FFT."""
    if np.iscomplexobj(values):  # apart: the parts of a complex step must not be mixed
        return blurred(values.real, strength) + 1j * blurred(values.imag, strength)
    spectrum = np.fft.fft(values, axis=0).T * FREQUENCIES**strength
    return np.fft.ifft(spectrum.T, axis=0).real


@dt.custom_op
def blur(src: dt.In, dst: dt.Out, strength=1.0):
    dst.from_numpy(blurred(src.to_numpy(), strength))


@blur.backward
def _(src, dst, strength):
    src.grad_out.add_numpy(blurred(dst.grad_in.to_numpy(), strength))  # its own transpose


@blur.forward
def _(src, dst, strength):
    dst.grad_in.from_numpy(blurred(src.grad_out.to_numpy(), strength))


@dt.custom_op
def squash(x: dt.InOut):
    x.from_numpy(np.tanh(x.to_numpy()))


@squash.backward
def _(x):
    x.grad_out.add_numpy(x.grad_in.to_numpy() / np.cosh(x.to_numpy()) ** 2)


@squash.forward
def _(x):
    x.grad_in.from_numpy(x.grad_out.to_numpy() / np.cosh(x.to_numpy()) ** 2)


@dt.custom_op
def normalise(src, dst):
    """dst = src / |src|, undeclared and with a saved value."""
    norm = np.linalg.norm(src.to_numpy())
    dst.from_numpy(src.to_numpy() / norm)
    return norm


@normalise.backward
def _(src, dst, norm):
    unit, bar = src.to_numpy() / norm, dst.grad_in.to_numpy()
    src.grad_out.add_numpy((bar - unit * np.sum(unit * bar)) / norm)


@normalise.forward
def _(src, dst, norm):
    unit, dot = src.to_numpy() / norm, src.grad_out.to_numpy()
    dst.grad_in.from_numpy((dot - unit * np.sum(unit * dot)) / norm)


@dt.kernel
def mix(x, y):
    for i in x:
        x[i] = 0.9 * x[i] + 0.4 * ti.sin(3.0 * y[i]) * x[i] + 0.1


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def times_two(bar, out):
    for i in bar:
        out[i] += 2.0 * bar[i]


def made(values: Any, grad: bool = True) -> Any:
    return dt.from_numpy(np.asarray(values, np.float64), grad=grad)


START = np.linspace(0.3, 1.1, N)


def steps(x: Any, y: Any, count: int) -> None:
    for k in range(count):
        blur(x, y, 0.5)
        mix(x, y)
        if k % 4 == 1:
            squash(x)
        if k % 5 == 2:
            normalise(x, y)
            mix(x, y)


def reference(x: Any, count: int) -> Any:
    for k in range(count):
        y = blurred(x, 0.5)
        x = 0.9 * x + 0.4 * np.sin(3 * y) * x + 0.1
        if k % 4 == 1:
            x = np.tanh(x)
        if k % 5 == 2:
            y = x / np.sqrt(np.sum(x * x))
            x = 0.9 * x + 0.4 * np.sin(3 * y) * x + 0.1
    return x


def slope(count: int, direction: Any) -> Any:
    return reference(START + 1e-30j * direction, count).imag / 1e-30


def test_a_blur_by_fft_has_the_gradient_of_its_transpose() -> None:
    rng = np.random.default_rng(0)
    x, y = made(rng.normal(size=(N, 3))), made(np.zeros((N, 3)))
    seed, direction = rng.normal(size=(2, N, 3))
    blur(x, y)  # without a tape it just runs
    np.testing.assert_allclose(y.to_numpy(), blurred(x.to_numpy(), 1.0))
    with dt.Tape() as tape:
        blur(x, y)
    tape.backward({y: seed})
    wanted = np.sum(seed * blurred(x.to_numpy() + direction, 1.0) - seed * y.to_numpy())
    np.testing.assert_allclose(np.sum(x.grad.to_numpy() * direction), wanted, rtol=1e-12)


@pytest.mark.parametrize(
    "limit", [{}, {"snapshots": 3}, {"snapshots": 7}, {"memory": 6 * N * 8}], ids=str
)
def test_operations_in_a_loop_of_a_hundred_steps(limit: dict[str, Any]) -> None:
    x, y = made(START), made(np.zeros(N))
    seed, direction = np.random.default_rng(1).normal(size=(2, N))
    before = current_session().pool.kept
    with dt.Tape(**limit) as tape:
        steps(x, y, 100)
    final = x.to_numpy()
    np.testing.assert_allclose(final, reference(START, 100), rtol=1e-12)
    tape.backward({x: seed})
    found = np.sum(x.grad.to_numpy() * direction)
    np.testing.assert_allclose(found, np.sum(seed * slope(100, direction)), rtol=1e-11)
    np.testing.assert_array_equal(x.to_numpy(), final)
    assert current_session().pool.kept == before
    if "memory" in limit:
        assert tape.peak_nbytes <= limit["memory"]


def test_checkpoints_and_several_passes() -> None:
    x, y = made(START), made(np.zeros(N))
    seeds, direction = np.random.default_rng(2).normal(size=(2, N)), np.linspace(-1, 1, N)
    with dt.Tape() as tape:
        steps(x, y, 3)
    tape.backward({x: seeds[0]}, keep=True)
    tape.backward({x: seeds[1]})
    twice = np.sum(x.grad.to_numpy() * direction)
    np.testing.assert_allclose(twice, np.sum(seeds * slope(3, direction)), rtol=1e-12)
    x.from_numpy(START)
    with dt.Tape() as tape:
        dt.checkpoint(steps)(x, y, 3)
    tape.backward({x: seeds[0]})
    once = np.sum(x.grad.to_numpy() * direction)
    np.testing.assert_allclose(once, np.sum(seeds[0] * slope(3, direction)), rtol=1e-12)


def test_gradients_in_two_buffers_and_gradients_that_are_there() -> None:
    direction = np.linspace(-1, 1, N)
    wanted = np.sum(slope(6, direction))
    x: Any = dt.from_numpy(START)
    x = x.with_grads(dt.zeros_like(x), dt.zeros_like(x))
    y = made(np.zeros(N))
    with dt.Tape() as tape:
        steps(x, y, 6)
    x.grad_in.fill(1.0)
    tape.backward({})
    np.testing.assert_allclose(np.sum(x.grad_out.to_numpy() * direction), wanted, rtol=1e-12)
    np.testing.assert_array_equal(x.grad_in.to_numpy(), 1.0)
    x = made(START)
    x.grad.fill(5.0)
    with dt.Tape(accumulate=True) as tape:
        steps(x, y, 6)
    tape.backward({x: 1.0})
    found = np.sum((x.grad.to_numpy() - 5.0) * direction)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_two_operations_that_read_one_field() -> None:
    x, y, z = made(START), made(np.zeros(N)), made(np.zeros(N))
    with dt.Tape() as tape:
        blur(x, y)
        normalise(x, z)
        x.fill(0.0)
    tape.backward({y: 1.0, z: START**2}, retain=[x])
    with dt.Tape() as other:
        blur(x, y)
    other.backward({y: 1.0}, retain=[])
    x.from_numpy(START)
    apart = np.zeros(N)
    for op, target, seed in ((blur, y, 1.0), (normalise, z, START**2)):
        with dt.Tape() as tape:
            op(x, target)
        tape.backward({target: seed})
        apart += x.grad.to_numpy()
    with dt.Tape() as tape:
        blur(x, y)
        normalise(x, z)
    tape.backward({y: 1.0, z: START**2})
    np.testing.assert_allclose(x.grad.to_numpy(), apart, rtol=1e-13)


def test_kernels_inside_of_operations() -> None:
    @dt.custom_op
    def squares(src, dst):
        between = dt.zeros_like(src)
        square(src, between)
        dst.from_numpy(between.to_numpy()[::-1])

    @squares.backward
    def _(src, dst):
        between = dt.zeros_like(src, grad=True)
        between.grad.from_numpy(dst.grad_in.to_numpy()[::-1])
        square.bwds(src, between)

    @dt.custom_op
    def doubled(src: dt.In, dst: dt.Out):
        dst.from_numpy(2 * src.to_numpy())

    @doubled.backward
    def _(src, dst):
        times_two(dst.grad_in, src.grad_out)

    x, y, z = made(START), made(np.zeros(N)), made(np.zeros(N))
    with dt.Tape() as tape:
        squares(x, y)
        doubled(y, z)
    tape.backward({z: 1.0})
    np.testing.assert_allclose(x.grad.to_numpy(), 4 * START)


def test_a_tape_of_its_own_inside_of_an_operation() -> None:
    """The force of an energy, and its backward, by tapes of their own on the same fields."""

    @dt.kernel
    def energy(x, e):
        for i in x:
            e[None] += x[i] * x[i] * x[i]

    @dt.custom_op
    def force(x: dt.In, f: dt.Out):
        e = dt.zeros((), ti.f64, grad=True)
        with dt.Tape(e):
            energy(x, e)
        f.copy_from(x.grad)

    @force.backward
    def _(x, f):
        x.grad_out.add_numpy(6 * x.to_numpy() * f.grad_in.to_numpy())

    x, f, other = made(START), made(np.zeros(N)), made(np.ones(N))
    other.grad.fill(3.0)
    with dt.Tape(accumulate=True) as tape:
        force(x, f)
        square(x, x)
    tape.backward({f: 1.0})
    np.testing.assert_allclose(f.to_numpy(), 3 * START**2)
    np.testing.assert_allclose(x.grad.to_numpy(), 6 * START)
    np.testing.assert_array_equal(other.grad.to_numpy(), 3.0)


def test_parts_of_fields() -> None:
    frames = made(np.stack([START, np.zeros(N), np.full(N, 2.0)]))
    with dt.Tape() as tape:
        blur(frames[0, :], frames[1, :])
        squash(frames[1, :])
        blur(frames[1, :], frames[2, :])
        blur(frames[2, ::-1], frames[0, :])
    seed = np.random.default_rng(3).normal(size=(3, N))
    final = frames.to_numpy()
    tape.backward({frames: seed})
    direction = np.random.default_rng(4).normal(size=(3, N))

    def run(values: Any) -> Any:
        a = values.copy()
        a[1] = np.tanh(blurred(a[0], 1.0))
        a[2] = blurred(a[1], 1.0)
        a[0] = blurred(a[2, ::-1], 1.0)
        return a

    start = np.stack([START, np.zeros(N), np.full(N, 2.0)])
    np.testing.assert_allclose(final, run(start))
    wanted = np.sum(seed * run(start + 1e-30j * direction).imag / 1e-30)
    np.testing.assert_allclose(np.sum(frames.grad.to_numpy() * direction), wanted, rtol=1e-12)


def test_a_part_that_is_written_leaves_the_gradient_of_the_rest() -> None:
    x = made(START)
    with dt.Tape() as tape:
        squash(x[2:4])
        with dt.no_grad():
            squash(x[4:])
    tape.backward({x: 1.0})
    wanted = np.concatenate([[1, 1], 1 / np.cosh(START[2:4]) ** 2, np.zeros(4)])
    np.testing.assert_allclose(x.grad.to_numpy(), wanted)


def test_structs_lists_and_integers() -> None:
    particle = ti.types.struct(pos=ti.f64, mass=ti.f64)

    @dt.custom_op
    def gather(p, others, index, dst: dt.Out, *, weights):
        k = index.to_numpy()
        found = p.pos.to_numpy()[k] * p.mass.to_numpy()[k]
        dst.from_numpy(found + sum(w * o.to_numpy() for w, o in zip(weights, others, strict=True)))

    @gather.backward
    def _(p, others, index, dst, weights):
        k, bar = index.to_numpy(), dst.grad_in.to_numpy()
        for a, b in ((p.pos, p.mass), (p.mass, p.pos)):
            grown = np.zeros(N)
            np.add.at(grown, k, bar * b.to_numpy()[k])
            a.grad_out.add_numpy(grown)
        for weight, other in zip(weights, others, strict=True):
            other.grad_out.add_numpy(weight * bar)

    p = dt.from_numpy({"pos": START, "mass": START**2}, particle, grad=True)
    x, y, dst = made(START), made(START, grad=False), made(np.zeros(N))
    index = dt.from_numpy((np.arange(N) // 2).astype(np.int32))
    with dt.Tape() as tape:
        gather(p, [x, y], index, dst, weights=(0.5, 2.0))
        index.fill(0)
        p.pos.fill(0.0)
    tape.backward({dst: 1.0})
    many = np.bincount(np.arange(N) // 2, minlength=N)
    np.testing.assert_allclose(p.pos.grad.to_numpy(), many * START**2)
    np.testing.assert_allclose(p.mass.grad.to_numpy(), many * START)
    np.testing.assert_allclose(x.grad.to_numpy(), 0.5)


def test_methods() -> None:
    class Blur:
        def __init__(self, strength: float) -> None:
            self.strength = strength

        @dt.custom_op
        def __call__(self, src, dst):
            dst.from_numpy(blurred(src.to_numpy(), self.strength))

        @__call__.backward
        def _(self, src, dst):
            src.grad_out.add_numpy(blurred(dst.grad_in.to_numpy(), self.strength))

        @dt.custom_op
        def scaled(self, src, dst):
            dst.from_numpy(self.strength * src.to_numpy())

        @scaled.backward
        def _(self, src, dst):
            src.grad_out.add_numpy(self.strength * dst.grad_in.to_numpy())

    x, y, z = made(START), made(np.zeros(N)), made(np.zeros(N))
    op = Blur(0.5)
    with dt.Tape() as tape:
        op(x, y)
        op.scaled(y, z)
    tape.backward({z: START})
    np.testing.assert_allclose(x.grad.to_numpy(), 0.5 * blurred(START, 0.5))
    op.scaled.bwds(y, z)
    assert "scaled(self, src, dst)> of" in repr(op.scaled)


@pytest.mark.parametrize("op", [blur, normalise])
def test_derivatives_of_one_call_without_a_tape(op: Any) -> None:
    x, y = made(START), made(np.full(N, 3.0))
    seed, direction = np.random.default_rng(5).normal(size=(2, N))
    y.grad.from_numpy(seed)
    op.bwds(x, y)
    np.testing.assert_array_equal(y.to_numpy(), 3.0)
    if op is blur:  # declared to overwrite y: its gradient stays
        np.testing.assert_array_equal(y.grad.to_numpy(), seed)
    bars = x.grad.to_numpy()
    x.grad.from_numpy(direction)
    op.fwds(x, y)
    assert not np.all(y.to_numpy() == 3.0)
    products = np.sum(y.grad.to_numpy() * seed), np.sum(bars * direction)
    np.testing.assert_allclose(*products, rtol=1e-12)
    np.testing.assert_array_equal(x.grad.to_numpy(), direction)


def test_derivatives_of_an_operation_in_place_without_a_tape() -> None:
    frames = made(np.stack([START, START]))
    frames.grad.fill(2.0)
    squash.bwds(frames[1, :])
    np.testing.assert_array_equal(frames.to_numpy()[1], START)
    wanted = np.stack([np.full(N, 2.0), 2 / np.cosh(START) ** 2])
    np.testing.assert_allclose(frames.grad.to_numpy(), wanted)
    frames.grad.fill(2.0)
    squash.fwds(frames[1, :])
    np.testing.assert_allclose(frames.to_numpy()[1], np.tanh(START))
    np.testing.assert_allclose(frames.grad.to_numpy(), wanted)


@pytest.mark.parametrize("op", [blur, squash, normalise])
def test_operations_are_checked_against_differences(op: Any) -> None:
    fields = (made(START),) if op is squash else (made(START), made(np.zeros(N)))
    dt.gradcheck(op, fields, strict=True)
    dt.check_rule(op, *fields, strict=True)


def test_a_wrong_backward_is_found() -> None:
    @dt.custom_op
    def cubes(src, dst):
        dst.from_numpy(src.to_numpy() ** 3)

    @cubes.backward
    def _(src, dst):
        src.grad_out.add_numpy(3.1 * src.to_numpy() ** 2 * dst.grad_in.to_numpy())

    fields = made(START), made(np.zeros(N))
    assert not dt.gradcheck(cubes, fields)
    assert not dt.check_rule(cubes, *fields)


def test_an_operation_without_backward() -> None:
    @dt.custom_op
    def edges(src, dst):
        dst.from_numpy(np.diff(src.to_numpy(), append=0.0))

    x, y, plain = made(START), made(np.zeros(N)), made(np.zeros(N), grad=False)
    edges(x, y)
    with dt.Tape(), pytest.raises(dt.KernelError, match="custom op 'edges' has no backward") as e:
        edges(x, y)  # this line
    assert "edges(x, y)  # this line" in str(e.value)
    assert "def _(src, dst)" in str(e.value)
    with dt.Tape() as tape:
        square(x, y)
        with dt.no_grad():
            edges(x, y)
        edges(plain, plain)
    tape.backward({y: 1.0})
    np.testing.assert_array_equal(x.grad.to_numpy(), 0)
    with dt.Tape():
        edges(x, plain)
        with pytest.warns(dt.GradientCut, match="field 'dst' has none and is read again"):
            square(plain, y)


def test_constants_from_outside() -> None:
    k = made(START)

    @dt.custom_op
    def scaled(src, dst):
        dst.from_numpy(k.detach().to_numpy() * src.to_numpy() + k.detach()[0])

    @scaled.backward
    def _(src, dst):
        src.grad_out.add_numpy(k.to_numpy() * dst.grad_in.to_numpy())

    x, y, plain = made(START), made(np.zeros(N)), made(np.zeros(N), grad=False)
    with dt.Tape() as tape:
        scaled(x, y)
    tape.backward({y: 1.0})
    np.testing.assert_allclose(x.grad.to_numpy(), START)

    @dt.custom_op
    def logged(dst):
        dst.from_numpy(k.to_numpy())

    with dt.Tape():
        logged(plain)  # no field that it writes has a gradient
        with dt.no_grad():
            logged(y)
        with pytest.raises(dt.LaunchError, match="is not among its arguments"):
            logged(y)


def test_an_approximate_backward_is_reported() -> None:
    @dt.custom_op
    def rounded(src, dst):
        dst.from_numpy(np.round(src.to_numpy()))

    assert not rounded.approximate

    @rounded.backward(approx=True)
    def _(src, dst):
        src.grad_out.add_numpy(dst.grad_in.to_numpy())

    assert rounded.approximate
    x, y = made(START), made(np.zeros(N))
    with dt.Tape() as tape:
        rounded(x, y)
        rounded(y, x)
        blur(x, y)
    lines = tape.summary().splitlines()
    assert "custom op 'rounded': 2 calls, with an approximate backward" in lines
    assert "custom op 'blur': 1 call" in lines
    tape.backward({y: 1.0})


def test_an_operation_that_gives_other_results_when_it_is_run_again() -> None:
    rng = np.random.default_rng(0)

    @dt.custom_op
    def noisy(x: dt.InOut):
        x.from_numpy(x.to_numpy() + 0.1 * rng.normal(size=N))

    @noisy.backward
    def _(x):
        x.grad_out.copy_from(x.grad_in)

    x = made(START)
    before = current_session().pool.kept
    with dt.Tape() as tape:
        noisy(x)
    tape.backward({x: 1.0})
    with dt.Tape() as tape:
        dt.checkpoint(noisy)(x)
    with pytest.raises(dt.TapeError, match="'noisy' gave other results when it was run again"):
        tape.backward({x: 1.0})
    assert current_session().pool.kept == before


def test_what_was_changed_since_is_refused() -> None:
    @dt.custom_op
    def scaled(src, dst, factors):
        dst.from_numpy(factors * src.to_numpy())
        return work

    @scaled.backward
    def _(src, dst, factors, kept):
        src.grad_out.add_numpy(factors * dst.grad_in.to_numpy())

    work = np.zeros(3)
    x, y, factors = made(START), made(np.zeros(N)), np.arange(float(N))
    for array, text in ((factors, "among the arguments"), (work, "returned was changed")):
        with dt.Tape() as tape:
            scaled(x, y, factors)
        array[0] += 1.0
        with pytest.raises(dt.TapeError, match=text):
            tape.backward({y: 1.0})


def test_an_exception_in_a_backward_says_where_it_comes_from() -> None:
    @dt.custom_op
    def op(src, dst):
        dst.from_numpy(src.to_numpy())

    @op.backward
    def _(src, dst):
        raise ZeroDivisionError("oh")

    x, y = made(START), made(np.zeros(N))
    before = current_session().pool.kept
    with dt.Tape() as tape:
        op(x, y)
        square(y, x)
    with pytest.raises(ZeroDivisionError, match="oh") as error:
        tape.backward({x: 1.0})
    notes = getattr(error.value, "__notes__", ["In the backward of custom op 'op', called at File"])
    assert notes[0].startswith("In the backward of custom op 'op', called at File")
    del error
    assert current_session().pool.kept == before
    with dt.Tape() as tape:
        square(x, y)
    tape.backward({y: 1.0})


def test_a_call_in_a_backward_or_in_an_operation_just_runs() -> None:
    @dt.custom_op
    def twice(src, dst):
        between = dt.zeros_like(src, grad=True)
        blur(src, between)
        blur(between, dst)

    @twice.backward
    def _(src, dst):
        between = dt.zeros_like(dst.grad_in)
        blur(dst.grad_in, between)
        src.grad_out.add_numpy(blurred(between.to_numpy(), 1.0))

    x, y = made(START), made(np.zeros(N))
    with dt.Tape() as tape:
        twice(x, y)
    tape.backward({y: START})
    np.testing.assert_allclose(x.grad.to_numpy(), blurred(START, 2.0))


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_torch_inside_of_an_operation() -> None:
    torch: Any = importlib.import_module("torch")

    @dt.custom_op
    def soft(src: dt.In, dst: dt.Out):
        x = torch.tensor(src.to_numpy(), requires_grad=True)
        y = torch.softmax(x, 0)
        dst.from_numpy(y.detach().numpy())
        return x, y

    @soft.backward
    def _(src, dst, saved):
        x, y = saved
        (bar,) = torch.autograd.grad(y, x, torch.tensor(dst.grad_in.to_numpy()), retain_graph=True)
        src.grad_out.add_numpy(bar.numpy())

    x, y = made(START), made(np.zeros(N))
    with dt.Tape() as tape:
        soft(x, y)
    tape.backward({y: START})
    values = y.to_numpy()
    np.testing.assert_allclose(x.grad.to_numpy(), values * (START - np.sum(values * START)))


@dt.custom_op
def wait(x: dt.In, y: dt.Out):
    time.sleep(0.0005)  # other threads go on
    y.from_numpy(np.tanh(x.to_numpy()))


@wait.backward
def _(x, y):
    x.grad_out.add_numpy(y.grad_in.to_numpy() / np.cosh(x.to_numpy()) ** 2)


def test_an_operation_leaves_the_gradients_of_other_threads_alone() -> None:
    def gradient() -> Any:
        x, y = dt.full(3, 0.3, ti.f64, grad=True), dt.zeros(3, ti.f64, grad=True)
        with dt.Tape() as tape:
            for _ in range(4):
                wait(x, y)
                x.copy_from(y)
        tape.backward({x: 1.0})
        return x.grad.to_numpy()

    expected, found = gradient(), []

    def work() -> None:
        found.extend(gradient() for _ in range(25))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 75
    for one in found:
        np.testing.assert_allclose(one, expected)


def test_zeros_written_over_zeros_are_written() -> None:
    @dt.custom_op
    def copy(source, target):
        target.copy_from(source)

    @copy.backward
    def _(source, target):
        source.grad_out.add_numpy(target.grad_in.to_numpy())

    @dt.kernel
    def measure(x, loss):
        for i in x:
            loss[None] += (i + 1.0) * x[i]

    x, y = (dt.zeros(3, grad=True) for _ in range(2))
    loss = dt.zeros((), grad=True)
    with dt.Tape(loss):
        copy(x, y)
        measure(y, loss)
    assert x.grad.to_numpy().tolist() == [1.0, 2.0, 3.0]
    assert y.grad.to_numpy().tolist() == [0.0, 0.0, 0.0]


def test_parts_of_one_field_that_are_read_and_written() -> None:
    @dt.custom_op
    def moved(src: dt.In, dst: dt.Out, also: int = 0):
        dst.from_numpy(src.to_numpy())
        if also:
            src.fill(0.0)

    x = made(START, grad=False)
    with dt.Tape():
        moved(x[:3], x[3:6])
        with pytest.raises(dt.LaunchError, match=r"'src' is written by .* declared dt.In"):
            moved(x[:3], x[3:6], 1)
        with pytest.raises(dt.LaunchError, match="have elements in common"):
            moved(x[:3], x[2:5])


@pytest.mark.parametrize("limits", [{}, {"snapshots": 3}])
def test_a_part_that_is_overwritten_again_and_again(limits: dict[str, Any]) -> None:
    @dt.custom_op
    def moved(src: dt.In, dst: dt.Out):
        dst.from_numpy(src.to_numpy())

    @moved.backward
    def _(src, dst):
        src.grad_out.add_numpy(dst.grad_in.to_numpy())

    @dt.kernel
    def bend(y):
        for i in y:
            y[i] += 0.1 * ti.sin(y[i])

    def run(start: Any, **limits: Any) -> Any:
        x, y = made(start[:2]), made(start)
        with dt.Tape(**limits) as tape:
            for _ in range(30):
                moved(x, y[:2])
                bend(y)
        tape.backward({y: 1.0})
        return np.concatenate([x.grad.to_numpy(), y.grad.to_numpy()])

    np.testing.assert_allclose(run(START, **limits), run(START), rtol=1e-13)


def test_a_tape_inside_is_no_pass_between_a_tape_and_its_own() -> None:
    """What is put into a gradient after the block is a seed, whatever ran inside."""

    @dt.custom_op
    def looked(x: dt.In):
        own, e = made(START), made(np.zeros(N))
        with dt.Tape() as inner:
            square(own, e)
        inner.backward({e: 1.0})

    @looked.backward
    def _(x):
        pass

    x, y = made(START), made(np.zeros(N))
    with dt.Tape() as tape:
        looked(x)
        square(x, y)
    y.grad.fill(2.0)
    tape.backward({y: 1.0})
    np.testing.assert_allclose(x.grad.to_numpy(), 3 * 2 * START)


def test_a_detached_argument_takes_no_gradient() -> None:
    @dt.custom_op
    def multiplied(x: dt.In, y: dt.In, out: dt.Out):
        out.from_numpy(x.to_numpy() * y.to_numpy())

    @multiplied.backward
    def _(x, y, out):
        x.grad_out.add_numpy(y.to_numpy() * out.grad_in.to_numpy())
        y.grad_out.add_numpy(x.to_numpy() * out.grad_in.to_numpy())

    x, out = made(START), made(np.zeros(N))
    with dt.Tape() as tape:
        multiplied(x, x.detach(), out)
    tape.backward({out: 1.0})
    np.testing.assert_array_equal(x.grad.to_numpy(), START)
