"""The map: for each test, the blocks of difftile that it reaches.

A part of it is made for each file of tests, and stays as long as that file does. Where difftile has
changed since, functions are found by their names: a test reaches the blocks of a changed function
if it reached any of them.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.faults.probes import ROOT, block_starts

FOLDER = ROOT / "build/faults/map"
COLLECTION = "(collection)"  # the test that stands for the import of all tests


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a function.

    Args:
        path: Its file.
        line: Its first line.
        function: The name of the function, with those around it.
        digest: Of the function's text.
    """

    path: str
    line: int
    function: str
    digest: str


@dataclass(frozen=True, slots=True)
class Known:
    """A test, as the map has it.

    Args:
        seconds: How long it took.
        passes: Whether it passed.
        apart: Whether other processes have reached something for it.
        size: The number of blocks that it reaches.
    """

    seconds: float
    passes: bool
    apart: bool
    size: int


@functools.cache
def blocks_of(source: str, path: str) -> tuple[Block, ...]:
    """Return the blocks of a file, by their first lines."""
    tree, lines = ast.parse(source), source.splitlines()
    owners = dict[int, tuple[str, str]]()
    pending: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while pending:
        node, name, inside = pending.pop()
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                pending.append((child, name, inside))
                continue
            full = name if inside else f"{name}.{child.name}".lstrip(".")
            is_function = not isinstance(child, ast.ClassDef)
            if is_function and not inside:
                text = "\n".join(lines[child.lineno - 1 : child.end_lineno])
                digest = hashlib.sha256(text.encode()).hexdigest()[:12]
                for line in range(child.lineno, (child.end_lineno or child.lineno) + 1):
                    owners[line] = full, digest
            pending.append((child, full, inside or is_function))
    starts = block_starts(tree)
    return tuple(Block(path, line, *owners.get(line, ("<lambda>", ""))) for line in starts)


@functools.cache
def tree() -> str:
    """Return a name of the sources of this tree; its blocks are kept by that name."""
    whole = hashlib.sha256()
    for path, name in _sources():
        whole.update(name.encode() + path.read_bytes())
    return whole.hexdigest()[:16]


def _sources() -> list[tuple[Path, str]]:
    paths = sorted((ROOT / "difftile").rglob("*.py"))
    return [(path, path.relative_to(ROOT).as_posix()) for path in paths]


@functools.cache
def columns() -> tuple[Block, ...]:
    """Return the blocks of this tree, in the order of the columns of its parts."""
    table = _table(tree())
    if not table.exists():
        table.parent.mkdir(parents=True, exist_ok=True)
        blocks = [b for path, name in _sources() for b in blocks_of(path.read_text("utf-8"), name)]
        fields = [[b.path, b.line, b.function, b.digest] for b in blocks]
        table.write_text(json.dumps(fields), encoding="utf-8")
    return tuple(_read_table(tree()))


def _table(name: str) -> Path:
    return FOLDER / f"{name}.json"


def _read_table(name: str) -> list[Block]:
    return [Block(*fields) for fields in json.loads(_table(name).read_text("utf-8"))]


@functools.cache
def _places() -> list[tuple[str, np.ndarray, slice]]:
    """Return the lines of the columns of each file, and which columns they are."""
    places: list[tuple[str, np.ndarray, slice]] = []
    by_path = itertools.groupby(enumerate(columns()), lambda one: one[1].path)
    for path, group in by_path:
        those = list(group)
        lines = np.array([block.line for _, block in those])
        places.append((path, lines, slice(those[0][0], those[-1][0] + 1)))
    return places


def row(reached: Mapping[str, bytes | bytearray]) -> np.ndarray:
    """Return what was reached as packed bits.

    Args:
        reached: A byte for each line, by path.
    """
    bits = np.zeros(len(columns()), np.uint8)
    for path, lines, those in _places():
        if path in reached:
            bits[those] = np.frombuffer(reached[path], np.uint8)[lines]
    return np.packbits(bits)


