"""Values of Python: those of Taichi where it has them, and those of kernels everywhere."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import lang as ti
from difftile.diagnostics import LaunchError, UnknownName
from difftile.lang import names
from difftile.ops.table import NAMED
from difftile.ops.vocabulary import OpName

taichi = pytest.importorskip("taichi", reason="Taichi is not installed")

RNG = np.random.default_rng(5)
X, Y = RNG.uniform(0.1, 0.9, (2, 3))
A, B = RNG.uniform(-2, 2, (2, 3, 3))
K, L = RNG.integers(1, 9, (2, 3))

BINARY = [
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
    *(operator.mod, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
]
OF_INTEGERS = [operator.and_, operator.or_, operator.xor, operator.rshift]
METHODS: list[tuple[str, int]] = [
    *(("norm", 0), ("norm_sqr", 0), ("norm_inv", 0), ("normalized", 0), ("sum", 0), ("max", 0)),
    *(("min", 0), ("any", 0), ("all", 0), ("dot", 1), ("cross", 1), ("outer_product", 1)),
    *(("to_list", 0), ("get_shape", 0), ("to_numpy", 0)),
]


def same(ours: Any, theirs: Any, rtol: float = 1e-14) -> None:
    """Compare numbers, or vectors and matrices by kind, type and components."""
    ours_array, theirs_array = np.asarray(ours), np.asarray(theirs)
    assert ours_array.shape == theirs_array.shape
    assert ours_array.dtype == theirs_array.dtype
    np.testing.assert_allclose(ours_array, theirs_array, rtol=rtol)


@pytest.mark.parametrize("function", [*BINARY, *OF_INTEGERS])
def test_operators_are_those_of_taichi(function: Any) -> None:
    pairs = [(K, L), (K, 3), (3, K)]
    if function in BINARY:
        pairs += [(X, Y), (X, K), (X, 2), (2, X), (X, 0.5), (A, B), (A, 2.0)]
    for a, b in pairs:
        ours, theirs = (
            function(*(one if np.isscalar(one) else kind(one.tolist()) for one in (a, b)))
            for kind in (ti.Matrix, taichi.Matrix)
        )
        assert isinstance(ours, ti.Matrix)
        same(ours, theirs.to_numpy())


def test_unary_operators_powers_and_products_are_those_of_taichi() -> None:
    for values in (X, K, A):
        ours, theirs = ti.Matrix(values.tolist()), taichi.Matrix(values.tolist())
        for function in (operator.neg, abs):
            same(function(ours), function(theirs).to_numpy())
    same(~ti.Vector(K.tolist()), (~taichi.Vector(K.tolist())).to_numpy())
    v, m = ti.Vector(X.tolist()), ti.Matrix(A.tolist())
    tv, tm = taichi.Vector(X.tolist()), taichi.Matrix(A.tolist())
    same(m @ m, (tm @ tm).to_numpy())
    same(m @ v, (tm @ tv).to_numpy())
    same(v**2.5, (tv**2.5).to_numpy())
    same(2**v, (2**tv).to_numpy())
    same(v**v, (tv**tv).to_numpy())
    same(m.transpose(), tm.transpose().to_numpy())
    same(m.trace(), tm.trace())
    same(m.inverse(), tm.inverse().to_numpy(), rtol=1e-12)


@pytest.mark.parametrize(("name", "count"), METHODS)
def test_methods_are_those_of_taichi(name: str, count: int) -> None:
    for one, other in ((X, Y), (K, L)):
        ours, theirs = (
            getattr(kind(one.tolist()), name)(*[kind(other.tolist())] * count)
            for kind in (ti.Vector, taichi.Vector)
        )
        theirs = theirs.to_numpy() if isinstance(theirs, taichi.Matrix) else theirs
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-14)


def test_components_are_those_of_taichi() -> None:
    made = [kind(X.tolist()) for kind in (ti.Vector, taichi.Vector)]
    for v in made:
        v[1] = 5
        v.x = 7.5
        v.zy = [1, 2]
    ours, theirs = made
    for letters in ("x", "zyx", "rg", "t", "xxy"):
        same(getattr(ours, letters), np.asarray(getattr(theirs, letters)))
    assert (ours.n, ours.m, len(ours)) == (theirs.n, theirs.m, len(theirs))
    assert list(ours) == list(theirs)
    assert ours.to_list() == theirs.to_list()
    m = ti.Matrix([[1, 2], [3, 4.5]])
    assert m[1, 1] == 4.5
    assert m[0].to_list() == [1, 2]
    assert m[:, 1].to_list() == [2, 4.5]
    assert [row.to_list() for row in m] == m.to_list()
    assert m[-1, -1] == 4.5


TYPES = [
    lambda t: t.math.vec3(1, 2, 3),
    lambda t: t.math.vec3(2.5),
    lambda t: t.math.vec4(t.math.vec2(1, 2), 3, 4),
    lambda t: t.math.mat2(1, 2, 3, 4),
    lambda t: t.math.mat2([1, 2], [3, 4]),
    lambda t: t.math.mat2([[1, 2], [3, 4]]),
    lambda t: t.math.mat3(1.5),
    lambda t: t.types.vector(2, t.i32)(1.7, -2.7),
    lambda t: t.types.vector(2, t.u8)([1, 2]),
    lambda t: t.types.matrix(1, 2, t.f64)([[1, 2]]),
    lambda t: t.math.ivec2(3, 4),
    lambda t: t.math.uvec3(3),
    lambda t: t.Matrix.rows([t.Vector([1, 2]), t.Vector([3, 4])]),
    lambda t: t.Matrix.cols([t.Vector([1, 2]), t.Vector([3, 4])]),
    lambda t: t.Matrix.diag(2, 3.5),
    lambda t: t.Vector([1.5, 2], dt=t.f32),
]


@pytest.mark.parametrize("make", TYPES)
def test_types_make_what_those_of_taichi_make(make: Any) -> None:
    np.testing.assert_array_equal(make(ti).to_numpy(), make(taichi).to_numpy())


def test_vectors_follow_their_data() -> None:
    """Taichi's `vec3` rounds to f32 in Python; ours has the type of the numbers, as in kernels."""
    assert ti.math.vec3(0.1).to_numpy().dtype == np.float64
    assert ti.math.vec3(np.float32(0.1)).to_numpy().dtype == np.float32
    assert ti.math.vec2(ti.math.vec2(0.5, np.float32(2))).to_numpy().dtype == np.float32
    assert ti.types.vector(3, ti.f32)(0.1).to_numpy().dtype == np.float32
    assert (ti.types.vector(3, ti.f32)(0.1) * 0.5).to_numpy().dtype == np.float32
    assert (ti.math.ivec3(1) * 0.5).to_numpy().dtype == np.float64


