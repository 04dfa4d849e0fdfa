"""The convergence of Newton's method over the steps of a simulation: its order, and a picture."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from demos.support.pictures import PALE, make_figure

_ROUNDING = 1e-12  # force [N]: below, the errors of additions are what is left


def orders(errors: Sequence[float]) -> np.ndarray:
    """Return the order of convergence at each iteration from the second on.

    For errors e the order is log(e'' / e') / log(e' / e): 1 if each is a fraction of the one
    before, 2 if it is proportional to its square. Errors at the level of rounding do not count.
    """
    logs = np.diff(np.log([error for error in errors if error > _ROUNDING]))
    return logs[1:] / logs[:-1]


def save_convergence(path: Path, forces: Sequence[Sequence[float]], h: float) -> None:
    """Draw the largest force that is left over the iterations of each step.

    Args:
        path: The PNG to write.
        forces: The forces before each iteration and at the end, by step [N].
        h: The time step [s].
    """
    figure = make_figure(7.0, 3.6)
    axes = figure.subplots()
    colors = ScalarMappable(Normalize(h, h * len(forces)), "viridis")
    for number, one in enumerate(forces, 1):
        axes.semilogy(
            one, color=colors.to_rgba(number * h), linewidth=1.2, marker=".", markersize=4
        )
    axes.set_xlabel("iteration")
    axes.set_ylabel("largest force that is left [N]")
    axes.grid(color=PALE, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.colorbar(colors, ax=axes, label="time of the step [s]")
    figure.savefig(path)
