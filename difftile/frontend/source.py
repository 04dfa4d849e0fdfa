"""The source of a function: its syntax tree, and spans that point into its file."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
import weakref
from dataclasses import field, replace
from functools import partial
from types import CodeType
from typing import Any, cast

from difftile.diagnostics import KernelError, Span, UnsupportedSyntax
from difftile.frontend.lambdas import lambda_in
from difftile.frontend.unfiled import UNFILED, text_of
from difftile.ops.vocabulary import PythonFunction, is_lambda
from difftile.records import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A function and its text.

    Args:
        function: The Python function.
        tree: Its definition, with line numbers from 1 and columns as in the file. A lambda is a
            definition that returns its expression.
        file: The file that holds it.
        first_line: Line of the file on which the text begins.
        lines: The text.
        call: Where users call it, if it is a func of the library: errors show that place.
    """

    function: PythonFunction
    tree: ast.FunctionDef
    file: str
    first_line: int
    lines: tuple[str, ...] = field(repr=False)
    call: Span | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    @property
    def in_library(self) -> bool:
        """Whether the function is one of difftile's own."""
        module = self.function.__module__ or ""  # none where exec() has no name
        return module.partition(".")[0] == __name__.partition(".")[0]

    def warn(self, span: Span, warning: Warning) -> None:
        """Warn at a line of the user, which Python shows once by default."""
        if self.in_library:
            return
        known = self.function.__globals__
        warnings.warn_explicit(
            warning,
            type(warning),
            span.file,
            span.line,
            known.get("__name__", "<unknown>"),
            known.setdefault("__warningregistry__", {}),
        )

    def called(self, caller: Source, node: ast.AST) -> Source:
        """Return the source as the callee of another one."""
        if not self.in_library or (caller.in_library and caller.call is None):
            return self
        return replace(self, call=caller.call or caller.span(node))

    def span(self, node: ast.AST) -> Span:
        """Return where a node stands in the user's file: its first line."""
        kept: Any = node
        try:
            here = kept.span_difftile
        except AttributeError:
            here = kept.span_difftile = self._place(node)
        return self._in_call(here)

    def _place(self, node: ast.AST) -> Span:
        line = getattr(node, "lineno", 1)
        start = self._column(line, getattr(node, "col_offset", 0))
        if getattr(node, "end_lineno", line) == line:
            end = self._column(line, getattr(node, "end_col_offset", 0))
        else:
            end = len(self.lines[line - 1].rstrip())
        return Span(self.file, self.first_line + line - 1, start, end, self.lines[line - 1])

    def attribute_span(self, node: ast.Attribute) -> Span:
        """Return where the name after the dot stands."""
        line = node.end_lineno or node.lineno
        end = self._column(line, node.end_col_offset or 0)
        return self._at(line, end - len(node.attr), end)

    def word_span(self, word: str, after: ast.stmt, before: ast.stmt) -> Span:
        """Return where a keyword stands between two statements, such as the 'else' of a loop."""
        for line in range(before.lineno, after.lineno - 1, -1):
            for found in re.finditer(rf"\b{word}\b", self.lines[line - 1].partition("#")[0]):
                return self._at(line, *found.span())
        return self.span(after)

    def _at(self, line: int, start: int, end: int) -> Span:
        line_here = self.first_line + line - 1
        return self._in_call(Span(self.file, line_here, start, end, self.lines[line - 1]))

    def _in_call(self, here: Span) -> Span:
        at = self.call
        if at is None:
            return here
        return Span(at.file, at.line, at.column, at.end_column, at.text, here)

    def _column(self, line: int, offset: int) -> int:
        """Return a column from the offset in bytes that Python gives."""
        text = self.lines[line - 1]
        if text.isascii():
            return min(offset, len(text))
        return len(text.encode()[:offset].decode(errors="ignore"))


_READ: dict[int, tuple[weakref.ref[CodeType], Source]] = {}  # by the identity of the code


