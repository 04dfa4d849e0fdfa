"""Whether a kernel or func is a method: the compiler's question, answered without a search.

The compiler asks of each function that it decorates, and looks for the line that the frame around
its definition is at, `class ...` for a method. Where that frame has no file, as when a module is
imported, `inspect` goes through all modules that there are: a sixth of the time in which the
library started on Taichi, a third on Quadrants, whose own import decorates some hundred functions.

The body of a class defines `__qualname__`, and no other code does. Only there is a search made.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any


def answered_quickly(kernel_impl: Any) -> None:
    """Let a loaded compiler, whose module of decorators this is, answer without a search."""
    search: Callable[[int], bool] = kernel_impl._inside_class

    def inside_class(level_of_class_stackframe: int) -> bool:
        """Tell whether a kernel or func is a method.

        Args:
            level_of_class_stackframe: The frame that encloses the definition, counted from here.
        """
        definition = sys._getframe(level_of_class_stackframe - 1)
        return "__qualname__" in definition.f_locals and search(level_of_class_stackframe + 1)

    kernel_impl._inside_class = inside_class


@contextmanager
def imported_quickly() -> Generator[None]:
    """While this is open, frames of Python's own import are described without a search.

    Their lines are not found by one either; frames of other code are described as ever.
    """
    search = inspect.getframeinfo

    def described(frame: Any, context: int = 1) -> Any:
        if isinstance(frame, FrameType) and frame.f_code.co_filename.startswith("<frozen "):
            return inspect.Traceback(
                frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, None, None
            )
        return search(frame, context)

    inspect.getframeinfo = described
    try:
        yield
    finally:
        inspect.getframeinfo = search
