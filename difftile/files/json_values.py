"""JSON values that know their position: `frames[3].transform_matrix`."""

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

_SIZE = 2**26  # bytes of a file, which take twenty times as many in Python
_DEPTH = 32  # levels of nested objects and lists
_DIGITS = 20  # of an integer; longer ones are floats


@final
@dataclass(frozen=True, slots=True)
class Value:
    """A value in a file.

    Args:
        path: The file.
        place: The position in the file; "" for the whole file.
        held: The value as parsed by `json`.
    """

    path: Path
    place: str
    held: Any

    def wrong(self, expected: str, hint: str | None = None) -> DatasetError:
        """Return an error with the actual and the expected value."""
        place = f"{self.place} " if self.place else ""
        return DatasetError(self.path, f"{place}is {shown(self.held)}", expected, hint=hint)

    def members(self) -> Mapping[str, Any]:
        """Return the members of an object."""
        held = self.held
        if not isinstance(held, dict):
            raise self.wrong("an object: names with values")
        return cast("Mapping[str, Any]", held)

    def get(self, key: str) -> Value | None:
        """Return a member, or None if it is missing or null."""
        held = self.members().get(key)
        place = f"{self.place}.{key}" if self.place else key
        return None if held is None else Value(self.path, place, held)

    def member(self, key: str, expected: str) -> Value:
        """Return a required member; `expected` describes it."""
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
        """Return a truth value."""
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
        """Return an integer in a closed interval."""
        expected = f"a whole number from {least} to {most}"
        number = self.number(expected)
        if not (number.is_integer() and least <= number <= most):
            raise self.wrong(expected)
        return int(number)

    def matrix(self, *shapes: tuple[int, int]) -> npt.NDArray[np.float64]:
        """Return a matrix of finite numbers, of one of the given shapes."""
        expected = " or ".join(f"{rows} rows of {columns}" for rows, columns in shapes)
        expected += " finite numbers"
        rows = self.items(expected)
        sizes = {len(row.items(expected)) for row in rows}
        if not any(len(rows) == m and sizes == {n} for m, n in shapes):
            raise self.wrong(expected)
        return np.array([[one.number() for one in row.items()] for row in rows])


def read_json(path: Path) -> Value:
    """Return the contents of a JSON file.

    Raises:
        DatasetError: The file cannot be read, is not JSON, has a name twice in one object, or is
            larger or deeper than any file of cameras.
    """
    return parse_json(path, read_text(path, _SIZE))


def parse_json(path: Path, text: str) -> Value:
    """Return the value of a text from a file; see `read_json`."""
    held: Any = None
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
        deep = True
    else:
        level: list[Any] = [held]
        for _ in range(_DEPTH):
            objects = [cast("dict[str, Any]", one) for one in level if isinstance(one, dict)]
            lists = [cast("list[Any]", one) for one in level if isinstance(one, list)]
            level = [one for group in (*(o.values() for o in objects), *lists) for one in group]
        deep = bool(level)
    if deep:
        found = f"has more than {_DEPTH} levels of brackets"
        raise DatasetError(path, found, "a file of cameras")
    return Value(path, "", held)


class _Twice(ValueError):
    """An object has a name twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _Twice(key)
        found[key] = value
    return found


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _DIGITS else float(digits)
