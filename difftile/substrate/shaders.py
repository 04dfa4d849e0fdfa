"""Programs for devices whose code is SPIR-V: Vulkan, and Metal, for which it is translated.

SPIR-V has functions such as sines in single precision only, and Metal no double precision at all.
Local arrays of booleans, in which adjoints keep conditions, do not pass drivers: they are arrays of
integers there.
"""

from __future__ import annotations

from dataclasses import replace

from difftile.diagnostics import CompileError, FieldError, Span
from difftile.ir.nodes import (
    Alloc,
    Array,
    Block,
    Const,
    Let,
    Load,
    Program,
    Stmt,
    Store,
    Value,
    Var,
)
from difftile.ir.types import BOOL, F64, I32, Type, scalar_of
from difftile.ir.walk import definitions, walk, with_blocks
from difftile.substrate.compiler import chosen

DEVICES = {"vulkan": "Vulkan", "metal": "Metal"}

# Functions that SPIR-V has in single precision, and functions computed from them.
_SINGLE = frozenset(
    (
        *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "tanh", "sigmoid"),
        *("exp", "expm1", "log1pexp", "log", "log2", "log10", "log1p", "logit", "logsumexp"),
        *("pow", "erf", "erfc", "erfinv", "lgamma", "digamma", "trigamma", "zeta", "polygamma"),
    )
)


def for_shaders(program: Program, device: str) -> Program:
    """Return a program as it can be compiled for a device of SPIR-V.

    Raises:
        CompileError: It computes in double precision what the device cannot.
    """
    _refuse_doubles(program, device)
    if device == "vulkan" and chosen() == "taichi":
        _refuse_shares(program)
    flags = {
        stmt.array: _as_integers(stmt.array)
        for stmt in walk(program.body)
        if isinstance(stmt, Alloc) and stmt.array.type.element == BOOL
    }
    return replace(program, body=_with(program.body, flags)) if flags else program


def check_element(element: Type, device: str) -> None:
    """Refuse memory that a device cannot have.

    Raises:
        FieldError: It is of doubles, and the device is one of Metal.
    """
    if device == "metal" and scalar_of(element) == F64:
        raise FieldError(
            "Metal has no double precision: use ti.f32 instead of ti.f64, or dt.init(arch='cpu')."
        )


def _as_integers(array: Array) -> Array:
    return replace(array, type=replace(array.type, element=I32))


def _with(block: Block, flags: dict[Array, Array]) -> Block:
    stmts: list[Stmt] = []
    for stmt in block.stmts:
        match stmt:
            case Alloc(array) if array in flags:
                stmts.append(replace(stmt, array=flags[array]))
            case Load(out, array) if array in flags:
                number = Var(out.name, I32)
                stmts.append(replace(stmt, out=number, array=flags[array]))
                stmts.append(Let(out, "ne", (number, Const(0, I32)), stmt.span))
            case Store(array, _, value) if array in flags:
                number, more = _number(value, stmt.span)
                stmts += [*more, replace(stmt, array=flags[array], value=number)]
            case _:
                stmts.append(with_blocks(stmt, lambda inner: _with(inner, flags)))
    return replace(block, stmts=tuple(stmts))


def _number(value: Value, span: Span | None) -> tuple[Value, list[Stmt]]:
    """Return a boolean as an integer, and the statements that make it."""
    if isinstance(value, Const):
        return Const(int(value.value), I32), []
    number = Var(value.name, I32)
    return number, [Let(number, "cast", (value,), span)]


def _refuse_shares(program: Program) -> None:
    """Refuse adjoints that divide gradients among equal maxima, which Taichi's Vulkan gets wrong.

    They come out as zeros, for a reason that is not known; Quadrants has them right.
    """
    arrays = [one for one in (*program.params, *program.temps) if isinstance(one, Array)]
    if any(array.name.endswith("_share") for array in arrays):
        raise CompileError(
            f"Taichi on Vulkan computes wrong gradients of atomic maxima and minima: "
            f"'{program.name}' has some.",
            None,
            hint="use dt.init(substrate='quadrants'), or dt.init(arch='cpu').",
        )


def _refuse_doubles(program: Program, device: str) -> None:
    name = DEVICES[device]
    hint = "use ti.f32 fields, or dt.init(arch='cpu') or dt.init(arch='cuda')."
    for param in program.params if device == "metal" else ():
        type_ = param.type.element if isinstance(param, Array) else param.type
        if scalar_of(type_) == F64:
            title = f"{name} has no double precision, which '{param.name}' of '{program.name}' has."
            raise CompileError(title, None, hint=hint)
    for stmt in walk(program.body):
        double = [out for out in definitions(stmt) if scalar_of(out.type) == F64]
        if not double:
            continue
        span = getattr(stmt, "span", None)
        if device == "metal":
            raise CompileError(f"{name} has no double precision.", span, "of ti.f64", hint=hint)
        if isinstance(stmt, Let) and stmt.op in _SINGLE:
            title = f"{name} has '{stmt.op}' in single precision only."
            raise CompileError(title, span, "of ti.f64", hint=hint)
