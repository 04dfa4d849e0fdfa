"""`dt.jax.wrap` and `dt.jax.optimiser`, against JAX and optax alone."""

from __future__ import annotations

import gc
import threading
from typing import Any, NamedTuple

import numpy as np
import pytest
import taichi as ti

import difftile as dt

jax: Any = pytest.importorskip("jax")
jnp: Any = jax.numpy

pytestmark = pytest.mark.usefixtures("x64")

START = np.array([0.3, -0.2, 0.7])
RNG = np.random.default_rng(0)
PARAMS = {"a": RNG.normal(size=(4, 3)), "b": RNG.normal(size=(4, 2))}


@dt.kernel
def drive(x, u):
    for i in x:
        x[i] *= 0.95 if i == 2 else 0.9 + u[i]


@dt.kernel
def add_squares(x, loss):
    for i in x:
        loss[None] += x[i] ** 2


def policy(params: Any, x: Any) -> Any:
    return jnp.tanh(params["a"] @ x) @ params["b"]


def step_of_jax(params: Any, x: Any) -> Any:
    u = policy(params, x)
    return jnp.stack([x[0] * (0.9 + u[0]), x[1] * (0.9 + u[1]), 0.95 * x[2]])


def zeros(*shape: int) -> dt.Field:
    return dt.zeros(shape, ti.f64, grad=True)


def close(one: Any, other: Any, size: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=size, atol=size)


def rollout(w: Any, params: Any, steps: int, *, fresh: bool = False, **limits: Any) -> Any:
    x, u, loss = dt.from_numpy(START, grad=True), zeros(2), zeros()
    with dt.Tape(loss, **limits) as tape:
        for _ in range(steps):
            if fresh:
                u = w(params, x)
            else:
                w(params, x, out=u)
            drive(x, u)
        add_squares(x, loss)
    return float(loss[None]), x.grad, tape


def loss_of_jax(params: Any, x: Any, steps: int) -> Any:
    for _ in range(steps):
        x = step_of_jax(params, x)
    return (x**2).sum()


@pytest.mark.parametrize(
    "limits", [{}, {"fresh": True}, {"memory": 500}, {"snapshots": 3}], ids=str
)
def test_a_rollout_has_the_gradients_of_jax_on_any_tape(limits: dict[str, Any]) -> None:
    differentiated = jax.value_and_grad(loss_of_jax, (0, 1))
    value, (params_bar, bar) = differentiated(PARAMS, jnp.array(START), 20)
    params = dt.jax.fields(PARAMS)
    found, grad, tape = rollout(dt.jax.wrap(policy), params, 20, **limits)
    close(found, value)
    close(grad, bar)
    for name, one in params.items():
        close(one.grad, params_bar[name])
    assert (tape.recomputed > 0) == ("memory" in limits or "snapshots" in limits)


def test_gradients_agree_with_differences() -> None:
    params = dt.jax.fields(PARAMS)
    w = dt.jax.wrap(policy)
    rollout(w, params, 5)
    slope = params["a"].grad[1, 2]
    moved = []
    for sign in (1, -1):
        params["a"][1, 2] = PARAMS["a"][1, 2] + sign * 1e-5
        moved.append(rollout(w, params, 5)[0])
    close((moved[0] - moved[1]) / 2e-5, slope, 1e-8)


def test_transformations_see_through_a_function() -> None:
    w = dt.jax.wrap(policy, jit=False)  # nothing runs twice

    def f(x):
        u, loss = w(PARAMS, x), zeros()
        drive(x, u)
        add_squares(x, loss)
        return loss

    def g(x: Any) -> Any:
        return (step_of_jax(PARAMS, x) ** 2).sum()

    x, along = jnp.array(START), np.array([1.0, 2.0, 3.0])
    bent = jax.hessian(g)(x)
    assert np.abs(bent).max() > 0.1
    close(dt.grad(f)(START), jax.grad(g)(x))
    close(dt.jvp(f, (START,), (along,))[1], jax.jvp(g, (x,), (along,))[1])
    close(dt.hessian(f)(START), bent)
    _, pull = dt.vjp(f, START)
    close(2 * np.asarray(pull(1.0)), pull(2.0))
    # A transformation on a tape passes gradients to parameters that are fields.
    params, loss = dt.jax.fields(PARAMS), zeros()

    def h(params, x):
        u, loss = w(params, x), zeros()
        add_squares(u, loss)
        return loss

    start = dt.from_numpy(START, grad=True)
    with dt.Tape(loss):
        add_squares(dt.grad(h, argnums=1)(params, start), loss)

    def jax_of_h(params: Any) -> Any:
        slope = jax.grad(lambda x: (policy(params, x) ** 2).sum())(x)
        return (slope**2).sum()

    for name, bar in jax.grad(jax_of_h)(PARAMS).items():
        close(params[name].grad, bar)


class Pair(NamedTuple):
    one: Any
    other: Any


