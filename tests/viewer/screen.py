"""A screen without a monitor, and someone at its keyboard and mouse: Xvfb and xdotool."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TOOLS = ("Xvfb", "xdotool")
# The border that X11 puts around a window without a desktop frame, by toolkit [px].
BORDER = {"ti": 1, "tk": 0}


def missing_tools() -> str:
    """Return the packages that a screen needs and that are missing, or an empty text."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    return f"{' and '.join(missing)} not found: apt-get install xvfb xdotool" if missing else ""


@dataclass(frozen=True)
class Screen:
    """A screen.

    Attributes:
        display: What the environment variable DISPLAY has to be.
        memory: Where the server keeps its pixels.
    """

    display: str
    memory: Path

    def act(self, *words: object) -> str:
        """Run xdotool; return its output."""
        command = ["xdotool", *map(str, words)]
        environment = {**os.environ, "DISPLAY": self.display}
        # An empty result of a search is an answer too.
        return subprocess.run(
            command, check=False, env=environment, stdout=subprocess.PIPE, text=True, timeout=20
        ).stdout

    def windows(self, title: str) -> list[int]:
        """Return the windows whose titles contain a word."""
        return [int(line) for line in self.act("search", "--name", title).split()]

    def picture(self) -> np.ndarray:
        """Return the contents of the screen: red, green and blue in bytes, shape (h, w, 3)."""
        raw = self.memory.read_bytes()
        header = np.frombuffer(raw, ">u4", 25)  # of an X window dump
        width, height, line, colours = (int(header[k]) for k in (4, 5, 12, 19))
        start = int(header[0]) + 12 * colours
        rows = np.frombuffer(raw, np.uint8, height * line, start).reshape(height, line)
        return rows[:, : 4 * width].reshape(height, width, 4)[..., 2::-1]

    def ask_to_close(self, window: int) -> None:
        """Send the message of a window's close button, since windows have no frame here."""
        x = ctypes.CDLL("libX11.so.6")
        x.XOpenDisplay.restype = ctypes.c_void_p
        x.XInternAtom.restype = ctypes.c_ulong
        display = ctypes.c_void_p(x.XOpenDisplay(self.display.encode()))
        protocols, delete = (
            x.XInternAtom(display, name, 0) for name in (b"WM_PROTOCOLS", b"WM_DELETE_WINDOW")
        )
        client_message, longs = 33, 32
        event = (ctypes.c_long * 24)(client_message, 0, 1, 0, window, protocols, longs, delete)
        x.XSendEvent(display, ctypes.c_ulong(window), 0, ctypes.c_long(0), ctypes.byref(event))
        x.XCloseDisplay(display)


@contextmanager
def opened(width: int = 1280, height: int = 800, depth: int = 24) -> Generator[Screen]:
    """Have a screen for a while."""
    with tempfile.TemporaryDirectory() as folder:
        reading, writing = os.pipe()
        command = ["Xvfb", "-screen", "0", f"{width}x{height}x{depth}", "-fbdir", folder]
        command += ["-displayfd", str(writing), "-nolisten", "tcp", "-noreset"]
        server = subprocess.Popen(command, pass_fds=(writing,), stderr=subprocess.DEVNULL)
        os.close(writing)
        try:
            with os.fdopen(reading) as said:
                number = said.readline().strip()
            yield Screen(f":{number}", Path(folder) / "Xvfb_screen0")
        finally:
            server.terminate()
            server.wait()
