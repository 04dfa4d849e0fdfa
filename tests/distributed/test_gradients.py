"""Gradients over ranks: sums equal to those of one process, in any buckets, during the replay."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import distributed as dist
from difftile import ti
from difftile.distributed import gradients as gradients_module
from difftile.ranks import current
from tests.ranks import ranks
from tests.slow_network import SlowNetwork, connected

Gradients = list[np.ndarray]
ENGINES = [(1, "torch"), (2, "torch"), (3, "torch"), (3, "mpi")]
N, LAYERS = 6, 5


@dt.kernel
def layer(x: Any, w: Any, y: Any) -> None:
    """One layer of a network."""
    for i in y:
        t = 0.0
        for j in range(w.shape[1]):
            t += w[i, j] * x[j]
        y[i] = t / (1.0 + t * t)


@dt.kernel
def measure(y: Any, loss: Any) -> None:
    """Add the squares of the outputs."""
    for i in y:
        loss[None] += y[i] * y[i]


class Net:
    """A network of layers, each with a matrix of its own."""

    def __init__(self) -> None:
        rng = np.random.default_rng(1)
        self.ws = {
            f"w{k}": dt.from_numpy(rng.normal(size=(N, N)), grad=True) for k in range(LAYERS)
        }
        self.xs = [dt.zeros(N, dtype=ti.f64, grad=True) for _ in range(LAYERS + 1)]
        self.loss = dt.zeros((), dtype=ti.f64, grad=True)

    def run(self, sample: int) -> None:
        """Add the loss of a sample."""
        self.xs[0].from_numpy(np.random.default_rng(100 + sample).normal(size=N))
        for x, w, y in zip(self.xs, self.ws.values(), self.xs[1:], strict=False):
            layer(x, w, y)
        measure(self.xs[-1], self.loss)

    def gradients(self) -> Gradients:
        """Return the gradients of all matrices."""
        return [w.grad.to_numpy() for w in self.ws.values()]


def alone(samples: int) -> tuple[float, Gradients]:
    """Return loss and gradients of some samples in one process."""
    net = Net()
    with dt.Tape(net.loss):
        for k in range(samples):
            net.run(k)
    return float(net.loss[None]), net.gradients()


def all_cases(samples: int) -> dict[str, tuple[float, Gradients]]:
    """Return loss and gradients of samples divided among ranks, by the way of adding them up."""
    engine, found = current(), {}
    mine = range(engine.rank, samples, engine.size)
    each = 8 * N * N  # bytes of a matrix
    cases: dict[str, tuple[str, Any, dict[str, Any]]] = {
        "after": ("after", "25MB", {}),
        "small buckets": ("tape", 1, {}),
        "buckets of two": ("tape", 2 * each, {}),
        "one bucket": ("tape", "25MB", {}),
        "limited": ("tape", 2 * each, {"memory": 12_000}),
        "snapshots": ("tape", each, {"snapshots": 3}),
        "accumulating": ("accumulating", 2 * each, {}),
        "mean": ("mean", 2 * each, {}),
    }
    for name, (how, bucket, options) in cases.items():
        net = Net()
        dist.broadcast(net.ws)
        gradients = dist.Gradients(net.ws, "mean" if how == "mean" else "sum", bucket=bucket)
        for _ in range(2):  # the second time in memory of the first
            net.loss.fill(0.0)
            dt.zero_grads(net.ws.values())
            if how == "accumulating":  # a tape for each sample, and a last one for the sum
                for k in mine:
                    with dt.Tape(accumulate=True) as tape:
                        net.run(k)
                    tape.backward({net.loss: 1.0})
                net.loss.fill(0.0)
                with dt.Tape(net.loss, accumulate=True, reduce=gradients):
                    net.run(engine.rank + samples)
                dist.sum(net.loss)
                continue
            with dt.Tape(net.loss, reduce=None if how == "after" else gradients, **options):
                for k in mine:
                    net.run(k)
                if not options:
                    dist.sum(net.loss)
            if options:
                dist.sum(net.loss)
            if how == "after":
                dist.all_reduce(net.ws)
                dist.all_reduce(net.ws)  # changes nothing
        found[name] = float(net.loss[None]), net.gradients()
    return found


@pytest.mark.parametrize(("size", "engine"), ENGINES)
def test_sums_are_those_of_one_process(size: int, engine: str) -> None:
    found = ranks(size, engine).run(all_cases, 7)
    wanted = alone(7)
    more = alone(7 + size)
    for name, (loss, gradients) in found[0].items():
        scale = 1.0 / size if name == "mean" else 1.0
        true_loss, true_gradients = wanted if name != "accumulating" else more
        if name != "accumulating":
            assert loss == pytest.approx(true_loss, rel=1e-13)
        for own, true in zip(gradients, true_gradients, strict=True):
            np.testing.assert_allclose(own, scale * true, rtol=1e-12, atol=1e-13, err_msg=name)
        for other in found[1:]:
            for own, same in zip(gradients, other[name][1], strict=True):
                np.testing.assert_array_equal(own, same)  # to the last bit


@pytest.mark.parametrize("options", [{}, {"memory": 12_000}, {"snapshots": 3}], ids=str)
def test_buckets_leave_while_the_pass_goes_on(options: dict[str, Any]) -> None:
    events: list[str] = []
    matrix = 8 * N * N

    def hear(nbytes: int) -> None:
        events.extend(["sent"] if nbytes == matrix else [])

    net = Net()
    gradients = dist.Gradients(net.ws, bucket=matrix)
    gradients.compared = True  # the artificial network only adds up
    with connected(SlowNetwork(4, hear=hear)):
        with dt.Tape(
            net.loss,
            reduce=gradients,
            progress=lambda done, total: events.append(f"reversed {done}"),
            **options,
        ):
            net.run(0)
    # The write of the inputs, the layers and the loss; a gradient leaves before the next layer.
    layers = [f"reversed {k}" for k in range(1, LAYERS + 3)]
    assert [event for event in events if event != "sent"] == layers
    sent = [k for k, event in enumerate(events) if event == "sent"]
    assert [events[k - 1] for k in sent] == layers[1 : LAYERS + 1]
    _, true = alone(1)
    for own, one in zip(net.gradients(), true, strict=True):
        np.testing.assert_allclose(own, 4.0 * one, rtol=1e-12, atol=1e-14)


@dt.kernel
def weigh(x: Any, c: float, loss: Any) -> None:
    """Add the weighted squares of all components."""
    for i in x:
        loss[None] += c * (x[i] * x[i])


@dt.kernel
def weigh_vectors(x: Any, c: float, loss: Any) -> None:
    """Add the weighted squares of vectors."""
    for i in x:
        loss[None] += c * x[i].dot(x[i])


@dt.kernel
def double(x: Any) -> None:
    """Change a parameter on the tape."""
    for i in x:
        x[i] = 2.0 * x[i]


def filled(shape: int, value: float, dtype: Any = ti.f64) -> dt.Field:
    """Return a field of one value with a gradient."""
    made = dt.field(dtype, shape=shape, grad=True)
    made.fill(value)
    return made


def odd_cases() -> dict[str, Any]:
    """Return gradients of programs that differ by rank, and messages."""
    rank, size = current().rank, current().size
    found: dict[str, Any] = {}
    loss = dt.zeros((), dtype=ti.f64, grad=True)

    # Ranks use parameters in another order, one uses none of them, and one is used by a rank only.
    a, b, c = (filled(3, value) for value in (1.0, 2.0, 3.0))
    gradients = dist.Gradients({"a": a, "b": b, "c": c}, bucket=24)
    for _ in range(2):
        with dt.Tape(loss, reduce=gradients):
            loss.fill(0.0)
            for x in [(a, b), (), (b, a, c)][rank]:
                weigh(x, 1.0 + rank, loss)
        found["orders"] = [x.grad.to_numpy() for x in (a, b, c)]
    # What no rank uses keeps its gradient, which is not added up again.
    with dt.Tape(loss, reduce=gradients):
        loss.fill(0.0)
        weigh(a, 1.0, loss)
    found["unused"] = [x.grad.to_numpy() for x in (a, b, c)]
    dist.all_reduce([a, b, c])
    found["again"] = [x.grad.to_numpy() for x in (a, b, c)]
    if rank:
        b.grad.fill(rank)
    dist.all_reduce([filled(3, 0.0), b])
    found["written"] = b.grad.to_numpy()

    # Optimisers of all ranks leave a parameter that no rank has used where it is.
    optimiser = dt.optim.SGD([a, c], 1.0)
    optimiser.step()
    held = c.to_numpy()
    if rank == 1:
        with dt.Tape(loss):
            loss.fill(0.0)
            weigh(a, 1.0, loss)
    dist.all_reduce([a, c])
    optimiser.step()
    assert (c.to_numpy() == held).all()
    dist.check([a, c])

    # Structs, rows, vectors, half and single precision, in one bucket for each type.
    body = ti.types.struct(mass=ti.f64, at=dt.vec(2, ti.f32))
    bodies = dt.field(body, shape=3, grad=True)
    rows = dt.Rows(x=filled(4, 0.5), y=filled(4, 1.5, ti.f16))
    bodies.mass.fill(1.0)
    bodies.at.fill(2.0)
    rows.take([0, 1, 2])
    several = dist.Gradients({"bodies": bodies, "rows": rows})
    rows.take([0, 1])
    with dt.Tape(loss, reduce=several):
        loss.fill(0.0)
        weigh(bodies.mass, 1.0 + rank, loss)
        weigh_vectors(bodies.at, 1.0 + rank, loss)
        weigh(rows.x, 1.0 + rank, loss)
        weigh(rows.y, 1.0 + rank, loss)
    found["several"] = [x.grad.to_numpy() for x in (bodies.mass, bodies.at, rows.x, rows.y)]

    # Parameters that the tape writes, whose gradient changes until the end, and a retained one.
    w, r = filled(3, 1.0), filled(3, 1.0)
    late = dist.Gradients([w, r])
    with dt.Tape(reduce=late) as tape:
        loss.fill(0.0)
        double(w)
        double(r)
        weigh(w, 1.0 + rank, loss)
        weigh(r, 1.0 + rank, loss)
    tape.backward(loss, retain=r)
    found["late"] = [w.grad.to_numpy(), r.grad.to_numpy()]

    messages: list[str] = []

    def refused(run: Any) -> None:
        with pytest.raises(dt.DifftileError) as caught:
            run()
        messages.append(str(caught.value))

    def twice() -> None:
        with dt.Tape(loss, accumulate=True, reduce=gradients):
            loss.fill(0.0)
            weigh(a, 1.0, loss)

    refused(twice)
    with dt.Tape(loss, accumulate=True):  # on top of a sum
        loss.fill(0.0)
        weigh(a, 1.0, loss)
    refused(lambda: dist.all_reduce([a]))
    refused(twice)
    dt.zero_grads([a])
    with dt.Tape(loss, accumulate=True):
        loss.fill(0.0)
        weigh(a, 1.0 + rank, loss)
    dist.all_reduce([a])
    np.testing.assert_allclose(a.grad.to_numpy(), 12.0 * a.to_numpy(), rtol=1e-14)
    refused(lambda: dt.Tape(loss, reduce=a))
    refused(lambda: dist.Gradients(a, "max"))
    refused(lambda: dist.Gradients(a, bucket="big"))
    refused(lambda: dist.Gradients(dist.Grid((6, 6)).field(ti.f64, grad=True)))
    if size > 1:
        rows.take([0] * (1 + rank))
        refused(several.all_reduce)
    found["messages"] = messages
    return found


@pytest.mark.parametrize("engine", ["torch", "mpi"])
def test_programs_that_differ_by_rank(engine: str) -> None:
    for found in ranks(3, engine).run(odd_cases):
        ones = np.ones(3)
        used = [(1.0 + 3.0) * 2.0 * ones, (1.0 + 3.0) * 4.0 * ones, 3.0 * 6.0 * ones]
        np.testing.assert_allclose(found["orders"], used, rtol=1e-14)
        np.testing.assert_allclose(found["unused"], [3.0 * 2.0 * ones, *used[1:]], rtol=1e-14)
        np.testing.assert_array_equal(found["again"], found["unused"])
        np.testing.assert_array_equal(found["written"], 3.0 * ones)
        mass, at, x, y = found["several"]
        np.testing.assert_allclose(mass, 12.0 * np.ones(3), rtol=1e-14)
        np.testing.assert_allclose(at, 24.0 * np.ones((3, 2)), rtol=1e-6)
        np.testing.assert_allclose(x, 6.0 * np.ones(2), rtol=1e-14)
        np.testing.assert_allclose(y, 18.0 * np.ones(2), rtol=1e-3)
        # Twice a number is squared and weighted by 1 + 2 + 3; the retained one is twice the start.
        np.testing.assert_allclose(found["late"], [48.0 * ones, 24.0 * ones], rtol=1e-14)
        messages = found["messages"]
        for message in messages[:3]:
            assert "holds the sum over all ranks already" in message
        messages = messages[3:]
        assert "reduce takes dt.distributed.Gradients(fields)" in messages[0]
        assert "op is 'sum' or 'mean', not 'max'" in messages[1]
        assert "not 'big'" in messages[2]
        assert "is split among ranks" in messages[3]
        assert "rows.x: f64 (2,), and rank 0 has rows.x: f64 (1,)" in messages[4]


def from_device() -> list[np.ndarray]:
    """Add up large gradients as if they were in memory of a device that the engine takes."""
    memory = pytest.MonkeyPatch()
    with memory.context() as patch:
        patch.setattr(gradients_module, "device_memory", lambda buffer: buffer.view.reshape(-1))
        patch.setattr(gradients_module, "_WORTH_A_MESSAGE", 64)
        rank = current().rank
        x, y, z = filled(20, 1.0), filled(3, 1.0), filled(30, 1.0)
        loss = dt.zeros((), dtype=ti.f64, grad=True)
        for _ in range(2):
            with dt.Tape(loss, reduce=dist.Gradients([x, y, z])):
                loss.fill(0.0)
                for one in (x, y, z)[: rank + 1]:
                    weigh(one, 1.0 + rank, loss)
        return [one.grad.to_numpy() for one in (x, y, z)]


def test_gradients_that_go_from_a_device() -> None:
    for x, y, z in ranks(3).run(from_device):
        np.testing.assert_array_equal(x, np.full(20, 12.0))
        np.testing.assert_array_equal(y, np.full(3, 10.0))
        np.testing.assert_array_equal(z, np.full(30, 6.0))


def tensors() -> list[Any]:
    """Add up the gradients of tensors of torch, of which one has none on some ranks."""
    torch: Any = importlib.import_module("torch")
    rank = current().rank
    x, y, z = (torch.full((3, 2), value, requires_grad=True) for value in (1.0, 2.0, 3.0))
    dist.broadcast([x, y, z])
    ((1.0 + rank) * x * x).sum().backward()
    if rank == 1:
        (y * y).t().sum().backward()
    dist.all_reduce([x, y, z])
    return [None if one.grad is None else one.grad.numpy() for one in (x, y, z)]


def test_tensors_of_torch() -> None:
    for x, y, z in ranks(3).run(tensors):
        np.testing.assert_allclose(x, np.full((3, 2), 12.0))
        np.testing.assert_allclose(y, np.full((3, 2), 4.0))
        assert z is None
