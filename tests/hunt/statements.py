"""Statements at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.hunt.words import Scope, Words

SIGNS = {"sum": ("+=", "+=", "-="), "mul": ("*=",), "div": ("/=",)}


@dataclass
class Statements:
    """Writes statements, line after line.

    Args:
        words: Writes the expressions in them.
        lines: What is written.
        sums: Locals of the kernel that parallel loops may add to.
        names: How many names were made.
    """

    words: Words
    lines: list[str] = field(default_factory=list[str])
    sums: list[str] = field(default_factory=list[str])
    names: int = 0

    def write(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}{self.names}"

    def block(self, scope: Scope, depth: int, nested: int) -> None:
        written = len(self.lines)
        for _ in range(self.words.rng.choice((1, 1, 2))):
            self.statement(scope, depth, nested)
        if len(self.lines) == written:
            self.bind(scope, depth, nested)

    def statement(self, scope: Scope, depth: int, nested: int) -> None:
        plain: list[Callable[[Scope, int, int], None]] = [
            *(
                self.bind,
                self.bind,
                self.rebind,
                self.component,
                self.unpack,
                self.swap,
                self.refer,
            ),
            *([self.store] * 7),
            *(self.draw, self.alias, self.gather, self.exchange, self.add_up),
        ]
        compound = [self.branch, self.loop, self.loop, self.repeat, self.unrolled]
        choices = [*plain, *compound, *compound] if nested > 0 else plain
        self.words.rng.choice(choices)(scope, depth, nested)

    def bind(self, scope: Scope, depth: int, nested: int) -> None:
        kind = self.words.rng.choice("fffvwmi")
        name = self.name(kind)
        if kind == "i":
            text, scope[name] = self.words.integer(scope, 2)
            self.write(depth, f"{name} = {text}")
            return
        factor = "" if kind in "vwm" and self.words.chance(0.5) else "1.0 * "
        self.write(depth, f"{name} = {factor}({self.words.expression(kind, scope, 2)})")
        scope[name] = kind

    def local(self, kinds: str, scope: Scope, depth: int) -> str:
        """Return a local of one of the kinds, a new one if necessary."""
        known = [
            name for name, held in scope.items() if held in tuple(kinds) and name[-1].isdigit()
        ]
        if known and self.words.chance(0.8):
            return self.words.rng.choice(known)
        kind = self.words.rng.choice(kinds)
        name = self.name(kind)
        self.write(depth, f"{name} = 1.0 * {self.words.bounded(kind, scope, 1)}")
        scope[name] = kind
        return name

    def rebind(self, scope: Scope, depth: int, nested: int) -> None:
        name = self.local("ffvwm", scope, depth)
        kind = scope[name]
        assert isinstance(kind, str)
        if kind != "m" and self.words.chance(0.15):
            how = self.words.rng.choice(("add", "sub", "max", "min", "mul"))
            old = self.name(kind)
            value = self.words.bounded(kind, scope)
            self.write(depth, f"{old} = ti.atomic_{how}({name}, {value})")
            scope[old] = kind
            return
        sign = self.words.rng.choice(["= 0.5 *", "=", "+=", "-=", "*="])
        self.write(depth, f"{name} {sign} {self.words.bounded(kind, scope)}")

    def component(self, scope: Scope, depth: int, nested: int) -> None:
        name = self.local("vw", scope, depth)
        size = 2 if scope[name] == "v" else 3
        at = self.words.rng.choice([".x", "[1]", f"[{self.words.within(size, scope)}]"])
        sign = self.words.rng.choice(["=", "+=", "*="])
        self.write(depth, f"{name}{at} {sign} {self.words.bounded('f', scope)}")

    def unpack(self, scope: Scope, depth: int, nested: int) -> None:
        a, b = self.name("f"), self.name("f")
        values = [self.words.expression("f", scope, 1) for _ in range(2)]
        self.write(depth, f"{a}, {b} = both({values[0]}, {values[1]})")
        scope[a] = scope[b] = "f"

    def refer(self, scope: Scope, depth: int, nested: int) -> None:
        """Call a func that changes a local, or an element, by reference."""
        own = [f for f, role in self.words.roles.items() if role in ("own", "wild")]
        own = [f for f in own if self.words.fields[f].kind == "f"]
        place = self.local("f", scope, depth)
        if own and self.words.chance(0.3):
            place = self.words.element(self.words.rng.choice(own), scope)
        value = self.words.expression("f", scope, 1)
        call = self.words.rng.choice((f"bump({place}, {value})", f"bump_if({place}, {value}, 0.1)"))
        self.write(depth, call)

    def swap(self, scope: Scope, depth: int, nested: int) -> None:
        a, b = (self.local("f", scope, depth) for _ in range(2))
        if a != b:
            self.write(depth, f"{a}, {b} = {b}, {a} * {self.words.bounded('f', scope, 1)}")

    def exchange(self, scope: Scope, depth: int, nested: int) -> None:
        """Exchange two elements, or an element and a local."""
        own = [f for f, role in self.words.roles.items() if role in ("own", "wild")]
        own = [f for f in own if self.words.fields[f].kind == "f"]
        if not own:
            return self.store(scope, depth, nested)
        one = self.words.element(self.words.rng.choice(own), scope)
        floats = [name for name, held in scope.items() if held == "f" and name[-1].isdigit()]
        if floats and self.words.chance(0.4):
            other = self.words.rng.choice(floats)
        else:
            other = self.words.element(self.words.rng.choice(own), scope)
        self.write(depth, f"{one}, {other} = {other}, {one}")
        return None

    def add_up(self, scope: Scope, depth: int, nested: int) -> None:
        """Add to a local of the kernel from a parallel loop."""
        if self.sums and self.words.parallel:
            sign = self.words.rng.choice(("+=", "-="))
            self.write(
                depth, f"{self.words.rng.choice(self.sums)} {sign} {self.words.bounded('f', scope)}"
            )
        else:
            self.rebind(scope, depth, nested)

    def draw(self, scope: Scope, depth: int, nested: int) -> None:
        if self.words.chance(0.3):
            name = self.name("f")
            self.write(
                depth,
                f"{name} = {self.words.rng.choice(('dt.rand()', 'dt.randn()', 'ti.random()'))}",
            )
            scope[name] = "f"
        elif self.words.chance(0.2):
            name = self.name("i")
            self.words.affine = False
            self.write(depth, f"{name} = dt.randint(3)")
            scope[name] = (0, 2)
        else:
            self.store(scope, depth, nested)

    def alias(self, scope: Scope, depth: int, nested: int) -> None:
        """Call a func that is given a field."""
        plain = [f for f in self.words.fields if self.words.fields[f].kind == "f" and "." not in f]
        plain = [f for f in plain if len(self.words.fields[f].shape) == 1]
        own = [f for f in plain if self.words.roles.get(f) in ("own", "wild")]
        read = [f for f in plain if self.words.roles.get(f, "read") in ("read", "own", "wild")]
        if own and self.words.chance(0.3):
            at = self.words.element(name := self.words.rng.choice(own), scope)[len(name) + 1 : -1]
            self.write(depth, f"put({name}, {at}, {self.words.expression('f', scope, 1)})")
        elif read:
            at = self.words.element(name := self.words.rng.choice(read), scope)[len(name) + 1 : -1]
            local = self.name("f")
            self.write(depth, f"{local} = element({name}, {at})")
            scope[local] = "f"

    def gather(self, scope: Scope, depth: int, nested: int) -> None:
        """Fill a local array, and read it at a computed place."""
        name, size = self.name("y"), self.words.rng.choice((3, 4))
        numbers = ", ".join(["0.0"] * size)
        self.write(depth, f"{name} = ti.Vector([{numbers}])")
        index = self.name("j")
        self.in_order(depth)
        self.write(depth, f"for {index} in range({size}):")
        inside: Scope = {**scope, index: (0, size - 1)}
        self.write(depth + 1, f"{name}[{index}] = {self.words.bounded('f', inside)}")
        local = self.name("f")
        self.write(
            depth, f"{local} = {name}[{self.words.within(size, scope)}] * {name}[{size - 1}]"
        )
        scope[local] = "f"

    def store(self, scope: Scope, depth: int, nested: int) -> None:
        fields = [f for f, role in self.words.roles.items() if role not in ("read",)]
        if not fields:
            return self.bind(scope, depth, nested)
        name = self.words.rng.choice(fields)
        role, kind = self.words.roles[name], self.words.fields[name].kind
        if kind == "i":
            text = self.words.within(int(self.words.fields[name].values.max()) + 1, scope)
            if role in ("own", "wild"):
                self.write(depth, f"{self.words.element(name, scope)} = {text}")
            return None
        if role in ("max", "min"):
            value = self.words.bounded(kind, scope)
            self.write(depth, f"ti.atomic_{role}({self.words.element(name, scope)}, {value})")
            return None
        if role == "wild":
            signs: tuple[str, ...] = ("=", "=", "+=", "+=", "*=")
        else:
            signs = SIGNS.get(role, ("=", "=", "=", "=", "+=", "+=", "-=", "*=", "/=", "**="))
        sign = self.words.rng.choice(signs)
        part = ""
        if kind in "vw":
            part = self.words.rng.choice(("", "", ".x", "[1]", "[{k:2}]"))
        elif kind == "m":
            part = self.words.rng.choice(("", "", "[0, 1]", "[{k:2}, 1]"))
        part = self.words.filled(part, scope, 1)
        value = self.words.bounded("f" if part else kind, scope)
        if sign in ("*=", "/=") and (kind == "m" and not part):
            sign = "+="
        if sign in ("*=", "/="):
            raw = sign == "*=" and self.words.chance(0.3)
            value = value if raw else f"(1.5 + 0.4 * {value})"
            value = f"(2.0 + ti.sin({value}))" if sign == "/=" else value
        at = self.words.element(name, scope)
        if sign == "**=":
            value = "2"
        if sign == "+=" and not part and self.words.chance(0.15):
            if self.words.chance(0.5) and role == "own" and kind == "f":
                local = self.name("f")
                how = self.words.rng.choice(("add", "sub", "max", "min", "mul"))
                self.write(depth, f"{local} = ti.atomic_{how}({at}, {value})")
                scope[local] = "f"
            else:
                self.write(depth, f"ti.atomic_add({at}, {value})")
            return None
        if sign == "=" and role == "own" and kind == "f" and self.words.chance(0.3):
            value = f"{at} * {value}"
        self.write(depth, f"{at}{part} {sign} {value}")
        return None

    def branch(self, scope: Scope, depth: int, nested: int) -> None:
        if self.words.chance(0.1):
            self.write(depth, f"if ti.static(SHIFT {self.words.rng.choice('<>')} 0):")
        else:
            self.write(depth, f"if {self.words.expression('b', scope, 2)}:")
        self.block(dict(scope), depth + 1, nested - 1)
        for line, chance in (("elif {b}:", 0.25), ("else:", 0.6)):
            if self.words.chance(chance):
                self.write(depth, self.words.filled(line, scope, 1))
                self.block(dict(scope), depth + 1, nested - 1)

    def loop(self, scope: Scope, depth: int, nested: int) -> None:
        carried = self.local("f", scope, depth)
        index = self.name("j")
        count, low, high = self.words.rng.choice(
            [
                *(
                    ("3", 0, 2),
                    ("n", 0, self.words.n - 1),
                    ("2", 0, 1),
                    ("0", 0, 0),
                    ("1, 4", 1, 3),
                ),
                *(("-2, 2", -2, 1), ("6, 0, -2", 2, 6), ("9", 0, 8), ("2, -1, -1", 0, 2)),
                ("40", 0, 39),
                ("0, n, 1 + n % 2", 0, self.words.n - 1),
                ("n, 0, -n", self.words.n, self.words.n),
            ]
        )
        ints = [name for name, held in scope.items() if isinstance(held, tuple)]
        if ints and self.words.chance(0.2):
            name = self.words.rng.choice(ints)
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
        if self.words.chance(0.3):
            inside[other] = (-1, 0)
            self.write(depth, f"for {index}, {other} in ti.static(ti.ndrange(2, (-1, 1))):")
        else:
            self.write(depth, f"for {index} in ti.static(range(2)):")
        self.block(inside, depth + 1, 0)

    def repeat(self, scope: Scope, depth: int, nested: int) -> None:
        carried = self.local("f", scope, depth)
        index = self.name("j")
        count, high = self.words.rng.choice((("3", 2), ("n", self.words.n), ("5", 4)))
        self.write(depth, f"{index} = 0")
        self.write(depth, f"while {index} < {count} and {self.words.expression('b', scope, 1)}:")
        self.write(depth + 1, f"{index} += 1")
        self.iteration({**scope, index: (1, high + 1)}, carried, depth + 1, nested)

    def iteration(self, scope: Scope, carried: str, depth: int, nested: int) -> None:
        factor, rest = self.words.bounded("f", scope, 1), self.words.bounded("f", scope, 1)
        line = self.words.rng.choice(
            (
                f"{carried} = ti.sin({carried} * {factor}) + 0.3 * {rest}",
                f"{carried} = 0.5 * {carried} + {rest}",
                f"{carried} += {rest}",
                f"{carried} *= {factor}",
            )
        )
        self.write(depth, line)
        if self.words.chance(0.6):
            self.block(scope, depth, nested - 1)
        if self.words.chance(0.3):
            self.write(depth, f"if {self.words.expression('b', scope, 1)}:")
            if self.words.chance(0.3):
                self.statement(dict(scope), depth + 1, 0)
            self.write(depth + 1, self.words.rng.choice(["break", "continue"]))
            self.block(scope, depth, 0)
