"""Tracebacks of errors: the frames of the user, and none of the library."""

from __future__ import annotations

import os
import pdb
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import difftile as dt
from difftile.tracebacks import NOTE, set_traceback

LIBRARY = str(Path(dt.__file__).parent)
NOTES = sys.version_info >= (3, 11)


@pytest.fixture(autouse=True)
def short() -> Iterator[None]:
    set_traceback("short")
    yield
    set_traceback(None)


@dt.kernel
def wrong(x):
    for i in x:
        x[i] = x.nothing


@dt.kernel
def double(x, y):
    for i in x:
        y[i] = 2.0 * x[i]


@dt.kernel
def total(x, loss):
    for i in x:
        loss[None] += x[i]


@dt.custom_op
def host_sum(x, loss):
    loss.from_numpy(x.to_numpy().sum())


@host_sum.backward
def host_sum_backward(x, loss):
    raise ZeroDivisionError("in a rule")


@dt.checkpoint
def kept(x, y):
    double(x, y, x)


def run_rule() -> None:
    x, loss = dt.ones(4, grad=True), dt.zeros((), grad=True)
    with dt.Tape(loss):
        host_sum(x, loss)


def leave_tape() -> None:
    with dt.Tape(dt.zeros((), grad=True)) as tape:
        tape.backward()


def run_steps() -> None:
    x = dt.ones(4)
    for _ in dt.steps(10):
        wrong(x)


def raise_error(*_: object) -> float:
    raise ZeroDivisionError("in a function")


MISTAKES: dict[str, Callable[[], object]] = {
    "kernel": lambda: wrong(dt.ones(4)),
    "arguments of a kernel": lambda: double(dt.ones(4)),
    "keyword of a kernel": lambda: double(x=dt.ones(4), z=3),
    "bwds": lambda: double.bwds(dt.ones(4), dt.ones(4)),
    "explain": lambda: double.explain(3),
    "decorator": lambda: dt.kernel(3),
    "custom op": lambda: host_sum(3),
    "rule": run_rule,
    "tape": leave_tape,
    "loss": lambda: dt.Tape(dt.zeros(3)),
    "keyword of a tape": lambda: dt.Tape(losses=3),
    "checkpoint": lambda: kept(dt.ones(4), dt.ones(4)),
    "steps": run_steps,
    "repeat": lambda: dt.repeat(raise_error, 3),
    "init": lambda: dt.init(traceback="some"),
    "field": lambda: dt.field(3, 4),
    "index": lambda: dt.ones(4)[7],
    "index of a part": lambda: dt.ones((4, 4))[1:3][7],
    "assignment": lambda: dt.ones(4).__setitem__(7, 1.0),
    "contents": lambda: dt.ones(4).from_numpy([1.0, 2.0]),
    "copy": lambda: dt.ones(4).copy_from(dt.ones(3)),
    "shape": lambda: dt.ones(4).view(3, 3),
    "sum of fields": lambda: dt.ones(4) + dt.ones(3),
    "comparison": lambda: dt.ones(4) < 1.0,
    "truth": lambda: bool(dt.ones(4)),
    "number": lambda: float(dt.ones(4)),
    "grad": lambda: dt.grad(raise_error)(dt.ones(4)),
    "jvp": lambda: dt.jvp(raise_error, (dt.ones(4),), (dt.ones(4),)),
    "jacobian": lambda: dt.jacrev(raise_error)(dt.ones(4)),
    "gradcheck": lambda: dt.gradcheck(raise_error, [dt.ones(4, grad=True)]),
    "root": lambda: dt.root(raise_error, dt.ones(4), []),
    "fields of an optimiser": lambda: dt.optim.Adam(3),
    "keyword of an optimiser": lambda: dt.optim.Adam([dt.ones(4, grad=True)], rate=1),
    "minimize": lambda: dt.optim.LBFGS([dt.ones(4, grad=True)]).step(raise_error),
    "shape of a viewer": lambda: dt.viewer.App(backend="null").points([[1.0]]),
    "control of a viewer": lambda: dt.viewer.App(backend="null").slider("a", min=2.0, max=1.0),
    "viewer": lambda: dt.viewer.App(size=(1, 1)),
}


def caught(mistake: Callable[[], object]) -> Exception:
    try:
        mistake()
    except Exception as error:
        return error
    pytest.fail("no error")


