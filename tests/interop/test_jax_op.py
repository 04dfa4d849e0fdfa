"""Functions over fields as operations of JAX, against the same mathematics in jax.numpy."""

from __future__ import annotations

import copy
import importlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import LaunchError, TapeError

jax: Any = pytest.importorskip("jax")

from difftile.jax import lowering  # noqa: E402 - after it is known that JAX is there

jnp = jax.numpy
check_grads: Any = importlib.import_module("jax.test_util").check_grads
RNG = np.random.default_rng(0)


@dt.kernel
def swing(x, v, k):
    """Overwrites its arguments, twice."""
    for i in x:
        v[i] -= 0.1 * k[None] * ti.sin(x[i])
    for i in x:
        x[i] += 0.1 * v[i] * v[i]


def swing_ref(x, v, k):
    v = v - 0.1 * k * jnp.sin(x)
    return x + 0.1 * v * v, v


@dt.kernel
def weigh(x, at, y, total, scale: float, power: int):
    for i in at:
        p = x[at[i]]
        q = scale * p.norm_sqr() ** power
        for c in range(3):
            y[i, c] = q * p[c]
        total[None] += q


def weigh_ref(x, at, scale=0.5, power=2):
    p = x[at]
    q = scale * jnp.sum(p * p, -1) ** power
    return q[:, None] * p, jnp.sum(q)


def relax(x, k, steps):
    """Returns fields: one that it makes, and a number of steps."""
    v, count = dt.zeros_like(x), dt.zeros((), dtype=ti.i32)
    for _ in range(steps):
        swing(x, v, k)
    count[None] = steps
    return x, v, count


def relax_ref(x, k, steps):
    v = jnp.zeros_like(x)
    for _ in range(steps):
        x, v = swing_ref(x, v, k)
    return x, v, jnp.int32(steps)


step = dt.jax.op(swing, inputs=("x", "v"), params=("k",), outputs=("x", "v"))
weighed = dt.jax.op(
    weigh,
    inputs={"x": ti.math.vec3, "at": None},
    outputs={"y": lambda x, at: (*at, 3), "total": ()},
)
relaxed = dt.jax.op(relax, inputs="x", params="k")


@pytest.fixture(autouse=True, scope="module")
def compiled_fast() -> Iterator[None]:
    """Let XLA compile for the sake of few runs."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.fixture(params=["ffi", "callback"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Let new programs call us in each of the ways that there are."""
    monkeypatch.setitem(lowering.WAYS, "cpu", (request.param, None))
    yield request.param


def row(n: int = 5, dtype: Any = np.float32) -> Any:
    return jnp.asarray(RNG.normal(size=n).astype(dtype))


def same(found: Any, expected: Any, rtol: float = 2e-5) -> None:
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if a.dtype != jax.dtypes.float0:
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


def scalar(f: Any) -> Any:
    """Return the function with a number as its result, in which every entry differs."""

    def of(*args: Any) -> Any:
        found = f(*args)
        return sum(
            jnp.sum(jnp.sin(one + 0.3 * k))
            for k, one in enumerate(found)
            if jnp.issubdtype(one.dtype, jnp.floating)
        )

    return of


def agree(of: Any, *args: Any, op: Any = step, ref: Any = swing_ref, rtol: float = 2e-5) -> None:
    """Check what is made of an operation against the same of its reference."""
    same(jax.jit(of(op))(*args), jax.jit(of(ref))(*args), rtol)


def each(transforms: dict[str, Any]) -> Any:
    """Return all of some transforms as one, which takes one program and not one for each."""
    return lambda f: lambda *args: {name: of(f)(*args) for name, of in transforms.items()}


# Values and first derivatives

ALL = (0, 1, 2)
OF_ONE = {
    "values": lambda f: f,
    "all gradients": lambda f: jax.value_and_grad(scalar(f), ALL),
    "one gradient": lambda f: jax.grad(scalar(f), 2),
    "gradient of jit": lambda f: jax.grad(scalar(jax.jit(f)), ALL),
    "one result": lambda f: jax.grad(lambda *args: jnp.sum(f(*args)[1] ** 2), ALL),
    "tangents": lambda f: lambda *args: jax.jvp(f, args, args),
    "linearize": lambda f: lambda *args: jax.linearize(f, *args)[1](*args),
    "pullback": lambda f: lambda *args: jax.vjp(f, *args)[1](f(*args)),
    "checkpoint": lambda f: jax.grad(scalar(jax.checkpoint(f)), ALL),
    "stopped": lambda f: jax.grad(lambda x, v, k: scalar(f)(x, jax.lax.stop_gradient(v), k), ALL),
    "argument twice": lambda f: jax.jit(jax.grad(lambda x, v, k: scalar(f)(x, x, k), ALL)),
    "jacobians": lambda f: lambda *args: (jax.jacfwd(f, ALL)(*args), jax.jacrev(f, ALL)(*args)),
    "compositions": lambda f: jax.jit(
        jax.grad(scalar(lambda x, v, k: f(*f(jnp.tanh(x), v * v, k), jnp.exp(-k))), ALL)
    ),
}


