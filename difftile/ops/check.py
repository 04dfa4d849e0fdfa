"""The full check of a program: its structure, and each op against the typing of its row."""

from __future__ import annotations

from difftile.ir.check_structure import IllegalProgram, check_structure
from difftile.ir.nodes import Let, Program
from difftile.ir.types import numpy_dtype, scalar_of, shape_of
from difftile.ir.walk import walk
from difftile.ops.row import OpTypeError
from difftile.ops.table import OPS


def check(program: Program) -> Program:
    """Return the program as it is, if it is legal.

    Raises:
        IllegalProgram: A statement is not legal; the message names it and the reason.
    """
    check_structure(program)
    for let in walk(program.body):
        if not isinstance(let, Let):
            continue
        if let.op not in OPS:
            raise IllegalProgram(f"{program.name}: no op is named {let.op}")
        types = tuple(arg.type for arg in let.args)
        try:
            result = OPS[let.op].typing(types)
        except OpTypeError as error:
            raise IllegalProgram(f"{program.name}: {let.op}: {error}") from None
        out = let.out.type
        match let.op:
            case "bit_cast":
                sizes = {numpy_dtype(scalar_of(type_)).itemsize for type_ in (*types, out)}
                agrees = len(sizes) == 1 and not shape_of(out) and not shape_of(result)
            case "cast":
                agrees = shape_of(result) == shape_of(out)
            case "mat":
                shape = shape_of(out)
                agrees = len(shape) == 2 and shape[0] * shape[1] == len(types)
            case _:
                agrees = result == out
        if not agrees:
            raise IllegalProgram(f"{program.name}: {let.op}{types} gives {result}, not {out}")
    return program