def source_of(function: PythonFunction) -> Source:
    """Read and parse the source of a function, once for its code: funcs are inlined at each call.

    Raises:
        KernelError: Python cannot find the source, or it is neither a plain `def` nor a lambda.
    """
    code = function.__code__
    known = _READ.get(id(code))
    if known is None or known[0]() is not code or inspect.unwrap(function) is not function:
        found = _read(function)
        # Without the function, whose code would never go.
        kept = replace(found, function=_nobody)
        forget = partial(_READ.pop, id(code), None)
        _READ[id(code)] = weakref.ref(code, lambda _: forget()), kept
        return found
    return replace(known[1], function=function)


def _nobody() -> None:
    """Stand for the function of a source that is kept."""


def _read(function: PythonFunction) -> Source:
    name = function.__name__
    if inspect.unwrap(function) is not function:
        raise KernelError(
            f"'{name}' is wrapped by another decorator, which a kernel would leave out.",
            None,
            hint="remove it, or decorate the inner function.",
        )
    raw, first_line = _lines_of(function)
    lines = tuple(line.rstrip("\n") for line in raw)
    file = inspect.getsourcefile(cast(Any, function)) or function.__code__.co_filename
    if is_lambda(function):
        found = lambda_in("".join(raw), function.__code__)
        if found is None:
            raise _changed(name)
        # A definition equivalent to the lambda, at its place.
        (tree,) = ast.parse("def function(): pass").body
        assert isinstance(tree, ast.FunctionDef)
        tree.args = found.args
        tree.body = [ast.copy_location(ast.Return(found.body), found.body)]
        return Source(function, ast.copy_location(tree, found), file, 1, lines)
    tree = _parsed("".join(raw))
    if isinstance(tree, ast.AsyncFunctionDef):
        start = len(lines[tree.lineno - 1]) - len(lines[tree.lineno - 1].lstrip())
        span = Span(
            file, first_line + tree.lineno - 1, start, start + len("async"), lines[tree.lineno - 1]
        )
        raise UnsupportedSyntax(span, "'async def'", "write it with 'def'.")
    if not isinstance(tree, ast.FunctionDef):
        raise KernelError(
            f"'{name}' is not a plain function definition.",
            None,
            hint="write it with 'def', or as a lambda.",
        )
    if tree.name != function.__code__.co_name:
        raise _changed(name)
    return Source(function, tree, file, first_line, lines)


def _lines_of(function: PythonFunction) -> tuple[list[str], int]:
    """Return the lines of a definition and the number of the first; of a lambda the whole file."""
    code = function.__code__
    if code.co_filename in UNFILED:
        text = text_of(code)
        if text is not None:
            lines, first = text.splitlines(keepends=True), code.co_firstlineno
            return (
                (lines, 0) if is_lambda(function) else (inspect.getblock(lines[first - 1 :]), first)
            )
    else:
        read = inspect.findsource if is_lambda(function) else inspect.getsourcelines
        try:
            return read(cast(Any, function))
        except (OSError, TypeError):
            pass
    raise KernelError(
        f"The source of '{function.__name__}' cannot be found.",
        None,
        hint=_OF_STDIN if code.co_filename == "<stdin>" else _OF_EXEC,
    )


_OF_STDIN = (
    "Python keeps no text of a program that it reads from a pipe or a terminal; run it from a "
    "file, 'python program.py', or in a notebook."
)
_OF_EXEC = (
    "exec() keeps no text; import the function from a file, or write the text to one and run "
    "'exec(compile(text, path, \"exec\"))'."
)


def _changed(name: str) -> KernelError:
    return KernelError(
        f"The file of '{name}' has changed since Python read it.",
        None,
        hint="start Python anew, or import the module again.",
    )


def _parsed(text: str) -> ast.stmt | None:
    """Parse a definition that may be indented, and leave its columns as they are in the file.

    The text is not dedented: comments, texts and continued lines may stand left of the definition.
    """
    indented = text[:1].isspace()
    try:
        (first, *_) = ast.parse(f"if 1:\n{text}" if indented else text).body
    except (SyntaxError, ValueError):
        return None
    if isinstance(first, ast.If) and indented:
        first = first.body[0]
        ast.increment_lineno(first, -1)
    return first
