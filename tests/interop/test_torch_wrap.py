"""`dt.torch.wrap`: modules of PyTorch as steps of tapes, against PyTorch alone."""

from __future__ import annotations

import copy
import gc
import importlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt

torch: Any = pytest.importorskip("torch")
nn: Any = importlib.import_module("torch.nn")

START = np.array([0.3, -0.2, 0.7])


@dt.kernel
def drive(x, u):
    for i in x:
        x[i] *= 0.95 if i == 2 else 0.9 + u[i]


@dt.kernel
def add_squares(x, loss):
    for i in x:
        loss[None] += x[i] ** 2


@dt.kernel
def add_lengths(v, loss):
    for i in v:
        loss[None] += v[i].dot(v[i]) * (i + 1)


def network(*between: Any, seed: int = 0) -> Any:
    """Return a policy from three numbers to two."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), *between, nn.Linear(4, 2)).double()


def zeros(*shape: int) -> dt.Field:
    return dt.zeros(shape, ti.f64, grad=True)


def taken_grads(module: Any) -> list[np.ndarray]:
    """Return the gradients of a module, and clear them."""
    found = [one.grad.numpy().copy() for one in module.parameters()]
    module.zero_grad()
    return found


def rollout(w: Any, steps: int, *, fresh: bool = False, **limits: Any) -> tuple[Any, ...]:
    """Return the loss, the gradient and the tape of some steps of a policy."""
    torch.manual_seed(1)
    x, u, loss = dt.from_numpy(START, grad=True), zeros(2), zeros()
    with dt.Tape(loss, **limits) as tape:
        for _ in range(steps):
            if fresh:
                u = w(x)
            else:
                w(x, out=u)
            drive(x, u)
        add_squares(x, loss)
    return float(loss[None]), x.grad.to_numpy(), tape


def torch_rollout(net: Any, steps: int) -> tuple[float, np.ndarray]:
    """Return the loss and the gradient of the same steps in PyTorch."""
    torch.manual_seed(1)
    x = start = torch.tensor(START, requires_grad=True)
    for _ in range(steps):
        u = net(x)
        x = torch.cat([0.9 * x[:2] + u * x[:2], 0.95 * x[2:]])
    loss = (x**2).sum()
    loss.backward()
    return loss.item(), start.grad.numpy()


def close(one: Any, other: Any, size: float = 1e-12) -> None:
    np.testing.assert_allclose(one, other, rtol=size, atol=size)


@pytest.mark.parametrize(
    "limits", [{}, {"fresh": True}, {"memory": 1500}, {"snapshots": 3}], ids=str
)
def test_a_rollout_has_the_gradients_of_torch_on_any_tape(limits: dict[str, Any]) -> None:
    net = network(nn.Dropout(0.3))  # the same draws in every run
    value, grad = torch_rollout(net, 100)
    grads = taken_grads(net)
    assert all(one.any() for one in grads)
    found, x_grad, tape = rollout(dt.torch.wrap(net), 100, **limits)
    close(found, value)
    close(x_grad, grad)
    for one, other in zip(taken_grads(net), grads, strict=True):
        close(one, other)
    assert (tape.recomputed > 0) == ("memory" in limits or "snapshots" in limits)


def test_gradients_agree_with_differences() -> None:
    net = network()
    w = dt.torch.wrap(net)
    _, grad, _ = rollout(w, 5)
    weight = net[0].weight
    slope = weight.grad[1, 2].item()
    for k in range(3):
        moved = []
        for sign in (1, -1):
            START[k] += sign * 1e-5
            moved.append(rollout(w, 5)[0])
            START[k] -= sign * 1e-5
        close((moved[0] - moved[1]) / 2e-5, grad[k], 1e-8)
    moved = []
    for sign in (1, -1):
        with torch.no_grad():
            weight[1, 2] += sign * 1e-5
            moved.append(rollout(w, 5)[0])
            weight[1, 2] -= sign * 1e-5
    close((moved[0] - moved[1]) / 2e-5, slope, 1e-8)


def test_parameters_alone_get_their_gradients() -> None:
    net = network()
    w = dt.torch.wrap(net)
    obs = dt.from_numpy(START)  # has no gradient
    loss = zeros()
    with dt.Tape(loss):
        u = w(obs)
        add_squares(u, loss)
    found = taken_grads(net)
    (net(torch.tensor(START)) ** 2).sum().backward()
    for one, other in zip(found, taken_grads(net), strict=True):
        close(one, other)


def test_gradients_of_parameters_accumulate_as_in_torch() -> None:
    net = network()
    w = dt.torch.wrap(net)
    rollout(w, 2)
    once = [one.grad.numpy().copy() for one in net.parameters()]
    rollout(w, 2)
    for one, other in zip(taken_grads(net), once, strict=True):
        close(one, 2 * other)


def test_a_tape_that_is_kept_reverses_twice() -> None:
    net = network()
    w = dt.torch.wrap(net)
    x, loss = dt.from_numpy(START, grad=True), zeros()
    with dt.Tape() as tape:
        add_squares(w(x), loss)
    tape.backward(loss, keep=True)
    first, grads = x.grad.to_numpy(), taken_grads(net)
    x.grad.fill(0.0)
    tape.backward({loss: 2.0})
    close(x.grad.to_numpy(), 2 * first)
    for one, other in zip(taken_grads(net), grads, strict=True):
        close(one, 2 * other)


def test_parameters_are_constants_without_grad() -> None:
    net = network()
    w = dt.torch.wrap(net)
    with torch.no_grad():
        _, grad, _ = rollout(w, 3)
    assert all(one.grad is None for one in net.parameters())
    close(grad, torch_rollout(net, 3)[1])
    with torch.inference_mode():
        _, grad, _ = rollout(w, 3)
    close(grad, torch_rollout(net, 3)[1])


def test_without_a_tape_no_graph_is_kept() -> None:
    seen = []
    w = dt.torch.wrap(lambda x: seen.append(x.requires_grad or torch.is_grad_enabled()) or 2 * x)
    x = dt.from_numpy(START, grad=True)
    y = w(x)
    with dt.Tape() as tape:
        with dt.no_grad():
            w(x)
        z = w(x)
    assert seen == [False, False, True]
    close(y.to_numpy(), 2 * START)
    tape.backward({z: 1.0})
    close(x.grad.to_numpy(), [2, 2, 2])
    tape.release()


def test_vectors_are_tensors_with_one_axis_more() -> None:
    x = dt.field(ti.types.vector(3, ti.f64), 5, grad=True)
    values = np.random.default_rng(0).normal(size=(5, 3))
    x.from_numpy(values)
    loss = zeros()
    turn = torch.tensor(np.random.default_rng(1).normal(size=(3, 2)))
    w = dt.torch.wrap(lambda a: torch.tanh(a @ turn), dtype=ti.types.vector(2, ti.f64))
    with dt.Tape(loss):
        y = w(x)
        add_lengths(y, loss)
    assert y.shape == (5,)
    assert y.to_numpy().shape == (5, 2)
    a = torch.tensor(values, requires_grad=True)
    (((a @ turn).tanh() ** 2).sum(1) * torch.arange(1, 6)).sum().backward()
    close(x.grad.to_numpy(), a.grad.numpy())
    free = dt.torch.wrap(lambda a: a @ turn.float(), dtype=ti.math.vec2)
    assert free(dt.field(ti.math.vec3, 4)).element == dt.field(ti.math.vec2, 1).element


def test_results_keep_their_structure_and_their_number_types() -> None:
    @dt.torch.wrap
    def parts(p, k, flag=True):
        return {"sum": p["a"] + p["b"][0], "count": (p["a"] > 0).int(), "rest": [None, k * p["a"]]}

    a, b = dt.from_numpy(START, grad=True), dt.from_numpy(2 * START, grad=True)
    loss = zeros()
    with dt.Tape(loss):
        found = parts({"a": a, "b": (b,)}, 3.0, flag=False)
        add_squares(found["sum"], loss)
        add_squares(found["rest"][1], loss)
    assert found["rest"][0] is None
    assert found["count"].to_numpy().tolist() == [1, 0, 1]
    assert not found["count"].has_grads
    close(a.grad.to_numpy(), 2 * 3 * START + 2 * 9 * START)
    close(b.grad.to_numpy(), 2 * 3 * START)
    assert parts.name == "parts"


def test_results_may_be_written_into_fields_and_parts_of_them() -> None:
    path, x, loss = zeros(4, 3), dt.from_numpy(START, grad=True), zeros()
    step = dt.torch.wrap(lambda s: torch.sin(s) * 1.3)

    with dt.Tape(loss):
        path[0, :].copy_from(x)
        for t in range(3):
            assert step(path[t, :], out=path[t + 1, :]) is not None
        add_squares(path.view(12), loss)
    s = start = torch.tensor(START, requires_grad=True)
    total = (s**2).sum()
    for _ in range(3):
        s = torch.sin(s) * 1.3
        total = total + (s**2).sum()
    total.backward()
    close(float(loss[None]), total.item())
    close(x.grad.to_numpy(), start.grad.numpy())


def test_a_field_may_be_argument_and_result() -> None:
    x, loss = dt.from_numpy(START, grad=True), zeros()
    step = dt.torch.wrap(lambda s: torch.sin(s) + s.flip(0))
    with dt.Tape(loss):
        for _ in range(3):
            step(x, out=x)
        add_squares(x, loss)
    s = start = torch.tensor(START, requires_grad=True)
    for _ in range(3):
        s = torch.sin(s) + s.flip(0)
    (s**2).sum().backward()
    close(x.to_numpy(), s.detach().numpy())
    close(x.grad.to_numpy(), start.grad.numpy())


def test_an_argument_that_is_returned_as_it_is() -> None:
    x, loss = dt.from_numpy(START, grad=True), zeros()
    with dt.Tape(loss):
        y = dt.torch.wrap(nn.Identity())(x)
        drive(x, dt.zeros(2, ti.f64))  # y has memory of its own
        add_squares(y, loss)
    close(y.to_numpy(), START)
    close(x.grad.to_numpy(), 2 * START)


def test_a_parameter_that_is_returned_owns_its_gradient() -> None:
    weight = nn.Parameter(torch.tensor(START))
    w = dt.torch.wrap(lambda: weight.view(3, 1))
    for _ in range(2):
        loss = zeros()
        with dt.Tape(loss):
            add_squares(w().view(3), loss)
    held = weight.grad
    for _ in range(20):
        dt.zeros((3, 1), ti.f64).fill(7.0)  # memory that the tape has given back
    close(held.numpy(), 4 * START[:, None].reshape(3))


def test_functions_of_a_module_and_of_tensors() -> None:
    net, scale = network(), torch.tensor(0.5, dtype=torch.float64, requires_grad=True)

    @dt.torch.wrap
    def policy(x):
        return scale * net(x)

    x, loss = dt.from_numpy(START, grad=True), zeros()
    with dt.Tape(loss):
        add_squares(policy(x), loss)
    found, slope = taken_grads(net), scale.grad.item()
    start = torch.tensor(START, requires_grad=True)
    scale.grad = None
    ((scale * net(start)) ** 2).sum().backward()
    close(x.grad.to_numpy(), start.grad.numpy())
    close(slope, scale.grad.item())
    for one, other in zip(found, taken_grads(net), strict=True):
        close(one, other)


def test_optimisers_of_torch_follow() -> None:
    def trained(run: Any) -> list[np.ndarray]:
        net = network()
        optimiser = torch.optim.Adam(net.parameters(), 1e-2)
        for _ in range(8):
            optimiser.zero_grad()
            run(net)
            optimiser.step()
        return [one.detach().numpy() for one in net.parameters()]

    ours = trained(lambda net: rollout(dt.torch.wrap(net), 4))
    theirs = trained(lambda net: torch_rollout(net, 4))
    for one, other in zip(ours, theirs, strict=True):
        close(one, other, 1e-10)


def loss_of(w: Any) -> Any:
    """Return a function of a field that calls a module between kernels."""

    def f(x):
        u, loss = w(x), zeros()
        drive(x, u)
        add_squares(x, loss)
        return loss

    return f


def torch_loss(net: Any) -> Any:
    def f(x):
        u = net(x)
        return (torch.cat([0.9 * x[:2] + u * x[:2], 0.95 * x[2:]]) ** 2).sum()

    return f


def test_transformations_see_through_a_module() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.SiLU(), nn.Linear(4, 2)).double()
    f, g = loss_of(dt.torch.wrap(net)), torch_loss(net)
    x, v = torch.tensor(START), torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    along = v.numpy()
    close(dt.grad(f)(START), torch.func.grad(g)(x).detach().numpy())
    value, dot = dt.jvp(f, (START,), (along,))
    close(value, g(x).item())
    close(dot, (torch.func.grad(g)(x) @ v).item())
    bent = torch.autograd.functional.hessian(g, x).numpy()
    close(dt.hessian(f)(START), bent)
    close(dt.hvp(f, START, along), bent @ along)
    assert np.abs(bent).max() > 0.1
    assert all(one.grad is None for one in net.parameters())  # constants of the function


def test_a_vjp_may_be_asked_for_twice() -> None:
    f = loss_of(dt.torch.wrap(network()))
    _, pull = dt.vjp(f, START)
    one, other = pull(1.0), pull(2.0)
    close(2 * np.asarray(one), np.asarray(other))


def test_parameters_need_the_tape_itself() -> None:
    net = network()
    f, loss = loss_of(dt.torch.wrap(net)), zeros()
    x = dt.from_numpy(START, grad=True)
    with pytest.raises(dt.TapeError, match="gradients do not pass through a transformation"):
        with dt.Tape(loss):
            add_squares(dt.grad(f)(x), loss)
    net.requires_grad_(False)
    with dt.Tape(loss):
        add_squares(dt.grad(f)(x), loss)
    g = torch_loss(net)
    start = torch.tensor(START, requires_grad=True)
    h = torch.func.grad(lambda x: (torch.func.grad(g)(x) ** 2).sum())(start)
    close(x.grad.to_numpy(), h.detach().numpy())


def test_a_checkpoint_runs_dropout_and_statistics_as_they_ran() -> None:
    def built() -> Any:
        torch.manual_seed(3)
        parts = nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.4), nn.Linear(4, 2)
        return nn.Sequential(*parts).double()

    data = np.random.default_rng(0).normal(size=(6, 3))

    def run(call: Any, net: Any) -> tuple[Any, ...]:
        x, loss = dt.from_numpy(data, grad=True), zeros()
        torch.manual_seed(5)
        with dt.Tape(loss):
            for _ in range(3):
                call(x, loss)
            torch.rand(3)
        drawn = torch.rand(())  # the generator goes on where it was
        norm = net[1]
        state = norm.running_mean.numpy().copy(), norm.num_batches_tracked.item()
        return x.grad.to_numpy(), *taken_grads(net), *state, drawn

    def plain(w: Any) -> Any:
        def call(x, loss):
            add_squares(w(x).view(12), loss)

        return call

    one, other = built(), built()
    expected = run(plain(dt.torch.wrap(one)), one)
    found = run(dt.checkpoint(plain(dt.torch.wrap(other))), other)
    for a, b in zip(expected, found, strict=True):
        close(a, b)
    assert expected[-2] == 3


def test_buffers_that_results_depend_on_are_put_back() -> None:
    def built() -> Any:
        torch.manual_seed(2)
        return nn.utils.parametrizations.spectral_norm(nn.Linear(3, 2)).double()

    def grads(limits: dict[str, Any]) -> list[np.ndarray]:
        net = built()
        return [rollout(dt.torch.wrap(net), 12, **limits)[1], *taken_grads(net)]

    for one, other in zip(grads({}), grads({"snapshots": 3}), strict=True):
        close(one, other)


def test_modes_are_put_back() -> None:
    net = network(nn.Dropout(0.5))
    w, loss = dt.torch.wrap(net), zeros()
    x = dt.from_numpy(START, grad=True)

    @dt.checkpoint
    def step():
        add_squares(w(x), loss)

    grads = []
    for later in (True, False):
        torch.manual_seed(0)
        net.train()
        loss.fill(0.0)
        with dt.Tape() as tape:
            step()
        net.train(later)
        tape.backward(loss)
        assert net[2].training is later
        grads.append(x.grad.to_numpy())
    close(*grads)


def test_parameters_changed_before_the_backward_are_noticed() -> None:
    for limits in ({}, {"snapshots": 3}):
        net = network()
        optimiser = torch.optim.SGD(net.parameters(), 0.1)
        w = dt.torch.wrap(net)
        x, u, loss = dt.from_numpy(START, grad=True), zeros(2), zeros()
        with dt.Tape(**limits) as tape:
            for _ in range(20):
                w(x, out=u)
                drive(x, u)
            add_squares(x, loss)
        for one in net.parameters():
            one.grad = torch.ones_like(one)
        optimiser.step()
        with pytest.raises(dt.TapeError, match=r"call optimizer.step\(\) after"):
            tape.backward(loss)


def test_random_results_are_noticed() -> None:
    state = np.random.default_rng(0)
    w = dt.torch.wrap(lambda x: x * float(state.normal()))  # not torch's generator
    x, loss = dt.from_numpy(START, grad=True), zeros()

    @dt.checkpoint
    def step():
        add_squares(w(x), loss)

    with dt.Tape() as tape:
        step()
    with pytest.raises(dt.TapeError, match="gave other results"):
        tape.backward(loss)


def test_writing_into_an_argument_is_refused() -> None:
    w = dt.torch.wrap(nn.ReLU(inplace=True))
    x = dt.from_numpy(START)
    with pytest.raises(dt.LaunchError, match="has written into its argument input"):
        w(x)
    x, loss = dt.from_numpy(START, grad=True), zeros()
    with pytest.raises(RuntimeError, match="in-place"), dt.Tape(loss):
        add_squares(w(x), loss)


def test_a_cut_is_reported() -> None:
    w = dt.torch.wrap(lambda x: x.detach() * 2)
    x, loss = dt.from_numpy(START, grad=True), zeros()
    with pytest.warns(dt.GradientCut, match="the backward of module"), dt.Tape(loss):
        add_squares(w(x), loss)
    net = network()
    u = dt.zeros(2, ti.f64)  # has no gradient
    with pytest.warns(dt.GradientCut, match="has none and is read again"), dt.Tape(loss):
        dt.torch.wrap(net)(dt.from_numpy(START), out=u)
        add_squares(u, loss)


def test_a_number_among_the_arguments_is_a_constant() -> None:
    w = dt.torch.wrap(lambda x, k: x * k)
    x, loss = dt.from_numpy(START, grad=True), zeros()
    with pytest.warns(dt.GradientCut, match="the argument 'k' of <wrapped"), dt.Tape(loss):
        add_squares(w(x, x[0]), loss)
    close(x.grad.to_numpy(), 2 * START * START[0] ** 2)


def wrong_calls() -> list[tuple[Any, str]]:
    x = dt.from_numpy(START)
    part = dt.from_numpy(START, grad=True)
    wrap = dt.torch.wrap
    return [
        (lambda: wrap(3), "takes a module or a function of tensors, not 3"),
        (lambda: wrap(wrap(nn.Identity())), "not <wrapped Identity>"),
        (lambda: wrap(lambda x: 3.0)(x), "in which there is no tensor"),
        (lambda: wrap(lambda x: x.bfloat16())(x), "of bfloat16, which fields cannot hold"),
        (lambda: wrap(lambda x: x, dtype=ti.math.vec2)(x), "does not end in the shape"),
        (lambda: wrap(lambda x: x)(x, out=dt.zeros(2)), "takes (2,)"),
        (lambda: wrap(lambda x: x)(x, out=dt.zeros(3, int)), "holds integers"),
        (lambda: wrap(lambda x: (x, x))(x, out=x), "has 2 entries"),
        (lambda: wrap(lambda x: x)(x, out=3), "takes a field"),
        (lambda: wrap(nn.Linear(3, 2))(x), "In module 'Linear', which was given input: float64"),
        (lambda: _reads_outside(wrap(lambda a: a + part.to_numpy()), x), "is not an argument"),
    ]


def _reads_outside(w: Any, x: Any) -> None:
    with dt.Tape():
        w(x)


def test_wrong_calls_say_what_to_write() -> None:
    for call, text in wrong_calls():
        with pytest.raises(Exception) as raised:
            call()
        notes = " ".join(getattr(raised.value, "__notes__", ()))
        assert text in f"{raised.value} {notes}"


def test_modules_in_steps_run_in_their_places() -> None:
    w, found = dt.torch.wrap(network()), []
    for loop in (lambda body: [body() for _ in range(5)], lambda body: dt.repeat(body, 5)):
        x, u = dt.from_numpy(START), dt.zeros(2, ti.f64)

        def body(x: dt.Field = x, u: dt.Field = u) -> None:
            w(x, out=u)
            drive(x, u)

        loop(body)
        for _ in dt.steps(5):
            body()
        found.append(x.tolist())
    assert found[0] == found[1]


@pytest.mark.slow
def test_memory_is_flat_over_many_tapes() -> None:
    net = network()
    w = dt.torch.wrap(net)

    def count() -> int:
        gc.collect()
        return sum(1 for one in gc.get_objects() if isinstance(one, (torch.Tensor, dt.Field)))

    for _ in range(40):  # kernels keep a few recent launches, with their fields
        rollout(w, 3, fresh=True)
    before = count()
    gc.disable()
    try:
        for _ in range(60):
            rollout(w, 3, fresh=True)
        held = sum(1 for one in gc.get_objects() if isinstance(one, (torch.Tensor, dt.Field)))
    finally:
        gc.enable()
    assert held <= before + 40  # no cycles: all goes without the collector
    assert count() <= before + 2


def test_threads_have_tapes_of_their_own() -> None:
    nets = [network(seed=k) for k in range(2)]
    expected = []
    for net in nets:
        torch_rollout(net, 10)
        expected.append(taken_grads(net))
    failures: list[BaseException] = []

    def work(net: Any) -> None:
        try:
            w = dt.torch.wrap(net)
            for _ in range(5):
                net.zero_grad()
                rollout(w, 10)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(net,)) for net in nets]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failures
    for net, grads in zip(nets, expected, strict=True):
        for one, other in zip(taken_grads(net), grads, strict=True):
            close(one, other)


def test_an_operation_in_a_module_is_reversed_on_a_thread_of_torch() -> None:
    """Autograd has a thread for each device, for which a backward pass of a tape waits."""
    doubled = dt.torch.op(_doubled_square, inputs=("x",))

    class Elsewhere(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x = x.detach().requires_grad_()
            with torch.enable_grad():
                ctx.ends = x, doubled(x)
            return ctx.ends[1].detach()

        @staticmethod
        def backward(ctx: Any, bar: Any) -> Any:
            x, y = ctx.ends
            found: list[Any] = []
            worker = threading.Thread(
                target=lambda: found.extend(torch.autograd.grad(y, x, bar)), daemon=True
            )
            worker.start()
            worker.join(60)
            return found[0]

    wrapped = dt.torch.wrap(Elsewhere.apply)
    x = dt.from_numpy(np.arange(3.0), grad=True)
    total = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(total):
        _add_up(wrapped(x), total)
    assert x.grad.to_numpy().tolist() == [0.0, 4.0, 8.0]


@dt.kernel
def _double(x, y):
    for i in x:
        y[i] = 2.0 * x[i]


@dt.kernel
def _square(x, y):
    for i in x:
        y[i] = x[i] ** 2


@dt.kernel
def _add_up(x, total):
    for i in x:
        total[None] += x[i]


def _doubled_square(x: Any) -> Any:
    y, z = dt.zeros_like(x), dt.zeros_like(x)
    _square(x, y)
    _double(y, z)
    return z


def test_gradcheck_takes_a_module() -> None:
    net = network()
    w = dt.torch.wrap(net)
    x, loss = dt.from_numpy(START, grad=True), zeros()

    def run():
        add_squares(w(x), loss)

    dt.gradcheck(run)
    dt.gradcheck(run, memory=4000)


def test_what_torch_writes_later_falsifies_no_gradient() -> None:
    tensor = torch.tensor(START)
    x, loss = dt.from_dlpack(tensor, grad=True), zeros()
    w = dt.torch.wrap(lambda x: x**3)
    for limits in ({}, {"snapshots": 3}):
        x.from_numpy(START)
        with dt.Tape(**limits) as tape:
            add_squares(w(x), loss)
        tensor.mul_(5.0)
        tape.backward(loss)
        close(x.grad.to_numpy(), 6 * START**5)
    close(tensor.numpy(), 5 * START)
    with dt.Tape(loss):
        w(x, out=x)
        add_squares(x, loss)
    close(tensor.numpy(), (5 * START) ** 3)  # and writes of ours arrive
    close(x.grad.to_numpy(), 6 * (5 * START) ** 5)


def test_parameters_that_are_fields_are_arguments() -> None:
    k, loss = dt.from_numpy(START, grad=True), zeros()
    (p,) = dt.torch.parameters(k)
    with pytest.raises(dt.LaunchError, match="Pass the field itself as an argument"):
        with dt.Tape(loss):
            add_squares(dt.torch.wrap(lambda x: x * p)(dt.from_numpy(START)), loss)
    with dt.Tape(loss):
        add_squares(dt.torch.wrap(lambda x, k: x * k)(dt.from_numpy(START), k), loss)
    close(p.grad.numpy(), 2 * START**3)


@pytest.fixture
def on_cuda() -> Iterator[None]:
    """Let fields be on the GPU, in this test."""
    try:
        dt.init(arch="cuda")
    except dt.FieldError as error:
        dt.init(arch="cpu")
        pytest.skip(f"no CUDA device: {error}")
    yield
    dt.init(arch="cpu")


@pytest.mark.gpu
@pytest.mark.usefixtures("on_cuda")
@pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS")  # in torch's thread for backward
def test_modules_on_the_gpu() -> None:
    net = network()
    value, grad = torch_rollout(net, 10)
    grads = taken_grads(net)
    for limits in ({}, {"snapshots": 3}):
        found, x_grad, _ = rollout(dt.torch.wrap(net.cuda()), 10, **limits)
        close(found, value, 1e-10)
        close(x_grad, grad, 1e-10)
        for one, other in zip(net.parameters(), grads, strict=True):
            close(one.grad.cpu().numpy(), other, 1e-10)
        net.zero_grad()


def test_a_copy_of_a_module_is_another_one() -> None:
    net = network()
    w = dt.torch.wrap(copy.deepcopy(net))
    rollout(w, 2)
    assert all(one.grad is None for one in net.parameters())


def test_half_precision_and_autocast() -> None:
    net = nn.Linear(3, 2)
    w = dt.torch.wrap(net)
    out = dt.zeros(2, ti.f32, grad=True)
    x, loss = dt.from_numpy(START.astype(np.float32), grad=True), dt.zeros((), grad=True)

    @dt.checkpoint
    def step():
        with torch.autocast("cpu", dtype=torch.bfloat16):
            w(x, out=out)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with dt.Tape(loss):
            step()
            add_squares(out, loss)
    start = torch.tensor(START, dtype=torch.float32, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = net(start)
    (y.float() ** 2).sum().backward()
    close(x.grad.to_numpy(), start.grad.numpy(), 1e-6)


def test_tangents_along_two_directions() -> None:
    """No sweep sees what torch computes: they come from the tangents of its backward."""
    wrapped = dt.torch.wrap(lambda x: x * torch.sin(x))
    v, w = np.array([0.5, -1.0, 0.3]), np.array([-0.2, 0.7, 1.1])
    _, found = dt.jvp(lambda x: dt.jvp(wrapped, x, v)[1], START, w)
    close(found, (2.0 * np.cos(START) - START * np.sin(START)) * v * w)
