"""Taichi as a backend."""

from difftile.substrate.family.backend import backend_of
from difftile.substrate.taichi import (
    foreign_tape,  # noqa: F401 - replaces a method of Taichi's tape
    names,
)

BACKEND = backend_of(names)
