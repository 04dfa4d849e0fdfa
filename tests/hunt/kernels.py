"""Random kernels: the statements at their top level, and the use of fields in each loop."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.hunt.program import Given
from tests.hunt.statements import Statements
from tests.hunt.words import Range, Scope, Words


@dataclass
class Header:
    """A loop: its line, and the indices that it gives."""

    text: str
    indices: dict[str, Range]


class Kernel:
    """Writes a kernel.

    Args:
        rng: The source of random choices.
        fields: The fields by name, as the kernel sees them.
        n: The value of the parameter `n`.
        wild: How likely a field is touched anywhere, in any way.
    """

    def __init__(
        self,
        rng: random.Random,
        fields: dict[str, Given],
        n: int,
        wild: float,
        serial: float,
    ) -> None:
        self.words = Words(rng, fields, n)
        self.statements = Statements(self.words)
        self.wild = wild
        self.serial = serial

    def header(self) -> Header:
        """Return a parallel loop."""
        shaped = [f for f, one in self.words.fields.items() if one.shape and "." not in f]
        if shaped and self.words.chance(0.35):
            name = self.words.rng.choice(shaped)
            shape = self.words.fields[name].shape
            names = ("i", "j", "l")[: len(shape)]
            if self.words.chance(0.2):
                ranges = {f"I[{k}]": (0, size - 1) for k, size in enumerate(shape)}
                return Header(f"for I in ti.grouped({name}):", ranges)
            ranges = {i: (0, size - 1) for i, size in zip(names, shape, strict=True)}
            return Header(f"for {', '.join(names)} in {name}:", ranges)
        if self.words.chance(0.2):
            p, q = (self.words.rng.randint(1, 3) for _ in range(2))
            if self.words.chance(0.3):
                return Header(
                    f"for i, j in ti.ndrange((1, {p + 1}), {q}):", {"i": (1, p), "j": (0, q - 1)}
                )
            return Header(f"for i, j in ti.ndrange({p}, {q}):", {"i": (0, p - 1), "j": (0, q - 1)})
        n = self.words.n
        text, low, high = self.words.rng.choice(
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
        if shaped and text == "n" and self.words.chance(0.5):
            name = self.words.rng.choice(shaped)
            size = self.words.fields[name].shape[0]
            text, high = f"{name}.shape[0]", size - 1
        return Header(f"for i in range({text}):", {"i": (low, max(low, high))})

    def assign_roles(self) -> None:
        self.words.roles, self.words.owned = {}, {}
        for name, one in self.words.fields.items():
            if self.words.chance(self.wild):
                self.words.roles[name] = "wild"
                continue
            owned = self.words.own(name) if self.words.parallel else None
            choices = ["read", "read", "read", "sum", "sum"]
            if owned:
                choices += ["own"] * 5
            if one.kind == "i":
                choices = ["read", "read", "read", "own" if owned else "read"]
            elif one.kind == "f":
                choices += [self.words.rng.choice(("mul", "max", "min", "div"))]
            role = self.words.rng.choice(choices)
            if role == "own":
                assert owned is not None
                self.words.owned[name] = owned
            self.words.roles[name] = role

    def text(self, name: str, parameters: list[str]) -> str:
        self.statements.write(0, f"def {name}({', '.join(parameters)}, n: int, h: float):")
        outer: Scope = {}
        for _ in range(self.words.rng.choice((1, 1, 1, 2, 2))):
            kind = self.words.rng.random()
            if kind < 0.2:
                self.words.parallel = {}
                self.words.roles = {f: "own" for f in self.words.fields}
                self.words.owned = {}
                self.statements.block(outer, 1, 1)
                if self.words.chance(0.4):
                    self.sum(outer)
                continue
            self.loop(outer, serial=(kind - 0.2) / 0.8 < self.serial)
            if self.statements.sums and self.words.chance(0.6):
                self.words.roles, self.words.owned, self.words.parallel = (
                    {f: "own" for f in self.words.fields},
                    {},
                    {},
                )
                self.statements.store({name: "f" for name in self.statements.sums}, 1, 0)
        return "\n".join(self.statements.lines) + "\n"

    def sum(self, outer: Scope) -> None:
        """Begin a local that parallel loops add to."""
        name = self.statements.name("sum")
        self.statements.write(1, f"{name} = 1.0 * {self.words.expression('f', outer, 1)}")
        self.statements.sums.append(name)

    def loop(self, outer: Scope, *, serial: bool) -> None:
        header = self.header()
        self.words.parallel = {} if serial else header.indices
        if serial:
            self.words.roles, self.words.owned = {f: "own" for f in self.words.fields}, {}
            self.statements.in_order(1)
        else:
            self.assign_roles()
        self.statements.write(1, header.text)
        scope: Scope = dict(header.indices)
        for local, held in outer.items():  # locals from outside are not changed in the loop
            if isinstance(held, str) and self.words.chance(0.5):
                copy = self.statements.name(held)
                self.statements.write(2, f"{copy} = 1.0 * {local}")
                scope[copy] = held
        for _ in range(self.words.rng.choice((1, 1, 2, 3))):
            self.statements.statement(scope, 2, self.words.rng.choice((1, 1, 2)))
        self.statements.store(scope, 2, 0)
