"""Apps: controls, steps and pictures around one simulation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from PIL import Image

from difftile.diagnostics import ViewerError
from difftile.ranks import is_first
from difftile.tracebacks import boundary
from difftile.viewer.backends.base import Backend
from difftile.viewer.backends.choose import choose, is_free
from difftile.viewer.backends.fallback import instead_of_window
from difftile.viewer.backends.native_window import NoWindow
from difftile.viewer.backends.notebook import NotebookBackend
from difftile.viewer.backends.null import NullBackend
from difftile.viewer.canvas import Canvas
from difftile.viewer.checks import as_box, as_count, as_size, check_action
from difftile.viewer.controls import Buttons, Key
from difftile.viewer.controls_api import ControlsApi
from difftile.viewer.conversions import Data, as_backdrop, as_positions
from difftile.viewer.events import Event, Resize
from difftile.viewer.frame import Frame
from difftile.viewer.keys import Shortcut
from difftile.viewer.layout import ScreenLayout, checked_size
from difftile.viewer.loop import Course, run
from difftile.viewer.orbit import Orbit, View
from difftile.viewer.primitives import Backdrop, Box, Primitive
from difftile.viewer.record import VideoWriter, open_writer
from difftile.viewer.scene import Mouse

_Action = TypeVar("_Action", bound=Callable[[], object])
_Render = TypeVar("_Render", bound=Callable[[View], Any])


class App(ControlsApi):
    """Pictures of a simulation, and controls that change it while it runs.

    Shapes that are added before `run` are permanent and follow their fields; shapes that the
    function under `@app.draw` adds belong to one picture. `Canvas` documents the shapes.

    Args:
        title: The title of the window.
        size: Width and height of the pictures [px].
        backend: "window" (with a toolkit: "window:ti" or "window:tk"), "web" (with an address as in
            "web:port" or "web:host:port"), "notebook" for pictures below a cell, "null", or a
            backend; None for the name in the environment variable DIFFTILE_VIEWER, or else
            "window", or "web" where no window can be opened and in notebooks.
        view: The part of the plane that is shown: left, bottom, right, top; y is up.
        speed: Steps per picture; None for as many as time allows.
        screenshots: The folder that the key `p` writes to.

    Attributes:
        mouse: The mouse over the scene, for steps and drawing.
        steps: The number of steps since the last reset.

    Raises:
        ViewerError: There is no such backend, or the size, view or speed is invalid.
    """

    @boundary
    def __init__(
        self,
        title: str = "difftile",
        size: tuple[int, int] = (960, 640),
        backend: str | Backend | None = None,
        *,
        view: Box = (0.0, 0.0, 1.0, 1.0),
        speed: float | None = None,
        screenshots: str | Path = "out",
    ) -> None:
        size, view = checked_size(size), as_box(view, "view")
        if speed is not None and not (isinstance(cast(object, speed), Real) and speed > 0):
            raise ViewerError(f"the speed is above 0 steps per picture, not {speed!r}")
        self._course = Course(math.inf if speed is None else speed)
        super().__init__(self._course.attempt)
        self.title = str(title)
        self._backend = choose(backend)
        self._may_fall_back = is_free(backend)
        self._canvas = Canvas(view)
        self._folder = Path(screenshots)
        self._step: Callable[[], object] | None = None
        self._draw: Callable[[], object] | None = None
        self._reset: Callable[[], object] | None = None
        self._backdrop: Callable[[View], Backdrop | None] | None = None
        self._backdrop_scale = 1.0
        self._frame: Frame | None = None
        self._recorder: VideoWriter | None = None
        self._running = False
        self._layout = ScreenLayout(size, view, None, self._keys, self._time)
        self._attach()
        self._layout.scene.handles = self._handles
        self._add_keys()
        self.image = self._canvas.image
        self.points = self._canvas.points
        self.lines = self._canvas.lines
        self.circles = self._canvas.circles
        self.arrows = self._canvas.arrows
        self.mesh = self._canvas.mesh
        self.text = self._canvas.text

    # The scene in space

    def look(
        self,
        *,
        at: Sequence[float] | None = None,
        distance: float | None = None,
        yaw: float | None = None,
        pitch: float | None = None,
        fov: float | None = None,
        up: Sequence[float] | None = None,
        around: Data | None = None,
    ) -> None:
        """Set the camera of shapes in space, from now on and for the key `f`.

        Without `at` and `distance` the camera looks at all shapes from the direction of `yaw` and
        `pitch`.

        Args:
            at: The target that it looks at and turns around, three numbers.
            distance: From the eye to the target [scene units].
            yaw: Turn around `up` [rad]; at 0 with y up, the eye is on the +z side.
            pitch: Elevation of the eye above the target [rad].
            fov: Vertical field of view [rad].
            up: The upward direction of the picture.
            around: Positions to look at instead of all shapes, shape (n, 3).

        Raises:
            ViewerError: A number is out of its range, or `around` comes with `at` or `distance`.
        """
        fixed = at is not None or distance is not None
        if around is not None and fixed:
            raise ViewerError("look(around=...) chooses `at` and `distance` itself; leave them out")
        given = dict(target=at, distance=distance, yaw=yaw, pitch=pitch, fov=fov, up=up)
        scene = self._layout.scene
        orbit = scene.orbit.changed({name: one for name, one in given.items() if one is not None})
        places = None if around is None else as_positions(around)
        if places is not None and places.shape[1] != 3:
            raise ViewerError("look(around=...) takes positions in space, shape (n, 3)")
        scene.look(orbit, places, fixed=fixed)

    @property
    def orbit(self) -> Orbit:
        """The camera of shapes in space."""
        return self._layout.scene.orbit

    # Functions of users

    def step(self, function: _Action) -> _Action:
        """Register the function of a step, as a decorator."""
        check_action(function, "app.step")
        self._step = function
        return function

    def draw(self, function: _Action) -> _Action:
        """Register a function that adds shapes to each picture, as a decorator."""
        check_action(function, "app.draw")
        self._draw = function
        return function

    def backdrop(self, render: _Render, *, scale: float = 1.0) -> _Render:
        """Register a function that renders the background of the shapes in space.

        Args:
            render: Gets a `View`, and returns arrays or fields: colours, shape (height, width, 3),
                floats from 0 to 1 or bytes; or a pair of colours and depths along the axis of view,
                shape (height, width). Pixels with a depth hide farther shapes and are hidden by
                nearer ones; a depth of 0 or infinity marks an empty pixel. None for no backdrop in
                this picture.
            scale: Pixels of the view per pixel of the screen: below 1 is faster and less sharp.

        Raises:
            ViewerError: `scale` is not above 0.
        """
        if not scale > 0:
            raise ViewerError(f"the scale of a backdrop is above 0, not {scale}")
        self._backdrop = lambda view: as_backdrop(render(view))
        self._backdrop_scale = scale
        return render

    def reset(self, function: _Action) -> _Action:
        """Register a function that resets the simulation, as a decorator."""
        check_action(function, "app.reset")
        self._reset = function
        return function

    # Running

    @property
    def mouse(self) -> Mouse:
        """The mouse over the scene."""
        return self._layout.scene.mouse

    @property
    def steps(self) -> int:
        """The number of steps since the last reset."""
        return self._course.done

    @property
    def playing(self) -> bool:
        """Whether steps go on by themselves; can be set."""
        return self._course.playing

    @playing.setter
    def playing(self, playing: bool) -> None:
        self._course.playing = playing

    @property
    def error(self) -> str | None:
        """The current error of a step or of drawing, as the picture shows it, or None."""
        return self._course.error

    @property
    def picture(self) -> npt.NDArray[np.uint8] | None:
        """The last picture, shape (height, width, 3); None before the first."""
        return None if self._frame is None else self._frame.image()

    @boundary
    def run(
        self,
        frames: int | None = None,
        record: str | Path | None = None,
        events: Sequence[Event] = (),
        fps: float = 30.0,
    ) -> None:
        """Open the viewer and run until it is closed.

        An exception of a step, of drawing or of a control is shown in the picture, and the app goes
        on. If the error is still shown at the end, it is raised then. The null backend, where no
        person can respond, ends with that picture unless more events follow.

        Args:
            frames: End after this number of pictures; None to run until the window is closed. The
                null backend then ends after the last event.
            record: A file or folder to write pictures to: "run.gif", "run.webp", "run.mp4", or a
                folder. There is then a fixed number of steps per picture, one without a `speed`.
            events: Scripted events, each before the picture of its `frame`.
            fps: The largest number of pictures per second.

        Raises:
            ViewerError: A display or library is missing, the recording cannot be written, or the
                app runs already; the message is one line that says what to do.
            Exception: The error that was shown when the app ended; the recording is complete.
        """
        if self._running:
            raise ViewerError("the app runs already: do not call run() from a step or callback")
        fps = as_size(fps, "fps", zero=False)
        frames = None if frames is None else as_count(frames, "frames", 0)
        if frames is None and isinstance(self._backend, NullBackend):
            if not events:
                raise ViewerError(
                    "the null backend never closes: pass run(frames=...)"
                    if is_first()
                    else "only rank 0 has a display, which the others cannot know to be closed: "
                    "pass run(frames=...)"
                )
            frames = max(event.frame for event in events) + 1
        if record is not None and is_first():
            self._recorder = open_writer(record, *self._layout.size, fps)
        self._running = True
        try:
            self._open(is_recording=frames is not None and record is not None)
            null = isinstance(self._backend, NullBackend)
            self._course.watched = not (null or isinstance(self._backend, NotebookBackend))
            run(
                self._backend,
                self._course,
                step=self._step or (lambda: None),
                handle=self._take,
                picture=self._show,
                frames=frames,
                events=events,
                fps=fps,
                steady=null or record is not None,
            )
        finally:
            self._running = False
            self._backend.close()
            if self._recorder is not None:
                self._recorder.close()
                self._recorder = None
        if self._course.failure is not None:
            raise self._course.failure

    def _time(self) -> float:
        return self._backend.time()

    def _attach(self) -> None:
        elsewhere = self._backend.attach(self._panel, self._keys)
        self._layout.show_panel(None if elsewhere else self._panel)

    def _open(self, *, is_recording: bool) -> None:
        """Open the backend, or another one in the place of a window."""
        try:
            self._backend.open(self.title, *self._layout.size)
            return
        except NoWindow as error:
            if not self._may_fall_back:
                raise
            missing = error
        # Not in the block above: an error from here would show the one of the window as well.
        self._backend = instead_of_window(missing, is_recording=is_recording)
        self._attach()
        self._backend.open(self.title, *self._layout.size)

    def restart(self) -> None:
        """Reset the app, as the button and the key `r` do."""
        self._course.done = 0
        self._course.forgive()
        for series in self._panel.series.values():
            series.clear()
        if self._reset is not None:
            self._course.attempt(self._reset)

    def screenshot(self) -> Path:
        """Write the current picture, as the key `p` does, and return the file."""
        word = "".join(c if c.isalnum() else "_" for c in self.title.lower())
        file = self._folder / f"{word}_{self.steps:06d}.png"
        frame = self._framed(fresh=True) if self._frame is None else self._frame
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            Image.fromarray(frame.image()).save(file)
            self._layout.say(f"wrote {file}")
        except OSError as error:
            self._layout.say(f"could not write {file}: {error.strerror}")
        return file

    # Keys and events

    def _add_keys(self) -> None:
        course = self._course
        self._keys |= {
            "space": Shortcut("play or pause", course.toggle),
            "n": Shortcut("a single step", self._single),
            "r": Shortcut("reset", self.restart),
            "+": Shortcut("faster", lambda: course.change_speed(1)),
            "-": Shortcut("slower", lambda: course.change_speed(-1)),
            "g": Shortcut("gradients over what they are of", self._toggle_gradients),
            "f": Shortcut("look at everything", self._layout.scene.frame),
            "p": Shortcut("write a screenshot", self.screenshot),
            "h": Shortcut("this help", self._toggle_help),
        }
        play = Key(lambda: "❚❚" if course.playing else "▶", course.toggle)
        step, reset = Key(lambda: "step", self._single), Key(lambda: "reset", self.restart)
        slower = Key(lambda: "−", self._keys["-"].act)
        faster = Key(lambda: "+", self._keys["+"].act)
        speed = Key(self._speed_text, lambda: None)
        self._panel.controls += [
            Buttons([play, step, reset], label=lambda: f"step {self.steps}"),
            Buttons([slower, speed, faster], label=lambda: "speed"),
        ]

    def _take(self, event: Event) -> None:
        resizes_recording = isinstance(event, Resize) and self._recorder is not None
        if not resizes_recording:  # all pictures of a recording have one size
            self._course.attempt(lambda: self._layout.take(event))

    def _single(self) -> None:
        self._course.playing = False
        self._course.forgive()
        self._course.advance(self._step or (lambda: None))

    def _toggle_gradients(self) -> None:
        scene = self._layout.scene
        scene.gradients = not scene.gradients
        self._layout.say(f"gradients {'on' if scene.gradients else 'off'}")

    def _toggle_help(self) -> None:
        self._layout.help = not self._layout.help

    # Pictures

    def _show(self, fresh: bool) -> None:
        frame = self._framed(fresh)
        if not self._course.attempt(lambda: self._backend.show(frame)):
            # Leave out the scene, so that the error can be read.
            frame = self._layout.frame(None, self.error, fresh=True)
            self._backend.show(frame)
        self._frame = frame
        if self._recorder is not None:
            self._recorder.add(frame.image())

    def _framed(self, fresh: bool) -> Frame:
        """Return the current frame, without the scene if that raises."""
        shapes = self._shapes()
        self._panel.status = self._status()
        frames: list[Frame] = []
        self._course.attempt(lambda: frames.append(self._layout.frame(shapes, self.error, fresh)))
        # Controls and handles may raise as well, if their bound values have changed.
        return frames[0] if frames else self._layout.frame(None, self.error, fresh=False)

    def _shapes(self) -> list[Primitive]:
        """Return the shapes of a picture; after an error, the shapes added before it."""
        shown: list[Primitive] = []

        def collect() -> None:
            nonlocal shown
            shown = self._canvas.begin()
            self._canvas.add_permanent()
            if self._draw is not None:
                self._draw()
            if self._backdrop is not None:
                view = self._layout.scene.seen(shown, self._backdrop_scale)
                if (behind := self._backdrop(view)) is not None:
                    shown.insert(0, behind)

        self._course.attempt(collect)
        self._canvas.end()
        return shown

    def _status(self) -> tuple[str, str]:
        state = "playing" if self.playing else "paused"
        return f"{state} · step {self.steps}", "h: help"

    def _speed_text(self) -> str:
        speed = self._course.speed
        if math.isinf(speed):
            return "max"
        return f"×{speed:g}" if speed >= 1 else f"×1/{1 / speed:g}"
