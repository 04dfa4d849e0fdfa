"""Operations of one launch, on memory of the caller: what is filled and copied for the adjoint."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Generator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import difftile as dt
from difftile.interop.operation import ArrayLayout, Operation
from difftile.interop.plan import OperationPlan, Plans
from difftile.substrate.family import cuda, lent
from tests.device_arrays import HostDriver, counted, device_arrays

Pulled = dict[str, Any]


@dt.kernel
def whole(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def odd(x, y):
    for i in range(x.shape[0] // 2):
        y[i] = 3.0 * x[2 * i + 1]


@dt.kernel
def larger(x, y):
    for i in x:
        if x[i] > 0.4:
            y[i] = x[i] * x[i]
        else:
            y[i] = 2.0


@dt.kernel
def up_to(x, y, n: int):
    for i in range(n):
        y[i] = x[i] * x[i]


@dt.kernel
def scaled(x, y):
    for i in x:
        y[i] = x[i]
    for i in x:
        y[i] *= x[i]


@dt.kernel
def shared(x, y):
    for i in x:
        y[i] = x[i] * x[0]


def ones(x: Any, s: Any) -> Any:
    return 2 * x * s


def of_odd(x: Any, s: Any) -> Any:
    bar = np.zeros_like(x)
    bar[1::2] = 3 * s[: len(x) // 2]
    return bar


def of_larger(x: Any, s: Any) -> Any:
    return np.where(x > 0.4, 2 * x * s, 0)


def of_shared(x: Any, s: Any) -> Any:
    bar = x[0] * s
    bar[0] += (x * s).sum()
    return bar


def of_three(x: Any, s: Any) -> Any:
    return np.where(np.arange(len(x)) < 3, 2 * x * s, 0)


CASES: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "whole": (whole, (), ones),
    "odd": (odd, (), of_odd),
    "larger": (larger, (), of_larger),
    "up to": (up_to, (3,), of_three),
    "scaled": (scaled, (), ones),
    "shared": (shared, (), of_shared),
}


@pytest.fixture(params=["host", "device"])
def device(request: pytest.FixtureRequest) -> Generator[int | None]:
    """Give the ordinal of a device, which is the host in disguise, or None."""
    if request.param == "host":
        yield None
        return

    def memory_at(address: int, nbytes: int) -> cuda.CudaMemory:
        driver: Any = HostDriver()
        return cuda.CudaMemory(driver, address, nbytes)

    with device_arrays(), mock.patch.object(lent, "memory_at", memory_at):
        yield 0


def plan_of(kernel: Any, device: int | None, size: int = 6) -> OperationPlan:
    operation = Operation(kernel, ("x",), outputs={"y": "x"})
    return Plans(operation).of((ArrayLayout((size,), np.dtype(np.float32), device),))


def pulled(plan: OperationPlan, constants: tuple[Any, ...], x: Any, seed: Any) -> Any:
    y, bar = np.full_like(x, np.nan), np.full_like(x, np.nan)
    linear = plan.linear((True,))
    kept = linear.forward([x.ctypes.data], [y.ctypes.data], constants, [x])
    address = None if seed is None else seed.ctypes.data
    linear.pull(
        kept,
        [x.ctypes.data],
        [address],
        [bar.ctypes.data],
        constants,
        outputs=[y.ctypes.data for _ in kept.outputs],
    )
    return bar


@pytest.mark.parametrize("name", CASES)
def test_adjoints_write_all_of_a_gradient_and_no_cotangent(name: str, device: int | None) -> None:
    kernel, constants, derivative = CASES[name]
    plan = plan_of(kernel, device)
    for k in range(3):
        x = np.random.default_rng(k).uniform(0, 1, 6).astype(np.float32)
        seed = np.linspace(1, 2, 6, dtype=np.float32)
        before = seed.copy()
        np.testing.assert_allclose(
            pulled(plan, constants, x, seed), derivative(x, seed), rtol=1e-6, err_msg=name
        )
        np.testing.assert_array_equal(seed, before)
    np.testing.assert_array_equal(pulled(plan, constants, x, None), np.zeros(6))


@pytest.mark.parametrize("device", ["device"], indirect=True)
def test_a_call_on_a_device_is_its_launches(device: int | None) -> None:
    plan = plan_of(whole, device)
    x, seed = (np.ones(6, np.float32) for _ in range(2))
    pulled(plan, (), x, seed)
    with counted() as counts:
        pulled(plan, (), x, seed)
    assert counts == {"launch": 2}


def test_another_shape_at_the_same_address_has_its_own_sizes() -> None:
    memory = np.ones(6, np.float32)
    for size in (6, 3, 6):
        y = np.zeros(6, np.float32)
        plan_of(whole, None, size).run([memory.ctypes.data], [y.ctypes.data], ())
        assert y.tolist() == [1.0] * size + [0.0] * (6 - size)


def test_many_calls_take_no_more_memory() -> None:
    plan = plan_of(whole, None)
    x, seed = (np.ones(6, np.float32) for _ in range(2))
    for _ in range(200):
        pulled(plan, (), x, seed)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(10_000):
            pulled(plan, (), x, seed)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 60_000  # six bytes a call; tracemalloc's own tables grow, too
