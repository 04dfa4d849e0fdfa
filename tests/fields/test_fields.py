"""Fields: creating, reading and writing them from Python, and their gradients.

The errors of fields are in `tests/wrong/fields.txt`.
"""

from __future__ import annotations

import copy
import gc
import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import numpy.testing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.substrate import current_session
from difftile.substrate.family.ndarrays import Ndarray

NUMBERS = {
    ti.f16: np.float16,
    ti.f32: np.float32,
    ti.f64: np.float64,
    ti.i8: np.int8,
    ti.i16: np.int16,
    ti.i32: np.int32,
    ti.i64: np.int64,
    ti.u8: np.uint8,
    ti.u16: np.uint16,
    ti.u32: np.uint32,
    ti.u64: np.uint64,
    ti.u1: np.bool_,
}
SHAPES = [(), 1, 7, (3, 4), (2, 3, 4), (1, 2, 3, 4), (2, 1, 2, 1, 3), (2, 1, 2, 1, 2, 3)]
ELEMENTS: list[tuple[Any, tuple[int, ...]]] = [
    (ti.f32, ()),
    (ti.math.vec2, (2,)),
    (ti.math.vec3, (3,)),
    (dt.vec(5), (5,)),
    (ti.math.mat2, (2, 2)),
    (dt.mat(2, 3), (2, 3)),
]


def tuple_of(shape: int | tuple[int, ...]) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else shape


def counting(*shape: int) -> np.ndarray:
    """Return an array of the numbers from 0 on."""
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


def contents(field: Any) -> np.ndarray:
    return field.to_numpy()


# Making fields


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_new_field_holds_zeros(shape: Any) -> None:
    x = dt.field(ti.f32, shape)
    assert x.shape == tuple_of(shape)
    assert x.ndim == len(x.shape)
    assert x.size == np.prod(x.shape, dtype=int)
    assert x.nbytes == 4 * x.size
    assert x.to_numpy().shape == x.shape
    assert x.to_numpy().dtype == np.float32
    assert not x.to_numpy().any()


@pytest.mark.parametrize(
    ("dtype", "numpy"), NUMBERS.items(), ids=lambda t: getattr(t, "__name__", str(t))
)
def test_every_number_type(dtype: Any, numpy: Any) -> None:
    values = np.array([[0, 1], [1, 0]], numpy)
    for x in (
        dt.field(dtype, (2, 2)),
        dt.field(numpy, (2, 2)),
        dt.from_numpy(np.zeros_like(values)),
    ):
        assert x.dtype == dtype
        x.from_numpy(values)
        npt.assert_array_equal(x.to_numpy(), values)
        assert x.to_numpy().dtype == numpy
        assert x[0, 1] == 1 and x[0, 0] == 0
        x.fill(1)
        assert x.to_numpy().all()


@pytest.mark.parametrize(("element", "inner"), ELEMENTS, ids=[str(e[1]) for e in ELEMENTS])
@pytest.mark.parametrize("shape", [(), 3, (2, 3)], ids=str)
def test_vector_and_matrix_elements(element: Any, inner: tuple[int, ...], shape: Any) -> None:
    x = dt.zeros(shape, dtype=element)
    values = counting(*x.shape, *inner)
    x.from_numpy(values)
    npt.assert_array_equal(x.to_numpy(), values)
    y = dt.from_numpy(values, dtype=element)
    assert (y.shape, y.element) == (x.shape, x.element)
    for index in itertools.product(*(range(n) for n in x.shape)):
        npt.assert_array_equal(x[index if index else None], values[index])


def test_zeros_ones_full_and_empty() -> None:
    npt.assert_array_equal(dt.ones(4).to_numpy(), [1, 1, 1, 1])
    npt.assert_array_equal(dt.zeros((2, 2)).to_numpy(), np.zeros((2, 2)))
    npt.assert_array_equal(dt.full(3, 2.5).to_numpy(), [2.5] * 3)
    npt.assert_array_equal(dt.full(2, [1, 2], dtype=ti.math.vec2).to_numpy(), [[1, 2], [1, 2]])
    assert dt.empty((5, 2), dtype=ti.i32).shape == (5, 2)
    assert dt.ones(2, dtype=int).dtype == ti.i32
    assert dt.ones(2, dtype=float).dtype == ti.f32


