"""Pictures of `box-friction`: the boxes, how the numbers are found, and how sure they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse

from demos.support.pictures import AFTER, INK, PALE, make_figure
from difftile import worlds
from difftile.worlds.robots import LOOK, Robots, poses_of

LANE = 0.45  # from one throw to the next, in pictures [m]
LOOK_DOWN = {**LOOK, "yaw": 1.57, "pitch": 0.5}  # along the throws, from their far end
SHOWN = 50  # gradients
JUMPING = "#b4552d"
COLOURS = (AFTER, JUMPING)


@dataclass(frozen=True)
class Finding:
    """What one law of contact led to.

    Attributes:
        label: The law.
        path: Friction and mass before each gradient, shape (n, 2).
        found: Those of the least loss, shape (2,).
        covariance: Of their logarithms, (2, 2).
        by_tape: Derivatives of the tracks by both logarithms, for each look, throw and coordinate
            [m], (looks, throws, 3, 2).
        by_secant: The same by differences over changes of a percent.
    """

    label: str
    path: np.ndarray
    found: np.ndarray
    covariance: np.ndarray
    by_tape: np.ndarray
    by_secant: np.ndarray

    @property
    def sigma(self) -> np.ndarray:
        """Relative standard deviations of friction and mass, (2,)."""
        return np.sqrt(np.diag(self.covariance))

    def within(self, truth: np.ndarray, error: float = 0.01) -> int | None:
        """Return the number of gradients after which both errors stay small; None if never."""
        large = np.flatnonzero((np.abs(self.path / truth - 1.0) > error).any(axis=1))
        first = int(large[-1]) + 1 if len(large) else 0
        return first if first < len(self.path) else None

    @property
    def off(self) -> np.ndarray:
        """How far derivatives by the tape are from secants, for both numbers, relatively, (2,)."""
        wrong = np.sqrt(np.mean((self.by_tape - self.by_secant) ** 2, axis=(0, 1, 2)))
        return wrong / np.sqrt(np.mean(self.by_secant**2, axis=(0, 1, 2)))


def lanes(model: worlds.Model, count: int) -> Robots:
    """Return the boxes side by side on a floor; they slide towards the viewer."""
    return Robots(model, count, LANE, floor=(-0.4, -0.5, 1.6, LANE * (count - 1) + 0.5))


def save_strip(path: Path, model: worlds.Model, motion: np.ndarray, seconds: float) -> None:
    """Draw the boxes at three moments.

    Args:
        path: The PNG to write.
        model: The box.
        motion: Coordinates at moments of the same distance, (moments, throws, nq).
        seconds: The time of the last one.
    """
    robots = lanes(model, motion.shape[1])
    look = {**LOOK_DOWN, "at": (0.55, 0.5 * LANE * (motion.shape[1] - 1), 0.0), "distance": 4.3}
    figure = make_figure(8.6, 6.4)
    last = len(motion) - 1
    for axes, k in zip(figure.subplots(3, 1), (0, last // 4, last), strict=True):
        axes.imshow(robots.image(poses_of(model, motion[k]), (1000, 320), **look)[40:290])
        axes.set_title(f"{seconds * k / last:.2f} s", color=INK, fontsize=10)
        axes.set_axis_off()
    figure.savefig(path)


def save_findings(path: Path, findings: Sequence[Finding], truth: np.ndarray) -> None:
    """Draw the errors over the gradients, what is known in the end, and the derivatives."""
    figure = make_figure(13.0, 4.2)
    errors, known, slopes = figure.subplots(1, 3)
    for one, colour in zip(findings, COLOURS, strict=False):
        away = 100.0 * np.abs(one.path / truth - 1.0)
        for k, (name, style) in enumerate((("friction", "-"), ("mass", "--"))):
            label = f"{name}, {one.label}"
            errors.plot(away[:, k], style, color=colour, linewidth=1.6, label=label)
        _draw_known(known, one, colour)
        largest = np.abs(one.by_secant[..., 0]).max()
        slopes.plot([-largest, largest], [-largest, largest], color=PALE, linewidth=1, zorder=1)
        pairs = one.by_secant[..., 0].ravel(), one.by_tape[..., 0].ravel()
        slopes.plot(*pairs, ".", color=colour, markersize=4, alpha=0.6, label=one.label)
    errors.axhline(1.0, color=PALE, linewidth=1)
    errors.set(
        xlim=(0, SHOWN), xlabel="gradient", ylabel="error [%]", yscale="log", title="on the way"
    )
    known.plot(*truth, "+", color=INK, markersize=12, label="truth", zorder=5)
    known.set(
        xlabel="friction", ylabel="mass [kg]", title="found, with 1 and 2 standard deviations"
    )
    slopes.set(
        xlabel="secant over 2 % of friction [m]",
        ylabel="derivative of the steps [m]",
        title="places in tracks, by log friction",
    )
    for axes in (errors, known, slopes):
        axes.grid(color=PALE, alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=9, labelcolor=INK)
    figure.savefig(path)


def _draw_known(axes: Axes, one: Finding, colour: str) -> None:
    """Draw ellipses of the posterior around what was found."""
    scale = np.diag(one.found)  # from logarithms to the numbers
    values, ways = np.linalg.eigh(scale @ one.covariance @ scale)
    angle = np.degrees(np.arctan2(ways[1, 1], ways[0, 1]))
    for sigmas, alpha in ((1.0, 0.35), (2.0, 0.15)):
        wide, high = 2.0 * sigmas * np.sqrt(values[::-1])
        middle = (float(one.found[0]), float(one.found[1]))
        axes.add_patch(
            Ellipse(middle, wide, high, angle=angle, facecolor=colour, alpha=alpha, linewidth=0)
        )
    axes.plot(*one.found, "o", color=colour, markersize=5, label=one.label)
    axes.margins(0.6)
