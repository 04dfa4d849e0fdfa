"""Random pairs of index maps in one parallel loop, and by enumeration whether iterations meet.

`python -m tests.race_programs FIRST LAST` tries many.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import difftile as dt
from difftile.diagnostics import Race, TypeMismatch
from difftile.ir.nodes import Array
from tests.modules import imported

# Loops and their indices; `{n}` is a number argument of the kernel.
LOOPS = (
    ("for i in z:", ("i",)),
    ("for i in range({n}):", ("i",)),
    ("for i in range(2, 7):", ("i",)),
    ("for i in range(1):", ("i",)),
    ("for i, j in p:", ("i", "j")),
    ("for i, j in ti.ndrange(3, {n}):", ("i", "j")),
    ("for i, j in ti.ndrange((1, 4), 2):", ("i", "j")),
)
INNER = (
    "for k in range(2):",
    "for k in range(i):",
    "for k in range(i, {n}):",
    "for k in range(3):",
)
GUARDS = (
    *("if {e} % 2 == 0:", "if {e} == 1:", "if {e} < {f}:", "if {e} != {f}:"),
    *("if {e} > 1 and {f} < 3:", "if {e} > 2 or {f} == 0:", "if not ({e} < 2):"),
)
SIZES = {"z": (6,), "p": (4, 3)}
TARGETS = {"x": 1, "y": 2}


@dataclass(frozen=True)
class Pair:
    """A loop with one or two stores.

    Args:
        seed: The seed of the loop.
        text: The kernel.
        number: Its integer argument.
        meet: Whether two iterations store to one element.
        proof: Whether it does not depend on data.
    """

    seed: int
    text: str
    number: int
    meet: bool
    proof: bool


class _Writer:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.seed = seed
        self.data = False

    def index(self, names: list[str], depth: int = 2) -> str:
        """Return an integer expression of some names."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([*names, *names, *names, str(rng.randrange(4)), "n"])
        a = self.index(names, depth - 1)
        if rng.random() < 0.05:
            self.data = True
            return f"q[({a}) % 5]"
        if rng.random() < 0.1:
            return f"(n * {rng.choice(names)} + {a})"
        b = self.index(names, depth - 1)
        k = rng.randrange(1, 5)
        return rng.choice(
            [
                *(f"({a} + {b})", f"({a} - {b})", f"({a} + {k})", f"{k} * ({a})", f"({k} - {a})"),
                *(f"({a}) // {k}", f"({a}) % {k}", f"({a}) % n", f"({a}) // n", f"-({a})"),
                *(f"max({a}, {b})", f"min({a}, {k})", f"abs({a})", f"(({a}) & 3)", f"(({a}) >> 1)"),
                f"({a} if {b} > {k} else {k} + {a})",
            ]
        )

    def pair(self) -> Pair:
        rng = self.rng
        number = rng.randrange(1, 7)
        loop, names = rng.choice(LOOPS)
        lines = [loop.format(n="n")]
        names = list(names)
        if rng.random() < 0.3:
            lines.append(rng.choice(INNER).format(n="n"))
            names.append("k")
        count = rng.choice((1, 1, 2))
        target = rng.choice(list(TARGETS))
        depth = len(lines)
        body: list[str] = []
        for _ in range(count):
            inside = depth
            if rng.random() < 0.35:
                guard = rng.choice(GUARDS)
                e, f = (self.index(names, 1) for _ in range(2))
                body.append("    " * inside + guard.format(e=e, f=f))
                inside += 1
            elif body and rng.random() < 0.3 and body[-2:-1] and body[-2].lstrip().startswith("if"):
                body.append("    " * depth + "else:")
                inside += 1
            at = ", ".join(self.index(names) for _ in range(TARGETS[target]))
            body.append("    " * inside + f"{target}[{at}] = s[None] * {rng.randrange(2, 9)}.0")
        opening = ["    " * k + line for k, line in enumerate(lines)]
        text = "\n".join(f"    {line}" for line in (*opening, *body))
        return Pair(self.seed, text, number, self._meet(text, number, names), not self.data)

    def _meet(self, text: str, number: int, names: list[str]) -> bool:
        """Run the loop in Python and note which iteration stores where."""
        owners: dict[object, set[object]] = defaultdict(set)
        parallel = [name for name in names if name != "k"]

        class Target:
            def __setitem__(self, at: object, iteration: object) -> None:
                owners[at].add(iteration)

        lines = [
            f"{line.split('=')[0].rstrip()} = ({', '.join(parallel)},)"
            if (line.lstrip()[:2] in ("x[", "y["))
            else line
            for line in text.replace(" in z:", " in range(6):")
            .replace("for i, j in p:", "for i, j in product(range(4), range(3)):")
            .replace("for i, j in ti.ndrange(3, n):", "for i, j in product(range(3), range(n)):")
            .replace(
                "for i, j in ti.ndrange((1, 4), 2):", "for i, j in product(range(1, 4), range(2)):"
            )
            .split("\n")
        ]
        scope: dict[str, Any] = {
            **{"x": Target(), "y": Target(), "n": number, "product": product},
            "q": QUEUE,
        }
        exec("if True:\n" + "\n".join(lines), scope)
        return any(len(iterations) > 1 for iterations in owners.values())


