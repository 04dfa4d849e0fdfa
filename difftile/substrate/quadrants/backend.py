"""Quadrants as a backend."""

from difftile.substrate.family.backend import backend_of
from difftile.substrate.quadrants.graphs import graphs_of_session

BACKEND = backend_of(graphs_of_session, unrolls=False)  # LLVM 22
