"""An interpreter of native kernels on the host: what each thread of a block does, in NumPy.

All threads of a block run one statement after the other together; a value is a number for all of
them, or an array with one for each. Blocks of a task run one after the other in a random order.

The interpreter refuses what a device leaves undefined: a barrier or an operation of a warp that
some threads do not reach, elements of shared memory that threads access without a barrier between,
elements of arrays that blocks of a task exchange without atomics, indices out of range, and numbers
where Taichi wants another type.
"""

from __future__ import annotations

import ast
import functools
import inspect
import operator
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.substrate.compiler import private, ti
from difftile.substrate.family.native.launch import NativeKernel

WARP = 32
_DTYPES = {
    ti.i32: np.int32,
    ti.u32: np.uint32,
    ti.i64: np.int64,
    ti.u64: np.uint64,
    ti.f32: np.float32,
}
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


class Undefined(Exception):
    """A native kernel does what a device leaves undefined."""


class Vector:
    """Numbers that a thread holds in registers."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def sum(self) -> Any:
        total = self.items[0]
        for item in self.items[1:]:
            total = _binary(ast.Add, total, item)
        return total


class Memory:
    """An array of the device, or of a block; with who wrote and read each element last.

    Args:
        values: The contents; elements of vectors in the last axes.
        ndim: The number of axes of the array.
        shared: Whether it belongs to a block.
    """

    def __init__(self, values: npt.NDArray[Any], ndim: int, shared: bool) -> None:
        self.values, self.ndim, self.shared = values, ndim, shared
        self.shape = values.shape[:ndim]
        size = int(np.prod(self.shape))
        self.writes, self.reads = (np.full((size, 3), -1) for _ in range(2))  # who, when, where


class Run:
    """One task.

    Args:
        names: The names outside of the kernel.
        size: The number of threads of a block.
    """

    def __init__(self, names: dict[str, Any], size: int) -> None:
        self.names, self.size = names, size
        self.block = 0
        self.epoch = 0  # counts barriers
        self.warp_epoch = np.zeros(size // WARP, int)

    # Memory

    def _at(self, memory: Memory, index: list[Any], mask: Any) -> npt.NDArray[Any]:
        """Return the elements that the active threads name, by their place in the array."""
        if len(index) == 1 and index[0] is None:
            index = []
        axes = [np.broadcast_to(np.asarray(i), self.size)[mask].astype(np.int64) for i in index]
        if len(axes) != memory.ndim:
            raise Undefined(f"{len(axes)} indices for an array of {memory.ndim} axes")
        flat = np.zeros(np.count_nonzero(mask), np.int64)
        for axis, size in zip(axes, memory.shape, strict=True):
            flat = flat * size + axis  # as addresses are computed: an index may be beyond its axis
        if np.any(flat < 0) or np.any(flat >= int(np.prod(memory.shape))):
            raise Undefined(f"an index is out of range: {flat.min()}..{flat.max()}")
        return flat

    def _note(self, memory: Memory, flat: Any, mask: Any, *, writes: bool, atomic: bool) -> None:
        """Refuse an access that meets another without a barrier between them."""
        threads = np.arange(self.size)[mask]
        if memory.shared:
            who, when, where = threads, np.full(threads.size, self.epoch), threads // WARP
            step = self.warp_epoch[where]
        else:
            who = np.full(threads.size, self.block)
            when, where = np.zeros(threads.size, int), who
            step = np.zeros(threads.size, int)
        for earlier in (memory.writes, memory.reads) if writes else (memory.writes,):
            if atomic and earlier is memory.reads:
                continue
            was = earlier[flat]
            met = (was[:, 0] >= 0) & (was[:, 0] != who) & (was[:, 1] == when)
            if memory.shared:
                met &= (was[:, 0] // WARP != where) | (was[:, 2] == step)
            if np.any(met):
                k = int(np.argmax(met))
                raise Undefined(f"{was[k, 0]} and {who[k]} both access element {flat[k]}")
        if writes and not atomic:
            unique, counts = np.unique(flat, return_counts=True)
            if np.any(counts > 1):
                raise Undefined(f"threads write element {unique[np.argmax(counts)]} together")
        if atomic:
            return
        noted = memory.writes if writes else memory.reads
        noted[flat, 0], noted[flat, 1], noted[flat, 2] = who, when, step  # one of them is kept

    def load(self, memory: Memory, index: list[Any], mask: Any) -> Any:
        flat = self._at(memory, index, mask)
        self._note(memory, flat, mask, writes=False, atomic=False)
        inner = memory.values.reshape(-1, *memory.values.shape[memory.ndim :])
        found = np.zeros((self.size, *inner.shape[1:]), inner.dtype)
        found[mask] = inner[flat]
        return found if found.ndim == 1 else Vector([*found.T])

    def store(self, memory: Memory, index: list[Any], value: Any, mask: Any) -> None:
        flat = self._at(memory, index, mask)
        self._note(memory, flat, mask, writes=True, atomic=False)
        if isinstance(value, Vector):
            value = np.stack([np.broadcast_to(item, self.size) for item in value.items], -1)
        inner = memory.values.reshape(-1, *memory.values.shape[memory.ndim :])
        values = np.broadcast_to(_as(memory.values.dtype, value), (self.size, *inner.shape[1:]))
        inner[flat] = values[mask]

    def atomic(self, what: Any, memory: Memory, index: list[Any], value: Any, mask: Any) -> Any:
        flat = self._at(memory, index, mask)
        self._note(memory, flat, mask, writes=True, atomic=True)
        values = np.broadcast_to(_as(memory.values.dtype, value), self.size)
        inner = memory.values.reshape(-1)
        old = np.zeros(self.size, memory.values.dtype)
        for thread, at in zip(np.arange(self.size)[mask], flat, strict=True):
            old[thread] = inner[at]
            inner[at] = what(inner[at], values[thread])
        return old

    # Threads together

    def warps(self, mask: Any, name: str) -> None:
        """Refuse an operation of a warp that some of its threads do not reach."""
        there = mask.reshape(-1, WARP)
        if np.any(there.any(1) != there.all(1)):
            raise Undefined(f"only a part of a warp reaches {name}")

    def barrier(self, mask: Any) -> None:
        if not mask.all():
            raise Undefined("only a part of a block reaches a barrier")
        self.epoch += 1


def _as(dtype: Any, value: Any) -> Any:
    return np.asarray(value).astype(dtype)


def _typed(value: Any) -> Any:
    """Return a number as Taichi takes it: literals are i32 and f32."""
    if isinstance(value, (bool, np.bool_)):
        return np.int32(value)
    if isinstance(value, int):
        return np.int32(value) if value < 1 << 31 else np.uint32(value)
    if isinstance(value, float):
        return np.float32(value)
    if isinstance(value, np.ndarray) and value.dtype == bool:
        return value.astype(np.int32)
    return value


def _promoted(a: Any, b: Any) -> Any:
    if "f" in (a.kind, b.kind):
        return np.dtype(np.float32)
    if a.itemsize != b.itemsize:
        return max(a, b, key=lambda dtype: dtype.itemsize)
    return a if a.kind == "u" else b


def _binary(kind: type, a: Any, b: Any) -> Any:
    if isinstance(a, Vector) or isinstance(b, Vector):
        n = len(a.items if isinstance(a, Vector) else b.items)
        left = a.items if isinstance(a, Vector) else [a] * n
        right = b.items if isinstance(b, Vector) else [b] * n
        return Vector([_binary(kind, x, y) for x, y in zip(left, right, strict=True)])
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return _BINARY[kind](a, b) if kind is not ast.Div else a / b
    a, b = _typed(a), _typed(b)
    if kind is ast.Div:
        return np.asarray(a, np.float32) / np.asarray(b, np.float32)
    if a.dtype == b.dtype:
        return _BINARY[kind](a, b)
    shifts = kind in (ast.LShift, ast.RShift)
    dtype = a.dtype if shifts else _promoted(a.dtype, b.dtype)
    return _BINARY[kind](_as(dtype, a), _as(dtype, b)).astype(dtype)


def _compare(kind: type, a: Any, b: Any) -> Any:
    plain = (int, float, type(None))
    if (isinstance(a, plain) and isinstance(b, plain)) or kind in (ast.Is, ast.IsNot):
        return _COMPARE[kind](a, b)
    a, b = _typed(a), _typed(b)
    if a.dtype == b.dtype:
        return _COMPARE[kind](a, b)
    dtype = _promoted(a.dtype, b.dtype)
    return _COMPARE[kind](_as(dtype, a), _as(dtype, b))


class _Returned(Exception):
    pass


class Frame:
    """The body of one function: its names, in one run."""

    def __init__(self, run: Run, names: dict[str, Any], outside: dict[str, Any]) -> None:
        self.run, self.names, self.outside = run, names, outside
        self.value: Any = None

    # Statements

    def body(self, statements: list[ast.stmt], mask: Any) -> None:
        for statement in statements:
            self.statement(statement, mask)

    def statement(self, node: ast.stmt, mask: Any) -> None:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Expr(value=value):
                self.eval(value, mask)
            case ast.Assign(targets=[target], value=value):
                self.assign(target, self.eval(value, mask), mask)
            case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
                owner = self.eval(target.value, mask)
                if isinstance(owner, Memory):  # Taichi makes it atomic
                    with_value = self.eval(value, mask)
                    index = self.index(target, mask)
                    self.run.atomic(
                        lambda x, y: _binary(type(op), x, y), owner, index, with_value, mask
                    )
                else:
                    made = _binary(type(op), self.eval(target, mask), self.eval(value, mask))
                    self.assign(target, made, mask)
            case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
                made = _binary(type(op), self.names[target.id], self.eval(value, mask))
                self.assign(target, made, mask)
            case ast.If(test=test, body=body, orelse=other):
                chosen = self.eval(test, mask)
                if isinstance(chosen, np.ndarray):
                    for part, statements in ((chosen != 0, body), (chosen == 0, other)):
                        if np.any(mask & part):
                            self.body(statements, mask & part)
                else:
                    self.body(body if chosen else other, mask)
            case ast.For(target=target, iter=iterated, body=body):
                self.loop(target, iterated, body, mask)
            case ast.While(test=test, body=body):
                while True:
                    goes_on = self.eval(test, mask)
                    mask = mask & (np.asarray(goes_on) != 0)
                    if not np.any(mask):
                        break
                    self.body(body, mask)
            case ast.Return(value=value):
                self.value = None if value is None else self.eval(value, mask)
                raise _Returned
            case _:
                raise NotImplementedError(ast.unparse(node))

    def loop(self, target: ast.expr, iterated: ast.expr, body: list[ast.stmt], mask: Any) -> None:
        if isinstance(iterated, ast.Call) and ast.unparse(iterated.func) == "ti.static":
            for value in self.eval(iterated, mask):
                self.assign(target, value, mask, static=True)
                self.body(body, mask)
            return
        assert isinstance(iterated, ast.Call) and ast.unparse(iterated.func) == "range"
        ends = [self.eval(arg, mask) for arg in iterated.args]
        first, end = (0, ends[0]) if len(ends) == 1 else ends
        at = np.broadcast_to(np.asarray(first, np.int32), self.run.size).copy()
        while np.any(goes_on := mask & (at < end)):
            assert isinstance(target, ast.Name)
            self.names[target.id] = at.copy()
            self.body(body, goes_on)
            at += 1

    def assign(self, target: ast.expr, value: Any, mask: Any, *, static: bool = False) -> None:
        match target:
            case ast.Tuple(elts=elements):
                for element, one in zip(elements, value, strict=True):
                    self.assign(element, one, mask)
            case ast.Name(id=name):
                before = self.names.get(name)
                if isinstance(value, (int, float, np.generic)) and not static:
                    value = np.broadcast_to(_typed(value), self.run.size).copy()
                if isinstance(value, Vector):
                    items = [np.broadcast_to(_typed(x), self.run.size) for x in value.items]
                    value = Vector([item.copy() for item in items])
                    if isinstance(before, Vector):
                        pairs = zip(value.items, before.items, strict=True)
                        value = Vector([np.where(mask, _as(y.dtype, x), y) for x, y in pairs])
                elif isinstance(value, np.ndarray):
                    value = _typed(value).copy()
                    if isinstance(before, np.ndarray):
                        value = np.where(mask, _as(before.dtype, value), before)
                self.names[name] = value
            case ast.Subscript(value=owner_node):
                owner = self.eval(owner_node, mask)
                index = self.index(target, mask)
                if isinstance(owner, Memory):
                    self.run.store(owner, index, value, mask)
                else:
                    before = owner.items[index[0]]
                    owner.items[index[0]] = np.where(mask, _as(before.dtype, value), before)
            case _:
                raise NotImplementedError(ast.unparse(target))

    # Expressions

    def index(self, node: ast.Subscript, mask: Any) -> list[Any]:
        at = node.slice
        return [self.eval(one, mask) for one in (at.elts if isinstance(at, ast.Tuple) else [at])]

    def eval(self, node: ast.expr, mask: Any) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                for names in (self.names, self.outside):
                    if name in names:
                        return names[name]
                return getattr(__builtins__, name, None) or __builtins__[name]
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return [self.eval(one, mask) for one in elements]
            case ast.ListComp(elt=element, generators=[ast.comprehension() as one]):
                made: list[Any] = []
                for value in self.eval(one.iter, mask):
                    self.assign(one.target, value, mask, static=True)
                    made.append(self.eval(element, mask))
                return made
            case ast.Attribute(value=value, attr=attribute):
                owner = self.eval(value, mask)
                if isinstance(owner, Vector) and attribute in "xyzw":
                    return owner.items["xyzw".index(attribute)]
                return getattr(owner, attribute)
            case ast.Subscript(value=value):
                owner = self.eval(value, mask)
                index = self.index(node, mask)
                if isinstance(owner, Memory):
                    return self.run.load(owner, index, mask)
                return owner.items[index[0]] if isinstance(owner, Vector) else owner[index[0]]
            case ast.BinOp(left=left, op=op, right=right):
                return _binary(type(op), self.eval(left, mask), self.eval(right, mask))
            case ast.UnaryOp(op=op, operand=operand):
                value = _typed_array(self.eval(operand, mask))
                if isinstance(op, ast.Not):
                    return np.asarray(value) == 0 if isinstance(value, np.ndarray) else not value
                return -value if isinstance(op, ast.USub) else ~value
            case ast.Compare(left=left, ops=ops, comparators=others):
                found: Any = True
                a = self.eval(left, mask)
                for op, other in zip(ops, others, strict=True):
                    b = self.eval(other, mask)
                    found = _both(found, _compare(type(op), a, b))
                    a = b
                return found
            case ast.BoolOp(op=op, values=values):
                result: Any = isinstance(op, ast.And)
                for one in values:
                    value = self.eval(one, mask)
                    if isinstance(op, ast.And):
                        if value is False:
                            return False
                        result = _both(result, value)
                        if isinstance(result, np.ndarray):
                            mask = mask & result
                    else:
                        if value is True:
                            return True
                        result = np.logical_or(result, value)
                        mask = mask & ~result
                return result
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.eval(body if self.eval(test, mask) else other, mask)
            case ast.Call():
                return self.call(node, mask)
            case _:
                raise NotImplementedError(ast.unparse(node))

    def call(self, node: ast.Call, mask: Any) -> Any:
        name = ast.unparse(node.func)
        if name.startswith("ti.atomic_"):
            target = node.args[0]
            assert isinstance(target, ast.Subscript)
            memory, index = self.eval(target.value, mask), self.index(target, mask)
            what = {"add": ast.Add, "or": ast.BitOr, "max": None, "min": None}[name[10:]]
            combine: Any = (max if name.endswith("max") else min) if what is None else None
            if combine is None:
                assert what is not None
                combine = lambda x, y: _binary(what, x, y)  # noqa: E731
            return self.run.atomic(combine, memory, index, self.eval(node.args[1], mask), mask)
        args = [self.eval(arg, mask) for arg in node.args]
        options = {str(k.arg): self.eval(k.value, mask) for k in node.keywords}
        if name in _FUNCTIONS:
            return _FUNCTIONS[name](self.run, mask, *args, **options)
        function = self.eval(node.func, mask)
        if function in _DTYPES:
            return _cast(self.run, mask, args[0], function)
        wrapped = getattr(function, "__wrapped__", None)
        if wrapped is None:
            return function(*args, **options)
        return self.inline(wrapped, args, mask)

    def inline(self, function: Any, args: list[Any], mask: Any) -> Any:
        given: dict[str, Any] = {}
        for parameter, arg in zip(parameters_of(function), args, strict=True):
            name, by_reference = parameter
            if isinstance(arg, Memory) and not by_reference:
                raise Undefined(f"'{name}' is an array, and not a template")
            number = not by_reference and isinstance(arg, (int, float, np.generic))
            given[name] = np.broadcast_to(_typed(arg), self.run.size).copy() if number else arg
        inner = Frame(self.run, given, function.__globals__)
        try:
            inner.body(definition(function).body, mask)
        except _Returned:
            pass
        return inner.value


def _both(a: Any, b: Any) -> Any:
    if a is True:
        return b
    return np.logical_and(a, b) if a is not False and b is not False else False


def _typed_array(value: Any) -> Any:
    return value if isinstance(value, (int, float)) else _typed(value)


def _cast(run: Run, mask: Any, value: Any, dtype: Any) -> Any:
    return np.broadcast_to(_as(_DTYPES[dtype], value), run.size)


def _elementwise(function: Any) -> Any:
    def call(run: Run, mask: Any, *args: Any) -> Any:
        if all(isinstance(arg, (int, float)) for arg in args) and function in (
            np.minimum,
            np.maximum,
        ):
            return (min if function is np.minimum else max)(*args)
        if any(isinstance(arg, Vector) for arg in args):
            n = next(len(arg.items) for arg in args if isinstance(arg, Vector))
            columns = [arg.items if isinstance(arg, Vector) else [arg] * n for arg in args]
            return Vector([call(run, mask, *one) for one in zip(*columns, strict=True)])
        typed = [_typed(arg) for arg in args]
        dtype = typed[0].dtype
        for one in typed[1:]:
            dtype = _promoted(dtype, one.dtype)
        return function(*(_as(dtype, one) for one in typed))

    return call


def _select(run: Run, mask: Any, test: Any, a: Any, b: Any) -> Any:
    if isinstance(a, Vector):
        pairs = zip(a.items, b.items, strict=True)
        return Vector([_select(run, mask, test, x, y) for x, y in pairs])
    a, b = _typed(a), _typed(b)
    dtype = _promoted(np.asarray(a).dtype, np.asarray(b).dtype)
    return np.where(np.asarray(test) != 0, _as(dtype, a), _as(dtype, b))


def _bit_cast(run: Run, mask: Any, value: Any, dtype: Any) -> Any:
    return np.broadcast_to(_typed(value), run.size).copy().view(_DTYPES[dtype])


def _shared(run: Run, mask: Any, shape: Any, dtype: Any) -> Memory:
    shape = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    garbage = np.full(shape, 77, _DTYPES[dtype])  # shared memory begins with anything
    return Memory(garbage, len(shape), shared=True)


def _rows(run: Run, values: Any, dtype: Any, name: str) -> Any:
    values = np.broadcast_to(_typed(values), run.size)
    if values.dtype != dtype:
        raise Undefined(f"{name} takes {np.dtype(dtype)}, not {values.dtype}")
    return values.reshape(-1, WARP)


def _ballot(run: Run, mask: Any, predicate: Any) -> Any:
    run.warps(mask, "ballot")
    given = np.asarray(predicate)
    if given.dtype == bool:
        raise Undefined("ballot takes int32, not bool")
    rows = _rows(run, predicate, np.int32, "ballot") != 0
    bits = (rows * (np.uint64(1) << np.arange(WARP, dtype=np.uint64))).sum(1)
    return np.repeat(bits.astype(np.uint32).view(np.int32), WARP)


def _match_any(run: Run, mask: Any, members: Any, value: Any) -> Any:
    run.warps(mask, "match_any")
    rows = _rows(run, value, np.int32, "match_any")
    same = rows[:, :, None] == rows[:, None, :]
    bits = (same * (np.uint64(1) << np.arange(WARP, dtype=np.uint64))).sum(2)
    return bits.astype(np.uint32).view(np.int32).ravel()


def _shuffle(dtype: Any, source: Callable[[Any, Any], Any]) -> Any:
    def call(run: Run, mask: Any, members: Any, value: Any, by: Any) -> Any:
        run.warps(mask, "a shuffle")
        rows = _rows(run, value, dtype, "a shuffle")
        lane = np.broadcast_to(np.arange(WARP), rows.shape)
        by = np.broadcast_to(np.asarray(by), run.size).reshape(-1, WARP)
        at = source(lane, by)
        at = np.where((at < 0) | (at >= WARP), lane, at)
        return np.take_along_axis(rows, at.astype(np.int64), 1).ravel()

    return call


def _warp_sync(run: Run, mask: Any, members: Any) -> None:
    run.warps(mask, "a barrier of the warp")
    run.warp_epoch[mask.reshape(-1, WARP).all(1)] += 1


_UP, _DOWN = (lambda lane, by: lane - by), (lambda lane, by: lane + by)
_FUNCTIONS: dict[str, Any] = {
    "ti.static": lambda run, mask, value: value,
    "ti.cast": _cast,
    "ti.bit_cast": _bit_cast,
    "ti.select": _select,
    "ti.min": _elementwise(np.minimum),
    "ti.max": _elementwise(np.maximum),
    "ti.floor": _elementwise(np.floor),
    "ti.ceil": _elementwise(np.ceil),
    "ti.log": _elementwise(np.log),
    "ti.exp": _elementwise(np.exp),
    "ti.abs": _elementwise(np.abs),
    "ti.sqrt": _elementwise(np.sqrt),
    "abs": _elementwise(np.abs),
    "ti.raw_div": lambda run, mask, a, b: np.trunc(np.true_divide(a, b)).astype(np.int32),
    "ti.math.popcnt": lambda run, mask, value: np.bitwise_count(_typed(value)).astype(np.int32),
    "ti.Vector": lambda run, mask, items: Vector([*items]),
    "ti.simt.block.SharedArray": _shared,
    "ti.simt.block.sync": lambda run, mask: run.barrier(mask),
    "ti.simt.warp.sync": _warp_sync,
    "ti.simt.warp.ballot": _ballot,
    "ti.simt.warp.match_any": _match_any,
    "ti.simt.warp.shfl_sync_i32": _shuffle(np.int32, lambda lane, by: by & (WARP - 1)),
    "ti.simt.warp.shfl_sync_f32": _shuffle(np.float32, lambda lane, by: by & (WARP - 1)),
    "ti.simt.warp.shfl_up_i32": _shuffle(np.int32, _UP),
    "ti.simt.warp.shfl_up_f32": _shuffle(np.float32, _UP),
    "ti.simt.warp.shfl_down_i32": _shuffle(np.int32, _DOWN),
    "ti.simt.warp.shfl_down_f32": _shuffle(np.float32, _DOWN),
    "ti.simt.warp.shfl_xor_i32": _shuffle(np.int32, lambda lane, by: lane ^ by),
}


@functools.cache
def definition(function: Any) -> ast.FunctionDef:
    """Return the syntax of a function."""
    (found,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(found, ast.FunctionDef)
    return found


@functools.cache
def parameters_of(function: Any) -> list[tuple[str, bool]]:
    """Return the name of each parameter, and whether it takes what it is given, not a copy."""
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, isinstance(p.annotation, private.template)) for p in parameters]


def interpret(native: NativeKernel, *args: Any, seed: int = 0) -> None:
    """Run a native kernel on arrays, which it changes, and numbers.

    Raises:
        Undefined: It does what a device leaves undefined.
    """
    function = native.kernel.func
    parameters = inspect.signature(function).parameters
    kept = [np.full(size, 78, np.int64) for size in native.sizes.values()]
    given: dict[str, Any] = {}
    arrays: list[Memory] = []
    for (name, parameter), arg in zip(parameters.items(), [*args, *kept], strict=True):
        if isinstance(arg, np.ndarray):
            kind = parameter.annotation
            values = arg.astype(_DTYPES[kind.dtype]) if name in native.sizes else arg
            arrays.append(Memory(values, kind.ndim, shared=False))
            given[name] = arrays[-1]
        elif isinstance(parameter.annotation, private.template):
            given[name] = arg
        else:
            given[name] = _typed(arg)
    order = np.random.default_rng(seed)
    dim = [0]

    def tasks(statements: list[ast.stmt], names: dict[str, Any]) -> None:
        for node in statements:
            match node:
                case ast.Expr(value=ast.Constant()):
                    pass
                case ast.Expr(value=ast.Call(keywords=[ast.keyword(value=value)])):
                    dim[0] = eval(ast.unparse(value), function.__globals__, names)
                case ast.Assign(targets=[target], value=value):
                    made = eval(ast.unparse(value), function.__globals__, names)
                    local: dict[str, Any] = {"made": made}
                    exec(f"{ast.unparse(target)} = made", local)
                    names |= {
                        key: local[key] for key in local if key not in ("made", "__builtins__")
                    }
                case ast.If(test=test, body=body, orelse=other):
                    chosen = eval(ast.unparse(test), function.__globals__, names)
                    tasks(body if chosen else other, names)
                case ast.For(target=target, iter=iterated, body=body):
                    (inner,) = iterated.args
                    if ast.unparse(iterated.func) == "ti.static":
                        for value in eval(ast.unparse(inner), function.__globals__, names):
                            tasks(body, {**names, ast.unparse(target): value})
                    else:
                        count = eval(ast.unparse(inner), function.__globals__, names)
                        task(ast.unparse(target), count, body, names)
                case _:
                    raise NotImplementedError(ast.unparse(node))

    def task(name: str, count: int, body: list[ast.stmt], names: dict[str, Any]) -> None:
        size = dim[0]
        assert count % size == 0, "a grid is a whole number of blocks"
        for memory in arrays:
            memory.writes[:], memory.reads[:] = -1, -1
        for block in order.permutation(count // size):
            run = Run(function.__globals__, size)
            run.block = int(block)
            at = np.arange(block * size, (block + 1) * size, dtype=np.int32)
            Frame(run, {**names, name: at}, function.__globals__).body(body, np.ones(size, bool))

    with np.errstate(all="ignore"):
        tasks(definition(function).body, given)