QUEUE = [3, 0, 4, 1, 2]


def random_pair(seed: int) -> Pair:
    """Return the loop of a seed."""
    return _Writer(seed).pair()


def kernels_of(pairs: list[Pair], folder: Path) -> list[Any]:
    """Return the kernels of some loops, from one module."""
    head = "import taichi as ti\n\nimport difftile as dt\n"
    parts = [
        f"\n\n@dt.kernel\ndef store_{pair.seed}(x, y, z, p, s, q, n: int):\n{pair.text}\n"
        for pair in pairs
    ]
    module = imported(folder / f"races_{pairs[0].seed}.py", head + "".join(parts))
    return [getattr(module, f"store_{pair.seed}") for pair in pairs]


def verdict(kernel: Any, pair: Pair, arguments: dict[str, Any]) -> str:
    """Return whether a launch with derivatives is accepted, and if not, the reason."""
    try:
        call, values = kernel._ready((*arguments.values(), pair.number), {})
    except TypeMismatch as error:
        assert "is negative" in str(error)
        return "not a program"
    wanted = frozenset(
        p for p in call.code.params if isinstance(p, Array) and p.name in ("x", "y", "s")
    )
    try:
        for stage in call.code.stages:
            ownership = call.code.passed(stage, wanted)
            if ownership is not None:
                ownership.check(values)
    except Race as race:
        return "unsure" if "maybe" in str(race) else "met"
    return "accepted"


def arguments() -> dict[str, Any]:
    """Return the fields that every kernel is given."""
    return {
        "x": dt.zeros(64, grad=True),
        "y": dt.zeros((64, 64), grad=True),
        "z": dt.zeros(SIZES["z"]),
        "p": dt.zeros(SIZES["p"]),
        "s": dt.ones((), grad=True),
        "q": dt.from_numpy(np.array(QUEUE, np.int32)),
    }


def check(pairs: list[Pair], folder: Path) -> Counter[str]:
    """Check the decisions on some loops; return the count of each decision.

    Raises:
        AssertionError: A loop whose iterations collide is accepted, or one is refused for a
            collision that does not exist.
    """
    given = arguments()
    said: Counter[str] = Counter()
    for pair, kernel in zip(pairs, kernels_of(pairs, folder), strict=True):
        found = verdict(kernel, pair, given)
        wrong = {True: "accepted", False: "met"}[pair.meet]
        assert found != wrong, f"seed {pair.seed}, n = {pair.number}: {found}\n{pair.text}"
        said[f"{found}, {'by data' if not pair.proof else 'by integers'}"] += 1
    return said


def main(first: int, last: int) -> None:
    """Check the loops of some seeds."""
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for start in range(first, last, 100):
            pairs = [random_pair(seed) for seed in range(start, min(start + 100, last))]
            total += check(pairs, Path(folder))
            print(f"\r{start + len(pairs)} {dict(total)}", end="", flush=True)
    print()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
