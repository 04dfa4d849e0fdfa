"""Functions of the language in pickles: by name, as Python's own functions are."""

from __future__ import annotations

import functools
import sys
from types import FunctionType

from difftile.diagnostics import LaunchError

_MISSING = object()


class ByName:
    """Something made of a Python function, in whose place it stands in a module or class.

    Pickles have the name of that function, and copies are the object itself.
    """

    def __reduce__(self) -> str:
        function: FunctionType = vars(self)["function"]
        module, name = function.__module__, function.__qualname__
        found = functools.reduce(
            lambda owner, part: getattr(owner, part, _MISSING),
            name.split("."),
            sys.modules.get(module, _MISSING),
        )
        if found is not self:
            raise LaunchError(
                f"{self!r} is pickled by its name, and '{module}.{name}' is not the name of it. "
                "Define it with 'def' at the top of a module, and keep it under that name."
            )
        return name

    def __copy__(self) -> object:
        return self

    def __deepcopy__(self, memo: object) -> object:
        return self
