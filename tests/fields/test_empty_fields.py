"""Fields without elements: a size of 0 is a size like others."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from tests.device_arrays import FEW, device_arrays


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


@dt.kernel
def square_grid(x, y):
    for i, j in x:
        y[i, j] = x[i, j] * x[i, j]


@dt.kernel
def energy(x, total):
    for i in x:
        total[None] += x[i] ** 2


@dt.kernel
def count(x, total):
    for i in x:
        total[None] += 1.0


@dt.kernel
def count_grid(x, total):
    for i, j in x:
        total[None] += 1.0


@dt.kernel
def lengths(x, total):
    total[None] = x.shape[0] * x.shape[1]


@dt.kernel
def greatest(x, total):
    for i in range(x.shape[0]):
        ti.atomic_max(total[None], x[i])


@dt.kernel
def neighbours(x, y):
    for i in range(1, x.shape[0] - 1):
        y[i] = x[i - 1] + x[i + 1]


@dt.kernel
def scatter(x, order, y):
    for i in x:
        y[order[i]] += x[i]


@dt.kernel
def product(a, b, c):
    for i, j in c:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[k, j]
        c[i, j] = total


@dt.func
def wave(x, k):
    return ti.sin(x) * k


def zeros(*shape: int) -> dt.Field:
    return dt.zeros(shape, ti.f64, grad=True)


def order_of_none() -> dt.Field:
    return dt.zeros(0, ti.i32)


LAUNCHES: dict[str, tuple[Any, Any]] = {
    "map": (square, lambda: (zeros(0), zeros(0))),
    "no rows": (square_grid, lambda: (zeros(0, 3), zeros(0, 3))),
    "no columns": (square_grid, lambda: (zeros(3, 0), zeros(3, 0))),
    "sum": (energy, lambda: (zeros(0), zeros())),
    "number": (count, lambda: (zeros(0), zeros())),
    "number without rows": (count_grid, lambda: (zeros(0, 1), zeros())),
    "number without columns": (count_grid, lambda: (zeros(1, 0), zeros())),
    "lengths": (lengths, lambda: (zeros(0, 3), zeros())),
    "maximum": (greatest, lambda: (zeros(0), zeros())),
    "stencil": (neighbours, lambda: (zeros(0), zeros(0))),
    "scatter": (scatter, lambda: (zeros(0), order_of_none(), zeros(3))),
    "product over nothing": (product, lambda: (zeros(3, 0), zeros(0, 4), zeros(3, 4))),
    "product of no rows": (product, lambda: (zeros(0, 4), zeros(4, 5), zeros(0, 5))),
    "parts": (square, lambda: (zeros(5)[2:2], zeros(5)[5:])),
    "arrays": (square, lambda: (np.zeros(5)[2:2], np.zeros((2, 0))[:, ::-1].reshape(0))),
}


@pytest.mark.parametrize("where", ["cpu", "device"])
@pytest.mark.parametrize("case", LAUNCHES)
def test_kernels_run_on_no_elements(case: str, where: str) -> None:
    kernel, make = LAUNCHES[case]
    if where == "cpu":
        launch(kernel, make())
    elif case != "arrays":
        with device_arrays(grids=FEW):
            launch(kernel, make())


def launch(kernel: Any, args: Any) -> None:
    for _ in range(3):
        kernel(*args)
    out = args[-1]
    if isinstance(out, np.ndarray):
        return
    with dt.Tape() as tape:
        kernel(*args)
    tape.backward({out: np.ones(out.shape)})
    for one in args:
        assert one.tolist() == np.zeros(one.shape).tolist()


def test_making_reading_and_writing() -> None:
    for shape in ((0,), (0, 3), (3, 0)):
        x = dt.from_numpy(np.zeros(shape), grad=True)
        for one in (x, dt.ones(shape), dt.full(shape, 2.0), dt.empty(shape), dt.zeros_like(x)):
            assert (one.shape, one.size, len(one)) == (shape, 0, shape[0])
        x.fill(2.0)
        x.copy_from(zeros(*shape))
        x[...] = 3.0
        assert x.tolist() == np.zeros(shape).tolist()
        assert (x.sum(), x.norm(), x.view(-1).shape) == (0.0, 0.0, (0,))
        assert repr(x) == f"field([], f64, shape={shape}, cpu, grad)" and x._repr_html_()
        assert pickle.loads(pickle.dumps(x)).shape == copy.deepcopy(x).shape == shape
        for reduction in (x.mean, x.min, x.max):
            with pytest.raises(dt.FieldError, match="has no elements"):
                reduction()
    assert dt.field(ti.types.struct(a=ti.f32), 0, grad=True).to_numpy()["a"].shape == (0,)
    with pytest.raises(dt.FieldError, match="no elements"):
        float(dt.zeros(0))


def test_parts_without_elements() -> None:
    x = dt.from_numpy(np.arange(5.0), grad=True)
    for part in (x[2:2], x[5:], x[::-1][7:], x[3:1], x[1:4][:0]):
        assert part.shape == (0,) and part.tolist() == [] and part.grad.tolist() == []
        part.fill(9.0)
        part.copy_from(zeros(0))
        zeros(0).copy_from(part)
    x[2:2] = np.zeros(0)
    with dt.Tape() as tape:
        total = zeros()
        square(x[2:2], x[3:3])
        energy(x[2:2], total)
        energy(x, total)
    tape.backward({total: 1.0})
    assert x.grad.tolist() == [0, 2, 4, 6, 8] and x.tolist() == [0, 1, 2, 3, 4]


def test_derivatives() -> None:
    def loss(x, y):
        total = dt.zeros((), ti.f64)
        energy(x, total)
        energy(y, total)
        return total

    none, some = np.zeros(0), np.ones(3)
    gradients = dt.grad(loss, argnums=(0, 1))(none, some)
    assert [g.tolist() for g in gradients] == [[], [2, 2, 2]]
    assert dt.jacrev(wave)(zeros(0), zeros(0)).shape == (0, 0)
    assert dt.grad(lambda x: (x * x).sum() + x.norm())(zeros(0)).shape == (0,)
    x = zeros(0)
    with dt.Tape() as tape:
        total = dt.value((x * x + 1.0).sum() + 1.0)
    tape.backward({total: 1.0})
    assert x.grad.shape == (0,) and float(total) == 1.0


@pytest.mark.parametrize("rule", [dt.optim.Adam, dt.optim.SGD], ids=lambda rule: rule.__name__)
def test_optimisers(rule: Any) -> None:
    none, some = zeros(0), dt.ones(3, ti.f64, grad=True)
    optimiser = rule([none, some], lr=0.1)
    for _ in range(3):
        some.grad.fill(1.0)
        optimiser.step()
    npt.assert_allclose(some.to_numpy(), 0.7, rtol=1e-6)


def test_rows_come_and_go() -> None:
    rows = dt.Rows(a=zeros(0, 3))
    optimiser = dt.optim.Adam(rows, lr=0.1)
    assert len(rows) == 0
    rows.append(a=np.ones((2, 3)))
    rows.a.grad.fill(1.0)
    optimiser.step()
    rows.prune(np.array([True, True]))  # and the state of the optimiser with them
    assert rows.a.shape == (0, 3)
    optimiser.step()
    rows.append(a=np.ones((4, 3)))
    rows.a.grad.fill(1.0)
    optimiser.step()
    mean, squares = 0.1 / (1 - 0.9**3), 0.001 / (1 - 0.999**3)  # of new rows, in the third step
    npt.assert_allclose(rows.a.to_numpy(), 1.0 - 0.1 * mean / squares**0.5, rtol=1e-6)


def test_arrays_of_others() -> None:
    assert np.from_dlpack(zeros(0, 3)).shape == np.asarray(zeros(0, 3), copy=False).shape == (0, 3)
    assert dt.from_dlpack(np.zeros((0, 3))).shape == (0, 3)
    assert dt.from_dlpack(np.zeros((0, 3)), ti.math.vec3).shape == (0,)
    x = np.arange(4.0)
    square(x[2:2], x[3:3])
    energy(x[1:1], x[:1].reshape(()))
    assert x.tolist() == [0, 1, 2, 3]


def test_debug() -> None:
    dt.init(debug=True)
    try:
        launch(square, (zeros(0), zeros(0)))
        launch(product, (zeros(3, 0), zeros(0, 4), zeros(3, 4)))
    finally:
        dt.init()
