"""Plots of a run of training: strips of images next to their pictures, and its curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from difftile.files.writing import whole
from difftile.training.scores import Score

_INK, _PALE, _LINE = "#22272e", "#9aa3ad", "#1f6f78"
_ROWS = 6  # views on a strip


def save_strip(path: Path, scores: Sequence[Score]) -> None:
    """Draw target, result and error of views next to each other, a row for each view.

    Args:
        path: The PNG to write.
        scores: The scores of the views, some of which are shown, from the first to the last.
    """
    picked = np.unique(np.linspace(0, len(scores) - 1, min(_ROWS, len(scores))).astype(int))
    shown = [scores[k] for k in picked]
    errors = [np.abs(one.image - one.picture).mean(axis=-1) for one in shown]
    weights = [1.0 if one.mask is None else one.mask for one in shown]
    errors = [error * weight for error, weight in zip(errors, weights, strict=True)]
    most = max(0.02, *(float(np.quantile(error, 0.995)) for error in errors))
    height, width = shown[0].picture.shape[:2]
    figure = _figure(9.9, 0.4 + 3.1 * len(shown) * height / width)
    grid = figure.subplots(len(shown), 3, squeeze=False)
    error_drawn: Any = None
    for axes, one, error in zip(grid, shown, errors, strict=True):
        axes[0].imshow(np.clip(one.picture, 0, 1))
        axes[1].imshow(np.clip(one.image, 0, 1))
        error_drawn = axes[2].imshow(error, vmin=0, vmax=most, cmap="magma")
        axes[0].set_title(f"{Path(one.name).stem}: target", fontsize=9, color=_INK)
        axes[1].set_title(f"result, {one.psnr:.1f} dB", fontsize=9, color=_INK)
        axes[2].set_title("error", fontsize=9, color=_INK)
        for ax in axes:
            ax.set_axis_off()
    figure.colorbar(error_drawn, ax=grid[:, 2].tolist(), shrink=0.8)
    _save(figure, path)


def save_curve(path: Path, history: npt.NDArray[np.float64]) -> None:
    """Draw loss, PSNR of training views, and the number of gaussians over the steps.

    Args:
        path: The PNG to write.
        history: See `Checkpoint`.
    """
    figure = _figure(11.0, 3.2)
    labels = ("loss", "PSNR of the view of the step [dB]", "gaussians")
    steps = history[:, 0]
    for ax, label, values in zip(figure.subplots(1, 3), labels, history.T[1:], strict=True):
        smooth = values
        if label != "gaussians":
            ax.plot(steps, values, color=_PALE, linewidth=0.6, alpha=0.6)
            size = 2 * (len(values) // 60) + 1  # means over a thirtieth of all values
            around = np.pad(values, size // 2, mode="edge")
            smooth = np.convolve(around, np.full(size, 1.0 / size), mode="valid")
        ax.plot(steps, smooth, color=_LINE, linewidth=1.6)
        ax.set(xlabel="step", ylabel=label)
        ax.grid(color=_PALE, alpha=0.3)
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_yscale("log")
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    with whole(path) as file:
        figure.savefig(file, format="png")


def _figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    return figure
