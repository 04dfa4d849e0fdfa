"""The programs of `tests/programs/` as plain Python: the meaning of the text without difftile.

The modules are executed once more, with stand-ins for `taichi`, `difftile` and a few builtins, all
in NumPy. A kernel is then a Python function whose loops run in order. Only constructs without an
equivalent in Python are rewritten: locals hold values and not references, and an atomic operation
changes its first argument.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib.util
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np


class Unavailable(Exception):
    """The stand-ins lack something that a program uses."""


class Namespace(SimpleNamespace):
    """The stand-in for a module; missing attributes are reported by name."""

    def __getattr__(self, name: str) -> Any:
        raise Unavailable(name)


# Vectors and matrices

_LETTERS = {letter: k for letters in ("xyzw", "rgba") for k, letter in enumerate(letters)}


class Small(np.ndarray):
    """A small vector or matrix."""

    def __getattr__(self, name: str) -> Any:
        if name in ("n", "m"):
            return self.shape[0 if name == "n" else 1]
        picks = [_LETTERS.get(letter) for letter in name]
        if None in picks or self.ndim != 1:
            raise AttributeError(name)
        return self[picks[0]] if len(picks) == 1 else self[picks].copy()

    def __setattr__(self, name: str, value: Any) -> None:
        picks = [_LETTERS[letter] for letter in name]
        self[picks if len(picks) > 1 else picks[0]] = value

    def norm(self, eps: float = 0) -> Any:
        return np.sqrt(self.norm_sqr() + eps)

    def norm_inv(self, eps: float = 0) -> Any:
        return 1 / np.sqrt(self.norm_sqr() + eps)

    def norm_sqr(self) -> Any:
        return np.sum(np.asarray(self) ** 2)

    def normalized(self, eps: float = 0) -> Any:
        return self / (self.norm() + eps) if self.norm() + eps else self * 0

    def cross(self, other: Any) -> Any:
        if len(self) == 2:
            return self[0] * other[1] - self[1] * other[0]
        (a, b, c), (d, e, f) = self, other  # quicker than np.cross
        return np.array([b * f - c * e, c * d - a * f, a * e - b * d]).view(Small)

    def outer_product(self, other: Any) -> Any:
        return np.outer(self, other).view(Small)

    def determinant(self) -> Any:
        return np.linalg.det(np.asarray(self))

    def inverse(self) -> Any:
        if not self.determinant():
            return self * np.nan
        return np.linalg.inv(np.asarray(self)).view(Small)

    def cast(self, type_: Any) -> Any:
        return type_(self)


def small(values: Any, dtype: Any = None) -> Small:
    """Return a vector or matrix of nested numbers and vectors."""
    return np.array(values, dtype).view(Small)


class Number:
    """A number type: casts, as `ti.f32(x)` does."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)

    def __call__(self, value: Any = 0) -> Any:
        if isinstance(value, np.ndarray):
            return value.astype(self.dtype).view(Small)
        if self.dtype.kind == "b":
            return bool(value)
        if self.dtype.kind in "iu":
            return int(value)
        return np.float64(self.dtype.type(value))


class Shaped:
    """A type of vectors or matrices; numbers of one kind become floats of double precision."""

    def __init__(self, shape: tuple[int, ...], whole: bool = False) -> None:
        self.shape, self.whole = shape, whole

    def __call__(self, *parts: Any) -> Small:
        flat = np.concatenate([np.ravel(np.asarray(part)) for part in parts])
        flat = flat.astype(np.int64 if self.whole else np.float64)
        if flat.size == 1:
            return np.full(self.shape, flat[0]).view(Small)
        return flat.reshape(self.shape).view(Small)


# Fields


