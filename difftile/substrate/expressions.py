"""Values to expressions: a value that is used once is written where it is used.

An expression waits for its use, and becomes a line of its own before an array that it reads
changes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import field, replace

from difftile.ir.nodes import Array, Const, Let, Text, Value, Var
from difftile.ir.printer import Names
from difftile.ir.types import BOOL, FLOATS, Matrix, is_float, scalar_of, shape_of
from difftile.records import dataclass
from difftile.schedule.long_values import is_long
from difftile.substrate.spellings import (
    ATOM,
    COMPARE,
    NOT,
    PRODUCT,
    SUM,
    Formula,
    Spelling,
    places,
    written,
)
from difftile.substrate.syntax import function_name, literal

_LARGEST_EXPANDED = 4  # rows of a determinant that is written out
_LONGEST_INLINED = 72
_LARGEST_WRITTEN_OUT = 64  # multiplications of a product of matrices
_LONGEST_NAMED = 36  # a load has a name that the compiler gave it


@dataclass(frozen=True, slots=True)
class Expression:
    """The text of a value.

    Args:
        text: The text, without parentheses around it.
        precedence: How tightly its outermost operator binds.
        reads: The arrays that it reads.
        negates: The operand of the sign, where this is a negative.
    """

    text: str
    precedence: int
    reads: frozenset[Array] = frozenset()
    negates: str = ""


@dataclass
class Expressions:
    """The values of a kernel as text.

    Args:
        names: The names of variables and arrays.
        uses: How often each variable is used in the kernel.
        guarded: The compiler of the device takes it that no number is NaN.
        spellings: How each op is written.
        cell: The index of the element of a field without dimensions.
        polynomials: How functions that are polynomials are written, by their results.
        in_order: Loads stay before the stores that they come before: the device's compiler cannot
            tell that a store does not change later loads.
        tiles: Arrays in memory that a block of threads has together.
        row: Where a thread's row of a tile begins.
    """

    names: Names
    uses: Counter[Var]
    guarded: bool
    spellings: Mapping[str, Spelling]
    cell: str = "None"
    polynomials: Mapping[Var, Spelling] = field(default_factory=dict[Var, Spelling])
    in_order: bool = False
    tiles: frozenset[Array] = frozenset()
    row: str = ""
    alias: dict[Var, str] = field(default_factory=dict[Var, str])
    _waiting: dict[Var, Expression] = field(default_factory=dict[Var, Expression])
    _casts: set[Value] = field(default_factory=set[Value])  # that were made by casts

    # Writes by place

    def define(self, out: Var, expression: Expression, here: Counter[Var]) -> list[str]:
        """Keep an expression for its use, if that is one and in this block; else return its line.

        Args:
            out: The variable that has the value.
            expression: The text of the value.
            here: How often variables are used in this block, blocks inside it left out.
        """
        once = self.uses[out] == 1 and here[out] == 1 and not is_long(out.type)
        short = len(expression.text) <= (_LONGEST_NAMED if out.name else _LONGEST_INLINED)
        if once and short and (expression.reads or not out.name):
            self._waiting[out] = expression
            return []
        return [f"{self.name(out)} = {expression.text}"]

    def flush(self, written: Collection[Array]) -> list[str]:
        """Return lines for waiting expressions that read an array which is about to change."""
        due = [v for v, e in self._waiting.items() if not e.reads.isdisjoint(written)]
        if self.in_order and written:
            due = [v for v, e in self._waiting.items() if e.reads]
        return [f"{self.name(out)} = {self._waiting.pop(out).text}" for out in due]

    def named(self, values: tuple[Value, ...]) -> list[str]:
        """Return lines for those values that wait, since a loop is going to use them."""
        due = [v for v in values if isinstance(v, Var) and v in self._waiting]
        return [f"{self.name(v)} = {self._waiting.pop(v).text}" for v in due]

    def waits(self, out: Var) -> bool:
        """Tell whether a value has no line of its own yet."""
        return out in self._waiting

    def consumed(self, values: tuple[Value, ...]) -> None:
        """Forget expressions that waited for the line that has now been written."""
        for value in values:
            if isinstance(value, Var):
                self._waiting.pop(value, None)

    # Values

    def text(self, value: Value, precedence: int = 0) -> str:
        """Return the text of a value, in parentheses where the place binds tighter."""
        if isinstance(value, Const):
            text = literal(value.value, value.type)
            return f"({text})" if text.startswith("-") and precedence > PRODUCT else text
        waiting = self._waiting.get(value)
        if waiting is None:
            return self.name(value)
        return f"({waiting.text})" if waiting.precedence < precedence else waiting.text

    def name(self, variable: Var) -> str:
        """Return the name of a variable that is one in the source too."""
        return self.alias.get(variable) or self.names[variable]

    def negated(self, value: Value) -> str:
        """Return the text of which a waiting expression is the negative, or an empty text."""
        waiting = self._waiting.get(value) if isinstance(value, Var) else None
        return "" if waiting is None else waiting.negates

    def bounds(self, start: Value, stop: Value) -> str:
        """Return the arguments of `range`."""
        if isinstance(start, Const) and start.value == 0:
            return self.text(stop)
        return f"{self.text(start)}, {self.text(stop)}"

    def length(self, start: Value, stop: Value) -> str:
        """Return the number of iterations of a range, as a factor of a product."""
        if isinstance(start, Const) and start.value == 0:
            return self.text(stop, PRODUCT)
        if isinstance(start, Const) and isinstance(stop, Const):
            return str(max(0, int(stop.value) - int(start.value)))
        return f"({self.text(stop, SUM)} - {self.text(start, SUM + 1)})"

    def _reads(self, values: tuple[Value, ...]) -> frozenset[Array]:
        found: frozenset[Array] = frozenset()
        for value in values:
            if isinstance(value, Var) and value in self._waiting:
                found |= self._waiting[value].reads
        return found

    def printed(self, parts: tuple[Text, ...]) -> str:
        """Return the arguments of `print`."""
        last = parts[-1] if parts else ""
        whole_line = False
        if isinstance(last, str) and last.endswith("\n"):
            whole_line = True
            parts = (*parts[:-1], last[:-1]) if len(last) > 1 else parts[:-1]
        args: list[str] = []
        for part in parts:
            if isinstance(part, str):
                args.append(repr(part))
            else:
                text = self.text(part.value)
                args.append(f'f"{{{text}:{part.form}}}"' if part.form else text)
        args += ['sep=""'] if len(args) > 1 else []
        args += [] if whole_line else ['end=""']
        return ", ".join(args)

    # Elements of arrays

    def index(self, index: tuple[Value, ...]) -> str:
        """Return the text between the brackets."""
        return ", ".join(self.text(i) for i in index) if index else self.cell

    def place(self, array: Array, index: tuple[Value, ...]) -> str:
        """Return the text of an element, or of a component of it."""
        ndim = array.type.ndim
        text = self.names[array]
        if array in self.tiles:
            return f"{text}[{self.row} + {self.text(index[0], SUM)}]"
        if ndim and array.size is not None:
            return f"{text}[{self.offset(array, index)}]"
        if ndim or array.size is None:
            text += f"[{self.index(index[:ndim])}]"
        return f"{text}[{self.index(index[ndim:])}]" if len(index) > ndim else text

    def offset(self, array: Array, index: tuple[Value, ...]) -> str:
        """Return where an element of a local array, or a component of it, is in its memory.

        All components of an array are in one, an element after the other.
        """
        lengths = (*array.lengths, *shape_of(array.type.element))
        if len(index) == len(lengths) == 1:
            return self.text(index[0])
        terms: list[str] = []
        known = 0
        for axis, at in enumerate(index):
            stride = math.prod(lengths[axis + 1 :])
            if isinstance(at, Const):
                known += int(at.value) * stride
            else:
                terms.append(
                    self.text(at, SUM) if stride == 1 else f"{self.text(at, PRODUCT)} * {stride}"
                )
        if known or not terms:
            terms.append(str(known))
        return " + ".join(terms).replace("+ -", "- ")

    def load(self, array: Array, index: tuple[Value, ...]) -> Expression:
        """Return the expression of a load."""
        reads = self._reads(index) | {array}
        return Expression(self.place(array, index), ATOM, reads)

    def gathered(self, array: Array, at: str) -> Expression:
        """Return a vector or matrix in a local array, whose components start at a place."""
        shape = shape_of(array.type.element)
        name = self.names[array]
        parts = [f"{name}[{place}]" for place in places_from(at, math.prod(shape))]
        if len(shape) == 1:
            return Expression(f"ti.Vector([{', '.join(parts)}])", ATOM, frozenset({array}))
        return Expression(f"ti.Matrix([{_rows(parts, shape[1])}])", ATOM, frozenset({array}))

    # Operations

    def let(self, let: Let) -> Expression:
        """Return the text of an operation, `insert` excepted."""
        args = let.args
        reads = self._reads(args)
        plain = ", ".join(self.text(arg) for arg in args)
        match let.op:
            case "bit_cast":
                return Expression(f"ti.bit_cast({plain}, ti.{let.out.type})", ATOM, reads)
            case "cast":
                return self._cast(let, reads)
            case "vec":
                return Expression(f"ti.Vector([{plain}])", ATOM, reads)
            case "mat":
                assert isinstance(let.out.type, Matrix)
                rows = _rows([self.text(arg) for arg in args], let.out.type.m)
                return Expression(f"ti.Matrix([{rows}])", ATOM, reads)
            case "extract":
                whole = self.text(args[0], ATOM)
                return Expression(f"{whole}[{self.index(args[1:])}]", ATOM, reads)
            case "neg":
                text = self.text(args[0], PRODUCT)
                # -a * b is -(a * b), but -a // b is not -(a // b).
                rounds = "//" in text or "%" in text
                operand = self.text(args[0], ATOM) if rounds else text
                return Expression(f"-{operand}", PRODUCT, reads, operand)
            case "matmul" if _is_large(args):
                scalar = scalar_of(let.out.type)
                return Expression(f"dense.matmul({plain}, ti.{scalar})", ATOM, reads)
            case "determinant" if shape_of(args[0].type)[0] > _LARGEST_EXPANDED:
                return Expression(f"dense.determinant({plain})", ATOM, reads)
            case "lt" | "le" | "gt" | "ge" | "eq" | "ne" if is_float(args[0].type):
                return self._comparison(let.op, args, reads)
            case "and" | "or" if shape_of(let.out.type):
                spelling = self.spellings[f"bit_{let.op}"]
            case _:
                spelling = self.polynomials.get(let.out) or self.spellings[let.op]
        if isinstance(spelling, Formula):
            return Expression(f"{function_name(let)}({plain})", ATOM, reads)
        tight = places(spelling, len(args))
        texts = [self.text(arg, place) for arg, place in zip(args, tight, strict=True)]
        text = written(spelling, texts, scalar_of(args[0].type))
        return Expression(text, spelling.precedence, reads)

    def _cast(self, let: Let, reads: frozenset[Array]) -> Expression:
        """Return a cast.

        Taichi leaves out the inner one of two casts where that changes the value: `int(f32(x))` of
        an f64, `i8(i32(x))` of a float. Taichi does not see through `-(-x)`, which LLVM removes.
        """
        (arg,), target, source = let.args, scalar_of(let.out.type), scalar_of(let.args[0].type)
        if target == BOOL != source:
            # Taichi ends the process on a cast of a float to a bool.
            zero = Const(0.0 if source in FLOATS else 0, source)
            return self.let(replace(let, op="ne", args=(arg, zero)))
        widens = target in FLOATS and source not in FLOATS
        again = arg in self._casts and not widens
        operand = f"-(-{self.text(arg, PRODUCT + 1)})" if again else self.text(arg)
        self._casts.add(let.out)
        name = "u1" if target == BOOL else str(target)
        return Expression(f"ti.cast({operand}, ti.{name})", ATOM, reads)

    def _comparison(self, op: str, args: tuple[Value, ...], reads: frozenset[Array]) -> Expression:
        """Return a comparison of floats as in IEEE 754, with and without `fast_math`.

        Taichi's `!=` is false for NaN. Under fast math it takes `x == x` and `x <= x` for true, for
        any x that it finds to be the same on both sides; `-(-x)` is not, and costs nothing: LLVM,
        which knows of NaN, removes it. LLVM 22 takes it that no float is infinite.
        """
        infinite = any(isinstance(arg, Const) and math.isinf(arg.value) for arg in args)
        if self.guarded or infinite:
            texts = ", ".join(self.text(arg) for arg in args)
            name = f"{op}_infinite" if infinite else op
            return Expression(
                f"predicates.{name}({texts}, ti.{scalar_of(args[0].type)})", ATOM, reads
            )
        left, right = (self.text(arg, COMPARE + 1) for arg in args)
        if op in ("eq", "ne", "le", "ge") and not any(isinstance(arg, Const) for arg in args):
            right = f"-(-{self.text(args[1], PRODUCT + 1)})"
        compared = written(self.spellings["eq" if op == "ne" else op], (left, right))
        return (
            Expression(f"not {compared}", NOT, reads)
            if op == "ne"
            else Expression(compared, COMPARE, reads)
        )


def in_parts(array: Array, index: tuple[Value, ...]) -> bool:
    """Tell whether an index stands for a vector or matrix in a local array of numbers."""
    return (
        array.size is not None
        and len(index) == array.type.ndim > 0
        and bool(shape_of(array.type.element))
    )


def places_from(at: str, count: int) -> list[str]:
    """Return the places of components that follow each other."""
    if at.isdecimal():
        return [str(int(at) + k) for k in range(count)]
    return [at, *(f"{at} + {k}" for k in range(1, count))]


def _is_large(factors: tuple[Value, ...]) -> bool:
    """Tell whether a product is better made by loops than written out, as Taichi does."""
    left, right = (shape_of(factor.type) for factor in factors)
    return len(right) == 2 and left[0] * left[1] * right[1] > _LARGEST_WRITTEN_OUT


def _rows(texts: list[str], m: int) -> str:
    return ", ".join(f"[{', '.join(texts[k : k + m])}]" for k in range(0, len(texts), m))
