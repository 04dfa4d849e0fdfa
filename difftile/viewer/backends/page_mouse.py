"""The mouse over the canvas of a page, from viser's callbacks to events in pixels.

An invisible box around viser's camera catches presses and drags. viser does not report the mouse
while no button is held. The wheel moves viser's camera, which has no other visible effect.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import viser

from difftile.viewer.backends.messages import Inbox, PageEvent
from difftile.viewer.events import (
    Button,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Scroll,
)

_BOX = 1e5  # larger than the range of viser's camera [units]
_NOTCH = math.log(0.95)  # logarithm of the factor of the camera distance for one notch
_MOST_NOTCHES = 100.0  # in one event
_NEAREST = 1e-6  # least distance of viser's camera [units]
_BUTTONS: tuple[Button, ...] = ("left", "middle", "right")
_MODIFIERS = (None, "shift")

# Returns the pixel at a position on the canvas of a browser, by viser's client number; (0, 0) is
# the upper left corner and (1, 1) the opposite one.
Place = Callable[[int, tuple[float, float]], tuple[float, float]]


def catch_mouse(scene: viser.SceneApi, inbox: Inbox, place: Place) -> None:
    """Put the box into a scene, and presses, clicks and drags as events into the inbox."""
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
        """Return the event if viser's camera has moved nearer or farther away."""
        before, self._distance = self._distance, _distance(client)
        notches = math.log(self._distance / before) / _NOTCH
        notches = min(max(notches, -_MOST_NOTCHES), _MOST_NOTCHES)
        return [Scroll(notches, *at)] if abs(notches) > 1e-3 else []


def _pressed(button: Button, modifier: str | None, at: tuple[float, float]) -> list[PageEvent]:
    """Return the events of a press; the next ones wait, so that steps see the button down."""
    press: list[PageEvent] = [MouseMove(*at), MouseDown(button, *at)]
    if modifier == "shift":
        press = [KeyDown("shift"), *press, KeyUp("shift")]
    return [*press, None]


def _distance(client: viser.ClientHandle) -> float:
    camera = client.camera
    return max(float(np.linalg.norm(camera.position - camera.look_at)), _NEAREST)
