"""Solvers over fields: differential equations, fixed points, roots, linear systems, minima.

An implicit solver (`implicit.py`) is an opaque step that keeps a `Pullback` at its solution. Its
reverse solves one linear system of products with that (`krylov.py`) and pulls the result back to
the parameters. Forward mode pushes the tangents of the parameters to the function's result, and
solves the system untransposed. Each further derivative solves the system once more for each tangent
of the adjoint.
"""