def test_pytrees_vectors_and_number_types() -> None:
    @dt.jax.wrap(dtype=Pair(None, ti.types.vector(2, ti.f64)))
    def parts(pair, scale, *, mode, index):
        assert mode == "fast"
        v = pair.other["v"] * scale
        return Pair(v.sum(1).astype(jnp.float32) + index[0], v[:, :2])

    v, k = dt.field(ti.types.vector(3, ti.f64), 4, grad=True), dt.from_numpy(np.arange(2))
    values = RNG.normal(size=(4, 3))
    v.from_numpy(values)
    scale, loss = zeros(), zeros()
    scale[None] = 2.0
    with dt.Tape(loss):
        found = parts(Pair(None, {"v": v}), scale, mode="fast", index=k)
        add_squares(found.one, loss)
    assert found.one.to_numpy().dtype == np.float32
    assert found.other.shape == (4,)
    close(found.other, 2 * values[:, :2])
    sums = (2 * values).sum(1)
    close(v.grad, np.repeat(4 * sums[:, None], 3, 1), 1e-6)
    close(scale.grad, (2 * sums * values.sum(1)).sum(), 1e-6)


def test_results_may_be_written_into_parts_and_into_arguments() -> None:
    path, x, loss = zeros(4, 3), dt.from_numpy(START, grad=True), zeros()
    w = dt.jax.wrap(lambda s: jnp.sin(s) * 1.3)
    with dt.Tape(loss):
        path[0, :].copy_from(x)
        for t in range(3):
            w(path[t, :], out=path[t + 1, :])
        add_squares(path.view(12), loss)
        w(x, out=x)
        add_squares(x, loss)

    def f(s: Any) -> Any:
        total, first = (s**2).sum(), jnp.sin(s) * 1.3
        for _ in range(3):
            s = jnp.sin(s) * 1.3
            total += (s**2).sum()
        return total + (first**2).sum()

    close(loss, f(START))
    close(x.grad, jax.grad(f)(jnp.array(START)))


def test_arrays_among_the_arguments_are_constants_of_the_call() -> None:
    data = START.copy()
    w, x, loss = dt.jax.wrap(lambda x, d: x * d), dt.from_numpy(START, grad=True), zeros()
    with dt.Tape() as tape:
        add_squares(w(x, data), loss)
    data[:] = 100.0
    tape.backward(loss)
    close(x.grad, 2 * START**3)


def test_what_others_write_later_falsifies_no_gradient() -> None:
    array = START.copy()
    x, loss = dt.from_dlpack(array, grad=True), zeros()
    with dt.Tape() as tape:
        add_squares(dt.jax.wrap(lambda x: x**3)(x), loss)
    array *= 5.0
    tape.backward(loss)
    close(x.grad, 6 * START**5)


def test_functions_without_jit_and_with_keys() -> None:
    def noisy(key: Any, x: Any) -> Any:
        return x * jax.random.normal(key, x.shape)

    def branching(x: Any) -> Any:
        return 2 * x if x[0] > 0 else x  # cannot be traced

    x, loss, key = dt.from_numpy(START, grad=True), zeros(), jax.random.key(3)
    with dt.Tape(loss, snapshots=3):
        add_squares(dt.jax.wrap(noisy)(key, x), loss)
    draws = np.asarray(jax.random.normal(key, (3,)))
    close(x.grad, 2 * START * draws**2)
    with pytest.raises(Exception, match="Tracer"):
        dt.jax.wrap(branching)(x)
    close(dt.jax.wrap(branching, jit=False)(x), 2 * START)


def test_what_jax_would_cut_is_refused() -> None:
    w, x = dt.jax.wrap(lambda x: x), dt.from_numpy(START)
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(dt.LaunchError, match="The argument x of JAX function"):
            w(x)
        assert w(dt.zeros(3)).element == dt.zeros(1).element
        with pytest.raises(dt.LaunchError, match="jax_enable_x64"):
            dt.jax.optimiser(_Descent(), dt.zeros(3, ti.f64, grad=True))
    finally:
        jax.config.update("jax_enable_x64", True)


def test_wrong_calls_say_what_to_write() -> None:
    x, wrap = dt.from_numpy(START), dt.jax.wrap
    for call, text in (
        (lambda: wrap(3), "takes a function of arrays, not 3"),
        (lambda: wrap(lambda x: None)(x), "in which there is no array"),
        (lambda: wrap(lambda x: x.astype(jnp.bfloat16))(x), "of bfloat16, which fields cannot"),
        (lambda: wrap(lambda x: x, dtype=ti.math.vec2)(x), "does not end in the shape"),
        (lambda: wrap(lambda x: x)(x, out=dt.zeros(2)), "takes (2,)"),
        (lambda: wrap(lambda x: x)(x, out=dt.zeros(3, int)), "holds integers"),
        (lambda: wrap(lambda x: (x, x))(x, out=x), "does not have the structure"),
        (lambda: wrap(lambda x: x @ jnp.ones((2, 2)))(x), "which was given x: float64 (3,)"),
        (lambda: wrap(lambda x, s: x)(x, {1, 2}), "can be hashed"),
        (lambda: dt.jax.optimiser(3, x), "takes a transformation"),
        (lambda: dt.jax.optimiser(_Descent(), x), "has no gradient to follow"),
    ):
        with pytest.raises(Exception) as raised:
            call()
        notes = " ".join(getattr(raised.value, "__notes__", ()))
        assert text in f"{raised.value} {notes}"


