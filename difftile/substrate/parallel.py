"""How parallel loops are opened: one axis or several flattened, as a whole or in parts of threads.

Each function returns lines; one that ends with a colon has all that follows inside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from difftile.ir.nodes import Var
from difftile.ir.printer import Names

_FEWEST = 512  # iterations that Taichi gives a thread on the CPU


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


@dataclass(frozen=True, slots=True)
class Part:
    """One thread's part of a loop.

    Args:
        counter: The name of the variable that counts the parts, in steps of 512.
        threads: The number of threads.
    """

    counter: str
    threads: int

    def opened(self) -> list[str]:
        """Open a loop over the threads, of which Taichi gives each 512 iterations or more."""
        return [
            f"for {self.counter} in range({_FEWEST * self.threads}):",
            f"if {self.counter} % {_FEWEST} == 0:",
        ]


def open_range(
    names: Names, index: str, over: Range, *, part: Part | None, serial: bool
) -> list[str]:
    """Open the loop that runs in parallel, or a thread's part of it.

    Args:
        names: Gives names to the variables that are needed.
        index: The name of the loop's index.
        over: The iterations.
        part: The part to run; none for the whole loop.
        serial: Run the whole loop on one thread.
    """
    zero = over.start == "0"
    if part is None:
        bounds = over.stop if zero else f"{over.start}, {over.stop}"
        config = ["ti.loop_config(serialize=True)"] if serial else []
        return [*config, f"for {index} in range({bounds}):"]
    size, low = names.new("size"), names.new("low")
    before = f"{part.counter} // {_FEWEST} * {size}"
    return [
        f"{size} = ({over.length} + {part.threads - 1}) // {part.threads}",
        f"{low} = {before if zero else f'{over.start} + {before}'}",
        f"for {index} in range({low}, ti.min({low} + {size}, {over.stop})):",
    ]


def open_flat(
    names: Names,
    flat: str,
    indices: Sequence[Var],
    axes: Sequence[Range],
    *,
    part: Part | None,
    serial: bool,
) -> tuple[list[str], list[str]]:
    """Open one loop over several axes, and recover their indices.

    Args:
        names: Has the names of the indices, and gives others to the variables that are needed.
        flat: The name of the loop's own index.
        indices: The index of each axis.
        axes: The iterations along each axis, the last one fastest.
        part: The part to run; none for the whole loop.
        serial: Run the whole loop on one thread.

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
    lines += open_range(names, flat, Range("0", whole, whole), part=part, serial=serial)
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
