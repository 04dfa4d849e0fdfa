"""Functions that are defined again, as cells of notebooks are run again."""

from __future__ import annotations

from typing import Any

from difftile.diagnostics import cell_of


def redefines(new: Any, old: Any) -> bool:
    """Tell whether a function is a later version of another one, which it replaces.

    True if both come from the same lines, or from two versions of cells. Two rules in one file are
    a mistake; a rule in a cell that was edited and run again is not.
    """
    one, other = new.__code__, old.__code__
    if one.co_filename == other.co_filename:
        return (one.co_firstlineno, one.co_name) == (other.co_firstlineno, other.co_name)
    return cell_of(one.co_filename) is not None and cell_of(other.co_filename) is not None
