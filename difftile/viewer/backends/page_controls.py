"""Controls, plots and keys of an app as viser's own; they change in both directions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np
import viser
from viser import uplot

from difftile.viewer.backends.inbox import Inbox
from difftile.viewer.backends.messages import (
    ButtonsState,
    CheckboxState,
    ChoiceState,
    ControlChange,
    PageUpdate,
    PlotState,
    SliderState,
)
from difftile.viewer.controls import along
from difftile.viewer.events import KeyDown, KeyUp
from difftile.viewer.theme import SERIES

_PLACES = 200  # that a slider has at least
_PLOTS = 1e6  # where plots begin: controls that are added later stand above them too
_HEIGHT = 115  # of a plot [px]
_BUTTON = "gray"  # the colour of theme is for what can be moved
_AXIS = 30  # height of the numbers below it [px]
# What viser calls keys that have other names here.
_NAMES = {
    "return": "enter",
    **{key: f"arrow{key}" for key in ("left", "right", "up", "down")},
}
# A sign is what the keyboard makes of a key, with Shift or without: plus is above "=" on some.
_PLUS = (("=", None), ("[plus]", None), ("[plus]", "shift"))


class Widget(Protocol):
    """A control on the page, which is made for a first state."""

    def show(self, state: Any, /) -> None:
        """Show what has become of the control."""
        ...


class Controls:
    """What stands beside the scene.

    Args:
        gui: Where viser adds things.
        inbox: Where it goes what a person does.
    """

    def __init__(self, gui: viser.GuiApi, inbox: Inbox) -> None:
        self._gui, self._inbox = gui, inbox
        self._widgets: dict[int, Widget] = {}
        self._plots: dict[str, _Plot] = {}

    def show(self, news: PageUpdate) -> None:
        """Show what has changed."""
        for which, state in news.controls.items():
            if which in self._widgets:
                self._widgets[which].show(state)
            else:
                self._widgets[which] = _WIDGETS[type(state)](self._gui, state, self._inbox, which)
        for name, plot in news.plots.items():
            if name not in self._plots:
                self._plots[name] = _Plot(self._gui, len(self._plots))
            self._plots[name].show(plot)
        for key, said in news.keys.items():
            self._add_key(key, said)

    def _add_key(self, key: str, said: str) -> None:
        for name, modifier in _PLUS if key == "+" else ((_NAMES.get(key, key), None),):
            hotkey = name.upper() if len(name) == 1 else name
            command = self._gui.add_command(
                said, hotkey=cast(Any, hotkey), modifier=cast(Any, modifier)
            )

            @command.on_trigger
            async def _(_: object) -> None:
                self._inbox.add(KeyDown(key), KeyUp(key))


class _Slider:
    """A slider; one that moves by factors has its value in its label."""

    def __init__(self, gui: viser.GuiApi, state: SliderState, inbox: Inbox, which: int) -> None:
        low, high, self._state = state.low, state.high, state
        if state.log:
            marks = ((0.0, f"{low:g}"), (1.0, f"{high:g}"))
            self._handle: Any = gui.add_multi_slider(
                self._label(state.value),
                0.0,
                1.0,
                1e-3,
                initial_value=(state.fraction,),
                marks=marks,
                order=which,
            )
        else:
            kind = int if state.whole else float
            step = state.step or 10.0 ** math.floor(math.log10((high - low) / _PLACES))
            self._handle = gui.add_slider(
                state.label,
                kind(low),
                kind(high),
                max(round(step), 1) if state.whole else step,
                initial_value=self._inside(state),
                order=which,
            )

        @self._handle.on_update
        async def _(event: Any) -> None:
            if event.client is None:  # it was `show`
                return
            value = self._handle.value
            if state.log:
                if len(value) != 1:  # what no page says
                    self.show(self._state)
                    return
                value = along(low, high, True, min(max(value[0], 0.0), 1.0))
                self._handle.label = self._label(value)
            inbox.add(ControlChange(which, min(max(value, low), high)))

    def show(self, state: SliderState) -> None:
        """See `Widget`."""
        self._state = state
        if state.log:
            self._handle.value = (state.fraction,)
            self._handle.label = self._label(state.value)
        else:
            self._handle.value = self._inside(state)

    def _label(self, value: float) -> str:
        return f"{self._state.label} {value:.4g}"

    @staticmethod
    def _inside(state: SliderState) -> float:
        """Return the value, or the end of the slider that is nearest to it."""
        return min(max(state.value, state.low), state.high)


class _Checkbox:
    def __init__(self, gui: viser.GuiApi, state: CheckboxState, inbox: Inbox, which: int) -> None:
        self._handle = gui.add_checkbox(state.label, initial_value=state.value, order=which)

        @self._handle.on_update
        async def _(event: Any) -> None:
            if event.client is not None:
                inbox.add(ControlChange(which, self._handle.value))

    def show(self, state: CheckboxState) -> None:
        """See `Widget`."""
        self._handle.value = state.value


class _Choice:
    def __init__(self, gui: viser.GuiApi, state: ChoiceState, inbox: Inbox, which: int) -> None:
        names = state.options
        self._handle = gui.add_dropdown(
            state.label, names, initial_value=names[state.value], order=which
        )

        @self._handle.on_update
        async def _(event: Any) -> None:
            if event.client is not None and self._handle.value in names:
                inbox.add(ControlChange(which, names.index(self._handle.value)))
            elif event.client is not None:
                self._handle.value = self._shown

        self._shown = names[state.value]

    def show(self, state: ChoiceState) -> None:
        """See `Widget`."""
        self._shown = state.options[state.value]
        self._handle.value = state.options[state.value]


class _Button:
    """One button, as wide as the panel."""

    def __init__(self, gui: viser.GuiApi, state: ButtonsState, inbox: Inbox, which: int) -> None:
        self._handle = gui.add_button(state.texts[0], color=_BUTTON, order=which)

        @self._handle.on_click
        async def _(_: object) -> None:
            inbox.add(ControlChange(which, 0))

    def show(self, state: ButtonsState) -> None:
        """See `Widget`."""
        self._handle.label = state.texts[0]


class _Buttons:
    """Buttons side by side. viser tells what stood on the one that was pressed."""

    def __init__(self, gui: viser.GuiApi, state: ButtonsState, inbox: Inbox, which: int) -> None:
        self._places: dict[str, int] = {}  # by all that ever stood on them
        self._learn(state)
        self._handle = gui.add_button_group(state.label, state.texts, order=which)

        @self._handle.on_click
        async def _(_: object) -> None:
            place = self._places.get(self._handle.value)
            if place is not None:
                inbox.add(ControlChange(which, place))

    def show(self, state: ButtonsState) -> None:
        """See `Widget`."""
        self._learn(state)
        if self._handle.options != state.texts:
            self._handle.options = state.texts
        self._handle.label = state.label

    def _learn(self, state: ButtonsState) -> None:
        self._places.update((text, k) for k, text in enumerate(state.texts))


def _buttons(gui: viser.GuiApi, state: ButtonsState, inbox: Inbox, which: int) -> Widget:
    make = _Button if len(state.texts) == 1 else _Buttons
    return make(gui, state, inbox, which)


class _Plot:
    """A curve, below what is said of it."""

    def __init__(self, gui: viser.GuiApi, which: int) -> None:
        self._log = False
        order = _PLOTS + 2 * which
        self._title = gui.add_markdown("", order=order)
        red, green, blue = SERIES[which % len(SERIES)].tolist()
        line = uplot.Series(
            stroke=f"rgb({red}, {green}, {blue})", width=1.6, points=uplot.Series_Points(show=False)
        )
        self._handle = gui.add_uplot(
            (np.zeros(1), np.zeros(1)),
            (uplot.Series(), line),
            scales=_scales(log=False),
            legend=uplot.Legend(show=False),
            axes=(uplot.Axis(size=_AXIS), uplot.Axis(show=False)),
            height=_HEIGHT,
            padding=(8, 8, 0, 8),
            order=order + 1,
        )

    def show(self, state: PlotState) -> None:
        """Show what there is now."""
        self._title.content = state.said
        if state.log != self._log:
            self._log = state.log
            self._handle.scales = _scales(state.log)
        self._handle.data = (state.x, state.y)


def _scales(log: bool) -> dict[str, uplot.Scale]:
    return {"x": uplot.Scale(time=False), "y": uplot.Scale(distr=3 if log else 1)}


_WIDGETS: dict[type, Callable[[viser.GuiApi, Any, Inbox, int], Widget]] = {
    SliderState: _Slider,
    CheckboxState: _Checkbox,
    ChoiceState: _Choice,
    ButtonsState: _buttons,
}
