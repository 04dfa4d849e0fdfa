"""Programs as text, for people and for golden tests: names are unique and the text is stable."""

from __future__ import annotations

import re

from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    Combine,
    Const,
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

    def new(self, wanted: str) -> str:
        """Return a name that nothing has yet, as near to the wanted one as can be."""
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
    names = Names()
    params = ", ".join(f"{names[p]}: {p.type}" for p in program.params)
    lines = [f"program {program.name}({params})"]
    lines += [f"  temp {names[t]}: {t.type}" for t in program.temps]
    lines += _block(program.body, names, 1)
    return "\n".join(lines) + "\n"


def _value(value: Value, names: Names) -> str:
    if isinstance(value, Const):
        return f"{value.value}:{value.type}"
    return names[value]


def _values(values: tuple[Value, ...], names: Names) -> str:
    return ", ".join(_value(value, names) for value in values)


def _block(block: Block, names: Names, depth: int) -> list[str]:
    lines: list[str] = []
    for stmt in block.stmts:
        lines += _stmt(stmt, names, depth)
    if block.results:
        lines.append("  " * depth + f"yield {_values(block.results, names)}")
    return lines


def _carried(
    carries: tuple[Var, ...], inits: tuple[Value, ...], outs: tuple[Var, ...], names: Names
) -> str:
    return ", ".join(
        f"{names[out]} <- {names[carry]} = {_value(init, names)}"
        for out, carry, init in zip(outs, carries, inits, strict=True)
    )


def _stmt(stmt: Stmt, names: Names, depth: int) -> list[str]:
    pad = "  " * depth
    match stmt:
        case Let(out, op, args):
            return [f"{pad}{names[out]}: {out.type} = {op}({_values(args, names)})"]
        case Size(out, array, axis):
            return [f"{pad}{names[out]} = shape({names[array]}, {axis})"]
        case Load(out, array, index):
            return [f"{pad}{names[out]}: {out.type} = {names[array]}[{_values(index, names)}]"]
        case Store(array, index, value):
            return [f"{pad}{names[array]}[{_values(index, names)}] = {_value(value, names)}"]
        case Accumulate(array, index, value, _, atomic):
            mark = "" if atomic else "  (exclusive)"
            where = f"{names[array]}[{_values(index, names)}]"
            return [f"{pad}{where} += {_value(value, names)}{mark}"]
        case Print(parts):
            texts = (
                repr(part) if isinstance(part, str) else _value(part.value, names) for part in parts
            )
            return [f"{pad}print {', '.join(texts)}"]
        case Fail(failure, values):
            return [f"{pad}fail {type(failure).__name__}({_values(values, names)})"]
        case Combine(out, op, array, index, value):
            head = "" if out is None else f"{names[out]} = "
            where = f"{names[array]}[{_values(index, names)}]"
            return [f"{pad}{head}{where} {op}= {_value(value, names)}"]
        case Alloc(array):
            return [f"{pad}local {names[array]}: {array.type.element}[{array.size}]"]
        case If(cond, then, orelse, outs):
            head = f"{', '.join(names[out] for out in outs)} = " if outs else ""
            lines = [f"{pad}{head}if {_value(cond, names)}:", *_block(then, names, depth + 1)]
            if orelse.stmts or orelse.results:
                lines += [f"{pad}else:", *_block(orelse, names, depth + 1)]
            return lines
        case For(index, start, stop, carries, inits, body, outs):
            head = f"{pad}for {names[index]} in {_value(start, names)}..{_value(stop, names)}"
            carried = _carried(carries, inits, outs, names)
            return [
                f"{head}, {carried}:" if carried else f"{head}:",
                *_block(body, names, depth + 1),
            ]
        case While(carries, inits, cond, body, outs):
            return [
                f"{pad}while {_carried(carries, inits, outs, names)}:",
                *_block(cond, names, depth + 1),
                f"{pad}do:",
                *_block(body, names, depth + 1),
            ]
        case Ruled(outs, args, body, backward, forward, name):
            head = f"{', '.join(names[out] for out in outs)} = " if outs else ""
            lines = [f"{pad}{head}{name}({_values(args, names)}):", *_block(body, names, depth + 1)]
            for word, rule in (("backward", backward), ("forward", forward)):
                if rule is not None:
                    lines.append(f"{pad}{word}({_values(rule.params, names)}):")
                    lines += _block(rule.block, names, depth + 1)
            return lines
        case Derivative(outs, params, args, seeds, body, forward):
            head = ", ".join(names[out] for out in outs)
            of = ", ".join(
                f"{names[p]} = {_value(a, names)}" for p, a in zip(params, args, strict=True)
            )
            word = "forward" if forward else "backward"
            return [
                f"{pad}{head} = {word} {of}; {_values(seeds, names)}:",
                *_block(body, names, depth + 1),
            ]
        case ParallelFor(indices, starts, stops, body):
            box = ", ".join(
                f"{names[index]} in {_value(start, names)}..{_value(stop, names)}"
                for index, start, stop in zip(indices, starts, stops, strict=True)
            )
            return [f"{pad}parallel for {box}:", *_block(body, names, depth + 1)]
