"""Solvers over fields: differential equations."""
