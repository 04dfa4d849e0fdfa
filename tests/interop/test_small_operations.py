"""Operations on arrays, tensors and JAX arrays whose kernels run as Python, each in a moment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.interop.operation import Operation
from tests.interop.test_operation import Numbers, addresses


@pytest.fixture(autouse=True)
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


@dt.kernel
def halved(x, y):
    for i in x:
        y[i] = 0.5 * y[i] + x[i]


def test_an_output_that_is_read_before_it_is_overwritten_whole_begins_with_zeros() -> None:
    x = np.array([1.0, -2.0, 3.0])
    (found,) = Numbers(Operation(halved, ("x",), outputs={"y": "x"}), (x,))()
    assert found.tolist() == x.tolist()


def sized(x: Any, flag: Any) -> Any:
    """Return a field whose shape depends on the type of a constant, equal or not."""
    return dt.zeros({bool: 2, int: 3, float: 4}[type(flag)], ti.f64)


def test_shapes_of_results_are_not_those_of_an_equal_constant_of_another_type() -> None:
    plan = Numbers(Operation(sized, ("x",)), (np.ones(3),), (True,)).plan
    given = addresses([np.ones(3)])
    for flag, size in ((True, 2), (1, 3), (1.0, 4), (True, 2)):
        (layout,) = plan.discover(given, (flag,))
        assert layout.shape == (size,)


@dt.kernel
def scaled(x, y, factor: float):
    for i in x:
        y[i] = factor * x[i]


def scaled_by_type(x: Any, y: Any, flag: Any) -> None:
    scaled(x, y, {bool: 2.0, int: 3.0, float: 4.0}[type(flag)])


def test_programs_of_jax_are_not_those_of_an_equal_constant_of_another_type() -> None:
    pytest.importorskip("jax", reason="needs JAX")
    f = dt.jax.op(scaled_by_type, "x", outputs={"y": "x"})
    x = np.float32([1.0, -2.0])
    for flag, factor in ((True, 2.0), (1, 3.0), (1.0, 4.0), (True, 2.0)):
        np.testing.assert_array_equal(f(x, flag), factor * x)


@dt.kernel
def noisy(x, y):
    for i in x:
        y[i] = x[i] * ti.random(ti.f64)


def test_calls_with_needs_of_gradients_are_not_those_without() -> None:
    torch: Any = pytest.importorskip("torch", reason="needs PyTorch")
    f = dt.torch.op(scaled, "x", outputs={"y": "x"})
    for needs in (False, True, False):
        x = torch.tensor([1.0, -2.0], dtype=torch.float64, requires_grad=needs)
        y = f(x, 3.0)
        assert y.requires_grad == needs
        if needs:
            y.sum().backward()
            assert x.grad.tolist() == [3.0, 3.0]


def test_the_backward_pass_of_a_traced_call_draws_the_numbers_of_the_call() -> None:
    torch: Any = pytest.importorskip("torch", reason="needs PyTorch")
    f = dt.torch.op(noisy, "x", outputs={"y": "x"})
    traced = f.overload()
    x = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64, requires_grad=True)
    y, _ = traced(x)
    other, _ = traced(x)
    assert not torch.equal(y, other)
    (found,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(found, (y / x).detach(), rtol=1e-14, atol=0.0)


def test_each_entry_of_a_batch_of_torch_has_numbers_of_its_own() -> None:
    torch: Any = pytest.importorskip("torch", reason="needs PyTorch")
    f = dt.torch.op(noisy, "x", outputs={"y": "x"})

    def both(x: Any) -> Any:
        y, pull = torch.func.vjp(f, x)
        return y, *pull(torch.ones_like(y))

    x = torch.tensor([[1.0, -2.0], [0.5, 4.0], [3.0, 1.0]], dtype=torch.float64)
    y, slopes = torch.func.vmap(both)(x)
    torch.testing.assert_close(y, slopes * x, rtol=1e-14, atol=0.0)
    assert len({*slopes.flatten().tolist()}) == 6
