"""Quadrants as a backend."""

from difftile.substrate.family.backend import backend_of
from difftile.substrate.quadrants.graphs import graphs_of_session
from difftile.substrate.taichi import names

BACKEND = backend_of(names, graphs_of_session)