def test_structs_are_those_of_taichi() -> None:
    kinds: list[Any] = []
    for t in (ti, taichi):
        inner = t.types.struct(k=t.i32, w=t.math.vec2)
        kinds.append(t.types.struct(a=t.f32, v=t.math.vec3, n=inner))
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}),
        ((1,), {}),
        ((1, [1, 2, 3]), {}),
        ((), {"a": 0.1, "v": 2.0}),
        ((0.5,), {"v": [1, 2, 3]}),
    ]
    for args, named in calls:
        ours, theirs = (kind(*args, **named) for kind in kinds)
        assert ours.keys == list(theirs.keys)
        assert ours.a == theirs.a
        assert ours.v.to_list() == theirs.v.to_list()
        assert (ours.n.k, ours.n.w.to_list()) == (theirs.n.k, theirs.n.w.to_list())
    one = kinds[0](a=1)
    one.a = 3.0
    one.v = [4, 5, 6]
    assert one.v.y == 5
    assert one.to_dict()["a"] == 3.0
    free = ti.Struct(p=[1, 2], q=ti.Struct(r=1))
    assert free.p.sum() == 3
    assert free.q.r == 1
    assert ti.Struct({"a": 1}).a == 1


def test_structs_have_methods() -> None:
    @ti.dataclass
    class Ball:
        centre: ti.math.vec2
        radius: ti.f32

        @dt.func
        def reach(self, scale):
            return self.centre.norm() + self.radius * scale

        def name(self) -> str:
            return f"ball of {self.radius}"

    ball = Ball(centre=[3, 4], radius=2)
    assert ball.name() == "ball of 2.0"

    @dt.kernel
    def reach(b: Ball, out: dt.Field):
        out[None] = b.reach(10.0)

    out = dt.zeros((), ti.f64)
    reach(ball, out)
    assert out[None] == pytest.approx(25)
    taken = dt.field(Ball, 2)
    taken[1] = ball
    assert taken[1].radius == 2


# The functions of kernels, by the kind of their arguments