def test_fields_like_others() -> None:
    x = dt.full(3, [1, 2], dtype=ti.types.vector(2, ti.f64), grad=True)
    for like, expected in (
        (dt.zeros_like(x), 0.0),
        (dt.ones_like(x), 1.0),
        (dt.full_like(x, 3.0), 3.0),
    ):
        assert (like.shape, like.element, like.has_grads) == (x.shape, x.element, True)
        npt.assert_array_equal(like.to_numpy(), np.full((3, 2), expected))
        npt.assert_array_equal(like.grad.to_numpy(), np.zeros((3, 2)))
    assert not dt.zeros_like(x, grad=False).has_grads
    assert dt.empty_like(dt.zeros(2), grad=True).has_grads
    assert not dt.empty_like(dt.zeros(2)).has_grads


def test_from_numpy_takes_the_type_of_the_array() -> None:
    assert dt.from_numpy(np.ones(2, np.float64)).dtype == ti.f64
    assert dt.from_numpy(np.ones(2, np.float32)).dtype == ti.f32
    assert dt.from_numpy(np.ones(2, np.int64)).dtype == ti.i64
    assert dt.from_numpy([1.0, 2.0]).dtype == ti.f64
    assert dt.from_numpy(2.0).shape == ()
    # A vector type without a precision of its own follows an array of floats.
    assert str(dt.from_numpy(np.ones((2, 3)), dtype=ti.math.vec3).element) == "vec3<f64>"
    assert (
        str(dt.from_numpy(np.ones((2, 3), np.float32), dtype=ti.math.vec3).element) == "vec3<f32>"
    )
    assert str(dt.from_numpy(np.ones((2, 3), int), dtype=ti.math.vec3).element) == "vec3<f32>"
    named = ti.types.vector(3, ti.f32)
    assert str(dt.from_numpy(np.ones((2, 3)), dtype=dt.vec(3, ti.f64)).element) == "vec3<f64>"
    assert str(dt.from_numpy(np.ones((2, 3)), dtype=named).element) == "vec3<f32>"


# Values


def test_strided_arrays_are_copied_right() -> None:
    a = counting(4, 3)
    npt.assert_array_equal(dt.from_numpy(a[:, 1]).to_numpy(), [1, 4, 7, 10])
    npt.assert_array_equal(dt.from_numpy(a[::-2, ::-1]).to_numpy(), a[::-2, ::-1])
    npt.assert_array_equal(dt.from_numpy(np.asfortranarray(a)).to_numpy(), a)
    npt.assert_array_equal(dt.from_numpy(a.T).to_numpy(), a.T)
    npt.assert_array_equal(dt.from_numpy(np.broadcast_to(a[0], (2, 3))).to_numpy(), [a[0], a[0]])
    npt.assert_array_equal(dt.from_numpy(a.astype(">f4")).to_numpy(), a)


def test_read_only_arrays_are_read_and_stay_as_they_are() -> None:
    a = counting(4)
    a.flags.writeable = False
    x = dt.from_numpy(a, grad=True)
    x.from_numpy(a)
    x.fill(5.0)
    npt.assert_array_equal(a, [0, 1, 2, 3])


def test_what_python_gets_is_a_copy() -> None:
    x = dt.ones(3)
    x.to_numpy()[0] = 5
    assert x[0] == 1
    v = dt.ones(2, dtype=ti.math.vec3)
    taken = v[0]
    v[0] = [7, 8, 9]
    npt.assert_array_equal(taken, [1, 1, 1])
    a = np.ones(3, np.float32)
    y = dt.from_numpy(a)
    a[0] = 5
    assert y[0] == 1


def test_arrays_are_made_of_fields() -> None:
    x = dt.from_numpy(counting(2, 3))
    npt.assert_array_equal(np.asarray(x), counting(2, 3))
    assert np.asarray(x, np.float64).dtype == np.float64
    assert np.sum(x) == 15


@pytest.mark.parametrize("shape", [s for s in SHAPES if s != ()], ids=str)
def test_indices_count_from_the_front_and_from_the_back(shape: Any) -> None:
    x = dt.zeros(shape)
    values = counting(*x.shape)
    for index in itertools.product(*(range(-n, n) for n in x.shape)):
        x[index] = values[index]
        assert x[index] == values[index]
    npt.assert_array_equal(x.to_numpy(), values)
    first = tuple(np.int64(0) for _ in x.shape)
    assert isinstance(x[first], float)


