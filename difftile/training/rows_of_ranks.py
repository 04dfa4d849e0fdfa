"""Rows that may be split among ranks, as rows of one process."""

from __future__ import annotations

import difftile as dt


def total_of(rows: dt.Rows) -> int:
    """Return the number of rows, of all ranks if they are split."""
    return rows.total if isinstance(rows, dt.distributed.SplitRows) else len(rows)


def stretch_of(rows: dt.Rows) -> tuple[int, int]:
    """Return the first row of this rank, and the end of its rows."""
    return rows.stretch if isinstance(rows, dt.distributed.SplitRows) else (0, len(rows))


def gathered(rows: dt.Rows, field: dt.Field) -> dt.Field:
    """Return the values of all rows, given values for each row of this rank."""
    return rows.gathered(field) if isinstance(rows, dt.distributed.SplitRows) else field