def test_memory_is_flat_and_nothing_compiles_twice() -> None:
    params, w = dt.jax.fields(PARAMS), dt.jax.wrap(policy)
    rollout(w, params, 3)
    for _ in range(40):  # kernels keep a few recent launches, with their fields
        rollout(w, params, 3, fresh=True)

    def count() -> int:
        gc.collect()
        return sum(1 for one in gc.get_objects() if isinstance(one, dt.Field))

    before, compiled = count(), [one.value._cache_size() for one in w._known.values()]
    for _ in range(40):
        rollout(w, params, 3, fresh=True)
    assert count() <= before + 2
    assert [one.value._cache_size() for one in w._known.values()] == compiled == [1]


def test_threads_have_tapes_of_their_own() -> None:
    expected = jax.grad(loss_of_jax, 1)(PARAMS, jnp.array(START), 5)
    failures: list[BaseException] = []
    w = dt.jax.wrap(policy)

    def work() -> None:
        try:
            params = dt.jax.fields(PARAMS)
            for _ in range(5):
                close(rollout(w, params, 5)[1], expected)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failures


def test_trees_go_both_ways() -> None:
    tree = {"w": jnp.ones((2, 3)), "more": [np.arange(3), None]}
    found = dt.jax.fields(tree)
    assert found["w"].has_grads
    assert not found["more"][0].has_grads
    back = dt.jax.arrays(found)
    assert jax.tree.structure(back) == jax.tree.structure(tree)
    close(back["w"], tree["w"])
    found["w"].fill(3.0)
    close(back["w"], 1.0)  # arrays of JAX never change


class _Descent:
    def init(self, params: Any) -> Any:
        return jnp.zeros((), int)

    def update(self, grads: Any, state: Any, params: Any) -> Any:
        return jax.tree.map(lambda g: -0.1 * g, grads), state + 1


def test_transformations_of_optax_move_fields() -> None:
    optax: Any = pytest.importorskip("optax")
    labels = {"a": "fast", "b": "slow"}
    tx = {
        "adam": optax.adam(0.02),
        "chain": optax.chain(optax.clip_by_global_norm(0.1), optax.adamw(0.02)),
        "parts": optax.multi_transform(
            {"fast": optax.sgd(0.1, momentum=0.9), "slow": optax.rmsprop(0.01)}, labels
        ),
    }
    gradient = jax.jit(jax.grad(loss_of_jax), static_argnums=2)
    w = dt.jax.wrap(policy)
    for one in tx.values():
        params, theirs = dt.jax.fields(PARAMS), {k: jnp.array(v) for k, v in PARAMS.items()}
        optimiser, state = dt.jax.optimiser(one, params), one.init(theirs)
        for _ in range(12):
            rollout(w, params, 2)
            optimiser.step()
            updates, state = one.update(gradient(theirs, START, 2), state, theirs)
            theirs = optax.apply_updates(theirs, updates)
        for name, field in params.items():
            close(field, theirs[name])
            assert np.abs(np.asarray(field) - PARAMS[name]).max() > 1e-3
    assert optimiser.steps == 12


def test_our_optimiser_equals_that_of_optax() -> None:
    optax: Any = pytest.importorskip("optax")
    one, other, loss = dt.from_numpy(START, grad=True), dt.from_numpy(START, grad=True), zeros()
    ours, theirs = dt.optim.Adam(one, 0.05), dt.jax.optimiser(optax.adam(0.05), other)
    for _ in range(50):
        for x in (one, other):
            with dt.Tape(loss):
                add_squares(x, loss)
        ours.step()
        theirs.step()
        close(one, other)


def test_a_gradient_of_another_loss_moves_nothing() -> None:
    x, y, loss = dt.from_numpy(START, grad=True), dt.from_numpy(START, grad=True), zeros()
    optimiser = dt.jax.optimiser(_Descent(), (x, y))
    for k, one in enumerate((x, y)):
        with dt.Tape(loss):
            add_squares(one, loss)
        optimiser.step()
        close(one, 0.8 * START)
        close(y, START if k == 0 else 0.8 * START)
    assert int(optimiser.state) == 2
    optimiser.zero_grads()
    close(y.grad, 0.0)
    with pytest.raises(dt.TapeError, match="is not part of what a tape differentiates"), dt.Tape():
        optimiser.step()


def test_tangents_along_two_directions() -> None:
    """No sweep sees what JAX computes: they come from the tangents of its backward."""
    wrapped = dt.jax.wrap(lambda x: x * jnp.sin(x))
    v, w = np.array([0.5, -1.0, 0.3]), np.array([-0.2, 0.7, 1.1])
    _, found = dt.jvp(lambda x: dt.jvp(wrapped, x, v)[1], START, w)
    close(found, (2.0 * np.cos(START) - START * np.sin(START)) * v * w)
