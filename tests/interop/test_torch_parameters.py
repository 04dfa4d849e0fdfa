"""`dt.torch.parameters`: fields moved by optimisers of PyTorch."""

from __future__ import annotations

import copy
import gc
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt

torch: Any = pytest.importorskip("torch")

START = np.array([0.5, 0.2, 0.1])
VECTORS = np.arange(6.0).reshape(3, 2) / 5


@dt.kernel
def add_loss(x, v, loss):
    for i in x:
        loss[None] += (x[i] - i) ** 2 + v[i].dot(v[i]) * x[i] ** 2


def torch_loss(x: Any, v: Any) -> Any:
    return ((x - torch.arange(3)) ** 2).sum() + ((v**2).sum(1) * x**2).sum()


class Problem:
    """A loss over a field of numbers and one of vectors, and the same in PyTorch."""

    def __init__(self, scalar: Any = ti.f64) -> None:
        self.x = dt.zeros(3, scalar, grad=True)
        self.v = dt.field(ti.types.vector(2, scalar), 3, grad=True)
        self.loss = dt.zeros((), scalar, grad=True)
        self.x.from_numpy(START)
        self.v.from_numpy(VECTORS)
        self.theirs = [torch.tensor(one.to_numpy(), requires_grad=True) for one in (self.x, self.v)]
        self.ours = dt.torch.parameters(self.x, self.v)

    def evaluate(self) -> float:
        self.loss.fill(0.0)
        with dt.Tape(self.loss):
            add_loss(self.x, self.v, self.loss)
        return float(self.loss[None])

    def evaluate_theirs(self) -> Any:
        loss = torch_loss(*self.theirs)
        loss.backward()
        return loss

    def check(self, size: float = 1e-13) -> None:
        for one, other in zip((self.x, self.v), self.theirs, strict=True):
            close(one.to_numpy(), other.detach().numpy(), size)


def close(one: Any, other: Any, size: float = 1e-12) -> None:
    np.testing.assert_allclose(one, other, rtol=size, atol=size)


OPTIMISERS: dict[str, Any] = {
    "adam": lambda p: torch.optim.Adam(p, 1e-2),
    "fused": lambda p: torch.optim.Adam(p, 1e-2, fused=True),
    "foreach": lambda p: torch.optim.AdamW(p, 1e-2, foreach=True),
    "momentum": lambda p: torch.optim.SGD(p, 1e-2, momentum=0.9, nesterov=True),
    "groups": lambda p: torch.optim.Adagrad([{"params": p[:1], "lr": 0.1}, {"params": p[1:]}]),
    "rmsprop": lambda p: torch.optim.RMSprop(p, 1e-2),
}


@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize("set_to_none", [True, False])
def test_optimisers_move_fields_as_they_move_tensors(name: str, set_to_none: bool) -> None:
    problem = Problem()
    ours, theirs = (OPTIMISERS[name](p) for p in (problem.ours, problem.theirs))
    schedules = [torch.optim.lr_scheduler.StepLR(one, 5) for one in (ours, theirs)]
    for _ in range(12):
        for one in (ours, theirs):
            one.zero_grad(set_to_none=set_to_none)
        problem.evaluate()
        problem.evaluate_theirs()
        for one in (problem.ours, problem.theirs):
            torch.nn.utils.clip_grad_norm_(one, 1.0)
        for one in (ours, theirs, *schedules):
            one.step()
    problem.check()
    assert abs(problem.x.to_numpy() - START).max() > 0.01


def test_single_precision() -> None:
    problem = Problem(ti.f32)
    ours, theirs = (torch.optim.Adam(p, 1e-2) for p in (problem.ours, problem.theirs))
    for _ in range(20):
        problem.evaluate()
        theirs.zero_grad()
        problem.evaluate_theirs()
        ours.step()
        theirs.step()
    problem.check(1e-5)


def test_lbfgs() -> None:
    problem = Problem()
    ours = torch.optim.LBFGS(problem.ours, line_search_fn="strong_wolfe", max_iter=8)
    theirs = torch.optim.LBFGS(problem.theirs, line_search_fn="strong_wolfe", max_iter=8)

    def closure() -> Any:
        ours.zero_grad()
        return torch.tensor(problem.evaluate(), dtype=torch.float64)

    def other() -> Any:
        theirs.zero_grad()
        return problem.evaluate_theirs()

    ours.step(closure)
    theirs.step(other)
    problem.check(1e-8)


def test_states_of_optimisers_are_saved_and_loaded() -> None:
    one, other = Problem(), Problem()
    first = torch.optim.Adam(one.ours, 1e-2)
    for _ in range(5):
        one.evaluate()
        first.step()
    second = torch.optim.Adam(other.ours, 1e-3)
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    other.x.copy_from(one.x)
    other.v.copy_from(one.v)
    for problem, optimiser in ((one, first), (other, second)):
        for _ in range(5):
            problem.evaluate()
            optimiser.step()
    close(one.x.to_numpy(), other.x.to_numpy(), 0)