def test_results_and_first_derivatives():
    args = row(), row(), jnp.float32(1.7)
    before = jax.tree.map(np.array, args)
    agree(each(OF_ONE), *args)
    same(args, before)


def test_calls_outside_of_programs():
    args = row(), row(), jnp.float32(1.7)
    same(step(*args), swing_ref(*args))
    for of in (OF_ONE["tangents"], OF_ONE["all gradients"], OF_BATCHES["rows"]):
        same(of(step)(*args), jax.jit(of(swing_ref))(*args))


def test_either_way(way: str):
    """Each kind of call, by the interface of foreign functions and by a callback."""
    op = dt.jax.op(swing, inputs=("x", "v"), params=("k",), outputs=("x", "v"))

    def everything(f: Any) -> Any:
        def of(x, v, k):
            args, whole = (x[0], v, k), scalar(jax.vmap(f, (0, None, None)))
            return (
                f(*args),
                jax.jvp(f, args, args),
                jax.grad(whole, ALL)(x, v, k),
                jax.jvp(jax.grad(whole, ALL), (x, v, k), (x, v, k)),
            )

        return jax.jit(of)

    args = row((2, 5)), row(), jnp.float32(1.7)
    agree(everything, *args, op=op, rtol=1e-4)
    text = everything(op).lower(*args).as_text()
    assert ("difftile_call" in text) == (way == "ffi") != ("callback" in text)


def test_a_linearisation_is_pulled_again():
    args = row(), row(), jnp.float32(1.7)
    value, pull = jax.vjp(step, *args)
    first = pull(value)
    same(pull(jax.tree.map(jnp.zeros_like, value)), jax.tree.map(jnp.zeros_like, args))
    same(pull(value), first)


def _rows(axes: Any) -> Any:
    """Return a map over axes, of arguments that are repeated to have them."""

    def of(f: Any) -> Any:
        def mapped(*args: Any) -> Any:
            repeated = [
                one if axis is None else jnp.moveaxis(jnp.stack([one, 2 * one, one + 1]), 0, axis)
                for one, axis in zip(args, axes, strict=True)
            ]
            return jax.vmap(f, axes)(*repeated)

        return mapped

    return of


OF_BATCHES = {
    "all": _rows((0, 0, 0)),
    "rows": _rows((0, None, None)),
    "columns": _rows((1, 0, None)),
    "scalars": _rows((None, None, 0)),
    "nested": lambda f: _rows((1, None, 0))(_rows((0, 1, None))(f)),
}


def of_batches(outer: Any, inner: Any = lambda f: f) -> Any:
    """Return a transform of batches of another one, for each kind of batch."""
    return each({n: lambda f, of=of: outer(of(inner(f))) for n, of in OF_BATCHES.items()})


def test_batches():
    def grads(f: Any) -> Any:
        return jax.grad(scalar(f), ALL)

    def columns(f: Any) -> Any:
        return lambda x, v, k: jax.vmap(f, (0, None, None), 1)(jnp.stack([x, v]), v, k)

    args = row(), row(), jnp.float32(1.7)
    agree(columns, *args)
    agree(of_batches(OF_ONE["tangents"]), *args)
    agree(of_batches(grads), *args)
    agree(of_batches(lambda f: f, grads), *args)


def test_vectors_integers_and_constants():
    def op(x, at):
        return weighed(x, at, 0.5, power=2)

    def both(f):
        return jax.jit(jax.value_and_grad(scalar(f), ALL[:2], allow_int=True))

    x, at = row((6, 3)), jnp.asarray([5, 0, 3, 3])
    for of in (jax.jit, both, lambda f: jax.vmap(f, (None, 0))):
        mapped = at if of in (jax.jit, both) else jnp.stack([at, at[::-1]])
        agree(of, x, mapped, op=op, ref=weigh_ref)
    constant = jax.jit(weighed, static_argnums=(2, 3))
    same(constant(x, at, 0.25, 1), weigh_ref(x, at, 0.25, 1))
    same(constant(x, at, 0.25, power=2), weigh_ref(x, at, 0.25, 2))


