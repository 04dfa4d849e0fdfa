"""Every row inside of longer expressions, branches and loops, in double precision throughout.

Alone, a row that Taichi computes in single precision may look right: a sign is 1 in either. Here
its arguments are results of other rows, and its result goes through `exp`, products and a loop.
Values, tangents and adjoints are compared with their meaning in Python.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

import difftile as dt
from difftile import meaning
from difftile.ad.forward import forward
from difftile.ad.reverse import reverse
from difftile.ir.derived import Bar, Dot, primal
from difftile.ir.nodes import Array, Block, Const, For, If, Program, Value, Var
from difftile.ir.types import BOOL, F64, I32, FieldType, Scalar, scalar_of, shape_of
from difftile.ops.build import OpBuilder
from difftile.ops.check import check
from difftile.ops.table import ELEMENTWISE, OPS
from difftile.passes.optimise import normalise
from difftile.schedule.finish import finish
from difftile.substrate import CompiledProgram
from tests.op_programs import DENSE, Case
from tests.ops.test_ops_in_taichi import spelled
from tests.targets import host

_CHUNK = 16  # rows to a kernel: Taichi's time to compile grows faster than kernels do
_INNER = ("sin", "tanh", "sqrt", "floor", "sign", "exp", "atan2", "clamp", "abs", "log1p", "round")


def _cases() -> Iterator[Case]:
    """Yield each row with the scalars it accepts, and with one size of vectors and matrices."""
    seen: set[tuple[str, bool]] = set()
    for case in spelled():
        shaped = any(shape_of(t) for t in (*case.types, case.result))
        large = max((shape_of(t) for t in (*case.types, case.result)), default=())
        if (case.op.name, shaped) not in seen and large in ((), (2,), (3,), (2, 2), (3, 3)):
            seen.add((case.op.name, shaped))
            yield case


def _chunks() -> list[list[Case]]:
    cases = list(_cases())
    return [cases[k : k + _CHUNK] for k in range(0, len(cases), _CHUNK)]


class _Composed:
    """A program with one expression around each row, which reads `x` and writes `y`."""

    def __init__(self) -> None:
        self.b = OpBuilder()
        self.x = Array("x", FieldType(F64, 1))
        self.y = Array("y", FieldType(F64, 1))
        self.pool: list[Value] = []
        self.reads = 0

    def number(self, value: float) -> Const:
        return Const(value, F64)

    def fill(self, carried: Value) -> None:
        """Make the values that arguments are made of: between -1 and 1, out of two rows each."""
        self.pool.clear()
        for k, name in enumerate(_INNER):
            read = self.b.load(self.x, (Const(k % 7, I32),))
            moved = self.b.call("add", self.b.call("mul", read, self.number(0.3)), carried)
            low, high = OPS[name].domain[0]
            args = [self.within(self.b.call("sin", moved), low, high)]
            args += [self.number(0.37 * low + 0.63 * high) for low, high in OPS[name].domain[1:]]
            self.pool.append(self.b.call("sin", self.b.call(name, *args)))

    def inner(self) -> Value:
        self.reads += 1
        return self.pool[self.reads % len(self.pool)]

    def within(self, unit: Value, low: float, high: float) -> Value:
        half, middle = (high - low) / 2, (high + low) / 2
        return self.b.call("add", self.number(middle), self.b.call("mul", unit, self.number(half)))

    def argument(self, case: Case, k: int) -> Value:
        type_ = case.types[k]
        shape, scalar = shape_of(type_), scalar_of(type_)
        domain = case.op.domain or ((-2.0, 2.0),) * len(case.types)
        low, high = domain[min(k, len(domain) - 1)]
        parts = [self.part(scalar, case, k, low, high) for _ in np.ndindex(shape)]
        if case.op.name in DENSE and k == 0:
            n = shape[0]
            parts = [
                self.b.call("add", part, self.number(5.0)) if at % (n + 1) == 0 else part
                for at, part in enumerate(parts)
            ]
        if not shape:
            return parts[0]
        return self.b.call("vec" if len(shape) == 1 else "mat", *parts, type_=type_)

    def part(self, scalar: Scalar, case: Case, k: int, low: float, high: float) -> Value:
        if scalar == I32 and case.op.name in ("extract", "insert"):
            return Const(self.reads % 2, I32)
        unit = self.inner()
        if scalar == BOOL:
            return self.b.call("gt", unit, self.number(0.1))
        if scalar == I32:
            if not case.op.domain:
                low, high = (1.1, 4.9) if k else (-7.0, 7.0)
            return self.b.cast(self.within(unit, low, high), I32)
        return self.within(unit, low, high)

    def scalar(self, value: Value) -> Value:
        """Return a number that all components of a result have their part in."""
        total: Value = self.number(0.0)
        for at, cell in enumerate(np.ndindex(shape_of(value.type))):
            part = value
            if cell:
                part = self.b.call("extract", value, *(Const(i, I32) for i in cell))
            part = part if scalar_of(part.type) == F64 else self.b.cast(part, F64)
            # A function of only the result: with a literal it would be computed in double anyway.
            part = self.b.call("mul", self.b.call("sin", part), self.number(1 / (3 + at)))
            total = self.b.call("add", total, part)
        return total

    def expression(self, case: Case) -> Value:
        args = tuple(self.argument(case, k) for k in range(len(case.types)))
        return self.scalar(self.b.call(case.op.name, *args, type_=case.result))

    def in_branch(self, case: Case) -> Value:
        """Append a branch of which either side has the row; return its result."""
        condition = self.b.call("gt", self.inner(), self.number(0.05))
        with self.b.region() as then:
            one = self.b.call("exp", self.expression(case))
        with self.b.region() as orelse:
            other = self.b.call("div", self.expression(case), self.number(3.0))
        out = Var("t", F64)
        sides = (Block(tuple(then), (one,)), Block(tuple(orelse), (other,)))
        self.b.append(If(condition, *sides, (out,)))
        return out

    def loop(self, cases: list[Case]) -> None:
        """Append a loop that carries the results of all rows, and adds each to an element."""
        carry, out = Var("c", F64), Var("c", F64)
        with self.b.region() as body:
            self.fill(carry)
            new = self.b.call("mul", carry, self.number(0.1))
            for k, case in enumerate(cases):
                append = (
                    self.in_branch
                    if k % 3 == 0 and case.op.name in ELEMENTWISE
                    else self.expression
                )
                result = append(case)
                self.b.accumulate(self.y, (Const(k, I32),), result)
                new = self.b.call("add", new, self.b.call("mul", result, self.number(0.1)))
        block = Block(tuple(body), (new,))
        bounds = (Const(0, I32), Const(2, I32))
        self.b.append(For(Var("j", I32), *bounds, (carry,), (self.number(0.2),), block, (out,)))
        self.b.accumulate(self.y, (Const(len(cases), I32),), out)

    def program(self) -> Program:
        return check(Program("composed", (self.x, self.y), self.b.block()))


def _compared(
    program: Program, contents: dict[Array, npt.NDArray[np.float64]], *of: Array
) -> list[tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """Return the contents of some arrays after the compiled program and its meaning."""
    wanted = {array: values.copy() for array, values in contents.items()}
    meaning.run(program, wanted)
    fields = {array: dt.from_numpy(values) for array, values in contents.items()}
    finished = finish(program, host(16))
    compiled = CompiledProgram(finished)
    assert not finished.temps
    compiled.launch([fields[p].buffer for p in finished.params if isinstance(p, Array)])
    return [(fields[array].to_numpy(), wanted[array]) for array in of]


@pytest.mark.parametrize("cases", _chunks(), ids=lambda cases: f"{cases[0]}..")
def test_rows_in_expressions_are_computed_in_double_precision(cases: list[Case]) -> None:
    composed = _Composed()
    composed.loop(cases)
    program = normalise(composed.program())
    x, y = composed.x, composed.y
    rng = np.random.default_rng(5)
    given = {x: rng.uniform(-2, 2, 7), y: np.zeros(len(cases) + 1)}
    names = [*map(str, cases), "what is carried"]

    tangents = forward(primal(program), frozenset((x, y)))
    x_dot, y_dot = (tangents.of(Dot)[field] for field in (x, y))
    dots = {x_dot: rng.uniform(-1, 1, 7), y_dot: np.zeros(len(names))}
    pushed = normalise(tangents.program)
    for found, wanted in _compared(pushed, {**given, **dots}, y, y_dot):
        _agree(names, found, wanted)

    adjoint = reverse(program, frozenset((x, y)))
    x_bar, y_bar = (adjoint.of(Bar)[field] for field in (x, y))
    bars = {x_bar: np.zeros(7), y_bar: rng.uniform(-1, 1, len(names))}
    contents = {p: given[p] for p in adjoint.program.params if p in given}
    ((found, wanted),) = _compared(adjoint.program, {**contents, **bars}, x_bar)
    np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-14 * np.abs(wanted).max())


def _agree(
    names: list[str], found: npt.NDArray[np.float64], wanted: npt.NDArray[np.float64]
) -> None:
    off = np.abs(found - wanted) / np.maximum(1, np.abs(wanted))
    errors = {name: f"{error:.1e}" for name, error in zip(names, off, strict=True) if error > 1e-14}
    assert not errors
