"""The part of each field that a stage may write, or read, as far as its indices tell."""

from __future__ import annotations

from collections.abc import Mapping

from difftile.ir.nodes import Array, For, Load, ParallelFor, Program, Var
from difftile.ir.walk import array_of, operands, walk
from difftile.passes.affine import Affine, Place, affine, definitions_of
from difftile.passes.intervals import Ends, Interval
from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Extents:
    """The writes of a stage, or its reads.

    Args:
        writes: For each field that is written, or read, the index of every access, one form a
            dimension.
        ranges: The first value of each loop index, and that after the last.
    """

    writes: Mapping[Array, tuple[Place, ...]]
    ranges: Mapping[Var, tuple[Affine[Var], Affine[Var]]]

    def box(
        self, array: Array, shape: tuple[int, ...], known: Mapping[Var, int]
    ) -> tuple[Interval, ...] | None:
        """Return the first and last index along each dimension that may be accessed.

        Args:
            array: The field.
            shape: Its shape.
            known: Numbers passed to the launch, and sizes of fields.

        Returns:
            The box, empty (last below first) along some dimension where nothing is accessed; None
            if an index depends on more than loops and known numbers.
        """
        low, high = list(shape), [-1] * len(shape)
        for index in self.writes[array]:
            for axis, form in enumerate(index[: len(shape)]):
                least, most = self._ends(form, known)
                if least is None or most is None:
                    return None
                low[axis] = min(low[axis], max(0, least))
                high[axis] = max(high[axis], min(shape[axis] - 1, most))
        return tuple(zip(low, high, strict=True))

    def _ends(self, form: Affine[Var], known: Mapping[Var, int]) -> Ends:
        """Return the least and the greatest value of a form."""

        def of(v: Var) -> Ends:
            if v in known:
                return known[v], known[v]
            if v not in self.ranges:
                return None, None
            (least, _), (_, stop) = (self._ends(bound, known) for bound in self.ranges[v])
            if least is None or stop is None:
                return None, None
            return least, max(stop - 1, least)

        return form.ends(of)


def extents(program: Program, *, reads: bool = False) -> Extents:
    """Return where a stage writes, or where it reads."""
    defs = definitions_of(program.body)
    writes: dict[Array, list[Place]] = {}
    ranges: dict[Var, tuple[Affine[Var], Affine[Var]]] = {}
    for stmt in walk(program.body):
        match stmt:
            case Load() if not reads:
                pass
            case For(index=index, start=start, stop=stop):
                ranges[index] = (affine(start, defs), affine(stop, defs))
            case ParallelFor(indices=indices, starts=starts, stops=stops):
                for index, start, stop in zip(indices, starts, stops, strict=True):
                    ranges[index] = (affine(start, defs), affine(stop, defs))
            case _:
                array = array_of(stmt)
                # Whatever else there is, it writes.
                if array is not None and (not reads or isinstance(stmt, Load)):
                    forms = tuple(affine(i, defs) for i in operands(stmt)[: array.type.ndim])
                    writes.setdefault(array, []).append(forms)
    return Extents({a: tuple(found) for a, found in writes.items()}, ranges)
