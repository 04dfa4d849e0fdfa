"""Texts and tables as prompts and notebooks show them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import ParamSpec

_P = ParamSpec("_P")


class PromptText(str):
    """A text of several lines, which a prompt shows without quotes or escapes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_text(self)


def prompt_text(function: Callable[_P, str]) -> Callable[_P, PromptText]:
    """Return the result of a function as `PromptText`; a decorator."""

    @functools.wraps(function)
    def shown(*args: _P.args, **kwargs: _P.kwargs) -> PromptText:
        return PromptText(function(*args, **kwargs))

    return shown


def html_block(title: str, *parts: str) -> str:
    """Return HTML of a title in bold, and of parts below it.

    Args:
        title: Plain text.
        parts: HTML, such as the result of `html_table`; empty ones are left out.
    """
    return f"<div><b>{escape(title)}</b>{''.join(parts)}</div>"


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the HTML of a table, or nothing if it has no rows.

    Args:
        head: The names of the columns; empty for a table without them.
        rows: The cells, as plain text; numbers are aligned to the right.
    """
    lines = [f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows]
    if not lines:
        return ""
    names = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in head)
    return f"<table>{f'<tr>{names}</tr>' if names else ''}{''.join(lines)}</table>"


def html_lines(texts: Iterable[str]) -> str:
    """Return HTML with a line for each plain text."""
    return "".join(f"<div>{escape(text)}</div>" for text in texts)


def html_text(text: str) -> str:
    """Return the HTML of plain text in columns, which keeps its spaces and lines."""
    return f'<pre style="line-height:1.2">{escape(text)}</pre>'


def _cell(text: str) -> str:
    side = "right" if _is_number(text) else "left"
    return f'<td style="text-align:{side}">{escape(text)}</td>'


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", ""))
    except ValueError:
        return False
    return True
