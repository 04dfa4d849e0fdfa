"""The full check of a program: its structure, and each op against the typing of its row."""

from __future__ import annotations

from difftile.ir.check import IllegalProgram
from difftile.ir.check import check as check_structure
from difftile.ir.nodes import Let, Program
from difftile.ir.types import numpy_dtype, scalar_of, shape_of
from difftile.ir.walk import walk
from difftile.ops.row import OpTypeError
from difftile.ops.table import OPS


def check(program: Program) -> Program:
    """Return the program as it is, if it is legal.

    Raises:
        IllegalProgram: It is not; the message says what and where.
    """
    check_structure(program)
    for stmt in walk(program.body):
        if isinstance(stmt, Let):
            _check_let(program.name, stmt)
    return program


def _check_let(name: str, let: Let) -> None:
    op = OPS.get(let.op)
    if op is None:
        raise IllegalProgram(f"{name}: no op is named {let.op}")
    types = tuple(arg.type for arg in let.args)
    try:
        result = op.typing(types)
    except OpTypeError as error:
        raise IllegalProgram(f"{name}: {let.op}: {error}") from None
    if let.op == "bit_cast":
        sizes = {numpy_dtype(scalar_of(v.type)).itemsize for v in (*let.args, let.out)}
        agrees = len(sizes) == 1 and not shape_of(let.out.type) and not shape_of(result)
    elif let.op == "cast":
        agrees = shape_of(result) == shape_of(let.out.type)
    elif let.op == "mat":
        shape = shape_of(let.out.type)
        agrees = len(shape) == 2 and shape[0] * shape[1] == len(let.args)
    else:
        agrees = result == let.out.type
    if not agrees:
        raise IllegalProgram(f"{name}: {let.op}{types} gives {result}, not {let.out.type}")
