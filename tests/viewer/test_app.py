"""Every control and key of an app, by scripted events on the null backend."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import matplotlib.colors
import numpy as np
import pytest
import taichi as ti
from PIL import Image

import difftile as dt
from difftile.diagnostics import ViewerError
from difftile.viewer import (
    App,
    Canvas,
    Close,
    KeyDown,
    KeyUp,
    MouseDown,
    MouseMove,
    MouseUp,
    Resize,
    Scroll,
)
from difftile.viewer.primitives import Text

# The panel of an app of 960 x 640 pixels: it begins at x = 720, the controls at 734 and end at 946.
PLAY, STEP, RESET = (767, 31), (840, 31), (912, 31)
SLOWER, FASTER = (767, 71), (912, 71)
FIRST = 94.0  # where the first control of the user's begins
LEFT, RIGHT = 741.0, 939.0  # the ends of a slider


def click(x: float, y: float, frame: int) -> list[MouseDown | MouseUp]:
    return [MouseDown("left", x, y, frame), MouseUp("left", x, y, frame)]


def null(**options) -> App:
    return App("a test", backend="null", **options)


def colour_at(app: App, x: int, y: int) -> tuple[int, ...]:
    return tuple(app.picture[y, x].tolist())


# Controls


def test_a_slider_moves_the_field_it_is_bound_to() -> None:
    stiffness = dt.full((), 10.0)
    app = null()
    control = app.slider("stiffness", bind=stiffness, min=0.0, max=20.0)
    app.run(events=click(LEFT, FIRST + 30, 1))
    assert stiffness[None] == 0.0
    drag = [MouseDown("left", LEFT, FIRST + 30), MouseMove(RIGHT, 300), MouseUp("left", 0, 0)]
    app.run(events=[*drag, MouseMove(LEFT, FIRST + 30)])  # the last one after it was let go
    assert stiffness[None] == 20.0
    control.value = 5.0
    assert stiffness[None] == 5.0
    assert control.fraction == 0.25


def test_a_logarithmic_slider_moves_by_factors() -> None:
    values = dt.from_numpy(np.array([1.0, 1.0, 1.0], np.float32))
    app = null()
    app.slider("step size", bind=(values, 1), min=1e-4, max=1.0, log=True)
    app.run(events=click((LEFT + RIGHT) / 2, FIRST + 30, 0))
    np.testing.assert_allclose(values.to_numpy(), [1.0, 1e-2, 1.0], rtol=1e-5)


def test_a_slider_with_steps_keeps_integers() -> None:
    @dataclass
    class Options:
        count: int = 3

    options = Options()
    app = null()
    app.slider("count", bind=(options, "count"), min=0, max=10, step=2)
    app.run(events=click(LEFT + 0.53 * (RIGHT - LEFT), FIRST + 30, 0))
    assert options.count == 6
    assert isinstance(options.count, int)


def test_a_slider_of_its_own_has_a_value() -> None:
    app = null()
    control = app.slider("damping", min=0.0, max=1.0, value=0.1)
    assert control.value == 0.1
    app.run(events=click(RIGHT, FIRST + 30, 0))
    assert control.value == 1.0


def test_a_checkbox_changes_what_it_is_bound_to() -> None:
    flag = dt.full((), 0, dtype=ti.i32)
    app = null()
    control = app.checkbox("contacts", bind=flag)
    own = app.checkbox("shadows", value=True)
    app.run(events=[*click(742, FIRST + 13, 0), *click(742, FIRST + 32 + 13, 0)])
    assert flag[None] == 1
    assert control.value is True
    assert own.value is False


def test_a_button_calls_and_shows_what_went_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[str] = []

    def press() -> None:
        calls.append("pressed")
        if len(calls) == 2:
            raise RuntimeError("enough")

    app = null()
    app.button("throw", press)
    app.run(events=click(840, FIRST + 17, 0))
    assert (calls, app.error) == (["pressed"], None)
    with pytest.raises(RuntimeError, match="enough"):
        app.run(events=click(840, FIRST + 17, 0))
    assert app.error is not None and app.error.startswith("RuntimeError: enough\nin press, line")
    assert not capsys.readouterr().err


def test_a_choice_takes_the_option_under_the_mouse() -> None:
    class Look:
        mode = "rgb"

    index = dt.full((), 0, dtype=ti.i32)
    app = null()
    app.choice("mode", ["rgb", "alpha", "depth"], bind=(Look, "mode"))  # 24 + 3 * 24 high
    other = app.choice("scheme", ["explicit", "implicit"], bind=index)
    below = FIRST + 96 + 6
    app.run(events=[*click(760, FIRST + 24 + 60, 0), *click(760, below + 24 + 36, 0)])
    assert Look.mode == "depth"
    assert (index[None], other.value) == (1, "implicit")
    app.run(events=click(760, FIRST + 10, 0))  # its label is no option
    assert Look.mode == "depth"


def test_a_handle_follows_the_mouse_in_the_plane() -> None:
    goal = dt.from_numpy(np.array([[0.5, 0.5]], np.float32), dtype=dt.vec(2, ti.f32), grad=True)
    app = null()
    handle = app.handle(bind=(goal, 0))
    # The view is 640 pixels wide and begins at x = 40; y is up.
    app.run(events=[MouseDown("left", 360, 320), MouseMove(40 + 160, 160), MouseUp("left", 0, 0)])
    np.testing.assert_allclose(goal.to_numpy(), [[0.25, 0.75]], atol=1e-6)
    np.testing.assert_allclose(handle.value, [0.25, 0.75], atol=1e-6)
    app.run(events=[MouseDown("left", 500, 500), MouseMove(510, 510)])  # not on it
    np.testing.assert_allclose(goal.to_numpy(), [[0.25, 0.75]], atol=1e-6)


def test_a_handle_in_space_stays_in_the_plane_of_the_picture() -> None:
    class Target:
        place = (0.0, 0.0, 0.0)

    app = null()
    app.handle(bind=(Target, "place"))
    app.points(np.array([[-1, -1, -1], [1, 1, 1]], np.float32))
    app.run(frames=1)
    app.run(events=[MouseDown("left", 360, 320), MouseMove(420, 320), MouseUp("left", 420, 320)])
    moved = np.array(Target.place)
    assert np.linalg.norm(moved) > 0.1
    assert abs(moved @ app._layout.scene.orbit.axes()[2]) < 1e-5
    assert not app._layout.scene.holding


def test_nothing_hides_a_handle() -> None:
    app = null()
    app.handle(dt.zeros((), dt.vec(3, ti.f32)), colour="red")
    app.look(at=(0.0, 0.0, 0.0), distance=3.0)
    app.mesh([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1, 2]])
    app.run(frames=1)
    assert colour_at(app, 360, 320) == (255, 0, 0)


def test_a_plot_shows_what_was_noted() -> None:
    loss = dt.full((), 2.0)
    app = null()
    app.plot("loss", log=True)

    @app.step
    def step() -> None:
        loss[None] = 1.0 / (1 + app.steps)
        app.plot("loss", loss)

    app.run(frames=20)
    series = app._panel.series["loss"]
    np.testing.assert_allclose(series.values, 1.0 / np.arange(1, 21), rtol=1e-6)
    assert series.log


def test_a_panel_that_is_too_high_scrolls() -> None:
    app = null(size=(480, 320))
    controls = [app.checkbox(f"box {k}") for k in range(20)]
    x = 480 - 240 + 20
    app.run(events=[Scroll(-100.0, x, 200), *click(x, 320 - 34 - 30, 1)])
    assert sum(one.value for one in controls) == 1
    assert any(one.value for one in controls[-3:])
    app.run(events=[Scroll(100.0, x, 200), *click(x, FIRST + 13, 1)])
    assert controls[0].value


# Keys, and the buttons of the panel that do the same


def counting(app: App) -> list[int]:
    done: list[int] = []
    app.step(lambda: done.append(len(done)))
    return done


def test_space_pauses_and_plays() -> None:
    app = null()
    done = counting(app)
    app.run(frames=10, events=[KeyDown("space", 4), KeyUp("space", 4), KeyDown("space", 8)])
    assert (len(done), app.steps) == (6, 6)
    app.run(frames=4, events=click(*PLAY, frame=1))
    assert len(done) == 7
    assert not app.playing


def test_n_does_one_step() -> None:
    app = null()
    done = counting(app)
    app.run(frames=6, events=[KeyDown("n", 2), KeyDown("n", 3), *click(*STEP, frame=5)])
    assert len(done) == 2 + 3  # it pauses first
    assert not app.playing


def test_r_starts_anew() -> None:
    app = null()
    starts: list[str] = []
    app.reset(lambda: starts.append("reset"))
    app.step(lambda: app.plot("loss", 1.0))
    app.run(frames=8, events=[KeyDown("r", 5)])
    assert (starts, app.steps) == (["reset"], 3)
    assert len(app._panel.series["loss"].values) == 3
    app.run(frames=1, events=click(*RESET, frame=0))
    assert len(starts) == 2


def test_a_key_of_the_program_does_what_it_says() -> None:
    app = null()
    pressed: list[str] = []
    app.key("k", "kick the ball", lambda: pressed.append("k"))
    app.key("return", "fail", lambda: pressed[7])
    with pytest.raises(IndexError):
        app.run(events=[KeyDown("k", 1), KeyDown("return", 2), KeyDown("h", 3)])
    assert pressed == ["k"]
    assert app.error is not None and app.error.startswith("IndexError")
    assert app._frame is not None
    words = [one.text for one in app._frame.notices.shapes if isinstance(one, Text)]
    assert any("     k  kick the ball\n" in text for text in words)
    for key, said in (("k", "kick the ball"), ("space", "play or pause"), ("h", "this help")):
        with pytest.raises(ViewerError, match=rf"the key '{key}' is taken \({said}\)"):
            app.key(key, "something else", lambda: None)
    for key in ("K", "shift", "kk", "", "f1"):
        with pytest.raises(ViewerError, match="is not a key; use a character in lower case, or"):
            app.key(key, "nothing", lambda: None)


def test_plus_and_minus_change_the_speed() -> None:
    app = null(speed=1)
    done = counting(app)
    app.run(frames=4, events=[KeyDown("+", 0)])
    assert len(done) == 8
    app.run(frames=8, events=[KeyDown("-", 0), *click(*SLOWER, frame=0)])
    assert len(done) == 8 + 4
    app.run(frames=2, events=click(*FASTER, frame=0))
    assert len(done) == 8 + 4 + 2
    fast = null()
    done = counting(fast)
    fast.run(frames=2)
    assert len(done) == 2  # as fast as it goes is one step a picture here,
    fast.run(frames=2, events=[KeyDown("-", 0)])
    assert len(done) == 2 + 1  # and slower is less than that
    fast.run(frames=1, events=[KeyDown("+", 0)] * 7)
    assert len(done) == 2 + 1 + 1


def test_h_shows_the_keys() -> None:
    app = null()
    app.run(frames=1)
    before = app.picture
    app.run(frames=1, events=[KeyDown("h")])
    assert (before != app.picture)[30:200, 30:300].any()
    app.run(frames=1, events=[KeyDown("h")])
    np.testing.assert_array_equal(before[:500, :700], app.picture[:500, :700])


def test_p_writes_a_screenshot(tmp_path: Path) -> None:
    app = null(screenshots=tmp_path / "shots")
    app.run(frames=4, events=[KeyDown("p", 3)])
    (file,) = (tmp_path / "shots").iterdir()
    assert file.name == "a_test_000003.png"
    assert np.asarray(Image.open(file)).shape == (640, 960, 3)


def test_a_screenshot_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    app = null(screenshots=tmp_path / "file")
    app.run(frames=2, events=[KeyDown("p", 1)])
    assert app._layout._said[0].startswith("could not write")


def test_g_shows_gradients() -> None:
    x = dt.from_numpy(np.full((2, 2), 0.5, np.float32), grad=True)
    x.grad.from_numpy(np.array([[1, 0], [0, -1]], np.float32))
    app = null()
    app.image(x, low=0.0, high=1.0)
    app.run(frames=1)
    plain = [colour_at(app, 100, 150), colour_at(app, 600, 450)]
    app.run(frames=1, events=[KeyDown("g")])
    red, blue = colour_at(app, 100, 150), colour_at(app, 600, 450)
    assert red != plain[0] and red[0] > 200 > red[2]
    assert blue != plain[1] and blue[2] > 200 > blue[0]
    app.run(frames=1, events=[KeyDown("g")])
    assert [colour_at(app, 100, 50), colour_at(app, 600, 450)] == plain


def test_f_looks_at_everything_again() -> None:
    app = null()
    app.points([[0.5, 0.5]], colour=(1.0, 0.0, 0.0), radius=5)
    moves = [Scroll(3.0, 100, 100), MouseDown("right", 100, 100), MouseMove(300, 250)]
    app.run(frames=2, events=[*moves, MouseUp("right", 300, 250)])
    assert colour_at(app, 360, 320) != (255, 0, 0)
    app.run(frames=1, events=[KeyDown("f")])
    assert colour_at(app, 360, 320) == (255, 0, 0)


def test_f_frames_what_is_in_space() -> None:
    app = null()
    app.points(np.array([[9, 9, 9], [11, 11, 11], [10, 10, 10]], np.float32), radius=5)
    app.run(frames=1)
    middle = colour_at(app, 360, 320)
    assert middle == (77, 182, 172)
    app.run(frames=2, events=[MouseDown("middle", 100, 100), MouseMove(260, 300)])
    assert colour_at(app, 360, 320) != middle
    app.run(frames=1, events=[MouseUp("middle", 0, 0), KeyDown("f")])
    assert colour_at(app, 360, 320) == middle


# The mouse in the scene


def test_the_wheel_zooms_to_the_mouse() -> None:
    app = null()
    app.points([[0.25, 0.75]], colour="red", radius=3)
    app.run(frames=2, events=[Scroll(5.0, 200, 160)])
    assert colour_at(app, 200, 160) == (255, 0, 0)


def test_the_mouse_is_known_to_steps() -> None:
    app = null()
    seen: list[tuple[object, bool]] = []
    app.step(lambda: seen.append((app.mouse.at, app.mouse.down)))
    events = [
        MouseMove(360, 320, 1),
        MouseDown("left", 360, 320, 2),
        MouseUp("left", 360, 320, 3),
        MouseMove(800, 320, 4),
    ]
    app.run(frames=5, events=events)
    half = (0.5, 0.5)
    assert seen == [(None, False), (half, False), (half, True), (half, False), (None, False)]


def test_a_click_between_two_pictures_is_not_missed() -> None:
    app = null()
    seen: list[list[tuple[float, float]]] = []
    app.draw(lambda: seen.append(list(app.mouse.clicks)))
    twice = [*click(360, 320, 1), *click(40, 0, 1)]
    app.run(frames=3, events=[*twice, MouseDown("right", 360, 320, 1), *click(800, 320, 2)])
    assert seen == [[], [(0.5, 0.5), (0.0, 1.0)], []]


def test_what_is_under_the_mouse_is_shown() -> None:
    x = dt.from_numpy(np.arange(4, dtype=np.float32).reshape(2, 2), grad=True)
    app = null()
    app.image(x)
    app.run(frames=1)
    before = app.picture
    app.run(frames=1, events=[MouseMove(100, 100)])
    assert (before != app.picture)[110:150, 110:200].mean() > 0.5


# Runs


def test_an_error_in_a_step_is_shown_and_raised_at_the_end(tmp_path: Path) -> None:
    app = null()

    @app.step
    def step() -> None:
        if app.steps == 2:
            raise ValueError("the time step is too large")

    with pytest.raises(ValueError, match="the time step is too large"):
        app.run(frames=500, record=tmp_path / "pictures")
    assert len(list((tmp_path / "pictures").iterdir())) == 3  # the last one says it
    assert app.steps == 2
    assert not app.playing
    assert app.error is not None
    assert "ValueError: the time step is too large" in app.error
    assert 'raise ValueError("the time step is too large")' in app.error
    assert colour_at(app, 600, 600) != (125, 43, 43)
    assert (app.picture == np.array([125, 43, 43])).all(axis=2).sum() > 5000
    app.run(frames=1, events=[KeyDown("r"), KeyDown("space")])
    assert (app.error, app.steps) == (None, 1)
    app.run(frames=7, events=[KeyDown("r", 5), KeyDown("space", 5)])  # which mends it on the way
    assert (app.error, app.steps) == (None, 2)


def test_an_error_in_drawing_leaves_the_rest() -> None:
    app = null()

    @app.draw
    def draw() -> None:
        app.points([[0.5, 0.5]], colour="red", radius=5)
        app.points([0.5])

    with pytest.raises(ViewerError, match="two or three components"):
        app.run(frames=3)
    assert app.error is not None and "two or three components" in app.error
    assert colour_at(app, 360, 320) == (255, 0, 0)


@pytest.mark.parametrize("what", ["slider", "handle"])
def test_a_binding_that_breaks_is_shown(what: str) -> None:
    held = SimpleNamespace(value=0.5)
    app = null()
    if what == "slider":
        app.slider("s", bind=(held, "value"), min=0.0, max=1.0)
    else:
        held.value = np.array([0.5, 0.5])
        app.handle(bind=(held, "value"))

    @app.step
    def step() -> None:
        held.value = None

    press = [MouseDown("left", *at, 3) for at in ((LEFT, FIRST + 30), (360, 320))]
    with pytest.raises(Exception) as raised:
        app.run(frames=5, events=press)
    assert app.error is not None and not app.playing
    assert app.error.startswith(f"{raised.typename}: {raised.value}")
    assert colour_at(app, 10, 10) != (0, 0, 0)
    held.value = np.array([0.5, 0.5]) if what == "handle" else 0.5
    app.step(lambda: None)
    app.run(events=[KeyDown("space", 0)], frames=2)
    assert app.error is None and app.playing


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_left_out(bad: float) -> None:
    option = dt.zeros(())
    for components in (2, 3):
        places = np.random.default_rng(0).random((5, components), np.float32)
        places[2] = bad
        app = null()
        app.image(places)
        app.points(places, colour=places[:, 0])
        app.lines(places)
        app.arrows(places, places)
        app.circles(places, np.array([0.1, 0.2, 0.1, bad, 0.1]))
        app.circles(places, bad, outline=1.0)
        app.mesh(places, [[0, 1, 2]])
        app.text((bad,) * components, "nowhere")
        app.slider("s", bind=option, min=0.1, max=1.0, log=True)
        option[None] = 1.0
        app.choice("c", ["a", "b"], bind=option)
        option[None] = bad
        app.plot("x", bad)
        app.run(frames=3, events=[KeyDown("g"), KeyDown("f", 1), MouseMove(300, 300, 1)])
        assert app.error is None


def test_an_app_runs_again_but_not_within_itself() -> None:
    app, other = null(), null()
    app.step(lambda: other.run(frames=1))
    app.run(frames=2)
    app.run(frames=1)
    assert (app.steps, other.steps, app.error) == (3, 3, None)
    app.step(lambda: app.run(frames=1))
    with pytest.raises(ViewerError, match="the app runs already"):
        app.run(frames=1)


def test_an_app_runs_in_a_thread() -> None:
    apps: list[App] = []

    def work() -> None:
        apps.append(null())
        apps[0].run(frames=2)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert (apps[0].steps, apps[0].error) == (2, None)


def test_an_interrupt_in_a_step_ends_a_run() -> None:
    def step() -> None:
        raise KeyboardInterrupt

    app = null()
    app.step(step)
    with pytest.raises(KeyboardInterrupt):
        app.run(frames=2)
    app.step(lambda: None)
    app.run(frames=0)
    assert app.picture is None
    app.run(frames=1)
    assert app.steps == 1


def test_closing_ends_a_run() -> None:
    app = null()
    done = counting(app)
    app.run(events=[Close(7)])
    assert len(done) == 7


def test_the_size_of_the_window_may_change() -> None:
    app = null()
    app.run(frames=2, events=[Resize(1200, 700, 1)])
    assert app.picture is not None and app.picture.shape == (700, 1200, 3)
    control = app.checkbox("wide")
    app.run(frames=1, events=click(1200 - 240 + 20, FIRST + 13, 0))
    assert control.value


def test_a_run_repeats_exactly() -> None:
    pictures = []
    for _ in range(2):
        app = null()
        app.draw(lambda app=app: app.points([[0.5, 0.01 * app.steps]]))
        app.run(frames=20, events=[KeyDown("space", 9), MouseMove(360, 320, 12)])
        pictures.append(app.picture)
    np.testing.assert_array_equal(*pictures)


def canvas() -> Canvas:
    made = Canvas((0.0, 0.0, 1.0, 1.0))
    made.begin()
    return made


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: App(backend="windw"), "there is no viewer backend 'windw'; choose one of"),
        (lambda: null(size=(100, 100)), "at least"),
        (lambda: null(size=(10**6, 10**6)), "at most"),
        (lambda: null(size=960), r"size is \(width, height\) in pixels, not 960"),
        (lambda: null(size=(960.5, 640)), "the width of size is a whole number of at least 1"),
        (lambda: null(view=(0, 0, 1)), r"view is \(left, bottom, right, top\), not \(0, 0, 1\)"),
        (lambda: null(view=(0, 0, np.inf, 1)), "in order"),
        (lambda: null(speed="fast"), "above 0 steps per picture, not 'fast'"),
        (lambda: null().run(frames=2.5), "frames is a whole number of at least 0, not 2.5"),
        (lambda: null().run(frames=1, fps=np.nan), "fps is a finite number, not nan"),
        (lambda: null().step(3), "app.step takes a function without arguments, not 3"),
        (lambda: null().draw(None), "app.draw takes a function"),
        (lambda: null().button("b", None), "app.button takes a function"),
        (lambda: null().key("x", "kick", None), "app.key takes a function"),
        (lambda: null().plot("a", np.zeros(3)), "the plot 'a' takes one number at a time, not 3"),
        (lambda: null().plot("a", "x"), "values of the plot 'a' are .* real numbers, not 'x'"),
        (lambda: null().slider("a", min="0", max=1), "finite min < max, not '0' and 1"),
        (lambda: null().slider("a", min=0, max=1, value=np.nan), "needs a finite number"),
        (
            lambda: null().slider("a", bind=(SimpleNamespace(x=None), "x"), min=0, max=1),
            "'a' is bound to one number, not to None",
        ),
        (lambda: null().choice("a", "abc"), "takes a list of options, not 'abc'"),
        (lambda: null().choice("a", [np.zeros(2)]), "options of one value each, not arrays"),
        (lambda: null().choice("a", np.zeros(0)), "no options"),
        (lambda: null().look(around=np.zeros((3, 2))), "positions in space"),
        (lambda: null(view=(0, 0, 0, 1)), "in order"),
        (lambda: null(speed=0), "above 0"),
        (lambda: null().run(), "the null backend never closes"),
        (lambda: null().run(frames=1, fps=0), "fps is above 0"),
        (lambda: null().slider("a", min=1, max=1), "min < max"),
        (lambda: null().slider("a", min=0, max=1, log=True), "min > 0"),
        (lambda: null().slider("a", min=0, max=1, step=0), "step above 0"),
        (lambda: null().slider("a", bind=dt.zeros(3), min=0, max=1), "has 3 elements"),
        (lambda: null().slider("a", bind=(App, "b"), min=0, max=1), "type has no such attribute"),
        (lambda: null().slider("a", bind=3, min=0, max=1), "bind is a field of one element"),
        (lambda: null().choice("a", []), "no options"),
        (lambda: null().choice("a", ["b"], value="c"), "not 'c'"),
        (
            lambda: null().choice("show", ["a", 2], bind=(SimpleNamespace(mode="c"), "mode")),
            "'show' is bound to 'c', which is not one of the options 'a', 2; set the attribute to",
        ),
        (
            lambda: null().choice("show", ["a", "b"], bind=dt.full((), 2, dtype=ti.i32)),
            "'show' is bound to an element that holds 2; it holds the index of an option, one of "
            r"0 \('a'\), 1 \('b'\)",
        ),
        (lambda: null().choice("show", ["a", "b"], bind=dt.full((), np.nan)), "that holds nan;"),
        (lambda: null().handle(bind=dt.zeros(())), "two or three numbers"),
        (lambda: null().handle(colour="nothing"), "is not a colour"),
        (lambda: canvas().image(np.zeros((0, 3))), "has no pixels"),
        (lambda: canvas().circles(np.zeros((3, 2)), np.ones(2)), "2 radii do not fit 3 circles"),
        (lambda: canvas().points(np.zeros((3, 2)), colour=np.zeros((2, 3))), "do not fit 3 shapes"),
        (lambda: canvas().mesh(np.zeros((3, 2)), [[0, 1, 3]]), "from 0 to 2, not from 0 to 3"),
        (lambda: null().run(1, record="run.avi"), "use .gif, .webp, .mp4, or a folder"),
    ],
)
def test_misuse_is_refused_in_one_line(make, said: str) -> None:
    with pytest.raises(dt.ViewerError, match=said) as caught:
        make()
    assert "\n" not in str(caught.value)


PLACES = np.zeros((5, 2), np.float32)


@pytest.mark.parametrize(
    ("add", "said"),
    [
        (lambda a: a.points(PLACES, colour="rde"), "'rde' is not a colour; did you mean 'red'?"),
        (lambda a: a.points(PLACES, colour=7), "7 is not a colour; write '#4db6ac' or 'teal'"),
        (
            lambda a: a.points(PLACES, colour=(255, 0, 0)),
            "a colour is three numbers from 0 to 1, or np.uint8, not (255, 0, 0)",
        ),
        (
            lambda a: a.points(PLACES, colour=(0.0, np.nan, 0.0)),
            "a colour is three numbers from 0 to 1, or np.uint8, not (0.0, nan, 0.0)",
        ),
        (
            lambda a: a.points(PLACES, colour=np.full((5, 3), 200)),
            "colours are floats from 0 to 1 or np.uint8, not int64 up to 200; convert bytes by "
            "astype(np.uint8)",
        ),
        (
            lambda a: a.points(PLACES, colour=["red", "blue"]),
            "colours of the shape (2, 3) do not fit 5 shapes: pass one for all, or one for each",
        ),
        (lambda a: a.points(PLACES, radius=-1), "radius is at least 0, not -1"),
        (lambda a: a.points(PLACES, radius=np.nan), "radius is a finite number, not nan"),
        (
            lambda a: a.points(PLACES, radius=np.ones(5)),
            "radius is one number, not an array of the shape (5,)",
        ),
        (
            lambda a: a.points(dt.zeros(5)),
            "positions have two or three components, not the shape (5,)",
        ),
        (
            lambda a: a.points(PLACES * 1j),
            "positions are an array or a field of real numbers, not an array of complex64",
        ),
        (
            lambda a: a.points([[0, 1], [2]]),
            "positions are an array or a field; the rows differ in length",
        ),
        (lambda a: a.circles(PLACES, 0.1, outline="2"), "outline is one number, not '2'"),
        (lambda a: a.circles(PLACES, [0.1, 0.2]), "2 radii do not fit 5 circles"),
        (
            lambda a: a.lines(PLACES, np.zeros((5, 3))),
            "lines begin at positions of the shape (5, 2) and end at (5, 3)",
        ),
        (
            lambda a: a.lines(PLACES, edges=[[0, 9]]),
            "edges of 5 positions have indices from 0 to 4, not from 0 to 9",
        ),
        (
            lambda a: a.lines(PLACES, edges=[[0, 0.5]]),
            "edges are whole numbers, the indices of positions",
        ),
        (
            lambda a: a.lines(PLACES, edges=[[0, 1, 2]]),
            "edges have 2 indices each, not the shape (1, 3)",
        ),
        (lambda a: a.lines(PLACES, PLACES, edges=[[0, 1]]), "lines take either ends or edges"),
        (lambda a: a.lines(PLACES, width=None), "width is one number, not None"),
        (lambda a: a.arrows(PLACES, PLACES, scale=np.inf), "scale is a finite number, not inf"),
        (
            lambda a: a.mesh(PLACES, [[0, 1, 2, 3]]),
            "faces have 3 indices each, not the shape (1, 4)",
        ),
        (
            lambda a: a.mesh(PLACES, [[0, 1, np.nan]]),
            "faces are whole numbers, the indices of vertices",
        ),
        (lambda a: a.text(PLACES, "here"), "text stands at one position, not at 5"),
        (lambda a: a.text((0, 0), "here", size=0), "size is above 0, not 0"),
        (
            lambda a: a.image(np.zeros(5)),
            "an image has the shape (h, w), (h, w, 3) or (h, w, 4), not (5,)",
        ),
        (
            lambda a: a.image(PLACES, colours="magmma"),
            "'magmma' is not a colour map of matplotlib; did you mean 'magma'?",
        ),
        (
            lambda a: a.image(np.full((2, 2, 3), 255)),
            "pixels are floats from 0 to 1 or np.uint8, not int64 up to 255; convert bytes by "
            "astype(np.uint8)",
        ),
        (lambda a: a.image(PLACES, low=1, high=0), "low is at most high, not 1 and 0"),
        (
            lambda a: a.image(PLACES, box=(1, 1, 0, 0)),
            "box is (left, bottom, right, top) in order, not (1, 1, 0, 0)",
        ),
        (
            lambda a: a.image(PLACES, box=(0, 0, 1)),
            "box is (left, bottom, right, top), not (0, 0, 1)",
        ),
    ],
)
def test_a_shape_that_cannot_be_made_is_an_error_at_its_line(add, said: str) -> None:
    app = null()
    with pytest.raises(dt.ViewerError) as caught:
        add(app)
    assert str(caught.value) == said
    app.draw(lambda: add(app))
    with pytest.raises(dt.ViewerError) as caught:
        app.run(frames=1)
    assert str(caught.value) == said
    assert app.error is not None and f"ViewerError: {said}\nin <lambda>, line " in app.error


def test_a_shape_that_becomes_invalid_names_the_line_that_added_it() -> None:
    app = null()
    faces = dt.zeros((1, 3), ti.i32)
    app.text((0.5, 0.5), "before")
    app.mesh(PLACES, faces, colour="red")
    app.run(frames=1)
    faces[0, 2] = 5
    with pytest.raises(dt.ViewerError) as caught:
        app.run(frames=1)
    said = str(caught.value)
    assert said.startswith(
        "faces of 5 vertices have indices from 0 to 4, not from 0 to 5; the shape is added at "
    )
    assert said.endswith(': app.mesh(PLACES, faces, colour="red")') and "test_app.py" in said


def test_three_numbers_are_a_colour_of_three_shapes_too() -> None:
    pictures = []
    for colour in ((1.0, 0.0, 0.0), "#f00", ["red"] * 3, np.array([[255, 0, 0]] * 3, np.uint8)):
        app = null()
        app.circles([[0.2, 0.2], [0.5, 0.5], [0.8, 0.8]], 0.1, colour=colour)
        app.run(frames=1)
        pictures.append(app.picture)
    for other in pictures[1:]:
        np.testing.assert_array_equal(pictures[0], other)


def test_colour_maps_may_be_objects_and_of_any_length() -> None:
    table = matplotlib.colors.ListedColormap(["#ff0000", "#00ff00", "#0000ff"])
    app = null(view=(0.0, 0.0, 3.0, 2.0))
    app.image([[0.0, 1.0, 2.0]], colours=table, box=(0.0, 0.0, 3.0, 2.0))
    app.run(frames=1)
    assert app.picture is not None
    middle = app.picture[320, [120, 360, 600]]
    np.testing.assert_array_equal(middle, 255 * np.eye(3))


def test_the_environment_names_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFTILE_VIEWER", "null")
    app = dt.viewer.App()
    app.run(frames=1)
    assert app.picture is not None and app.picture.shape == (640, 960, 3)
