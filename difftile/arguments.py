"""Parsing of command lines, with one-line errors.

Shared by ``difftile`` and the demos. The module imports only the standard library, so that
``--help`` is immediate.
"""

import argparse
import ast
import difflib
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line on stderr, with exit code 2.

    Errors come without the usage text of `argparse`, which ``--help`` shows. Options are not
    abbreviated, so that a new option never changes the meaning of a script's arguments. The
    description and the epilog keep their line breaks, so that a module can pass its docstring.

    Args:
        prog: The command as the user types it.
        description: Text before the arguments in ``--help``.
        usage: The usage line; derived from the arguments when None.
        epilog: Text after the arguments in ``--help``.
    """

    def __init__(
        self,
        prog: str | None = None,
        description: str | None = None,
        *,
        usage: str | None = None,
        epilog: str | None = None,
    ) -> None:
        super().__init__(
            prog=prog,
            description=description,
            usage=usage,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    # argparse's types have three overloads, since a given namespace is returned: one signature does
    # not match them.
    # pyrefly: ignore[bad-override]
    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:
        """Parse the arguments; for an unknown option, suggest the nearest one."""
        options, unknown = self.parse_known_args(args, namespace)
        if not unknown:
            return options
        word = unknown[0].partition("=")[0]
        if not word.startswith("-"):
            self.error(f"unexpected argument {unknown[0]!r}")
        known = [name for name in self._option_string_actions if name.startswith("--")]
        self.error(f"unknown option {word!r}{did_you_mean(word, known)}")

    def error(self, message: str) -> NoReturn:
        """Print the message as one line and exit with code 2."""
        self.exit(2, f"{self.prog}: error: {' '.join(message.split())}\n")


def split_at_name(argv: Sequence[str]) -> tuple[list[str], str | None, list[str]]:
    """Split arguments into the options before the first name, that name, and the rest.

    The rest belongs to the command or demo of that name. `argparse` has ``REMAINDER`` for this,
    which is undocumented since Python 3.9 because it mishandles options.
    """
    for position, word in enumerate(argv):
        if not word.startswith("-"):
            return list(argv[:position]), word, list(argv[position + 1 :])
    return list(argv), None, []


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return the end of an error message about an unknown word.

    Args:
        word: The word that the user wrote.
        known: The possible words.
        otherwise: A hint if no known word is near.

    Returns:
        ``; did you mean 'x'?`` with the nearest known word, or else ``otherwise`` after a
        semicolon, or else the empty string.
    """
    names = list(known)
    # For difflib the start of a long name is not near to it.
    begun = [name for name in names if word and name.startswith(word)]
    near = begun or difflib.get_close_matches(word, names, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; {otherwise}" if otherwise else ""


def summary_of(source: str) -> str:
    """Return the first line of the docstring of a program, or the empty string."""
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def positive_int(text: str) -> int:
    """Parse an integer above 0.

    Raises:
        argparse.ArgumentTypeError: The text is not such a number.
    """
    return int(_positive(text, int, "a whole number above 0"))


def positive_float(text: str) -> float:
    """Parse a finite number above 0.

    Raises:
        argparse.ArgumentTypeError: The text is not such a number.
    """
    return _positive(text, float, "a number above 0")


def _positive(text: str, kind: Callable[[str], float], expected: str) -> float:
    try:
        number = kind(text)
    except ValueError:
        number = 0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"expected {expected}, not {text!r}")
    return number
