"""How parallel loops are opened: as they are, in strides of a device's threads, or in many parts.

Each function returns lines; one that ends with a colon has all that follows inside it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod

from difftile.ir.nodes import Var
from difftile.ir.printer import Names
from difftile.records import dataclass
from difftile.schedule.grids import Grid
from difftile.schedule.target import SHORT, parts_of_loops

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

    def opened(self, index: str) -> str:
        """Return the line that opens a loop over all of them."""
        bounds = self.stop if self.start == "0" else f"{self.start}, {self.stop}"
        return f"for {index} in range({bounds}):"

    def stepped(self, index: str) -> list[str]:
        """Return the lines that open a loop over all of them whose iterations end with a step."""
        return [f"{index} = {self.start}", f"while {index} < {self.stop}:"]


@dataclass(frozen=True, slots=True)
class LoopPart:
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


def open_nest(
    indices: Sequence[str], axes: Sequence[Range], *, serial: bool, stepped: Collection[str] = ()
) -> list[str]:
    """Open a loop for each axis, of which the first runs in parallel.

    Args:
        indices: The names of the loops' indices.
        axes: The iterations along each axis, the last one fastest.
        serial: Run the whole nest on one thread.
        stepped: The indices of the loops whose iterations end with a step.
    """
    lines = [line for pair in zip(indices, axes, strict=True) for line in _open(*pair, stepped)]
    serializes = serial and indices[0] not in stepped
    return ["ti.loop_config(serialize=True)", *lines] if serializes else lines


def _open(index: str, axis: Range, stepped: Collection[str]) -> list[str]:
    return axis.stepped(index) if index in stepped else [axis.opened(index)]


def open_part(
    names: Names,
    indices: Sequence[str],
    axes: Sequence[Range],
    part: LoopPart,
    stepped: Collection[str] = (),
) -> list[str]:
    """Open a loop for each axis over its iterations in one part.

    The first axis is cut into as many pieces as it has iterations, or as there are parts; where
    few rows leave parts over, the next axis is cut, and then the last. Pieces differ by one
    iteration at most.

    Args:
        names: Gives names to the variables that are needed.
        indices: The names of the loops' indices.
        axes: The iterations along each axis, the last one fastest.
        part: The part.
        stepped: The indices of the loops whose iterations end with a step.
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
        loops += _open(index, Range(let("low", low), let("high", high), ""), stepped)
    return [*lines, *loops]


def open_grid(grid: Grid, thread: str) -> list[str]:
    """Open a loop over the threads of a device."""
    config = [f"ti.loop_config(block_dim={grid.block})"] if grid.block else []
    return [*config, Range("0", str(grid.threads), "").opened(thread)]


@dataclass(frozen=True, slots=True)
class Strides:
    """The iterations of one thread, as lines of text.

    Args:
        opened: Open a loop over them, and recover the index of each axis.
        onward: End an iteration: move the indices on to the next one.
        place: The position along the last axis, from 0.
        row: The length of the last axis.
    """

    opened: list[str]
    onward: list[str]
    place: str
    row: str


