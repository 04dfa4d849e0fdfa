"""Arrays of NumPy in the places of fields."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from tests.device_arrays import device_arrays

RNG = np.random.default_rng(3)


@dt.kernel
def step(x, v, h: float):
    for i in x:
        x[i] += h * v[i]


@dt.kernel
def twice(x, y):
    for i in x:
        x[i] = 2.0 * y[i]


@dt.kernel
def places(x):
    for i, j in x:
        x[i, j] = 10.0 * i + j


@dt.kernel
def doubled(x, y):
    for i, j in x:
        x[i, j] = 2.0 * y[i, j]


@dt.kernel
def lengths(x: ti.types.ndarray(dtype=ti.math.vec3, ndim=1), out):
    for i in x:
        out[i] = x[i].norm()


@dt.kernel
def energy(x, k, loss):
    for i in x:
        loss[None] += 0.5 * k[i] * x[i] ** 2


@dt.kernel
def moved(x, by: ti.math.vec2):
    for i in x:
        x[i] += by.x + by.y


@dt.kernel
def read_in(x, out: dt.Out):
    for i in out:
        out[i] = x[i]


@dt.func
def wave(x, y):
    return ti.sin(x) * y


# Kernels


def test_a_kernel_writes_the_array() -> None:
    x, v = np.zeros(4), np.arange(4.0)
    step(x, v, 0.5)
    step(x, v=v, h=0.5)
    npt.assert_array_equal(x, np.arange(4.0))
    mixed = dt.zeros(4, ti.f64)
    step(mixed, v, 1.0)
    step(v, mixed, 1.0)
    npt.assert_array_equal(v, 2 * np.arange(4.0))


def test_number_types_and_numbers() -> None:
    for dtype in (np.float16, np.float32, np.int8, np.uint16, np.int64, np.bool_):
        x, out = np.array([0, 1, 1], dtype), np.empty(3, dtype)
        read_in(x, out)
        npt.assert_array_equal(out, x)
    x = np.zeros(3)
    step(x, np.ones(3), np.array(0.5))  # of shape (): read where a number is expected
    npt.assert_array_equal(x, [0.5] * 3)


def test_annotations_say_what_elements_are() -> None:
    x, out = RNG.normal(size=(5, 3)), np.zeros(5)
    lengths(x, out)
    npt.assert_allclose(out, np.linalg.norm(x, axis=1))
    lengths(x.astype(np.float32), out)
    npt.assert_allclose(out, np.linalg.norm(x, axis=1), rtol=1e-6)
    lengths(np.zeros((10, 3))[::2], out)
    npt.assert_array_equal(out, 0)
    moved(out, np.array([1.0, 2.0]))  # one vector
    npt.assert_array_equal(out, 3)


@dataclass
class Body:
    x: Any
    mass: float


@dt.kernel
def fall(body, h: float):
    for i in body.x:
        body.x[i] -= h * body.mass


def test_members_of_structs_and_dataclasses() -> None:
    x = np.zeros(3)
    body = Body(x, 2.0)
    for _ in range(3):
        fall(body, 0.5)
    npt.assert_array_equal(x, [-3] * 3)
    fall(ti.Struct(x=dt.ones(3), mass=1.0), 0.5)
    body.x = y = np.ones(2)
    fall(body, 0.5)
    npt.assert_array_equal(y, [0] * 2)
    npt.assert_array_equal(x, [-3] * 3)


@pytest.mark.parametrize(
    "part",
    [
        *(np.s_[:, ::2], np.s_[1:3, 1:4], np.s_[::-1, 1::2], np.s_[2:3, ::3], np.s_[::2, ::-3]),
        *(np.s_[:, 1:2], np.s_[1:, :], np.s_[:-1]),
    ],
)
def test_arrays_with_gaps_are_shared(part: Any) -> None:
    for base in (np.zeros((4, 6)), np.zeros(24).reshape(4, 6), np.zeros((6, 4)).T):
        wanted = base.copy()
        array = base[part]
        i, j = np.indices(array.shape)
        wanted[part] = 10.0 * i + j
        places(array)
        npt.assert_array_equal(base, wanted)
        turned = base[part].T
        places(turned)
        i, j = np.indices(turned.shape)
        npt.assert_array_equal(turned, 10.0 * i + j)


def test_random_strides_are_those_of_numpy() -> None:
    @dt.kernel
    def count(x):
        for i, j, k in x:
            x[i, j, k] += 100.0 * i + 10.0 * j + k + 1.0

    rng = np.random.default_rng(5)
    for _ in range(60):
        base = np.zeros(tuple(rng.integers(1, 7, 3)))
        starts = [int(rng.integers(0, n)) for n in base.shape]
        array = base[tuple(slice(start, None) for start in starts)]
        array = array[tuple(slice(None, None, int(rng.choice([-2, -1, 1, 2]))) for _ in starts)]
        array = array.transpose(rng.permutation(3))
        count(array)
        i, j, k = np.indices(array.shape)
        numbers = 100.0 * i + 10.0 * j + k + 1.0
        npt.assert_array_equal(array, numbers)
        assert base.sum() == numbers.sum()  # and nothing else was written


# Memory in common


def test_slices_of_one_array_are_one_array_of_the_program() -> None:
    x = np.arange(8.0)
    for _ in range(2):
        with pytest.raises(dt.KernelError, match="Race on field 'x'"):
            twice(x[1:], x[:-1])
        with pytest.raises(dt.KernelError, match="Race on field 'x'"):
            twice(x[2:], x[:-2][::1])
    npt.assert_array_equal(x, np.arange(8.0))
    twice(x[::2], x[1::2])
    npt.assert_array_equal(x, [2, 1, 6, 3, 10, 5, 14, 7])
    twice(x[4:], x[:4])
    npt.assert_array_equal(x, [2, 1, 6, 3, 4, 2, 12, 6])
    twice(x, x)
    npt.assert_array_equal(x, [4, 2, 12, 6, 8, 4, 24, 12])
    q = np.arange(24.0).reshape(4, 6)
    with pytest.raises(dt.KernelError, match="Race"):
        doubled(q[1:], q[:-1])
    with pytest.raises(dt.KernelError, match="Race"):
        doubled(q[:, :3], q[:, 2:5])
    doubled(q[:2, :3], q[2:, 3:])
    npt.assert_array_equal(q[:2, :3], 2 * q[2:, 3:])
    twice(q[0], q[1])
    npt.assert_array_equal(q[0], 2 * q[1])


def test_a_program_reads_what_it_wrote_by_another_slice() -> None:
    @dt.kernel
    def in_turn(x, y, n: int):
        for _ in range(1):
            for i in range(n):
                x[i] = y[i] + 1.0

    x = np.zeros(6)
    in_turn(x[1:], x[:-1], 5)
    npt.assert_array_equal(x, np.arange(6.0))


def test_a_field_and_an_array_over_it() -> None:
    x = dt.from_numpy(np.arange(6.0))
    array = np.asarray(x, copy=False)
    with pytest.raises(dt.KernelError, match="Race"):
        twice(x[1:], array[:-1])
    with pytest.raises(dt.KernelError, match="Race"):
        twice(array[1:], x[:-1])
    twice(array[::2], x[1::2])
    npt.assert_array_equal(x.to_numpy(), [2, 1, 6, 3, 10, 5])


def test_a_captured_field_over_an_argument_is_refused() -> None:
    x = np.arange(6.0)
    outside = dt.from_dlpack(x[1:])

    @dt.kernel
    def follow(y):
        for i in y:
            y[i] = outside[i]

    with pytest.raises(dt.LaunchError, match="have memory in common"):
        follow(x[:-1])
    y = np.zeros(5)
    follow(y)
    npt.assert_array_equal(y, x[1:])


# Again and again


def test_the_same_arrays_find_their_launch() -> None:
    x, v = np.zeros(4), np.ones(4)
    step(x, v, 1.0)
    latest = step._launches.latest
    for _ in range(3):
        step(x, v, 1.0)
    assert step._launches.latest is latest
    npt.assert_array_equal(x, [4] * 4)
    step(x[::2], v[::2], 1.0)
    latest = step._launches.latest
    step(x[::2], v[::2], 1.0)  # other objects, of the same memory
    assert step._launches.latest is latest
    npt.assert_array_equal(x, [6, 4, 6, 4])


def test_arrays_end_with_their_launches() -> None:
    @dt.kernel
    def fill(x):
        for i in x:
            x[i] = 1.0

    array = np.zeros(1000)
    alive = weakref.ref(array)
    fill(array)
    del array
    fill._launches.clear()
    gc.collect()
    assert alive() is None


def test_changes_of_an_array_in_place_are_noticed() -> None:
    x = np.zeros(6)
    step(x, np.ones(6), 1.0)
    x.flags.writeable = False
    with pytest.raises(dt.KernelError, match="read-only"):
        step(x, np.ones(6), 1.0)
    x.flags.writeable = True
    step(x, np.ones(6), 1.0)
    npt.assert_array_equal(x, [2] * 6)


def test_arrays_of_an_earlier_session() -> None:
    x = np.zeros(4)
    step(x, np.ones(4), 1.0)
    dt.init()
    step(x, np.ones(4), 1.0)
    npt.assert_array_equal(x, [2] * 4)


# Results


def test_funcs_return_arrays_for_arrays_and_fields_for_fields() -> None:
    x = np.arange(3.0)
    found = wave(x, 2.0)
    assert isinstance(found, np.ndarray)
    npt.assert_allclose(found, 2 * np.sin(x))
    assert isinstance(wave(dt.from_numpy(x), x), dt.Field)
    assert isinstance(wave.return_type("field")(x, 2.0), dt.Field)
    shared = np.arange(8.0)[::3]
    npt.assert_allclose(wave(shared, shared), shared * np.sin(shared))
    swapped = np.arange(3.0).astype(">f8")  # in the other byte order: copied, as it is only read
    npt.assert_allclose(wave(swapped, 1.0), np.sin(np.arange(3.0)))

    @dt.func
    def counted(table: ti.template(), i):
        table[i] += 1.0
        return 2.0 * table[i]

    table = np.zeros(3)
    npt.assert_array_equal(counted(table, dt.grid(3)), [2, 2, 2])
    npt.assert_array_equal(table, [1, 1, 1])


def test_transforms_return_arrays_for_arrays() -> None:
    def loss(x: Any, k: Any) -> Any:
        total = dt.zeros((), ti.f64)
        energy(x, k, total)
        return total

    x, k = np.arange(1.0, 4.0), np.array([1.0, 2.0, 3.0])
    value, (x_bar, k_bar) = dt.value_and_grad(loss, argnums=(0, 1))(x, k)
    assert value == 0.5 * np.sum(k * x**2)
    npt.assert_allclose(x_bar, k * x)
    npt.assert_allclose(k_bar, 0.5 * x**2)
    npt.assert_allclose(dt.grad(loss)(x, k), k * x)  # k comes to the kernel as it is
    npt.assert_allclose(dt.hessian(loss)(x, k), np.diag(k))
    _, push = dt.jvp(loss, (x, k), (np.ones(3), np.zeros(3)))
    npt.assert_allclose(push, np.sum(k * x))
    npt.assert_array_equal(x, np.arange(1.0, 4.0))


def test_copies_from_arrays_are_constants() -> None:
    x, loss = dt.ones(3, ti.f64, grad=True), dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        x.copy_from(np.array([1, 2, 3]))
        energy(x, np.ones(3), loss)
    assert loss[None] == 7
    npt.assert_array_equal(x.grad.to_numpy(), 0)


# Tapes


def test_arrays_are_constants_of_a_tape() -> None:
    x, k = dt.from_numpy(np.arange(1.0, 4.0), grad=True), np.array([1.0, 2.0, 3.0])
    for memory in (None, "1MB"):
        loss = dt.zeros((), ti.f64, grad=True)
        with dt.Tape(loss, memory=memory):
            energy(x, k, loss)
            twice(k, np.ones(3))  # the record keeps what was there
        npt.assert_allclose(x.grad.to_numpy(), x.to_numpy() * [1, 2, 3])
        k[:] = [1.0, 2.0, 3.0]


def test_slices_that_overlap_on_one_tape() -> None:
    data, w = np.arange(10.0), dt.ones(4, ti.f64, grad=True)
    for memory in (None, "1MB"):
        loss = dt.zeros((), ti.f64, grad=True)
        with dt.Tape(loss, memory=memory):
            for k in range(6):
                energy(w, data[k : k + 4], loss)
        npt.assert_allclose(w.grad.to_numpy(), sum(data[k : k + 4] for k in range(6)))
    for launches in ((0, 1), (1, 0)):
        with pytest.raises(dt.TapeError, match="would take them for two"), dt.Tape():
            for k in launches:
                if k:
                    step(data[1:5], np.ones(4), 1.0)
                else:
                    energy(w, data[:4], loss)
    table = np.arange(12.0).reshape(4, 3)
    wanted = table[:, 1] + table[:, 2] + (table[:, 1] + table[:, 2])
    with dt.Tape(loss):  # parts with gaps are parts of one field
        energy(w, table[:, 1], loss)
        energy(w, table[:, 2], loss)
        step(table[:, 1], table[:, 2], 1.0)
        energy(w, table[:, 1], loss)
    npt.assert_allclose(w.grad.to_numpy(), wanted)


def test_gradients_do_not_pass_by_an_array_in_silence() -> None:
    x, between = dt.ones(3, ti.f64, grad=True), np.zeros(3)
    loss = dt.zeros((), ti.f64, grad=True)
    with pytest.warns(dt.GradientCut), dt.Tape(loss):
        twice(between, x)
        energy(between, np.ones(3), loss)
    npt.assert_array_equal(x.grad.to_numpy(), 0)
    passed = dt.from_dlpack(between, grad=True)
    loss.fill(0)
    with dt.Tape(loss):
        twice(passed, x)
        energy(passed, np.ones(3), loss)
    npt.assert_allclose(x.grad.to_numpy(), 4)


def test_steps_and_repetitions_on_arrays() -> None:
    x, v = np.zeros(3), np.ones(3)
    for _ in range(400):  # a repetition, which waits if it is one of fields
        step(x, v, 0.5)
        step(v, x, 0.0)
    npt.assert_array_equal(x, [200] * 3)
    for _ in dt.steps(5):
        step(x, v, 1.0)
    npt.assert_array_equal(x, [205] * 3)


def test_custom_ops_take_arrays_where_they_declare_fields() -> None:
    @dt.custom_op
    def filled(x: dt.Out, value, given):
        assert isinstance(x, dt.Field) and isinstance(given, np.ndarray)
        x.from_numpy(value + given)

    x = np.zeros(3)
    filled(x, 2.0, np.ones(3))
    npt.assert_array_equal(x, [3] * 3)


@dt.kernel
def toward(y, out, target):
    for i in y:
        out[i] = 0.5 * (y[i] + target[i])


def test_solvers_work_in_arrays() -> None:
    y, target = np.zeros(3), np.arange(3.0)
    result = dt.fixed_point(toward, y, args=(target,), tol=1e-12)
    assert result.converged
    npt.assert_allclose(y, target, atol=1e-10)
    with pytest.raises(dt.FieldError, match="with gaps"):
        dt.fixed_point(toward, np.zeros(6)[::2], args=(target,))
    x = np.zeros(4)
    with pytest.raises(dt.LaunchError, match="memory in common"):
        dt.fixed_point(toward, (x[1:], x[:-1]), args=(target,))


def test_explicit_derivatives_and_reports() -> None:
    x, y = dt.ones(3, ti.f64, grad=True), np.ones(3)
    x.grad.fill(1.0)
    step.bwds(x, y, 2.0)
    assert "step" in step.explain(x, y, 2.0)


# Devices


@pytest.mark.compiled
def test_arrays_of_the_host_are_copied_to_a_device_and_back() -> None:
    with device_arrays():
        x, v = np.zeros((4, 3))[:, 1], np.arange(4.0)
        for _ in range(3):
            step(x, v, 0.5)
        npt.assert_array_equal(x, 1.5 * np.arange(4.0))
        npt.assert_array_equal(x.base[:, 0], 0)
        v[:] = 1.0
        step(x, v=v, h=1.0)
        npt.assert_array_equal(x, 1.5 * np.arange(4.0) + 1)
        twice(x, x)
        npt.assert_array_equal(x, 3 * np.arange(4.0) + 2)
        with pytest.raises(dt.LaunchError, match="have memory in common"):
            step(v[1:], v[:-1], 1.0)
        v.flags.writeable = False
        step(x, v, 1.0)
        with pytest.raises(dt.KernelError, match="read-only"):
            step(v, x, 1.0)
        npt.assert_allclose(wave(x, v), np.sin(x) * v)
        field = dt.from_numpy(x)
        step(field, x, 1.0)
        npt.assert_array_equal(field.to_numpy(), 2 * x)
