"""Random programs: the text of some kernels, the fields that there are, and launches.

A number says which program it is. Every expression for an index comes with the range of its values,
so that most programs stay inside of their fields. In each parallel loop a field has a role: it is
read anywhere, belongs to the iteration, or is changed by one kind of atomic. A few fields are
"wild", touched in any way at any index: their programs have to be refused, or be right.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

HEAD = """\
import taichi as ti

import difftile as dt
from tests.hunt.funcs import both, chosen, element, first_above, halving
from tests.hunt.funcs import put, ruled, ruled_pair, squared

GAIN = 0.7
SHIFT = 1
"""


@dataclass(frozen=True)
class Given:
    """A field of a program.

    Args:
        values: What it holds; the components of its elements are the last axes.
        element: The shape of an element.
        graded: It has a gradient.
    """

    values: np.ndarray
    element: tuple[int, ...] = ()
    graded: bool = True

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape[: self.values.ndim - len(self.element)]

    @property
    def kind(self) -> str:
        if self.values.dtype.kind == "i":
            return "i"
        return {(): "f", (2,): "v", (3,): "w", (2, 2): "m"}[self.element]


@dataclass(frozen=True)
class Launch:
    """A launch: what is written between the parentheses, one text for each parameter."""

    kernel: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Write:
    """A write from Python between launches: `field[index] = value`."""

    field: str
    index: tuple[int, ...]
    value: float


@dataclass(frozen=True)
class Program:
    """Kernels, fields, and what is run.

    Args:
        number: What it was drawn from.
        text: The module of the kernels.
        fields: The fields by name; members of the one struct field as 'P.pos'.
        steps: Launches and writes in order.
        affine: No index follows from what a field holds.
        captured: Fields that kernels use without being given them.
    """

    number: int
    text: str
    fields: dict[str, Given]
    steps: tuple[Launch | Write, ...]
    affine: bool = True
    captured: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the program as one would write it down."""
        lines = [self.text.rstrip(), ""]
        for name, given in self.fields.items():
            kind = "" if given.graded else "  # no gradient"
            lines.append(f"{name} = {given.values.round(4).tolist()}{kind}")
        for step in self.steps:
            if isinstance(step, Launch):
                lines.append(f"{step.kernel}({', '.join(step.arguments)})")
            else:
                lines.append(f"{step.field}[{step.index}] = {step.value}")
        return "\n".join(lines)


