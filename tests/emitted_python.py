"""Emitted source as Python runs it, without a compiler: its statements are Python's as well.

Floats are in double precision. Of a value the compiler makes a copy where Python has another name
for it; the lanes of a warp are threads of Python, which wait for each other where they exchange
values.
"""

from __future__ import annotations

import ast
import math
import operator
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import BrokenBarrierError
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.passes.tile_rows import TILE

Values = npt.NDArray[Any]
WARP = 32


class NotPython(Exception):
    """The source calls a function that is not known here."""


class Vector(np.ndarray):
    """A vector, a matrix, or an array of a thread."""

    def dot(self, other: Any) -> Any:  # pyrefly: ignore[bad-override]
        return (self * other).sum()

    def cross(self, other: Any) -> Any:
        return np.cross(self, other).view(Vector)

    def outer_product(self, other: Any) -> Any:
        return np.outer(self, other).view(Vector)

    def norm(self) -> Any:
        return np.sqrt((np.asarray(self) ** 2).sum())

    def determinant(self) -> Any:
        return np.linalg.det(self)

    def __matmul__(self, other: Any) -> Any:
        return np.matmul(np.asarray(self), np.asarray(other)).view(Vector)


class Component(Vector):
    """A vector in an element of a field, which components are written to."""

    memory: Values

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value)
        self.memory[index] = value


class Unordered(Exception):
    """Lanes touch one element, and do not meet in between."""


class _Touched:
    """Who touched the elements of an array since the lanes of a warp have met."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[Any, set[int], set[str]]] = {}
        self._lock = threading.Lock()

    def note(self, index: Any, act: str) -> None:
        """Note an access of this lane; those that go together are reads, and additions."""
        number = _HERE
        if not hasattr(number, "lane"):
            return
        when = number.warp, number.met
        with self._lock:
            since, who, acts = self._known.get(index, (when, set[int](), set[str]()))
            if since != when:
                who, acts = set[int](), set[str]()
            who, acts = who | {number.lane}, acts | {act}
            self._known[index] = when, who, acts
        if len(who) > 1 and (len(acts) > 1 or act == "write"):
            raise Unordered(f"lanes {sorted(who)}: {' and '.join(sorted(acts))} of [{index}]")


_HERE = threading.local()
"""The lane of a thread of Python, its warp, and how often it has met the others."""


class Shared:
    """An array that the lanes of a warp share.

    Args:
        count: Its length.
    """

    def __init__(self, count: int) -> None:
        self._values: list[Any] = [math.nan] * count
        self._touched = _Touched()
        self._lock = threading.Lock()

    def __getitem__(self, index: int) -> Any:
        self._touched.note(index, "read")
        return self._values[index]

    def __setitem__(self, index: int, value: Any) -> None:
        if not 0 <= index < len(self._values):
            raise IndexError(index)
        self._touched.note(index, "write")
        self._values[index] = value

    def change(self, index: int, value: Any, op: Callable[[Any, Any], Any]) -> Any:
        """Change an element in one step."""
        self._touched.note(index, "atomic")
        with self._lock:
            before = self._values[index]
            self._values[index] = op(before, value)
            return before


class Memory:
    """A field as an argument of a kernel.

    Args:
        values: The contents, components of elements last.
        ndim: The axes of the field.
        least: The least number of axes that the source gives.
    """

    def __init__(self, values: Values, ndim: int, least: int) -> None:
        self._values = values.reshape((1,) * max(0, least - ndim) + values.shape)
        self._ndim = max(ndim, least)
        self.shape = self._values.shape[: self._ndim]
        self._touched = _Touched()
        self._lock = threading.Lock()

    def _at(self, index: Any) -> Any:
        given = () if index is None else index if isinstance(index, tuple) else (index,)
        place = tuple(int(k) for one in given for k in np.atleast_1d(one))
        if any(not 0 <= k < size for k, size in zip(place, self.shape, strict=True)):
            raise IndexError(f"{place} in {self.shape}")
        return place

    def __getitem__(self, index: Any) -> Any:
        at = self._at(index)
        self._touched.note(at, "read")
        found = self._values[at]
        if not isinstance(found, np.ndarray):
            return found
        made = found.copy().view(Component)
        made.memory = found
        return made

    def __setitem__(self, index: Any, value: Any) -> None:
        at = self._at(index)
        self._touched.note(at, "write")
        self._values[at] = value

    def change(self, index: Any, value: Any, op: Callable[[Any, Any], Any]) -> Any:
        """Change an element in one step."""
        at = self._at(index)
        self._touched.note(at, "atomic")
        with self._lock:
            before = own(self._values[at])
            self._values[at] = op(before, value)
            return before


def own(value: Any) -> Any:
    """Return a value as a variable of the source has it."""
    return np.array(value).view(Vector) if isinstance(value, np.ndarray) else value


def atomic(op: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """Return an atomic operation on an element, which returns what the element was."""

    def apply(container: Any, index: Any, value: Any) -> Any:
        if isinstance(container, (Memory, Shared)):
            return container.change(index, value, op)
        before = container[index]
        container[index] = op(before, value)
        return before

    return apply


_ATOMICS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "max": np.maximum,
    "min": np.minimum,
    "bit_and": lambda a, b: a & b,
    "bit_or": lambda a, b: a | b,
    "bit_xor": lambda a, b: a ^ b,
}


class _Known(SimpleNamespace):
    """Functions by name."""

    def __getattr__(self, name: str) -> Any:
        raise NotPython(name)


def _vector(values: Any) -> Any:
    return np.array(values).view(Vector)


def _zero(_: object, *shape: int) -> Any:
    return np.zeros(shape).view(Vector)


_vector.zero = _zero


def _select(condition: Any, one: Any, other: Any) -> Any:
    if isinstance(condition, np.ndarray):
        return np.where(condition, one, other).view(Vector)
    return own(one if condition else other)


def _of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of numbers and vectors."""

    def apply(*args: Any) -> Any:
        found = function(*args)
        return found.view(Vector) if isinstance(found, np.ndarray) else found

    return apply


