"""Launches that were called and have not run yet: code that looks at memory runs them first."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Protocol

from difftile.diagnostics import FieldError
from difftile.fields.any_field import AnyField

_HOT = {True: 1000, False: inf, "always": 0}


class WholeFieldWrites(Protocol):
    """Writes from Python of whole fields, as launches."""

    def fill(self, target: AnyField, value: object) -> bool:
        """Set every element to one value; return False where that is to be no launch."""
        ...

    def copy(self, target: AnyField, source: AnyField) -> bool:
        """Copy a field that fits; return False where that is to be no launch."""
        ...


class PendingLaunches:
    """The launches of the process that are pending.

    Attributes:
        run: Runs all of them; None while there are none.
        hot: The calls of a kernel from which on its launches may wait for others.
        loop: The loop of which all launches wait, and how it writes whole fields; None outside.
    """

    __slots__ = ("hot", "loop", "run")

    def __init__(self) -> None:
        self.run: Callable[[], None] | None = None
        self.hot: float = _HOT[True]
        self.loop: WholeFieldWrites | None = None

    @property
    def is_off(self) -> bool:
        """Whether launches never run together."""
        return self.hot == inf


PENDING = PendingLaunches()


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
