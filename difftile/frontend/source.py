"""The source of a decorated function: its syntax tree, and spans that point into the user's file."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from dataclasses import dataclass, field
from types import FunctionType

from difftile.diagnostics import KernelError, Span


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A function and its text.

    Args:
        function: The Python function.
        tree: Its definition, with line numbers relative to `first_line`.
        file: The file that holds it.
        first_line: Line of the file on which the text begins.
        indent: Columns by which the text was indented.
    """

    function: FunctionType
    tree: ast.FunctionDef
    file: str
    first_line: int
    indent: int
    lines: tuple[str, ...] = field(repr=False)

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    def span(self, node: ast.AST) -> Span:
        """Return where a node stands in the user's file."""
        line = getattr(node, "lineno", 1)
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        start = self._column(node, "col_offset", line)
        one_line = getattr(node, "end_lineno", line) == line
        end = self._column(node, "end_col_offset", line) if one_line else len(text.rstrip())
        return Span(self.file, self.first_line + line - 1, start, end, text)

    def _column(self, node: ast.AST, attribute: str, line: int) -> int:
        """Return a column of the file from a byte offset into the dedented line."""
        offset = getattr(node, attribute, 0)
        text = self.lines[line - 1][self.indent :] if line <= len(self.lines) else ""
        return self.indent + len(text.encode()[:offset].decode(errors="ignore"))


def source_of(function: FunctionType) -> Source:
    """Read and parse the source of a function.

    Raises:
        KernelError: Python cannot find the source, or it is not a plain `def`.
    """
    try:
        raw, first_line = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise KernelError(
            f"The source of '{function.__name__}' cannot be found.",
            None,
            hint="define kernels and funcs in a file or a notebook cell, not in exec() or the REPL.",
        ) from None
    text = textwrap.dedent("".join(raw))
    indent = len(raw[0]) - len(raw[0].lstrip())
    try:
        body = ast.parse(text).body
    except SyntaxError:
        body = []
    if not body or not isinstance(body[0], ast.FunctionDef):
        raise KernelError(
            f"'{function.__name__}' is not a plain function definition.",
            None,
            hint="write it with 'def'; a lambda has no source of its own.",
        )
    file = inspect.getsourcefile(function) or "<unknown>"
    linecache.checkcache(file)
    lines = tuple(line.rstrip("\n") for line in raw)
    return Source(function, body[0], file, first_line, indent, lines)