# Expressions by what they give: f, a float; v and w, vectors of 2 and 3; m, a matrix; b, a bool.
# {i} is any integer, {k:3} an index from 0 to 2.
EXPRESSIONS: dict[str, tuple[str, ...]] = {
    "f": (
        *("({f} + {f})", "({f} - {f})", "({f} * {f})", "({f} * {f})", "(-{f})", "({f} * 0.5)"),
        *("({f} / (1.5 + ti.abs({f})))", "ti.sqrt(ti.abs({f}) + 0.3)", "ti.exp(-ti.abs({f}))"),
        *("ti.sin({f})", "ti.cos({f})", "ti.tanh({f})", "ti.max({f}, {f})", "ti.min({f}, {f})"),
        *("max({f}, {f}, 0.1)", "min({f}, {f})", "abs({f})", "ti.math.clamp({f}, -0.7, 0.8)"),
        *("({f} if {b} else {f})", "ti.select({b}, {f}, {f})", "squared({f})", "chosen({f}, {f})"),
        *("{v}.dot({v})", "{v}.sum()", "{v}.x", "{w}[2]", "{w}.norm_sqr()", "{v}[{k:2}]"),
        *(
            "{w}.norm()",
            "((ti.abs({f}) + 0.2) ** {f})",
            "(({f}) ** 2)",
            "(({f}) ** 3)",
            "({i} * {f})",
        ),
        *("ti.log(ti.abs({f}) + 0.5)", "ti.atan2({f}, 1.5 + ti.abs({f}))", "dt.sigmoid({f})"),
        *("dt.softplus({f})", "(ti.floor(3 * {f}) * {f})", "ti.math.fract({f})", "({f} % 0.7)"),
        *(
            "dt.stop_grad({f})",
            "dt.scale_grad({f}, 0.5)",
            "ruled({f})",
            "ruled_pair({f}, {f})",
            "first_above({f}, 0.2)",
        ),
        *("halving({f})", "chosen({f})", "ti.math.mix({f}, {f}, {f})", "({m} @ {m})[0, 1]"),
        *("{m}.determinant()", "{m}.trace()", "ti.cast({i}, ti.f64)", "ti.max({f}, {i})"),
        *("ti.math.dot({w}, {w})", "{m}[{k:2}, 1]", "({i} / 4)", "float({b})", "(GAIN * {f})"),
        *("(ti.math.sign({f}) * {f})", "ti.rsqrt(1 + squared({f}))", "({w} * {w}).max()"),
    ),
    "v": (
        *(
            "ti.Vector([{f}, {f}])",
            "({v} + {v})",
            "({v} - 0.5 * {v})",
            "({f} * {v})",
            "({m} @ {v})",
        ),
        *(
            "ti.sin({v})",
            "ti.max({v}, {f})",
            "{v}.yx",
            "ti.math.vec2({f}, {f})",
            "{w}.zx",
            "(-{v})",
        ),
        *("({v} / (2 + ti.abs({v})))", "ti.math.clamp({v}, -0.5, {f})", "({v} * {v})"),
    ),
    "w": (
        *("ti.Vector([{f}, {f}, {f}])", "({w} + {w})", "({w} * {w})", "({f} * {w})", "{w}.zxy"),
        *("{w}.cross({w})", "ti.tanh({w})", "ti.math.vec3({f})", "ti.min({w}, {w})"),
        *("({w} + ti.Vector([1.0, 2.0, 3.0])).normalized()", "ti.math.vec3({v}, {f})"),
    ),
    "m": (
        *("ti.Matrix([[{f}, {f}], [0.5, {f}]])", "({m} + {m})", "{m}.transpose()", "({m} @ {m})"),
        *("{v}.outer_product({v})", "({f} * {m})", "ti.sin({m})"),
    ),
    "b": (
        *("{f} < {f}", "{f} >= {f}", "{i} == {i}", "{i} < {i}", "{i} % 2 == 0", "{i} > 0"),
        *("({b} and {b})", "({b} or {b})", "(not {b})", "-0.5 < {f} < 0.6", "{f} != 0.0"),
    ),
}
NUMBERS = ("0.5", "1.5", "-0.25", "2", "0.9", "1", "0.0", "h", "GAIN", "n", "3")
SIGNS = {"sum": ("+=", "+=", "-="), "mul": ("*=",), "div": ("/=",)}
Range: TypeAlias = tuple[int, int]  # lowest and highest value
Scope: TypeAlias = "dict[str, str | Range]"  # locals by what they hold; integers by their range


@dataclass
class Header:
    """A loop: its line, and the indices that it gives."""

    text: str
    indices: dict[str, Range]


