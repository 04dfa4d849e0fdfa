"""The desk of an app: what a person can change while it runs, and the plots beside that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from difftile.diagnostics import ViewerError
from difftile.viewer.bindings import Bind
from difftile.viewer.controls import Buttons, Checkbox, Choice, Key, Slider
from difftile.viewer.conversions import Colour, as_colours
from difftile.viewer.handle import Handle
from difftile.viewer.keys import NAMED, Shortcut
from difftile.viewer.panel import Panel
from difftile.viewer.series import Series


class ControlsApi:
    """Controls, points to drag, keys and plots.

    Args:
        attempt: Calls what is the user's, and takes note of an exception.
    """

    def __init__(self, attempt: Callable[[Callable[[], object]], object]) -> None:
        self._attempt = attempt
        self._panel = Panel()
        self._handles: list[Handle] = []
        self._keys: dict[str, Shortcut] = {}

    def slider(
        self,
        label: str,
        bind: Bind = None,
        *,
        min: float,
        max: float,
        log: bool = False,
        step: float | None = None,
        value: float | None = None,
    ) -> Slider:
        """Add a slider.

        Args:
            label: What stands above it.
            bind: What it changes: a field of one element, `(field, index)`,
                `(object, "attribute")`, or None for its own `value`.
            min: The least value.
            max: The greatest value.
            log: Move by equal factors instead of equal differences.
            step: Values are `min` and multiples of this above it; None for all.
            value: What it starts at; None for what the binding holds, or the middle.

        Raises:
            ViewerError: The range is none, or `bind` nothing that can be changed.
        """
        control = Slider(label, bind, min, max, log=log, step=step, value=value)
        self._panel.controls.append(control)
        return control

    def checkbox(self, label: str, bind: Bind = None, *, value: bool | None = None) -> Checkbox:
        """Add a box to tick; `bind` and `value` are as for `slider`."""
        control = Checkbox(label, bind, value=value)
        self._panel.controls.append(control)
        return control

    def button(self, label: str, callback: Callable[[], object]) -> None:
        """Add a button; an exception of what it calls is shown as one of a step is."""
        key = Key(lambda: label, lambda: self._attempt(callback))
        self._panel.controls.append(Buttons([key]))

    def choice(
        self, label: str, options: Sequence[Any], bind: Bind = None, *, value: Any = None
    ) -> Choice:
        """Add a choice.

        Args:
            label: What stands above it.
            options: What there is to choose from; shown by `str`.
            bind: As for `slider`; an element of a field gets the index of the option.
            value: The option to start with; None for what the binding holds, or the first.

        Raises:
            ViewerError: There are no options, or `bind` is nothing that can be changed.
        """
        control = Choice(label, options, bind, value=value)
        self._panel.controls.append(control)
        return control

    def key(self, key: str, said: str, callback: Callable[[], object]) -> None:
        """Let a key do something; the help lists it.

        Args:
            key: As `KeyDown` has it: a character in lower case, "left", "return" ...
            said: What it does, in a few words.
            callback: What it calls; an exception is shown as one of a step is.

        Raises:
            ViewerError: The key does something already, or there is no such key.
        """
        if key in self._keys:
            raise ViewerError(f"the key {key!r} is taken: {self._keys[key].said}")
        if key not in NAMED and not (len(key) == 1 and key.isprintable() and key == key.lower()):
            raise ViewerError(
                f"{key!r} is no key: a character in lower case, or one of {', '.join(NAMED)}"
            )
        self._keys[key] = Shortcut(said, lambda: self._attempt(callback))

    def handle(self, bind: Bind = None, *, colour: Colour = "#f2a65a") -> Handle:
        """Add a point that one drags in the scene.

        Args:
            bind: What it changes: as for `slider`, but vectors of two or three components.
            colour: A name, "#rrggbb" or three numbers from 0 to 1.

        Raises:
            ViewerError: `bind` is no position.
        """
        handle = Handle(bind, as_colours(colour, 1).reshape(-1, 3)[0])
        self._handles.append(handle)
        return handle

    def plot(self, name: str, value: Any = None, *, log: bool = False) -> None:
        """Note a value, which the panel plots over the times that it was noted.

        Of more than a thousand values the least and the greatest of each of as many stretches of
        time are kept: a long run shows its whole course, and costs no more than a short one.

        Args:
            name: What it is; each name has a plot.
            value: A number, or a field of one element; None to show an empty plot already.
            log: Show a logarithmic axis while all values are positive.
        """
        series = self._panel.series.setdefault(name, Series(log))
        if value is not None:
            series.add(float(np.asarray(value).reshape(())))
