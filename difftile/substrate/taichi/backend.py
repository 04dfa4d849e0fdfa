"""Taichi as a backend."""

from difftile.substrate.family.backend import backend_of


def _no_graphs() -> None:
    """Taichi launches on the null stream, of which the driver makes no graphs."""


BACKEND = backend_of(_no_graphs, unrolls=True)  # LLVM 15