@pytest.mark.skipif(not NOTES, reason="Python 3.10 keeps the frame of the outermost boundary")
@pytest.mark.parametrize("name", MISTAKES)
def test_no_frame_of_the_library_is_shown(name: str) -> None:
    error = caught(MISTAKES[name])
    frames = traceback.extract_tb(error.__traceback__)
    assert [one for one in frames if one.filename.startswith(LIBRARY)] == []
    assert frames[0].filename == __file__
    assert error.__notes__.count(NOTE) == 1
    assert (frames[-1].name in ("raise_error", "host_sum_backward")) == (
        type(error) is ZeroDivisionError
    )


@pytest.mark.parametrize("name", ["kernel", "rule", "grad"])
def test_the_full_traceback_has_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    set_traceback(None)
    monkeypatch.setenv("DIFFTILE_TRACEBACK", "full")
    error = caught(MISTAKES[name])
    frames = traceback.extract_tb(error.__traceback__)
    assert any(one.filename.startswith(LIBRARY) for one in frames)
    assert NOTE not in getattr(error, "__notes__", ())


def test_a_fault_of_the_library_keeps_its_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(*_: object) -> None:
        raise KeyError("a fault")

    # As if it were a function of the library.
    code = fault.__code__.replace(co_filename=os.path.join(LIBRARY, "runtime", "kernel.py"))
    fault.__code__ = code
    monkeypatch.setattr(type(double), "_bind", fault)
    error = caught(lambda: double(dt.ones(4)))
    frames = traceback.extract_tb(error.__traceback__)
    assert sum(one.filename.startswith(LIBRARY) for one in frames) >= 2
    assert NOTE not in getattr(error, "__notes__", ())


def test_a_fault_inside_another_library_keeps_all_frames() -> None:
    def fault(*_: object) -> None:
        os.stat_result(3)  # a built-in function has no frame

    code = fault.__code__.replace(co_filename=os.__file__)
    fault.__code__ = code
    error = caught(lambda: dt.repeat(fault, 1))
    frames = traceback.extract_tb(error.__traceback__)
    assert any(one.filename.startswith(LIBRARY) for one in frames)


def test_callbacks_of_callbacks_stay() -> None:
    def outer() -> None:
        dt.repeat(inner, 1)

    def inner() -> None:
        wrong(dt.ones(4))

    error = caught(lambda: dt.repeat(outer, 1))
    names = [one.name for one in traceback.extract_tb(error.__traceback__)]
    assert [name for name in names if name in ("outer", "inner")] == ["outer", "inner"]
    if NOTES:
        assert names == ["caught", "<lambda>", "outer", "inner"]
        assert error.__notes__.count(NOTE) == 1


def test_causes_stay_and_are_short() -> None:
    def failing() -> None:
        try:
            wrong(dt.ones(4))
        except dt.KernelError as error:
            raise RuntimeError("after that") from error

    error = caught(lambda: dt.repeat(failing, 1))
    assert isinstance(error.__cause__, dt.KernelError)
    for one in (error, error.__cause__):
        names = [frame.name for frame in traceback.extract_tb(one.__traceback__)]
        assert names[-1] == "failing"
    text = "".join(traceback.format_exception(error))
    assert "The above exception was the direct cause" in text
    own = str(Path(LIBRARY) / "tracebacks.py")  # whose frames Python 3.10 keeps
    assert text.count(LIBRARY) == (0 if NOTES else text.count(own))


def test_causes_without_a_frame_of_the_user_have_a_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def inner(*_: object) -> None:
        raise dt.LaunchError("the first half")

    def outer(*_: object) -> None:
        try:
            inner()
        except dt.LaunchError as error:
            raise dt.LaunchError("the second half") from error

    for one in (inner, outer):  # as if they were functions of the library
        file = os.path.join(LIBRARY, "runtime", "kernel.py")
        one.__code__ = one.__code__.replace(co_filename=file)
    monkeypatch.setattr(type(double), "_bind", outer)
    error = caught(lambda: double(dt.ones(4)))
    text = "".join(traceback.format_exception(error))
    first, second = text.split("The above exception was the direct cause")
    for half in (first, second):
        assert half.count("Traceback (most recent call last):") == 1
    assert "in inner" in first
    assert not NOTES or "in outer" not in second