_VECTORS = ["math.dot", "math.cross", "math.length", "math.normalize", "math.distance"]
_NUMBERS = [
    *("sin", "cos", "tan", "asin", "acos", "tanh", "exp", "log", "sqrt", "rsqrt", "abs", "floor"),
    *("ceil", "round", "math.fract", "math.radians", "math.degrees", "math.sign", "math.log2"),
    *("math.isnan", "math.isinf", "atan2", "max", "min", "pow", "math.mod", "raw_div", "raw_mod"),
    *("math.step", "select", "math.mix", "math.clamp", "math.smoothstep", "bit_shr", "math.popcnt"),
    *("math.clz",),
]
_OF_BITS = ("bit_shr", "math.popcnt", "math.clz")
_MATRICES = ["math.determinant", "math.inverse"]
_COMPLEX = ["math." + name for name in "cconj cmul cdiv cinv cexp clog csqrt cpow".split()]
_MADE = [
    *("math.vdir", "math.translate", "math.scale", "math.rotation2d", "math.rot_by_axis"),
    *("math.rot_yaw_pitch_roll", "math.rotation3d", "math.reflect", "math.refract", "solve"),
]


def test_every_function_is_compared_with_kernels() -> None:
    known = {name for name, meaning in names.OF_LANGUAGE.items() if isinstance(meaning, OpName)}
    assert known | {"pow"} == {*_VECTORS, *_NUMBERS, *_MATRICES, *_COMPLEX, *_MADE}
    assert known == {name[3:] for name in NAMED if name.startswith("ti.")}


def in_kernel(expressions: list[str], **given: Any) -> list[Any]:
    """Return the values of expressions as a kernel computes them, in double precision."""
    names_given = ", ".join(given)
    lines = [f"    {name} = {name}_[None]" for name in given]
    values: list[Any] = [eval(text, {"ti": ti, **given}) for text in expressions]
    outs = [dt.from_numpy(np.zeros(np.shape(v), np.asarray(v).dtype)) for v in values]
    for k, (text, value) in enumerate(zip(expressions, values, strict=True)):
        if np.ndim(value):
            lines.append(f"    r{k} = {text}")
        cells = itertools.product(*map(range, np.shape(value)))
        lines += [
            f"    o{k}[{', '.join(map(str, cell))}] = r{k}[{', '.join(map(str, cell))}]"
            for cell in cells
            if cell
        ] or [f"    o{k}[None] = {text}"]
    return [values, outs, lines, names_given]


def _compare(tmp: Any, expressions: list[str], **given: Any) -> None:
    values, outs, lines, _ = in_kernel(expressions, **given)
    parameters = [f"{name}_" for name in given] + [f"o{k}" for k in range(len(outs))]
    text = "import difftile as dt\nfrom difftile import lang as ti\n\n\n@dt.kernel\n"
    text += f"def run({', '.join(parameters)}):\n" + "\n".join(lines) + "\n"
    file = tmp / "compared.py"
    file.write_text(text)
    scope: dict[str, Any] = {"__name__": "compared"}
    exec(compile(text, str(file), "exec", dont_inherit=True), scope)
    fields = [_field(value) for value in given.values()]
    scope["run"](*fields, *outs)
    for text, ours, out in zip(expressions, values, outs, strict=True):
        np.testing.assert_allclose(
            np.asarray(ours), out.to_numpy(), rtol=1e-9, atol=1e-12, err_msg=text
        )


def _field(value: Any) -> dt.Field:
    array = np.asarray(value)
    if not array.ndim:
        return dt.from_numpy(array)
    kind = ti.types.vector if array.ndim == 1 else ti.types.matrix
    return dt.from_numpy(array, kind(*array.shape, array.dtype))


