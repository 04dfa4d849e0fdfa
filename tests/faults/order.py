"""Which tests may notice a fault, most likely first."""

from __future__ import annotations

import ast
import difflib
import itertools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.faults.entries import Fault
from tests.faults.reach import COLLECTION, Block, Known, Map, blocks_of
from tests.passes.table import COVERED

_SHORT = 3  # 'op' begins the names of many files
_COMMON = {"the", "and", "not", "for", "are", "that", "its", "with", "from", "self", "return"}


def changed_blocks(before: str, after: str, path: str) -> set[Block]:
    """Return the blocks of a source that another one changes, or none if it changes the module."""
    owner = _owners(ast.parse(before), {block.line: block for block in blocks_of(before, path)})
    found: set[Block] = set()
    lines, others = before.splitlines(), after.splitlines()
    for tag, i, j, k, m in difflib.SequenceMatcher(None, lines, others, False).get_opcodes():
        if tag == "equal":
            continue
        if any(line not in owner for line in range(i + 1, j + 1)):
            return set()
        found |= {owner[line] for line in range(i + 1, j + 1)}
        # What is inserted, or leaves a branch, belongs to the lines on both sides.
        if i == j or (k < m and _indentation(others[k:m]) < _indentation(lines[i:j])):
            found |= {owner[line] for line in (i, j + 1) if line in owner}
    return found


def _indentation(lines: Iterable[str]) -> int:
    return min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)


def _owners(tree: ast.Module, starts: Mapping[int, Block]) -> dict[int, Block]:
    """Return the block of each line in a function or lambda.

    A block goes on behind the blocks of a branch or loop in it, unless another one starts there.
    """
    owner: dict[int, Block] = {}

    def fill(node: ast.AST, block: Block) -> None:
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
            owner[line] = block

    def visit(node: ast.AST, block: Block | None, *, inside: bool) -> None:
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for _, value in ast.iter_fields(node):
            current = block
            for child in value if isinstance(value, list) else ():
                if isinstance(child, ast.stmt) and inside:
                    current = starts.get(child.lineno, current)
                    if current is not None:
                        fill(child, current)
                if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                    visit(child, current, inside=inside)

    visit(tree, None, inside=False)
    statements = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            line = node.body.lineno
            if line not in statements or line not in owner:
                fill(node.body, starts[line])
    return owner


def reaching(before: Mapping[str, str], after: Mapping[str, str], known: Map) -> set[str]:
    """Return the tests that reach a change, with `COLLECTION` if imports do.

    A change outside of functions is reached by imports, and by the tests that reach anything else
    in the file, or by all where the file has only tables. A function that is read rather than run
    is reached by the first test that needs it, and by the later ones of the same process: by those
    of the same file.
    """
    found: set[str] = set()
    for path, text in after.items():
        blocks = changed_blocks(before[path], text, path)
        found |= known.reaching(blocks) if blocks else {COLLECTION}
        if COLLECTION in found:
            found |= known.near(path) or known.tests.keys()
        if any(_is_read(before[path], block) for block in blocks):
            files = {name.partition("::")[0] for name in found}
            near = {name for name in known.tests if name.partition("::")[0] in files}
            found |= near or known.tests.keys()  # Taichi reads its funcs, without our knowledge
    return found


def _is_read(source: str, block: Block) -> bool:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.lineno <= block.line <= (
            node.end_lineno or 0
        ):
            words = {ast.unparse(decorator).partition("(")[0] for decorator in node.decorator_list}
            if {word.rpartition(".")[2] for word in words} & {"func", "kernel", "rule"}:
                return True
    return False


def ordered(fault: Fault, names: Iterable[str], tests: Mapping[str, Known]) -> list[str]:
    """Return tests in the order in which they are to be run.

    Short ones that reach little come first, and those whose name has words of the fault. The first
    of each function come before the second of any, since they are the most different. But before
    all come those that are about the changed file by name, such as the cases of a pass, and files
    that begin with its name.
    """
    words = _words(fault)
    stems = {Path(path).stem for path in fault.paths}
    cases = "|".join(stems | {COVERED.get(stem, stem) for stem in stems})
    files = "|".join(stem + r"\w*" * (len(stem) > _SHORT) for stem in stems)
    own = re.compile(rf"tests/passes/.*\[(?:{cases})-|tests/(?:.*/)?test_(?:{files})\.py")

    def cost(name: str) -> float:
        test = tests[name]
        likeness = len(words & _words_of(name))
        return (test.seconds + 0.05) * (test.size + 200) / (1 + likeness) ** 2

    def function(name: str) -> str:
        return name.partition("[")[0]

    by_cost = sorted(names, key=lambda name: (cost(name), name))
    seen: dict[str, int] = {}
    rounds: list[tuple[int, float, str]] = []
    for name in by_cost:
        turn = seen.get(function(name), 0)
        seen[function(name)] = turn + 1
        rounds.append((-1 if own.match(name) else turn.bit_length(), cost(name), name))
    return [name for _, _, name in sorted(rounds)]


def _words(fault: Fault) -> set[str]:
    changed = itertools.chain.from_iterable(
        set(hunk.before.splitlines()) ^ set(hunk.after.splitlines()) for hunk in fault.hunks
    )
    places = [path.removeprefix("difftile/").removesuffix(".py") for path in fault.paths]
    return _words_of(" ".join([fault.name, *places, *changed]))


def _words_of(text: str) -> set[str]:
    """Return the words of a text, without endings, as far as they say something."""
    words = re.findall(r"[a-z]{3,}", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
    return {word.rstrip("s") for word in words} - _COMMON
