"""JSON as values that know where they stand: `frames[3].transform_matrix`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, final

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import DatasetError
from difftile.files.regular import read_text, shown

_SIZE = 2**26  # bytes of a file: Python makes twenty times as many of it
_DEPTH = 32  # objects and lists within each other
_DIGITS = 20  # of a whole number; more than that are a float


@final
@dataclass(frozen=True, slots=True)
class Value:
    """A value of a file.

    Args:
        path: The file.
        place: Where it stands in the file; "" for all of it.
        held: The value, as `json` gives it.
    """

    path: Path
    place: str
    held: Any

    def wrong(self, expected: str, hint: str | None = None) -> DatasetError:
        """Return the error that says what stands here and what should."""
        place = f"{self.place} " if self.place else ""
        return DatasetError(self.path, f"{place}is {shown(self.held)}", expected, hint=hint)

    def members(self) -> Mapping[str, Any]:
        """Return the members of an object."""
        held = self.held
        if not isinstance(held, dict):
            raise self.wrong("an object: names with values")
        return cast("Mapping[str, Any]", held)

    def get(self, key: str) -> Value | None:
        """Return a member, or None where there is none or it is null."""
        held = self.members().get(key)
        place = f"{self.place}.{key}" if self.place else key
        return None if held is None else Value(self.path, place, held)

    def member(self, key: str, expected: str) -> Value:
        """Return a member that has to be there; `expected` says what it is."""
        found = self.get(key)
        if found is None:
            place = f"{self.place} " if self.place else ""
            raise DatasetError(self.path, f"{place}has no '{key}'", expected)
        return found

    def items(self, expected: str = "a list") -> list[Value]:
        """Return the values of a list."""
        held = self.held
        if not isinstance(held, list):
            raise self.wrong(expected)
        ones = cast("list[Any]", held)
        return [Value(self.path, f"{self.place}[{k}]", one) for k, one in enumerate(ones)]

    def text(self, expected: str = "a text") -> str:
        """Return a text."""
        if not isinstance(self.held, str):
            raise self.wrong(expected)
        return self.held

    def flag(self) -> bool:
        """Return whether something is so."""
        if not isinstance(self.held, bool):
            raise self.wrong("true or false")
        return self.held

    def number(self, expected: str = "a finite number") -> float:
        """Return a finite number."""
        if isinstance(self.held, bool) or not isinstance(self.held, (int, float)):
            raise self.wrong(expected)
        if not math.isfinite(self.held):
            raise self.wrong(expected)
        return float(self.held)

    def whole(self, least: int, most: int) -> int:
        """Return a whole number between two others, or equal to one."""
        expected = f"a whole number from {least} to {most}"
        number = self.number(expected)
        if not (number.is_integer() and least <= number <= most):
            raise self.wrong(expected)
        return int(number)

    def matrix(self, *shapes: tuple[int, int]) -> npt.NDArray[np.float64]:
        """Return rows of finite numbers, in one of some shapes."""
        expected = " or ".join(f"{rows} rows of {columns}" for rows, columns in shapes)
        expected += " finite numbers"
        rows = self.items(expected)
        sizes = {len(row.items(expected)) for row in rows}
        if not any(len(rows) == m and sizes == {n} for m, n in shapes):
            raise self.wrong(expected)
        return np.array([[one.number() for one in row.items()] for row in rows])


def read_json(path: Path) -> Value:
    """Return what a file of JSON holds.

    Raises:
        DatasetError: The file cannot be read, is no JSON, has a name twice in one object, or is
            larger or deeper than any file of cameras.
    """
    return parse_json(path, read_text(path, _SIZE))


def parse_json(path: Path, text: str) -> Value:
    """Return what a text holds that is from a file; see `read_json`."""
    try:
        held = json.loads(text, parse_int=_whole, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise DatasetError(
            path, f"is not JSON at line {error.lineno}, column {error.colno} ({error.msg})", "JSON"
        ) from None
    except _Twice as error:
        raise DatasetError(
            path, f"has {shown(error.args[0])} twice in one object", "each name once"
        ) from None
    except RecursionError:
        raise _too_deep(path) from None
    _check_depth(path, held)
    return Value(path, "", held)


def _check_depth(path: Path, held: Any) -> None:
    level = [held]
    for _ in range(_DEPTH):
        level = [one for group in level for one in _within(group)]
        if not level:
            return
    raise _too_deep(path)


def _within(held: Any) -> list[Any]:
    """Return what an object or a list holds; nothing for other values."""
    if isinstance(held, dict):
        return [*cast("dict[str, Any]", held).values()]
    return cast("list[Any]", held) if isinstance(held, list) else []


def _too_deep(path: Path) -> DatasetError:
    return DatasetError(path, f"has more than {_DEPTH} levels of brackets", "a file of cameras")


class _Twice(ValueError):
    """A name that an object has twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Twice(key)
        found[key] = value
    return found


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)