class PlainField:
    """A field: indexed like one, its loop variable is the index."""

    def __init__(self, values: np.ndarray, element: tuple[int, ...]) -> None:
        self.values = values
        self.ndim = values.ndim - len(element)
        self.shape = values.shape[: self.ndim]
        self.is_number = not element

    def at(self, index: Any) -> tuple[int, ...]:
        if index is None:
            return ()
        parts = index if isinstance(index, (tuple, np.ndarray)) else (index,)
        flat = [k for part in parts for k in (part if np.ndim(part) else (part,))]
        assert all(0 <= k < size for k, size in zip(flat, self.shape, strict=True)), flat
        return tuple(int(k) for k in flat)

    def __getitem__(self, index: Any) -> Any:
        found = self.values[self.at(index)]
        if self.is_number:
            # A NumPy float, which divides by zero as the machine does; but Python's integers.
            return found if self.values.dtype.kind == "f" else found.item()
        return found.view(Small)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.values[self.at(index)] = value

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(ndrange(*self.shape))


class Picked:
    """An array with the slices and views of fields; its last axes belong to an element."""

    def __init__(self, values: np.ndarray, element: tuple[int, ...]) -> None:
        self.values, self.element = values, element

    def __getitem__(self, index: Any) -> Picked:
        return Picked(self.values[index], self.element)

    def view(self, *shape: int) -> Picked:
        return Picked(self.values.reshape((*shape, *self.element)), self.element)

    def broadcast_to(self, *shape: int) -> Picked:
        spread = np.broadcast_to(self.values, (*shape, *self.element))
        # NumPy locks arrays that repeat elements; adding to them one by one is right all the same.
        strided = np.lib.stride_tricks.as_strided(self.values, spread.shape, spread.strides)
        return Picked(strided, self.element)


def ndrange(*axes: Any) -> Any:
    ranges = [range(*axis) if isinstance(axis, tuple) else range(axis) for axis in axes]
    return ranges[0] if len(ranges) == 1 else itertools.product(*ranges)


def grouped(what: Any) -> Iterator[Small]:
    return (small(np.atleast_1d(index)) for index in what)


# Functions


def _variadic(function: Callable[..., Any], python: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*values: Any) -> Any:
        if any(isinstance(value, np.ndarray) for value in values):
            return functools.reduce(function, values)
        return python(*values)

    return apply


_max, _min = _variadic(np.maximum, builtins.max), _variadic(np.minimum, builtins.min)


def _mod(a: Any, b: Any) -> Any:
    return a - b * np.floor(a / b)


def _power(a: Any, b: Any) -> Any:
    return np.power(np.asarray(a, float), b)[()]


