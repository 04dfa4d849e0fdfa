"""`dt.optim` on tensors of PyTorch, and its steps against those of PyTorch."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt

torch: Any = pytest.importorskip("torch")

STARTS = np.array([[0.5, 0.2], [0.1, -0.7]]), np.array([1.0, 2.0, 3.0])
PAIRS: dict[str, tuple[Any, Any]] = {
    "adam": (lambda p: dt.optim.Adam(p, 0.02), lambda p: torch.optim.Adam(p, 0.02)),
    "amsgrad": (
        lambda p: dt.optim.AdamW(p, 0.02, amsgrad=True, weight_decay=0.1),
        lambda p: torch.optim.AdamW(p, 0.02, amsgrad=True, weight_decay=0.1),
    ),
    "sgd": (
        lambda p: dt.optim.SGD(p, 0.02, momentum=0.9, dampening=0.1, weight_decay=0.1),
        lambda p: torch.optim.SGD(p, 0.02, momentum=0.9, dampening=0.1, weight_decay=0.1),
    ),
    "rmsprop": (
        lambda p: dt.optim.RMSProp(p, 0.02, momentum=0.5, centered=True),
        lambda p: torch.optim.RMSprop(p, 0.02, momentum=0.5, centered=True),
    ),
}


def tensors(dtype: Any = torch.float64) -> list[Any]:
    return [torch.tensor(one, dtype=dtype, requires_grad=True) for one in STARTS]


def loss_of(a: Any, b: Any) -> Any:
    return (2.0 + torch.sin(a).mean()) * (b**2).sum() + (a**4).sum()


def close(one: Any, other: Any, size: float = 1e-12) -> None:
    np.testing.assert_allclose(one, other, rtol=size, atol=size)


@pytest.mark.parametrize("name", PAIRS)
def test_our_steps_on_tensors_equal_those_of_torch(name: str) -> None:
    ours, theirs = tensors(), tensors()
    mine, other = PAIRS[name][0](ours), PAIRS[name][1](theirs)
    for step in range(50):
        for params, optimiser in ((ours, mine), (theirs, other)):
            for one in params:
                one.grad = None
            loss = loss_of(*params) if step % 5 else (params[0] ** 2).sum()  # b: no gradient
            loss.backward()
            assert (params[1].grad is None) == (step % 5 == 0)
            optimiser.step()
        for one, two in zip(ours, theirs, strict=True):
            close(one.detach().numpy(), two.detach().numpy())


def test_single_precision_and_modules() -> None:
    def trained(make: Any) -> list[np.ndarray]:
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
        optimiser, data = make(net), torch.randn(10, 3)
        for _ in range(30):
            net.zero_grad()
            (net(data) ** 2).mean().backward()
            optimiser.step()
        return [one.detach().numpy() for one in net.parameters()]

    ours = trained(lambda net: dt.optim.Adam(net.parameters(), 0.01))
    theirs = trained(lambda net: torch.optim.Adam(net.parameters(), 0.01))
    for one, other in zip(ours, theirs, strict=True):
        close(one, other, 1e-5)


def test_fields_and_tensors_are_moved_together() -> None:
    x = dt.from_numpy(STARTS[1], grad=True)
    p = tensors()[0]
    optimiser = dt.optim.Adam({"x": x, "p": p}, {"x": 0.1, "p": 0.2})
    x.grad.fill(1.0)
    p.grad = torch.full((2, 2), 2.0, dtype=torch.float64)
    optimiser.step()
    close(x.to_numpy(), STARTS[1] - 0.1, 1e-7)
    close(p.detach().numpy(), STARTS[0] - 0.2, 1e-7)
    optimiser.zero_grads()
    assert p.grad is None
    close(x.grad.to_numpy(), 0.0)


def test_states_are_saved_and_loaded() -> None:
    def run(params: list[Any], optimiser: Any, steps: range) -> None:
        for k in steps:
            for one in params:
                one.grad = None
            (loss_of(*params) if k % 3 else (params[0] ** 2).sum()).backward()
            optimiser.step()

    one = tensors()
    first = dt.optim.Adam(one, 0.02)
    run(one, first, range(5))
    other = [p.detach().clone().requires_grad_() for p in one]
    second = dt.optim.Adam(other, 0.02)
    second.load_state_dict(first.state_dict())
    third, again = pickle.loads(pickle.dumps((first, one)))
    for params, optimiser in ((one, first), (other, second), (again, third)):
        run(params, optimiser, range(5, 9))
    for params in (other, again):
        for p, q in zip(one, params, strict=True):
            close(p.detach().numpy(), q.detach().numpy(), 0)


def test_a_tensor_whose_memory_is_replaced_is_followed() -> None:
    p = tensors()[1]
    optimiser = dt.optim.SGD([p], 0.5)
    for _ in range(2):
        p.data = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
        p.grad = torch.ones(3, dtype=torch.float64)
        optimiser.step()
        close(p.detach().numpy(), [0.5, 1.5, 2.5])


def test_graphs_notice_a_step() -> None:
    p = tensors()[1]
    optimiser = dt.optim.SGD([p], 0.5)
    loss = (p**2).sum()
    p.grad = torch.ones(3, dtype=torch.float64)
    optimiser.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_gradients_of_other_layouts() -> None:
    table = torch.nn.Embedding(4, 2, sparse=True, dtype=torch.float64)
    before = table.weight.detach().clone()
    optimiser = dt.optim.SGD([table.weight], 1.0)
    table(torch.tensor([1, 1])).sum().backward()
    optimiser.step()
    before[1] -= 2.0
    close(table.weight.detach().numpy(), before.numpy())
    p = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    p.grad = torch.arange(6.0, dtype=torch.float64).reshape(3, 2).T
    dt.optim.SGD([p], 1.0).step()
    close(p.detach().numpy(), -np.arange(6.0).reshape(3, 2).T)


def test_gradients_that_are_not_finite_are_refused_and_left_out() -> None:
    p, q = tensors()
    optimiser = dt.optim.Adam([p, q], 0.1, nonfinite="skip")
    p.grad = torch.full((2, 2), np.nan, dtype=torch.float64)
    assert not optimiser.step()
    p.grad = None
    q.grad = torch.ones(3, dtype=torch.float64)
    assert optimiser.step()
    close(p.detach().numpy(), STARTS[0], 0)
    close(q.detach().numpy(), STARTS[1] - 0.1, 1e-7)


def test_wrong_tensors_are_refused() -> None:
    p = tensors()[0]
    for given, text in (
        ([p * 2], "is no leaf that requires grad"),
        ([p.detach()], "is no leaf that requires grad"),
        ([p.detach().bfloat16().requires_grad_()], "bfloat16"),
        ([np.zeros(3)], r"takes fields, not arrays: make a field over the array"),
    ):
        with pytest.raises(dt.FieldError, match=text):
            dt.optim.Adam(given)
    with pytest.raises(dt.FieldError, match="takes fields, not tensors: make a field"):
        dt.optim.LBFGS([p])
    with pytest.raises(dt.FieldError, match="the same memory twice"):
        dt.optim.Adam([p, p.detach().requires_grad_()])


@dt.kernel
def add_squares(x, loss):
    for i in x:
        loss[None] += x[i] ** 2 * (i + 1)


def test_our_optimiser_on_fields_equals_that_of_torch() -> None:
    x, loss = dt.from_numpy(STARTS[1], grad=True), dt.zeros((), ti.f64, grad=True)
    p = torch.tensor(STARTS[1], requires_grad=True)
    mine, theirs = dt.optim.Adam(x, 0.05), torch.optim.Adam([p], 0.05)
    for _ in range(50):
        with dt.Tape(loss):
            add_squares(x, loss)
        mine.step()
        theirs.zero_grad()
        (p**2 * torch.arange(1, 4)).sum().backward()
        theirs.step()
        close(x.to_numpy(), p.detach().numpy())


def test_steps_without_a_gradient_do_not_correct_the_averages_of_a_tensor() -> None:
    """A first step of Adam moves by the rate, whichever step of the optimiser it is."""
    dt.init(arch="python")
    early, late = (torch.ones(2, dtype=torch.float64, requires_grad=True) for _ in range(2))
    adam = dt.optim.Adam([early, late], 0.25, eps=1e-15)
    early.grad = torch.ones(2, dtype=torch.float64)
    for _ in range(3):
        adam.step()
    assert late.tolist() == [1.0, 1.0]
    late.grad = torch.tensor([3.0, -0.5], dtype=torch.float64)
    adam.step()
    torch.testing.assert_close(late.detach(), torch.tensor([0.75, 1.25], dtype=torch.float64))
    torch.testing.assert_close(early.detach(), torch.zeros(2, dtype=torch.float64))
