"""The mouse over the canvas of a page: what viser tells of it, as events in pixels.

A box without colour is around viser's camera: it catches what is pressed and dragged. Where the
mouse is while no button is held viser does not tell. The wheel moves viser's camera, of which
nothing else is seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import viser

from difftile.viewer.backends.inbox import Inbox
from difftile.viewer.backends.messages import PageEvent
from difftile.viewer.events import (
    Button,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Scroll,
)

_BOX = 1e5  # larger than viser lets the wheel move its camera [units]
_NOTCH = math.log(0.95)  # what one notch of the wheel multiplies that distance by, as a logarithm
_MOST_NOTCHES = 100.0  # at once
_NEAREST = 1e-6  # that viser's camera counts to be [units]
_BUTTONS: tuple[Button, ...] = ("left", "middle", "right")
_MODIFIERS = (None, "shift")

# The pixel of a place on the canvas of a browser, of which (0, 0) is the upper left corner and
# (1, 1) the opposite. The browser goes by the number that viser gives it.
Place = Callable[[int, tuple[float, float]], tuple[float, float]]


def catch_mouse(scene: viser.SceneApi, inbox: Inbox, place: Place) -> None:
    """Have presses, clicks and drags come as events.

    Args:
        scene: Where the box is put.
        inbox: Where events go.
        place: Says where in the picture that is.
    """
    size = (_BOX, _BOX, _BOX)
    box = scene.add_box("/mouse", dimensions=size, opacity=0.0, side="double", cast_shadow=False)

    async def dragged(event: Any) -> None:
        at = place(event.client_id, event.end_screen_pos)
        if event.phase == "start":
            start = place(event.client_id, event.start_screen_pos)
            inbox.add(*_pressed(event.button, event.modifier, start))
        inbox.add(MouseMove(*at))
        if event.phase == "end":
            inbox.add(MouseUp(event.button, *at))

    async def clicked(event: Any) -> None:
        at = place(event.client_id, event.screen_pos)
        inbox.add(*_pressed("left", event.modifier, at), MouseUp("left", *at))

    for modifier in _MODIFIERS:
        box.on_click(modifier=modifier)(clicked)
        for button in _BUTTONS:
            box.on_drag(button, modifier=modifier)(dragged)


class Wheel:
    """The wheel over the page of one browser."""

    def __init__(self, client: viser.ClientHandle) -> None:
        self._distance = _distance(client)

    def turned(self, client: viser.ClientHandle, at: tuple[float, float]) -> list[Scroll]:
        """Return the event, if viser's camera has come nearer or gone farther away."""
        before, self._distance = self._distance, _distance(client)
        notches = math.log(self._distance / before) / _NOTCH
        notches = min(max(notches, -_MOST_NOTCHES), _MOST_NOTCHES)
        return [Scroll(notches, *at)] if abs(notches) > 1e-3 else []


def _pressed(button: Button, modifier: str | None, at: tuple[float, float]) -> list[PageEvent]:
    """Return what a press is; what follows waits, so that steps see that the button is down."""
    press: list[PageEvent] = [MouseMove(*at), MouseDown(button, *at)]
    if modifier == "shift":
        press = [KeyDown("shift"), *press, KeyUp("shift")]
    return [*press, None]


def _distance(client: viser.ClientHandle) -> float:
    camera = client.camera
    return max(float(np.linalg.norm(camera.position - camera.look_at)), _NEAREST)
