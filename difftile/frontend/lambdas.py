"""The place of a lambda in its file: Python keeps only its line, and a line can hold several.

The file is compiled once more for each lambda on that line, and its code compared with the code at
hand. Lambdas whose code is the same say the same; from Python 3.11 on the columns, which are
compared too, tell even those apart.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import Any

_VARIABLE_ARGUMENTS = 0x04 | 0x08  # of `co_flags`: `*args` and `**kwargs`


@lru_cache(maxsize=64)
def lambda_in(text: str, code: CodeType) -> ast.Lambda | None:
    """Return the node of a lambda, or None where the text has none with that code.

    Args:
        text: The text of the whole file.
        code: The code of the lambda.
    """
    wanted = content(code)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the file says was said when Python read it
        try:
            for k, node in enumerate(_on_line(ast.parse(text), code.co_firstlineno)):
                found = _compiled(text, code.co_firstlineno, k)
                if found is not None and content(found) == wanted:
                    return node
        except (SyntaxError, ValueError):
            pass
    return None


def _on_line(tree: ast.AST, line: int) -> list[ast.Lambda]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.Lambda) and n.lineno == line]


def _compiled(text: str, line: int, k: int) -> CodeType | None:
    """Return the code of the lambda number k on a line; None where Python leaves it out."""
    tree = ast.parse(text)
    node = _on_line(tree, line)[k]
    behind = text.count("\n") + 1
    # Moved behind the file it is known by its line. What its code is depends on lines that differ
    # within it, so that all of it moves; defaults belong to the code around it.
    node.lineno += behind
    node.end_lineno = (node.end_lineno or 0) + behind
    ast.increment_lineno(node.body, behind)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # of notebooks
    whole = compile(tree, "<lambda>", "exec", flags=flags, dont_inherit=True)
    return next((c for c in nested(whole) if c.co_firstlineno == line + behind), None)


def nested(code: CodeType) -> Iterator[CodeType]:
    """Yield the codes within a code, outer ones first."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from nested(constant)


def content(code: CodeType) -> tuple[Any, ...]:
    """Return the content of code, without the lines where it stands."""
    return (
        code.co_code,
        tuple(content(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts),
        *(code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars),
        *(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        code.co_flags & _VARIABLE_ARGUMENTS,
        tuple(place[2:] for place in code.co_positions()) if hasattr(code, "co_positions") else (),
    )
