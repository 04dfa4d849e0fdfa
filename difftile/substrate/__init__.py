"""The only package that knows Taichi: its names, memory, generated source and launches."""
