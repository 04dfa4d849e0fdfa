"""Funcs that Python calls: mapped over fields, arrays and generated arguments."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt
import pytest
import taichi as ti

import difftile as dt
from difftile.substrate import compile as compiling

vec2 = ti.math.vec2
Array = npt.NDArray[Any]


@dt.func
def polynomial(a, b, c, x):
    return a * x * x + b * x + c


@dt.func
def product(x, y):
    return x * y


@dt.func
def wave(x, y):
    return ti.sin(x) * y + x


@dt.func
def same(i):
    return i


@dt.func
def linear(w: ti.template(), b, x: ti.template(), row):
    total = b
    for k in range(x.shape[0]):
        total += w[row, k] * x[k]
    return total


def doubles(values: Any, *, grad: bool = True) -> dt.Field:
    return dt.from_numpy(np.array(values, np.float64), grad=grad)


def arange(*shape: int) -> Array:
    return np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)


# DT16, DT17, NN1, NN3


def test_a_func_maps_over_a_field() -> None:
    x = doubles([1, 2, 3, 4])
    r = polynomial(a=2, b=8, c=-1, x=x)
    assert r.to_numpy().tolist() == [9, 23, 41, 63]
    r.grad.fill(1.0)
    polynomial.bwds(a=2, b=8, c=-1, x=x, _result=r)
    assert x.grad.to_numpy().tolist() == [12, 16, 20, 24]
    polynomial.bwds(2, 8, -1, x, _result=r)
    assert x.grad.to_numpy().tolist() == [24, 32, 40, 48]
    assert r.grad.to_numpy().tolist() == [1, 1, 1, 1]


def test_results_in_every_kind() -> None:
    x, wanted = dt.from_numpy(np.arange(1, 5, dtype=np.float32)), [9, 23, 41, 63]
    for kind in ("field", dt.Field):
        assert polynomial.return_type(kind)(2, 8, -1, x).to_numpy().tolist() == wanted
        assert polynomial(2, 8, -1, x, _result=kind).to_numpy().tolist() == wanted
    for found in (
        polynomial.return_type("numpy")(2, 8, -1, x),
        polynomial(2, 8, -1, x, _result="numpy"),
    ):
        assert isinstance(found, np.ndarray)
        assert found.dtype == np.float32
        assert found.tolist() == wanted
    r = dt.zeros(6)
    given = r[1:5]
    assert polynomial(2, 8, -1, x, _result=given) is given
    assert r.to_numpy().tolist() == [0, *wanted, 0]
    doubled = dt.zeros(4, ti.f64)
    polynomial(2, 8, -1, x, _result=doubled)
    assert doubled.to_numpy().tolist() == wanted


def test_a_result_is_written_in_place() -> None:
    x = doubles([1, 2, 3])
    with dt.Tape() as tape:
        product(x, x, _result=x)
        product(x, 3.0, _result=x)
    tape.backward({x: doubles([1, 1, 1], grad=False)})
    assert x.to_numpy().tolist() == [3, 12, 27]
    assert x.grad.to_numpy().tolist() == [6, 12, 18]


def test_the_gradient_of_one_element_is_the_sum() -> None:
    x, a = doubles([1, 2, 3, 4]), doubles([2])
    r = polynomial(a, 8, -1, x)
    r.grad.fill(1.0)
    polynomial.bwds(a, 8, -1, x, _result=r)
    assert a.grad.to_numpy().tolist() == [30]
    assert x.grad.to_numpy().tolist() == [12, 16, 20, 24]


def test_tangents_are_pushed() -> None:
    x = doubles([1, 2, 3, 4])
    x.grad.from_numpy(np.array([1.0, 0, 2, 0]))
    r = polynomial.fwds(2, 8, -1, x)
    assert r.to_numpy().tolist() == [9, 23, 41, 63]
    assert r.grad.to_numpy().tolist() == [12, 0, 40, 0]


# DT18


def test_numbers_give_numbers() -> None:
    assert polynomial(2, 8, -1, 3) == 41
    assert type(polynomial(2, 8, -1, 3)) is int
    assert polynomial(2.0, 8, -1, 3) == 41.0
    assert type(polynomial(2.0, 8, -1, np.float32(3))) is float
    first, second = dt.func(lambda x: (x, vec2(x, 2.0)))(1.5)
    assert first == 1.5
    assert second.tolist() == [1.5, 2.0]
    assert polynomial.return_type("numpy")(2.0, 8, -1, 3).shape == ()
    single = doubles(5)
    r = product(single, single)
    assert r.shape == ()
    r.grad.fill(1.0)
    product.bwds(single, single, _result=r)
    assert single.grad[None] == 10.0


# DT19


def test_gradients_follow_those_of_the_arguments() -> None:
    x = doubles([1, 2], grad=False)
    assert not product(x, 2.0).has_grads
    assert not same(dt.grid(3)).has_grads
    y = doubles([3, 4])
    r = product(x, y)
    r.grad.fill(1.0)
    product.bwds(x, y, _result=r)
    assert y.grad.to_numpy().tolist() == [1, 2]

    scale = doubles(2)
    scaled = dt.func(lambda x: scale[None] * x)
    assert scaled(x).has_grads
    assert type(scaled(3.0)) is float


# NN2


def test_a_linear_layer() -> None:
    w, b = doubles([[1, 2, 3], [4, 5, 6]]), doubles([0.5, -0.5])
    x = doubles([1, 2, 3])
    y = linear(w, b, x, dt.grid(2))
    assert y.to_numpy().tolist() == [14.5, 31.5]
    y.grad.from_numpy(np.array([1.0, 10]))
    linear.bwds(w, b, x, dt.grid(2), _result=y)
    assert w.grad.to_numpy().tolist() == [[1, 2, 3], [10, 20, 30]]
    assert b.grad.to_numpy().tolist() == [1, 10]
    assert x.grad.to_numpy().tolist() == [41, 52, 63]


# Broadcasting, against NumPy and the complex step


def check(
    f: Any, reference: Callable[..., Any], *arrays: Array, axes: dict[str, Any] | None = None
) -> None:
    """Compare values and gradients of a call on a tape with a function of NumPy."""
    called = f if axes is None else f.map(**axes)
    fields = [doubles(a) for a in arrays]
    with dt.Tape() as tape:
        r = called(*fields)
    wanted = reference(*arrays)
    assert r.shape == wanted.shape
    assert np.allclose(r.to_numpy(), wanted, rtol=1e-14)
    weights = np.random.default_rng(1).uniform(0.5, 1.5, wanted.shape)
    tape.backward({r: doubles(weights, grad=False)})
    for k, field in enumerate(fields):
        slopes = np.empty(arrays[k].shape)
        for at in np.ndindex(*arrays[k].shape):
            moved = [np.array(a, complex) for a in arrays]
            moved[k][at] += 1e-30j
            slopes[at] = np.sum(weights * reference(*moved).imag) / 1e-30
        assert np.allclose(field.grad.to_numpy(), slopes, rtol=1e-13), f"argument {k}"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((4,), (4,)),
        ((1,), (4,)),
        ((), (4,)),
        ((3, 4), (4,)),
        ((3, 4), (3, 1)),
        ((3, 1), (1, 4)),
        ((1, 1), (3, 4)),
        ((2, 3, 4), (3, 1)),
        ((2, 1, 4), (1, 3, 1)),
        ((3,), (2, 1, 1)),
    ],
)
def test_broadcasting(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    check(wave, lambda x, y: np.sin(x) * y + x, arange(*first), arange(*second) - 0.5)


def test_axes_are_mapped() -> None:
    x, y = arange(3), arange(4) - 0.5
    check(wave, lambda x, y: np.sin(x)[:, None] * y + x[:, None], x, y, axes={"x": (0,), "y": (1,)})
    z = arange(4, 3) - 0.5
    check(
        wave,
        lambda x, y: np.sin(x) * y.T + x,
        arange(3, 4),
        z,
        axes={"y": (1, 0)},
    )
    assert same.map(i=(1, 0))(arange(2, 3)).tolist() == arange(2, 3).T.tolist()
    table = doubles([10, 20, 30])
    picked = dt.func(lambda t, k: t[k]).map(t=None)
    r = picked(table, np.array([2, 0, 2], np.int32))
    assert r.to_numpy().tolist() == [30, 10, 30]
    r.grad.fill(1.0)
    picked.bwds(table, np.array([2, 0, 2], np.int32), _result=r)
    assert table.grad.to_numpy().tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("shape", "given"),
    [
        ((1_000_000,), (1,)),
        ((1_000_000,), ()),
        ((1000, 1000), (1, 1)),
        ((1000, 1000), (1000,)),
        ((1000, 1000), (1000, 1)),
        ((500_000, 2), (2,)),
        ((2, 500_000), (2, 1)),
        ((100, 100, 100), (1, 100, 1)),
    ],
)
def test_sums_of_a_million_elements(shape: tuple[int, ...], given: tuple[int, ...]) -> None:
    """Numbers that are all alike are the hardest: their roundings are, too."""
    drawn = np.random.default_rng(2).random(shape, np.float32)
    for values in (drawn, np.full(shape, 0.1, np.float32), np.full(shape, 1e-6, np.float32)):
        x, a = dt.from_numpy(values), dt.ones(given, grad=True)
        r = product(x, a)
        r.grad.fill(1.0)
        product.bwds(x, a, _result=r)
        axes = tuple(range(len(shape) - len(given)))
        wanted = values.sum(axes, np.float64)
        wanted = wanted.sum(tuple(k for k, n in enumerate(given) if n == 1), keepdims=True)
        assert np.abs(a.grad.to_numpy() / wanted - 1).max() < 1e-6


# Elements


@dt.func
def rotated(m, v):
    return m @ v + vec2(1.0, 2.0) * v.norm()


def test_vectors_and_matrices() -> None:
    rng = np.random.default_rng(3)
    m, v = rng.random((1, 2, 2)), rng.random((3, 2))
    ms = dt.from_numpy(m, dt.mat(2, 2, ti.f64), grad=True)
    vs = dt.from_numpy(v, dt.vec(2, ti.f64), grad=True)
    r = rotated(ms, vs)
    assert r.element == vs.element
    norms = np.sqrt((v * v).sum(1))[:, None]
    assert np.allclose(r.to_numpy(), v @ m[0].T + norms * [1, 2])
    r.grad.fill(1.0)
    rotated.bwds(ms, vs, _result=r)
    assert np.allclose(ms.grad.to_numpy()[0], [v.sum(0), v.sum(0)])
    assert np.allclose(vs.grad.to_numpy(), m[0].sum(0) + 3 * v / norms)


def test_constant_vectors() -> None:
    @dt.func
    def pulled(x: vec2, towards, k: float):
        return k * (towards - x)

    found = pulled(np.zeros((3, 2), np.float32), ti.Vector([1.0, 2.0]), 2)
    assert found.tolist() == [[2, 4]] * 3


Particle = ti.types.struct(pos=vec2, m=ti.f32)


@dt.func
def moved(p, dt_, g):
    return Particle(pos=p.pos + dt_ * g * vec2(0.0, -1.0) / p.m, m=p.m)


def test_structs() -> None:
    p = dt.field(Particle, 3, grad=True)
    p.pos.from_numpy(np.arange(6.0, dtype=np.float32).reshape(3, 2))
    p.m.fill(2.0)
    g = dt.full(1, 10.0, grad=True)
    q = moved(p, 0.5, g)
    assert isinstance(q, dt.StructField)
    assert q.pos.to_numpy().tolist() == [[0, -1.5], [2, 0.5], [4, 2.5]]
    q.pos.grad.fill(1.0)
    moved.bwds(p, 0.5, g, _result=q)
    assert g.grad.to_numpy().tolist() == [-0.75]
    assert p.pos.grad.to_numpy().tolist() == [[1, 1]] * 3
    assert p.m.grad.to_numpy().tolist() == [1.25] * 3
    into = dt.field(Particle, 3)
    assert moved(p, 0.5, g, _result=into) is into
    assert into.pos.to_numpy().tolist() == q.pos.to_numpy().tolist()
    one = dt.field(Particle, ())
    one.m.fill(4.0)
    assert moved(one, 0.5, np.ones(2, np.float32)).shape == (2,)
    assert set(moved.return_type("numpy")(p, 0.5, g)) == {"pos", "m"}


def test_tuples_of_results() -> None:
    @dt.func
    def both(x, y):
        return x + y, x * y

    x, y = doubles([1, 2]), doubles([3, 4])
    total, times = both(x, y)
    assert (total.to_numpy().tolist(), times.to_numpy().tolist()) == ([4, 6], [3, 8])
    total.grad.fill(1.0)
    times.grad.fill(10.0)
    both.bwds(x, y, _result=(total, times))
    assert x.grad.to_numpy().tolist() == [31, 41]
    first, second = both.return_type("numpy")(x, y)
    assert first.tolist() == [4, 6]
    assert second.tolist() == [3, 8]


# Arguments


def test_arrays_are_constants() -> None:
    x = doubles([[1, 2], [3, 4]])
    given = np.array([10.0, 20])
    with dt.Tape() as tape:
        r = product(x, given)
        given[:] = 0  # the call has its own copy
    tape.backward({r: dt.ones((2, 2), ti.f64)})
    assert r.to_numpy().tolist() == [[10, 40], [30, 80]]
    assert x.grad.to_numpy().tolist() == [[10, 20], [10, 20]]
    strided = np.arange(8.0)[::2]
    assert product(strided, 2).tolist() == [0, 4, 8, 12]
    flags = dt.func(lambda x, on: x if on else -x)
    assert flags(np.ones(2), np.array([True, False])).tolist() == [1, -1]
    assert flags(np.ones(2), False).tolist() == [-1, -1]


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    x = doubles([1, 2, 3])
    r = product(x, torch.tensor([2.0, 3.0, 4.0], dtype=torch.float64))
    assert r.to_numpy().tolist() == [2, 6, 12]
    found = product.return_type("torch")(x, 2.0)
    assert isinstance(found, torch.Tensor)
    with pytest.raises(dt.LaunchError, match="requires a gradient"):
        product(x, torch.ones(3, requires_grad=True))


def test_tensors_by_their_surface(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interface of a tensor, for tests without torch."""

    class Tensor:
        __module__ = "torch"
        requires_grad = False

        shape = (2,)

        def __dlpack__(self, **kwargs: Any) -> Any:
            return np.array([2.0, 3.0]).__dlpack__(**kwargs)

        def __dlpack_device__(self) -> tuple[int, int]:
            return 1, 0

    assert product.return_type("numpy")(Tensor(), 2.0).tolist() == [4, 6]
    Tensor.requires_grad = True
    with pytest.raises(dt.LaunchError, match="'x' is a tensor that requires a gradient"):
        product(Tensor(), 2.0)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(dt.LaunchError, match="needs torch, which is not installed"):
        product.return_type("torch")(np.ones(2), 2.0)


