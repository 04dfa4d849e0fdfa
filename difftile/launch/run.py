"""A run: the launches of one period, many times in a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy.typing as npt

from difftile.compile.arguments import Arguments
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.records import dataclass

Varying: TypeAlias = Mapping[tuple[int, int], npt.NDArray[Any]]
"""Numbers that change from period to period: (launch, position among its values) -> (count,)."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Launches of one period, which follow each other, and how often the period is repeated.

    Args:
        launches: The launches of one period, each bound to its fields.
        values: The arguments of each in the first period.
        count: The number of periods.
        varying: The numbers that change from period to period: floats, or integers, as their
            parameters are.
    """

    launches: tuple[PreparedLaunch, ...]
    values: tuple[Arguments, ...]
    count: int
    varying: Varying

    def values_at(self, j: int, t: int) -> Arguments:
        """Return the arguments of launch `j` in period `t`."""
        values = self.values[j].copy()
        for (launch, position), numbers in self.varying.items():
            if launch == j:
                values[position] = numbers[t].item()
        return values

    def part(self, first: int, count: int) -> Run:
        """Return the `count` periods from period `first` on."""
        values = tuple(self.values_at(j, first) for j in range(len(self.launches)))
        end = first + count
        varying = {place: numbers[first:end] for place, numbers in self.varying.items()}
        return Run(self.launches, values, count, varying)
