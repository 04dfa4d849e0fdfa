"""Controls: the appearance of each in a rectangle of the panel, and its response to the mouse."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from difftile.diagnostics import ViewerError
from difftile.viewer.bindings import Bind, bind_to
from difftile.viewer.boxes import at, filled
from difftile.viewer.primitives import Bytes, Circles, Primitive, Text
from difftile.viewer.screen import Area
from difftile.viewer.surface import fitted, text_width
from difftile.viewer.theme import ACCENT, FAINT, HOVERED, INK, PANEL, RAISED

_LETTERS = 13.0  # [px]
_ROW = 24.0  # of a choice [px]


class Control(ABC):
    """A widget of the panel, in a rectangle of the panel's width and its own `height`."""

    height: float

    @abstractmethod
    def draw(self, area: Area, mouse: tuple[float, float] | None) -> list[Primitive]:
        """Return the shapes, in pixels; `mouse` is its position if it is inside."""

    @abstractmethod
    def press(self, area: Area, x: float, y: float) -> None:
        """Handle a press of the left button inside."""

    def drag(self, area: Area, x: float, y: float) -> None:
        """Handle a move of the mouse while the button is held; most controls ignore it."""
        return


class Slider(Control):
    """A number within a range.

    Attributes:
        value: The number; setting it moves the slider.
    """

    height = 42.0

    def __init__(
        self,
        label: str,
        bind: Bind,
        low: float,
        high: float,
        *,
        log: bool = False,
        step: float | None = None,
        value: float | None = None,
    ) -> None:
        if not (_is_finite(low) and _is_finite(high) and low < high):
            raise ViewerError(f"{label!r} needs finite min < max, not {low!r} and {high!r}")
        if log and low <= 0:
            raise ViewerError(f"{label!r} with log=True needs min > 0, not {low}")
        if step is not None and not (_is_finite(step) and step > 0):
            raise ViewerError(f"{label!r} needs a step above 0, not {step!r}")
        if value is not None and not _is_finite(value):
            raise ViewerError(f"{label!r} needs a finite number as its value, not {value!r}")
        label = str(label)
        self.label, self.low, self.high, self.log, self.step = label, low, high, log, step
        start = (math.sqrt(low * high) if log else (low + high) / 2) if value is None else value
        self._binding = bind_to(bind, start, label)
        if value is not None and bind is not None:
            self._binding.set(value)
        held = self._binding.get()
        if not isinstance(held, Real):
            raise ViewerError(f"{label!r} is bound to one number, not to {held!r}")

    @property
    def value(self) -> Any:
        """The bound number."""
        return self._binding.get()

    @value.setter
    def value(self, value: float) -> None:
        self._binding.set(value)

    @property
    def fraction(self) -> float:
        """The position of the knob, from 0 to 1; clamped for a value outside of the range."""
        return self.fraction_of(float(self.value))

    def fraction_of(self, value: float) -> float:
        """Return the position of the knob for a value."""
        if self.log:
            value = max(value, self.low)
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return min(max(part, 0.0), 1.0) if math.isfinite(part) else 0.0

    def draw(self, area: Area, mouse: tuple[float, float] | None) -> list[Primitive]:
        """See `Control`."""
        left, width = self._track(area)
        y = area.top + 30
        knob = left + self.fraction * width
        shown = f"{self.value:.4g}" if isinstance(self.value, float) else f"{self.value}"
        room = area.width - text_width(shown, _LETTERS) - 10
        return [
            Text(at(area.left, area.top + 2), fitted(self.label, room, _LETTERS), INK, _LETTERS),
            Text(at(area.left + area.width, area.top + 2), shown, FAINT, _LETTERS, "rt"),
            filled(Area(left, y - 2, width, 4), HOVERED if mouse else RAISED, 2),
            filled(Area(left, y - 2, max(knob - left, 1.0), 4), ACCENT, 2),
            _disc(knob, y, 7.0 if mouse else 6.0, ACCENT),
        ]

    def press(self, area: Area, x: float, y: float) -> None:
        """See `Control`."""
        left, width = self._track(area)
        part = min(max((x - left) / width, 0.0), 1.0)
        self.move(along(self.low, self.high, self.log, part))

    drag = press

    def move(self, value: float) -> None:
        """Set the value, rounded to a step and clamped to the range."""
        if self.step is not None:
            value = self.low + self.step * round((value - self.low) / self.step)
        value = min(max(value, self.low), self.high)
        self.value = round(value) if isinstance(self.value, int) else value

    @staticmethod
    def _track(area: Area) -> tuple[float, float]:
        """Return the start and the length of the line of the knob."""
        return area.left + 7, area.width - 14


class Checkbox(Control):
    """A truth value.

    Attributes:
        value: Whether the box is ticked.
    """

    height = 26.0

    def __init__(self, label: str, bind: Bind, *, value: bool | None = None) -> None:
        self.label = label = str(label)
        self._binding = bind_to(bind, bool(value), label)
        if value is not None and bind is not None:
            self._binding.set(value)

    @property
    def value(self) -> bool:
        """Whether the box is ticked."""
        return bool(self._binding.get())

    @value.setter
    def value(self, value: bool) -> None:
        self._binding.set(value)

    def draw(self, area: Area, mouse: tuple[float, float] | None) -> list[Primitive]:
        """See `Control`."""
        y = area.top + 5
        rim = ACCENT if self.value else HOVERED if mouse else RAISED
        found: list[Primitive] = [filled(Area(area.left, y, 16, 16), rim, 4)]
        if self.value:
            found.append(Text(at(area.left + 8, y + 8), "✓", PANEL, 13.0, "mm", bold=True))
        label = fitted(self.label, area.width - 26, _LETTERS)
        return [*found, Text(at(area.left + 26, y + 8), label, INK, _LETTERS, "lm")]

    def press(self, area: Area, x: float, y: float) -> None:
        """See `Control`."""
        self.value = not self.value