def test_parts_of_fields() -> None:
    x = doubles(arange(4, 4))
    with dt.Tape() as tape:
        r = product(x[::2, 1:3], x[1, :2])
    assert r.to_numpy().tolist() == [[10, 18], [50, 66]]
    tape.backward({r: dt.ones((2, 2), ti.f64)})
    wanted = np.zeros((4, 4))
    wanted[::2, 1:3] += [5, 6]
    wanted[1, :2] += [2 + 10, 3 + 11]
    assert x.grad.to_numpy().tolist() == wanted.tolist()


def test_functions_and_methods() -> None:
    apply = dt.func(lambda f, x: f(x))
    assert apply(ti.sin, np.zeros(2)).tolist() == [0, 0]
    assert apply(dt.func(lambda x: 2 * x), 4.0) == 8.0
    assert dt.func(lambda x, /, *, by=3: x * by)(np.ones(2)).tolist() == [3, 3]
    assert dt.func(lambda x, /, *, by=3: x * by)(np.ones(2), by=4).tolist() == [4, 4]

    @dt.data_oriented
    class Spring:
        def __init__(self) -> None:
            self.k = 2.0

        @dt.func
        def force(self, x):
            return -self.k * x

    spring = Spring()
    assert spring.force(np.ones(2)).tolist() == [-2, -2]
    spring.k = 3.0
    assert spring.force(np.ones(2)).tolist() == [-3, -3]
    assert dt.safe_divide(1.0, 2.0) == 0.5


