"""Kernels run as the Python that they are written in, on numbers that carry a tangent.

The text is parsed and executed with stand-ins for `taichi`, `difftile` and a few builtins. Loops
run in order. What Python cannot say itself is rewritten: locals hold values and not references,
`x[i] += v` is one access, and parallel loops say which iteration runs. So fields see who touches
which of their elements how, and tell whether two iterations meet.
"""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.hunt import duals
from tests.hunt.duals import Discard, Dual, Small, dual, value_of

MOST_STEPS = 4000  # iterations of loops in one launch


@dataclass
class Run:
    """What a launch is doing: which iteration of which parallel loop, and what it has drawn.

    Args:
        seed: The seed of random numbers.
        stream: The first stream of the launch.
        iteration: The iteration of the parallel loop; None in serial code.
        met: Two iterations have met.
        discrete: Atomics have returned what depends on the order of iterations.
    """

    seed: int = 0
    stream: int = 0
    iteration: int | None = None
    loop: int = 0
    draws: int = 0
    steps: int = 0
    drawn: bool = False
    met: str = ""
    touched: dict[tuple[int, int], set[tuple[int, str]]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    def note(self, memory: Memory, cell: int, how: str) -> None:
        """Note an access of an iteration."""
        if self.iteration is not None:
            self.touched.setdefault((id(memory), cell), set()).add((self.iteration, how))
            self.names[id(memory)] = memory.name

    def step(self) -> bool:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Discard("runs for too long")
        return True

    def parallel(self, iterable: Iterable[Any]) -> Iterator[Any]:
        """Run a parallel loop."""
        self.loop += 1
        serial = self.draws
        for number, index in enumerate(iterable):
            self.iteration, self.draws = number, 0
            self.step()
            yield index
        self.iteration, self.draws = None, serial
        for (memory, _), accesses in self.touched.items():
            kinds = {how for _, how in accesses}
            several = len({iteration for iteration, _ in accesses}) > 1
            if several and (len(kinds) > 1 or kinds == {"store"}):
                self.met = f"{self.names[memory]} ({', '.join(sorted(kinds))})"
        self.touched.clear()

    def bits(self) -> list[int]:
        """Return four random words: pcg4d of the thread, the draw, the stream and the seed."""
        inside = self.iteration is not None
        stream = self.stream + (self.loop if inside else 0)
        words = (self.iteration or 0, self.draws, stream, self.seed)
        self.draws += 1
        self.drawn = True
        v = [(word * 1664525 + 1013904223) % 2**32 for word in words]

        def mix() -> None:
            for k, a, b in ((0, 1, 3), (1, 2, 0), (2, 0, 1), (3, 1, 2)):
                v[k] = (v[k] + v[a] * v[b]) % 2**32

        mix()
        v[:] = [word ^ (word >> 16) for word in v]
        mix()
        return v


# Fields


@dataclass(eq=False)
class Memory:
    """The contents of a field, one number after the other.

    Args:
        name: A name for reports.
        cells: The numbers.
        element: The shape of an element.
        graded: It holds floats with tangents; those of others are cut.
        cuts: A tangent was cut.
    """

    name: str
    cells: list[Any]
    element: tuple[int, ...]
    graded: bool
    cuts: bool = False

    @functools.cached_property
    def width(self) -> int:
        return math.prod(self.element)

    @functools.cached_property
    def whole(self) -> bool:
        return isinstance(self.cells[0], int)

    def put(self, cell: int, value: Any) -> None:
        if self.whole:
            self.cells[cell] = int(value)
        else:
            value = dual(value)
            self.cuts |= not self.graded and value.dot != 0
            self.cells[cell] = value if self.graded else Dual(value.real)


class PlainField:
    """A field, or a part of one, as kernels see it."""

    def __init__(self, run: Callable[[], Run], memory: Memory, places: np.ndarray) -> None:
        self.run, self.memory, self.places = run, memory, places
        self.shape = places.shape

    def element(self, index: Any) -> Element:
        if index is None:
            index = ()
        elif not isinstance(index, (tuple, Small)):
            index = (index,)
        index = tuple(k for one in index for k in (one if isinstance(one, Small) else (one,)))
        if len(index) != len(self.shape):
            raise IndexError(index)
        for k, size in zip(index, self.shape, strict=True):
            if not 0 <= k < size:
                raise Discard("outside of the shape")
        return Element(self, int(self.places[index]) * self.memory.width)

    def __getitem__(self, index: Any) -> Any:
        return self.element(index).load()

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(ndrange(*self.shape))


class Element:
    """A place in memory: an element of a field, or a component of one."""

    def __init__(self, field: PlainField, cell: int, component: bool = False) -> None:
        self.memory, self.run = field.memory, field.run()
        self.field, self.cell = field, cell
        self.width = 1 if component else self.memory.width
        self.number = component or not self.memory.element

    def load(self) -> Any:
        for cell in range(self.cell, self.cell + self.width):
            self.run.note(self.memory, cell, "load")
        return self.held()

    def held(self) -> Any:
        if self.number:
            return self.memory.cells[self.cell]
        return Small(self.memory.cells[self.cell : self.cell + self.width], self.memory.element)

    def store(self, value: Any, how: str = "store") -> None:
        if self.number:
            values = [value]
        else:
            shape = self.memory.element
            values = value.parts if isinstance(value, Small) else [value] * self.width
            if isinstance(value, Small) and value.shape != shape:
                raise TypeError(f"{value.shape} in a field of {shape}")
        for cell, one in enumerate(values, self.cell):
            self.run.note(self.memory, cell, how)
            self.memory.put(cell, one)

    def part(self, key: Any) -> Element:
        """Return the place of a component."""
        if isinstance(key, str):
            (key,) = duals.swizzle(key) or ()
        offset = Small(range(self.width), self.memory.element).at(key)
        return Element(self.field, self.cell + offset, component=True)

    def __getitem__(self, key: Any) -> Any:
        return self.part(key).load()

    def __getattr__(self, name: str) -> Any:
        return self.part(name).load()


@dataclass
class Component:
    """A component of a local vector or matrix."""

    of: Small
    key: Any

    def held(self) -> Any:
        return self.of[self.key]

    def store(self, value: Any, how: str = "store") -> None:
        self.of[self.key] = value


class PlainStruct:
    """A field of structs: `p[i].mass` and `p.mass[i]`."""

    def __init__(self, members: dict[str, PlainField], index: Any = ...) -> None:
        self.members, self.index = members, index

    def __getitem__(self, index: Any) -> PlainStruct:
        return PlainStruct(self.members, index)

    def __getattr__(self, name: str) -> Any:
        member = self.members[name]
        return member if self.index is ... else member[self.index]

    def __iter__(self) -> Iterator[Any]:
        return iter(next(iter(self.members.values())))

    @property
    def shape(self) -> tuple[int, ...]:
        return next(iter(self.members.values())).shape


def place(base: Any, key: Any) -> Any:
    """Return what `base[key] = ...`, or with a name `base.name = ...`, writes to."""
    if isinstance(base, PlainField):
        return base.element(key)
    if isinstance(base, PlainStruct):
        if not isinstance(key, str):
            return base[key]
        member = base.members[key]
        return member if base.index is ... else member.element(base.index)
    if isinstance(base, Element):
        return base.part(key)
    if isinstance(key, str):
        (key,) = duals.swizzle(key) or ()
    return Component(base, key)


def _divided(a: Any, b: Any) -> Any:
    return a / b if isinstance(a, (Dual, Small)) or isinstance(b, (Dual, Small)) else dual(a) / b


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": _divided,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
    "max": duals.largest,
    "min": duals.smallest,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
# How an operation on memory is noted: iterations may meet by one of the first kind.
ATOMIC = {"add": "add", "sub": "add"} | {
    name: name for name in ("mul", "div", "max", "min", "and", "or", "xor")
}


def change(name: str, at: Any, value: Any) -> Any:
    """Apply an operation to a place; return what it held before."""
    before = at.held()
    how = ATOMIC.get(name)
    if how is None and isinstance(at, Element):
        at.load()
    if name in ("max", "min") and isinstance(at, Element):
        pairs = (
            zip(before.parts, value.parts, strict=True)
            if isinstance(before, Small)
            else [(before, value)]
        )
        # Equal ones share the derivative, however many they are.
        if any(duals.apart(a, b) == 0 and (dual(a).dot or dual(b).dot) for a, b in pairs):
            raise Discard("a tie of an atomic maximum")
    at.store(OPERATIONS[name](before, value), how or "store")
    return before


_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}


