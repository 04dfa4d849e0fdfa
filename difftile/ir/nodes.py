"""The intermediate representation: typed A-normal form with structured regions.

Values are defined once (`Var`) or are literals (`Const`). Locals that the user's program assigns
again are new values, joined by the results of `If` and by the carries of `For` and `While`. Memory
is touched only by `Load`, `Store`, `Accumulate` and `Combine`; `Print` and `Fail` are the other
effects. `Ruled` marks a body with a derivative of the user's own, `Derivative` asks for one;
neither is left when code is emitted.
"""

from __future__ import annotations

from dataclasses import field
from math import prod
from typing import Any, TypeAlias

from difftile.diagnostics import Span
from difftile.ir.failures import Failure
from difftile.ir.types import FieldType, Scalar, Type, shape_of
from difftile.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Var:
    """A value defined once; two variables are the same only if they are the same object."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Const:
    """A literal; a vector or matrix type means that value in every component.

    Args:
        value: The number.
        type: Its type.
        structural: A zero that means absence, such as the adjoint of a value that has none: a
            product with it is absent as well, whatever the other factor.
    """

    value: float | int | bool
    type: Type
    structural: bool = field(default=False, compare=False)


Value: TypeAlias = Var | Const


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """A place in memory that kernels index: a field parameter or a local array.

    Args:
        name: The user's name, or one made from it.
        type: Element type and number of indices.
        size: Number of elements of a local array of one thread; None for a field.
        like: For memory that an adjoint needs while it runs: the field whose shape it has.
        gradient_of: For gradients that a rule reads and adds to: the field they belong to, with
            respect to the contents after the call or launch (`incoming`) or before it.
        incoming: See `gradient_of`.
        contents_of: For contents that a rule reads by name: the field they belong to, from after
            the call or launch (`late`) or from before it.
        late: See `contents_of`.
        axes: The length of each axis of a local array with several.
    """

    name: str
    type: FieldType
    size: int | None = None
    like: Array | None = None
    gradient_of: Array | None = None
    incoming: bool = False
    contents_of: Array | None = None
    late: bool = False
    axes: tuple[int, ...] = ()

    @property
    def lengths(self) -> tuple[int, ...]:
        """The length of each axis of a local array."""
        assert self.size is not None
        return self.axes or (self.size,)[: self.type.ndim]

    @property
    def numbers(self) -> int:
        """How many numbers a local array holds, components of its elements included."""
        return prod((*self.lengths, *shape_of(self.type.element)))

    @property
    def in_rule(self) -> Array | None:
        """The field whose gradient or contents this is, for arrays that only rules name."""
        return self.gradient_of or self.contents_of


@dataclass(frozen=True, slots=True)
class Block:
    """Statements and the values that leave them.

    `facts` are what has been found out about the block (`difftile.ir.facts`).
    """

    stmts: tuple[Stmt, ...]
    results: tuple[Value, ...] = ()
    facts: dict[Any, Any] = field(
        default_factory=dict[Any, Any], init=False, repr=False, compare=False
    )


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
    """`array[index] += value`, atomically unless only one thread touches the element.

    `single_write` says that the program touches the element nowhere else, and here at most once:
    where the array is known to hold zeros, the value can be stored. `aggregated` says that the
    threads of a warp all get here in step, with the same element.
    """

    array: Array
    index: tuple[Value, ...]
    value: Value
    span: Span | None = field(default=None, compare=False)
    atomic: bool = True
    single_write: bool = False
    aggregated: bool = False


@dataclass(frozen=True, slots=True)
class Combine:
    """`out = array[index]; array[index] = op(out, value)` in one step that no other comes between.

    `op` is one of those whose order does not matter: add, mul, max, min, bit_and, bit_or, bit_xor;
    or div, where the element belongs to one iteration. No other statement knows the old value.
    """

    out: Var | None
    op: str
    array: Array
    index: tuple[Value, ...]
    value: Value
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Alloc:
    """Declare a local array; its elements start at zero.

    A `shared` one is in memory that the lanes of a warp have together, and not in each of them.
    """

    array: Array
    span: Span | None = field(default=None, compare=False)
    shared: bool = False


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
    """`for index in range(start, stop)`, carrying values from one iteration to the next.

    `by_lanes` says that the lanes of the warp that runs it take turns: it carries sums,
    maxima or minima, and the order of the iterations does not matter.
    """

    index: Var
    start: Value
    stop: Value
    carries: tuple[Var, ...]
    inits: tuple[Value, ...]
    body: Block
    outs: tuple[Var, ...]
    span: Span | None = field(default=None, compare=False)
    by_lanes: bool = False


@dataclass(frozen=True, slots=True)
class While:
    """Evaluate `cond`; while its one result is true, run `body` and carry its results on.

    `ends` says that it is known to, as a counted loop that may be left early is.
    """

    carries: tuple[Var, ...]
    inits: tuple[Value, ...]
    cond: Block
    body: Block
    outs: tuple[Var, ...]
    span: Span | None = field(default=None, compare=False)
    ends: bool = False


@dataclass(frozen=True, slots=True)
class ParallelFor:
    """Iterations over a box of indices in any order; at the top level of a program only.

    `by_warps` says that all lanes of a warp run each iteration together: one of them does the
    writes outside of serial loops `by_lanes`. `ordered` says that sums into elements that
    iterations share are added up in one order, however many threads there are.
    """

    indices: tuple[Var, ...]
    starts: tuple[Value, ...]
    stops: tuple[Value, ...]
    body: Block
    span: Span | None = field(default=None, compare=False)
    by_warps: bool = False
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """A number in a text: the value, and a format of C without its '%', or '' for the usual one."""

    value: Value
    form: str = ""


Text: TypeAlias = str | Shown


@dataclass(frozen=True, slots=True)
class Print:
    """Print texts and values one after the other.

    `stops` makes it a stop of the debugger: the texts and the names of the values are then the
    arguments of a call, `name=value, ...`, with the locals of the user as keywords.
    """

    parts: tuple[Text, ...]
    span: Span | None = field(default=None, compare=False)
    stops: bool = False


@dataclass(frozen=True, slots=True)
class Fail:
    """Report a failure and go on; the launch raises the first one at its end."""

    failure: Failure
    values: tuple[Value, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """A derivative that the user wrote, in place of the derivative of a `Ruled` body.

    Args:
        params: The adjoints of the outs, or for forward mode the tangents of the args.
        block: Computes the adjoints of the args, or the tangents of the outs. It may read fields as
            they were before the body ran, and gradients of fields.
        approximate: The rule says of itself that it is not an exact derivative.
        span: Where the rule is defined.
    """

    params: tuple[Var, ...]
    block: Block
    approximate: bool = False
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Ruled:
    """`outs` are the results of `body`, whose derivative is given only by the rules.

    Args:
        outs: The results, integers included.
        args: The floats that the derivative is with respect to.
        body: It may use any values, `args` among them.
        backward: Its params are the adjoints of those outs that are floats; its results are the
            adjoints of the args.
        forward: Its params are the tangents of the args; its results are the tangents of the outs.
        name: The called function, in the user's words.
    """

    outs: tuple[Var, ...]
    args: tuple[Value, ...]
    body: Block
    backward: Rule | None
    forward: Rule | None
    name: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Derivative:
    """The derivative of a body, which has no effects, as a value of the program itself.

    Args:
        outs: The adjoints of the args; or for forward mode the tangents of the body's results.
        params: The variables that stand for the args inside the body.
        args: The floats that the derivative is with respect to.
        seeds: The adjoints of the body's results; or the tangents of the args.
        body: A function of the params, of other values and of fields.
        forward: Whether it is forward mode.
        gradients: The fields whose gradients are added to, each with its gradient.
    """

    outs: tuple[Var, ...]
    params: tuple[Var, ...]
    args: tuple[Value, ...]
    seeds: tuple[Value, ...]
    body: Block
    forward: bool
    gradients: tuple[tuple[Array, Array], ...] = ()
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
    | Ruled
    | Derivative
)
Write: TypeAlias = Store | Accumulate | Combine
Memory: TypeAlias = Load | Write


@dataclass(frozen=True, slots=True)
class Program:
    """One kernel, as every pass takes and returns it.

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

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The fields among the parameters, hidden ones included."""
        return tuple(p for p in (*self.params, *self.temps) if isinstance(p, Array))


def is_scalar(value: Value) -> bool:
    """Tell whether a value is a single number."""
    return isinstance(value.type, Scalar)
