"""Lines of code of functions and classes: no blank lines, no comments, no docstrings."""

import ast
import inspect
import io
import tokenize
from dataclasses import dataclass
from types import ModuleType

_NAMED = (ast.FunctionDef, ast.ClassDef)
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True)
class Code:
    """Functions and classes of a module."""

    module: ModuleType
    names: tuple[str, ...]

    def lines(self) -> int:
        """Count the lines of all, decorators included, as ruff formats them."""
        source = inspect.getsource(self.module)
        found = {node.name: node for node in ast.parse(source).body if isinstance(node, _NAMED)}
        return sum(_lines_of(source, found[name]) for name in self.names)


def _lines_of(source: str, node: ast.FunctionDef | ast.ClassDef) -> int:
    first = min([node.lineno, *(mark.lineno for mark in node.decorator_list)])
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for inner in ast.walk(node):
        if isinstance(inner, _NAMED) and ast.get_docstring(inner) is not None:
            docstring = inner.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return sum(first <= line <= (node.end_lineno or 0) for line in lines)