# The text


def _draws_in(node: ast.expr) -> int:
    """Return how many random numbers an expression draws."""
    calls = (one for one in ast.walk(node) if isinstance(one, ast.Call))
    names = (one.func.attr for one in calls if isinstance(one.func, ast.Attribute))
    return sum(name in ("rand", "randn", "randint", "random") for name in names)


def _is_known(test: ast.expr) -> bool:
    """Tell whether a condition may be decided while compiling, so that one side is left out."""
    parts = [one for one in ast.walk(test) if isinstance(one, ast.Compare)] or [test]
    return not all(any(isinstance(n, ast.Name) for n in ast.walk(one)) for one in parts)


def _skipping(before: int, node: ast.expr, after: int) -> ast.expr:
    """Return an expression around which as many draws are counted that do not happen."""
    if not before and not after:
        return node
    parts: list[ast.expr] = [
        _call("_skip", ast.Constant(before)),
        node,
        _call("_skip", ast.Constant(after)),
    ]
    return ast.Subscript(ast.Tuple(parts, ast.Load()), ast.Constant(1), ast.Load())


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])


def _place(target: ast.expr) -> ast.expr:
    """Return the expression for the place of a target."""
    match target:
        case ast.Subscript(value=value, slice=key):
            return _call("_place", _base(value), key)
        case ast.Attribute(value=value, attr=name):
            return _call("_place", _base(value), ast.Constant(name))
        case _:
            raise TypeError(ast.dump(target))


