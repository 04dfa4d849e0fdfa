"""Which lines of difftile run: a probe at the start of each block of each function.

A probe sets a byte of its line, `PROBES["difftile/ad/reverse.py"][71] = 1`: some 40 ns, where a
trace function of Python costs more than the code itself. Imports of difftile after `install` are
instrumented; their compiled files are kept apart. Other processes record as well if they start with
`environment` and end by themselves.

Blocks are those of functions. Kernels and funcs run as no Python, but their source is read when
they are lowered: that reaches all of their lines.

Only the standard library is imported here: difftile comes after `install`.
"""

from __future__ import annotations

import ast
import atexit
import builtins
import importlib.machinery
import inspect
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
_FOLDER = "FAULTS_REACHED"  # the environment variable with the folder that other processes write to
_ARRAYS = "__probes_of_{}__"
_BRANCHING = (ast.If, ast.For, ast.While, ast.Try, ast.Match)
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_Function = ast.FunctionDef | ast.AsyncFunctionDef

PROBES: dict[str, bytearray] = {}


def instrument(tree: ast.Module, path: str) -> ast.Module:
    """Insert the probes of a module, at the lines of its source."""
    array = _array_name(path)
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.Lambda):
            # `__setitem__` gives None.
            call = ast.parse(f"{array}.__setitem__({node.body.lineno}, 1)", mode="eval").body
            node.body = ast.BoolOp(ast.Or(), [call, node.body])
            ast.copy_location(node.body, node)
            ast.copy_location(call, node)
    for function in [node for node in ast.walk(tree) if isinstance(node, _Function)]:
        for owner, field, statements in list(_lists(function)):
            probed: list[ast.stmt] = []
            for k, statement in enumerate(statements):
                if _starts_block(statements, k, owner is function):
                    probe = ast.parse(f"{array}[{statement.lineno}] = 1").body[0]
                    for part in ast.walk(probe):
                        ast.copy_location(part, statement)
                    probed.append(probe)
                probed.append(statement)
            setattr(owner, field, probed)
    return ast.fix_missing_locations(tree)


def block_starts(tree: ast.Module) -> list[int]:
    """Return the lines that have a probe."""
    lines = {node.body.lineno for node in ast.walk(tree) if isinstance(node, ast.Lambda)}
    for function in [node for node in ast.walk(tree) if isinstance(node, _Function)]:
        for owner, _, statements in _lists(function):
            for k, statement in enumerate(statements):
                if _starts_block(statements, k, owner is function):
                    lines.add(statement.lineno)
    return sorted(lines)


def _lists(function: _Function) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    """Yield the lists of statements of a function, without those of functions and classes in it."""
    pending: list[ast.AST] = [function]
    while pending:
        owner = pending.pop()
        for field, value in ast.iter_fields(owner):
            if not isinstance(value, list):
                continue
            if value and isinstance(value[0], ast.stmt):
                yield owner, field, value
            nested = (ast.stmt, ast.ExceptHandler, ast.match_case)
            apart = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
            pending += [x for x in value if isinstance(x, nested) and not isinstance(x, apart)]


def _starts_block(statements: list[ast.stmt], k: int, is_body: bool) -> bool:
    """Tell whether a statement may be reached where the one before it is not."""
    first = 1 if is_body and _is_text(statements[0]) else 0  # the docstring stays where it is
    if k <= first:
        return k == first
    before = statements[k - 1]
    if not isinstance(before, _BRANCHING):
        return False
    return any(isinstance(node, _LEAVING) for node in ast.walk(before))


def _is_text(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str)


def _array_name(path: str) -> str:
    return _ARRAYS.format("".join(c if c.isalnum() else "_" for c in path))


class _Loader(importlib.machinery.SourceFileLoader):
    def source_to_code(self, data: Any, path: Any, *, _optimize: int = -1) -> CodeType:
        tree = ast.parse(data, path)
        place = Path(path).relative_to(ROOT).as_posix()
        return compile(instrument(tree, place), path, "exec", dont_inherit=True, optimize=_optimize)

    def get_data(self, path: str) -> bytes:
        return super().get_data(_compiled(path))

    def set_data(self, path: str, data: Any, *, _mode: int = 0o666) -> None:
        super().set_data(_compiled(path), data, _mode=_mode)

    def exec_module(self, module: ModuleType) -> None:
        place = Path(self.path).relative_to(ROOT).as_posix()
        PROBES[place] = array_for(place)
        setattr(builtins, _array_name(place), PROBES[place])
        super().exec_module(module)
        if place == "difftile/frontend/source.py":
            _watch_sources(module)


def array_for(path: str) -> bytearray:
    """Return a byte for each line of a file."""
    return bytearray((ROOT / path).read_bytes().count(b"\n") + 2)


def _compiled(path: str) -> str:
    """Return where a compiled file is kept: not among those without probes."""
    place = Path(path)
    if place.suffix != ".pyc":
        return path
    return str(ROOT / "build/faults/compiled" / place.relative_to(ROOT))


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] != "difftile":
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            if Path(spec.origin).is_relative_to(ROOT):
                spec.loader = _Loader(fullname, spec.origin)
        return spec


def _watch_sources(module: ModuleType) -> None:
    """Let a function whose source is read reach all of its lines."""
    read = module._lines_of

    def lines_of(function: Any) -> tuple[list[str], int]:
        lines, first = read(function)
        code = function.__code__
        name = os.path.relpath(code.co_filename, ROOT)
        if name in PROBES:
            start = code.co_firstlineno
            end = start + len(inspect.getblock(lines[max(0, start - first) :]))
            end = min(end, len(PROBES[name]))
            PROBES[name][start:end] = b"\1" * (end - start)
        return lines, first

    module._lines_of = lines_of


def install() -> None:
    """Instrument the modules of difftile that are imported from now on."""
    sys.meta_path.insert(0, _Finder())
    sys.dont_write_bytecode = False  # to instrument takes a second for a hundred files
    if _FOLDER in os.environ:
        atexit.register(_write, Path(os.environ[_FOLDER]))


def _write(folder: Path) -> None:
    """Write what a process has reached, unless nobody waits for it any more."""
    reached = [
        f"{path}:{k}" for path, array in PROBES.items() for k, hit in enumerate(array) if hit
    ]
    if reached and folder.is_dir():
        (folder / f"{os.getpid()}.part").write_text("\n".join(reached))


def environment(folder: Path) -> dict[str, str]:
    """Return what makes processes write what they reach into a folder, which is made."""
    site = ROOT / "build/faults/site"
    site.mkdir(parents=True, exist_ok=True)
    (site / "sitecustomize.py").write_text(
        "import importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('faults_probes', {__file__!r})\n"
        "probes = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(probes)\n"
        "probes.install()\n"
    )
    folder.mkdir(parents=True, exist_ok=True)
    others = os.environ.get("PYTHONPATH", "")
    return {_FOLDER: str(folder), "PYTHONPATH": os.pathsep.join(filter(None, [str(site), others]))}


def take() -> dict[str, bytearray]:
    """Return what was reached since the last time, by path, and forget it."""
    reached = {path: array[:] for path, array in PROBES.items() if 1 in array}
    forget()
    return reached


def forget() -> None:
    """Begin anew."""
    for array in PROBES.values():
        array[:] = bytes(len(array))


def take_others(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the lines that other processes have reached, and forget them."""
    for part in folder.glob("*.part"):
        for line in part.read_text().splitlines():
            path, _, number = line.rpartition(":")
            yield path, int(number)
        part.unlink()
