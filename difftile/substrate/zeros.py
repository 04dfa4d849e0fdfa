"""Which arguments of a launch hold zeros, so that the code may store less or add nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import prod
from typing import Any, NamedTuple

from difftile.ir.nodes import Accumulate, Array, Program, Var
from difftile.ir.walk import walk
from difftile.substrate.memory import Buffer
from difftile.substrate.whole import NO_PARTS, Parts, WholeWrites, size_of

# Storing instead of adding pays where memory is the bottleneck; below, one variant is enough.
_FRESH_BYTES = 1 << 20


class Zeros(NamedTuple):
    """The arguments of a launch that have memory of their own and zeros in all of it.

    Args:
        before: Those with zeros before the launch, into which additions may be stores.
        after: Those with zeros after it, which the program need not store.
    """

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


NO_ZEROS = Zeros()


class ZerosOf:
    """Finds the zeros of launches of a program.

    Args:
        program: A finished program.
        params: The parameters of a launch.
        on_host: Memory is of the host.
        adds: Additions may be stores.
    """

    def __init__(
        self, program: Program, params: Sequence[Array | Var], *, on_host: bool, adds: bool
    ) -> None:
        every = [s for s in walk(program.body) if isinstance(s, Accumulate)] if adds else []
        stored = {s.array for s in every if s.single_write}
        self.on_host = on_host
        self._adds = adds
        self._stored = [k for k, param in enumerate(params) if param in stored]
        self._whole = WholeWrites(program, params)
        # Memory of the host is filled at once, which takes as long as to write it here.
        self._cleared = {} if on_host else self._whole.cleared
        self._positions = (*self._stored, *self._cleared)

    def __bool__(self) -> bool:
        return bool(self._positions)

    def matter(self, args: Sequence[Any]) -> bool:
        """Tell whether there are arguments whose zeros matter."""
        return bool(self._large(self._positions, args))

    def __call__(self, args: Sequence[Any]) -> tuple[Zeros, Parts]:
        """Return the arguments with zeros in them, and the parts that the launch overwrites."""
        before = [k for k in self._large(self._stored, args) if args[k].zeros]
        after = self._large(self._cleared, args)
        parts = NO_PARTS
        if not self.on_host and (before or after):
            parts = self._whole.of(args)
            # A fill that waits takes as long as the stores where somebody does look.
            after = [k for k in after if 2 * size_of(parts.cleared.get(k)) >= prod(args[k].shape)]
        if not (before or after):
            return NO_ZEROS, NO_PARTS
        memory = [arg.contents for arg in args if isinstance(arg, Buffer)]
        alone = {k for k in (*before, *after) if memory.count(args[k].contents) == 1}
        zeros = Zeros(
            tuple([k for k in before if k in alone]), tuple([k for k in after if k in alone])
        )
        return zeros, parts

    def known(self, args: Sequence[Any], fresh: Collection[int], spent: Collection[int]) -> Zeros:
        """Return the zeros of all launches on some shapes, in memory that no two arguments share.

        Args:
            args: Buffers of these shapes, and any numbers.
            fresh: The positions of arguments that hold zeros before, or that may hold anything if
                they are in the result.
            spent: The positions of arguments that may hold anything afterwards.
        """
        if not self._adds:
            return NO_ZEROS
        whole = self._whole
        added = whole.of(args).added if whole.follows_from_shapes else frozenset[int]()
        before = sorted(added.intersection(fresh, self._stored))
        return Zeros(tuple(before), tuple(sorted(whole.cleared.keys() & spent)))

    def written_without(self, cleared: Collection[int]) -> frozenset[int]:
        """Return the positions of the arguments that the program writes but for last clears."""
        return self._whole.written_without(cleared)

    def _large(self, positions: Iterable[int], args: Sequence[Any]) -> list[int]:
        """Return which arguments are so large that it matters that they hold zeros.

        On devices, where each fill is a call besides, one that is large counts for all.
        """
        found = [k for k in positions if args[k].nbytes >= _FRESH_BYTES]
        return found if self.on_host or not found else [*positions]
