"""Tensors of torch in the places of fields."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.testing as npt
import pytest

import difftile as dt
from tests.interop.test_arrays import energy, lengths, moved, places, step, twice, wave

torch: Any = pytest.importorskip("torch")


def test_kernels_write_tensors() -> None:
    x, v = torch.zeros(4, dtype=torch.float64), torch.arange(4.0, dtype=torch.float64)
    for _ in range(3):
        step(x, v, 0.5)
    npt.assert_array_equal(x.numpy(), 1.5 * np.arange(4.0))
    step(x, np.ones(4), 1.0)
    step(v, dt.ones(4, dtype=np.float64), 1.0)
    npt.assert_array_equal(v.numpy(), np.arange(1.0, 5.0))
    table = torch.zeros(4, 6)
    places(table[1:, ::2])
    npt.assert_array_equal(table[1:, ::2].numpy(), [[0, 1, 2], [10, 11, 12], [20, 21, 22]])
    places(table.T)
    npt.assert_array_equal(table.numpy()[:, 0], np.arange(4))
    out = torch.zeros(4)
    lengths(torch.ones(4, 3), out)
    npt.assert_allclose(out.numpy(), np.sqrt(3), rtol=1e-6)
    moved(out, torch.tensor([1.0, 2.0]))  # one vector
    npt.assert_allclose(out.numpy(), 3 + np.sqrt(3), rtol=1e-6)


def test_memory_in_common() -> None:
    x = torch.arange(6.0)
    with pytest.raises(dt.KernelError, match="Race"):
        twice(x[1:], x[:-1])
    with pytest.raises(dt.KernelError, match="Race"):
        twice(x[1:], x.numpy()[:-1])
    twice(x[::2], x[1::2])
    npt.assert_array_equal(x.numpy(), [2, 1, 6, 3, 10, 5])


def test_tensors_with_gradients_are_refused() -> None:
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(dt.LaunchError, match=r"x\.detach\(\), or use dt\.torch\.op"):
        step(x, np.ones(3), 1.0)
    with pytest.raises(dt.LaunchError, match="requires a gradient"):
        wave(x, 1.0)
    y = torch.ones(3)
    step(y, torch.ones(3), 1.0)
    y.requires_grad_()
    with pytest.raises(dt.LaunchError, match="requires grad"):
        step(y, torch.ones(3), 1.0)
    step(x.detach(), torch.ones(3), 1.0)
    npt.assert_array_equal(x.detach().numpy(), [2, 2, 2])


def test_a_tensor_that_gets_other_memory() -> None:
    x = torch.zeros(3)
    step(x, torch.ones(3), 1.0)
    x.data = torch.full((4,), 5.0)
    step(x, torch.ones(4), 1.0)
    npt.assert_array_equal(x.numpy(), [6] * 4)


def test_results_are_tensors() -> None:
    x = torch.arange(3.0, dtype=torch.float64)
    found = wave(x, 2.0)
    assert isinstance(found, torch.Tensor) and found.dtype == torch.float64
    npt.assert_allclose(found.numpy(), 2 * np.sin(np.arange(3.0)))

    def loss(x: Any, k: Any) -> Any:
        total = dt.zeros((), np.float64)
        energy(x, k, total)
        return total

    k = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    value, gradient = dt.value_and_grad(loss)(x, k)
    assert isinstance(value, torch.Tensor) and isinstance(gradient, torch.Tensor)
    npt.assert_allclose(gradient.numpy(), (k * x).numpy())
    npt.assert_allclose(dt.hessian(loss)(x, k).numpy(), np.diag(k.numpy()))
    _, push = dt.jvp(loss, (x, k), (torch.ones_like(x), torch.zeros_like(k)))
    npt.assert_allclose(push.numpy(), (k * x).sum().numpy())


def test_numbers_that_fields_lack() -> None:
    with pytest.raises(dt.LaunchError, match="bfloat16"):
        step(torch.zeros(3, dtype=torch.bfloat16), np.ones(3), 1.0)
    with pytest.raises(dt.LaunchError, match="complex"):
        step(torch.zeros(3, dtype=torch.complex64), np.ones(3), 1.0)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device")
def test_tensors_of_a_gpu() -> None:
    dt.init(arch="cuda")
    x = torch.zeros(1000, device="cuda")
    v = torch.arange(1000.0, device="cuda") / 1024  # sines of large numbers are less accurate there
    numbers = v.cpu().numpy()
    for _ in range(3):
        step(x, v, 0.5)
    npt.assert_array_equal(x.cpu().numpy(), 1.5 * numbers)
    found = wave(x, v)
    assert found.device.type == "cuda"
    npt.assert_allclose(found.cpu(), (torch.sin(x) * v).cpu(), rtol=1e-5, atol=1e-6)
    host = np.ones(1000, np.float32)
    step(host, v, 1.0)  # copied in, and back
    npt.assert_array_equal(host, 1 + numbers)
    table = torch.zeros(4, 6, device="cuda")
    places(table[1:, ::2])
    npt.assert_array_equal(table[1:, ::2].cpu().numpy()[2], [20, 21, 22])
