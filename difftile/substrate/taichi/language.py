"""The namespace of the kernel language, for the packages of the library that are written in it."""

import taichi as ti

__all__ = ["ti"]
