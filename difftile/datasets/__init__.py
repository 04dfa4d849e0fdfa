"""Scenes as files: splats, cameras, images."""