def _clamp(x: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


def _select(cond: Any, a: Any, b: Any) -> Any:
    return np.where(cond, a, b).view(Small) if np.ndim(a) or np.ndim(b) else (a if cond else b)


def _vector(values: Any, dt: Any = None) -> Small:
    return small(values, None if dt is None else dt.dtype)


def _smoothstep(low: Any, high: Any, x: Any) -> Any:
    t = _clamp((x - low) / (high - low), 0.0, 1.0)
    return t * t * (3 - 2 * t)


def _refract(x: Any, n: Any, eta: Any) -> Any:
    cosine = np.dot(n, x)
    k = 1 - eta * eta * (1 - cosine * cosine)
    return x * 0 if k < 0 else eta * x - (eta * cosine + np.sqrt(k)) * n


_SHARED = {
    name: getattr(np, name)
    for name in (
        "sin",
        "cos",
        "tan",
        "tanh",
        "exp",
        "log",
        "sqrt",
        "floor",
        "ceil",
        "isnan",
        "isinf",
    )
} | {
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan2": np.arctan2,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "abs": np.abs,
    "round": lambda x: np.trunc(x + np.copysign(0.5, x)),  # ties go away from zero
    "max": _max,
    "min": _min,
    "pow": _power,
    "select": _select,
}

# The value that an atomic operation stores, of that before and the other argument.
_ATOMICS: dict[str, Callable[[Any, Any], Any]] = {
    "atomic_add": operator.add,
    "atomic_sub": operator.sub,
    "atomic_mul": operator.mul,
    "atomic_max": _max,
    "atomic_min": _min,
    "atomic_and": operator.and_,
    "atomic_or": operator.or_,
    "atomic_xor": operator.xor,
}

TAICHI = Namespace(
    **_SHARED,
    **_ATOMICS,
    **{name: Number(name) for name in ("float16", "float32", "float64", "int32", "int64")},
    f16=Number(np.float16),
    f32=Number(np.float32),
    f64=Number(np.float64),
    i32=Number(np.int32),
    i64=Number(np.int64),
    u8=Number(np.uint8),
    u32=Number(np.uint32),
    u1=Number(np.bool_),
    static=lambda *values: values if len(values) > 1 else values[0],
    zero=lambda value: value * 0,
    one=lambda value: value * 0 + 1,
    ndrange=ndrange,
    grouped=grouped,
    loop_config=lambda **options: None,
    cast=lambda value, type_: type_(value),
    template=lambda: None,
    Vector=Namespace(__call__=None),
    Matrix=Namespace(__call__=None),
    types=Namespace(
        vector=lambda n, dtype: Shaped((n,), getattr(dtype, "dtype", np.dtype(float)).kind in "iu"),
        matrix=lambda n, m, dtype: Shaped((n, m)),
    ),
    math=Namespace(
        **_SHARED,
        pi=math.pi,
        e=math.e,
        vec2=Shaped((2,)),
        vec3=Shaped((3,)),
        vec4=Shaped((4,)),
        ivec2=Shaped((2,), whole=True),
        ivec3=Shaped((3,), whole=True),
        mat2=Shaped((2, 2)),
        mat3=Shaped((3, 3)),
        mat4=Shaped((4, 4)),
        clamp=_clamp,
        mix=lambda x, y, t: x * (1 - t) + y * t,
        fract=lambda x: x - np.floor(x),
        sign=np.sign,
        mod=_mod,
        step=lambda edge, x: np.where(np.less(x, edge), 0.0, 1.0)[()],
        smoothstep=_smoothstep,
        degrees=np.degrees,
        radians=np.radians,
        log2=np.log2,
        dot=np.dot,
        cross=lambda a, b: a.cross(b),
        length=lambda a: a.norm(),
        distance=lambda a, b: (a - b).norm(),
        normalize=lambda a: a.normalized(),
        determinant=lambda a: a.determinant(),
        inverse=lambda a: a.inverse(),
        reflect=lambda x, n: x - 2 * np.dot(n, x) * n,
        refract=_refract,
        vdir=lambda angle: small([np.cos(angle), np.sin(angle)]),
    ),
)


class _Constructor:
    """`ti.Vector` and `ti.Matrix`."""

    def __getattr__(self, name: str) -> Any:
        raise Unavailable(name)

    def __call__(self, values: Any, dt: Any = None) -> Small:
        return _vector(values, dt)

    @staticmethod
    def zero(dtype: Any, *shape: int) -> Small:
        return np.zeros(shape, dtype(0).__class__).view(Small)

    @staticmethod
    def one(dtype: Any, *shape: int) -> Small:
        return np.ones(shape, dtype(0).__class__).view(Small)

    @staticmethod
    def identity(dtype: Any, n: int) -> Small:
        return np.eye(n).view(Small)


TAICHI.Vector = TAICHI.Matrix = _Constructor()


def _solve(a: Any, b: Any) -> Any:
    return np.linalg.solve(np.asarray(a), np.asarray(b)).view(Small)


def _cholesky(a: Any) -> Any:
    return np.linalg.cholesky((np.asarray(a) + np.asarray(a).T) / 2).view(Small)


def _logsumexp(*values: Any) -> Any:
    return np.logaddexp.reduce(values[0] if len(values) == 1 else np.array(values))


DIFFTILE = Namespace(
    func=lambda f: f,
    kernel=lambda f: f,
    vec=lambda n, *_: Shaped((n,)),
    sigmoid=lambda x: 1 / (1 + np.exp(-x)),
    logit=lambda x: np.log(x / (1 - x)),
    softplus=lambda x, beta=1: np.logaddexp(0, beta * x) / beta,
    log1p=np.log1p,
    expm1=np.expm1,
    logsumexp=_logsumexp,
    safe_divide=lambda n, d, eps=1e-8: n / np.copysign(np.maximum(np.abs(d), eps), d),
    safe_norm=lambda v, eps=1e-8: max(v.norm(), eps),
    stop_grad=lambda x: x,
    inverse=lambda a: a.inverse(),
    solve=_solve,
    solve_triangular=lambda a, b, lower=True: _solve(np.tril(a) if lower else np.triu(a), b),
    cholesky=_cholesky,
)
TAICHI.solve = _solve
MATH = SimpleNamespace(**{name: _SHARED.get(name, getattr(math, name)) for name in dir(math)})
MATH.__dict__.update(pow=math.pow, fmod=math.fmod)


# Programs


class _Values(ast.NodeTransformer):
    """Let locals hold values, not references into fields or into each other."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        if all(isinstance(target, (ast.Name, ast.Tuple)) for target in node.targets):
            node.value = _call("_own", node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        if node.value is None:  # a member of a class
            return node
        value = _call("_own", ast.Call(node.annotation, [node.value], []))
        return ast.Assign([node.target], value)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        load = ast.Name(node.target.id, ast.Load())
        return ast.Assign([node.target], ast.BinOp(load, node.op, node.value))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Let an atomic operation change its target; its value is what was there."""
        self.generic_visit(node)
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in _ATOMICS:
            return node
        target, value = node.args
        if isinstance(target, ast.Name):
            old = ast.Name(target.id, ast.Load())
            new = ast.Call(node.func, [old, value], [])
            stored = ast.NamedExpr(ast.Name(target.id, ast.Store()), new)
            both = ast.Tuple([_call("_own", old), stored], ast.Load())
            return ast.Subscript(both, ast.Constant(0), ast.Load())
        if isinstance(target, ast.Attribute):
            return _call("_changed", target.value, ast.Constant(target.attr), node.func, value)
        assert isinstance(target, ast.Subscript)
        return _call("_changed", target.value, target.slice, node.func, value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        names = [a.arg for a in (*node.args.args, *node.args.kwonlyargs)]
        own = [
            ast.Assign([ast.Name(name, ast.Store())], _call("_own", ast.Name(name, ast.Load())))
            for name in names
        ]
        node.body[:0] = own
        return node


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])