# DT12


def test_grids() -> None:
    assert same(dt.grid(4)).to_numpy().tolist() == [0, 1, 2, 3]
    pairs = [[[0, 0], [0, 1], [0, 2]], [[1, 0], [1, 1], [1, 2]]]
    assert same(dt.grid((2, 3))).to_numpy().tolist() == pairs
    assert same(dt.grid(2, 3)).to_numpy().tolist() == pairs
    found = product(dt.call_id(), np.ones((2, 3), np.int32))
    assert found.tolist() == pairs
    assert product(dt.grid(3), np.ones((2, 3), np.int32)).tolist() == [[0, 1, 2]] * 2
    r = dt.zeros(3, ti.i32)
    same(dt.call_id(), _result=r)
    assert r.to_numpy().tolist() == [0, 1, 2]
    same(7, _result=r)
    assert r.to_numpy().tolist() == [7, 7, 7]


def test_kernels_of_one_index() -> None:
    @dt.kernel
    def shaded(i, src, dst, k: float):
        if i[0] == 1 and i[1] == 2:
            return
        total = 0.0
        for d in range(2):
            total += src[i[0], i[1]] * (d + 1)
        dst[i] = k * total

    src, dst = doubles(arange(2, 3)), doubles(np.zeros((2, 3)))
    shaded(dt.grid((2, 3)), src, dst, 2)
    assert dst.to_numpy().tolist() == [[6, 12, 18], [24, 30, 0]]
    dst.grad.fill(1.0)
    shaded.bwds(dt.grid((2, 3)), src, dst, 2)
    assert src.grad.to_numpy().tolist() == [[6, 6, 6], [6, 6, 0]]
    shaded(dt.grid((1, 3)), src, dst, 1)
    assert dst.to_numpy().tolist() == [[3, 6, 9], [24, 30, 0]]

    @dt.kernel
    def counted(n, total):
        total[None] += n

    total = dt.zeros((), ti.i32)
    counted(dt.grid(100), total)
    counted(dt.grid(10), total)
    assert total[None] == 4950 + 45


