"""Viewers below a cell: a page, or pictures where no page can be served."""

from __future__ import annotations

import importlib
import io
import math
import sys
import time
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from difftile.viewer.backends.interrupt import Interrupt
from difftile.viewer.events import Close, Event
from difftile.viewer.frame import Frame
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel

_PAUSE = 0.1  # between pictures [s]: each is encoded, and sent to the browser whole
_HEIGHT = 640  # of a page [px]


def in_notebook() -> bool:
    """Return whether the program runs in a notebook: a shell of IPython with a kernel."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


class CellOutput:
    """What is shown below the running cell, and can be replaced."""

    def __init__(self) -> None:
        self._display: Any = importlib.import_module("IPython.display")
        self._handle: Any = None

    def page(self, address: str) -> None:
        """Show a page."""
        self._show(self._display.IFrame(address, "100%", _HEIGHT))

    def picture(self, picture: npt.NDArray[np.uint8]) -> None:
        """Show a picture, shape (height, width, 3)."""
        file = io.BytesIO()
        Image.fromarray(picture).save(file, "png", compress_level=1)
        self._show(self._display.Image(file.getvalue(), format="png", width=picture.shape[1]))

    def words(self, text: str) -> None:
        """Show a line of text."""
        self._show(self._display.HTML(f"<i>{escape(text)}</i>"))

    def _show(self, thing: object) -> None:
        if self._handle is None:
            self._handle = self._display.display(thing, display_id=True)
        else:
            self._handle.update(thing)


class NotebookBackend:
    """Pictures below the cell, several per second and each in the place of the last.

    They reach any browser that shows the notebook, but report no mouse or keys: the app runs for
    its number of frames, or until the kernel is interrupted. The last picture stays, also in the
    file of the notebook.
    """

    def __init__(self) -> None:
        self._output: CellOutput | None = None
        self._interrupt = Interrupt()
        self._waiting: Frame | None = None
        self._shown_at = -math.inf

    @property
    def closed(self) -> bool:
        """See `Backend`."""
        return self._output is None

    @property
    def ready(self) -> bool:
        """Always true: of pictures that come too fast, only the last is drawn."""
        return True

    def attach(self, panel: Panel, keys: Mapping[str, Shortcut]) -> bool:
        """Return False: the picture shows controls and plots."""
        return False

    def open(self, title: str, width: int, height: int) -> None:
        """Begin below the running cell."""
        self._output = CellOutput()
        self._waiting, self._shown_at = None, -math.inf
        self._interrupt.begin()

    def poll(self) -> list[Event]:
        """Return the request to close, after an interrupt of the kernel."""
        return [Close()] if self._interrupt.came else []

    def show(self, frame: Frame) -> None:
        """Draw the frame, or keep it if the last one was drawn a moment ago."""
        self._waiting = frame
        if self.time() - self._shown_at >= _PAUSE:
            self._draw()

    def time(self) -> float:
        """See `Backend`."""
        return time.perf_counter()

    def close(self) -> None:
        """Draw the last frame, which stays."""
        self._interrupt.end()
        try:
            self._draw()
        finally:
            self._output = None

    def _draw(self) -> None:
        if self._output is not None and self._waiting is not None:
            frame, self._waiting = self._waiting, None
            self._output.picture(frame.image())
            self._shown_at = self.time()
