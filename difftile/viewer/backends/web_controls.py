"""Controls, plots and keys of an app as viser's own; they change in both directions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

import numpy as np
import viser
from viser import uplot

from difftile.viewer.backends.inbox import Inbox
from difftile.viewer.controls import Buttons, Checkbox, Choice, Slider
from difftile.viewer.curve import thinned
from difftile.viewer.events import KeyDown, KeyUp
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel
from difftile.viewer.series import Series
from difftile.viewer.theme import SERIES

_SAME = 1e-4  # of the range of a slider: less than this is no move
_PLACES = 200  # that a slider has at least
_PLOTS = 1e6  # where plots begin: controls that are added later stand above them too
_HEIGHT = 115  # of a plot [px]
_AXIS = 30  # height of the numbers below it [px]
_COLUMNS = 300  # of pixels that a plot has, about
# What viser calls keys that have other names here.
_NAMES = {
    "return": "enter",
    **{key: f"arrow{key}" for key in ("left", "right", "up", "down")},
}
# A sign is what the keyboard makes of a key, with Shift or without: plus is above "=" on some.
_PLUS = (("=", None), ("[plus]", None), ("[plus]", "shift"))


class Widget(Protocol):
    """A control on the page."""

    def refresh(self) -> None:
        """Show what the control holds now."""
        ...


class WebPanel:
    """The panel of a page.

    Args:
        gui: Where viser adds things.
        panel: What is shown.
        keys: What keys do.
        inbox: Where it goes what a person does.
    """

    def __init__(
        self, gui: viser.GuiApi, panel: Panel, keys: Mapping[str, Shortcut], inbox: Inbox
    ) -> None:
        self._gui, self._panel, self._keys, self._inbox = gui, panel, keys, inbox
        self._widgets: list[Widget] = []
        self._plots: dict[str, _Plot] = {}
        self._known: set[str] = set()

    def refresh(self) -> None:
        """Show what controls hold now, and those that are new."""
        for widget in self._widgets:
            widget.refresh()
        for control in self._panel.controls[len(self._widgets) :]:
            make = _WIDGETS[type(control)]
            self._widgets.append(make(self._gui, control, self._inbox, len(self._widgets)))
        for key in self._keys.keys() - self._known:
            self._known.add(key)
            self._add_key(key, self._keys[key].said)

    def plot(self) -> None:
        """Show what has been noted up to now."""
        for k, (name, series) in enumerate(self._panel.series.items()):
            if name not in self._plots:
                self._plots[name] = _Plot(self._gui, name, k)
            self._plots[name].show(series)

    def _add_key(self, key: str, said: str) -> None:
        for name, modifier in _PLUS if key == "+" else ((_NAMES.get(key, key), None),):
            hotkey = name.upper() if len(name) == 1 else name
            command = self._gui.add_command(
                said, hotkey=cast(Any, hotkey), modifier=cast(Any, modifier)
            )

            @command.on_trigger
            async def _(_: object) -> None:
                self._inbox.add(KeyDown(key), KeyUp(key))


class _SliderWidget:
    """A slider; one that moves by factors shows its value in its label."""

    def __init__(self, gui: viser.GuiApi, slider: Slider, inbox: Inbox, order: int) -> None:
        self._slider = slider
        self._at = slider.fraction  # where the knob is on the page
        low, high, value = slider.low, slider.high, self._place(slider.fraction)
        whole = isinstance(slider.value, int)
        if slider.log:
            marks = ((0.0, f"{low:g}"), (1.0, f"{high:g}"))
            self._handle: Any = gui.add_multi_slider(
                self._label(), 0.0, 1.0, 1e-3, initial_value=(value,), marks=marks, order=order
            )
        else:
            step = slider.step or 10.0 ** math.floor(math.log10((high - low) / _PLACES))
            kind = int if whole else float
            step = max(round(step), 1) if whole else step
            self._handle = gui.add_slider(
                slider.label,
                kind(low),
                kind(high),
                kind(step),
                initial_value=kind(value),
                order=order,
            )

        @self._handle.on_update
        async def _(event: Any) -> None:
            if event.client is not None:  # else it was `refresh`
                value = self._handle.value
                inbox.add(lambda: self._take(value[0] if slider.log else value))

    def refresh(self) -> None:
        """See `Widget`."""
        slider = self._slider
        if abs(slider.fraction - self._at) > _SAME:
            self._at = slider.fraction
            value = self._place(self._at)
            self._handle.value = (value,) if slider.log else value
        if slider.log and self._handle.label != self._label():
            self._handle.label = self._label()

    def _take(self, value: float) -> None:
        """Take what a person moved it to: a value, or a part of the way where it is by factors."""
        slider = self._slider
        slider.move(slider.low * (slider.high / slider.low) ** value if slider.log else value)
        span = 1.0 if slider.log else slider.high - slider.low
        self._at = (value - (0.0 if slider.log else slider.low)) / span

    def _place(self, fraction: float) -> float:
        slider = self._slider
        return fraction if slider.log else slider.low + fraction * (slider.high - slider.low)

    def _label(self) -> str:
        return f"{self._slider.label} {self._slider.value:.4g}"


class _CheckboxWidget:
    def __init__(self, gui: viser.GuiApi, checkbox: Checkbox, inbox: Inbox, order: int) -> None:
        self._checkbox, self._shown = checkbox, checkbox.value
        self._handle = gui.add_checkbox(checkbox.label, initial_value=checkbox.value, order=order)

        @self._handle.on_update
        async def _(event: Any) -> None:
            if event.client is not None:
                value = self._handle.value
                inbox.add(lambda: self._take(value))

    def refresh(self) -> None:
        """See `Widget`."""
        if self._checkbox.value != self._shown:
            self._handle.value = self._shown = self._checkbox.value

    def _take(self, value: bool) -> None:
        self._checkbox.value = self._shown = value


class _ChoiceWidget:
    def __init__(self, gui: viser.GuiApi, choice: Choice, inbox: Inbox, order: int) -> None:
        self._choice = choice
        self._shown = self._index()
        names = [str(option) for option in choice.options]
        # viser knows options by their names.
        self._names = [
            name if names.count(name) == 1 else f"{name} ({k})" for k, name in enumerate(names)
        ]
        self._handle = gui.add_dropdown(
            choice.label, self._names, initial_value=self._names[self._shown], order=order
        )

        @self._handle.on_update
        async def _(event: Any) -> None:
            if event.client is not None:
                index = self._names.index(self._handle.value)
                inbox.add(lambda: self._take(index))

    def refresh(self) -> None:
        """See `Widget`."""
        if self._index() != self._shown:
            self._shown = self._index()
            self._handle.value = self._names[self._shown]

    def _take(self, index: int) -> None:
        self._shown = index
        self._choice.value = self._choice.options[index]

    def _index(self) -> int:
        value, options = self._choice.value, self._choice.options
        return options.index(value) if value in options else 0


class _ButtonWidget:
    """One button, as wide as the panel."""

    def __init__(self, gui: viser.GuiApi, buttons: Buttons, inbox: Inbox, order: int) -> None:
        (self._key,) = buttons.keys
        self._handle = gui.add_button(self._key.text(), order=order)

        @self._handle.on_click
        async def _(_: object) -> None:
            inbox.add(self._key.press)

    def refresh(self) -> None:
        """See `Widget`."""
        if self._handle.label != self._key.text():
            self._handle.label = self._key.text()


class _ButtonsWidget:
    """Buttons side by side. viser tells what stood on the one that was pressed."""

    def __init__(self, gui: viser.GuiApi, buttons: Buttons, inbox: Inbox, order: int) -> None:
        self._buttons = buttons
        self._pressed: dict[str, Callable[[], object]] = {}  # by all that ever stood there
        self._handle = gui.add_button_group(buttons.label(), self._texts(), order=order)

        @self._handle.on_click
        async def _(_: object) -> None:
            inbox.add(self._pressed[self._handle.value])

    def refresh(self) -> None:
        """See `Widget`."""
        texts = self._texts()
        if self._handle.options != texts:
            self._handle.options = texts
        if self._handle.label != self._buttons.label():
            self._handle.label = self._buttons.label()

    def _texts(self) -> tuple[str, ...]:
        texts = tuple(key.text() for key in self._buttons.keys)
        self._pressed.update(zip(texts, (key.press for key in self._buttons.keys), strict=True))
        return texts


class _Plot:
    """The course of one name, below its last value."""

    def __init__(self, gui: viser.GuiApi, name: str, which: int) -> None:
        self._name, self._log = name, False
        self._shown: tuple[int, float] | None = None
        order = _PLOTS + 2 * which
        self._title = gui.add_markdown(f"**{name}**", order=order)
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

    def show(self, series: Series) -> None:
        """Show all values that are numbers."""
        now = (series.count, series.last)
        if now == self._shown:
            return
        self._shown = now
        times, values = series.times, series.values
        at = np.flatnonzero(np.isfinite(values))
        if not len(at):
            self._title.content = f"**{self._name}**: no values yet"
            return
        low, high = values[at].min(), values[at].max()
        log = series.log and bool(low > 0)
        # uPlot writes numbers with three decimals, whatever their size: so the range stands here.
        span = f"{low:.3g} … {high:.3g}{', log' if log else ''}"
        self._title.content = f"**{self._name} {series.last:.4g}** ({span})"
        if log != self._log:
            self._log = log
            self._handle.scales = _scales(log)
        self._handle.data = thinned(times[at], values[at], _COLUMNS)


def _scales(log: bool) -> dict[str, uplot.Scale]:
    return {"x": uplot.Scale(time=False), "y": uplot.Scale(distr=3 if log else 1)}


def _buttons(gui: viser.GuiApi, buttons: Buttons, inbox: Inbox, order: int) -> Widget:
    make = _ButtonWidget if len(buttons.keys) == 1 else _ButtonsWidget
    return make(gui, buttons, inbox, order)


_WIDGETS: dict[type, Callable[[viser.GuiApi, Any, Inbox, int], Widget]] = {
    Slider: _SliderWidget,
    Checkbox: _CheckboxWidget,
    Choice: _ChoiceWidget,
    Buttons: _buttons,
}
