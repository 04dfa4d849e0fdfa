"""Annotations of parameters, which `from __future__ import annotations` leaves as text."""

from __future__ import annotations

import ast
import sys
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any

from difftile.diagnostics import Span, UndefinedName
from difftile.frontend.source import source_of
from difftile.ops.vocabulary import PythonFunction


def resolve(function: PythonFunction) -> None:
    """Replace annotations that are text by the objects that they name, as far as these are known.

    Called while the function is defined: an annotation may name a local of the function around it.
    """
    texts = {name: one for name, one in function.__annotations__.items() if isinstance(one, str)}
    around = _namespace(sys._getframe(1), function.__code__) if texts else {}  # pyrefly: ignore
    for name, text in texts.items():
        with suppress(Exception):  # names of classes and types that are defined later
            function.__annotations__[name] = eval(text, function.__globals__, around)


def _namespace(frame: FrameType | None, code: CodeType) -> dict[str, Any]:
    """Return the names where some code is defined: in a function, a class or a module."""
    while frame is not None:
        if any(one is code for one in frame.f_code.co_consts):
            return frame.f_locals
        frame = frame.f_back
    return {}


def annotated(function: PythonFunction, parameter: str) -> object:
    """Return the annotation of a parameter; None if it has none, or is prose.

    Raises:
        UndefinedName: The annotation is an expression that names nothing.
    """
    given = function.__annotations__.get(parameter)
    if not isinstance(given, str):
        return given
    try:
        return eval(given, function.__globals__)
    except SyntaxError:
        return None
    except Exception:
        raise UndefinedName(
            annotation_span(function, parameter),
            given,
            f"the annotation of '{parameter}'",
            hint="import or define it above the function, or leave the annotation out.",
        ) from None


def annotation_span(function: PythonFunction, parameter: str) -> Span:
    """Return where the annotation of a parameter stands."""
    source = source_of(function)
    arguments = source.tree.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    node: ast.AST = next((one for one in every if one.arg == parameter), source.tree)
    return source.span(getattr(node, "annotation", None) or node)
