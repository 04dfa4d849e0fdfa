"""Python code with the line and column numbers of the user's source."""

from __future__ import annotations

import ast
import linecache
from itertools import islice
from types import CodeType

from difftile.diagnostics import Span
from difftile.meaning.text import Printed


def at_lines(printed: Printed) -> CodeType:
    """Compile the text of a program as if it stood where the user's kernel does.

    Tracebacks, debuggers and profilers then show the user's lines. Code has one file: what a
    func of another file computes is at the line of the kernel that was before it.
    """
    first = next((span for span in printed.spans if span is not None), None)
    if first is None:
        return compile(printed.text, f"<difftile {printed.function}>", "exec", dont_inherit=True)
    places: list[tuple[int, int, int]] = []
    place = first.line, 0, 0
    for span in printed.spans:
        if span is not None and span.file == first.file:
            before, through = (span.text[:n].encode() for n in (span.column, span.end_column))
            place = span.line, len(before), len(through)
        places.append(place)
    tree = ast.parse(printed.text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.expr, ast.arg, ast.keyword)):
            line, column, end = places[node.lineno - 1]
            node.lineno = node.end_lineno = line
            node.col_offset, node.end_col_offset = column, end
    return compile(tree, first.file, "exec", dont_inherit=True)


def span_of(error: BaseException, file: str) -> Span | None:
    """Return the user's expression in which an error has come up, of the code of a file."""
    entry, found = error.__traceback__, None
    while entry is not None:
        if entry.tb_frame.f_code.co_filename == file:
            found = entry
        entry = entry.tb_next
    if found is None:
        return None
    line = found.tb_lineno
    text = linecache.getline(file, line).rstrip("\n")
    column, end = len(text) - len(text.lstrip()), len(text)
    code = found.tb_frame.f_code
    if hasattr(code, "co_positions"):  # from Python 3.11 on
        _, _, first, last = next(islice(code.co_positions(), found.tb_lasti // 2, None))
        if first is not None and last:
            column, end = (len(text.encode()[:n].decode()) for n in (first, last))
    return Span(file, line, column, end, text)
