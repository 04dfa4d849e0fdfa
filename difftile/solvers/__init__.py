"""Solvers over fields: differential equations, fixed points, roots, linear systems, minima."""
