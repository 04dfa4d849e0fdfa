"""Random kernels whose iterations walk along rows, in the code of a device.

python -m tests.random_rows 0 50
"""

from __future__ import annotations

import importlib.util
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

from difftile.diagnostics import KernelError
from tests import harness
from tests.harness import Program, floats

HEAD = "import taichi as ti\n\n\n"
SIZES = (1, 5, 31, 32, 33, 64, 70)


class _Writer:
    """Writes a kernel over some rows: loops that go along them, one after the other or nested."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lead = self.rng.choice((("i",), ("i", "j"), ("i", "j", "m")))
        self.length = self.rng.choice(SIZES)
        self.lines: list[str] = []
        self.loops = 0
        # A field is read or written, so that no iteration reads what another one has written.
        self.reads, self.writes = ["a", "b"], ["y", "z"]
        if self.rng.random() < 0.2:
            self.reads.append(self.writes.pop())

    def place(self, k: str) -> str:
        """Return the index of an element, usually of the iteration's own row."""
        return ", ".join((*self.lead, k))

    def read(self, k: str) -> str:
        field = self.rng.choice(self.reads)
        lead = [*self.lead]
        if self.rng.random() < 0.2:
            lead[0] = f"(i + 1) % {field}.shape[0]"
        return f"{field}[{', '.join((*lead, k))}]"

    def value(self, k: str, names: list[str], depth: int = 2) -> str:
        if not depth or self.rng.random() < 0.25:
            return self.rng.choice([*names, self.read(k), self.read(k), "0.5"])
        left, right = (self.value(k, names, depth - 1) for _ in range(2))
        form = self.rng.choice(
            ("({} * {})", "({} + {})", "ti.sin({} + {})", "ti.max({}, {})", "({} - 0.3 * {})")
        )
        return form.format(left, right)

    def loop(self, depth: int, names: list[str], nested: bool) -> None:
        """Write a loop along the row: forwards, backwards, over a part of it, or in halves."""
        rng, pad = self.rng, "    " * depth
        n = f"a.shape[{len(self.lead)}]"
        self.loops += 1
        turn, k = f"t{self.loops}", f"k{self.loops}"
        count, along = rng.choice(
            (
                (f"{n}", turn),
                (f"{n}", f"{n} - 1 - {turn}"),
                (f"1, {n} - 1", turn),
                (f"2, {n}", f"{n} - {turn}"),
                (f"{n} // 2", f"{turn} + {n} // 2"),
                ("i % 3", turn),
                ("3", f"{turn} % {n}"),
            )
        )
        self.lines.append(f"{pad}for {turn} in range({count}):")
        if nested and rng.random() < 0.3:
            self.loop(depth + 1, names, nested=False)
            self.lines.append(f"{pad}    s = ti.sin(s)")
            return
        self.lines.append(f"{pad}    {k} = {along}")
        inner = "    " * (depth + 1)
        for _ in range(rng.randrange(1, 4)):
            what, value = rng.randrange(5), self.value(k, names)
            if what == 0:
                self.lines.append(f"{inner}s = 0.4 * s + ti.tanh({value})")
            elif what == 1:
                self.lines.append(f"{inner}t = ti.cos(0.4 * t + 0.4 * ti.tanh({value}))")
            elif what == 2 and rng.random() < 0.3:
                self.lines += [f"{inner}if {value} > 0.1:", f"{inner}    t = 0.5 * t + 0.2 * s"]
            else:
                sign = rng.choice(("=", "=", "+="))
                field = rng.choice(self.writes)
                self.lines.append(f"{inner}{field}[{self.place(k)}] {sign} ti.tanh({value})")

    def kernel(self, name: str) -> str:
        over = ", ".join(f"a.shape[{axis}]" for axis in range(len(self.lead)))
        self.lines = [f"def {name}(a, b, y, z, w):"]
        self.lines.append(f"    for {', '.join(self.lead)} in ti.ndrange({over}):")
        self.lines += ["        s, t = 0.0, 1.0"]
        for _ in range(self.rng.randrange(1, 4)):
            self.loop(2, ["s", "t"], nested=True)
        self.lines.append(f"        w[{', '.join(self.lead)}] = s + t")
        return "\n".join(self.lines) + "\n"


def random_rows(seed: int, folder: Path) -> Program:
    """Write the kernel of a seed into a file, and return it."""
    writer, name = _Writer(seed), f"rows_{seed}"
    path = folder / f"{name}.py"
    path.write_text(HEAD + writer.kernel(name))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lead = tuple(random.Random(seed).choice((1, 2, 3, 5)) for _ in writer.lead)
    arguments: dict[str, Any] = {
        **{field: floats(*lead, writer.length) for field in "abyz"},
        "w": floats(*lead),
    }
    return Program(getattr(module, name), arguments, launches=1, single=False)


def check(one: Program) -> bool:
    """Put a program through every check; return False if it is refused, and rightly so."""
    try:
        harness.check(one)
    except KernelError:
        return False
    return True


def main(first: int, last: int) -> None:
    """Check the programs of many seeds in the code of a device."""
    from tests.substrate.test_device_code import in_device_code  # noqa: PLC0415 - it loads all programs

    folder = Path(tempfile.gettempdir()) / "random_rows"
    folder.mkdir(exist_ok=True)
    refused = wrong = 0
    with in_device_code():
        for seed in range(first, last):
            try:
                refused += not check(random_rows(seed, folder))
            except Exception as error:
                wrong += 1
                print(f"{folder}/rows_{seed}.py: {type(error).__name__}: {error}", flush=True)
    print(f"{last - first} programs, {refused} refused, {wrong} wrong")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