def test_a_field_of_one_element() -> None:
    x = dt.zeros(())
    x[None] = 2.5
    assert x[None] == 2.5
    x[()] = 3
    assert x[()] == 3
    assert x.to_numpy().shape == ()
    v = dt.zeros((), dtype=ti.math.vec2)
    v[None] = (1, 2)
    npt.assert_array_equal(v[None], [1, 2])


def test_fill_and_clear() -> None:
    x = dt.zeros((2, 3))
    x.fill(2)
    npt.assert_array_equal(x.to_numpy(), np.full((2, 3), 2.0))
    x.fill(float("nan"))
    assert np.isnan(x.to_numpy()).all()
    x.clear()
    npt.assert_array_equal(x.to_numpy(), np.zeros((2, 3)))
    m = dt.zeros(2, dtype=ti.math.mat2)
    m.fill([[1, 2], [3, 4]])
    npt.assert_array_equal(m.to_numpy(), [[[1, 2], [3, 4]]] * 2)
    m.fill(1.5)
    npt.assert_array_equal(m.to_numpy(), np.full((2, 2, 2), 1.5))
    v = dt.zeros(2, dtype=ti.math.vec3)
    v[0] = ti.math.vec3(1, 2, 3)
    npt.assert_array_equal(v[0], [1, 2, 3])


def test_floats_change_precision_and_integers_become_floats() -> None:
    x = dt.zeros(2)
    x.from_numpy(np.array([0.1, 0.2]))
    npt.assert_array_equal(x.to_numpy(), np.float32([0.1, 0.2]))
    x.from_numpy(np.array([1, 2]))
    npt.assert_array_equal(x.to_numpy(), [1, 2])
    n = dt.zeros(2, dtype=ti.u8)
    n.from_numpy(np.array([3, 255]))
    npt.assert_array_equal(n.to_numpy(), [3, 255])
    with pytest.raises(dt.FieldError, match="some do not fit"):
        n.from_numpy(np.array([-1, 0]))


def test_copy_from() -> None:
    x, y = dt.from_numpy(counting(3)), dt.zeros(3)
    y.copy_from(x)
    x.fill(0)
    npt.assert_array_equal(y.to_numpy(), [0, 1, 2])
    y.copy_from(y)
    y.copy_from(y.detach())
    npt.assert_array_equal(y.to_numpy(), [0, 1, 2])


def test_copies_have_memory_of_their_own() -> None:
    x = dt.full(3, 2.0, grad=True)
    x.grad.fill(7.0)
    for y, gradient in ((copy.copy(x), 0), (copy.deepcopy(x), 7)):
        y[0] = 5
        npt.assert_array_equal(x.to_numpy(), [2, 2, 2])
        npt.assert_array_equal(y.to_numpy(), [5, 2, 2])
        npt.assert_array_equal(y.grad.to_numpy(), [gradient] * 3)


def test_python_protocols() -> None:
    x = dt.zeros((3, 2))
    assert len(x) == 3
    assert x != dt.zeros((3, 2))
    assert {x: 1}[x] == 1
    with pytest.raises(TypeError, match="no length"):
        len(dt.zeros(()))


# Gradients


def test_a_gradient_is_one_buffer_for_both_ends() -> None:  # DT1, DT2
    x = dt.field(ti.f32, 4)
    assert (x.has_grads, x.grad_in, x.grad_out) == (False, None, None)
    y = x.with_grads()
    assert y.grad_in is y.grad_out is y.grad
    assert (y.grad.shape, y.grad.element) == (x.shape, x.element)
    npt.assert_array_equal(y.grad.to_numpy(), np.zeros(4))
    assert not x.has_grads
    x[0] = 5  # the memory is shared
    assert y[0] == 5
    assert y.grad is not y.with_grads().grad


def test_given_gradients_keep_their_contents() -> None:  # DT2, DT3
    x, ones = dt.zeros(4), dt.ones(4)
    y = x.with_grads(grad_in=ones)
    assert (y.grad_in, y.grad_out) == (ones, None)
    npt.assert_array_equal(ones.to_numpy(), np.ones(4))
    z = x.with_grads(grad_out=ones)
    assert (z.grad_in, z.grad_out, z.grad) == (None, ones, ones)
    both = x.with_grads(grad_in=ones, grad_out=dt.full(4, 2.0), zero=True)
    npt.assert_array_equal(contents(both.grad_in), np.zeros(4))
    npt.assert_array_equal(contents(both.grad_out), np.zeros(4))


