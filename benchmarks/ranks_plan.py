"""A plan for 64 GPUs: sizes of messages, times, and efficiencies by formula; nothing is run.

Steps, launches and messages between two GPUs were measured on H200s with NVLink, as
docs/performance.md says under "On several ranks". InfiniBand is that of NVIDIA's data sheet for DGX
H200, and its latency is an assumption. A rank has a neighbour on each side of each axis; boxes of a
node are 2 x 2 x 2, so that three of six faces leave it. Efficiency is the time of a step alone over
that with its communication.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from difftile.arguments import Parser

MESSAGE = 21e-6  # of 1 MB between two GPUs over NVLink, both ways at once, on the device [s]
PACKING = 7.5e-6  # of a face of 512 x 512 cells, on the device, in and out [s]
INFINIBAND = 50e9  # for each GPU, 400 Gb/s (data sheet of the DGX H200)
USED = 0.8  # the part of a link's bandwidth that messages reach: an assumption
LATENCY = 20e-6  # of a group of messages by NCCL between nodes [s]: an assumption
LAUNCH = 17e-6  # of a kernel from Python without graphs [s]
FACES = 6


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a simulation on one rank.

    Args:
        name: Its name.
        seconds: Its time without communication, forward and in reverse.
        faces: For each exchange of a pass, cells of one face, with the halo's width, and the bytes
            of each.
        rim: The launches that overlapping adds to a pass.
        hidden: Whether the launches of the interior hide messages.
    """

    name: str
    seconds: tuple[float, float]
    faces: tuple[tuple[int, int], ...]
    rim: int
    hidden: bool


CELLS = 512
WAVE = 1.57e-3, 2.95e-3  # with the copy that the tape keeps
POINTS = 3.9e-3, 4.7e-3  # without the migration, 0.3 ms of kernels
STEPS = (
    Step("wave, 512³ cells", WAVE, ((CELLS**2, 4),), 6, True),
    Step("4M points, 100³ cells", POINTS, ((2 * 100**2, 16), (2 * 100**2, 12)), 0, False),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """The communication of a pass.

    Args:
        face: The bytes of the largest message.
        seconds: The time of all of it, nothing hidden.
        exposed: What remains where the interior hides messages.
    """

    face: int
    seconds: float
    exposed: float


def cost(step: Step, seconds: float) -> Cost:
    """Return the communication of a pass that takes that long by itself."""
    faces = [cells * size for cells, size in step.faces]
    total = sum(faces)
    # Both kinds of links work at the same time; three faces go over each.
    links = sum(3 * face / (USED * INFINIBAND) + LATENCY for face in faces)
    links = max(links, sum(3 * MESSAGE for _ in faces))
    packing = FACES * PACKING * total / (4 * CELLS**2) + 2 * len(faces) * LAUNCH
    exposed = packing + step.rim * LAUNCH + max(0.0, links - seconds)
    return Cost(max(faces), packing + links, exposed if step.hidden else packing + links)


def table() -> list[str]:
    """Return the lines of the table, as docs/performance.md has them."""
    head = ("a rank's share", "pass", "alone", "largest message", "communication")
    head = (*head, "efficiency", "overlapped")
    lines = [f"| {' | '.join(head)} |", "|---|---|---|---|---|---|---|"]
    for step in STEPS:
        for title, seconds in zip(("forward", "reverse"), step.seconds, strict=True):
            found = cost(step, seconds)
            plain, hidden = (seconds / (seconds + c) for c in (found.seconds, found.exposed))
            lines.append(
                f"| {step.name} | {title} | {1e3 * seconds:.2f} ms | {found.face / 1e6:.2f} MB | "
                f"{1e6 * found.seconds:.0f} µs | {plain:.2f} | "
                f"{f'{hidden:.2f}' if step.hidden else '-'} |"
            )
    return lines


def all_reduce(nbytes: float, ranks: int) -> float:
    """Return the time of a ring over all ranks, of which the slowest link is InfiniBand [s]."""
    return 2 * (ranks - 1) / ranks * nbytes / (USED * INFINIBAND) + 2 * (ranks - 1) * LATENCY


def main(argv: Sequence[str] | None = None) -> int:
    """Print the plan; return the exit code."""
    Parser("python -m benchmarks.ranks_plan", __doc__).parse_args(argv)
    print("\n".join(table()))
    print(f"100 MB of gradients on 64 ranks: {1e3 * all_reduce(100e6, 64):.1f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
