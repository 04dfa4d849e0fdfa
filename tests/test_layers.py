"""Which part may import which: imports go one way only."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from difftile.releases import RELEASES
from difftile.substrate.spellings import SPELLINGS, CallSpelling, Method, Spelling
from tests.layers import (
    ALLOWED,
    ALLOWED_OUTSIDE,
    ENGINE_USERS,
    FLOORS,
    INNER,
    SAME_NAMES,
    VILLAGE,
    VILLAGE_IMPORTS,
)

pytestmark = pytest.mark.always

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Import:
    """One import: where it stands, the module it names, and the names it takes from there."""

    file: Path
    line: int
    module: str
    names: tuple[str, ...]
    at_top: bool
    relative: bool

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line} imports {self.module}"


@cache
def imports_of(file: Path) -> list[Import]:
    """Return every import of a file, those for type checkers included."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    top = {id(node) for node in _top_level(tree)}
    found: list[Import] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules, names, relative = [alias.name for alias in node.names], (), False
        elif isinstance(node, ast.ImportFrom):
            modules, relative = [node.module or ""], node.level > 0
            names = tuple(alias.name for alias in node.names)
        else:
            continue
        found += [Import(file, node.lineno, m, names, id(node) in top, relative) for m in modules]
    return found


def _top_level(tree: ast.Module) -> list[ast.stmt]:
    """Return the statements of a module, those under `if TYPE_CHECKING:` included."""
    found: list[ast.stmt] = []
    for stmt in tree.body:
        if isinstance(stmt, ast.If) and ast.unparse(stmt.test) == "TYPE_CHECKING":
            found += stmt.body
        found.append(stmt)
    return found


def layer_of(module: str) -> str:
    """Return the part of `difftile` that a module belongs to: 'difftile.ir.types' is 'ir'."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


FILES = sorted((*(ROOT / "difftile").rglob("*.py"), *(ROOT / "difftile").rglob("*.pyi")))


def _own_layer(file: Path) -> str:
    return file.relative_to(ROOT / "difftile").with_suffix("").parts[0]


def test_every_part_is_in_the_table() -> None:
    assert {_own_layer(file) for file in FILES} == set(ALLOWED)


def test_the_table_has_no_cycle() -> None:
    ranks: dict[str, int] = {}

    def rank(layer: str, above: tuple[str, ...] = ()) -> int:
        assert layer not in above, f"a cycle through {layer}"
        if layer not in ranks:
            below = [rank(other, (*above, layer)) for other in ALLOWED[layer]]
            ranks[layer] = 1 + max(below, default=0)
        return ranks[layer]

    for layer in ALLOWED:
        rank(layer)
    assert ranks["diagnostics"] < ranks["ir"] < ranks["ops"] < ranks["frontend"] < ranks["compile"]
    assert ranks["launch"] < ranks["recording"] < ranks["runtime"] < ranks["solvers"]


def test_imports_go_one_way() -> None:
    wrong = [
        str(one)
        for file in FILES
        for one in (*imports_of(file), *_public_uses(file))
        if one.module.split(".")[0] == "difftile"
        and not (one.module == "difftile" and _own_layer(file) in VILLAGE | ENGINE_USERS)
        and layer_of(one.module) not in ALLOWED[_own_layer(file)] | {_own_layer(file)}
    ]
    assert not wrong


@cache
def _homes() -> dict[str, str]:
    """Return the module of each public name: 'difftile.render' is that of the package `render`."""
    found = {"ti": "difftile.lang"}
    for one in imports_of(ROOT / "difftile" / "__init__.pyi"):
        for name in one.names:
            found[name] = f"difftile.{name}" if one.module == "difftile" else one.module
    return found


def _public_uses(file: Path) -> list[Import]:
    """Return the public names that a package takes from `difftile`, as imports of their modules."""
    if _own_layer(file) not in VILLAGE | ENGINE_USERS:
        return []
    taken = [
        (one.line, name)
        for one in imports_of(file)
        if one.module == "difftile"
        for name in one.names
    ]
    taken += [
        (node.lineno, node.attr)
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "dt"
    ]
    own = _own_layer(file)
    return [
        Import(file, line, _homes()[name], (name,), at_top=True, relative=False)
        for line, name in taken
        if name != own
    ]


def test_the_village_imports_the_public_face() -> None:
    """The names after `dt.` are those that users have; inner modules are none of them."""
    found: dict[str, set[str]] = {}
    for file in FILES:
        own = _own_layer(file)
        if own in VILLAGE:
            known = {*VILLAGE_IMPORTS, f"difftile.{own}"}
            for one in imports_of(file):
                parts = one.module.split(".")
                if parts[0] == "difftile" and known.isdisjoint({one.module, ".".join(parts[:2])}):
                    found.setdefault(one.module, set()).add(own)
    assert found == {module: packages for module, (packages, _) in INNER.items()}


def test_public_names_are_imported_from_the_public_face() -> None:
    wrong = [
        f"{one}: {name} is dt.{name}"
        for file in FILES
        if _own_layer(file) in VILLAGE | ENGINE_USERS
        for one in imports_of(file)
        if one.module not in VILLAGE_IMPORTS and layer_of(one.module) != _own_layer(file)
        for name in one.names
        if _homes().get(name) == one.module
    ]
    assert not wrong


def test_imports_are_absolute_and_at_the_top() -> None:
    wrong = [
        str(one) for file in FILES for one in imports_of(file) if one.relative or not one.at_top
    ]
    assert not wrong


def test_the_rest_of_the_library_names_no_module_of_the_substrate() -> None:
    modules = {file.stem for file in FILES if _own_layer(file) == "substrate"}
    wrong = [
        str(one)
        for file in FILES
        if _own_layer(file) != "substrate"
        for one in imports_of(file)
        if one.module.startswith("difftile.substrate.")
        or (one.module == "difftile.substrate" and modules & set(one.names))
    ]
    assert not wrong


@pytest.mark.parametrize("compiler", RELEASES)
def test_only_the_backend_of_a_compiler_knows_it(compiler: str) -> None:
    backend = ROOT / "difftile" / "substrate" / compiler
    assert backend.is_dir()
    wrong = [
        str(one)
        for file in FILES
        if backend not in file.parents
        for one in imports_of(file)
        if one.module.split(".")[0] == compiler
    ]
    assert not wrong


def test_no_module_names_the_backend_of_a_compiler() -> None:
    wrong = [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in FILES
        for module in _run_time_imports(file)
        for compiler in RELEASES
        if module.startswith(f"difftile.substrate.{compiler}") and file.parent.name not in RELEASES
    ]
    assert not wrong


def test_the_frontend_knows_no_package_of_the_language() -> None:
    wrong = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in FILES
        if _own_layer(file) == "frontend"
        for node in _strings(file)
        if node.value in RELEASES
    ]
    assert not wrong


def test_only_the_substrate_spells_ops() -> None:
    calls = {f"{one.function}(" for one in SPELLINGS.values() if _is_named(one)}
    calls |= {f"{{}}.{one.name}(" for one in SPELLINGS.values() if isinstance(one, Method)}
    named = re.compile("|".join(rf"(?<![\w.]){re.escape(call)}" for call in sorted(calls)))
    wrong = [
        f"{file.relative_to(ROOT)}:{node.lineno} {node.value!r}"
        for file in FILES
        # `meaning` writes NumPy; hints are in the words of users.
        if _own_layer(file) not in ("substrate", "meaning", "habits")
        for node in _strings(file)
        if named.search(re.sub(r"\{\w*\}", "{}", node.value))
    ]
    assert not wrong


def _is_named(spelling: Spelling) -> bool:
    return isinstance(spelling, CallSpelling) and not spelling.source


@cache
def _strings(file: Path) -> list[ast.Constant]:
    """Return the texts in a file, docstrings and formulas left out: formulas have no modules."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    statements = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr)}
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in statements
    ]