def _base(node: ast.expr) -> ast.expr:
    return _place(node) if isinstance(node, (ast.Subscript, ast.Attribute)) else node


class _Rewritten(ast.NodeTransformer):
    """A module of kernels, each of which begins with `_begin()` and marks its parallel loops."""

    def __init__(self, kernels: bool) -> None:
        self.kernels = kernels

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if self.kernels and not node.decorator_list:  # no func
            self.mark(node.body)
        names = [one.arg for one in (*node.args.args, *node.args.kwonlyargs)]
        own = [
            ast.Assign([ast.Name(name, ast.Store())], _call("_own", ast.Name(name, ast.Load())))
            for name in names
        ]
        node.args.args = [ast.arg(one.arg) for one in node.args.args]
        self.generic_visit(node)
        node.body[:0] = own
        return node

    def mark(self, body: list[ast.stmt]) -> None:
        """Mark the parallel loops of a kernel; what is unrolled stands at the top level, too."""
        serial = False
        for stmt in body:
            if isinstance(stmt, ast.For):
                if "ti.static" in ast.unparse(stmt.iter):
                    self.mark(stmt.body)
                elif not serial:
                    stmt.iter = _call("_parallel", stmt.iter)
            serial = isinstance(stmt, ast.Expr) and "loop_config" in ast.unparse(stmt)

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        (target,) = node.targets
        value = _call("_own", node.value)
        if isinstance(target, ast.Name):
            return ast.Assign([target], value)
        if isinstance(target, ast.Tuple):
            names = [ast.Name(f"_part{k}", ast.Store()) for k in range(len(target.elts))]
            parts = [ast.Name(name.id, ast.Load()) for name in names]
            return [
                ast.Assign([ast.Tuple(list(names), ast.Store())], value),
                *(self._assign(one, part) for one, part in zip(target.elts, parts, strict=True)),
            ]
        return self._assign(target, value)

    def _assign(self, target: ast.expr, value: ast.expr) -> ast.stmt:
        if isinstance(target, ast.Name):
            return ast.Assign([target], value)
        return ast.Expr(_call("_store", value, _place(target)))

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        name = ast.Constant(_OPERATORS[type(node.op)])
        if isinstance(node.target, ast.Name):
            before = ast.Name(node.target.id, ast.Load())
            return ast.Assign([node.target], _call("_operate", name, before, node.value))
        return ast.Expr(_call("_change", name, _place(node.target), node.value))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):  # of two integers it is a float with a tangent
            return _call("_operate", ast.Constant("div"), node.left, node.right)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        then, orelse = _draws_in(node.body), _draws_in(node.orelse)
        if (then or orelse) and _is_known(node.test):
            raise Discard("what a known condition skips draws")
        self.generic_visit(node)
        node.body = _skipping(0, node.body, orelse)
        node.orelse = _skipping(then, node.orelse, 0)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        *before, last = node.values
        if not any(map(_draws_in, node.values[1:])):
            return self.generic_visit(node)
        first = before[0] if len(before) == 1 else ast.BoolOp(node.op, before)
        if isinstance(node.op, ast.And):
            return self.visit_IfExp(ast.IfExp(first, last, ast.Constant(False)))
        return self.visit_IfExp(ast.IfExp(first, ast.Constant(True), last))

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.test = ast.BoolOp(ast.And(), [_call("_step"), node.test])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr.startswith("atomic_"):
            target, value = node.args
            name = ast.Constant(node.func.attr.removeprefix("atomic_"))
            return _call("_change", name, _place(target), value)
        return node


def _own(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_own, value))
    return value.copy() if isinstance(value, Small) else value


