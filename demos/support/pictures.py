"""Figures, loss curves and animations.

Figures are made without `matplotlib.pyplot`, so nothing here needs a display or leaves a figure
open.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

INK, PALE, FLOOR = "#22272e", "#9aa3ad", "#d8d3c8"
AFTER = "#1f6f78"
MOST_FRAMES = 1000  # of an animation


def make_figure(width: float, height: float) -> Figure:
    """Return an empty figure of that size in inches."""
    figure = Figure(figsize=(width, height), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_loss_curve(path: Path, losses: Sequence[float], label: str, scale: str = "linear") -> None:
    """Draw a loss over the iterations, with its best value marked; `scale` may be "log"."""
    figure = make_figure(7.0, 3.6)
    axes = figure.subplots()
    best = int(np.argmin(losses))
    axes.plot(losses, color=AFTER, linewidth=1.8)
    axes.plot(best, losses[best], "o", color=INK, markersize=5)
    axes.annotate(
        f"{losses[best]:.3g}",
        (best, losses[best]),
        xytext=(0, -8),
        textcoords="offset points",
        ha="right" if best > 0.9 * len(losses) else "center",
        va="top",
        color=INK,
    )
    axes.set_xlabel("iteration")
    axes.set_ylabel(label)
    axes.set_yscale(scale)
    axes.margins(y=0.14)  # room for the number below the least loss
    axes.grid(color=PALE, alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


def save_animation(
    path: Path, figure: Figure, draw: Callable[[int], object], frames: Iterable[int], fps: float
) -> None:
    """Call `draw` for each frame and save the figure as a looping GIF.

    A frame that stays for a while, such as the last one, is drawn once.
    """
    numbers = list(frames)
    if len(numbers) > MOST_FRAMES:
        numbers = [numbers[k] for k in np.linspace(0, len(numbers) - 1, MOST_FRAMES).astype(int)]
    canvas, pictures = FigureCanvasAgg(figure), list[Image.Image]()
    for before, number in zip([None, *numbers], numbers, strict=False):
        if number == before:
            pictures.append(pictures[-1])
            continue
        draw(number)
        canvas.draw()
        pictures.append(Image.fromarray(np.array(canvas.buffer_rgba())).convert("RGB"))
    first, *others = pictures
    first.save(path, save_all=True, append_images=others, duration=int(1000 / fps), loop=0)