@dataclass
class _Writer:
    """Writes one kernel over some fields."""

    rng: random.Random
    fields: dict[str, Given]
    n: int
    wild: float
    lines: list[str] = field(default_factory=list[str])
    roles: dict[str, str] = field(default_factory=dict[str, str])
    owned: dict[str, str] = field(default_factory=dict[str, str])
    names: int = 0
    parallel: dict[str, Range] = field(default_factory=dict[str, Range])
    affine: bool = True
    nesting: int = 0  # of elements in indices of elements
    sums: list[str] = field(default_factory=list[str])  # locals that parallel loops add to

    def write(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}{self.names}"

    def chance(self, of: float) -> bool:
        return self.rng.random() < of

    # Integers

    def integer(self, scope: Scope, depth: int) -> tuple[str, Range]:
        """Return any integer expression and its range."""
        known = [(name, held) for name, held in scope.items() if isinstance(held, tuple)]
        depth = 0 if self.nesting > 1 else depth
        kind = self.rng.randrange(12) if depth > 0 else self.rng.randrange(4)
        if kind < 3 and known:
            return self.rng.choice(known)
        if kind < 4 or (kind < 6 and not known):
            value = self.rng.randrange(4)
            return str(value), (value, value)
        if kind == 4:
            return "n", (self.n, self.n)
        if kind == 5:
            whole = [f for f, one in self.fields.items() if one.kind == "i"]
            whole = [f for f in whole if self.roles.get(f, "read") == "read"]
            if whole:
                self.affine = False
                name = self.rng.choice(whole)
                values = self.fields[name].values
                return self.element(name, scope), (int(values.min()), int(values.max()))
        (a, (low, high)), (b, (bottom, top)) = (self.integer(scope, depth - 1) for _ in range(2))
        if kind == 6:
            return f"({a} + {b})", (low + bottom, high + top)
        if kind == 7:
            return f"({a} - {b})", (low - top, high - bottom)
        if kind == 8:
            factor = self.rng.choice((-2, -1, 2, 3))
            ends = (factor * low, factor * high)
            return f"({factor} * {a})", (min(ends), max(ends))
        if kind == 9:
            by = self.rng.choice((2, 3))
            return f"({a} // {by})", (low // by, high // by)
        if kind == 10:
            by = self.rng.choice((2, 3, 4))
            return f"({a} % {by})", (0, by - 1)
        self.affine = False
        if self.chance(0.5):
            return f"int(2 * ti.abs({self.expression('f', scope, depth - 1)})) % 3", (0, 2)
        condition = self.expression("b", scope, depth - 1)
        return f"({a} if {condition} else {b})", (min(low, bottom), max(high, top))

    def within(self, size: int, scope: Scope) -> str:
        """Return an integer expression from 0 to size - 1."""
        for _ in range(4):
            text, (low, high) = self.integer(scope, self.rng.choice((0, 1, 1, 2)))
            if low >= 0 and high < size:
                return text
        if low >= 0 and low < size and self.chance(0.3):
            return f"ti.min({text}, {size - 1})"
        return f"{text} % {size}"

    # Elements

    def element(self, name: str, scope: Scope) -> str:
        """Return an element of a field, as its role in this loop allows."""
        owned = self.owned.get(name)
        field = name.replace(".", "[{}].") if "." in name and self.chance(0.7) else name + "[{}]"
        self.nesting += 1
        if owned is not None:
            index = [self.filled(owned, scope, 1)]
        else:
            index = [self.within(size, scope) for size in self.fields[name].shape]
        self.nesting -= 1
        return field.format(", ".join(index) or "None")

    def own(self, name: str) -> str | None:
        """Return an index of a field that no two iterations of the loop share, or None."""
        shape = self.fields[name].shape
        ranges = list(self.parallel.items())
        if self.rng.random() < 0.5:
            self.rng.shuffle(ranges)
        if len(ranges) == 1:
            ((i, (low, high)),) = ranges
            extent = high - low + 1
            found: list[str] = []
            for size in shape:
                one = [i] * 6 if 0 <= low and high < size else []
                if extent <= size:
                    shift = self.rng.randint(-low, size - 1 - high)
                    one += [f"{i} + {shift}" if shift >= 0 else f"{i} - {-shift}"]
                    one += (
                        [f"{self.rng.randint(high, size - 1 + low)} - {i}"]
                        if high <= size - 1 + low
                        else []
                    )
                    one += [f"({i} + {self.rng.randrange(4)}) % {size}"] if self.chance(0.3) else []
                if 0 <= 2 * low and 2 * high + 1 < size:
                    one += [f"2 * {i} + {self.rng.randrange(2)}", f"2 * {i}"]
                found.append(self.rng.choice(one) if one else "")
            if not shape:
                return "None" if extent == 1 and self.chance(0.3) else None
            good = [k for k, text in enumerate(found) if text]
            if not good:
                size = shape[-1]
                if len(shape) == 2 and 0 <= low and high < shape[0] * size:
                    return f"{i} // {size}, {i} % {size}"
                return None
            main = self.rng.choice(good)
            return ", ".join(
                text if k == main else self.rng.choice((f"{{k:{size}}}", "0", text or "0"))
                for k, (text, size) in enumerate(zip(found, shape, strict=True))
            )
        if len(shape) >= len(ranges) and all(
            0 <= low and high < size for (_, (low, high)), size in zip(ranges, shape, strict=False)
        ):
            rest = [f"{{k:{size}}}" for size in shape[len(ranges) :]]
            return ", ".join([*(i for i, _ in ranges), *rest])
        if len(shape) == 1 and len(ranges) == 2:
            (i, (low, high)), (j, (bottom, top)) = ranges
            if low >= 0 and bottom >= 0 and high * (top + 1) + top < shape[0]:
                return f"{i} * {top + 1} + {j}"
        return None

    # Expressions

    def expression(self, kind: str, scope: Scope, depth: int) -> str:
        if depth <= 0 or self.chance(0.15):
            return self.leaf(kind, scope)
        return self.filled(self.rng.choice(EXPRESSIONS[kind]), scope, depth - 1)

    def filled(self, template: str, scope: Scope, depth: int) -> str:
        def slot(match: re.Match[str]) -> str:
            kind, size = match[1], match[2]
            if size:
                return self.within(int(size), scope)
            return self.integer(scope, 1)[0] if kind == "i" else self.expression(kind, scope, depth)

        return re.sub(r"{(\w)(?::(\d+))?}", slot, template)

    def leaf(self, kind: str, scope: Scope) -> str:
        names = [name for name, held in scope.items() if held == kind]
        if kind == "b":
            return f"{self.leaf('f', scope)} > {self.leaf('f', scope)}"
        elements = [name for name in self.readable() if self.fields[name].kind == kind]
        choices = [*names, *names]
        if elements:
            choices += [self.element(self.rng.choice(elements), scope) for _ in range(2)]
        if kind == "f":
            choices += self.rng.sample(NUMBERS, 2)
        if not choices or (kind != "f" and self.chance(0.1)):
            numbers = [self.rng.choice(NUMBERS[:7]) for _ in range(4)]
            return {
                "v": "ti.Vector([{}, {}])",
                "w": "ti.Vector([{}, 1.0, {}])",
                "m": "ti.Matrix([[1.0, {}], [{}, -0.5]])",
            }.get(kind, "{}").format(*numbers)
        return self.rng.choice(choices)

    def readable(self) -> list[str]:
        return [
            name for name in self.fields if self.roles.get(name, "read") in ("read", "own", "wild")
        ]

    def bounded(self, kind: str, scope: Scope, depth: int = 2) -> str:
        text = self.expression(kind, scope, depth)
        return text if self.chance(0.4) else f"ti.{self.rng.choice(('sin', 'tanh'))}({text})"

    # Statements

    def block(self, scope: Scope, depth: int, nested: int) -> None:
        written = len(self.lines)
        for _ in range(self.rng.choice((1, 1, 2))):
            self.statement(scope, depth, nested)
        if len(self.lines) == written:
            self.bind(scope, depth, nested)

    def statement(self, scope: Scope, depth: int, nested: int) -> None:
        plain: list[Callable[[Scope, int, int], None]] = [
            *(self.bind, self.bind, self.rebind, self.component, self.unpack, self.swap),
            *([self.store] * 7),
            *(self.draw, self.alias, self.gather, self.exchange, self.add_up),
        ]
        compound = [self.branch, self.loop, self.loop, self.repeat, self.unrolled]
        choices = [*plain, *compound, *compound] if nested > 0 else plain
        self.rng.choice(choices)(scope, depth, nested)

    def bind(self, scope: Scope, depth: int, nested: int) -> None:
        kind = self.rng.choice("fffvwmi")
        name = self.name(kind)
        if kind == "i":
            text, scope[name] = self.integer(scope, 2)
            self.write(depth, f"{name} = {text}")
            return
        factor = "" if kind in "vwm" and self.chance(0.5) else "1.0 * "
        self.write(depth, f"{name} = {factor}({self.expression(kind, scope, 2)})")
        scope[name] = kind

    def local(self, kinds: str, scope: Scope, depth: int) -> str:
        """Return a local of one of the kinds, a new one if there is none."""
        known = [
            name for name, held in scope.items() if held in tuple(kinds) and name[-1].isdigit()
        ]
        if known and self.chance(0.8):
            return self.rng.choice(known)
        kind = self.rng.choice(kinds)
        name = self.name(kind)
        self.write(depth, f"{name} = 1.0 * {self.bounded(kind, scope, 1)}")
        scope[name] = kind
        return name

    def rebind(self, scope: Scope, depth: int, nested: int) -> None:
        name = self.local("ffvwm", scope, depth)
        kind = scope[name]
        assert isinstance(kind, str)
        sign = self.rng.choice(["= 0.5 *", "=", "+=", "-=", "*="])
        self.write(depth, f"{name} {sign} {self.bounded(kind, scope)}")

    def component(self, scope: Scope, depth: int, nested: int) -> None:
        name = self.local("vw", scope, depth)
        size = 2 if scope[name] == "v" else 3
        at = self.rng.choice([".x", "[1]", f"[{self.within(size, scope)}]"])
        sign = self.rng.choice(["=", "+=", "*="])
        self.write(depth, f"{name}{at} {sign} {self.bounded('f', scope)}")

    def unpack(self, scope: Scope, depth: int, nested: int) -> None:
        a, b = self.name("f"), self.name("f")
        values = [self.expression("f", scope, 1) for _ in range(2)]
        self.write(depth, f"{a}, {b} = both({values[0]}, {values[1]})")
        scope[a] = scope[b] = "f"

    def swap(self, scope: Scope, depth: int, nested: int) -> None:
        a, b = (self.local("f", scope, depth) for _ in range(2))
        if a != b:
            self.write(depth, f"{a}, {b} = {b}, {a} * {self.bounded('f', scope, 1)}")

    def exchange(self, scope: Scope, depth: int, nested: int) -> None:
        """Exchange two elements, or an element and a local."""
        own = [f for f, role in self.roles.items() if role in ("own", "wild")]
        own = [f for f in own if self.fields[f].kind == "f"]
        if not own:
            return self.store(scope, depth, nested)
        one = self.element(self.rng.choice(own), scope)
        floats = [name for name, held in scope.items() if held == "f" and name[-1].isdigit()]
        if floats and self.chance(0.4):
            other = self.rng.choice(floats)
        else:
            other = self.element(self.rng.choice(own), scope)
        self.write(depth, f"{one}, {other} = {other}, {one}")
        return None

    def add_up(self, scope: Scope, depth: int, nested: int) -> None:
        """Add to a local of the kernel from a parallel loop."""
        if self.sums and self.parallel:
            sign = self.rng.choice(("+=", "-="))
            self.write(depth, f"{self.rng.choice(self.sums)} {sign} {self.bounded('f', scope)}")
        else:
            self.rebind(scope, depth, nested)

    def draw(self, scope: Scope, depth: int, nested: int) -> None:
        if self.chance(0.3):
            name = self.name("f")
            self.write(
                depth, f"{name} = {self.rng.choice(('dt.rand()', 'dt.randn()', 'ti.random()'))}"
            )
            scope[name] = "f"
        elif self.chance(0.2):
            name = self.name("i")
            self.affine = False
            self.write(depth, f"{name} = dt.randint(3)")
            scope[name] = (0, 2)
        else:
            self.store(scope, depth, nested)

    def alias(self, scope: Scope, depth: int, nested: int) -> None:
        """Call a func that is given a field."""
        plain = [f for f in self.fields if self.fields[f].kind == "f" and "." not in f]
        plain = [f for f in plain if len(self.fields[f].shape) == 1]
        own = [f for f in plain if self.roles.get(f) in ("own", "wild")]
        read = [f for f in plain if self.roles.get(f, "read") in ("read", "own", "wild")]
        if own and self.chance(0.3):
            at = self.element(name := self.rng.choice(own), scope)[len(name) + 1 : -1]
            self.write(depth, f"put({name}, {at}, {self.expression('f', scope, 1)})")
        elif read:
            at = self.element(name := self.rng.choice(read), scope)[len(name) + 1 : -1]
            local = self.name("f")
            self.write(depth, f"{local} = element({name}, {at})")
            scope[local] = "f"

    def gather(self, scope: Scope, depth: int, nested: int) -> None:
        """Fill a local array, and read it at a computed place."""
        name, size = self.name("y"), self.rng.choice((3, 4))
        numbers = ", ".join(["0.0"] * size)
        self.write(depth, f"{name} = ti.Vector([{numbers}])")
        index = self.name("j")
        self.in_order(depth)
        self.write(depth, f"for {index} in range({size}):")
        inside: Scope = {**scope, index: (0, size - 1)}
        self.write(depth + 1, f"{name}[{index}] = {self.bounded('f', inside)}")
        local = self.name("f")
        self.write(depth, f"{local} = {name}[{self.within(size, scope)}] * {name}[{size - 1}]")
        scope[local] = "f"

    def store(self, scope: Scope, depth: int, nested: int) -> None:
        fields = [f for f, role in self.roles.items() if role not in ("read",)]
        if not fields:
            return self.bind(scope, depth, nested)
        name = self.rng.choice(fields)
        role, kind = self.roles[name], self.fields[name].kind
        if kind == "i":
            text = self.within(int(self.fields[name].values.max()) + 1, scope)
            if role in ("own", "wild"):
                self.write(depth, f"{self.element(name, scope)} = {text}")
            return None
        if role in ("max", "min"):
            value = self.bounded(kind, scope)
            self.write(depth, f"ti.atomic_{role}({self.element(name, scope)}, {value})")
            return None
        if role == "wild":
            signs: tuple[str, ...] = ("=", "=", "+=", "+=", "*=")
        else:
            signs = SIGNS.get(role, ("=", "=", "=", "=", "+=", "+=", "-=", "*=", "/=", "**="))
        sign = self.rng.choice(signs)
        part = ""
        if kind in "vw":
            part = self.rng.choice(("", "", ".x", "[1]", "[{k:2}]"))
        elif kind == "m":
            part = self.rng.choice(("", "", "[0, 1]", "[{k:2}, 1]"))
        part = self.filled(part, scope, 1)
        value = self.bounded("f" if part else kind, scope)
        if sign in ("*=", "/=") and (kind == "m" and not part):
            sign = "+="
        if sign in ("*=", "/="):
            value = f"(1.5 + 0.4 * {value})" if not part or sign == "/=" else value
            value = f"(2.0 + ti.sin({value}))" if sign == "/=" else value
        at = self.element(name, scope)
        if sign == "**=":
            value = "2"
        if sign == "+=" and not part and self.chance(0.15):
            if self.chance(0.5) and role == "own" and kind == "f":
                local = self.name("f")
                how = self.rng.choice(("add", "sub", "max", "min", "mul"))
                self.write(depth, f"{local} = ti.atomic_{how}({at}, {value})")
                scope[local] = "f"
            else:
                self.write(depth, f"ti.atomic_add({at}, {value})")
            return None
        if sign == "=" and role == "own" and kind == "f" and self.chance(0.3):
            value = f"{at} * {value}"
        self.write(depth, f"{at}{part} {sign} {value}")
        return None

    def branch(self, scope: Scope, depth: int, nested: int) -> None:
        if self.chance(0.1):
            self.write(depth, f"if ti.static(SHIFT {self.rng.choice('<>')} 0):")
        else:
            self.write(depth, f"if {self.expression('b', scope, 2)}:")
        self.block(dict(scope), depth + 1, nested - 1)
        for line, chance in (("elif {b}:", 0.25), ("else:", 0.6)):
            if self.chance(chance):
                self.write(depth, self.filled(line, scope, 1))
                self.block(dict(scope), depth + 1, nested - 1)

    def loop(self, scope: Scope, depth: int, nested: int) -> None:
        carried = self.local("f", scope, depth)
        index = self.name("j")
        count, low, high = self.rng.choice(
            [
                *(("3", 0, 2), ("n", 0, self.n - 1), ("2", 0, 1), ("0", 0, 0), ("1, 4", 1, 3)),
                *(("-2, 2", -2, 1), ("6, 0, -2", 2, 6), ("9", 0, 8), ("2, -1, -1", 0, 2)),
                ("40", 0, 39),
            ]
        )
        ints = [name for name, held in scope.items() if isinstance(held, tuple)]
        if ints and self.chance(0.2):
            name = self.rng.choice(ints)
            count, low, high = f"{name}", 0, max(0, scope[name][1] - 1)  # type: ignore[operator]
        self.in_order(depth)
        self.write(depth, f"for {index} in range({count}):")
        self.iteration({**scope, index: (low, high)}, carried, depth + 1, nested)

    def in_order(self, depth: int) -> None:
        """Let the loop that follows run in one thread, wherever it stands."""
        if depth == 1:
            self.write(depth, "ti.loop_config(serialize=True)")

    def unrolled(self, scope: Scope, depth: int, nested: int) -> None:
        index, other = self.name("j"), self.name("j")
        inside: Scope = {**scope, index: (0, 1)}
        if self.chance(0.3):
            inside[other] = (-1, 0)
            self.write(depth, f"for {index}, {other} in ti.static(ti.ndrange(2, (-1, 1))):")
        else:
            self.write(depth, f"for {index} in ti.static(range(2)):")
        self.block(inside, depth + 1, 0)

    def repeat(self, scope: Scope, depth: int, nested: int) -> None:
        carried = self.local("f", scope, depth)
        index = self.name("j")
        count, high = self.rng.choice((("3", 2), ("n", self.n), ("5", 4)))
        self.write(depth, f"{index} = 0")
        self.write(depth, f"while {index} < {count} and {self.expression('b', scope, 1)}:")
        self.write(depth + 1, f"{index} += 1")
        self.iteration({**scope, index: (1, high + 1)}, carried, depth + 1, nested)

    def iteration(self, scope: Scope, carried: str, depth: int, nested: int) -> None:
        factor, rest = self.bounded("f", scope, 1), self.bounded("f", scope, 1)
        line = self.rng.choice(
            (
                f"{carried} = ti.sin({carried} * {factor}) + 0.3 * {rest}",
                f"{carried} = 0.5 * {carried} + {rest}",
                f"{carried} += {rest}",
                f"{carried} *= {factor}",
            )
        )
        self.write(depth, line)
        if self.chance(0.6):
            self.block(scope, depth, nested - 1)
        if self.chance(0.3):
            self.write(depth, f"if {self.expression('b', scope, 1)}:")
            if self.chance(0.3):
                self.statement(dict(scope), depth + 1, 0)
            self.write(depth + 1, self.rng.choice(["break", "continue"]))
            self.block(scope, depth, 0)

    # The kernel

    def header(self) -> Header:
        """Return a parallel loop."""
        shaped = [f for f, one in self.fields.items() if one.shape and "." not in f]
        if shaped and self.chance(0.35):
            name = self.rng.choice(shaped)
            shape = self.fields[name].shape
            names = ("i", "j", "l")[: len(shape)]
            if self.chance(0.2):
                ranges = {f"I[{k}]": (0, size - 1) for k, size in enumerate(shape)}
                return Header(f"for I in ti.grouped({name}):", ranges)
            ranges = {i: (0, size - 1) for i, size in zip(names, shape, strict=True)}
            return Header(f"for {', '.join(names)} in {name}:", ranges)
        if self.chance(0.2):
            p, q = (self.rng.randint(1, 3) for _ in range(2))
            if self.chance(0.3):
                return Header(
                    f"for i, j in ti.ndrange((1, {p + 1}), {q}):", {"i": (1, p), "j": (0, q - 1)}
                )
            return Header(f"for i, j in ti.ndrange({p}, {q}):", {"i": (0, p - 1), "j": (0, q - 1)})
        n = self.n
        text, low, high = self.rng.choice(
            [
                *(("n", 0, n - 1), ("n", 0, n - 1), (str(n), 0, n - 1), ("1, n", 1, n - 1)),
                *(("1", 0, 0), ("2", 0, 1), ("n - 1", 0, n - 2), ("n - 1, -1, -1", 0, n - 1)),
                *(
                    ("0, n, 2", 0, n - 1),
                    ("1, n - 1", 1, n - 2),
                    ("3", 0, 2),
                    ("n // 2", 0, n // 2 - 1),
                ),
            ]
        )
        if shaped and text == "n" and self.chance(0.5):
            name = self.rng.choice(shaped)
            size = self.fields[name].shape[0]
            text, high = f"{name}.shape[0]", size - 1
        return Header(f"for i in range({text}):", {"i": (low, max(low, high))})

    def assign_roles(self) -> None:
        self.roles, self.owned = {}, {}
        for name, one in self.fields.items():
            if self.chance(self.wild):
                self.roles[name] = "wild"
                continue
            owned = self.own(name) if self.parallel else None
            choices = ["read", "read", "read", "sum", "sum"]
            if owned:
                choices += ["own"] * 5
            if one.kind == "i":
                choices = ["read", "read", "read", "own" if owned else "read"]
            elif one.kind == "f":
                choices += [self.rng.choice(("mul", "max", "min", "div"))]
            role = self.rng.choice(choices)
            if role == "own":
                assert owned is not None
                self.owned[name] = owned
            self.roles[name] = role

    def kernel(self, name: str, parameters: list[str]) -> str:
        self.write(0, f"def {name}({', '.join(parameters)}, n: int, h: float):")
        outer: Scope = {}
        for _ in range(self.rng.choice((1, 1, 1, 2, 2))):
            kind = self.rng.random()
            if kind < 0.2:
                self.parallel = {}
                self.roles = {f: "own" for f in self.fields}
                self.owned = {}
                self.block(outer, 1, 1)
                if self.chance(0.4):
                    self.sums.append(self.name("sum"))
                    self.write(1, f"{self.sums[-1]} = 1.0 * {self.expression('f', outer, 1)}")
                continue
            self.indent_loop(outer, serial=kind < 0.3)
            if self.sums and self.chance(0.6):
                self.roles, self.owned, self.parallel = {f: "own" for f in self.fields}, {}, {}
                self.store({name: "f" for name in self.sums}, 1, 0)
        return "\n".join(self.lines) + "\n"

    def indent_loop(self, outer: Scope, *, serial: bool) -> None:
        header = self.header()
        self.parallel = {} if serial else header.indices
        if serial:
            self.roles, self.owned = {f: "own" for f in self.fields}, {}
            self.in_order(1)
        else:
            self.assign_roles()
        self.write(1, header.text)
        scope: Scope = dict(header.indices)
        for local, held in outer.items():  # locals from outside are not changed in the loop
            if isinstance(held, str) and self.chance(0.5):
                copy = self.name(held)
                self.write(2, f"{copy} = 1.0 * {local}")
                scope[copy] = held
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            self.statement(scope, 2, self.rng.choice((1, 1, 2)))
        self.store(scope, 2, 0)


# Programs


def _values(rng: np.random.Generator, shape: tuple[int, ...], zeros: bool) -> np.ndarray:
    values = rng.uniform(-1.5, 1.5, shape)
    return np.where(rng.random(shape) < 0.3, 0.0, values) if zeros else values


def _fields(rng: random.Random, n: int) -> dict[str, Given]:
    numbers = np.random.default_rng(rng.getrandbits(32))
    p, q, m = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 4)
    zeros = rng.random() < 0.08
    shapes: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
        "a": ((n,), ()),
        "b": ((n,), ()),
        "c": ((2 * n + 1,), ()),
        "d": ((m,), ()),
        "g": ((p, q), ()),
        "e": ((q, p), ()),
        "t": ((2, p, q), ()),
        "s": ((), ()),
        "z": ((), ()),
        "u": ((n,), (2,)),
        "w": ((n,), (3,)),
        "m": ((m,), (2, 2)),
        "P.pos": ((n,), (2,)),
        "P.mass": ((n,), ()),
    }
    found = {
        name: Given(_values(numbers, (*shape, *element), zeros), element, rng.random() < 0.93)
        for name, (shape, element) in shapes.items()
    }
    found["q"] = Given(numbers.permutation(n).astype(np.int32), (), False)
    found["r"] = Given(numbers.integers(0, n, n).astype(np.int32), (), False)
    return found


