"""Random kernels from everything that the kernel language mixes freely.

They find cases that nobody thought of. A few run with the tests; to try many more:

    python -m tests.random_programs 1000 1200
"""

from __future__ import annotations

import importlib.util
import random
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import taichi as ti

from difftile.diagnostics import KernelError, NotDifferentiable
from tests import harness
from tests.harness import Program, floats, held, ints
from tests.programs.objects import Rows

# Expressions by their type: a float, a vector, a bool, an index from 0 to 4. A slot is filled
# with an expression of its kind. No value gets large, and few values tie.
EXPRESSIONS = {
    "f": (
        *("({f} + {f})", "({f} - {f})", "({f} * {f})", "({f} * {f})", "(-{f})"),
        *("({f} / (1.5 + ti.abs({f})))", "ti.sqrt(ti.abs({f}) + 0.3)", "ti.exp(-ti.abs({f}))"),
        *("ti.sin({f})", "ti.tanh({f})", "ti.max({f}, {f})", "ti.min({f}, {f})"),
        *("ti.math.clamp({f}, -0.7, 0.8)", "({f} if {b} else {f})", "ti.select({b}, {f}, {f})"),
        *("{v}.dot({v})", "{v}.sum()", "{v}.x", "{v}[2]", "{v}.norm_sqr()", "squared({f})"),
        *("{v}[{i} % 3]", "{m}[{i} % 2, 1]"),
        *(
            "chosen({f}, {f})",
            "({f} + 0.1 * dt.randn())",
            "ti.max({f}, dt.rand())",
            "({m} @ {m})[0, 1]",
            "{m}.determinant()",
        ),
    ),
    "v": (
        *("ti.Vector([{f}, {f}, {f}])", "({v} + {v})", "({v} - 0.5 * {v})", "({v} * {v})"),
        *("({f} * {v})", "{v}.cross({v})", "ti.sin({v})", "ti.max({v}, {f})", "{v}.zxy"),
    ),
    "m": ("ti.Matrix([[{f}, {f}], [0.5, {f}]])", "({m} + {m})", "{m}.transpose()"),
    "b": (
        *("{f} < {f}", "{f} >= {f}", "{i} == {i}", "{i} < {i}"),
        *("({b} and {b})", "({b} or {b})", "(not {b})"),
    ),
    "i": ("({i} + 2) % 5", "({i} * {i}) % 5", "index[{i}]", "dt.randint(5)"),
}
NUMBERS = ("0.5", "1.5", "-0.25", "2", "0.9", "1", "0.0")
# Fields by name: the index of an element, and its type.
FIELDS = {
    "x": ("{i}", "f"),
    "y": ("{i}", "f"),
    "w": ("{i}, {i} % 4", "f"),
    "v": ("{i}", "v"),
    "u": ("{i}", "v"),
    "m": ("{i}", "m"),
    "a": ("None", "f"),
    "loss": ("None", "f"),
}
ARGUMENTS = {
    "x": floats(5),
    "y": floats(5),
    "w": floats(5, 4),
    "v": floats(5, element=(3,)),
    "u": floats(5, element=(3,)),
    "m": floats(5, element=(2, 2)),
    "a": floats(),
    "loss": floats(),
    "index": ints([3, 0, 4, 1, 2]),
    "n": 7,
    "h": 0.4,
    "g": ti.Vector([0.5, -0.25, 1.0]),
    "q": [[0.5, -1.0], [0.25, 0.75]],
    "s": ti.Struct(k=0.3, at=ti.Vector([1, 0, 2]), n=3),
}
# Arguments of several values, by the types of what is read from them.
PARTS = {"f": ("s.k", "g.y", "g[{i} % 3]"), "v": ("g", "s.at"), "m": ("q",), "i": ("s.n",)}
HEAD = """\
import taichi as ti

import difftile as dt


@dt.func
def squared(a):
    return a * a


@dt.func
def chosen(a, b=0.5):
    if a > b:
        return ti.tanh(a)
    return ti.sin(b) * a


"""

Scope = dict[str, str]  # local names, and their types
# Programs from this seed on loop over objects as well; the others stay as they are.
WITH_OBJECTS = 1 << 20
ROW_STARTS = ints([0, 2, 2, 4, 5, 5])
_OBJECTS = ("rows", "rows.row({i})", "rows.row(2)")


