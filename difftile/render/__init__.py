"""Rendering: cameras, splats, losses over images."""
