"""Rendering: cameras, splats, losses over images."""

from difftile.render.splats2d import AlphaSplats, sum_splats, sum_splats_plain
from difftile.render.tiles import TileLists

__all__ = ["AlphaSplats", "TileLists", "sum_splats", "sum_splats_plain"]
