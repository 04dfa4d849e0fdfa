"""Kernels as Python: what runs on the CPU runs there, and stops, fails and prints in its lines."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import FieldError, IndexOutOfRange, IndexRefused, KernelError, Race
from difftile.substrate import current_session
from tests import harness, programs

programs.load()


@pytest.fixture(autouse=True)
def as_python() -> None:
    if current_session().compiles or current_session().debug:
        dt.init(arch="python")


@pytest.fixture
def debug(as_python: None) -> None:
    dt.init(arch="python", debug=True)


@dt.kernel
def halved(x, y, n: int):
    for i in x:
        s = x[i]
        for _ in range(n):
            s *= 0.5
        y[i] = s


def fields(*values: float) -> tuple[Any, Any]:
    return dt.from_numpy(np.array(values, float), grad=True), dt.zeros(len(values), dtype=ti.f64)


# One in sixteen: `DIFFTILE_ARCH=python pytest tests/ad/test_programs.py` has them all.
@pytest.mark.parametrize("one", harness.PROGRAMS[5::16], ids=lambda one: one.name)
def test_program(one: harness.Program) -> None:
    harness.check(one)


def test_the_source_is_python() -> None:
    x, y = fields(4, -8)
    halved(x, y, 2)
    assert y.to_numpy().tolist() == [1, -2]
    assert halved.source() == (
        "f64_0_5 = np.float64(0.5)\n"
        "def halved(x, y, n):\n"
        "    n_x = np.int32(x.shape[0])\n"
        "    for i in np.arange(0, n_x, dtype=np.int32):\n"
        "        s = x[i]\n"
        "        s_1 = s\n"
        "        for k in np.arange(0, n, dtype=np.int32):\n"
        "            s_2 = s_1 * f64_0_5\n"
        "            s_1 = s_2\n"
        "        s_3 = s_1\n"
        "        y[i] = s_3\n"
    )
    assert "it runs as Python" in halved.explain()


@pytest.mark.parametrize("options", [{}, {"memory": 400}])
def test_steps_on_tapes(options: dict[str, Any]) -> None:
    @dt.kernel
    def swing(x, v, h: float):
        for i in x:
            v[i] -= h * ti.sin(x[i])
            x[i] += h * v[i]

    @dt.kernel
    def total(x, y):
        for i in x:
            y[None] += x[i] * x[i]

    def final(x0: Any) -> float:
        x, v = np.array(x0), np.zeros(2)
        for _ in range(40):
            v = v - 0.1 * np.sin(x)
            x = x + 0.1 * v
        return float(np.sum(x * x))

    given = np.array([0.3, -1.2])
    x, v = dt.from_numpy(given, grad=True), dt.zeros(2, dtype=ti.f64, grad=True)
    y = dt.zeros((), dtype=ti.f64, grad=True)
    with dt.Tape(y, **options):
        for _ in dt.steps(40):
            swing(x, v, 0.1)
        total(x, y)
    np.testing.assert_allclose(y[None], final(given), rtol=1e-14)
    e = 1e-6
    slopes = [(final(given + d) - final(given - d)) / (2 * e) for d in e * np.eye(2)]
    np.testing.assert_allclose(x.grad.to_numpy(), slopes, rtol=1e-8)


def test_transforms() -> None:
    @dt.kernel
    def valley(x, y):
        y[None] = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] * x[0]) ** 2

    def f(x: Any) -> Any:
        y = dt.zeros((), dtype=ti.f64, grad=True)
        valley(x, y)
        return y

    at, v = np.array([-1.2, 1.0]), np.array([1.0, -2.0])
    hessian = np.array([[1330, 480], [480, 200.0]])
    np.testing.assert_allclose(dt.grad(f)(at), [-215.6, -88], rtol=1e-12)
    np.testing.assert_allclose(dt.jvp(f, at, v)[1], -215.6 + 176, rtol=1e-12)
    np.testing.assert_allclose(dt.hvp(f, at, v), hessian @ v, rtol=1e-12)


def test_single_precision_rounds_as_numpy() -> None:
    @dt.kernel
    def mixed(x, y):
        for i in x:
            y[i] = x[i] * x[i] + ti.cast(x[i], ti.f32) / 3

    given = np.array([0.1, 1e-3, 7e5], np.float32)
    x, y = dt.from_numpy(given), dt.zeros(3)
    mixed(x, y)
    np.testing.assert_array_equal(y.to_numpy(), given * given + given / np.float32(3))


# Breakpoints


@dt.func
def doubled(a):
    breakpoint()
    return 2 * a


Ball = ti.types.struct(at=ti.f64, speed=ti.f64)


@dt.kernel
def stopping(x, y, n: int):
    for i in x:
        s = 0.5
        ball = Ball(x[i], s)
        w = ti.Vector([s, 1.0])
        for j in range(n):
            s = s * w[j]
            pair = (i, s)
            if j == 1:
                breakpoint()
        y[i] = s + ball.at


@pytest.fixture
def stops(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, dict[str, Any]]]:
    """Note the line and the name of the frame of each stop, and the locals there."""
    found: list[tuple[str, str, dict[str, Any]]] = []

    def hook() -> None:
        frame = sys._getframe(1)
        (entry,) = traceback.extract_stack(frame, limit=1)
        assert entry.filename == __file__
        found.append((entry.line or "", entry.name, dict(frame.f_locals)))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    return found


def test_breakpoints_stop_with_the_locals_of_the_user(
    stops: list[tuple[str, str, dict[str, Any]]],
) -> None:
    x, y = fields(3, 4)
    stopping(x, y, 2)
    assert [(line, name) for line, name, _ in stops] == [("breakpoint()", "stopping")] * 2
    names = stops[1][2]
    assert (names["i"], names["j"], names["n"], names["s"]) == (1, 1, 2, 0.25)
    assert isinstance(names["s"], np.float64)
    assert names["w"].tolist() == [0.5, 1]
    assert (names["ball"].at, names["ball"].speed) == (4, 0.5)
    assert names["pair"] == (1, 0.25)
    assert names["x"].tolist() == [3, 4]
    assert y.to_numpy().tolist() == [3.25, 4.25]


def test_a_stop_in_a_func_has_the_names_of_the_func(
    stops: list[tuple[str, str, dict[str, Any]]],
) -> None:
    @dt.kernel
    def calling(x, y):
        for i in x:
            a = 10 * x[i]
            y[i] = doubled(x[i]) + a

    x, y = fields(3, 4)
    with dt.Tape() as tape:
        calling(x, y)
    assert [names["a"] for _, _, names in stops] == [3, 4]
    assert len(stops) == 2
    del tape


def test_a_reverse_does_not_stop(stops: list[tuple[str, str, dict[str, Any]]]) -> None:
    x, y = dt.from_numpy(np.array([3.0]), grad=True), dt.zeros(1, dtype=ti.f64, grad=True)
    with dt.Tape() as tape:
        stopping(x, y, 2)
    tape.backward({y: np.ones(1)})
    assert len(stops) == 1
    assert x.grad.to_numpy().tolist() == [1]


def test_the_debugger_shows_the_lines_of_the_kernel(tmp_path: Path) -> None:
    file = tmp_path / "step.py"
    file.write_text(
        "import numpy as np, difftile as dt\n"
        "dt.init(arch='python')\n"
        "@dt.kernel\n"
        "def step(x):\n"
        "    for i in x:\n"
        "        speed = 2 * x[i]\n"
        "        breakpoint()\n"
        "        x[i] = speed\n"
        "step(dt.from_numpy(np.array([4.0])))\n"
    )
    done = subprocess.run(
        [sys.executable, file],
        input="p speed\np x\nc\n",
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONBREAKPOINT": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"> {file}(8)step()\n-> x[i] = speed\n" in done.stdout
    assert f"(Pdb) {np.float64(8.0)!r}\n(Pdb) array([4.])\n" in done.stdout


def test_a_compiler_has_no_breakpoints() -> None:
    dt.init(arch="cpu")
    if not current_session().compiles:
        pytest.skip("DIFFTILE_ARCH is set")
    with pytest.raises(KernelError, match="A compiled kernel has no breakpoints") as caught:
        stopping(*fields(1, 2), 2)
    assert "dt.init(arch='python')" in str(caught.value)


@pytest.mark.parametrize("text", ["breakpoint(1)", "a = breakpoint()"])
def test_wrong_breakpoints(text: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(f"import difftile as dt\n@dt.kernel\ndef wrong(x):\n    {text}\n")
    names: dict[str, Any] = {}
    exec(compile(file.read_text(), str(file), "exec"), names)
    with pytest.raises(KernelError, match=r"'breakpoint' (in a kernel takes no|gives back no)"):
        names["wrong"](dt.zeros(3))


# Errors


@dt.kernel
def gather(x, index, y):
    for i in index:
        y[i] = x[index[i]]


@pytest.mark.parametrize("wrong", [3, -1])
def test_an_index_out_of_range_is_refused_with_its_line(wrong: int) -> None:
    x, y = fields(1, 2, 3)
    with pytest.raises(IndexRefused, match=rf"x\[{wrong}\] of shape \(3,\)") as caught:
        gather(x, dt.from_numpy(np.array([0, wrong, 2], np.int32)), y)
    assert isinstance(caught.value, IndexError)
    assert caught.value.span is not None
    assert caught.value.span.text.strip() == "y[i] = x[index[i]]"
    assert "x[index[i]]" in caught.value.span.shown


def test_numpy_refuses_an_index_that_is_too_large() -> None:
    @dt.kernel
    def after(x, y):
        for i in x:
            if x[i] > 0:
                y[i] = x[i + 1]

    x, y = fields(-1, 2, -3)
    after(x, y)
    assert y.to_numpy().tolist() == [0, -3, 0]
    x, y = fields(-1, -2, 3)
    with pytest.raises(IndexRefused, match="index 3 is out of bounds for axis 0") as caught:
        after(x, y)
    assert caught.value.span is not None and caught.value.span.shown == "x[i + 1]"


def test_an_index_before_the_first_does_not_count_from_the_end() -> None:
    @dt.kernel
    def before(x, y):
        for i in x:
            if x[i] > 0:
                y[i] = x[i - 1]

    x, y = fields(1, -2, -3)
    with pytest.raises(IndexRefused, match=r"x\[-1\] of shape"):
        before(x, y)


def test_the_first_failure_is_reported(debug: None) -> None:
    x, y = fields(1, 2, 3)
    with pytest.raises(IndexOutOfRange, match=r"index \(7,\)"):
        gather(x, dt.from_numpy(np.array([0, 7, 5], np.int32)), y)


def test_debug_reports_as_on_the_cpu(debug: None) -> None:
    x, y = fields(1, 2, 3)
    index = dt.from_numpy(np.array([0, -1, 5], np.int32))
    said: list[str] = []
    for arch in ("python", "cpu"):
        dt.init(arch=arch, debug=True)
        x, y = fields(1, 2, 3)
        index = dt.from_numpy(np.array([0, 2, 5], np.int32))
        with pytest.raises(dt.DifftileError) as caught:
            gather(x, index, y)
        said.append(f"{type(caught.value)} {caught.value}")
        np.testing.assert_array_equal(y.to_numpy(), [1, 3, 3])
    assert said[0] == said[1]
    assert "'x' has the shape (3,)" in said[0]


def test_assertions_under_debug(debug: None) -> None:
    @dt.kernel
    def rooted(x):
        for i in x:
            assert x[i] >= 0, f"x[{i}] = {x[i]:.1f}"
            x[i] = ti.sqrt(ti.abs(x[i]))

    x = dt.from_numpy(np.array([4.0, -9, 16]))
    with pytest.raises(AssertionError, match=r"x\[1\] = -9.0"):
        rooted(x)
    assert x.to_numpy().tolist() == [2, 3, 4]


def test_races_are_refused() -> None:
    @dt.kernel
    def shifted(x):
        for i in range(x.shape[0] - 1):
            x[i] = x[i + 1]

    with pytest.raises(Race, match="Race on field 'x'"):
        shifted(dt.zeros(4))


def test_prints_are_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    @dt.kernel
    def speaking(x):
        for i in x:
            print("x", i, f"{x[i]:.2f}", "100%")

    speaking(dt.from_numpy(np.array([0.5, 1.25])))
    assert capsys.readouterr().out == "x 0 0.50 100%\nx 1 1.25 100%\n"


def test_random_numbers_are_those_of_the_cpu() -> None:
    @dt.kernel
    def draw(x):
        for i in x:
            x[i] = dt.rand()

    drawn: list[Any] = []
    for arch in ("python", "cpu"):
        dt.init(arch=arch, seed=3)
        x = dt.zeros(5, dtype=ti.f64)
        draw(x)
        drawn.append(x.to_numpy())
    np.testing.assert_array_equal(*drawn)


# The start


def test_options_of_compilers_are_refused() -> None:
    with pytest.raises(FieldError, match="no option 'cpu_max_num_threads' with arch='python'"):
        dt.init(arch="python", cpu_max_num_threads=1)


@pytest.mark.parametrize(("asked", "compiles"), [("", True), ("cpu", True), ("PYTHON", False)])
def test_the_environment_makes_the_cpu_python(
    monkeypatch: pytest.MonkeyPatch, asked: str, compiles: bool
) -> None:
    monkeypatch.setenv("DIFFTILE_ARCH", asked)
    dt.init(arch="cpu", cpu_max_num_threads=1)
    assert current_session().compiles == compiles


def test_the_environment_asks_for_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DIFFTILE_ARCH", "cuda")
    with pytest.raises(FieldError, match="DIFFTILE_ARCH is 'cpu' or 'python', not 'cuda'"):
        dt.init()


def test_kernels_of_a_session_before_are_refused() -> None:
    x, y = fields(1)
    halved(x, y, 1)
    dt.init(arch="python")
    with pytest.raises(FieldError, match=r"dt\.init"):
        halved(x, y, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="has no forks")
def test_a_forked_process_goes_on(tmp_path: Path) -> None:
    x, y = fields(4)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            halved(x, y, 1)
            code = 0 if y[0] == 2 else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
