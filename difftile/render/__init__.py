"""Rendering: cameras, splats, losses over images."""

from difftile.render.tiles import TileLists

__all__ = ["TileLists"]
