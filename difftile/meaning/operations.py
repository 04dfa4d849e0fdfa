"""How ops are written in Python: as operators and functions of NumPy where these say the same.

All other ops are calls of their meaning in the table of ops, brought to the type of the result.
With a complex step, every op is.
"""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from difftile.ir.nodes import Const, Let
from difftile.ir.types import BOOL, FLOATS, Scalar, numpy_dtype, scalar_of, shape_of
from difftile.meaning.memory import dtype_of
from difftile.ops.table import OPS

# By the numbers that they are of: what the op says of them, NaN, zeros and overflows included.
_OF_BOOLS = {
    "and": "{} & {}",
    "or": "{} | {}",
    "not": "~{}",
    "eq": "{} == {}",
    "ne": "{} != {}",
}
_OF_NUMBERS = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "neg": "-{}",
    "lt": "{} < {}",
    "le": "{} <= {}",
    "gt": "{} > {}",
    "exceeds": "{} > {}",
    "ge": "{} >= {}",
    "eq": "{} == {}",
    "ne": "{} != {}",
}
_OF_INTEGERS = _OF_NUMBERS | {
    "floordiv": "{} // {}",
    "mod": "{} % {}",
    "bit_and": "{} & {}",
    "bit_or": "{} | {}",
    "bit_xor": "{} ^ {}",
    "invert": "~{}",
    "unique": "{}",
}
_OF_FLOATS = _OF_NUMBERS | {
    "div": "{} / {}",
    "floor": "np.floor({})",
    "ceil": "np.ceil({})",
    "sum": "{}.sum()",
    "dot": "({} * {}).sum()",
    "exact": "{}",
    "stop_grad": "{}",
}
_OF_SINGLE_NUMBERS = {
    "max": "{0} if {0} >= {1} or {1} != {1} else {1}",
    "min": "{0} if {0} <= {1} or {1} != {1} else {1}",
    "abs": "-{0} if {0} < 0 else {0}",
}


def expression(let: Let, args: Sequence[str], *, complex_step: bool) -> str:
    """Return an op of arguments, which are names, as an expression of Python."""
    target = scalar_of(let.out.type)
    dtype = type_name(dtype_of(target, complex_step=complex_step))
    source = scalar_of(let.args[0].type) if let.args else target
    match let.op:
        case "vec" | "mat":
            made = f"np.array([{', '.join(args)}], {dtype})"
            return made if let.op == "vec" else f"{made}.reshape{shape_of(let.out.type)}"
        case "extract":
            return f"{args[0]}[{', '.join(map(place, let.args[1:], args[1:]))}]"
        case "insert":
            return f"ops.insert({', '.join(args)})"
        case "cast" if complex_step:
            return f"ops.cast({args[0]}, {dtype}, {source in FLOATS})"
        case "cast":
            return f"{args[0]} != 0" if target == BOOL else f"{args[0]}.astype({dtype})"
        case "bit_cast":
            given, found = (type_name(numpy_dtype(scalar)) for scalar in (source, target))
            if complex_step:
                return f"ops.bit_cast({args[0]}, {given}, {found}).astype({dtype})"
            return f"{args[0]}.view({found})"
        case _:
            plain = None if complex_step else _plainly(let, source)
            if plain is not None:
                return plain.format(*args)
            return f"ops.typed(ops.{_attribute(let.op)}({', '.join(args)}), {dtype})"


def type_name(dtype: np.dtype[Any]) -> str:
    """Return the name of a number type in the text."""
    return "np.bool_" if dtype.kind == "b" else f"np.{dtype.name}"


def place(index: object, name: str) -> str:
    """Return an index in the form that Python takes fastest."""
    return str(int(index.value)) if isinstance(index, Const) else name


def _plainly(let: Let, source: Scalar) -> str | None:
    """Return a format for the arguments that says the same as the op, if there is one."""
    are_single = not any(shape_of(arg.type) for arg in let.args)
    if let.op == "select":
        return "{1} if {0} else {2}" if are_single else None
    if source == BOOL:
        return _OF_BOOLS.get(let.op)
    if are_single and let.op in _OF_SINGLE_NUMBERS:
        return _OF_SINGLE_NUMBERS[let.op]
    known = (_OF_FLOATS if source in FLOATS else _OF_INTEGERS).get(let.op)
    function = OPS[let.op].numpy
    if known is None and isinstance(function, np.ufunc) and source in FLOATS:
        return f"np.{function.__name__}({', '.join(['{}'] * len(let.args))})"
    return known


def _attribute(op: str) -> str:
    return f"{op}_" if keyword.iskeyword(op) else op


def _typed(result: Any, dtype: Any) -> Any:
    """Return a result as a value of a type."""
    return np.asarray(result)[()].astype(dtype, copy=False)


def _insert(value: npt.NDArray[Any], *rest: Any) -> npt.NDArray[Any]:
    """Return a copy with one component replaced."""
    *index, part = rest
    copy = value.copy()
    copy[tuple(index)] = part
    return copy


def _cast(value: Any, dtype: Any, truncates: bool) -> Any:
    """Return a value, which may be complex, in another number type."""
    dtype = np.dtype(dtype)
    if dtype.kind != "c":
        value = np.real(value)
        if dtype.kind == "b":
            return np.asarray(value != 0)[()]
        if truncates:
            value = np.trunc(value)
    return np.asarray(value).astype(dtype)[()]


def _bit_cast(value: Any, source: Any, target: Any) -> Any:
    """Return a value, which may be complex, whose bits are taken for another type."""
    part: Any = np.real(value)
    real: npt.NDArray[Any] = np.asarray(part, source)
    return real.view(target)[()]


OPERATIONS = SimpleNamespace(
    **{_attribute(name): op.numpy for name, op in OPS.items()}
    | {
        "struct": SimpleNamespace,
        "typed": _typed,
        "insert": _insert,
        "cast": _cast,
        "bit_cast": _bit_cast,
    }
)
