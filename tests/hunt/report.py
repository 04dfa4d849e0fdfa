"""Programs by their numbers: the outcome of each, with wrong ones reduced."""

from __future__ import annotations

import linecache
import traceback
from dataclasses import dataclass

from tests.hunt.check import Verdict, Wrong, check
from tests.hunt.compiled import check_compiled
from tests.hunt.draw import draw
from tests.hunt.program import Program
from tests.hunt.shrink import shrink

THOROUGH = 8  # every so many programs run after all passes


@dataclass(frozen=True)
class Finding:
    """A program that is wrong, or that ends in an error which is no error of the user's."""

    number: int
    program: Program
    error: str

    def __str__(self) -> str:
        return (
            f"Program {self.number} is wrong: {self.error}\n"
            f"  again: python -m tests.hunt --show {self.number}\n\n{self.program}\n"
        )


def is_thorough(number: int) -> bool:
    """Tell whether a program is to run after all passes."""
    return number % THOROUGH == 0


def examine(number: int, *, compiled: bool = False) -> tuple[str, Finding | None]:
    """Return the outcome of a program, and its fault in the shortest form.

    Args:
        number: The number of the program.
        compiled: Whether to compile it; otherwise it runs as Python.
    """

    def verdict(program: Program) -> Verdict:
        return check_compiled(program) if compiled else check(program, thorough=is_thorough(number))

    program = draw(number)
    try:
        return word_of(verdict(program)), None
    except Exception as error:
        kind = type(error)
        found = f"{kind.__name__}: {error}\n" + ("" if kind is Wrong else traceback.format_exc())
    finally:
        linecache.cache.pop(f"<hunt {number}>", None)

    def fails(candidate: Program) -> bool:
        try:
            verdict(candidate)
        except Exception as error:
            return type(error) is kind
        return False

    return "WRONG", Finding(number, shrink(program, fails), found)


def word_of(verdict: Verdict) -> str:
    """Return the outcome of a program, and whether its iterations collide or seemed to."""
    if verdict.met:
        return f"{verdict.word} where iterations meet"
    return f"{verdict.word} as a race" if verdict.race else verdict.word