def ndrange(*axes: Any) -> Any:
    ranges = [range(*axis) if isinstance(axis, tuple) else range(axis) for axis in axes]
    return ranges[0] if len(ranges) == 1 else itertools.product(*ranges)


def _grouped(what: Any) -> Iterator[Small]:
    for index in what:
        parts = index if isinstance(index, tuple) else (index,)
        yield Small(parts, (len(parts),))


class _Number:
    """A number type: casts."""

    def __init__(self, whole: bool) -> None:
        self.whole = whole

    def __call__(self, value: Any = 0) -> Any:
        if isinstance(value, Small):
            return value.map(self)
        return int(value) if self.whole else dual(value)


class PlainFunc:
    """A func, with a rule of its own if it was given one."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.rule: Callable[..., Any] | None = None

    def backward(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        self.rule = rule
        return rule

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.rule is None:
            return self.function(*args, **kwargs)
        cut = [duals.OWN["stop_grad"](one) for one in args]
        value = self.function(*cut)
        slopes = self.rule(*cut, 1.0)
        slopes = slopes if isinstance(slopes, tuple) else (slopes,)
        dots = [dual(one).dot for one in args]  # a whole number that stands for a float has none
        dot = sum(value_of(slope) * dot for slope, dot in zip(slopes, dots, strict=True))
        return Dual(value_of(value), dot)


class Interpreter:
    """Executes texts; what kernels do is found in `run`."""

    def __init__(self) -> None:
        self.run = Run()
        number = {"f32": False, "f64": False, "i32": True, "i64": True}
        numbers = {name: _Number(whole) for name, whole in number.items()}
        self.modules = {
            "taichi": SimpleNamespace(
                **duals.FUNCTIONS,
                **numbers,
                math=SimpleNamespace(**duals.MATH),
                Vector=duals.vector,
                Matrix=duals.vector,
                static=lambda value: value,
                ndrange=ndrange,
                grouped=_grouped,
                cast=lambda value, type_: type_(value),
                loop_config=lambda **_: None,
                random=self._rand,
            ),
            "difftile": SimpleNamespace(
                **duals.OWN,
                func=PlainFunc,
                kernel=lambda function: function,
                unique=lambda value: value,
                rand=self._rand,
                randn=self._randn,
                randint=self._randint,
            ),
        }
        changed = {
            "__import__": self._import,
            "max": duals.largest,
            "min": duals.smallest,
            "float": _Number(False),
            "int": _Number(True),
            "pow": duals.FUNCTIONS["pow"],
        }
        self.names = {
            "_own": _own,
            "_place": place,
            "_store": lambda value, at: at.store(value),
            "_change": change,
            "_operate": lambda name, a, b: OPERATIONS[name](a, b),
            "_parallel": self._parallel,
            "_step": self._step,
            "_skip": self._skip,
            "__builtins__": {**vars(builtins), **changed},
        }

    def _parallel(self, iterable: Iterable[Any]) -> Iterator[Any]:
        return self.run.parallel(iterable)

    def _step(self) -> bool:
        return self.run.step()

    def _skip(self, draws: int) -> None:
        self.run.draws += draws

    def _import(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self.modules.get(name) or builtins.__import__(name, *args, **kwargs)

    def execute(self, tree: ast.Module, *, kernels: bool, **known: Any) -> dict[str, Any]:
        """Return the names that a module defines; of kernels if so said, else of funcs."""
        names: dict[str, Any] = {**self.names, **known, "__name__": "plain"}
        tree = ast.fix_missing_locations(_Rewritten(kernels).visit(tree))
        exec(compile(tree, "<plain>", "exec", dont_inherit=True), names)
        return names

    def field(self, memory: Memory, places: np.ndarray) -> PlainField:
        """Return a field over some places of a memory."""
        return PlainField(lambda: self.run, memory, places)

    # Random numbers

    def _fraction(self, upper: int, lower: int) -> float:
        return ((upper >> 5) * 2**26 + (lower >> 6)) * 2.0**-53

    def _rand(self, *_: Any) -> Dual:
        words = self.run.bits()
        return Dual(self._fraction(*words[:2]))

    def _randn(self, *_: Any) -> Dual:
        words = self.run.bits()
        level = (float(words[0]) * 2.0**32 + words[1] + 0.5) * 2.0**-64
        angle = 2 * math.pi * self._fraction(*words[2:])
        return Dual(math.sqrt(-2 * math.log(level)) * math.cos(angle))

    def _randint(self, low: int, high: int | None = None) -> int:
        low, high = (0, low) if high is None else (low, high)
        words = self.run.bits()
        size = max(high - low, 1)
        return low + ((words[0] * size + (words[1] * size >> 32)) >> 32)