def test_functions_that_return_fields():
    x, k = row((2, 5)), jnp.float32(2.0)
    for steps in (1, 3):
        both = {"op": partial(relaxed, steps=steps), "ref": partial(relax_ref, steps=steps)}
        agree(lambda f: f, x[0], k, **both)
        agree(lambda f: jax.jit(jax.grad(scalar(f), (0, 1))), x[0], k, **both)
        agree(lambda f: jax.vmap(f, (0, None)), x, k, **both)


def test_shapes_that_follow_from_constants():
    def spread(x, n):
        y = dt.zeros((n, *x.shape))
        for k in range(n):
            y[k, :].copy_from(x)
        return y

    op = dt.jax.op(spread, inputs="x")
    x = row(3)
    for n in (2, 4, 1):
        assert jax.eval_shape(partial(op, n=n), x).shape == (n, 3)
        same(op(x, n), jnp.tile(x, (n, 1)))


def test_shapes_are_known_without_a_run():
    ran: list[int] = []

    def noted(x, y):
        ran.append(1)
        weigh_one(x, y)

    @dt.kernel
    def weigh_one(x, y):
        for i in x:
            y[i] = 2.0 * x[i]

    x = row(4)
    like = dt.jax.op(noted, inputs="x", outputs={"y": "x"})
    struct = dt.jax.op(noted, inputs="x", outputs={"y": jax.ShapeDtypeStruct((4,), jnp.float32)})
    for op in (like, struct):
        assert jax.eval_shape(op, x) == jax.ShapeDtypeStruct((4,), jnp.float32)
        jax.make_jaxpr(jax.grad(scalar(lambda x, op=op: (op(x),))))(x)
        jax.jit(op).lower(x)
        assert not ran
        same(op(x), 2 * x)
        assert ran.pop()


def test_numbers_of_python_and_arrays_of_numpy():
    x, v = np.ones(3, np.float32), np.ones(3, np.float32)
    same(step(x, v, 2), swing_ref(x, v, jnp.float32(2)))
    same(jax.jit(step)(x, v, 2.0), swing_ref(x, v, jnp.float32(2)))
    same(jax.grad(scalar(step), 2)(x, v, 2.0), jax.grad(scalar(swing_ref), 2)(x, v, 2.0))
    strong = jax.jit(lambda k: step(x, v, 2 * k))(1.5)
    assert not any(one.weak_type for one in strong)


@pytest.mark.usefixtures("x64")
def test_double_precision():
    x = row((2, 5), dtype=np.float64)
    args = x[0], x[1], jnp.float64(0.7)
    same(step(*args), swing_ref(*args), rtol=1e-12)
    assert step(*args)[0].dtype == np.float64
    check_grads(step, args, order=1, modes=("fwd", "rev"), rtol=1e-6, atol=1e-6)
    check_grads(step, args, order=2, modes=("rev",), rtol=1e-6, atol=1e-6)
    check_grads(jax.vmap(step, (0, None, None)), (x, *args[1:]), order=2, modes=("rev",))
    halves = [one.astype(np.float32) for one in args]
    same(step(*halves), swing_ref(*halves))


# Second derivatives

OF_TWO = {
    "forward over reverse": lambda f: jax.hessian(scalar(f), ALL),
    "reverse over reverse": lambda f: jax.jacrev(jax.grad(scalar(f), ALL), ALL),
    "reverse over forward": lambda f: jax.jacrev(jax.jacfwd(f, ALL), ALL),
    "of one and another": lambda f: jax.jacrev(jax.grad(scalar(f), 0), 2),
    "product": lambda f: lambda *args: jax.jvp(jax.grad(scalar(f), ALL), args, args),
    "norm of a gradient": lambda f: jax.grad(
        lambda *args: sum(jnp.sum(one**2) for one in jax.grad(scalar(f), ALL)(*args)), ALL
    ),
}


@pytest.mark.always
def test_second_derivatives():
    args = row(), row(), jnp.float32(0.7)
    agree(each(OF_TWO), *args, rtol=1e-4)


@pytest.mark.always
def test_second_derivatives_of_batches():
    args = row(), row(), jnp.float32(0.7)
    agree(lambda f: OF_TWO["product"](OF_BATCHES["nested"](f)), *args, rtol=1e-4)


