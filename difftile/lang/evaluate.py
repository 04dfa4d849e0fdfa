"""Functions of the tables on numbers and arrays of Python, with the meaning that kernels give them.

Numbers of Python are like the literals of a kernel: they take the type of the others. Among
themselves they are in double precision, and 64-bit integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy

from difftile.diagnostics import LaunchError
from difftile.ir.nodes import Let, Value, Var
from difftile.ir.types import (
    BOOL,
    F64,
    FLOATS,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    Scalar,
    Type,
    numpy_dtype,
    promote,
    scalar_from_numpy,
    scalar_of,
    shape_of,
    shaped,
)
from difftile.ops.build import OpBuilder
from difftile.ops.composites import COMPOSITES
from difftile.ops.formula import composite
from difftile.ops.row import OpTypeError
from difftile.ops.table import ANY_NUMBER, OF_FLOATS, OPS

np: Any = numpy  # what its stubs know differs from version to version

Array: TypeAlias = Any
"""An array or number of NumPy."""

# Operations whose value depends on the size of integers, which as literals of kernels are an i32.
_OF_BITS = ("popcnt", "clz", "shr_logical")
_NARROW = (I8, I16, U8, U16)


def scalar_type(value: Array) -> Scalar:
    """Return the type of the numbers in an array.

    Raises:
        LaunchError: It does not hold numbers of the kernel language.
    """
    scalar = F64 if value.dtype == object else scalar_from_numpy(value.dtype)
    if scalar is None:
        raise LaunchError(f"expected numbers, got {value.dtype}.")
    return scalar


def common(values: Sequence[Any]) -> list[Array]:
    """Return numbers and arrays as arrays of one type, as operands in kernels are.

    Raises:
        LaunchError: One of them holds no numbers.
    """
    # Numbers that a tape follows become plain ones, of which it hears.
    kinds = [getattr(getattr(one, "dtype", None), "kind", "") for one in values]
    values = [v.astype(float) if k == "O" else v for v, k in zip(values, kinds, strict=True)]
    literals = [value for value in values if isinstance(value, (bool, int, float))]
    typed = [scalar_type(value) for value in values if not isinstance(value, (bool, int, float))]
    has_float = any(isinstance(one, float) for one in literals)
    if not typed:
        scalar = F64 if has_float else I64
    else:
        scalar = typed[0]
        for one in typed[1:]:
            scalar = promote(scalar, one)
        if has_float and scalar not in FLOATS:
            scalar = F64
        elif scalar == BOOL or (literals and scalar in _NARROW):
            scalar = I32
    dtype = numpy_dtype(scalar)
    try:
        return [np.asanyarray(value).astype(dtype) for value in values]
    except OverflowError as error:
        raise LaunchError(f"{error}.") from None


def floats(values: Sequence[Any]) -> list[Array]:
    """Return numbers and arrays as arrays of one float type; integers are in double precision.

    Raises:
        LaunchError: One of them holds no numbers.
    """
    found = common(values)
    return found if found[0].dtype.kind == "f" else [one.astype(float) for one in found]


def evaluate(op: str, values: Sequence[Any], *, shaped_arrays: bool) -> Array:
    """Return the value of an operation.

    Args:
        op: An operation or composite of the tables.
        values: Numbers of Python, and arrays.
        shaped_arrays: Arrays are vectors and matrices; others may be of any shape, and are taken
            number by number, where the operation is not one of vectors.

    Raises:
        LaunchError: The operation does not take such values.
    """
    if op == "cross" and all(np.shape(value) == (2,) for value in values):
        op = "cross_2d"
    if op in OF_FLOATS and any(_is_float(value) for value in values):
        op = OF_FLOATS[op]
    if op in ("max", "min") and len(values) > 2:
        rest = evaluate(op, values[:-1], shaped_arrays=shaped_arrays)
        return evaluate(op, [rest, values[-1]], shaped_arrays=shaped_arrays)
    if op == "pow":
        return _power(*values, shaped_arrays=shaped_arrays)
    if op in _OF_BITS and all(isinstance(value, int) for value in values):
        values = [np.int32(value) if -(1 << 31) <= value < 1 << 31 else value for value in values]
    if op == "select":
        condition = np.asanyarray(values[0]) != 0
        arrays = [condition, *common(values[1:])]
    elif op == "invert":  # the one operator that leaves bools as they are
        arrays = list(values)
    else:
        arrays = common(values) if op in ANY_NUMBER else floats(values)
    if op == "matmul" and arrays[0].ndim == 1:
        # `v @ w` is their dot product, and `v @ m` a row times a matrix.
        if arrays[1].ndim == 2 and len(arrays[1]) == len(arrays[0]):
            arrays = [arrays[1].T, arrays[0]]
        elif arrays[1].ndim == 1:
            op = "dot"
    return _run(op, arrays, shaped_arrays)


def _run(op: str, arrays: Sequence[Array], shaped_arrays: bool) -> Array:
    types = tuple(_type(array, shaped_arrays) for array in arrays)
    try:
        program = _straight(op, types)
    except OpTypeError as error:
        wide = tuple(_type(array, True) for array in arrays)
        if wide == types:
            raise LaunchError(f"{error}.") from None
        try:
            program = _straight(op, wide)
        except OpTypeError as other:
            raise LaunchError(f"{other}.") from None
    with np.errstate(all="ignore"):
        return program.run(arrays)


def _type(array: Array, shaped_array: bool) -> Type:
    scalar = scalar_type(array)
    return shaped(array.shape if shaped_array and array.ndim <= 2 else (), scalar)


class _Straight:
    """A function of the tables as operations one after the other."""

    def __init__(self, params: tuple[Var, ...], lets: tuple[Let, ...], result: Value) -> None:
        self._params = params
        self._lets = lets
        self._result = result

    def run(self, arrays: Sequence[Array]) -> Array:
        values: dict[Var, Array] = dict(zip(self._params, arrays, strict=True))

        def value(one: Value) -> Array:
            if isinstance(one, Var):
                return values[one]
            return np.full(shape_of(one.type), one.value, numpy_dtype(scalar_of(one.type)))[()]

        for let in self._lets:
            given = [value(one) for one in let.args]
            found = np.asanyarray(OPS[let.op].numpy(*given))
            if let.op == "mat":
                found = found.reshape(shape_of(let.out.type))
            values[let.out] = found.astype(numpy_dtype(scalar_of(let.out.type)))[()]
        return value(self._result)


@cache
def _straight(op: str, types: tuple[Type, ...]) -> _Straight:
    """Return a function of the tables for some types.

    Raises:
        OpTypeError: It does not take them.
    """
    b = OpBuilder()
    params = tuple(Var(f"arg{k}", type_) for k, type_ in enumerate(types))
    if op in COMPOSITES:
        result = composite(b, op, params)
    else:
        # As it is: the builder would compute some of them in another way.
        result = Var("result", OPS[op].typing(types))
        b.append(Let(result, op, params))
    lets = tuple(one for one in b.stmts if isinstance(one, Let))
    assert len(lets) == len(b.stmts)
    return _Straight(params, lets, result)


def _power(base: Any, exponent: Any, *, shaped_arrays: bool) -> Array:
    """Return base ** exponent; of integers, only a literal exponent may be negative."""
    literal = isinstance(exponent, (bool, int, float))
    if isinstance(exponent, int) and exponent < 0:
        return _run("pow", floats([base, exponent]), shaped_arrays)
    first, second = common([base, exponent])
    if first.dtype.kind == "f":
        return _run("pow", [first, second], shaped_arrays)
    forward = _run("ipow", [first, np.maximum(second, 0)], shaped_arrays)
    if literal or second.dtype.kind == "u":
        return forward
    of_minus = np.where(second & 1, -1, 1)
    inverse = np.where(first == 1, 1, np.where(first == -1, of_minus, 0))
    return np.where(second < 0, inverse, forward).astype(forward.dtype)[()]


def _is_float(value: Any) -> bool:
    return isinstance(value, float) or np.asarray(value).dtype.kind == "f"


def in_type(numbers: Array, scalar: Scalar) -> Array:
    """Return numbers in another type, as casts in kernels do.

    Raises:
        LaunchError: An integer type is given a number that is not finite.
    """
    target = numpy_dtype(scalar)
    if scalar == BOOL:
        return numbers != 0
    if scalar not in FLOATS and numbers.dtype.kind == "f" and not np.isfinite(numbers).all():
        raise LaunchError(f"{numbers[~np.isfinite(numbers)].flat[0]} is not an integer.")
    with np.errstate(all="ignore"):
        return numbers.astype(target)
