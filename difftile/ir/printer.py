"""Programs as text, for people and for golden tests; `parse` reads the text again.

Names are unique and the text is stable. Defaults are not printed: a `+=` without a mark is atomic.
Literals name their types: `0.0:f32`, and `zero:f32` for a structural zero. Arrays that a program
mentions without taking or declaring them, such as gradients in rules, are listed as `outside`.
"""

from __future__ import annotations

import re
from dataclasses import astuple

from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Derivative,
    Fail,
    For,
    If,
    Let,
    Load,
    ParallelFor,
    Print,
    Program,
    Ruled,
    Size,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.walk import array_of, walk

# Words with a meaning of their own where a name may stand.
WORDS = frozenset(
    (
        *("backward", "breakpoint", "derivative", "do", "else", "fail", "for", "forward"),
        *("if", "inf", "local"),
        *("lanes", "nan", "outside", "parallel", "print", "ruled", "shape", "shared"),
        *("temp", "warps", "while", "yield", "zero", "True", "False"),
    )
)


class Names:
    """Gives each variable and array a name of its own, the user's where it is free."""

    def __init__(self, reserved: frozenset[str] = frozenset()) -> None:
        self._names: dict[Var | Array, str] = {}
        self._next: dict[str, int] = dict.fromkeys(reserved, 1)

    def __getitem__(self, thing: Var | Array) -> str:
        name = self._names.get(thing)
        if name is None:
            name = self.new(thing.name)
            self._names[thing] = name
        return name

    def share(self, thing: Var | Array, other: Var | Array) -> None:
        """Give a variable or array the name of another one."""
        self._names[thing] = self[other]

    def new(self, wanted: str) -> str:
        """Return a new name, as near to the given one as possible."""
        base = re.sub(r"\W", "_", wanted)
        if not base.strip("_"):
            base = "k" if base else "t"
        if base[0].isdigit():
            base = f"c{base}"
        name = base
        while name in self._next:
            self._next[base] = self._next.get(base, 0) + 1
            name = f"{base}_{self._next[base] - 1}"
        self._next[name] = 1
        return name


def print_program(program: Program) -> str:
    """Return the text of a program."""
    names = Names(WORDS)
    params = ", ".join(_declared(p, names) for p in program.params)
    title = program.name if re.fullmatch(r"\w+", program.name) else repr(program.name)
    lines = [f"program {title}({params})"]
    lines += [f"  temp {_declared(t, names)}" for t in program.temps]
    lines += [f"  outside {_declared(a, names)}" for a in _outside(program)]
    lines += _block(program.body, names, 1)
    return "\n".join(lines) + "\n"


def _outside(program: Program) -> list[Array]:
    """Return the arrays that the program mentions without taking or declaring them."""
    known = {*program.params, *program.temps}
    mentioned = {a: None for a in (*program.params, *program.temps) if isinstance(a, Array)}
    for stmt in walk(program.body):
        array = stmt.array if isinstance(stmt, (Size, Alloc)) else array_of(stmt)
        if isinstance(stmt, Alloc):
            known.add(stmt.array)
        if isinstance(stmt, Derivative):
            mentioned |= {array: None for pair in stmt.gradients for array in pair}
        if array is not None:
            mentioned[array] = None
    pending = list(mentioned)
    for array in pending:
        owners = (array.like, array.gradient_of, array.contents_of)
        pending += [a for a in owners if a is not None and a not in pending]
    return [a for a in pending if a not in known]


def _declared(thing: Array | Var, names: Names) -> str:
    name = names[thing]
    if isinstance(thing, Var):
        return f"{name}: {thing.type}"
    element = thing.type.element
    type_ = thing.type if thing.size is None else f"{element}{[*thing.lengths]}"
    text = f"{name}: {type_}"
    if thing.like is not None:
        text += f" like {names[thing.like]}"
    if thing.gradient_of is not None:
        text += f" {'incoming ' if thing.incoming else ''}gradient of {names[thing.gradient_of]}"
    if thing.contents_of is not None:
        text += f" {'late ' if thing.late else ''}contents of {names[thing.contents_of]}"
    return text


def _value(value: Value, names: Names) -> str:
    if isinstance(value, Var):
        return names[value]
    return f"{'zero' if value.structural else value.value}:{value.type}"


def _values(values: tuple[Value, ...], names: Names) -> str:
    return ", ".join(_value(value, names) for value in values)


def _block(block: Block, names: Names, depth: int) -> list[str]:
    lines: list[str] = []
    for stmt in block.stmts:
        lines += _stmt(stmt, names, depth)
    if block.results:
        lines.append("  " * depth + f"yield {_values(block.results, names)}")
    return lines


