"""Native kernels: how they are compiled and launched, on devices whose memory Python cannot see."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile.ir.nodes import Program
from difftile.ir.types import F32, I32, Vector
from difftile.substrate import current_session
from difftile.substrate.compiler import backend, private, ti
from difftile.substrate.family.native.launch import native
from tests.device_arrays import device_arrays


@native("y", "seen", memory={"last": 3})
@ti.kernel
def scale(
    x: ti.types.ndarray(ti.f32, ndim=2),
    factor: ti.f32,
    copies: ti.template(),
    add: ti.i32,
    y: ti.types.ndarray(ti.math.vec3, ndim=2),
    seen: ti.types.ndarray(ti.i32, ndim=0),
    last: ti.types.ndarray(ti.i32, ndim=1),
):
    for _ in range(1):
        last[2] = seen[None]
    for i, j in ti.ndrange(x.shape[0], x.shape[1]):
        for k in ti.static(range(copies)):
            y[i, j][k] = factor * x[i, j] + add
        ti.atomic_add(seen[None], 1)
    for _ in range(1):
        seen[None] -= last[2]


@pytest.fixture
def device() -> Iterator[None]:
    with device_arrays():
        yield


def check(copies: int, factor: float, add: int, shape: tuple[int, int]) -> None:
    values = np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)
    x, y, seen = dt.from_numpy(values), dt.zeros(shape, Vector(3, F32)), dt.zeros((), I32)
    assert y.buffer.zeros
    for _ in range(2):
        scale(x.buffer, factor, copies, add, y.buffer, seen.buffer)
    assert not y.buffer.zeros and seen[None] == values.size
    expected = np.zeros((*shape, 3), np.float32)
    expected[..., :copies] = (np.float32(factor) * values + add)[..., None]
    np.testing.assert_allclose(y.to_numpy(), expected, rtol=1e-6, atol=1e-6)


def test_launches_with_buffers_numbers_and_constants(device: None) -> None:
    for copies, factor, add, shape in (
        (1, 2.5, 3, (2, 5)),
        (3, -0.5, 0, (7, 3)),
        (1, 1, 1, (9, 9)),
    ):
        check(copies, factor, add, shape)


def test_each_session_compiles_anew_and_the_last_is_over() -> None:
    for _ in range(2):
        with device_arrays():
            check(2, 2.0, 1, (3, 4))


def test_other_kernels_are_compiled_as_before(device: None) -> None:
    program: Any = private.impl.get_runtime().prog
    config = program.config()
    before = config.cfg_optimization, config.make_thread_local
    check(2, 1.0, 0, (1, 1))
    assert (config.cfg_optimization, config.make_thread_local) == before


def test_only_devices_with_warps_have_them() -> None:
    assert backend().native
    assert not current_session().native


@dt.kernel
def twice(x, y):
    for i in y:
        y[i] = 2.0 * x[i]


@pytest.mark.parametrize("debug", [False, True])
def test_a_native_launch_stands_for_a_kernel_and_not_for_its_adjoint(debug: bool) -> None:
    taken: list[int] = []

    def native_of(program: Program) -> Any:
        def launch(args: Any) -> bool:
            taken.append(args[1].shape[0])
            return taken[-1] > 3

        assert [param.name for param in program.params] == ["x", "y"]
        return launch

    dt.init(arch="cpu", debug=debug)
    kernel = dt.kernel(twice.function)
    kernel.natives["kernel"] = native_of
    for n, expected in ((3, 2.0), (4, 2.0 if debug else 0.0)):
        x, y = dt.ones(n, F32, grad=True), dt.zeros(n, F32, grad=True)
        kernel(x, y)
        assert (y.to_numpy() == expected).all()
        with dt.Tape() as tape:
            kernel(x, y)
        tape.backward({y: np.ones(n)})
        assert (x.grad.to_numpy() == 2.0).all()
    assert taken == ([] if debug else [3, 3, 4, 4])
    dt.init(arch="cpu")
