"""The text of programs that are not in files: `python -c text`, and `python < file`.

Python 3.13 and later keep the text of `-c`, but answer with it for code of `exec()` as well, which
has the same file name. A text counts here only if compiling it gives the code at hand.
"""

from __future__ import annotations

import linecache
import os
import stat
import sys
import textwrap
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType

from difftile.frontend.lambdas import content, nested

UNFILED = ("<string>", "<stdin>")
"""The file names of such code."""


def text_of(code: CodeType) -> str | None:
    """Return the text of the program that some code belongs to, or None if it is not kept."""
    wanted = content(code)
    for text in _known(code.co_filename):
        if any(
            one.co_firstlineno == code.co_firstlineno and content(one) == wanted
            for one in _compiled(text)
        ):
            return text
    return None


def _known(file: str) -> Iterator[str]:
    yield "".join(linecache.getlines(file))
    if file == "<stdin>":
        yield _standard_input()
        return
    for argument in sys.orig_argv[1:]:
        command = argument.partition("c")[2] if argument.startswith("-") else argument
        yield command
        yield textwrap.dedent(command)  # as Python 3.14 does


def _standard_input() -> str:
    """Return the whole of a file that is standard input, however much of it has been read."""
    try:
        found = os.fstat(0)
        if stat.S_ISREG(found.st_mode):
            return os.pread(0, found.st_size, 0).decode("utf-8-sig")
    except (OSError, AttributeError, UnicodeDecodeError):
        pass  # closed; Windows has no pread
    return ""


@lru_cache(maxsize=16)
def _compiled(text: str) -> tuple[CodeType, ...]:
    """Return the codes in a text; none where it is no program."""
    try:
        return tuple(nested(compile(text, "<unfiled>", "exec", dont_inherit=True)))
    except (SyntaxError, ValueError):
        return ()