def _part(name: str, file: str) -> Path:
    return FOLDER / name / (file.replace("/", "--") + ".npz")


def _digest_of_file(file: str) -> str:
    if file.startswith(COLLECTION):
        return ""
    return hashlib.sha256((ROOT / file).read_bytes()).hexdigest()[:16]


def write_part(
    name: str, file: str, tests: Mapping[str, Known], bits: Iterable[np.ndarray]
) -> None:
    """Write what the tests of a file reach."""
    part = _part(name, file)
    part.parent.mkdir(parents=True, exist_ok=True)
    facts = [[name, t.seconds, t.passes, t.apart, t.size] for name, t in tests.items()]
    about = {"columns": tree(), "file": _digest_of_file(file), "tests": facts}
    rows = np.array([*bits], np.uint8).reshape(len(tests), (len(columns()) + 7) // 8)
    np.savez_compressed(part, about=np.array(json.dumps(about)), bits=rows)


def is_mapped(name: str, file: str) -> bool:
    """Tell whether the map has the tests of a file as they are now."""
    try:
        with np.load(_part(name, file)) as part:
            return json.loads(str(part["about"]))["file"] == _digest_of_file(file)
    except (OSError, ValueError, KeyError):
        return False


def _is_gone(file: str) -> bool:
    return not file.startswith(COLLECTION) and not (ROOT / file).exists()


class Map:
    """All parts of a map, of files of tests that there are.

    Args:
        name: Its name.
    """

    def __init__(self, name: str) -> None:
        self.tests: dict[str, Known] = {}
        self._parts: list[tuple[str, list[str], np.ndarray]] = []
        self._tables: dict[str, list[Block]] = {}
        for file in sorted((FOLDER / name).glob("*.npz")):
            with np.load(file) as part:
                about, bits = json.loads(str(part["about"])), part["bits"]
            names = [fact[0] for fact in about["tests"]]
            if any(_is_gone(name.partition("::")[0]) for name in names[:1]):
                continue
            self.tests |= {fact[0]: Known(*fact[1:]) for fact in about["tests"]}
            self._parts.append((about["columns"], names, bits))
            self._tables.setdefault(about["columns"], [])
        self._tables = {name: _read_table(name) for name in self._tables}

    def reaching(self, wanted: Iterable[Block]) -> set[str]:
        """Return the tests that reach one of some blocks of this tree."""
        wanted = list(wanted)
        found: set[str] = set()
        chosen = {name: _matching(table, wanted) for name, table in self._tables.items()}
        for table, names, bits in self._parts:
            hit = np.zeros(len(names), bool)
            for k in chosen[table]:
                hit |= (bits[:, k // 8] >> (7 - k % 8) & 1).astype(bool)
            found |= {name for name, one in zip(names, hit, strict=True) if one}
        return found

    def near(self, path: str) -> set[str]:
        """Return the tests that reach any block of a file."""
        return self.reaching(Block(path, 0, function, "") for function in self._functions(path))

    def _functions(self, path: str) -> set[str]:
        return {b.function for table in self._tables.values() for b in table if b.path == path}


def _matching(table: list[Block], wanted: list[Block]) -> list[int]:
    """Return the columns of blocks: of the same ones, or of all in a function that has changed."""
    by_function: dict[tuple[str, str], list[int]] = {}
    for k, block in enumerate(table):
        by_function.setdefault((block.path, block.function), []).append(k)
    firsts = {(b.path, b.function): b.line for b in reversed(columns())}
    found: list[int] = []
    for block in wanted:
        places = by_function.get((block.path, block.function), [])
        if not places:
            continue
        same = [k for k in places if table[k].digest == block.digest and block.digest]
        first = firsts.get((block.path, block.function), 0)
        ahead = table[places[0]].line - first
        exact = [k for k in same if table[k].line == block.line + ahead]
        found += exact or places
    return found