def test_functions_of_numbers_are_those_of_kernels(tmp_path: Any) -> None:
    texts: list[str] = []
    arguments = {
        **{"atan2": "x, y", "max": "x, y, v.x", "min": "y, x", "pow": "x, y", "math.mod": "y, x"},
        **{"raw_div": "n, k", "raw_mod": "n, k", "math.step": "x, y", "select": "x < y, x, y"},
        **{"math.mix": "x, y, v.y", "math.clamp": "z, x, y", "math.smoothstep": "x, y, v.z"},
        **{"bit_shr": "n, k", "math.popcnt": "n", "math.clz": "k"},
    }
    for name in _NUMBERS:
        texts.append(f"ti.{name}({arguments.get(name, 'x')})")
    texts += ["ti.raw_div(y, x)", "ti.raw_mod(y, x)", "ti.floor(z)", "ti.round(z)", "ti.clz(k)"][:4]
    texts += [
        "ti.math.sign(z)",
        "ti.abs(z)",
        "z % x",
        "z // x",
        "n % k",
        "n // k",
        "n ** 2",
        "n / k",
    ]
    texts += [
        "k ** k",
        "n ** k",
        "ti.pow(k, n)",
        "ti.f32(x)",
        "ti.i32(z)",
        "ti.u8(n)",
        "ti.cast(z, ti.i64)",
    ]
    texts += ["ti.sin(v)", "ti.max(v, 0.4)", "ti.select(v < 0.5, v, 0.0)", "ti.math.mix(v, v, x)"]
    texts += [
        "v.norm(1e-3)",
        "v.norm_inv(eps=1e-3)",
        "v.normalized(0.5)",
        "v ** 2",
        "2.0 ** v",
        "-v",
    ]
    texts += ["v @ v", "v.zx", "ti.math.vec3(x, v.xy)", "ti.math.eye(2)", "ti.Vector.unit(3, 1)"]
    texts += [
        "w << 2",
        "2 << ti.abs(w)",
        "w >> 1",
        "~w",
        "w & 5",
        "w | 2",
        "w ^ 3",
        "w // 2",
        "w / 2",
    ]
    texts += [
        "w % 3",
        "w ** 3",
        "w.max()",
        "w.sum()",
        "w * x",
        "w.norm_sqr()",
        "-w",
        "abs(w)",
        "~(w < 4)",
        "(w < 4) + (w < 0)",
    ]
    x, y = np.float64(X[0]), np.float64(X[1])
    numbers = {
        "z": np.float64(-2.5),
        "n": np.int32(-7),
        "k": np.int32(3),
        "w": ti.math.ivec3(3, -4, 5),
    }
    _compare(tmp_path, texts, x=x, y=y, v=ti.Vector(Y.tolist()), **numbers)


def test_functions_of_vectors_and_matrices_are_those_of_kernels(tmp_path: Any) -> None:
    texts = [f"ti.{name}(u, v)" for name in ("math.dot", "math.cross", "math.distance")]
    texts += ["ti.math.length(u)", "ti.math.normalize(u)", "u.outer_product(v)", "u.xy.cross(v.xy)"]
    texts += [f"ti.{name}(m)" for name in _MATRICES]
    texts += ["m @ u", "u @ m", "m * m", "m.transpose()", "m.trace()", "m.sum()", "m.max()"]
    texts += [f"ti.{name}(u.xy, v.xy)" for name in ("math.cmul", "math.cdiv")]
    texts += [f"ti.math.{name}(u.xy)" for name in ("cconj", "cinv", "cexp", "clog", "csqrt")]
    texts += ["ti.math.cpow(u.xy, 1.7)", "ti.math.vdir(u.x)", "ti.math.translate(u.x, u.y, u.z)"]
    texts += ["ti.math.scale(u.x, u.y, u.z)", "ti.math.rotation2d(u.x)", "ti.solve(m, u)"]
    texts += ["ti.math.rot_by_axis(u, 0.7)", "ti.math.rot_yaw_pitch_roll(u.x, u.y, u.z)"]
    texts += ["ti.math.rotation3d(u.x, u.y, u.z)", "ti.math.reflect(u, ti.math.normalize(v))"]
    texts += ["ti.math.refract(u, ti.math.normalize(v), 0.8)", "m.inverse() @ m", "m.determinant()"]
    texts += ["ti.svd(m)[1]", "ti.polar_decompose(m)[0]", "ti.sym_eig(m + m.transpose())[0]"]
    texts += ["ti.svd(m)[0]", "ti.svd(m)[2]", "ti.zero(m)", "ti.one(u)", "m[1, :]", "m[1, 2]"]
    two = "ti.Matrix([[u.x, v.x], [v.y, u.y]])"
    texts += [f"ti.eig({two})[0]", f"ti.eig({two})[1]", "ti.Matrix.cols([u, v])"]
    u, v, m = ti.Vector(X.tolist()), ti.Vector(Y.tolist()), ti.Matrix(A.tolist())
    _compare(tmp_path, texts, u=u, v=v, m=m)


def test_arguments_and_captured_values_are_those_of_taichi() -> None:
    @dt.kernel
    def add(x: dt.Field, v, m):
        x[None] = v.dot(WEIGHTS) + m[0, 1] + GRAVITY.y

    for t in (ti, taichi):
        globals()["WEIGHTS"] = t.math.vec3(1, 10, 100)
        globals()["GRAVITY"] = t.Vector([0.0, -9.5])
        x = dt.zeros((), t.f64)
        add(x, t.math.vec3(1, 2, 3), t.Matrix([[1, 2], [3, 4]]))
        assert x[None] == 321 + 2 - 9.5


