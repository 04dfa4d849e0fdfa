"""Whether a kernel or func is a method: Taichi's question, answered without a search.

Taichi asks of each function that it decorates, and looks for the line that the frame around its
definition is at, `class ...` for a method. Where that frame has no file, as when a module is
imported, `inspect` goes through all modules that there are: a sixth of the time in which the
library started.

The body of a class defines `__qualname__`, and no other code does. Only there is Taichi asked.
"""

from __future__ import annotations

import sys

from taichi.lang import kernel_impl

_taichis_inside_class = kernel_impl._inside_class


def _inside_class(level_of_class_stackframe: int) -> bool:
    """Tell whether a kernel or func is a method.

    Args:
        level_of_class_stackframe: The frame that encloses the definition, counted from here.
    """
    definition = sys._getframe(level_of_class_stackframe - 1)
    return "__qualname__" in definition.f_locals and _taichis_inside_class(
        level_of_class_stackframe + 1
    )


kernel_impl._inside_class = _inside_class