_SCALARS = {"f16": float, "f32": float, "f64": float, "u1": bool}
_SCALARS |= {name: int for name in ("i8", "i16", "i32", "i64")}


def _cast(value: Any, scalar: type) -> Any:
    return value.astype(scalar) if isinstance(value, np.ndarray) else scalar(value)


def _round(value: Any) -> Any:
    return np.floor(np.abs(value) + 0.5) * np.sign(value)


TI = _Known(
    Vector=_vector,
    Matrix=_vector,
    static=lambda value: value,
    loop_config=lambda **_: None,
    cast=_cast,
    select=_select,
    math=_Known(inf=math.inf, nan=math.nan),
    raw_div=lambda a, b: int(a / b),
    raw_mod=lambda a, b: int(math.fmod(a, b)),
    pow=_of(lambda a, b: a**b),
    rsqrt=_of(lambda x: 1 / np.sqrt(x)),
    max=_of(np.maximum),
    min=_of(np.minimum),
    asin=_of(np.arcsin),
    acos=_of(np.arccos),
    atan2=_of(np.arctan2),
    **{
        name: _of(getattr(np, name))
        for name in ("abs", "sin", "cos", "tan", "tanh", "exp", "log", "sqrt", "floor", "ceil")
    },
    **_SCALARS,
)
ACCURATE = _Known(
    atan=lambda x, _: np.arctan(x),
    sign=lambda x, _: np.sign(x),
    log2=lambda x, _: np.log2(x),
    log10=lambda x, _: np.log10(x),
    expm1=lambda x, _: np.expm1(x),
    log1p=lambda x, _: np.log1p(x),
    log1pexp=lambda x, _: np.logaddexp(x, 0.0),
    normalized=lambda x, _: x / x.norm(),
)