def test_what_is_too_much():
    args = row(), row(), jnp.float32(0.7)
    with pytest.raises(LaunchError, match="first and second derivatives, and this is a third"):
        jax.grad(lambda x: jnp.sum(jax.hessian(scalar(step))(x, *args[1:])))(args[0])
    with pytest.raises(LaunchError, match="a tangent of a tangent is not supported"):
        jax.jacfwd(jax.jacfwd(scalar(step)))(*args)


# Loops, branches and the rest of JAX


def rollout(f: Any) -> Any:
    def run(x, v, k):
        def body(state, _):
            state = f(*state, k)
            return state, state[0]

        return jax.lax.scan(body, (x, v), None, length=7)[1]

    return run


def test_loops():
    args = row(), row(), jnp.float32(0.5)
    agree(rollout, *args)
    agree(lambda f: jax.jit(jax.grad(lambda *a: jnp.sum(jnp.sin(rollout(f)(*a))), ALL)), *args)
    remat = jax.grad(lambda *a: jnp.sum(jnp.sin(rollout(jax.checkpoint(step))(*a))), ALL)
    same(remat(*args), jax.grad(lambda *a: jnp.sum(jnp.sin(rollout(swing_ref)(*a))), ALL)(*args))
    agree(lambda f: lambda x, v, k: jax.lax.fori_loop(0, 5, lambda _, s: f(*s, k), (x, v)), *args)
    agree(lambda f: lambda x, v, k: jax.lax.map(lambda k: f(x, v, k), jnp.stack([k, 2 * k])), *args)


def test_branches():
    args = row(), row(), jnp.float32(0.5)

    def branch(f: Any) -> Any:
        return lambda p, x, v, k: jax.lax.cond(p, f, lambda x, v, k: (x, v), x, v, k)

    for choice in (True, False):
        agree(lambda f: jax.jit(jax.grad(scalar(branch(f)), (1, 3))), choice, *args)
    agree(lambda f: jax.vmap(branch(f), (0, None, None, None)), jnp.asarray([True, False]), *args)


def test_donated_arrays():
    x, v, k = row(), row(), jnp.float32(0.5)
    expected = swing_ref(x, v, k)
    donating = jax.jit(step, donate_argnums=(0, 1))
    same(donating(x, v, k), expected)
    assert x.is_deleted()


@pytest.mark.always
def test_random_numbers_are_those_of_every_call():
    @dt.kernel
    def noisy(x, y):
        for i in x:
            y[i] = x[i] * dt.randn()

    op = jax.jit(dt.jax.op(noisy, inputs="x", outputs={"y": "x"}))
    x = row(4)
    noise = op(jnp.ones(4))
    same(op(x), x * noise)
    same(jax.grad(lambda x: jnp.sum(op(x) ** 2))(x), 2 * x * noise**2)
    assert np.unique(noise).size == 4


def test_copies_and_pickles_are_the_op():
    assert copy.deepcopy(step) is step
    assert "step" not in repr(step) and "swing" in repr(step)


def test_without_compiled_programs():
    args = row(), row(), jnp.float32(0.5)
    with jax.disable_jit():
        found = jax.value_and_grad(scalar(step), ALL)(*args)
    same(found, jax.value_and_grad(scalar(swing_ref), ALL)(*args))


@dt.kernel
def pick(x, at, y, count):
    for i in at:
        y[i] = 2.0 * x[at[i]]
        count[None] += at[i]


def test_indices_of_every_type():
    op = dt.jax.op(pick, ("x", "at"), outputs={"y": lambda x, at: at, "count": ()})
    x = row()
    for dtype in (jnp.uint8, jnp.int16, jnp.uint32):
        at = jnp.asarray([3, 0], dtype)
        nothing = np.zeros(at.shape, jax.dtypes.float0)
        (y, count), (y_dot, count_dot) = jax.jvp(op, (x, at), (x, nothing))
        same((y, y_dot), (2 * x[at], 2 * x[at]))
        assert count == 3 and count_dot == 3 * 0


def test_results_that_follow_from_some_arguments_only():
    op = dt.jax.op(lambda x, v: (x, dt.ones((2,))), ("x", "v"))
    args = row(), row()
    ones = jnp.ones(2)
    for n in (0, 1, (0, 1)):
        for of in (jax.grad, jax.hessian):
            agree(lambda f, n=n, of=of: of(scalar(f), n), *args, op=op, ref=lambda x, v: (x, ones))


