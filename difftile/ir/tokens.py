"""The words of the text of a program, and a cursor over them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn, TypeVar

from difftile.diagnostics import KernelError, Span, did_you_mean
from difftile.records import dataclass

_T = TypeVar("_T")

_TOKEN = re.compile(
    r"""(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<number>-?(?:inf|nan)\b|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)
    | (?P<name>\w+)
    | (?P<sign>\.\.|<-|\+=|[()\[\]<>:,;=])
    | (?P<blank>\ +|\#.*)
    | (?P<other>.)""",
    re.VERBOSE,
)


class MalformedProgram(KernelError):
    """The text of a program that cannot be read."""

    def __init__(self, span: Span, message: str, hint: str | None = None) -> None:
        where = f"line {span.line}, column {span.column + 1}"
        super().__init__(f"Malformed program at {where}: {message}.", span, hint=hint)


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the text; its kind is 'string', 'number', 'name', 'sign', 'other' or 'end'."""

    text: str
    kind: str
    span: Span


def lines_of(text: str, file: str) -> list[list[Token]]:
    """Return the tokens of each line that has some, and a last line for the end of the text.

    A token without a text ends each line.
    """
    lines: list[list[Token]] = []
    written = text.splitlines()
    for number, line in enumerate(written, 1):
        tokens = [
            Token(m[0], m.lastgroup or "", Span(file, number, m.start(), m.end(), line))
            for m in _TOKEN.finditer(line)
            if m.lastgroup != "blank"
        ]
        end = len(line.rstrip())
        if tokens:
            lines.append([*tokens, Token("", "end", Span(file, number, end, end, line))])
    last = written[-1].rstrip() if written else ""
    where = Span(file, max(1, len(written)), len(last), len(last), last)
    lines.append([Token("", "end", where)])
    return lines


class TokenCursor:
    """A position among the tokens; methods move it past the tokens that they return."""

    def __init__(self, lines: list[list[Token]]) -> None:
        self.lines = lines
        self.row = 0
        self.at = 0

    @property
    def token(self) -> Token:
        """The token at the position."""
        return self.lines[self.row][self.at]

    @property
    def following(self) -> str:
        """The text of the token after this one."""
        return self.lines[self.row][self.at + 1].text if self.token.text else ""

    @property
    def indent(self) -> int:
        """The indentation of the line; -1 at the end of the program."""
        is_last = self.row == len(self.lines) - 1
        return -1 if is_last else self.lines[self.row][0].span.column

    def fail(self, message: str, token: Token | None = None, hint: str | None = None) -> NoReturn:
        """Report a token, by default the one at the position."""
        raise MalformedProgram((token or self.token).span, message, hint)

    def expected(self, what: str) -> NoReturn:
        """Report the token at the position, which should be something else."""
        found = f"'{self.token.text}'" if self.token.text else "the end of the line"
        self.fail(f"expected {what}, found {found}")

    def take(self, kind: str, what: str) -> Token:
        """Return a token of a kind."""
        token = self.token
        if token.kind != kind:
            self.expected(what)
        self.at += 1
        return token

    def accept(self, text: str) -> bool:
        """Move past a text if it is there, and tell whether it was."""
        found = self.token.text == text
        self.at += found
        return found

    def want(self, text: str) -> None:
        """Move past a text."""
        if not self.accept(text):
            self.expected(f"'{text}'")

    def several(self, one: Callable[[], _T], before: str) -> tuple[_T, ...]:
        """Return the items, separated by commas, up to a sign."""
        found: list[_T] = []
        while self.token.text != before:
            if found:
                self.want(",")
            found.append(one())
        return tuple(found)

    def enclosed(self, one: Callable[[], _T], signs: str = "()") -> tuple[_T, ...]:
        """Return the items between two signs, separated by commas."""
        self.want(signs[0])
        found = self.several(one, signs[1])
        self.want(signs[1])
        return found

    def integer(self) -> int:
        """Return an integer."""
        token = self.take("number", "an integer")
        try:
            return int(token.text)
        except ValueError:
            self.fail("expected an integer", token)

    def string(self) -> str:
        """Return a text in quotes."""
        return ast.literal_eval(self.take("string", "a text in quotes").text)

    def name(self) -> Token:
        """Return a name."""
        return self.take("name", "a name")

    def marks(self, *known: str) -> list[bool]:
        """Return which marks there are in brackets at the end of a statement or of its header."""
        found: set[str] = set()

        def mark() -> None:
            first = self.name()
            words = [first.text]
            while self.token.kind == "name":
                words.append(self.name().text)
            text = " ".join(words)
            if text not in known:
                self.fail(f"no mark is named '{text}' here", first, did_you_mean(text, known))
            found.add(text)

        if self.token.text == "(":
            self.enclosed(mark)
        return [one in found for one in known]

    def whole_line(self) -> Span:
        """Return the span of the line, without its indentation."""
        line = self.lines[self.row]
        return replace(line[0].span, end_column=line[-1].span.column)

    def end_of_line(self) -> None:
        """Go on to the next line."""
        if self.token.text:
            self.expected("the end of the line")
        self.row += 1
        self.at = 0
