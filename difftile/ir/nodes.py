"""The intermediate representation: typed A-normal form with structured regions.

Values are defined once (`Var`) or are literals (`Const`). Locals that the user's program assigns
again are new values, joined by the results of `If` and by the carries of `For` and `While`. Memory
is touched by `Load`, `Store`, `Accumulate` and `Combine` alone; `Print` and `Fail` are the other
effects.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from difftile.diagnostics import Span
from difftile.ir.failures import Failure
from difftile.ir.types import FieldType, Scalar, Type


@dataclass(frozen=True, slots=True, eq=False)
class Var:
    """A value defined once; two variables are the same only if they are the same object."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Const:
    """A literal; a vector or matrix type means that value in every component."""

    value: float | int | bool
    type: Type


Value: TypeAlias = Var | Const


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """A place in memory that kernels index: a field parameter or a local array.

    Args:
        name: The user's name, or one made from it.
        type: Element type and number of indices.
        size: Length of a local array of one thread; None for a field.
        like: For memory that an adjoint needs while it runs: the field whose shape it has.
    """

    name: str
    type: FieldType
    size: int | None = None
    like: Array | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Statements and the values that leave them."""

    stmts: tuple[Stmt, ...]
    results: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Let:
    """`out = op(args)`, where `op` names a row of the table of ops."""

    out: Var
    op: str
    args: tuple[Value, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Size:
    """`out = array.shape[axis]`."""

    out: Var
    array: Array
    axis: int
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Load:
    """`out = array[index]`; an index longer than the field's ndim goes on into the element."""

    out: Var
    array: Array
    index: tuple[Value, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Store:
    """`array[index] = value`."""

    array: Array
    index: tuple[Value, ...]
    value: Value
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Accumulate:
    """`array[index] += value`, atomically unless one thread alone touches the element.

    `once` says that the program touches the element nowhere else, and here at most once: where the
    array is known to hold zeros, the value can be stored.
    """

    array: Array
    index: tuple[Value, ...]
    value: Value
    span: Span | None = field(default=None, compare=False)
    atomic: bool = True
    once: bool = False


@dataclass(frozen=True, slots=True)
class Combine:
    """`out = array[index]; array[index] = op(out, value)` in one step that no other comes between.

    `op` is one of those whose order does not matter: add, mul, max, min, bit_and, bit_or, bit_xor;
    or div, where the element belongs to one iteration. Nothing else knows what `out` was.
    """

    out: Var | None
    op: str
    array: Array
    index: tuple[Value, ...]
    value: Value
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Alloc:
    """Declare a local array; its elements start at zero."""

    array: Array
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """Run one of two regions; `outs` are the results of the region that ran."""

    cond: Value
    then: Block
    orelse: Block
    outs: tuple[Var, ...] = ()
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class For:
    """`for index in range(start, stop)`, carrying values from one iteration to the next."""

    index: Var
    start: Value
    stop: Value
    carries: tuple[Var, ...]
    inits: tuple[Value, ...]
    body: Block
    outs: tuple[Var, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class While:
    """Evaluate `cond`; while its one result is true, run `body` and carry its results on."""

    carries: tuple[Var, ...]
    inits: tuple[Value, ...]
    cond: Block
    body: Block
    outs: tuple[Var, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ParallelFor:
    """Iterations over a box of indices in any order; at the top level of a program only."""

    indices: tuple[Var, ...]
    starts: tuple[Value, ...]
    stops: tuple[Value, ...]
    body: Block
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Shown:
    """A number in a text: the value, and a format of C without its '%', or '' for the usual one."""

    value: Value
    form: str = ""


Text: TypeAlias = str | Shown


@dataclass(frozen=True, slots=True)
class Print:
    """Print texts and values one after the other."""

    parts: tuple[Text, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Fail:
    """Report a failure and go on; the launch raises the first one at its end."""

    failure: Failure
    values: tuple[Value, ...]
    span: Span | None = field(default=None, compare=False)


Stmt: TypeAlias = (
    Let
    | Size
    | Load
    | Store
    | Accumulate
    | Combine
    | Alloc
    | If
    | For
    | While
    | ParallelFor
    | Print
    | Fail
)
Write: TypeAlias = Store | Accumulate | Combine
Memory: TypeAlias = Load | Write


@dataclass(frozen=True, slots=True)
class Program:
    """One kernel: what every pass takes and returns.

    Args:
        name: The user's name of the kernel.
        params: Fields and run-time numbers, in the order in which they are passed.
        body: The top level; each `ParallelFor` in it is one parallel task.
        temps: Parameters that the runtime allocates for each launch, invisible to the user.
    """

    name: str
    params: tuple[Array | Var, ...]
    body: Block
    temps: tuple[Array, ...] = ()


def is_scalar(value: Value) -> bool:
    """Tell whether a value is a single number."""
    return isinstance(value.type, Scalar)