def test_no_elements_in_a_batch():
    found = jax.vmap(step, (0, None, None))(jnp.ones((0, 5)), row(), 1.0)
    assert [one.shape for one in found] == [(0, 5), (0, 5)]


# What is refused


def _double(x, x_out):
    x_out.copy_from(x)


unmapped = dt.jax.op(_double, "x", outputs={"x_out": "x"}, vmap=None)
wide = dt.jax.op(_double, {"x": ti.f64}, outputs={"x_out": "x"})
declared = dt.jax.op(_double, "x", outputs={"x_out": jax.ShapeDtypeStruct((5,), jnp.int32)})
returns_wide = dt.jax.op(lambda x: dt.zeros(3, dtype=ti.f64), "x")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: step(x, x), r"swing\(x, v, k\): missing a required argument: 'k'"),
        (lambda x: step(x.astype(jnp.bfloat16), x, 1.0), "'x' has elements of bfloat16"),
        (lambda x: step(x.astype(jnp.complex64), x, 1.0), "'x' has elements of complex64"),
        (lambda x: step(x[:0], x, 1.0), r"'x' has the shape \(0,\) and so no elements"),
        (lambda x: weighed(x, jnp.arange(2), 0.5, 2), r"'x' has the shape \(5,\); the last axes"),
        (lambda x: step("text", x, 1.0), "'x' is an array, not 'text'"),
        (lambda x: step(jax.random.key(0), x, 1.0), "'x' is a key"),
        (lambda x: relaxed(x, 1.0, [1]), r"'steps' is a constant, and \[1\] has no hash"),
        (
            lambda x: jax.jit(relaxed)(x, 1.0, 3),
            "'steps' is a constant, and the number passed is traced",
        ),
        (lambda x: jax.vmap(unmapped)(x[None]), "vmap=None"),
        (lambda x: dt.jax.op(swing, "x", vmap="all"), "vmap='all' is not an option"),
        (lambda x: dt.jax.op(swing, "x"), "swing is a kernel: name what it writes"),
        (wide, "has elements of float64, and JAX is set to 32 bits"),
        (returns_wide, "the result 0 has elements of float64, and JAX is set to 32"),
        (declared, "the output 'x_out' has elements of float32.* int32 is declared"),
    ],
)
def test_refusals(call: Any, text: str):
    for wrapped in (call, jax.jit(call)):
        with pytest.raises(LaunchError, match=text):
            wrapped(row())


def test_a_tape_does_not_record_an_op():
    x = dt.zeros((), grad=True)
    with pytest.raises(TapeError, match="<JAX op swing"), dt.Tape(x):
        step(row(), row(), 1.0)


@dt.kernel
def sum_of_squares(x, total):
    for i in x:
        total[None] += x[i] * x[i]


def test_an_op_in_a_step_of_a_tape():
    """The reverse of the tape waits for the op, which XLA runs on a thread of its own."""
    eye = jnp.eye(400)

    @jax.jit
    def busy(x):
        found = eye
        for _ in range(3):
            found = found @ eye
        return found @ x

    def later(x):
        return jax.jit(step)(busy(x), x, 2.0)[0]

    x, total = dt.from_numpy(np.linspace(0, 1, 400, dtype=np.float32), grad=True), dt.zeros(())
    total = total.with_grads()
    with dt.Tape(total):
        sum_of_squares(dt.jax.wrap(later)(x), total)

    def ref(x):
        return jnp.sum(swing_ref(x, x, 2.0)[0] ** 2)

    same(jnp.asarray(x.grad.to_numpy()), jax.grad(ref)(jnp.asarray(x.to_numpy())), 1e-4)


def test_errors_while_a_program_runs(way: str):
    flag: list[str] = []

    def fails(x):
        if flag:
            raise ValueError(flag[0])
        return x

    op = jax.jit(dt.jax.op(fails, "x"))
    x = row()
    same(op(x), x)
    flag.append("the mesh is torn")
    for _ in range(2):
        with pytest.raises(Exception, match="the mesh is torn"):
            jax.block_until_ready(op(x))
    flag.clear()
    same(op(x), x)


def test_results_of_another_shape_than_before():
    sizes = [3]
    op = jax.jit(dt.jax.op(lambda x: dt.ones(sizes[0]), "x"))
    x = row()
    same(op(x), jnp.ones(3))
    sizes[0] = 1000
    with pytest.raises(Exception, match="1000"):
        jax.block_until_ready(op(x))


