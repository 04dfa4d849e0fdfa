"""Tensors that torch reads with another sign, at other places or in other strides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import difftile as dt
from tests.interop.test_torch_op import cube

torch: Any = pytest.importorskip("torch")

VIEWS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda z: z.real.clone(),
    "with gaps": lambda z: z.real,
    "backwards": lambda z: z.real.flip(0),
    "negated": lambda z: z.conj().imag,
    "negated, without gaps": lambda z: z.conj().imag[:1],
    "the middle": lambda z: z.real.clone()[1:],
    "expanded": lambda z: z.real[:1].expand(3),
}


@pytest.mark.parametrize("name", VIEWS)
def test_operations_take_the_numbers_that_torch_shows(name: str) -> None:
    dt.init(arch="python")
    numbers = np.array([0.5, -2.0, 1.5]) + 1j * np.array([3.0, 0.25, -1.0])
    cubes = dt.torch.op(cube, "x", outputs="x")
    z = torch.tensor(numbers, requires_grad=True)
    w = torch.tensor(numbers)
    x = VIEWS[name](z)
    y = cubes(x)
    np.testing.assert_allclose(
        y.detach().numpy(), x.detach().resolve_neg().numpy() ** 3, rtol=1e-14
    )
    (found,) = torch.autograd.grad(y, z, VIEWS[name](w))
    (expected,) = torch.autograd.grad(VIEWS[name](z) ** 3, z, VIEWS[name](w))
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-14)


def test_memory_without_the_sign_is_not_shared() -> None:
    dt.init(arch="python")
    z = torch.tensor([1.0 + 3.0j], dtype=torch.complex128)
    for view in (z.conj().imag, torch.cat([z, z]).conj().imag):  # without gaps, and with
        with pytest.raises(dt.LaunchError, match=r"Pass x\.resolve_neg\(\)"):
            cube(view)
        with pytest.raises(dt.FieldError, match=r"Pass x\.resolve_neg\(\)"):
            dt.from_dlpack(view)
        resolved = view.resolve_neg()
        cube(resolved)
        np.testing.assert_array_equal(resolved.numpy(), -27.0)
