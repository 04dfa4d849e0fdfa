"""Pictures of fields on grids: rows of images, and images that change.

An image is an array of numbers, shape (rows, columns), which a `Look` turns into colours, or of
colours themselves, red, green and blue from 0 to 1, shape (rows, columns, 3). Row 0 is at the top.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from demos.support.pictures import INK, make_figure, save_animation

_PANEL = 2.3  # the width of an image [inch]
_TITLE, _ROW_NAME, _KEY = 0.3, 0.32, 0.75
_TITLE_STYLE = {"loc": "left", "fontsize": 9, "color": INK}
_MOVING_DPI = 80  # of animations, which would be large files


@dataclass(frozen=True, slots=True)
class Look:
    """The mapping from numbers to colours.

    Attributes:
        low: The number with the first colour, which all smaller numbers have too.
        high: The number with the last colour.
        colors: A colour map of Matplotlib.
        label: Name of the numbers, with their unit, for the key; without a label there is no key.
    """

    low: float = 0.0
    high: float = 1.0
    colors: str = "gray"
    label: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """An image, or one that changes, with its title.

    Attributes:
        title: What stands above it.
        image: Shape (rows, columns) or (rows, columns, 3); of a panel of an animation with an axis
            of frames before these.
    """

    title: str
    image: np.ndarray


def save_images(
    path: Path, rows: Sequence[tuple[str, Sequence[Panel]]], look: Look | None = None
) -> None:
    """Draw rows of images, each row with its name.

    Args:
        path: The PNG to write.
        rows: The name of each row, and its images, from left to right.
        look: How numbers become colours.
    """
    look = look or Look()
    panels = [panel for _, row in rows for panel in row]
    figure, places = _make_grid(len(rows), max(len(row) for _, row in rows), look, panels)
    for row, (name, panels) in enumerate(rows):
        for axes, panel in zip(places[row], panels, strict=False):
            _draw(axes, panel.title, panel.image, look)
        places[row][0].set_ylabel(name, fontsize=10, color=INK)
    figure.savefig(path)


def save_images_animation(
    path: Path,
    panels: Sequence[Panel],
    look: Look | None = None,
    *,
    captions: Sequence[str] = (),
    fps: float = 20.0,
) -> None:
    """Animate images side by side as a GIF; the last frame stays for a second.

    Args:
        path: The GIF to write.
        panels: The images, from left to right. One with fewer frames stays at its last.
        look: The mapping from numbers to colours.
        captions: Text after the first title in each frame.
        fps: Frames per second.
    """
    look = look or Look()
    figure, places = _make_grid(1, len(panels), look, panels)
    figure.set_dpi(_MOVING_DPI)
    shown = [
        _draw(axes, panel.title, panel.image[0], look)
        for axes, panel in zip(places[0], panels, strict=True)
    ]

    def draw(frame: int) -> None:
        for image, panel in zip(shown, panels, strict=True):
            image.set_data(panel.image[min(frame, len(panel.image) - 1)])
        if captions:
            places[0][0].set_title(f"{panels[0].title}, {captions[frame]}", **_TITLE_STYLE)

    last = max(len(panel.image) for panel in panels) - 1
    save_animation(path, figure, draw, [*range(last + 1), *[last] * round(fps)], fps)


def _make_grid(
    rows: int, columns: int, look: Look, panels: Sequence[Panel]
) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with places for images, and a key at the right if requested.

    The images have one shape. Placed by hand: the automatic layouts leave gaps around images.
    """
    gap, key = 0.08, _KEY if look.label else 0.0
    pixels = panels[0].image.shape[:-1] if panels[0].image.shape[-1] == 3 else panels[0].image.shape
    panel = _PANEL * pixels[-2] / pixels[-1]
    width = _ROW_NAME + columns * (_PANEL + gap) + key
    height = rows * (panel + _TITLE) + gap
    figure = make_figure(width, height)
    figure.set_layout_engine("none")
    places = []
    for row in range(rows):
        low = height - (row + 1) * (panel + _TITLE)
        boxes = [(_ROW_NAME + k * (_PANEL + gap), low) for k in range(columns)]
        size = (_PANEL / width, panel / height)
        places.append([figure.add_axes((x / width, y / height, *size)) for x, y in boxes])
        for axes in places[-1]:
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_visible(False)
    if look.label:
        box = ((width - key + 0.05) / width, gap / height, 0.1 / width, panel / height)
        colors = ScalarMappable(Normalize(look.low, look.high), look.colors)
        below = any(panel.image.min() < look.low for panel in panels)
        above = any(panel.image.max() > look.high for panel in panels)
        extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[below, above]
        bar = figure.colorbar(colors, cax=figure.add_axes(box), extend=extend)
        bar.set_label(look.label, fontsize=8, color=INK)
        bar.ax.tick_params(labelsize=7, colors=INK)
    return figure, places


def _draw(axes: Axes, title: str, image: np.ndarray, look: Look) -> AxesImage:
    axes.set_title(title, **_TITLE_STYLE)
    return axes.imshow(image, look.colors, vmin=look.low, vmax=look.high, interpolation="nearest")
