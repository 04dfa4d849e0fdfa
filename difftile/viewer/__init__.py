"""Interactive apps: look at a simulation, drag and play, while it goes on.

The package knows fields and no kernels. An `App` has a `Canvas` of shapes (`primitives`, made from
fields by `conversions`), a `Scene` (`screen` in the plane, `perspective` in space by the camera of
`orbit`) and a `Panel` of controls, whose values are bound to fields or attributes (`bindings`).
`layout` decides which of them receives an event, and makes a `frame`: the shapes of all layers,
which `raster` turns into one array on a `surface`. `discs`, `strokes` and `triangles` compute which
pixels a shape covers, by how much, and their depth (`fragments`). `loop` has the order: events,
steps, frame.

A backend (`backends/base.py`) shows frames and reports events; GUI libraries are imported only
there, when an app is made. The window and the page send frames to a process of their own
(`child_process`): the `painter` of a window, or the `page`, which serves browsers by viser.
Connections from other sites (`page_guests`) and messages that no page sends (`page_messages`) end
at the gate before viser (`page_gate`).
"""

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
