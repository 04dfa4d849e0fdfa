"""Quadrants as a backend."""

from typing import NoReturn

from difftile.substrate.family.backend import backend_of
from difftile.substrate.taichi import names


def _no_window(*_: object) -> NoReturn:
    raise RuntimeError("Quadrants has no windows")


BACKEND = backend_of(names, _no_window)