VIEWS = ("[1:]", "[:-1]", "[::2]", "[::-1]", "[1:-1]", "[1::2]", "[::-2]")


def draw(number: int) -> Program:
    """Return the program of a number."""
    rng = random.Random(number)
    n = rng.randint(1, 6)
    fields = _fields(rng, n)
    kernels: list[str] = []
    steps: list[Launch | Write] = []
    affine, captured = True, set[str]()
    for k in range(rng.choice((1, 1, 1, 1, 2))):
        text, launch, plain, outside = _kernel(rng, f"k{k}", fields, n)
        kernels.append(text)
        affine &= plain
        captured |= outside
        steps += [launch] * rng.choice((1, 1, 1, 2))
        if rng.random() < 0.1:
            name = rng.choice([f for f in "abcds" if fields[f].graded] or ["a"])
            index = tuple(rng.randrange(size) for size in fields[name].shape)
            steps.append(Write(name, index, round(rng.uniform(-1, 1), 2)))
    used = {
        name
        for step in steps
        for text in (step.arguments if isinstance(step, Launch) else (step.field,))
        for name in re.findall(r"^[A-Za-z]+", text)
    } | captured
    kept = {name: one for name, one in fields.items() if name.partition(".")[0] in used}
    text = HEAD + "\n\n" + "\n\n".join(kernels)
    return Program(number, text, kept, tuple(steps), affine, tuple(sorted(captured)))


