"""`difftile explain`: finding kernels in a file, and arguments for them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import pytest

import difftile as dt
from difftile.cli import main
from difftile.commands import inspection
from difftile.commands.guesses import examples
from difftile.commands.loading import load
from difftile.commands.specimens import Specimen, Unclear, read
from difftile.ir.types import F32, F64, I32, Matrix, Vector
from difftile.runtime import measured_schedules

STEP = '''\
"""A step."""

import taichi as ti
import difftile as dt

launched = []


@dt.kernel
def step(x, k, n: int, h: float = 0.1):
    for i in x:
        for _ in range(n):
            x[i] -= h * k[None] * ti.sin(x[i])


@dt.kernel
def energy(x, loss):
    for i in x:
        loss[None] += x[i] ** 2


@dt.kernel
def unused(x):
    for i in x:
        x[i] = 0.0


@dt.func
def half(a):
    return 0.5 * a


@dt.data_oriented
class Wave:
    def __init__(self, n):
        self.x = dt.zeros(n, grad=True)

    @dt.kernel
    def move(self, y):
        for i in y:
            self.x[i] = y[i] ** 2

    @dt.kernel
    def clear(self):
        for i in self.x:
            self.x[i] = 0.0


wave = Wave(3)
number = 3

if __name__ == "__main__":
    import sys

    n = int(sys.argv[1])
    x, k, loss = dt.ones(n, grad=True), dt.full((), 0.5, grad=True), dt.zeros((), grad=True)
    step(x, k, 2)
    energy(x, loss)
    print("ran", n)
    raise SystemExit(int(n == 9))
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the file above."""
    (tmp_path / "step.py").write_text(STEP, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def explain(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    """Run the command; return the exit code, stdout and stderr."""
    try:
        code = main(["explain", *argv])
    except SystemExit as stop:
        assert isinstance(stop.code, int)
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.usefixtures("folder")
def test_kernels_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert explain(capsys, "step.py") == (
        0,
        "step.py has 5 kernels:\n"
        "  step(x, k, n, h)    line 9\n"
        "  energy(x, loss)     line 16\n"
        "  unused(x)           line 22\n"
        "  Wave.move(self, y)  line 38\n"
        "  Wave.clear(self)    line 43\n"
        "Explain one with: difftile explain step.py:step\n",
        "",
    )


@pytest.mark.usefixtures("folder")
def test_types_of_arguments_are_enough(capsys: pytest.CaptureFixture[str]) -> None:
    types = "x: f64[8] grad, k: f64[]"
    code, out, err = explain(capsys, "step.py:step", "--args", types, "--source")
    assert (code, err) == (0, "")
    assert "  x: InOut, f64 (8,), with gradient\n  k: In, f64 ()\n  n: int, a constant" in out
    assert "Kept for the adjoint" in out
    assert "def step_adjoint(x: f64_1d, " in out


@pytest.mark.usefixtures("folder")
def test_a_kernel_that_is_not_launched_needs_types(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = explain(capsys, "step.py:step")
    assert (code, out) == (2, "")
    assert err == (
        "difftile explain: error: importing 'step.py' does not launch 'step': run it with --run, "
        'or give the types of the arguments, as in --args "x: f32[1d] grad, k: f32[] grad"\n'
    )


def _uses(a, b, c, d, e, f, g, h):
    for i, j in a:
        b[None] += a[i, j] * d
        c[i, 0, j] = a[i, j] > e
    for k in range(f):
        g[k] = h[k].x


def _loops(x, y, t):
    for i in x:
        y[i + 1] = helper(x, t) + -t


def helper(x: object, t: float) -> float:
    return t


def test_types_are_guessed_from_uses() -> None:
    assert examples(_uses) == {
        "a": "f32[2d] grad",
        "b": "f32[] grad",
        "c": "f32[3d] grad",
        "d": "float",
        "e": "float",
        "f": "int",
        "g": "f32[1d] grad",
        "h": "f32[1d] grad",
    }
    assert examples(_loops) == {"x": "f32[1d] grad", "y": "f32[1d] grad", "t": "float"}


@pytest.mark.usefixtures("folder")
def test_guessed_types_explain_the_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, err = explain(capsys, "step.py:energy")
    types = err.partition('--args "')[2].rstrip('"\n')
    assert types == "x: f32[1d] grad, loss: f32[] grad"
    code, out, err = explain(capsys, "step.py:energy", "--args", types)
    assert (code, err) == (0, "")
    assert re.search(r"loss: \w+, f32 \(\), with gradient", out)


@pytest.mark.usefixtures("folder")
def test_methods_take_an_object_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = explain(capsys, "step.py:Wave.move", "--args", "y: f32[5] grad")
    assert code == 0
    assert "  y: In, f32 (5,), with gradient\n  x: Out, f32 (3,), with gradient\n" in out
    code, out, _ = explain(capsys, "step.py:Wave.clear")
    assert code == 0
    assert "  x: Out, f32 (3,), with gradient\n" in out


@pytest.mark.usefixtures("folder")
def test_run_explains_what_was_launched(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.modules["__main__"], sys.argv, sys.path
    code, out, err = explain(capsys, "step.py", "--run", "--", "6")
    assert (code, err) == (0, "ran 6\n")
    assert out.count("Parameters\n") == 2
    assert "<kernel step(x, k, n, h)>: 1 specialisation" in out
    assert "  x: In, f32 (6,), with gradient\n  loss: Sum" in out
    assert (sys.modules["__main__"], sys.argv, sys.path) == before


@pytest.mark.usefixtures("folder")
def test_a_run_that_launches_something_else_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = explain(capsys, "step.py:unused", "--run", "--", "6")
    assert (code, out) == (2, "")
    assert err == "ran 6\ndifftile explain: error: 'step.py' did not launch 'unused'\n"


@pytest.mark.usefixtures("folder")
def test_a_run_that_fails_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = explain(capsys, "step.py", "--run", "--", "9")
    assert (code, out) == (1, "")
    assert err == "ran 9\ndifftile explain: error: step.py ended with exit code 1\n"


def test_a_launch_at_the_top_of_a_file_is_enough(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    text = STEP.partition("if __name__")[0].split("@dt.kernel\ndef energy")[0]
    (folder / "top.py").write_text(text + "step(dt.ones(7), dt.ones(()), 1)\n", encoding="utf-8")
    code, out, _ = explain(capsys, "top.py")  # the one kernel that there is
    assert code == 0
    assert "  x: InOut, f32 (7,)\n" in out


def test_a_launch_that_is_forgotten_is_none(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    text = STEP.partition("if __name__")[0] + "energy(dt.ones(7), dt.ones(()))\n"
    (folder / "top.py").write_text(text + "energy.forget_launch()\n", encoding="utf-8")
    code, _, err = explain(capsys, "top.py:energy")  # as after dt.gradcheck
    assert code == 2
    assert "does not launch 'energy': run it with --run, or give the types" in err


def test_an_interrupted_run_explains_what_there_is(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    text = STEP.replace('print("ran", n)', "raise KeyboardInterrupt")
    (folder / "step.py").write_text(text, encoding="utf-8")
    code, out, err = explain(capsys, "step.py:energy", "--run", "--", "6")
    assert code == 0
    assert out.startswith("<kernel energy(x, loss)>")
    assert err == "step.py was interrupted; its launches so far are explained.\n"


def test_a_file_of_a_package_imports_as_its_module_does(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    inner = folder / "cli_package" / "inner"
    inner.mkdir(parents=True)
    for file in (inner / "__init__.py", inner.parent / "__init__.py"):
        file.touch()
    (inner.parent / "shared.py").write_text("rate = 0.5\n", encoding="utf-8")
    text = dedent("""\
        import difftile as dt
        from cli_package import shared
        from ..shared import rate

        @dt.kernel
        def decay(x):
            for i in x:
                x[i] *= rate
    """)
    (inner / "decay.py").write_text(text, encoding="utf-8")
    code, out, err = explain(capsys, "cli_package/inner/decay.py", "--args", "x: vec3[2]")
    assert (code, err) == (0, "")
    assert "  x: InOut, vec3<f32> (2,)\n" in out
    for name in [name for name in sys.modules if name.partition(".")[0] == "cli_package"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        ([], "the following arguments are required: FILE[:KERNEL]"),
        (["stpe.py"], "there is no file 'stpe.py'; did you mean 'step.py'?"),
        (["nowhere/a.py:step"], "there is no file 'nowhere/a.py'"),
        (["."], "'.' is a folder; name a Python file in it"),
        (["step.py:"], "the name of a kernel is missing after 'step.py:'"),
        (["step.py", "--", "3"], "arguments of FILE after '--' need --run"),
        (
            ["step.py:step", "--run", "--args", ""],
            "use either --run or --args: with --run the launches of FILE set the types",
        ),
        (["step.py", "--sorce"], "unknown option '--sorce'; did you mean '--source'?"),
        (["step.py:setp"], "there is no kernel 'setp' in 'step.py'; did you mean 'step'?"),
        (["step.py:move"], "there is no kernel 'move' in 'step.py'; did you mean 'Wave.move'?"),
        (
            ["step.py:zebra"],
            "there is no kernel 'zebra' in 'step.py'; "
            "it has step, energy, unused, Wave.move, Wave.clear",
        ),
        (["step.py:half"], "'half' is a func: explain a kernel that calls it"),
        (["step.py:number"], "'number' in 'step.py' is not a kernel: use @dt.kernel"),
        (
            ["step.py", "--args", "x: f32[]"],
            "--args is for one kernel: name it, as in step.py:step",
        ),
        (
            ["step.py:step", "--args", "x: f33[2d]"],
            "--args: 'x' has the unknown type 'f33'; did you mean 'f32'?",
        ),
        (
            ["step.py:step", "--args", "x: f32[2d]"],
            '--args lacks k; write "k: f32[] grad"',
        ),
        (
            ["step.py:energy", "--args", "x: f32[2d], los: f32[]"],
            "--args: there is no parameter 'los'; did you mean 'loss'?",
        ),
        (
            ["step.py:energy", "--args", "x: i32[1d] grad, loss: f32[]"],
            "<field i32 (4,)> holds integers, which have no derivative. Make it a field of floats, "
            "such as ti.f32.",
        ),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_mistake_is_one_line(
    capsys: pytest.CaptureFixture[str], argv: list[str], line: str
) -> None:
    assert explain(capsys, *argv) == (2, "", f"difftile explain: error: {line}\n")


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("def step(:\n", 1, "wrong.py, line 1: invalid syntax: def step(:"),
        ("x = 1\0\n", 1, None),
        ("x = 1\n", 2, "there is no kernel in 'wrong.py', at the top of it or in a class"),
        ("def f():\n    1 / 0\n\nf()\n", 1, None),
        ("raise SystemExit('no')\n", 1, "wrong.py ended with exit code no"),
    ],
)
def test_a_file_that_fails_is_named(
    capsys: pytest.CaptureFixture[str], folder: Path, text: str, code: int, message: str | None
) -> None:
    (folder / "wrong.py").write_text(text, encoding="utf-8")
    got, out, err = explain(capsys, "wrong.py")
    assert (got, out) == (code, "")
    if message is not None:
        assert err == f"difftile explain: error: {message}\n"
    elif "1 / 0" in text:  # a traceback that begins in the file
        assert err.startswith("difftile explain: error: Traceback (most recent call last):\n")
        assert err.splitlines()[1].endswith('wrong.py", line 4, in <module>')
        assert err.endswith("ZeroDivisionError: division by zero\n")


def test_a_kernel_that_is_refused_is_shown_with_its_line(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    text = "import difftile as dt\n\n@dt.kernel\ndef step(x):\n    for i in x:\n        del x\n"
    (folder / "wrong.py").write_text(text, encoding="utf-8")
    code, out, err = explain(capsys, "wrong.py:step", "--args", "x: f32[1d]")
    assert (code, out) == (1, "")
    assert err.startswith("difftile explain: error: Unsupported Python syntax: ")
    assert 'File "wrong.py", line 6\n' in err


def test_types_are_read() -> None:
    text = "a: f32[2d] grad, b:float,c : vec3<f64>[64, 32], d: mat2x3[8x4] grad, e: ti.i32[], f: -3"
    assert read(text) == {
        "a": Specimen(F32, (4, 4), True),
        "b": Specimen(None, number=1.0),
        "c": Specimen(Vector(3, F64), (64, 32)),
        "d": Specimen(Matrix(2, 3, F32), (8, 4), True),
        "e": Specimen(I32, ()),
        "f": Specimen(None, number=-3),
    }
    assert read("a: 0.5,")["a"] == Specimen(None, number=0.5)
    assert read("a: int[3]")["a"] == Specimen(I32, (3,))
    assert read(" ") == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x f32", "cannot read 'x f32'; write NAME: TYPE, as in 'x: f32[2d] grad, h: float'"),
        ("x: f32[2d] y: f32", "cannot read 'x: f32[2d] y: f32'; write NAME: TYPE, as in "
         "'x: f32[2d] grad, h: float'"),
        ("x: int, x: int", "'x' is there twice"),
        ("x: f32", "'x' needs a shape, as in f32[1d]; a number is float or int"),
        ("x: float grad", "'x' is a number, which has no gradient; a field is float[1d] grad"),
        ("x: f32[a]", "'x' has the shape [a]; write [2d], [64, 64], or [] for one element"),
        ("x: quaternion[1d]", "'x' has the unknown type 'quaternion'; "
         "use f32, i32, vec3, mat2x2, vec3<f64> or their like"),
        ("x: vec3<f33>[1d]", "'x' has the unknown type 'f33'; did you mean 'f32'?"),
    ],
)  # fmt: skip
def test_types_that_are_unclear_are_refused(text: str, message: str) -> None:
    with pytest.raises(Unclear) as raised:
        read(text)
    assert str(raised.value) == message


LOOPS = """\
import difftile as dt

dt.init(cpu_max_num_threads=4)


@dt.kernel
def scatter(x, y):
    for i in x:
        y[i % 3] += x[i]
        x[i] = 2.0 * x[i]


@dt.kernel
def result(x) -> float:
    total = 0.0
    for i in x:
        total += x[i]
    return total


@dt.kernel
def idle(x):
    for i in x:
        x[i] = 0.0


x, y = dt.ones(90), dt.zeros(3)
scatter(x, y)
result(x)
"""


@pytest.mark.compiled
def test_steps_are_measured_on_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The fastest is printed as a call, which runs. The user's fields stay as they are."""
    (tmp_path / "loops.py").write_text(LOOPS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    kept: list[ModuleType] = []
    monkeypatch.setattr(inspection, "load", lambda *given: kept.append(load(*given)) or kept[0])
    seconds = iter(range(30, 0, -1))  # each is faster than the one before
    monkeypatch.setattr(measured_schedules, "median", lambda _: next(seconds))
    code, out, err = explain(capsys, "loops.py:scatter", "--try")
    first, *progress = [
        line for line in err.splitlines() if "loops.py" in line or "scatter," in line
    ]
    assert (code, first) == (
        0,
        "difftile explain: importing loops.py, which runs its top level ...",
    )
    assert progress == [
        "scatter, forward, line 8: serial: 30000.0000 ms",
        "scatter, forward, line 8: threads: 29000.0000 ms",
        "scatter, forward, line 8: threads, small_copies(y): 28000.0000 ms",
        "scatter, adjoint, line 8: serial: 27000.0000 ms",
        "scatter, adjoint, line 8: threads: 26000.0000 ms",
    ]
    assert (
        out
        == """\
scatter

Schedules measured in turn, on copies of the fields (medians; ratios to those of now)
  forward, line 8: the launch takes
    serial                    30000.0000 ms  now
    threads                   29000.0000 ms  0.97
    threads, small_copies(y)  28000.0000 ms  0.93
  adjoint, line 8: the adjoint takes
    serial                    27000.0000 ms  now
    threads                   26000.0000 ms  0.96
Fastest, each with the other loops as they are now
  scatter.schedule("forward", 8, "threads, small_copies(y)")
"""
    )
    names = vars(kept[0])
    x, y, scatter = names["x"], names["y"], names["scatter"]
    assert (x.to_numpy() == 2).all()
    assert (y.to_numpy() == 30).all()
    assert not x.has_grads
    assert "kernel.schedule()" not in scatter.explain()
    exec(out.splitlines()[-1].strip(), names)
    scatter(x, y)
    assert (x.to_numpy() == 4).all()
    assert (y.to_numpy() == 90).all()
    assert "small_copies(y): kernel.schedule() sets it" in scatter.explain()


def test_the_steps_of_a_loop_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """What slows the machine down for a while slows down all alternatives."""
    kernel = dt.kernel(_doubled)
    kernel(dt.ones(90))
    launch = kernel.latest_launch
    assert launch is not None
    order: list[str] = []

    def once(trial: Any, stage: str, _: Any) -> float:
        order.append(next(iter(trial.code.wishes.get(stage, {}).values()), "now"))
        return 0.001 * len(order)

    monkeypatch.setattr(measured_schedules._Trial, "_once", once)
    found = [*measured_schedules.measured_schedules(launch)]
    forward = order[: len(order) // 2]
    # Twice in each turn: the first launch chooses and compiles.
    assert forward == ["now", "now", "threads", "threads"] * 7
    assert [(one.steps, one.present) for one in found[:2]] == [("serial", True), ("threads", False)]
    assert found[0].seconds == pytest.approx(0.014)
    assert found[1].seconds == pytest.approx(0.016)
    assert not launch.code.wishes


def _doubled(x):
    for i in x:
        x[i] = 2.0 * x[i]


@pytest.mark.parametrize(
    ("kernel", "options", "said"),
    [
        ("idle", ["--try"], "--try needs a launch of 'idle': run it with --run"),
        ("idle", ["--try", "--run"], "--try needs a launch of 'idle'"),
        ("idle", ["--try", "--args", "x: f32[8]"], "--try measures a launch of FILE: leave --args"),
        ("idle", ["--try", "--source"], "--try measures a launch of FILE: leave --args and"),
    ],
)
def test_measurements_need_a_launch(
    kernel: str,
    options: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "loops.py").write_text(LOOPS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, out, err = explain(capsys, f"loops.py:{kernel}", *options)
    assert (code, out) == (2, "")
    assert f"difftile explain: error: {said}" in err


def test_the_adjoint_of_a_result_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "loops.py").write_text(LOOPS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, out, _ = explain(capsys, "loops.py:result", "--try")
    assert code == 0
    assert "forward, line 16: the launch takes" in out
    assert "adjoint" not in out