# Memory, sessions and devices


def test_memory_stays_flat():
    x, v, k = row(100_000), row(100_000), jnp.float32(0.5)
    train = jax.jit(jax.value_and_grad(scalar(step), (0, 1, 2)))

    def run(count: int) -> int:
        for _ in range(count):
            jax.block_until_ready(train(x, v, k))
        return resident()

    before = run(20)
    assert run(60) - before < 4 << 20  # one iteration has a megabyte of results


def resident() -> int:
    """Return the memory of the process [bytes]."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


ELSEWHERE = """
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    import difftile as dt

    dt.init(arch="cpu")

    @dt.kernel
    def square(x, k, y):
        for i in x:
            y[i] = k[None] * x[i] * x[i]

    op = dt.jax.op(square, "x", "k", outputs={"y": "x"})
    x = jnp.arange(8.0)
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6)
    loss = lambda x, k: jnp.sum(op(x, k))

    # A program that was compiled before another start of difftile.
    jitted = jax.jit(jax.value_and_grad(loss, (0, 1)))
    for _ in range(2):
        close(jitted(x, 3.0)[0], 3 * 140.0)
        dt.init(arch="cpu")

    # The second device, and arrays that are spread over both.
    assert len(jax.devices()) == 2
    other = jax.device_put(x, jax.devices()[1])
    close(jax.jit(op)(other, 3.0), 3 * x * x)
    mesh = Mesh(np.array(jax.devices()), "d")
    spread = jax.device_put(x, NamedSharding(mesh, P("d")))
    close(jax.jit(op)(spread, 3.0), 3 * x * x)
    close(jax.jit(jax.grad(loss))(spread, 3.0), 6 * x)
    rows = jax.device_put(jnp.stack([x, 2 * x]), NamedSharding(mesh, P("d")))
    close(jax.jit(jax.vmap(op, (0, None)))(rows, 3.0)[1], 12 * x * x)
    each = jax.shard_map(lambda x: op(x, jnp.float32(3.0)), mesh=mesh, in_specs=P("d"),
                         out_specs=P("d"))
    close(jax.jit(each)(spread), 3 * x * x)
    close(jax.pmap(op, in_axes=(0, None))(jnp.stack([x, 2 * x]), 3.0)[1], 12 * x * x)
    print("done")
"""


def test_other_sessions_and_other_devices(tmp_path: Path):
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(ELSEWHERE))
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, file],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env={**os.environ, **flags},
    )
    assert done.stdout == "done\n", done.stderr


# CUDA


@pytest.fixture(scope="module")
def cuda() -> Iterator[None]:
    """Start difftile on CUDA, and on the CPU again for the tests that follow."""
    try:
        jax.devices("cuda")
        dt.init(arch="cuda")
    except (RuntimeError, dt.FieldError) as error:
        dt.init(arch="cpu")
        pytest.skip(f"no CUDA device: {error}")
    yield
    dt.init(arch="cpu")


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_every_kind_of_call_on_cuda():
    args = row(), row(), jnp.float32(0.7)
    assert "difftile_call" in jax.jit(step).lower(*args).as_text()
    agree(each(OF_ONE), *args)
    agree(of_batches(OF_ONE["tangents"]), *args)
    agree(of_batches(lambda f: jax.grad(scalar(f), ALL)), *args)
    agree(each(OF_TWO), *args, rtol=1e-4)
    agree(rollout, *args)
    before = jax.tree.map(np.array, args)
    same(jax.jit(relaxed, static_argnums=2)(args[0], args[2], 3), relax_ref(args[0], args[2], 3))
    same(args, before)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_launches_and_streams_of_XLA_wait_for_each_other_on_cuda():
    eye = jnp.eye(4096)

    @partial(jax.jit, static_argnums=2)
    def chain(x, v, f):
        for _ in range(5):
            x = eye @ (eye @ x)  # takes far longer than a launch
            x, v = f(x, v, jnp.float32(0.5))
            v = eye @ v
        return x, v

    x, v = row(4096), row(4096)
    for _ in range(10):
        same(chain(x, v, step), chain(x, v, swing_ref), 1e-3)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_arrays_on_the_host_are_refused_on_cuda():
    host = jax.devices("cpu")[0]
    x, v = jax.device_put((row(), row()), host)
    with jax.default_device(host), pytest.raises(LaunchError, match="in memory of the host"):
        step(x, v, jax.device_put(jnp.float32(1.0), host))
