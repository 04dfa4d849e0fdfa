"""Random kernels with arrays of a thread, stored and added to in any order.

python -m tests.local_programs FIRST LAST
"""

from __future__ import annotations

import importlib.util
import random
import sys
import tempfile
from pathlib import Path

from tests import harness
from tests.harness import Program, floats, ints

HEAD = "import difftile as dt\nfrom difftile import ti\n\n\ndef kernel(a, k, y):\n    for w in a:\n"
PLACES = ("p[{i}]", "q[{i}, {i} % 2]", "v[{i} % 3].x", "v[{i} % 3][{i} % 3]")
VALUES = ("0.7", "a[w]", "ti.sin({f})", "({f} * {f})", "({f} - 0.5 * {f})", "{place}", "{place}")
INDICES = ("0", "1", "2", "{loop}", "({loop} + 1) % 4", "k[{loop}]", "ti.min(k[{loop}], 1)", "n[1]")


class _Writer:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.loops: list[str] = []

    def index(self) -> str:
        known = [one for one in INDICES if self.loops or "{" not in one]
        return self.rng.choice(known).format(loop=self.rng.choice(self.loops or [""]))

    def place(self) -> str:
        text = self.rng.choice(PLACES)
        while "{i}" in text:
            text = text.replace("{i}", self.index(), 1)
        return text

    def value(self, depth: int = 2) -> str:
        text = self.rng.choice(VALUES if depth else ("0.7", "a[w]", "{place}"))
        while "{f}" in text:
            text = text.replace("{f}", self.value(depth - 1), 1)
        return text.replace("{place}", self.place())

    def body(self, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.rng.randint(2, 4)):
            kind = self.rng.choice(("store", "add", "add", "scale", "loop", "branch"))
            if kind == "loop" and depth:
                name = f"i{len(self.loops)}"
                self.loops.append(name)
                lines += [f"for {name} in range(4):", *self.inner(depth)]
                self.loops.pop()
            elif kind == "branch" and depth:
                lines += [f"if {self.value(0)} < {self.value(0)} + 0.3:", *self.inner(depth)]
            else:
                sign = {"store": "=", "scale": "*="}.get(kind, "+=")
                lines.append(f"{self.place()} {sign} ti.tanh({self.value()})")
        return lines

    def inner(self, depth: int) -> list[str]:
        return [f"    {line}" for line in self.body(depth - 1)]


def random_program(seed: int, folder: Path) -> Program:
    """Return the program of a seed, whose source is written to a folder."""
    writer = _Writer(seed)
    lines = [
        *("p = dt.local(4)", "q = dt.local((4, 2))", "v = dt.local(3, ti.math.vec3)"),
        *("n = dt.local(2, int)", "n[1] = k[0]", "p[0] = a[w]", "q[1, 1] = 0.5 * a[w]"),
        *writer.body(3),
        "y[w] += p[0] * p[1] + p[2] * q[1, 1] + v[0].sum() * q[2, 0] + v[1].x",
    ]
    file = folder / f"local_program_{seed}.py"
    file.write_text(HEAD + "".join(f"        {line}\n" for line in lines))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arguments = {"a": floats(3, low=0.2), "k": ints([2, 0, 3, 1]), "y": floats(3)}
    return Program(module.kernel, arguments)


def main(first: int, last: int) -> None:
    """Check many programs and print the seeds of the wrong ones."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, last):
            try:
                harness.check(random_program(seed, Path(folder)))
            except Exception as error:  # the next ones are checked too
                print(seed, type(error).__name__, str(error)[:300], flush=True)


if __name__ == "__main__":
    import difftile as dt

    dt.init(arch="cpu")
    main(int(sys.argv[1]), int(sys.argv[2]))
    print("done")
