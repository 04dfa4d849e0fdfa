"""Launches that were called and have not run yet: whoever looks at memory runs them first."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from difftile.diagnostics import FieldError

_HOT = {True: 1000, False: inf, "always": 0}


class Pending:
    """The launches of the process that are pending.

    Attributes:
        run: Runs all of them; None while there are none.
        hot: The calls of a launch from which on it may wait for others.
    """

    __slots__ = ("hot", "run")

    def __init__(self) -> None:
        self.run: Callable[[], None] | None = None
        self.hot: float = _HOT[True]

    @property
    def is_off(self) -> bool:
        """Whether launches never run together."""
        return self.hot == inf


PENDING = Pending()


def run_pending() -> None:
    """Run the launches that are pending."""
    run = PENDING.run  # once: another thread may be done with them at any moment
    if run is not None:
        run()


def set_fusing(fuse: bool | str) -> None:
    """Say which launches may run together.

    Args:
        fuse: True for repetitions where that pays, "always" for all repetitions, False for none.

    Raises:
        FieldError: It is something else.
    """
    check_fusing(fuse)
    run_pending()
    PENDING.hot = _HOT[fuse]


def check_fusing(fuse: bool | str) -> None:
    """Check the argument of a later `set_fusing`.

    Raises:
        FieldError: It is none of the three.
    """
    if not isinstance(fuse, (bool, str)) or fuse not in _HOT:
        raise FieldError(f"fuse is True, False or 'always', not {fuse!r}.")