def _kernel(
    rng: random.Random, name: str, fields: dict[str, Given], n: int
) -> tuple[str, Launch, bool, set[str]]:
    names = [f for f in fields if "." not in f]
    chosen = sorted(rng.sample(names, rng.randint(2, 5)), key=names.index)
    with_struct = rng.random() < 0.1
    seen = {f: fields[f] for f in chosen}
    arguments = list(chosen)
    parameters = list(chosen)
    if with_struct:
        seen |= {f: fields[f] for f in ("P.pos", "P.mass")}
        arguments.append("P")
        parameters.append("P")
    for k, f in enumerate(chosen):
        shape = fields[f].shape
        if shape and rng.random() < 0.12:
            view = ", ".join(rng.choice((":", *(v[1:-1] for v in VIEWS))) for _ in shape)
            part = _part(fields[f], view)
            if part.values.size:
                arguments[k] = f"{f}[{view}]"
                seen[f] = part
    if rng.random() < 0.12:  # one field under two names, whole or in part
        f = rng.choice(chosen)
        view = ", ".join(rng.choice((":", "1:", ":-1", "::2", "::-1")) for _ in fields[f].shape)
        part = _part(fields[f], view)
        if part.values.size:
            seen["o"] = part
            parameters.append("o")
            arguments.append(f"{f}[{view}]" if fields[f].shape else f)
    captured: set[str] = set()
    if rng.random() < 0.1 and arguments[0] == chosen[0] and len(chosen) > 1:
        captured.add(parameters.pop(0))
        del arguments[0]
    writer = _Writer(rng, seen, n, rng.choice((0.0, 0.0, 0.0, 0.05, 0.15)))
    text = writer.kernel(name, parameters)
    number = round(rng.uniform(-1, 1), 2)
    return text, Launch(name, (*arguments, str(n), str(number))), writer.affine, captured


def _part(given: Given, view: str) -> Given:
    if not given.shape:
        return given
    return replace(given, values=eval(f"values[{view}]", {"values": given.values}))
