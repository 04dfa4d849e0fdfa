"""Changes of an app's controls, plots and keys since a page saw them last, and changes back."""

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

_SAME = 1e-4  # of the range of a slider; smaller moves do not count
_COLUMNS = 300  # of pixels in a plot, roughly


class ControlDiff:
    """The controls, plots and keys that a page knows."""

    def __init__(self, panel: Panel, keys: Mapping[str, Shortcut]) -> None:
        self._panel, self._keys = panel, keys
        self._controls: dict[int, ControlState] = {}
        self._plots: dict[str, tuple[int, float]] = {}
        self._known_keys: set[str] = set()

    def controls(self) -> dict[int, ControlState]:
        """Return the controls that have changed, by position."""
        changed: dict[int, ControlState] = {}
        for k, control in enumerate(self._panel.controls):
            now, known = _state_of(control), self._controls.get(k)
            if isinstance(now, SliderState) and isinstance(known, SliderState):
                moved = abs(now.fraction - known.fraction) > _SAME
            else:
                moved = now != known
            if moved:
                changed[k] = now
        self._controls |= changed
        return changed

    def plots(self) -> dict[str, PlotState]:
        """Return the plots with new values, by name."""
        changed: dict[str, PlotState] = {}
        for name, series in self._panel.series.items():
            now = (series.count, series.last)
            if self._plots.get(name) == now:
                continue
            self._plots[name] = now
            times, values = series.times, series.values
            at = np.flatnonzero(np.isfinite(values))
            if not len(at):
                zero = np.zeros(1)
                changed[name] = PlotState(f"**{name}**: no values yet", zero, zero, False)
                continue
            low, high = values[at].min(), values[at].max()
            log = series.log and bool(low > 0)
            # viser's axis shows three decimals whatever the size of the numbers: the caption has
            # the range instead.
            span = f"{low:.3g} … {high:.3g}{', log' if log else ''}"
            x, y = thinned(times[at], values[at], _COLUMNS)
            changed[name] = PlotState(f"**{name} {series.last:.4g}** ({span})", x, y, log)
        return changed

    def keys(self) -> dict[str, str]:
        """Return the new keys with their descriptions."""
        new = self._keys.keys() - self._known_keys
        self._known_keys |= new
        return {key: self._keys[key].said for key in self._keys if key in new}

    def apply(self, change: ControlChange) -> None:
        """Apply a change that a person made on the page, which shows it already."""
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


def _state_of(control: Control) -> ControlState:
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
            distinct = [n if names.count(n) == 1 else f"{n} ({k})" for k, n in enumerate(names)]
            value, options = control.value, control.options
            index = options.index(value) if value in options else 0
            return ChoiceState(control.label, tuple(distinct), index)
        case Buttons():
            return ButtonsState(control.label(), tuple(key.text() for key in control.keys))
        case _:
            raise TypeError(f"a page cannot show {control}")
