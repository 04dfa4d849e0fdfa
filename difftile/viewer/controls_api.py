"""The methods of an app that add controls, handles, keys and plots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from difftile.diagnostics import ViewerError
from difftile.tracebacks import boundaries
from difftile.viewer.bindings import Bind
from difftile.viewer.checks import as_array, check_action
from difftile.viewer.controls import Buttons, Checkbox, Choice, Key, Slider
from difftile.viewer.conversions import Colour, as_colours
from difftile.viewer.handle import Handle
from difftile.viewer.keys import NAMED, Shortcut
from difftile.viewer.panel import Panel
from difftile.viewer.series import Series


@boundaries("slider", "checkbox", "button", "choice", "key", "handle", "plot")
class ControlsApi:
    """The part of `App` that adds controls, handles, keys and plots.

    Args:
        attempt: Calls user code and records an exception.
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
            label: The text above it.
            bind: The bound value: a field of one element, `(field, index)`,
                `(object, "attribute")`, or None for a value of its own.
            min: The least value.
            max: The greatest value.
            log: Use a logarithmic scale.
            step: Restrict values to `min` plus multiples of this; None for no restriction.
            value: The initial value; None for the bound value, or else the middle.

        Raises:
            ViewerError: The range is empty, or `bind` cannot be bound.
        """
        control = Slider(label, bind, min, max, log=log, step=step, value=value)
        self._panel.controls.append(control)
        return control

    def checkbox(self, label: str, bind: Bind = None, *, value: bool | None = None) -> Checkbox:
        """Add a checkbox; `bind` and `value` are as for `slider`."""
        control = Checkbox(label, bind, value=value)
        self._panel.controls.append(control)
        return control

    def button(self, label: str, callback: Callable[[], object]) -> None:
        """Add a button; an exception of the callback is shown like one of a step."""
        check_action(callback, "app.button")
        label = str(label)
        key = Key(lambda: label, lambda: self._attempt(callback))
        self._panel.controls.append(Buttons([key]))

    def choice(
        self, label: str, options: Sequence[Any], bind: Bind = None, *, value: Any = None
    ) -> Choice:
        """Add a choice.

        Args:
            label: The text above it.
            options: The options, shown by `str`.
            bind: As for `slider`; an element of a field holds the index of the option.
            value: The initial option; None for the bound one, or else the first.

        Raises:
            ViewerError: There are no options, `bind` cannot be bound, or the bound or initial value
                is not an option.
        """
        control = Choice(label, options, bind, value=value)
        self._panel.controls.append(control)
        return control

    def key(self, key: str, said: str, callback: Callable[[], object]) -> None:
        """Assign an action to a key; the help lists it.

        Args:
            key: A name as in `KeyDown`: a character in lower case, "left", "return" ...
            said: A short description.
            callback: The action; an exception is shown like one of a step.

        Raises:
            ViewerError: The key has an action already, or there is no such key.
        """
        if key in self._keys:
            raise ViewerError(
                f"the key {key!r} is taken ({self._keys[key].said}); choose another key"
            )
        if key not in NAMED and not (len(key) == 1 and key.isprintable() and key == key.lower()):
            raise ViewerError(
                f"{key!r} is not a key; use a character in lower case, or one of {', '.join(NAMED)}"
            )
        check_action(callback, "app.key")
        self._keys[key] = Shortcut(said, lambda: self._attempt(callback))

    def handle(self, bind: Bind = None, *, colour: Colour = "#f2a65a") -> Handle:
        """Add a point of the scene that can be dragged.

        Args:
            bind: As for `slider`, but a vector of two or three components.
            colour: A name, "#rrggbb" or three numbers from 0 to 1.

        Raises:
            ViewerError: `bind` is not a position.
        """
        handle = Handle(bind, as_colours(colour, 1).reshape(-1, 3)[0])
        self._handles.append(handle)
        return handle

    def plot(self, name: str, value: Any = None, *, log: bool = False) -> None:
        """Append a value to a plot in the panel.

        The plot keeps the extremes of about a thousand intervals of time: a long run shows its
        whole course, and costs no more than a short one.

        Args:
            name: The name of the plot.
            value: A number, or a field of one element; None to show an empty plot already.
            log: Show a logarithmic axis while all values are positive.

        Raises:
            ViewerError: The value is not one number.
        """
        name = str(name)
        number = None if value is None else as_array(value, f"values of the plot {name!r}")
        if number is not None and number.size != 1:
            raise ViewerError(f"the plot {name!r} takes one number at a time, not {number.size}")
        series = self._panel.series.setdefault(name, Series(log))
        if number is not None:
            series.add(float(number.item()))