def test_values_and_gradients_are_shared_both_ways() -> None:
    problem = Problem()
    p, x = problem.ours[0], problem.x
    assert p.shape == (3,)
    assert p.is_leaf
    assert problem.ours[1].shape == (3, 2)
    problem.evaluate()
    close(p.grad.numpy(), x.grad.to_numpy(), 0)
    with torch.no_grad():
        p.mul_(2.0)
    close(x.to_numpy(), 2 * START)
    x.fill(3.0)
    close(p.detach().numpy(), 3.0)
    p.grad = torch.ones(3, dtype=torch.float64)
    close(x.grad.to_numpy(), 1.0)
    p.grad = None
    close(x.grad.to_numpy(), 0.0)
    problem.evaluate()  # the next tape adds to the same memory
    close(p.grad.numpy(), x.grad.to_numpy(), 0)
    assert p.grad.abs().max() > 0


def test_gradients_of_torch_are_added() -> None:
    problem = Problem()
    problem.evaluate()
    before = [one.grad.to_numpy() for one in (problem.x, problem.v)]
    penalty = sum((one**2).sum() for one in problem.ours)
    with pytest.warns(UserWarning, match="create_graph"):
        penalty.backward(create_graph=True)
    (problem.ours[0] * torch.arange(3)).sum().backward()
    close(problem.x.grad.to_numpy(), before[0] + 2 * START + np.arange(3))
    close(problem.ours[0].grad.detach().numpy(), problem.x.grad.to_numpy(), 0)
    close(problem.v.grad.to_numpy(), before[1] + 2 * VECTORS)


def test_tapes_of_any_kind_see_the_new_values() -> None:
    problem = Problem()
    optimiser = torch.optim.SGD(problem.ours, 0.1)
    for limits in ({}, {"snapshots": 3}, {"memory": 10_000}):
        with dt.Tape(problem.loss, **limits):
            problem.loss.fill(0.0)
            for _ in range(4):
                add_loss(problem.x, problem.v, problem.loss)
        grads = [one.grad.to_numpy() for one in (problem.x, problem.v)]
        for one in problem.theirs:
            one.grad = None
        (4 * torch_loss(*problem.theirs)).backward()
        for one, other in zip(grads, problem.theirs, strict=True):
            close(one, other.grad.numpy())
        optimiser.step()
        with torch.no_grad():
            for one in problem.theirs:
                one.sub_(0.1 * one.grad)
        problem.check()


def test_a_step_after_a_tape_that_is_kept_falsifies_nothing() -> None:
    problem = Problem()
    optimiser = torch.optim.SGD(problem.ours, 0.1)
    with dt.Tape() as tape:
        add_loss(problem.x, problem.v, problem.loss)
    tape.backward(problem.loss, keep=True)
    first = problem.x.grad.to_numpy()
    optimiser.step()
    optimiser.zero_grad()
    tape.backward(problem.loss)
    close(problem.x.grad.to_numpy(), first, 0)


def test_copies_are_tensors_of_their_own() -> None:
    p = Problem().ours[0]
    p.grad = torch.ones(3, dtype=torch.float64)
    twin = copy.deepcopy(p)
    assert twin.grad is None or twin.grad is not p.grad
    twin.grad = None
    assert twin.grad is None
    close(p.grad.numpy(), 1.0)
    (twin**2).sum().backward()
    close(p.grad.numpy(), 1.0)


def test_the_memory_outlives_the_field() -> None:
    p = Problem().ours[0]
    gc.collect()
    for _ in range(10):
        dt.zeros(3, ti.f64).fill(9.0)
    close(p.detach().numpy(), START, 0)


def test_wrong_fields_are_refused() -> None:
    for given, text in (
        ([dt.zeros(3)], "has no gradient to follow"),
        ([dt.zeros(3, int)], "holds integers"),
        ([dt.zeros(3, grad=True)[1:]], "is a part of a field"),
        ([3], "takes fields, not 3"),
        ([torch.zeros(3)], "takes fields, not tensors"),
        ([dt.Rows(x=dt.zeros(3, grad=True))], "belongs to rows"),
    ):
        with pytest.raises(dt.FieldError, match=text):
            dt.torch.parameters(*given)
    x = dt.zeros(3, grad=True)
    with pytest.raises(dt.FieldError, match="twice"):
        dt.torch.parameters(x, x)
    assert len(dt.torch.parameters({"a": x, "b": dt.zeros(2, grad=True)})) == 2