class Choice(Control):
    """One of several options.

    Attributes:
        value: The option.
    """

    def __init__(
        self, label: str, options: Sequence[Any], bind: Bind, *, value: Any = None
    ) -> None:
        if isinstance(options, str):
            raise ViewerError(f"{label!r} takes a list of options, not {options!r}")
        self.label, self.options = str(label), tuple(options)
        if not self.options:
            raise ViewerError(f"{label!r} has no options to choose from")
        if any(getattr(one, "shape", ()) for one in self.options):
            raise ViewerError(f"{label!r} has options of one value each, not arrays")
        label = self.label
        self._binding = bind_to(bind, self.options[0], label)
        self.height = 24.0 + _ROW * len(self.options)
        if value is not None:
            self.value = value
        elif bind is not None:
            self._check_bound()

    @property
    def value(self) -> Any:
        """The chosen option; an element of a field holds its index, which is clamped."""
        held = self._binding.get()
        if self._binding.is_element:
            index = 0 if math.isnan(held) else min(max(held, 0), len(self.options) - 1)
            return self.options[int(index)]
        return held

    @value.setter
    def value(self, value: Any) -> None:
        if value not in self.options:
            raise ViewerError(f"{self.label!r} has the options {self.options}, not {value!r}")
        self._binding.set(self.options.index(value) if self._binding.is_element else value)

    def _check_bound(self) -> None:
        """Raise an error if the bound value is not an option, which would show as another one."""
        held, last = self._binding.get(), len(self.options) - 1
        if self._binding.is_element:
            if held not in range(last + 1):
                known = ", ".join(f"{k} ({one!r})" for k, one in enumerate(self.options))
                raise ViewerError(
                    f"{self.label!r} is bound to an element that holds {held}; it holds the index "
                    f"of an option, one of {known}"
                )
        elif held not in self.options:
            raise ViewerError(
                f"{self.label!r} is bound to {held!r}, which is not one of the options "
                f"{', '.join(map(repr, self.options))}; set the attribute to one of them, or pass "
                "`value`"
            )

    def draw(self, area: Area, mouse: tuple[float, float] | None) -> list[Primitive]:
        """See `Control`."""
        label = fitted(self.label, area.width, _LETTERS)
        found: list[Primitive] = [Text(at(area.left, area.top + 2), label, INK, _LETTERS)]
        over = None if mouse is None else self._row(area, mouse[1])
        for k, option in enumerate(self.options):
            y = area.top + 24 + _ROW * (k + 0.5)
            chosen = option == self.value
            found.append(_disc(area.left + 8, y, 7.0, HOVERED if k == over else RAISED))
            if chosen:
                found.append(_disc(area.left + 8, y, 4.5, ACCENT))
            words = fitted(str(option), area.width - 26, _LETTERS)
            ink = INK if chosen else FAINT
            found.append(Text(at(area.left + 26, y), words, ink, _LETTERS, "lm"))
        return found

    def press(self, area: Area, x: float, y: float) -> None:
        """See `Control`."""
        row = self._row(area, y)
        if row is not None:
            self.value = self.options[row]

    def _row(self, area: Area, y: float) -> int | None:
        row = math.floor((y - area.top - 24) / _ROW)
        return row if 0 <= row < len(self.options) else None


@dataclass(frozen=True, slots=True)
class Key:
    """One of several buttons side by side.

    Args:
        text: Returns the current text.
        press: The action.
        lit: Returns whether the button is highlighted now.
    """

    text: Callable[[], str]
    press: Callable[[], object]
    lit: Callable[[], bool] = lambda: False


class Buttons(Control):
    """One or more buttons side by side.

    Args:
        keys: From left to right.
        label: Returns their common label; a page shows it, the panel has no room for it.
    """

    height = 34.0

    def __init__(self, keys: Sequence[Key], label: Callable[[], str] = lambda: "") -> None:
        self.keys, self.label = tuple(keys), label

    def draw(self, area: Area, mouse: tuple[float, float] | None) -> list[Primitive]:
        """See `Control`."""
        found: list[Primitive] = []
        for key, place in zip(self.keys, self._places(area), strict=True):
            fill = HOVERED if mouse is not None and place.holds(*mouse) else RAISED
            lit = key.lit()
            words = fitted(key.text(), place.width - 6, _LETTERS)
            found.append(filled(place, ACCENT if lit else fill, 5))
            found.append(Text(at(*place.center), words, PANEL if lit else INK, _LETTERS, "mm"))
        return found

    def press(self, area: Area, x: float, y: float) -> None:
        """See `Control`."""
        for key, place in zip(self.keys, self._places(area), strict=True):
            if place.holds(x, y):
                key.press()

    def _places(self, area: Area) -> list[Area]:
        gap = 6.0
        width = (area.width - gap * (len(self.keys) - 1)) / len(self.keys)
        return [
            Area(area.left + k * (width + gap), area.top + 3, width, self.height - 6)
            for k in range(len(self.keys))
        ]


def _is_finite(number: object) -> bool:
    return isinstance(number, Real) and math.isfinite(number)


def along(low: float, high: float, log: bool, fraction: float) -> float:
    """Return the value at a fraction of a range, on a linear or a logarithmic scale."""
    return low * (high / low) ** fraction if log else low + fraction * (high - low)


def _disc(x: float, y: float, radius: float, fill: Bytes) -> Circles:
    return Circles(at(x, y)[None], np.array([radius], np.float32), fill)
