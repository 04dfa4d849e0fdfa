"""Questions to the display of X11; other systems always have a desktop."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any


def missing_display() -> str | None:
    """Return what is missing for any window, or None; without Xlib it is left to the toolkit."""
    if sys.platform in ("win32", "darwin"):
        return None
    name = os.environ.get("DISPLAY", "")
    if not name:
        return "DISPLAY is not set"
    xlib = _xlib()
    if xlib is None:
        return None
    display = xlib.XOpenDisplay(name.encode())
    if not display:
        return f"the display {name} does not respond"
    xlib.XCloseDisplay(ctypes.c_void_p(display))
    return None


def missing_depth(wanted: int) -> str | None:
    """Return why the display cannot show pictures of some bits of colour, or None."""
    if sys.platform in ("win32", "darwin"):
        return None
    xlib, name = _xlib(), os.environ.get("DISPLAY", "")
    if xlib is None:
        return "libX11 is not installed"
    display = ctypes.c_void_p(xlib.XOpenDisplay(name.encode()))
    if not display:
        return f"the display {name} does not respond"
    depth = xlib.XDefaultDepth(display, xlib.XDefaultScreen(display))
    xlib.XCloseDisplay(display)
    return (
        None if depth == wanted else f"the display {name} has {depth} bits of colour, not {wanted}"
    )


def _xlib() -> Any:
    try:
        xlib = ctypes.CDLL("libX11.so.6")
    except OSError:
        return None
    xlib.XOpenDisplay.restype = ctypes.c_void_p
    return xlib
