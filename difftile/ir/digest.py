"""A digest of programs, the same in every process and different where anything of them differs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np

from difftile.ir.nodes import Array, Var

_PLAIN = (str, int, float, bool, type(None), bytes, np.generic, np.dtype)


class NoDigest(Exception):
    """A value is not of a type that programs consist of."""


def digest(values: Iterable[object]) -> str:
    """Return a digest of programs, and of what is computed from them.

    Variables and arrays, which are told apart by identity, count by the order in which they come.

    Raises:
        NoDigest: A value has no digest.
    """
    numbers: dict[int, int] = {}
    texts: list[str] = []
    for value in values:
        _write(value, numbers, texts.append)
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def _write(value: Any, numbers: dict[int, int], write: Any) -> None:
    kind: Any = type(value)
    if kind is Var or kind is Array:
        known = numbers.get(id(value))
        if known is not None:
            write(f"#{known}")
            return
        numbers[id(value)] = len(numbers)
    if kind is tuple or kind is list:
        write(f"({len(value)}")
        for one in value:
            _write(one, numbers, write)
    elif kind in _PLAIN or isinstance(value, (np.generic, np.dtype)):
        write(f"{kind.__name__} {value!r}")
    elif is_dataclass(kind):
        write(kind.__name__)
        for one in parts_of(kind)(value):
            _write(one, numbers, write)
    else:
        raise NoDigest(kind.__name__)


@cache
def parts_of(kind: Any) -> Any:
    """Return a function that returns the arguments that a dataclass was made of, in their order."""
    names = [one.name for one in fields(kind) if one.init]
    found = attrgetter(*names) if names else None

    def parts(value: object) -> tuple[object, ...]:
        return () if found is None else (found(value),)

    return found if len(names) > 1 else parts
