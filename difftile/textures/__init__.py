"""Textures: fields that are sampled between their elements."""

from difftile.textures.texture import Texture

__all__ = ["Texture"]