@pytest.mark.parametrize("folder", ALLOWED_OUTSIDE)
def test_other_folders_use_the_public_surface(folder: str) -> None:
    ours = {"difftile", *ALLOWED_OUTSIDE, "tests"}
    for file in sorted((ROOT / folder).rglob("*.py")):
        for one in imports_of(file):
            module = one.module
            root = module.split(".")[0]
            if root in ours:
                known = module if root == "difftile" else root
                assert known in ALLOWED_OUTSIDE[folder], str(one)


NAMES = {str(f.relative_to(ROOT).with_suffix("")).replace("/", "."): f for f in FILES}


def test_modules_of_one_package_have_no_cycle() -> None:
    _check_no_cycle({name: _run_time_imports(file) & set(NAMES) for name, file in NAMES.items()})


@pytest.mark.parametrize("package", FLOORS)
def test_modules_import_from_their_floor_and_those_below(package: str) -> None:
    graph = _imports_within(package)
    floors = FLOORS[package]
    found = {
        f"difftile.{package}.{one}": k for k, names in enumerate(floors.values()) for one in names
    }
    assert set(found) == set(graph)
    assert sum(map(len, floors.values())) == len(found)
    wrong = [
        f"{name} imports {other}"
        for name, others in graph.items()
        for other in others
        if found[other] > found[name]
    ]
    assert not wrong
    _check_no_cycle(graph)


def _imports_within(package: str) -> dict[str, set[str]]:
    """Return what the modules of a package import from each other, for type checkers as well."""
    inside = {name: file for name, file in NAMES.items() if name.startswith(f"difftile.{package}.")}
    del inside[f"difftile.{package}.__init__"]
    return {
        name: {
            module
            for one in imports_of(file)
            for module in (one.module, *(f"{one.module}.{taken}" for taken in one.names))
        }
        & set(inside)
        for name, file in inside.items()
    }


def _check_no_cycle(graph: dict[str, set[str]]) -> None:
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join((*above[above.index(name) :], name))
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*above, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def _run_time_imports(file: Path) -> set[str]:
    """Return the modules that a file imports at run time, without those for type checkers."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    lines = {
        inner.lineno
        for stmt in tree.body
        if isinstance(stmt, ast.If) and ast.unparse(stmt.test) == "TYPE_CHECKING"
        for inner in stmt.body
    }
    return {one.module for one in imports_of(file) if one.line not in lines}


def test_a_name_stands_for_one_class() -> None:
    modules: dict[str, set[Path]] = {}
    for file in FILES:
        if file.suffix == ".py":
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    modules.setdefault(node.name, set()).add(file)
    assert {name for name, files in modules.items() if len(files) > 1} == SAME_NAMES