def _compared(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """Return a comparison of numbers of a type."""
    return lambda a, b, _: compare(a, b)


PREDICATES = _Known(
    isnan=lambda x, _: np.isnan(x),
    isinf=lambda x, _: np.isinf(x),
    isfinite=lambda x, _: np.isfinite(x),
    **{name: _compared(getattr(operator, name)) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
)
DENSE = _Known(
    matmul=lambda a, b, _: a @ b,
    solve=_of(lambda a, b: np.linalg.solve(np.asarray(a), np.asarray(b))),
    inverse=lambda a, _: np.linalg.inv(np.asarray(a)).view(Vector),
    determinant=lambda a: np.linalg.det(np.asarray(a)),
)


class _Lanes:
    """The lanes of one warp, which exchange values.

    Attributes:
        values: What each lane gives.
        shared: The arrays that they share, in the order of their declarations.
    """

    def __init__(self) -> None:
        self.values: list[Any] = [None] * WARP
        self.shared: list[Shared] = []
        self.barrier = threading.Barrier(WARP, timeout=30)
        self.number = _HERE

    def run(self, lane: int, body: Callable[[int], None], thread: int) -> None:
        """Run a lane; the others do not wait for one that fails."""
        self.number.lane, self.number.warp = lane, id(self)
        self.number.met = self.number.declared = 0
        try:
            body(thread)
        except BaseException:
            self.barrier.abort()
            raise
        finally:
            del self.number.lane

    def declare(self, count: int) -> Shared:
        """Return the array that lanes share of one declaration."""
        number = self.number.declared
        self.number.declared += 1
        if self.number.lane == 0:
            self.shared.append(Shared(count))
        self.barrier.wait()
        return self.shared[number]

    def exchanged(self, value: Any) -> list[Any]:
        """Return the values of all lanes, when all are here."""
        self.values[self.number.lane] = value
        self.barrier.wait()
        found = list(self.values)
        self.barrier.wait()
        return found


class Warps:
    """The functions of warps, and the loop over the threads of a device."""

    def __init__(self) -> None:
        self._lanes: _Lanes | None = None
        for name, reduce in {"add": sum, "max": max, "min": min}.items():
            setattr(self, f"all_{name}", partial(self._reduced, reduce))

    def _reduced(self, reduce: Callable[[list[Any]], Any], _: Any, value: Any) -> Any:
        """Reduce the values of all lanes; the lane that writes then comes first, as it may."""
        found = reduce(self._exchanged(value))
        if self._lane:
            time.sleep(1e-3)
        return found

    @property
    def _lane(self) -> int:
        assert self._lanes is not None
        return self._lanes.number.lane

    def _exchanged(self, value: Any) -> list[Any]:
        assert self._lanes is not None
        return self._lanes.exchanged(value)

    def shared(self, _: Any, count: int) -> Shared:
        """Return an array that the lanes of a warp have together."""
        assert self._lanes is not None
        return self._lanes.declare(count)

    def meet(self) -> None:
        """Wait for each other; the lane that writes then comes last, as it may."""
        self._exchanged(None)
        assert self._lanes is not None
        self._lanes.number.met += 1
        if self._lane == 0:
            time.sleep(1e-3)

    def loop(self, count: int, body: Callable[[int], None]) -> None:
        """Run the threads of a device, those of a warp at the same time."""
        for first in range(0, count, WARP):
            lanes = self._lanes = _Lanes()
            with ThreadPoolExecutor(WARP) as pool:
                runs = [pool.submit(lanes.run, k, body, first + k) for k in range(WARP)]
            errors = [error for one in runs if (error := one.exception()) is not None]
            for error in sorted(errors, key=lambda one: isinstance(one, BrokenBarrierError)):
                raise error

    # Sums of neighbouring threads, each of which is taken for a warp of its own

    def lane(self, *_: Any) -> int:
        return 0

    def total(self, _: Any, value: Any, __: Any) -> Any:
        return value

    def adds(self, *_: Any) -> bool:
        return True

    # Tiles of rows, of each thread

    def tile(self, _: Any) -> Any:
        return np.full(TILE, np.nan).view(Vector)

    def row(self, _: Any) -> int:
        return 0

    def load_rows(self, tile: Any, array: Any, at: Any, count: int, _: Any) -> None:
        for k in range(count):
            tile[k] = array[(*at[:-1], at[-1] + k)]

    def store_rows(self, tile: Any, array: Any, at: Any, count: int, _: Any) -> None:
        for k in range(count):
            array[(*at[:-1], at[-1] + k)] = tile[k]


class _AsPython(ast.NodeTransformer):
    """The few things that Python understands otherwise."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.decorator_list = []
        for arg in node.args.args:
            arg.annotation = None
        node.body = [one for stmt in node.body for one in _with_lanes(stmt)]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.targets[0], ast.Name):
            node.value = ast.Call(ast.Name("own", ast.Load()), [node.value], [])
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        change = {ast.Add: "ti.atomic_add", ast.Sub: "ti.atomic_sub"}.get(type(node.op))
        target = node.target
        if change is None or not isinstance(target, ast.Subscript):
            return node
        if not isinstance(target.value, ast.Name):
            return node  # a component of an element
        function = ast.parse(change, mode="eval").body
        return ast.Expr(ast.Call(function, [target.value, target.slice, node.value], []))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name.startswith("atomic_"):
            place, value = node.args
            if not isinstance(place, ast.Subscript):
                raise NotPython(name)
            node.args = [place.value, place.slice, value]
        return node


def _with_lanes(stmt: ast.stmt) -> list[ast.stmt]:
    """Return a loop over threads as a call, where those of a warp exchange values."""
    text = ast.unparse(stmt)
    together = ("warps.all_", "warps.meet", "warps.shared")
    if not isinstance(stmt, ast.For) or not any(name in text for name in together):
        return [stmt]
    assert isinstance(stmt.target, ast.Name) and isinstance(stmt.iter, ast.Call)
    args = ast.arguments([], [ast.arg(stmt.target.id)], None, [], [], None, [])
    body = ast.FunctionDef("of_thread", args, stmt.body, [], None)
    call = ast.parse("warps.loop(0, of_thread)").body[0]
    assert isinstance(call, ast.Expr) and isinstance(call.value, ast.Call)
    call.value.args[0] = stmt.iter.args[0]
    return [body, call]


def function_of(text: str, name: str) -> Callable[..., None]:
    """Return a kernel of emitted source as a function of its arguments.

    Raises:
        NotPython: It calls a function that is not known here.
    """
    tree = ast.fix_missing_locations(_AsPython().visit(ast.parse(text)))
    ti = _Known(**vars(TI), **{f"atomic_{op}": atomic(apply) for op, apply in _ATOMICS.items()})
    known: dict[str, Any] = {"ti": ti, "accurate": ACCURATE, "predicates": PREDICATES}
    known |= {"dense": DENSE, "linalg": _Known(), "warps": Warps(), "own": own}
    exec(compile(tree, "<emitted>", "exec", dont_inherit=True), known)
    return known[name]
