"""Random objects for kernels: nested, frozen or not, with slots, properties, lists, and funcs.

A program is a module of classes, a kernel that adds up everything a kernel can reach in an object,
and random changes of what Python allows to change. What plain Python reads at the same moment is
what each launch has to read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti
from tests.modules import imported

SIZE = 3  # of fields
_INDICES = {"several": "[1]", "x": "[i]"}  # which element of an attribute kernels read
_ORIENTED = {
    "plain": "@dt.data_oriented\nclass",
    "frozen": "@dt.data_oriented(frozen=True)\nclass",
    "dataclass": "@dt.data_oriented\n@dataclass\nclass",
    "frozen dataclass": "@dt.data_oriented\n@dataclass(frozen=True)\nclass",
    "frozen dataclass with slots": "@dt.data_oriented\n@dataclass(frozen=True, slots=True)\nclass",
}
_STRUCTS = {
    "struct": "@dataclass\nclass",
    "frozen struct": "@dataclass(frozen=True)\nclass",
    "frozen struct with slots": "@dataclass(frozen=True, slots=True)\nclass",
}
_HEADER = "from dataclasses import dataclass\n\nimport difftile as dt\n\nGLOBAL = 0.5\n"


class _Class:
    """A class of the module.

    Args:
        rng: Draws it.
        name: Its name.
        inner: The class of its attribute `inner`, or None.
        kinds: Of which it is one.

    Attributes:
        text: Its source.
        leaves: What a kernel reads in an object `{}`, as expressions; those of fields end in `[i]`.
    """

    def __init__(
        self, rng: np.random.Generator, name: str, inner: _Class | None, kinds: dict[str, str]
    ) -> None:
        self.rng, self.name, self.inner = rng, name, inner
        self.kind = str(rng.choice(list(kinds)))
        self.is_frozen = "frozen" in self.kind
        is_struct = kinds is _STRUCTS
        known = ["a", "n", "x"] if is_struct else ["a", "n", "x", "several"]
        self.names = [name for name in known if rng.random() < 0.7] or ["a"]
        self.members = members = [*self.names, *(["inner"] if inner else [])]
        lines = [f"{kinds[self.kind]} {name}:"]
        if "dataclass" in kinds[self.kind]:
            lines += [f"    {one}: object" for one in members]
        else:
            lines += [f"    def __init__(self, {', '.join(members)}):"]
            lines += [f"        self.{one} = {one}" for one in members]
        self.leaves = [f"{{}}.{one}{_INDICES.get(one, '')}" for one in self.names]
        if not is_struct:
            lines += ["    constant = 1.5"]
            self.leaves.append("{}.constant")
            source = "self.several[0]" if "several" in self.names else "self.constant"
            lines += ["    @property", "    def computed(self):", f"        return {source} / 4"]
            self.leaves.append("{}.computed")
            read = self.leaves[0].format("self")
            lines += ["    @dt.func", "    def value(self, i, u):", f"        return u * {read}"]
            self.leaves.append("{}.value(i, 2.0)")
        if inner is not None:
            self.leaves += [leaf.format("{}.inner") for leaf in inner.leaves]
        self.text = "\n".join(lines)

    def number(self) -> float:
        return float(self.rng.integers(1, 100)) / 4

    def member(self, module: Any, name: str) -> Any:
        """Return a new value of an attribute."""
        match name:
            case "a":
                return self.number()
            case "n":
                return int(self.rng.integers(1, 4))
            case "x":
                return dt.from_numpy(np.array([self.number() for _ in range(SIZE)]), dtype=ti.f64)
            case "several":
                return [self.number(), self.number()]
            case _:
                assert self.inner is not None
                return self.inner.made(module)

    def made(self, module: Any) -> Any:
        """Return a new object."""
        return getattr(module, self.name)(**{one: self.member(module, one) for one in self.members})

    def change(self, module: Any, value: Any) -> None:
        """Change something in an object, if anything can be changed there."""
        rng = self.rng
        if self.inner is not None and rng.random() < 0.5:
            return self.inner.change(module, value.inner)
        match name := str(rng.choice([*self.members, "constant"])):
            case "constant" if hasattr(value, name):
                setattr(type(value), name, self.number())
            case "several" if rng.random() < 0.6:
                value.several[int(rng.integers(2))] = self.number()
            case "x" if rng.random() < 0.5:
                value.x.fill(self.number())
            case _ if not self.is_frozen and name != "constant":
                new = self.member(module, name)
                setattr(value, name, float(new) if name == "n" and rng.random() < 0.2 else new)


class ObjectProgram:
    """One random program.

    Args:
        seed: Of the random numbers.
        folder: Where its module is written.
    """

    def __init__(self, seed: int, folder: Path) -> None:
        rng = self.rng = np.random.default_rng(seed)
        kinds = _STRUCTS if rng.random() < 0.3 else _ORIENTED
        made: _Class | None = None
        texts = [_HEADER]
        for depth in range(int(rng.integers(1, 4))):
            # A struct holds structs, and an object of a class of its own holds either.
            mixed = kinds is _ORIENTED and depth == 0 and rng.random() < 0.3
            made = _Class(rng, f"Class{depth}", made, _STRUCTS if mixed else kinds)
            texts.append(made.text)
        assert made is not None
        self.top = made
        leaves = [*(leaf.format("o") for leaf in made.leaves), "GLOBAL"]
        weighted = [f"{k + 1.0} * {leaf}" for k, leaf in enumerate(leaves)]
        lines = ["@dt.kernel", "def total(o, y):", "    for i in y:", "        y[i] = 0.0"]
        texts.append("\n".join([*lines, *(f"        y[i] += {one}" for one in weighted)]))
        self.text = "\n\n\n".join(texts) + "\n"
        self.module = imported(folder / f"objects_{seed}.py", self.text)
        self.wanted = compile(f"[{', '.join(weighted)}]", "wanted", "eval")
        self.objects = [made.made(self.module) for _ in range(2)]

    def steps(self, count: int) -> None:
        """Launch and change in turn.

        Raises:
            AssertionError: A launch has read something else than Python.
        """
        y = dt.zeros(SIZE, dtype=ti.f64)
        for step in range(count):
            for _ in range(int(self.rng.integers(1, 3))):
                one = self.objects[int(self.rng.integers(4)) // 3]
                self.module.total(one, y)
                np.testing.assert_allclose(
                    y.to_numpy(), self.expected(one), rtol=1e-12, err_msg=f"{step}: {self.text}"
                )
            if self.rng.random() < 0.1:
                self.module.GLOBAL = self.top.number()
            else:
                self.top.change(self.module, one)

    def expected(self, one: Any) -> list[float]:
        """Return what plain Python reads at each index."""
        names = vars(self.module)
        return [sum(eval(self.wanted, {**names, "o": one, "i": i})) for i in range(SIZE)]
