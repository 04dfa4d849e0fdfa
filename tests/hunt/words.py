"""Random expressions: indices with the range of their values, and computed values."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import TypeAlias

from tests.hunt.program import Given

# Expressions by their type: f, a float; v and w, vectors of 2 and 3; m, a matrix; b, a bool.
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
        *(
            "(ti.math.sign({f}) * {f})",
            "steep({f}, {f})",
            "slope_of_squared({f}, {f})",
            "slopes_of_both({f}, {f}, {f})",
            "push_of_both({f}, {f}, {f})",
            "ti.rsqrt(1 + squared({f}))",
            "({w} * {w}).max()",
        ),
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
Range: TypeAlias = tuple[int, int]  # lowest and highest value
Scope: TypeAlias = "dict[str, str | Range]"  # locals by type; integers by their range


@dataclass
class Words:
    """Writes expressions over some fields.

    In each parallel loop a field has a role: it is read anywhere ("read"), belongs to the iteration
    ("own"), is touched anywhere in any way ("wild"), or is changed by one kind of atomic.

    Args:
        rng: The source of random choices.
        fields: The fields by name, as the kernel sees them.
        n: The value of the parameter `n`.
        roles: The role of each field in the loop; of others "read".
        owned: For a field that belongs to the iteration, the index of its element.
        parallel: The indices of the parallel loop.
        affine: No index depends on the contents of a field.
        nesting: The number of enclosing elements in whose indices an expression stands.
    """

    rng: random.Random
    fields: dict[str, Given]
    n: int
    roles: dict[str, str] = field(default_factory=dict[str, str])
    owned: dict[str, str] = field(default_factory=dict[str, str])
    parallel: dict[str, Range] = field(default_factory=dict[str, Range])
    affine: bool = True
    nesting: int = 0

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