def _own(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_own(part) for part in value)
    return value.copy() if isinstance(value, np.ndarray) else value


def _changed(whole: Any, at: Any, op: Callable[[Any, Any], Any], value: Any) -> Any:
    """Set an element, or a component with a name, to `op(old, value)`; return the old one."""
    get, put = (getattr, setattr) if isinstance(at, str) else (operator.getitem, operator.setitem)
    old = _own(get(whole, at))
    put(whole, at, op(old, value))
    return old


@functools.cache
def names_of(module: str) -> dict[str, Any]:
    """Return the names of a module of programs, executed as plain Python."""
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    with open(spec.origin, encoding="utf-8") as file:
        tree = _Values().visit(ast.parse(file.read()))

    def described(*args: Any, **kwargs: Any) -> Any:
        """Stand in for `program(...)`, which decorates, and for the descriptions in it."""
        return lambda function: function

    harness = SimpleNamespace(
        **dict.fromkeys(
            ("program", "array", "floats", "ints", "same", "part", "structs", "held"), described
        )
    )
    modules = {"taichi": TAICHI, "difftile": DIFFTILE, "math": MATH, "tests.harness": harness}

    def imported(name: str, *args: Any, **kwargs: Any) -> Any:
        return modules.get(name) or builtins.__import__(name, *args, **kwargs)

    changed = {
        "__import__": imported,
        "max": _max,
        "min": _min,
        "float": Number(np.float64),
        "int": _whole,
        "range": _range,
    }
    names: dict[str, Any] = {
        "__builtins__": {**vars(builtins), **changed},
        "__name__": module,
        "_own": _own,
        "_changed": _changed,
    }
    exec(compile(ast.fix_missing_locations(tree), spec.origin, "exec", dont_inherit=True), names)
    return names


def _whole(value: Any) -> Any:
    return value.astype(np.int32).view(Small) if isinstance(value, np.ndarray) else int(value)


def _range(*bounds: Any) -> range:
    return range(0) if bounds[2:] == (0,) else range(*bounds)