def open_strides(
    names: Names, worker: str, workers: int, indices: Sequence[Var], axes: Sequence[Range]
) -> Strides:
    """Open the iterations of one of a number of workers, which take turns: each takes every n-th.

    Indices are divided once. From then on, each moves by the stride along its axis, and wraps
    with a carry to the axis before.

    Args:
        names: Has the names of the indices, and gives others to the variables that are needed.
        worker: The number of the worker: a thread, or threads that run an iteration together.
        workers: How many there are.
        indices: The index of each axis.
        axes: The iterations along each axis, the last one fastest.
    """
    lines: list[str] = []

    def let(name: str, text: str) -> str:
        lines.append(f"{(new := names.new(name))} = {text}")
        return new

    sizes: list[str] = []
    for index, axis in zip(indices, axes, strict=True):
        # Two empty axes would make a product above zero.
        is_shape = ".shape[" in axis.length and axis.length.endswith("]")
        text = axis.length if is_shape or len(axes) == 1 else f"ti.max({axis.length}, 0)"
        sizes.append(axis.length if axis.length.isdecimal() else let(f"n_{index.name}", text))
    # The last iteration, and not their number, since that may be the largest integer.
    steps = let("steps", f"({' * '.join(sizes)} - 1 - {worker}) // {workers} + 1")
    step = names.new("step")
    if len(axes) == 1:
        (index,), (axis,), (size,) = indices, axes, sizes
        place = f"{worker} + {step} * {workers}"
        text = place if axis.start == "0" else f"{axis.start} + {place}"
        opened = [*lines, Range("0", steps, "").opened(step), f"{names[index]} = {text}"]
        return Strides(opened, [], place, size)
    # Sizes that are divided by do not belong to an empty loop.
    lines.append(f"if {steps} > 0:")
    places = [
        names[index] if axis.start == "0" else names.new(f"{index.name}_place")
        for index, axis in zip(indices, axes, strict=True)
    ]
    strides: list[str] = []
    left, stride = worker, str(workers)
    for k in range(len(axes) - 1, 0, -1):
        lines.append(f"{places[k]} = {left} % {sizes[k]}")
        # A stride less a row is never positive, so that sums stay in 32 bits.
        strides.append(let(f"{indices[k].name}_stride", f"{stride} % {sizes[k]} - {sizes[k]}"))
        left, stride = f"{left} // {sizes[k]}", f"{stride} // {sizes[k]}"
        if k > 1:
            left, stride = let("left", left), let("stride", stride)
    lines.append(f"{places[0]} = {left}")
    strides.append(let(f"{indices[0].name}_stride", stride))
    lines.append(Range("0", steps, "").opened(step))
    for index, axis, place in zip(indices, axes, places, strict=True):
        if axis.start != "0":
            lines.append(f"{names[index]} = {axis.start} + {place}")
    onward: list[str] = []
    *along, first = strides
    for k, stride in zip(range(len(axes) - 1, 0, -1), along, strict=True):
        onward += [f"{places[k]} += {stride}", f"if {places[k]} < 0:"]
        onward += [f"    {places[k]} += {sizes[k]}", "else:", f"    {places[k - 1]} += 1"]
    onward.append(f"{places[0]} += {first}")
    return Strides(lines, onward, places[-1], sizes[-1])


def open_shares(names: Names, thread: str, grid: Grid, index: Var, axis: Range) -> Strides:
    """Open the iterations of one thread where each block has a share of neighbouring ones.

    With fewer iterations than threads all blocks work, and some threads of each are idle.

    Args:
        names: Has the name of the index, and gives others to the variables that are needed.
        thread: The number of the thread.
        grid: The threads.
        index: The index of the loop.
        axis: Its iterations.
    """
    count, share, block, mine, steps, step = (
        names.new(name) for name in (f"n_{index.name}", "share", "block", "mine", "steps", "step")
    )
    blocks, lane = grid.threads // grid.block, f"{thread} % {grid.block}"
    place = f"{block} * {share} + {lane} + {step} * {grid.block}"
    return Strides(
        [
            f"{count} = {axis.length}",
            f"{share} = ti.max(({count} - 1) // {blocks} + 1, {grid.least})",
            f"{block} = {thread} // {grid.block}",
            # Of blocks without a share, the product may be too large for an integer.
            f"{mine} = ti.select({block} <= ({count} - 1) // {share}, "
            f"ti.min({share}, {count} - {block} * {share}), 0)",
            f"{steps} = ({mine} - 1 - {lane}) // {grid.block} + 1",
            Range("0", steps, "").opened(step),
            f"{names[index]} = {place if axis.start == '0' else f'{axis.start} + {place}'}",
        ],
        [],
        place,
        count,
    )


def open_flat(
    names: Names, flat: str, indices: Sequence[Var], axes: Sequence[Range]
) -> tuple[list[str], str]:
    """Open one loop over several axes of literal lengths, and recover their indices.

    Args:
        names: Has the names of the indices.
        flat: The name of the loop's own index.
        indices: The index of each axis.
        axes: The iterations along each axis, the last one fastest.

    Returns:
        The lines, and the position along the last axis.
    """
    lengths = [int(axis.length) for axis in axes]
    lines = [Range("0", str(prod(lengths)), "").opened(flat)]
    sizes = [max(1, length) for length in lengths]
    place = flat
    for k, (index, axis) in enumerate(zip(indices, axes, strict=True)):
        inner = prod(sizes[k + 1 :])
        place = flat if inner == 1 else f"{flat} // {inner}"
        if k > 0:
            place = f"{place} % {sizes[k]}" if inner == 1 else f"({place}) % {sizes[k]}"
        text = place if axis.start == "0" else f"{place} + {axis.start}"
        lines.append(f"{names[index]} = {text}")
    return lines, place