def test_gradients_are_cleared() -> None:  # DT5
    x = dt.zeros(4, grad=True)
    x.grad.fill(3.0)
    x.grad.clear()
    npt.assert_array_equal(x.grad.to_numpy(), np.zeros(4))
    y = dt.zeros(2, grad=True)
    for clear in (lambda: dt.zero_grads([x, y]), dt.zero_grads):
        x.grad.fill(3.0)
        y.grad.fill(3.0)
        clear()
        npt.assert_array_equal(x.grad.to_numpy(), np.zeros(4))
        npt.assert_array_equal(y.grad.to_numpy(), np.zeros(2))
    x.grad.fill(3.0)
    y.grad.fill(3.0)
    dt.zero_grads(x)
    assert (x.grad[0], y.grad[0]) == (0, 3)


def test_zero_grads_reaches_separate_buffers_and_leaves_contents() -> None:
    x = dt.ones(2).with_grads(grad_in=dt.ones(2), grad_out=dt.ones(2))
    dt.zero_grads()
    npt.assert_array_equal(contents(x.grad_in), [0, 0])
    npt.assert_array_equal(contents(x.grad_out), [0, 0])
    npt.assert_array_equal(x.to_numpy(), [1, 1])


def test_detach_shares_the_memory_and_has_no_gradient() -> None:  # DT9
    x = dt.zeros(3, grad=True)
    y = x.detach()
    assert (y.has_grads, x.has_grads) == (False, True)
    y[1] = 4
    assert x[1] == 4


def test_gradients_are_assigned() -> None:  # DT11
    x = dt.zeros(3, grad=True)
    g = dt.ones(3)
    x.grad_in = g
    assert x.grad_in is g and x.grad_out is not g
    x.grad_in = None
    x.grad_out = None
    assert not x.has_grads
    with pytest.raises(dt.FieldError, match="has no gradient"):
        _ = x.grad


@pytest.mark.parametrize("make", [dt.ones, dt.zeros, dt.empty], ids=lambda f: f.__name__)
def test_every_way_to_make_a_field_takes_grad(make: Any) -> None:
    x = make((2, 3), dtype=ti.math.vec2, grad=True)
    npt.assert_array_equal(x.grad.to_numpy(), np.zeros((2, 3, 2)))
    assert dt.full(2, 1.0, grad=True).has_grads
    assert dt.from_numpy(np.ones(2), grad=True).grad.dtype == ti.f64
    assert dt.field(ti.f16, 2, grad=True).grad.dtype == ti.f16


def test_integers_have_no_derivative() -> None:  # DT8, DT10
    for dtype in (ti.i32, ti.u8, ti.u1, ti.math.ivec2):
        with pytest.raises(dt.FieldError, match="which have no derivative"):
            dt.field(dtype, 3).with_grads()
        with pytest.raises(dt.FieldError, match="which have no derivative"):
            dt.field(dtype, 3).grad_out = dt.zeros(3)


# Memory


def test_memory_is_reused() -> None:
    shape = (123, 7)
    x = dt.zeros(shape)
    address = x.buffer.address
    del x
    gc.collect()
    assert dt.zeros(shape).buffer.address == address


def test_fields_that_share_memory_keep_it() -> None:
    x = dt.full((321, 3), 4.0)
    y = x.detach()
    del x
    gc.collect()
    z = dt.zeros((321, 3))
    assert z.buffer.address != y.buffer.address
    assert y[0, 0] == 4


def test_the_pool_knows_what_it_holds() -> None:
    gc.collect()
    current_session().pool.clear()
    x = dt.zeros(1000)
    del x
    gc.collect()
    assert current_session().pool.held == 4000
    current_session().pool.clear()
    assert current_session().pool.held == 0


# Restarting, in a process of its own, since it ends the fields of every other test.


