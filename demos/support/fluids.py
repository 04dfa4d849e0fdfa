"""Pictures of the box of air: smoke between walls, and several ways to one gradient."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Circle
from matplotlib.ticker import NullLocator

from demos.support.pictures import AFTER, INK, PALE, make_figure, save_animation
from scenes.implicit_fluid import Box

WALL, GOAL, UNROLLED = "#c9b79c", "#b4552d", "#b4552d"
_SMOKE = LinearSegmentedColormap.from_list("smoke", ["#ffffff", INK])
_ARROWS = 12  # along an axis


@dataclass(frozen=True, slots=True)
class Flow:
    """The result of a run, to be drawn.

    Attributes:
        label: Its name in the picture.
        times: Steps of the frames, shape (frames,).
        smoke: Densities, shape (frames, n, n).
        velocity: In the middle of cells [cells/step], shape (frames, n, n, 2).
    """

    label: str
    times: np.ndarray
    smoke: np.ndarray
    velocity: np.ndarray


@dataclass(frozen=True, slots=True)
class Measured:
    """A gradient with pressures computed by one method, and its cost.

    Attributes:
        relaxations: Iterations of Jacobi for each pressure; None for conjugate gradients.
        gradient: Of the loss, by all parameters, flat.
        divergence: Largest net outflow of a cell after the last step [1/step].
        forward: Time of the simulation [s].
        backward: Time of the reverse [s].
        nbytes: Largest memory of the tape, apart from the fields.
        axis: Bytes of all iterates of all pressures in a program with a time axis.
    """

    relaxations: int | None
    gradient: np.ndarray
    divergence: float
    forward: float
    backward: float
    nbytes: int
    axis: int

    @property
    def label(self) -> str:
        """The method."""
        if self.relaxations is None:
            return "conjugate gradients"
        return f"{self.relaxations} of Jacobi"

    def apart(self, other: "Measured") -> float:
        """Return the norm of the difference of the gradients relative to the other's."""
        gap = np.linalg.norm(self.gradient - other.gradient)
        return float(gap / np.linalg.norm(other.gradient))


def save_flow_strip(path: Path, box: Box, flows: Sequence[tuple[Flow, Sequence[int]]]) -> None:
    """Draw the frames with the given numbers of each flow side by side."""
    panels = [(flow, frame) for flow, frames in flows for frame in frames]
    figure = make_figure(2.3 * len(panels), 2.65)
    for axes, (flow, frame) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
    ):
        draw = _Air(axes, box, flow)
        draw.show(frame)
    figure.savefig(path)


def save_flow_animation(path: Path, box: Box, flow: Flow, fps: float = 12.0) -> None:
    """Animate a flow; the last frame stays for a second."""
    figure = make_figure(3.6, 3.9)
    draw = _Air(figure.subplots(), box, flow)
    last = len(flow.times) - 1
    save_animation(path, figure, draw.show, [*range(last + 1), *[last] * round(fps)], fps)


class _Air:
    """Axes with the smoke and the velocities of one frame of a flow."""

    def __init__(self, axes: Axes, box: Box, flow: Flow) -> None:
        self.axes, self.flow, n = axes, flow, box.n
        extent = (0, n, 0, n)
        self.image = axes.imshow(
            flow.smoke[0].T, _SMOKE, vmin=0.0, vmax=1.0, origin="lower", extent=extent
        )
        wall = np.ma.masked_equal(box.solid.T.astype(float), 0.0)
        axes.imshow(wall, LinearSegmentedColormap.from_list("wall", [WALL, WALL]), origin="lower",
                    extent=extent)  # fmt: skip
        self.every = max(1, n // _ARROWS)
        self.first = self.every // 2
        places = np.arange(self.first, n, self.every) + 0.5
        fastest = max(float(np.abs(flow.velocity).max()), 1e-9)
        self.arrows = axes.quiver(
            places, places, *self.velocities(0), color=AFTER, alpha=0.75, pivot="mid",
            angles="xy", scale_units="xy", scale=fastest / (1.6 * self.every), width=0.006,
        )  # fmt: skip
        axes.add_patch(Circle(box.goal, box.radius, fill=False, color=GOAL, lw=1.4, ls="--"))
        axes.set(xlim=(0, n), ylim=(0, n), xticks=[], yticks=[])

    def velocities(self, frame: int) -> tuple[np.ndarray, np.ndarray]:
        """Return both components at the arrows, row by row from below."""
        chosen = self.flow.velocity[frame, self.first :: self.every, self.first :: self.every]
        return chosen[..., 0].T, chosen[..., 1].T

    def show(self, frame: int) -> None:
        """Show another frame."""
        self.image.set_data(self.flow.smoke[frame].T)
        self.arrows.set_UVC(*self.velocities(frame))
        title = f"{self.flow.label}: step {self.flow.times[frame]}"
        self.axes.set_title(title, loc="left", fontsize=9, color=INK)


def save_comparison(path: Path, found: Sequence[Measured]) -> None:
    """Draw the remaining divergence of the methods, and their gradients, times and memory.

    Args:
        path: The PNG to write.
        found: Conjugate gradients, and Jacobi with increasing numbers of iterations.
    """
    implicit, *unrolled = found
    counts = [one.relaxations for one in unrolled]
    figure = make_figure(9.6, 6.2)
    mega = 1e-6
    for axes, title, values, reference in zip(
        figure.subplots(2, 2).flat,
        (
            "largest divergence left [1/step]",
            "gradient: difference from conjugate gradients, relative",
            "time, both ways [s]",
            "old values [MB]",
        ),
        (
            [one.divergence for one in unrolled],
            [one.apart(implicit) for one in unrolled],
            [one.forward + one.backward for one in unrolled],
            [mega * one.axis for one in unrolled],
        ),
        (
            implicit.divergence,
            None,
            implicit.forward + implicit.backward,
            mega * implicit.nbytes,
        ),
        strict=True,
    ):
        memory = title.startswith("old")
        name = "Jacobi" + (", with a time axis" if memory else "")
        axes.loglog(counts, values, "o-", color=UNROLLED, ms=4, label=name)
        if memory:
            tape = [mega * one.nbytes for one in unrolled]
            axes.loglog(counts, tape, "o:", color=UNROLLED, ms=4, label="Jacobi, on a tape")
        if reference is not None:
            axes.axhline(reference, color=AFTER, lw=1.8, label="conjugate gradients, on a tape")
        axes.set_title(title, fontsize=10, color=INK)
        axes.set_xlabel("iterations of Jacobi for a pressure", fontsize=9)
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.grid(color=PALE, alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)