def test_causes_lose_the_frames_of_the_library_around_those_of_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def inner() -> None:
        raise dt.LaunchError("the first half")

    def by_user(*_: object) -> None:
        inner()

    def outer(*_: object) -> None:
        try:
            by_user()
        except dt.LaunchError as error:
            raise dt.LaunchError("the second half") from error

    for one in (inner, outer):  # as if they were functions of the library
        file = os.path.join(LIBRARY, "runtime", "kernel.py")
        one.__code__ = one.__code__.replace(co_filename=file)
    monkeypatch.setattr(type(double), "_bind", outer)
    error = caught(lambda: double(dt.ones(4)))
    cause = error.__cause__
    assert cause is not None
    names = [frame.name for frame in traceback.extract_tb(cause.__traceback__)]
    assert names == ["by_user"] or (not NOTES and names == ["outer", "by_user"])


def test_an_error_raised_again_is_the_same_object_and_matches() -> None:
    with pytest.raises(dt.KernelError, match="has no attribute 'nothing'") as info:
        dt.repeat(lambda: wrong(dt.ones(4)), 1)
    assert info.value.span is not None
    assert info.value.span.shown == "nothing"


def test_a_debugger_begins_in_the_frame_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    places: list[str] = []

    def interaction(_: pdb.Pdb, frame: object, trace: object) -> None:
        while trace.tb_next is not None:
            trace = trace.tb_next
        places.append(trace.tb_frame.f_code.co_name)

    monkeypatch.setattr(pdb.Pdb, "interaction", interaction)
    pdb.post_mortem(caught(MISTAKES["rule"]).__traceback__)
    assert places == ["host_sum_backward"]


def test_interrupts_keep_their_frames() -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as info:
        dt.repeat(interrupted, 1)
    assert any(str(one.path).startswith(LIBRARY) for one in info.traceback)


SCRIPT = """\
import difftile as dt

@dt.func
def spring(stretch):
    return stretch.lenght

@dt.kernel
def energy(x, loss):
    for i in x:
        loss[None] += spring(x[i])

def main():
    x, loss = dt.ones(4, grad=True), dt.zeros((), grad=True)
    with dt.Tape(loss):
        energy(x, loss)

main()
"""

TEXT = """\
Traceback (most recent call last):
  File "script.py", line 17, in <module>
    main()
  File "script.py", line 15, in main
    energy(x, loss)
difftile.diagnostics.UndefinedAttribute: A value of type f32 has no attribute 'lenght'.
  File "script.py", line 5
  5 |     return stretch.lenght
    |                    ^^^^^^ unknown
  Note: frames inside difftile are hidden; dt.init(traceback="full") shows them.
"""

SHELL = """\
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance(colors="nocolor")
first, second = open("script.py").read().split("def main")
shell.run_cell(first, store_history=True)
shell.run_cell("def main" + second, store_history=True)
"""

TEXT_OF_CELLS = """\
---------------------------------------------------------------------------
UndefinedAttribute                        Traceback (most recent call last)
Cell In[2], line 6
      3     with dt.Tape(loss):
      4         energy(x, loss)
----> 6 main()

Cell In[2], line 4, in main()
      2 x, loss = dt.ones(4, grad=True), dt.zeros((), grad=True)
      3 with dt.Tape(loss):
----> 4     energy(x, loss)

UndefinedAttribute: A value of type f32 has no attribute 'lenght'.
  Cell In[1], line 5
  5 |     return stretch.lenght
    |                    ^^^^^^ unknown
  Note: frames inside difftile are hidden; dt.init(traceback="full") shows them.
"""


def run(file: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: one for name, one in os.environ.items() if name != "DIFFTILE_TRACEBACK"}
    environment |= {"IPYTHONDIR": str(folder / "ipython"), "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, file],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.skipif(not (3, 11) <= sys.version_info < (3, 13), reason="the exact text of 3.11")
def test_exact_text_of_a_script_and_of_cells(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "shell.py").write_text(SHELL)
    shown = run("script.py", tmp_path)
    assert shown.returncode == 1
    assert shown.stderr.replace(str(tmp_path) + os.sep, "") == TEXT
    shown = run("shell.py", tmp_path)
    assert (shown.stdout + shown.stderr) == TEXT_OF_CELLS