def test_a_func_that_returns_nothing() -> None:
    @dt.func
    def scattered(x, at, into: ti.template()):
        if x > 2.0:
            return
        into[at] += x

    into, x = doubles([0, 0]), doubles([1, 2, 3])
    at = np.array([1, 1, 0], np.int32)
    with dt.Tape() as tape:
        assert scattered(x, at, into) is None
    assert into.to_numpy().tolist() == [0, 3]
    tape.backward({into: doubles([5, 7], grad=False)})
    assert x.grad.to_numpy().tolist() == [7, 7, 0]


def test_drawn_numbers() -> None:
    first = same(dt.rand(7), _result=dt.zeros(1000, ti.f64)).to_numpy()
    again = product(dt.rand(7), np.ones(1000))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, product(dt.rand(8), np.ones(1000)))
    assert 0 <= first.min() < 0.01
    assert 0.99 < first.max() < 1
    normal = product(dt.randn(7), np.ones(20_000))
    assert abs(normal.mean()) < 0.03
    assert abs(normal.std() - 1) < 0.03


# Tapes, rules, compiling


def test_funcs_with_rules() -> None:
    @dt.func
    def clipped(x):
        return min(x, 1.0)

    @clipped.backward
    def _(x, d_out):
        return 3.0 * d_out

    x = doubles([0.5, 2.0])
    with dt.Tape() as tape:
        r = clipped(x)
    tape.backward({r: dt.ones(2, ti.f64)})
    assert x.grad.to_numpy().tolist() == [3, 3]
    hard = dt.straight_through(ti.floor, x)
    assert hard.to_numpy().tolist() == [0, 2]
    assert dt.surrogate(hard=lambda x: 2.0 * x, soft=lambda x: x)(x).to_numpy().tolist() == [1, 4]


