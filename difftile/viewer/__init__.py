"""Interactive apps: look at a simulation, drag and play, while it goes on."""

from difftile.viewer.app import App
from difftile.viewer.backends.base import Backend
from difftile.viewer.backends.null import NullBackend
from difftile.viewer.canvas import Canvas
from difftile.viewer.controls import Checkbox, Choice, Slider
from difftile.viewer.events import (
    Close,
    Event,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Resize,
    Scroll,
)
from difftile.viewer.handle import Handle
from difftile.viewer.orbit import Orbit, View
from difftile.viewer.scene import Mouse

__all__ = [
    "App",
    "Backend",
    "Canvas",
    "Checkbox",
    "Choice",
    "Close",
    "Event",
    "Handle",
    "KeyDown",
    "KeyUp",
    "Mouse",
    "MouseDown",
    "MouseMove",
    "MouseUp",
    "NullBackend",
    "Orbit",
    "Resize",
    "Scroll",
    "Slider",
    "View",
]
