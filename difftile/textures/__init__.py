"""Textures: fields that are sampled between their elements."""