def test_kernels_of_one_index_with_rules() -> None:
    @dt.kernel
    def squared(i, src, dst):
        dst[i] = src[i] * src[i]

    @squared.backward
    def _(i, src, dst):
        src.grad_out[i] += 5.0 * dst.grad_in[i]

    src, dst = doubles([1, 2]), doubles([0, 0])
    with dt.Tape() as tape:
        squared(dt.grid(2), src, dst)
    tape.backward({dst: dt.ones(2, ti.f64)})
    assert dst.to_numpy().tolist() == [1, 4]
    assert src.grad.to_numpy().tolist() == [5, 5]


@dt.kernel
def total(r, loss):
    for i in r:
        loss[None] += r[i]


def test_calls_within_a_limit_of_memory() -> None:
    x, loss = doubles([0.5, 2.0]), doubles(0)
    gradients: list[Array] = []
    for memory in (None, "256B"):
        x.grad.clear()
        loss.fill(0)
        with dt.Tape(loss, memory=memory):
            y = x
            for _ in range(20):
                y = wave(y, x)
            total(y, loss)
        gradients.append(x.grad.to_numpy())
    assert np.allclose(*gradients, rtol=1e-13)


def test_calls_in_transformed_functions() -> None:
    def energy(x: dt.Field) -> dt.Field:
        loss = doubles(0)
        total(product(product(x, x), x), loss)
        return loss

    x = doubles([1, 2, 3])
    assert np.allclose(dt.grad(energy)(x).to_numpy(), [3, 12, 27])
    loss = doubles(0)

    def program() -> None:
        loss.fill(0)
        total(wave(x, x), loss)

    dt.gradcheck(program, [x], outputs=loss)