WEIGHTS: Any = None
GRAVITY: Any = None


def test_vectors_of_numbers_that_a_tape_follows() -> None:
    x = dt.full((), 3.0, ti.f64, grad=True)
    y = dt.zeros((), ti.f64, grad=True)

    @dt.kernel
    def total(y: dt.Field, v):
        y[None] = v.x + v.y

    made = {
        1.0: lambda a: ti.Vector([a, 2.0]),
        2.0: lambda a: 2.0 * ti.Vector([a, 3.0]) + 1.0,
        3.0: lambda a: ti.math.vec2(1, 2) * a,
        0.0: lambda a: ti.Vector([a, a]).normalized(),
        3 / 10**0.5: lambda a: ti.Vector([ti.Vector([a, 1.0]).norm(), 0.0]),
        8.0: lambda a: ti.Vector([ti.Vector([a, 1.0]).dot([a, 2.0]), 2 * a]),
        5.0: lambda a: ti.Matrix([[a, 1.0], [2.0, a]]) @ ti.Vector([1.0, 1.5]) * 2.0,
    }
    for slope, make in made.items():
        with dt.Tape(y):
            total(y, make(x[None]))
        assert x.grad[None] == pytest.approx(slope)
    for make in (lambda a: ti.math.vec2(float(a), 2), lambda a: ti.math.vec2(a, 2)):
        with dt.Tape(), pytest.warns(dt.GradientCut, match="gradient is cut"):
            total(y, make(x[None]))
    with dt.Tape(), pytest.raises(dt.LaunchError, match="in kernels and funcs only"):
        ti.Matrix([[x[None], 1.0], [2.0, 1.0]]).inverse()


# Conversions


def test_types_convert_as_in_kernels() -> None:
    assert ti.i32(2.7) == 2
    assert ti.i32(-2.7) == -2
    assert ti.u8(300) == 44
    assert ti.i8(200) == -56
    assert (ti.Vector([200, 1], ti.u8) * 2).to_list() == [400, 2]  # as beside literals
    assert ti.i32(1 << 40) == 0
    assert ti.u64(-1) == 2**64 - 1
    assert ti.f32(0.1) == np.float32(0.1)
    assert ti.f32(0.1).dtype == np.float32
    assert ti.u1(3) == True  # noqa: E712
    assert ti.u1(0.0) == False  # noqa: E712
    assert ti.cast(ti.Vector([1.5, -1.5]), int).to_list() == [1, -1]
    assert ti.f16(ti.Vector([0.1])).to_numpy().dtype == np.float16
    assert ti.f64(np.ones((2, 3, 4), np.float32)).shape == (2, 3, 4)
    assert ti.bit_cast(1.0, ti.i32) == 0x3F800000
    assert ti.bit_cast(np.int32(0x3F800000), ti.f32) == 1.0
    assert ti.math.clz(5) == 29  # as a literal of a kernel, 32 bits
    assert np.zeros(2, ti.f32).dtype == np.float32


def test_numbers_arrays_and_lists_give_their_own_kind() -> None:
    assert type(ti.sin(1.0)) is float
    assert type(ti.max(1, 2)) is int
    assert isinstance(ti.math.isnan(1.0), bool)
    assert isinstance(ti.sin(np.ones((2, 3, 4))), np.ndarray)
    assert isinstance(ti.math.dot(X, Y), np.floating)
    assert isinstance(ti.math.normalize([3.0, 4.0]), ti.Vector)
    assert ti.math.normalize(np.array([3.0, 4.0])).tolist() == [0.6, 0.8]
    assert isinstance(np.sin(ti.Vector([1.0])), ti.Vector)
    assert isinstance(np.float64(2) * ti.Vector([1.0]), ti.Vector)
    assert isinstance(np.ones(2) * ti.Vector([1.0, 2]), ti.Vector)
    assert list(ti.ndrange(2, (1, 3))) == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert [cell.to_list() for cell in ti.grouped(ti.ndrange(1, 2))] == [[0, 0], [0, 1]]
    assert ti.static(3) == 3
    v = w = ti.Vector([1, 2])
    v += 1
    assert w.to_list() == [1, 2]