def _carried(stmt: For | While, names: Names) -> str:
    return ", ".join(
        f"{names[out]} <- {names[carry]} = {_value(init, names)}"
        for out, carry, init in zip(stmt.outs, stmt.carries, stmt.inits, strict=True)
    )


def _box(
    indices: tuple[Var, ...], starts: tuple[Value, ...], stops: tuple[Value, ...], names: Names
) -> str:
    return ", ".join(
        f"{names[index]} in {_value(start, names)}..{_value(stop, names)}"
        for index, start, stop in zip(indices, starts, stops, strict=True)
    )


def _stmt(stmt: Stmt, names: Names, depth: int) -> list[str]:
    pad = "  " * depth

    def place(array: Array, index: tuple[Value, ...]) -> str:
        return f"{names[array]}[{_values(index, names)}]"

    def results(outs: tuple[Var, ...]) -> str:
        return pad + (f"{', '.join(names[out] for out in outs)} = " if outs else "")

    match stmt:
        case Let(out, op, args):
            return [f"{pad}{names[out]}: {out.type} = {op}({_values(args, names)})"]
        case Size(out, array, axis):
            return [f"{pad}{names[out]} = shape({names[array]}, {axis})"]
        case Load(out, array, index):
            return [f"{pad}{names[out]}: {out.type} = {place(array, index)}"]
        case Store(array, index, value):
            return [f"{pad}{place(array, index)} = {_value(value, names)}"]
        case Accumulate(array, index, value):
            flags = {
                "exclusive": not stmt.atomic,
                "single write": stmt.single_write,
                "aggregated": stmt.aggregated,
            }
            marks = ", ".join(flag for flag, holds in flags.items() if holds)
            add = f"{pad}{place(array, index)} += {_value(value, names)}"
            return [f"{add}  ({marks})" if marks else add]
        case Combine(out, op, array, index, value):
            head = results(() if out is None else (out,))
            return [f"{head}{place(array, index)} {op}= {_value(value, names)}"]
        case Alloc(array):
            word = "shared" if stmt.shared else "local"
            return [f"{pad}{word} {_declared(array, names)}"]
        case Print(parts, stops=stops):
            texts = [
                repr(part)
                if isinstance(part, str)
                else _value(part.value, names) + (f" as {part.form!r}" if part.form else "")
                for part in parts
            ]
            return [f"{pad}{'breakpoint' if stops else 'print'} {', '.join(texts)}"]
        case Fail(failure, values):
            said = ", ".join(map(repr, astuple(failure)))
            return [f"{pad}fail {type(failure).__name__}({said}) with ({_values(values, names)})"]
        case If(cond, then, orelse, outs):
            head = f"{results(outs)}if {_value(cond, names)}:"
            lines = [head, *_block(then, names, depth + 1)]
            if orelse.stmts or orelse.results:
                lines += [f"{pad}else:", *_block(orelse, names, depth + 1)]
            return lines
        case For(index, start, stop, body=body):
            carried = _carried(stmt, names)
            word = "lanes for" if stmt.by_lanes else "for"
            head = f"{pad}{word} {_box((index,), (start,), (stop,), names)}"
            return [
                f"{head}, {carried}:" if carried else f"{head}:",
                *_block(body, names, depth + 1),
            ]
        case While(cond=cond, body=body):
            carried = _carried(stmt, names)
            return [
                f"{pad}while{f' {carried}' if carried else ''}{'  (ends)' if stmt.ends else ''}:",
                *_block(cond, names, depth + 1),
                f"{pad}do:",
                *_block(body, names, depth + 1),
            ]
        case ParallelFor(indices, starts, stops, body):
            word = "warps" if stmt.by_warps else "ordered" if stmt.ordered else "parallel"
            head = f"{pad}{word} for {_box(indices, starts, stops, names)}:"
            return [head, *_block(body, names, depth + 1)]
        case Ruled(outs, args, body, backward, forward, name):
            lines = [f"{results(outs)}ruled {name!r}({_values(args, names)}):"]
            lines += _block(body, names, depth + 1)
            for word, rule in (("backward", backward), ("forward", forward)):
                if rule is not None:
                    params = ", ".join(_declared(p, names) for p in rule.params)
                    mark = "  (approximate)" if rule.approximate else ""
                    lines.append(f"{pad}{word}({params}){mark}:")
                    lines += _block(rule.block, names, depth + 1)
            return lines
        case Derivative(outs, params, args, seeds, body, forward, gradients):
            word = "forward" if forward else "backward"
            pairs = zip(params, args, strict=True)
            of = ", ".join(f"{names[p]} = {_value(a, names)}" for p, a in pairs)
            head = f"{results(outs)}derivative {word}({of}) with ({_values(seeds, names)})"
            if gradients:
                head += f" into ({', '.join(f'{names[a]}: {names[g]}' for a, g in gradients)})"
            return [f"{head}:", *_block(body, names, depth + 1)]
