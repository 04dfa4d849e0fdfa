"""Controls, plots and keys of an app as data, and what a person has changed about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from difftile.viewer.backends.messages import (
    ButtonsState,
    CheckboxState,
    ChoiceState,
    ControlChange,
    ControlState,
    PlotState,
    SliderState,
)
from difftile.viewer.controls import Buttons, Checkbox, Choice, Control, Slider
from difftile.viewer.curve import thinned
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel
from difftile.viewer.series import Series

_SAME = 1e-4  # of the range of a slider: less than this is no move
_COLUMNS = 300  # of pixels that a plot has, about


class ControlDiff:
    """What of an app a page knows."""

    def __init__(self, panel: Panel, keys: Mapping[str, Shortcut]) -> None:
        self._panel, self._keys = panel, keys
        self._controls: dict[int, ControlState] = {}
        self._plots: dict[str, tuple[int, float]] = {}
        self._said: set[str] = set()

    def controls(self) -> dict[int, ControlState]:
        """Return those that the page does not know as they are."""
        states = {k: _state(one) for k, one in enumerate(self._panel.controls)}
        news = {k: now for k, now in states.items() if _differs(now, self._controls.get(k))}
        self._controls |= news
        return news

    def plots(self) -> dict[str, PlotState]:
        """Return those with new values."""
        found: dict[str, PlotState] = {}
        for name, series in self._panel.series.items():
            now = (series.count, series.last)
            if self._plots.get(name) != now:
                self._plots[name] = now
                found[name] = _plot(name, series)
        return found

    def keys(self) -> dict[str, str]:
        """Return those that are new, with what they do."""
        new = self._keys.keys() - self._said
        self._said |= new
        return {key: self._keys[key].said for key in self._keys if key in new}

    def take(self, change: ControlChange) -> None:
        """Do what a person did on the page, which shows it already."""
        control, known = self._panel.controls[change.which], self._controls[change.which]
        match control, known:
            case Slider(), SliderState():
                control.move(change.value)
                fraction = control.fraction_of(change.value)
                known = replace(known, value=change.value, fraction=fraction)
            case Checkbox(), CheckboxState():
                control.value = bool(change.value)
                known = replace(known, value=control.value)
            case Choice(), ChoiceState():
                control.value = control.options[int(change.value)]
                known = replace(known, value=int(change.value))
            case Buttons(), ButtonsState():
                control.keys[int(change.value)].press()
            case _:
                raise TypeError(f"{control} is shown as {known}")
        self._controls[change.which] = known


def _state(control: Control) -> ControlState:
    match control:
        case Slider():
            low, high, value = control.low, control.high, control.value
            whole = isinstance(value, int)
            return SliderState(
                control.label, low, high, control.step, control.log, whole, value, control.fraction
            )
        case Checkbox():
            return CheckboxState(control.label, control.value)
        case Choice():
            names = [str(option) for option in control.options]
            unlike = [n if names.count(n) == 1 else f"{n} ({k})" for k, n in enumerate(names)]
            value, options = control.value, control.options
            index = options.index(value) if value in options else 0
            return ChoiceState(control.label, tuple(unlike), index)
        case Buttons():
            return ButtonsState(control.label(), tuple(key.text() for key in control.keys))
        case _:
            raise TypeError(f"a page has nothing like {control}")


def _differs(now: ControlState, known: ControlState | None) -> bool:
    match now, known:
        case SliderState(fraction=a), SliderState(fraction=b):
            return abs(a - b) > _SAME
        case _:
            return now != known


def _plot(name: str, series: Series) -> PlotState:
    times, values = series.times, series.values
    at = np.flatnonzero(np.isfinite(values))
    if not len(at):
        return PlotState(f"**{name}**: no values yet", np.zeros(1), np.zeros(1), False)
    low, high = values[at].min(), values[at].max()
    log = series.log and bool(low > 0)
    # Numbers at the axis would have three decimals, whatever their size: so the range stands here.
    span = f"{low:.3g} … {high:.3g}{', log' if log else ''}"
    x, y = thinned(times[at], values[at], _COLUMNS)
    return PlotState(f"**{name} {series.last:.4g}** ({span})", x, y, log)
