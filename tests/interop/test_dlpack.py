"""Memory shared with arrays of others: both sides see what the other one writes."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.fields.foreign import field_over, point_at
from difftile.substrate import Terms


@dt.kernel
def double(x, y):
    for i in range(x.shape[0]):
        y[i] = 2.0 * x[i]


class Array(np.ndarray):
    """An array to which there are weak references."""


def array_of(*values: float) -> np.ndarray:
    return np.array(values, np.float32).view(Array)


def test_a_field_over_an_array_and_the_array_are_one_memory():
    a, b = array_of(1, 2, 3), array_of(0, 0, 0)
    x, y = dt.from_dlpack(a), dt.from_dlpack(b)
    double(x, y)
    assert b.tolist() == [2, 4, 6]
    a[1] = 5
    y[2] = -1.0
    assert x[1] == 5
    double(x, y)
    assert b.tolist() == y.to_numpy().tolist() == [2, 10, 6]


def test_an_array_over_a_field_and_the_field_are_one_memory():
    x, y = dt.ones(3), dt.zeros(3)
    for a in (np.from_dlpack(x), np.asarray(x, copy=False)):
        a[1] = 5
        double(x, y)
        assert y.to_numpy().tolist() == [2, 10, 2]
        x.fill(1.0)
        assert a.tolist() == [1, 1, 1]
    copy = np.asarray(x)
    x.fill(2.0)
    assert copy.tolist() == [1, 1, 1]


def test_components_are_trailing_axes():
    a = np.arange(12.0, dtype=np.float32).reshape(2, 2, 3)
    x = dt.from_dlpack(a, ti.math.vec3)
    m = dt.from_dlpack(a.reshape(2, 2, 3), dt.mat(2, 3))
    assert x.shape == (2, 2) and m.shape == (2,)
    x[0, 1] = [7, 8, 9]
    assert a[0, 1].tolist() == [7, 8, 9]
    assert np.from_dlpack(m).shape == (2, 2, 3)
    part = np.from_dlpack(x[:, ::-1])
    assert part.strides == (24, -12, 4) and part[0, 0].tolist() == [7, 8, 9]
    repeated = np.asarray(x[0, :].broadcast_to(4, 2), copy=False)
    assert repeated.strides == (0, 12, 4) and not repeated.flags.writeable


def test_the_memory_of_an_array_lives_as_long_as_its_field():
    a = array_of(1, 2)
    alive = weakref.ref(a)
    x = dt.from_dlpack(a)
    del a
    gc.collect()
    assert alive() is not None and x.to_numpy().tolist() == [1, 2]
    del x
    gc.collect()
    assert alive() is None


def test_the_memory_of_a_field_lives_as_long_as_its_arrays():
    x = dt.full(1000, 3.0)
    a = np.from_dlpack(x)
    del x
    others = [dt.full(1000, 4.0) for _ in range(3)]  # none of them is given that memory
    assert np.all(a == 3)
    del others, a


def test_a_field_that_is_guarded_leaves_before_it_is_written():
    a, b = array_of(1, 2, 3), array_of(0, 0, 0)
    y = dt.from_dlpack(b)
    x = field_over(y.element, (3,), a.ctypes.data, a, Terms.GUARDED)
    double(y, x)
    assert a.tolist() == [1, 2, 3] and x.to_numpy().tolist() == [0, 0, 0]
    alive = weakref.ref(a)
    point_at(x, b.ctypes.data, b, Terms.LENT)
    del a
    gc.collect()
    assert alive() is None and x.to_numpy().tolist() == [0, 0, 0]
    double(y, x)
    point_at(x, 0, None, Terms.LENT)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: np.ones(4, np.float32)[::2], "do not follow each other"),
        (lambda: np.ones((2, 3), np.float32).T, "do not follow each other"),
        (lambda: np.ones(4, ">f4"), "other byte order"),
        (lambda: np.ones(4, np.complex64), "cannot hold complex64"),
        (lambda: np.frombuffer(bytearray(9), np.uint8)[1:].view(np.float32), "not aligned"),
        (lambda: [1.0, 2.0], "has no memory to share"),
    ],
)
def test_memory_that_is_not_shared_is_refused_by_name(make, text):
    with pytest.raises(dt.FieldError, match=text):
        dt.from_dlpack(make())


@dt.kernel
def grow(x, y):
    for i in x:
        y[i] += x[i] * x[i]
        x[i] *= 2.0


def test_a_tape_keeps_what_a_launch_overwrites_in_shared_memory():
    a = np.array([1.0, 2.0], np.float32)
    x, y = dt.from_dlpack(a, grad=True), dt.zeros(2, grad=True)
    for limit in (None, 400):
        a[:] = [1.0, 2.0]
        y.fill(0.0)
        with dt.Tape(memory=limit) as tape:
            for _ in range(3):
                grow(x, y)
        assert a.tolist() == [8, 16] and x.storage.memory.address == a.ctypes.data
        a[:] = 100.0  # after the block
        tape.backward({y: 1.0})
        assert x.grad.to_numpy().tolist() == [2 * (1 + 4 + 16), 4 * (1 + 4 + 16)]
        assert a.tolist() == [100, 100]


def test_what_others_write_into_constants_on_a_tape_is_run_again():
    a = np.array([1.0, 2.0], np.float32)
    c = dt.from_dlpack(a)
    x, y = dt.ones(2, grad=True), dt.zeros(2, grad=True)
    for limit in ({}, {"snapshots": 3}):
        x.fill(1.0)
        with dt.Tape(**limit) as tape:
            for number in range(12):
                a[:] = number
                scale(x, c, y)
        tape.backward({y: 1.0})
        assert x.grad.to_numpy().tolist() == [66, 66]


@dt.kernel
def scale(x, c, y):
    for i in x:
        y[i] += c[i] * x[i]


def test_steps_with_shared_memory_run_one_by_one():
    x, y = dt.ones(2, grad=True), dt.zeros(2, grad=True)
    a = np.asarray(y, copy=False)
    with dt.Tape() as tape:
        for _ in dt.steps(20):
            double(x, y)
            double(y, x)
    assert a.tolist() == y.to_numpy().tolist() == [2.0**39, 2.0**39]
    tape.backward({x: 1.0})
    assert x.grad.to_numpy().tolist() == [2.0**40, 2.0**40]


@dt.custom_op
def halve(x, y):
    np.asarray(y, copy=False)[...] = 0.5 * np.asarray(x, copy=False)


@halve.backward
def _(x, y):
    x.grad_out.add_numpy(0.5 * y.grad_in.to_numpy())


def test_custom_ops_may_compute_in_the_memory_of_fields():
    a = np.array([0.0, 2.0], np.float32)
    for x in (dt.from_dlpack(a, grad=True), dt.from_numpy(a, grad=True)):
        y = dt.full(2, 7.0, grad=True)
        for _ in range(2):
            with dt.Tape() as tape:
                halve(x, y)
                double(y, y)
            tape.backward({y: 1.0})
            assert y.to_numpy().tolist() == [0, 2]
            assert x.grad.to_numpy().tolist() == [1, 1]


def test_memory_goes_back_after_many_exchanges():
    a, x = np.ones(1000, np.float32), dt.ones(1000)
    pool = x.storage.memory.pool
    before = None
    for number in range(10_000):
        y = dt.from_dlpack(a.view())  # another object each time
        b = np.from_dlpack(x)
        if number == 100:
            gc.collect()
            before = pool.held, len(gc.get_objects())
    del y, b
    gc.collect()
    assert before is not None
    assert pool.held <= before[0] and len(gc.get_objects()) < before[1] + 100
    assert not x.storage.memory.is_shared


def test_one_array_gives_fields_that_know_of_each_other():
    a = np.ones(3, np.float32)
    x, y = dt.from_dlpack(a), dt.from_dlpack(a)
    assert x.storage is y.storage
    a.flags.writeable = False
    z = dt.from_dlpack(a)
    assert z.storage is not x.storage and z.storage.read_only


def test_a_part_of_a_tensor_is_shared():
    torch = pytest.importorskip("torch")
    t = torch.arange(12.0).reshape(4, 3)
    x = dt.from_dlpack(t[1:3], ti.math.vec3)
    x[0] = [7, 8, 9]
    assert t[1].tolist() == [7, 8, 9]
    back = torch.from_dlpack(x)
    back[1] = 0.0
    assert t[2].tolist() == [0, 0, 0] and x[1].tolist() == [0, 0, 0]
    with pytest.raises(dt.FieldError, match="bfloat16"):
        dt.from_dlpack(t.bfloat16())
    with pytest.raises(dt.FieldError, match="requires grad"):
        dt.from_dlpack(t.requires_grad_())


def test_a_field_that_follows_from_memory_of_others_is_up_to_date():
    array = np.array([1.0, 2.0])
    x = dt.from_dlpack(array)

    def square(y):
        y.from_numpy(x.to_numpy() ** 2)

    y = dt.DerivedField(x.dtype, (2,), [x], square)
    assert y[1] == 4.0
    array[1] = 3.0
    assert y[1] == 9.0


def test_arrays_of_jax_are_read_only():
    jnp = pytest.importorskip("jax.numpy")
    j = jnp.arange(3.0)
    x, y = dt.from_dlpack(j), dt.zeros(3)
    double(x, y)
    assert jnp.from_dlpack(y).tolist() == [0, 2, 4]
    with pytest.raises(dt.FieldError, match="read-only"):
        x.fill(1.0)
    with pytest.raises(dt.DifftileError, match="read-only"):
        double(y, x)
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(x, copy=False)[0] = 1.0
    assert j.tolist() == [0, 1, 2]


def test_arrays_outlive_the_session():
    text = (
        "import numpy as np, difftile as dt\n"
        "x = dt.full(100000, 3.0)\n"
        "a, b = np.from_dlpack(x), np.asarray(x, copy=False)\n"
        "y = dt.from_dlpack(np.ones(1000, np.float32))\n"
        "dt.init(arch='cpu')\n"
        "others = [dt.full(100000, 4.0) for _ in range(3)]\n"
        "assert np.all(a == 3) and np.all(b == 3)\n"
        "a[:] = 5\n"
        "assert np.all(others[0].to_numpy() == 4)\n"
        "del x, y, a\n"
        "assert np.all(b == 5)\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.gpu
def test_memory_of_a_gpu_is_shared_with_tensors():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no CUDA device")
    dt.init(arch="cuda")
    try:
        t = torch.arange(6.0, device="cuda").reshape(2, 3)
        x, y = dt.from_dlpack(t, ti.math.vec3, grad=True), dt.zeros(2, ti.math.vec3, grad=True)
        with dt.Tape() as tape:
            double(x, y)
            double(y, x)
        assert t.flatten().tolist() == [0, 4, 8, 12, 16, 20]
        t.zero_()
        tape.backward({y: 1.0})
        assert np.all(x.grad.to_numpy() == 2)
        u = torch.from_dlpack(y)
        assert u.is_cuda and u.tolist() == [[0, 2, 4], [6, 8, 10]]
        u += 1
        assert y[1].tolist() == [7, 9, 11]
        with torch.cuda.stream(torch.cuda.Stream()):
            double(x, y)
            assert torch.from_dlpack(y).sum().item() == 0
        assert torch.as_tensor(y, device="cuda").data_ptr() == u.data_ptr()
        with pytest.raises(ValueError, match="memory of a device"):
            np.asarray(y, copy=False)
        dt.init(arch="cuda")
        assert u.sum().item() == 0  # lives on
    finally:
        dt.init(arch="cpu")


@dt.kernel
def weighted(x, y, loss):
    for i in x:
        loss[None] += x[i] * y[i]


@pytest.mark.parametrize("memory", [None, "1KB"])
def test_a_tape_sees_what_others_write_into_memory_that_is_read_only_to_fields(memory):
    a = array_of(0, 1, 2, 3)
    view = a.view()
    view.flags.writeable = False
    x, y = dt.from_dlpack(view), dt.from_numpy(np.ones(4, np.float32), grad=True)
    loss = dt.zeros((), ti.f32, grad=True)
    with dt.Tape(loss, memory=memory):
        weighted(x, y, loss)
        a[0] = 5
        weighted(x, y, loss)
    assert y.grad.to_numpy().tolist() == [5, 2, 4, 6]