class _Writer:
    """Writes one kernel.

    In each parallel loop a field is read anywhere ("read"), belongs to its iteration ("own"), or is
    added to ("sum"), or raised to a maximum ("top"): anything else would be a race.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.objects = _OBJECTS if seed >= WITH_OBJECTS else ()
        self.lines: list[str] = []
        self.roles: dict[str, str] = {}
        self.names = 0

    def write(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}{self.names}"

    # Expressions

    def expression(self, kind: str, scope: Scope, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.15:
            return self.leaf(kind, scope)
        template = self.rng.choice(EXPRESSIONS[kind])
        return self.filled(template, scope, depth - 1)

    def filled(self, template: str, scope: Scope, depth: int) -> str:
        return re.sub(r"{(\w)}", lambda slot: self.expression(slot[1], scope, depth), template)

    def leaf(self, kind: str, scope: Scope) -> str:
        names = [name for name, held in scope.items() if held == kind]
        match kind:
            case _ if kind in PARTS and self.rng.random() < 0.15:
                return self.filled(self.rng.choice(PARTS[kind]), scope, 0)
            case "i":
                return f"{self.rng.choice(names)} % 5" if names else str(self.rng.randrange(5))
            case "b":
                return f"{self.leaf('f', scope)} > {self.leaf('f', scope)}"
            case "m":
                return f"ti.Matrix([[1.0, {self.leaf('f', scope)}], [0.3, -0.5]])"
            case _:
                elements = [f for f, (_, held) in FIELDS.items() if held == kind]
                elements = [f for f in elements if self.roles.get(f) not in ("sum", "top")]
                loads = [self.element(field, scope) for field in elements]
                numbers = list(NUMBERS) if kind == "f" else []
                return self.rng.choice(
                    [*names, *names, *loads, *numbers] or ["ti.Vector([1, 0, 2])"]
                )

    def element(self, field: str, scope: Scope) -> str:
        index, _ = FIELDS[field]
        if self.roles.get(field) == "own":
            index = index.replace("{i} % 4", "1").replace("{i}", "i")
        return f"{field}[{self.filled(index, scope, 1)}]"

    def bounded(self, kind: str, scope: Scope) -> str:
        text = self.expression(kind, scope, 2)
        return text if kind == "m" else f"ti.tanh({text})"

    # Statements

    def block(self, scope: Scope, depth: int, nested: int) -> None:
        for _ in range(self.rng.randrange(1, 3)):
            self.rng.choice(self.statements(nested))(scope, depth, nested)

    def statements(self, nested: int) -> list[Callable[[Scope, int, int], None]]:
        changes = [self.rebind, self.component, self.component, self.exchange]
        plain = [self.bind, self.copy, *changes, self.store, self.store]
        return [*plain, self.branch, self.loop, self.repeat, self.row] if nested > 0 else plain

    def bind(self, scope: Scope, depth: int, nested: int) -> None:
        kind = self.rng.choice("ffvm")
        name = self.name(kind)
        self.write(depth, f"{name} = 1.0 * {self.expression(kind, scope, 3)}")
        scope[name] = kind

    def local(self, kinds: str, scope: Scope, depth: int) -> str:
        """Return a local of one of the kinds, a new one if necessary."""
        known = [name for name, held in scope.items() if held in kinds]
        if known:
            return self.rng.choice(known)
        name = self.name(kinds[0])
        self.write(depth, f"{name} = 1.0 * {self.bounded(kinds[0], scope)}")
        scope[name] = kinds[0]
        return name

    def rebind(self, scope: Scope, depth: int, nested: int) -> None:
        name = self.local("fvm", scope, depth)
        value = self.bounded(scope[name], scope)
        if self.rng.random() < 0.2:
            op = self.rng.choice(["add", "sub", "mul", "max", "min"])
            old = self.name(scope[name])
            self.write(depth, f"{old} = ti.atomic_{op}({name}, {value})")
            scope[old] = scope[name]
            return
        sign = self.rng.choice(["= 0.5 *", "+=", "-=", "*="])
        self.write(depth, f"{name} {sign} {value}")

    def copy(self, scope: Scope, depth: int, nested: int) -> None:
        known = self.local("vm", scope, depth)
        name = self.name(scope[known])
        self.write(depth, f"{name} = {known}")
        scope[name] = scope[known]

    def component(self, scope: Scope, depth: int, nested: int) -> None:
        name = self.local("vm", scope, depth)
        at = self.rng.choice([".x", "[1]", self.place("v", scope)])
        if scope[name] == "m":
            at = self.rng.choice(["[1, 0]", self.place("m", scope)])
        sign = self.rng.choice(["=", "+=", "*="])
        self.write(depth, f"{name}{at} {sign} {self.bounded('f', scope)}")

    def place(self, kind: str, scope: Scope) -> str:
        """Return an index of a component that is known at run time."""
        one, other = self.expression("i", scope, 1), self.expression("i", scope, 1)
        return f"[({one}) % 3]" if kind == "v" else f"[({one}) % 2, ({other}) % 2]"

    def exchange(self, scope: Scope, depth: int, nested: int) -> None:
        """Let two components trade places."""
        name = self.local("vm", scope, depth)
        kind = scope[name]
        one, other, held = self.place(kind, scope), self.place(kind, scope), self.name("t")
        self.write(depth, f"{held} = {name}{one}")
        self.write(depth, f"{name}{one} = 0.9 * {name}{other}")
        self.write(depth, f"{name}{other} = {held}")

    def store(self, scope: Scope, depth: int, nested: int) -> None:
        field = self.rng.choice([f for f, role in self.roles.items() if role != "read"] or [""])
        if not field:
            return self.bind(scope, depth, nested)
        _, kind = FIELDS[field]
        if self.roles[field] == "top":
            top = self.element(field, scope)
            self.write(depth, f"ti.atomic_max({top}, {self.bounded(kind, scope)})")
            return
        signs = ["+=", "-="] if self.roles[field] == "sum" else ["=", "=", "+=", "*="]
        part = self.rng.choice(["", ".x", "[2]"]) if kind == "v" else ""
        value = self.bounded("f" if part else kind, scope)
        self.write(depth, f"{self.element(field, scope)}{part} {self.rng.choice(signs)} {value}")

    def branch(self, scope: Scope, depth: int, nested: int) -> None:
        self.write(depth, f"if {self.expression('b', scope, 2)}:")
        self.block(dict(scope), depth + 1, nested - 1)
        for line, chance in ((f"elif {self.expression('b', scope, 1)}:", 0.4), ("else:", 0.6)):
            if self.rng.random() < chance:
                self.write(depth, line)
                self.block(dict(scope), depth + 1, nested - 1)

    def loop(self, scope: Scope, depth: int, nested: int) -> None:
        carried = self.local("f", scope, depth)
        index = self.name("i")
        count = self.rng.choice(
            ["3", "n", "34", "0", "2, 6", "-2, 2", "6, 0, -2", "index[i]", "1, n, index[i] - 2"]
        )
        over = f"range({count})"
        if self.objects and self.rng.random() < 0.7:
            over = self.filled(self.rng.choice(self.objects), scope, 1)
        self.write(depth, f"for {index} in {over}:")
        self.iteration({**scope, index: "i"}, carried, depth + 1, nested)

    def row(self, scope: Scope, depth: int, nested: int) -> None:
        """Sum over a loop whose turns have no order, as products and convolutions do."""
        total, index = self.name("f"), self.name("i")
        self.write(depth, f"{total} = {self.bounded('f', scope)}")
        self.write(depth, f"for {index} in range({self.rng.choice(['5', '4', '1, 5', 'n - 3'])}):")
        inner = {**scope, index: "i"}
        if self.rng.random() < 0.4:
            self.bind(inner, depth + 1, 0)
        self.write(depth + 1, f"{total} {self.rng.choice(['+=', '-='])} {self.bounded('f', inner)}")
        shared = [f for f, role in self.roles.items() if role == "sum" and FIELDS[f][0] == "{i}"]
        if shared:
            field = self.rng.choice(shared)
            value = self.bounded(FIELDS[field][1], inner)
            moved = "i" in scope and self.rng.random() < 0.5
            if moved:
                self.write(depth + 1, f"if i + {index} < 5:")
            at = f"i + {index}" if moved else index
            self.write(depth + 1 + moved, f"{field}[{at}] += {value}")
        scope[total] = "f"

    def repeat(self, scope: Scope, depth: int, nested: int) -> None:
        carried = self.local("f", scope, depth)
        index = self.name("i")
        count = self.rng.choice(["3", "n", "40"])
        self.write(depth, f"{index} = 0")
        self.write(depth, f"while {index} < {count} and {self.expression('b', scope, 1)}:")
        self.write(depth + 1, f"{index} += 1")
        self.iteration({**scope, index: "i"}, carried, depth + 1, nested)

    def iteration(self, scope: Scope, carried: str, depth: int, nested: int) -> None:
        factor, rest = self.bounded("f", scope), self.bounded("f", scope)
        self.write(depth, f"{carried} = ti.sin({carried} * {factor}) + 0.3 * {rest}")
        self.block(scope, depth, nested - 1)
        if self.rng.random() < 0.3:
            self.write(depth, f"if {self.expression('b', scope, 1)}:")
            self.write(depth + 1, self.rng.choice(["break", "continue"]))
            self.block(scope, depth, 0)

    # The kernel

    def kernel(self, name: str) -> str:
        given = ", ".join([*ARGUMENTS, *(["rows"] if self.objects else [])])
        self.write(0, f"def {name}({given}):".replace(" n,", " n: int,"))
        outer: Scope = {}
        for task in range(self.rng.randrange(1, 3)):
            if task and self.rng.random() < 0.2:
                self.roles = {}
                self.write(1, f"if {self.expression('b', outer, 2)}:")
                self.write(2, "return")
            if self.rng.random() < 0.3:
                self.roles = {}
                local = self.name("f")
                self.write(1, f"{local} = {self.bounded('f', outer)}")
                outer[local] = "f"
                self.write(1, f"a[None] {self.rng.choice(['=', '+=', '*='])} {local}")
            self.roles = {
                field: self.rng.choice(
                    [
                        *("read", "sum", "read", "sum"),
                        *(() if index == "None" else ("own", "own")),
                        *(("top",) if kind == "f" else ()),
                    ]
                )
                for field, (index, kind) in FIELDS.items()
            }
            self.write(
                1, self.rng.choice(["for i in x:", "for i in range(5):", "for i in range(1, 4):"])
            )
            self.body(outer)
        return "\n".join(self.lines) + "\n"

    def body(self, outer: Scope) -> None:
        scope: Scope = {"i": "i"}
        for value in (*outer, "h"):
            copy = self.name("f")
            self.write(2, f"{copy} = {value} + 0.0")
            scope[copy] = "f"
        self.block(scope, 2, 2)
        for name in outer:
            if self.rng.random() < 0.15:  # then the iterations are in order
                self.write(2, f"{name} = 0.5 * {name} + {self.bounded('f', scope)}")
            elif self.rng.random() < 0.15:
                self.write(2, f"{name} += {self.bounded('f', scope)}")
        self.block(scope, 2, 1)
        self.store(scope, 2, 0)


def random_program(seed: int, folder: Path) -> Program:
    """Write the kernel of a seed into a file, since its source is read again, and return it."""
    name = f"random_{seed}"
    path = folder / f"{name}.py"
    path.write_text(HEAD + _Writer(seed).kernel(name))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arguments: dict[str, Any] = dict(ARGUMENTS)
    if seed >= WITH_OBJECTS:
        arguments["rows"] = held(Rows, points=ints([3, 0, 0, 2, 1]), starts=ROW_STARTS)
    return Program(getattr(module, name), arguments, launches=1 + seed % 3, single=False)


def check(one: Program) -> None:
    """Put a program through every check, unless it is refused, and rightly so.

    Refused is a read after a write of another iteration, and a func that draws in a loop where an
    expression may skip the call.
    """
    try:
        harness.check(one)
    except NotDifferentiable:
        pass
    except KernelError as error:
        if "an expression may skip it" not in error.title:
            raise


def main(first: int, last: int) -> None:
    """Check the programs of many seeds; failing ones stay in a folder."""
    folder = Path(tempfile.gettempdir()) / "random_programs"
    folder.mkdir(exist_ok=True)
    wrong = 0
    for seed in range(first, last):
        one = random_program(seed, folder)
        try:
            check(one)
        except Exception as error:
            wrong += 1
            print(
                f"{folder / one.function.__name__}.py: {type(error).__name__}: {error}\n",
                flush=True,
            )
            continue
        (folder / f"{one.function.__name__}.py").unlink()
    print(f"{last - first} programs, {wrong} of them wrong")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