def test_starting_anew() -> None:
    program = """
import numpy as np, taichi as ti, difftile as dt
from difftile.substrate import current_session
x = dt.ones(3, grad=True)                       # starts difftile on the CPU
@dt.kernel
def double(x):
    for i in x:
        x[i] = 2.0 * x[i]
@dt.kernel
def square(x):
    for i in x:
        x[i] = x[i] * x[i]
double(x)
with dt.Tape() as earlier:
    square(x)
assert earlier.nbytes
dt.init(arch="cpu", default_fp=ti.f64)
earlier.release()
print(current_session().pool.kept, "bytes are kept")
uses = [
    lambda: x[0], lambda: x.fill(1), x.to_numpy, lambda: double(x), lambda: x.grad.to_numpy(),
    x.with_grads, x.detach, lambda: dt.zeros(3, ti.f32).copy_from(x), lambda: x.__setitem__(0, 1),
]
for use in uses:
    try:
        use()
    except dt.FieldError as error:
        print(error)
    else:
        print("no error")
dt.zero_grads()
y = dt.ones(3, grad=True)
assert y.dtype == ti.f64, y
double(y)
with dt.Tape() as tape:
    double(y)
tape.backward({y: 1.0})
print(y.to_numpy(), y.grad.to_numpy(), repr(x))
del x
dt.init()
print(dt.ones(2).dtype == ti.f32)
"""
    command = [sys.executable, "-c", _in_a_file(program)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith("[Taichi]")]
    gone = (
        "<field f32 (3,), grad> was made before the last dt.init(), which ended its memory. "
        "Make fields after dt.init()."
    )
    gradient = gone.replace(", grad>", ">")
    assert lines == [
        "0 bytes are kept",
        *([gone] * 4),
        gradient,
        *([gone] * 4),
        "[4. 4. 4.] [2. 2. 2.] <field f32 (3,), grad>",
        "True",
    ]


def _in_a_file(program: str) -> str:
    """Return a command that runs a program as a file, which kernels need."""
    return (
        "import runpy, tempfile, pathlib\n"
        f"text = {program!r}\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    path = pathlib.Path(folder, 'program.py')\n"
        "    path.write_text(text)\n"
        "    runpy.run_path(str(path))\n"
    )


def test_memory_that_python_has_given_up_is_not_used_again() -> None:
    # Part of a cycle: the collector tells the memory and the field to go, in an order of its own.
    back: list[object] = []

    class Memory:
        def __del__(self) -> None:
            back.append(self)

    Memory()
    current_session().pool.clear()
    x = dt.zeros(7)
    gone = x.storage.buffer
    gone.device = object.__new__(Ndarray)
    gone.device._ndarray = back[0]
    x.storage.move(gone.empty_like())
    assert gone in gone.siblings
    assert dt.zeros(7).storage.buffer is not gone
    assert gone not in gone.siblings


def test_arithmetic_in_place_on_gradients() -> None:
    """Python assigns the result of `x.grad += 1`, which is the gradient that it has changed."""
    x = dt.zeros(4, dtype=ti.f64, grad=True)
    x.grad += 1.0
    x.grad_out *= 3.0
    x.view(2, 2).grad -= 1.0
    x[1:3].grad += 2.0
    x[1:3].grad_in *= 2.0
    np.testing.assert_array_equal(x.grad.to_numpy(), [2, 8, 8, 2])
    with pytest.raises(dt.FieldError, match=r"x\.grad\.copy_from\(g\)"):
        x.grad = dt.zeros(4, dtype=ti.f64)
    with pytest.raises(dt.FieldError, match="has the gradient of its field"):
        x[1:3].grad = x.grad[0:2]

    @dt.custom_op
    def double(x: dt.In, y: dt.Out) -> None:
        y.copy_from(2.0 * x)

    @double.backward
    def _(x, y):
        x.grad += 2.0 * y.grad_in

    y = dt.zeros(2, dtype=ti.f64, grad=True)
    with dt.Tape() as tape:
        double(x[1:3], y)
    tape.backward({y: 1.0})
    np.testing.assert_array_equal(x.grad.to_numpy(), [0, 2, 2, 0])


@pytest.mark.parametrize(
    ("dtype", "shape", "number"),
    [
        (ti.i8, (), np.int8),
        (dt.vec(3, ti.f64), (3,), np.float64),
        (dt.mat(2, 3, ti.f16), (2, 3), np.float16),
    ],
)
def test_an_element_is_an_array_of_that_shape_and_type(dtype, shape, number):
    x = dt.zeros((4, 5), dtype)
    for part in (x, x[1:3], x[2]):
        values = part.to_numpy()
        assert part.element_shape == shape == values.shape[part.ndim :]
        assert part.numpy_dtype == number == values.dtype
