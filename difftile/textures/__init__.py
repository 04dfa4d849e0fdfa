"""Textures: fields that are sampled between their elements.

A `Texture` is an object of funcs. One lookup (`lookup.py`) has rules for both directions, which
serve every filter, every wrap and any number of axes: a filter states which taps a position has
along an axis and their weights, its `fwd_diff` gives the slopes, and a wrap states which texel an
index refers to. Levels are one field derived from the data (`DerivedField`), so that a level may be
computed at run time and gradients pass down the levels. Cube maps (`cube.py`) have a lookup of
their own.
"""

from difftile.textures.texture import Texture

__all__ = ["Texture"]