def test_numbers_that_a_tape_follows_keep_their_derivative() -> None:
    x = dt.full((), 0.5, ti.f64, grad=True)
    with dt.Tape() as tape:
        y = dt.value(ti.sin(x[None]) + ti.max(x[None], 0.1))
        with pytest.raises(LaunchError, match="a tape follows"):
            ti.math.mix(x[None], 1.0, 0.5)
    tape.backward(y)
    assert x.grad[None] == pytest.approx(np.cos(0.5) + 1)


WRONG: list[tuple[Any, type[Exception], str]] = [
    (lambda: ti.Vector([1, 2]) + ti.Vector([1, 2, 3]), LaunchError, "shapes do not match"),
    (lambda: ti.Vector([1, 2]) + ti.Matrix([[1, 2], [3, 4]]), LaunchError, "shapes do not match"),
    (lambda: ti.Vector([1.0]) + ti.Vector([1, 2]), LaunchError, "shapes do not match"),
    (lambda: ti.Vector([1.5]) & 1, LaunchError, "expected integers"),
    (lambda: ti.Matrix([[1, 2], [3]]), LaunchError, "different lengths"),
    (lambda: ti.Vector([]), LaunchError, "a vector is a list of numbers"),
    (lambda: ti.Vector(["a"]), LaunchError, "expected numbers"),
    (lambda: ti.math.vec3(1, 2), LaunchError, "built from 3 numbers, not 2"),
    (lambda: ti.math.vec3("a"), LaunchError, "expected numbers"),
    (lambda: ti.i32(float("nan")), LaunchError, "not an integer"),
    (lambda: ti.i32(float("inf")), LaunchError, "not an integer"),
    (lambda: ti.sin("a"), LaunchError, "expected numbers"),
    (lambda: ti.sin(None), LaunchError, "expected numbers"),
    (lambda: ti.math.cross(X, [1, 2]), LaunchError, "two vectors|length"),
    (lambda: ti.math.determinant([[1, 2, 3], [4, 5, 6]]), LaunchError, "square"),
    (lambda: ti.Vector([1, 2]).w, UnknownName, "has no attribute 'w'"),
    (lambda: ti.Vector([1, 2])[5], IndexError, "out of bounds"),
    (lambda: ti.Vector([1, 2])[0, 0], IndexError, "takes 1 index"),
    (lambda: ti.Vector([1, 2]).__setitem__(0, 1.5), LaunchError, "not floats"),
    (lambda: ti.Matrix([[1, 2]])[0].__setitem__(0, 1), LaunchError, "is a copy"),
    (lambda: bool(ti.Vector([1, 2])), LaunchError, "neither true nor false"),
    (lambda: ti.types.vector(0, ti.f32), LaunchError, "1 component or more"),
    (lambda: ti.types.vector(2, "a"), LaunchError, "number type"),
    (ti.types.struct, LaunchError, "by name"),
    (lambda: ti.types.struct(a=3), LaunchError, "a type such as"),
    (lambda: ti.types.struct(a=ti.i32)(1.5), LaunchError, "does not fit"),
    (lambda: ti.types.struct(a=ti.i32)(b=1), LaunchError, "no member 'b'"),
    (lambda: ti.types.struct(a=ti.i32)(1, a=1), LaunchError, "twice"),
    (lambda: ti.types.struct(a=ti.i32)(1, 2), LaunchError, "1 members?, not 2"),
    (lambda: ti.types.struct(a=ti.math.vec3)([1, 2]), LaunchError, "holds vec3"),
    (ti.Struct, LaunchError, "members by name"),
    (lambda: ti.Struct(a=1).b, UnknownName, "no member 'b'"),
    (lambda: setattr(ti.Struct(a=1), "b", 2), UnknownName, "no member 'b'"),
    (lambda: ti.atomic_add(1, 2), LaunchError, "in kernels and funcs"),
    (ti.random, LaunchError, "numpy.random"),
    (lambda: ti.loop_config(serialize=True), LaunchError, "in kernels"),
    (lambda: ti.Vector.field(3, ti.f32, 8), UnknownName, "dt.field"),
    (lambda: ti.Struct.field({}, 8), UnknownName, "dt.field"),
    (lambda: ti.math.vec3.field(8), UnknownName, "dt.field"),
    (lambda: ti.types.struct(a=ti.f32).field(8), UnknownName, "dt.field"),
    (lambda: ti.eig(np.eye(3)), LaunchError, "2x2"),
]


@pytest.mark.parametrize(("wrong", "kind", "text"), WRONG)
def test_mistakes_are_said(wrong: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        wrong()
