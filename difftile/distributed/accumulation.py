"""The sum of halos at their owners: the transpose of an exchange.

A particle near a border adds to cells of the halo, which other ranks own. Launches take these cells
out of the halos into messages, which go to the owners and are added there. The adjoint of all this
is an exchange: the gradient of a cell at its owner is the gradient of each of its copies.
"""

from __future__ import annotations

from typing import Any

import difftile as dt
from difftile import ti


@dt.kernel
def take_out(messages: Any, column: int, cells: Any, field: Any) -> None:
    """Move cells, each of which occurs once, into a column of messages, and leave zeros there."""
    for k in cells:
        cell = dt.unique(cells[k])
        value = field[cell]
        messages[k, column] = value
        field[cell] = ti.zero(value)


@dt.kernel
def add_to(field: Any, cells: Any, messages: Any, column: int) -> None:
    """Add a column of messages to cells; one cell may take several."""
    for k in cells:
        field[cells[k]] += messages[k, column]
