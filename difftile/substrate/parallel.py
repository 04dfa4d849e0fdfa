"""How parallel loops are opened: as they are, several axes flattened, or one of many parts.

Each function returns lines; one that ends with a colon has all that follows inside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from difftile.ir.nodes import Var
from difftile.ir.printer import Names

_FEWEST = 512  # iterations that Taichi gives a thread on the CPU
_PARTS_A_THREAD = 4  # a thread that is done, or wakes before others, takes the next part

SHORT = 2**28
"""Where a loop is to end so that the numbers of its elements, up to 8 each, have 31 bits."""


def parts_of_loops(threads: int) -> int:
    """Return the number of parts that a parallel loop is cut into for so many threads."""
    return _PARTS_A_THREAD * threads


@dataclass(frozen=True, slots=True)
class Range:
    """The iterations of a loop along one axis, as text.

    Args:
        start: The first index, as a term of a sum.
        stop: The index after the last.
        length: Their number, as a factor of a product; may be negative if there are none.
    """

    start: str
    stop: str
    length: str

    def opened(self, index: str) -> str:
        """Return the line that opens a loop over all of them."""
        bounds = self.stop if self.start == "0" else f"{self.start}, {self.stop}"
        return f"for {index} in range({bounds}):"


@dataclass(frozen=True, slots=True)
class Part:
    """One of the parts that a parallel loop is cut into.

    Args:
        counter: The name of the variable that counts the parts, in steps of 512.
        threads: The number of threads.
        short: The loop ends below `SHORT`.
    """

    counter: str
    threads: int
    short: bool = False

    @property
    def parts(self) -> int:
        """The number of parts."""
        return parts_of_loops(self.threads)

    def opened(self) -> list[str]:
        """Open a loop over the parts, of which Taichi gives each 512 iterations or more."""
        return [
            f"for {self.counter} in range({_FEWEST * self.parts}):",
            f"if {self.counter} % {_FEWEST} == 0:",
        ]


def open_nest(indices: Sequence[str], axes: Sequence[Range], *, serial: bool) -> list[str]:
    """Open a loop for each axis, of which the first runs in parallel.

    Args:
        indices: The names of the loops' indices.
        axes: The iterations along each axis, the last one fastest.
        serial: Run the whole nest on one thread.
    """
    config = ["ti.loop_config(serialize=True)"] if serial else []
    return [*config, *(axis.opened(index) for index, axis in zip(indices, axes, strict=True))]


def open_part(names: Names, indices: Sequence[str], axes: Sequence[Range], part: Part) -> list[str]:
    """Open a loop for each axis over its iterations in one part.

    The first axis is cut into as many pieces as it has iterations, or as there are parts; what
    few rows leave cuts the next axis, and the last one. Pieces differ by one iteration at most.

    Args:
        names: Gives names to the variables that are needed.
        indices: The names of the loops' indices.
        axes: The iterations along each axis, the last one fastest.
        part: The part.
    """
    lines: list[str] = []

    def let(name: str, text: str) -> str:
        lines.append(f"{(new := names.new(name))} = {text}")
        return new

    lengths = [
        axis.length if axis.length.isdecimal() else let(f"n_{index}", axis.length)
        for index, axis in zip(indices, axes, strict=True)
    ]
    counts: list[str] = []
    left = str(part.parts)
    for index, length in zip(indices[:-1], lengths[:-1], strict=True):
        counts.append(let(f"pieces_{index}", f"ti.max(ti.min({length}, {left}), 1)"))
        left = let("left", f"{left} // {counts[-1]}")
    counts.append(left)
    place = f"{part.counter} // {_FEWEST}"
    pieces: list[str] = []
    for count in reversed(counts[1:]):
        place = let("place", place)
        pieces.append(f"{place} % {count}")
        place = f"{place} // {count}"
    pieces.append(place)
    loops: list[str] = []
    for index, axis, length, count, text in zip(
        indices, axes, lengths, counts, reversed(pieces), strict=True
    ):
        piece = let("piece", text)
        ends = [piece, f"({piece} + 1)"]
        if count is not left:
            # Parts beyond the last piece are empty.
            ends = [f"ti.min({end}, {count})" for end in ends]
        low, high = (
            f"ti.cast(ti.cast({length}, ti.i64) * {end} // {count}, ti.i32)" for end in ends
        )
        if axis.start != "0":
            # The maximum tells LLVM that an index less a literal does not overflow.
            low = f"ti.max({axis.start} + {low}, {axis.start})"
            high = f"{axis.start} + {high}"
        else:
            low = f"ti.max({low}, 0)"
        if part.short:
            # LLVM sees that the numbers of a vector's elements do not overflow.
            low = f"ti.min({low}, {SHORT - 1})"
        loops.append(Range(let("low", low), let("high", high), "").opened(index))
    return [*lines, *loops]


def open_flat(
    names: Names,
    flat: str,
    indices: Sequence[Var],
    axes: Sequence[Range],
) -> tuple[list[str], list[str]]:
    """Open one loop over several axes, and recover their indices.

    Args:
        names: Has the names of the indices, and gives others to the variables that are needed.
        flat: The name of the loop's own index.
        indices: The index of each axis.
        axes: The iterations along each axis, the last one fastest.

    Returns:
        The lines, and the sizes of the axes.
    """
    lines: list[str] = []
    sizes: list[str] = []
    for index, axis in zip(indices, axes, strict=True):
        sizes.append(names.new(f"n_{index.name}"))
        # Two empty axes would make a product above zero.
        is_shape = ".shape[" in axis.length and axis.length.endswith("]")
        if axis.length.isdecimal():
            sizes[-1] = axis.length
            continue
        lines.append(f"{sizes[-1]} = {axis.length if is_shape else f'ti.max({axis.length}, 0)'}")
    whole = " * ".join(sizes)
    lines.append(Range("0", whole, whole).opened(flat))
    for k, (index, axis, size) in enumerate(zip(indices, axes, sizes, strict=True)):
        inner = sizes[k + 1 :]
        text = f"{flat} // ({' * '.join(inner)})" if inner else flat
        if k > 0:
            text = f"({text}) % {size}" if inner else f"{text} % {size}"
        if axis.start != "0":
            text = f"{text} + {axis.start}"
        lines.append(f"{names[index]} = {text}")
    return lines, sizes


def lane_in_range(index: str, over: Range) -> str:
    """Return the text of a thread's lane in a loop over one axis; see `warps.lane`."""
    position = index if over.start == "0" else f"{index} - {over.start}"
    return f"warps.lane({position}, {over.length}, {over.length})"


def lane_in_box(flat: str, sizes: Sequence[str]) -> str:
    """Return the text of a thread's lane in a loop over several axes, whose last one is a row."""
    return f"warps.lane({flat}, {sizes[-1]}, {' * '.join(sizes)})"
