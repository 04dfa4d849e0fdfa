"""Controls, plots and keys of an app as widgets of viser; changes go in both directions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np
import viser
from viser import uplot

from difftile.viewer.backends.messages import (
    ButtonsState,
    CheckboxState,
    ChoiceState,
    ControlChange,
    Inbox,
    PageUpdate,
    PlotState,
    SliderState,
)
from difftile.viewer.controls import along
from difftile.viewer.events import KeyDown, KeyUp
from difftile.viewer.theme import SERIES

_PLACES = 200  # the least number of positions of a slider
_PLOTS = 1e6  # order of the first plot: controls that are added later still come first
_HEIGHT = 115  # of a plot [px]
_BUTTON = "gray"  # the theme colour is for widgets that can be moved
_AXIS = 30  # height of the numbers below a plot [px]
# viser's names of keys.
_NAMES = {
    "return": "enter",
    **{key: f"arrow{key}" for key in ("left", "right", "up", "down")},
}
# Keyboards differ in whether plus needs Shift; on some it is above "=".
_PLUS = (("=", None), ("[plus]", None), ("[plus]", "shift"))


class Widget(Protocol):
    """A control on the page, made for an initial state."""

    def show(self, state: Any, /) -> None:
        """Show a new state of the control."""
        ...


class Controls:
    """The widgets next to the scene; a person's changes go to the inbox."""

    def __init__(self, gui: viser.GuiApi, inbox: Inbox) -> None:
        self._gui, self._inbox = gui, inbox
        self._widgets: dict[int, Widget] = {}
        self._plots: dict[str, _Plot] = {}

    def show(self, update: PageUpdate) -> None:
        """Show changed controls and plots, and add new keys."""
        for which, state in update.controls.items():
            if which in self._widgets:
                self._widgets[which].show(state)
            else:
                self._widgets[which] = _WIDGETS[type(state)](self._gui, state, self._inbox, which)
        for name, plot in update.plots.items():
            if name not in self._plots:
                self._plots[name] = _Plot(self._gui, len(self._plots))
            self._plots[name].show(plot)
        for key, said in update.keys.items():
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
    """A slider; a logarithmic one shows its value in its label."""

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
            if event.client is None:  # `show` caused it
                return
            value = self._handle.value
            if state.log:
                if len(value) != 1:  # not from a page of viser
                    self.show(self._state)
                    return
                value = along(low, high, True, min(max(value[0], 0.0), 1.0))
                self._handle.label = self._label(value)
            inbox.add(ControlChange(which, min(max(value, low), high)))

    def show(self, state: SliderState) -> None:
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
        """Return the value, clamped to the range of the slider."""
        return min(max(state.value, state.low), state.high)


class _Checkbox:
    def __init__(self, gui: viser.GuiApi, state: CheckboxState, inbox: Inbox, which: int) -> None:
        self._handle = gui.add_checkbox(state.label, initial_value=state.value, order=which)

        @self._handle.on_update
        async def _(event: Any) -> None:
            if event.client is not None:
                inbox.add(ControlChange(which, self._handle.value))

    def show(self, state: CheckboxState) -> None:
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
        self._shown = state.options[state.value]
        self._handle.value = state.options[state.value]


class _Button:
    """A button as wide as the panel."""

    def __init__(self, gui: viser.GuiApi, state: ButtonsState, inbox: Inbox, which: int) -> None:
        self._handle = gui.add_button(state.texts[0], color=_BUTTON, order=which)

        @self._handle.on_click
        async def _(_: object) -> None:
            inbox.add(ControlChange(which, 0))

    def show(self, state: ButtonsState) -> None:
        self._handle.label = state.texts[0]


class _Buttons:
    """Buttons side by side; viser reports the text of the pressed one."""

    def __init__(self, gui: viser.GuiApi, state: ButtonsState, inbox: Inbox, which: int) -> None:
        self._places: dict[str, int] = {}  # by every text that they ever showed
        self._learn(state)
        self._handle = gui.add_button_group(state.label, state.texts, order=which)

        @self._handle.on_click
        async def _(_: object) -> None:
            place = self._places.get(self._handle.value)
            if place is not None:
                inbox.add(ControlChange(which, place))

    def show(self, state: ButtonsState) -> None:
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
    """A curve below its caption."""

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
