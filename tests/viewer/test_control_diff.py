"""The controls of an app on a page, and the changes that the page makes."""

from __future__ import annotations

import math

import pytest

import difftile as dt
from difftile.viewer.backends.control_diff import ControlDiff
from difftile.viewer.backends.messages import ButtonsState, ChoiceState, ControlChange, SliderState
from difftile.viewer.controls import Buttons, Checkbox, Choice, Key, Slider
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel
from difftile.viewer.series import Series


def diff_of(*controls) -> ControlDiff:
    panel = Panel()
    panel.controls += controls
    return ControlDiff(panel, {})


def test_a_page_learns_what_has_changed_alone() -> None:
    damping = Slider("damping", None, 0.0, 1.0)
    contacts = Checkbox("contacts", None, value=True)
    diff = diff_of(damping, contacts)
    assert list(diff.controls()) == [0, 1]
    assert diff.controls() == {}
    damping.value = 0.75
    state = SliderState("damping", 0.0, 1.0, None, False, False, 0.75, 0.75)
    assert diff.controls() == {0: state}
    contacts.value = False
    assert list(diff.controls()) == [1]


def test_a_page_is_not_told_what_it_did() -> None:
    stiffness = dt.full((), 1.0)  # in single precision: not quite the value of the page
    slider, box = Slider("stiffness", stiffness, 0.1, 10.0, log=True), Checkbox("contacts", None)
    choice = Choice("show", ["points", "lines"], None)
    diff = diff_of(slider, box, choice)
    diff.controls()
    diff.apply(ControlChange(0, 3.3))
    diff.apply(ControlChange(1, True))
    diff.apply(ControlChange(2, 1))
    assert (stiffness[None], box.value, choice.value) == (pytest.approx(3.3), True, "lines")
    assert diff.controls() == {}


def test_a_page_is_told_where_a_slider_has_no_such_place() -> None:
    slider = Slider("sides", None, 3, 9, step=2, value=3)
    diff = diff_of(slider)
    diff.controls()
    diff.apply(ControlChange(0, 6.4))
    assert slider.value == 7
    assert diff.controls() == {0: SliderState("sides", 3, 9, 2, False, True, 7, 4 / 6)}


def test_a_value_that_was_changed_at_both_ends_is_that_of_the_page() -> None:
    slider = Slider("damping", None, 0.0, 1.0)
    diff = diff_of(slider)
    diff.controls()
    slider.value = 0.2
    diff.apply(ControlChange(0, 0.9))
    assert slider.value == 0.9
    assert diff.controls() == {}


def test_buttons_are_pressed_by_their_places() -> None:
    pressed: list[str] = []
    words = ["play"]
    keys = [Key(lambda: words[0], lambda: pressed.append("play")), Key(lambda: "step", print)]
    diff = diff_of(Buttons(keys, label=lambda: "time"))
    assert diff.controls() == {0: ButtonsState("time", ("play", "step"))}
    diff.apply(ControlChange(0, 0))
    assert pressed == ["play"]
    words[0] = "pause"
    assert diff.controls() == {0: ButtonsState("time", ("pause", "step"))}


def test_options_that_look_alike_have_names_of_their_own() -> None:
    diff = diff_of(Choice("order", [1, "1", 2], None, value="1"))
    assert diff.controls() == {0: ChoiceState("order", ("1 (0)", "1 (1)", "2"), 1)}


def test_plots_and_keys_come_when_they_are_new() -> None:
    panel, keys = Panel(), {"p": Shortcut("write a screenshot", print)}
    diff = ControlDiff(panel, keys)
    assert diff.keys() == {"p": "write a screenshot"}
    keys["k"] = Shortcut("knock", print)
    assert diff.keys() == {"k": "knock"}
    panel.series["loss"] = loss = Series(log=True)
    assert diff.plots()["loss"].said == "**loss**: no values yet"
    for value in (1.0, math.nan, 0.01):
        loss.add(value)
    plot = diff.plots()["loss"]
    assert plot.said == "**loss 0.01** (0.01 … 1, log)"
    assert (plot.x.tolist(), plot.y.tolist(), plot.log) == ([0, 2], [1.0, 0.01], True)
    assert diff.plots() == {}
    loss.clear()
    for value in (3.0, 2.0, 4.0):  # as many as before
        loss.add(value)
    assert diff.plots()["loss"].y.tolist() == [3.0, 2.0, 4.0]
