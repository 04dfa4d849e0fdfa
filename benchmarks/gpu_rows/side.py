"""One that does the work of a row: what a clock needs to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

DIFFTILE = "difftile"
Arrays = Mapping[str, np.ndarray]


class Side(Protocol):
    """One that runs forward and backward, with all arguments on the device.

    Attributes:
        name: Of the library, and how it is used.
        in_one: Values and gradients come from one call, `backward`, without a `record` before it.
    """

    name: str
    in_one: bool

    def forward(self) -> object:
        """Compute the values."""
        ...

    def clear(self) -> object:
        """Prepare for `record`, before the clock starts."""
        ...

    def record(self) -> object:
        """Compute the values such that `backward` can follow."""
        ...

    def seed(self) -> object:
        """Prepare for `backward`, before the clock starts: write the gradients of the outputs."""
        ...

    def backward(self) -> object:
        """Compute the gradients of the inputs, and not add them to earlier ones."""
        ...

    def synchronize(self) -> object:
        """Wait for the device."""
        ...

    def results(self) -> tuple[Arrays, Arrays]:
        """Return the values and the gradients of the last run, by name."""
        ...


Makers = Mapping[str, Callable[[], Any]]  # by name: makes a `Side`, if its library is installed


def nothing() -> None:
    """Do nothing."""