def test_other_numbers() -> None:
    x = np.array([1.0, 2.0, 3.0])
    above = dt.func(lambda x: x > 1.5)(x)
    assert above.tolist() == [False, True, True]
    half = product(dt.ones(3, ti.f16), 2.0)
    assert half.dtype == ti.f32
    assert product(dt.ones(3, ti.i64), 2).dtype == ti.i64


def test_calls_go_on_from_each_other() -> None:
    x = doubles([1, 2, 3])
    loss = doubles(0)
    with dt.Tape(loss):
        y = product(x, x)
        z = wave(y, x)
        total(z, loss)
    v = x.to_numpy()
    assert np.allclose(x.grad.to_numpy(), 2 * v * (np.cos(v**2) * v + 1) + np.sin(v**2), rtol=1e-14)


def test_a_cut_is_reported() -> None:
    x = doubles([1, 2])
    with dt.Tape(), pytest.warns(dt.GradientCut, match="return_type"):
        product.return_type("numpy")(x, 2.0)
    with dt.Tape(), warnings.catch_warnings():
        warnings.simplefilter("error")
        product.return_type("numpy")(np.ones(2), 2.0)


def test_one_kernel_for_all_shapes() -> None:
    f = dt.func(lambda x, y: x * y)
    g = dt.func(lambda x, y: x * y)
    made: list[str] = []
    real = compiling.CompiledProgram.__init__

    def counting(self: Any, program: Any, *args: Any, **options: Any) -> None:
        made.append(program.name)
        real(self, program, *args, **options)

    with mock.patch.object(compiling.CompiledProgram, "__init__", counting):
        for n in range(2, 22):
            f(dt.ones((n, 3)), dt.ones(3))
            f(dt.ones((3, n)), 1.0 + n)
        assert len(made) == 2
        counts: list[int] = []
        for n in range(2, 22):
            x, y = dt.ones((n, n + 1), grad=True), dt.ones((n, 1), grad=True)
            r = g(x, y)
            r.grad.fill(1.0)
            g.bwds(x, y, _result=r)
            assert y.grad.to_numpy().tolist() == [[n + 1]] * n
            counts.append(len(made))
        assert len(set(counts)) == 1


def test_debug_mode() -> None:
    try:
        dt.init(debug=True)
        x, table = doubles([1, 2]), doubles([5, 6])
        assert product(x, x[:1]).to_numpy().tolist() == [1, 2]
        with pytest.raises(dt.KernelError, match="out of range"):
            dt.func(lambda t, k: t[k]).map(t=None)(table, np.array([0, 2], np.int32))
    finally:
        dt.init()
