"""What compiling finds is kept on disk, and a later process computes nothing that is there."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.compile import compile_function, compiled, stage
from difftile.fusion import fused_run, period
from difftile.fusion import program as fused_program
from difftile.ir.nodes import Var
from difftile.ir.types import F64
from difftile.schedule import analysis
from difftile.substrate import kept_code, kept_for, variants
from difftile.substrate.kept_code import KeptResults
from tests import edited_programs, fusing, harness, programs
from tests.edited_programs import end, keeping

programs.load()

COMPUTED = {
    compile_function: ("known_indices", "normalise", "races"),
    stage: ("reverse", "active_writes"),
    compiled: ("finish",),
    analysis: ("forms_of",),
    variants: ("emit",),
    period: ("placed",),
    fused_program: ("dead_stores", "join", "serial", "strips", "interchanged", "unroll_periods"),
    fused_run: ("_row_copy",),
}


class Calls:
    """Counts the calls of what is not to be computed again."""

    def __enter__(self) -> Calls:
        self.mocks: list[Any] = []
        for module, names in COMPUTED.items():
            for name in names:
                function = getattr(module, name)
                self.mocks.append(mock.patch.object(module, name, mock.Mock(wraps=function)))
        self.calls = [one.start() for one in self.mocks]
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.mocks:
            one.stop()

    def names(self) -> set[str]:
        names = [name for names in COMPUTED.values() for name in names]
        return {name for name, one in zip(names, self.calls, strict=True) if one.called}


def results(one: harness.Program) -> tuple[Any, set[str]]:
    """Run a program; return values and gradients, and what was computed."""
    rng = np.random.default_rng(7)
    values = harness.drawn(one, rng)
    weights = {name: rng.uniform(0.5, 1.5, values[name].shape) for name in harness._floats(values)}
    with Calls() as calls:
        found = harness._run(one, dt.kernel(one.function), values, F64, weights)
    gc.collect()  # the kernel goes, and what it knows is written
    return found, calls.names()


@pytest.mark.parametrize("one", harness.PROGRAMS[3::12], ids=lambda one: one.name)
def test_what_was_read_is_what_was_computed(one: harness.Program, tmp_path: Path) -> None:
    with keeping(tmp_path):
        first, computed = results(one)
        second, again = results(one)
    assert computed >= {"normalise", "finish"}
    assert not again
    for before, after in zip(vars_of(first), vars_of(second), strict=True):
        assert before.keys() == after.keys()
        for name, array in before.items():
            np.testing.assert_array_equal(after[name], array, err_msg=name)


def vars_of(run: harness.Run) -> list[Any]:
    return [run.after, run.gradients, run.weights]


def swing(x, v, h: float):
    for i in x:
        v[i] -= h * ti.sin(x[i])


def move(x, v, w):
    for i in x:
        x[i] += 0.1 * v[i] * w[i] * w[i]


def count(x, n):
    for i in x:
        n[0] += 1


RUNS = ("plain", "tape", "constant", "order", "alias", "long", "number", "twice")


def run_of(which: str) -> list[Any]:
    """Perform a run of new kernels; return values and gradients."""
    push, go, tick = (dt.kernel(one) for one in (swing, move, count))
    rng = np.random.default_rng(3)
    x, v, w, n = (dt.from_numpy(rng.uniform(0.5, 1.5, size), grad=True) for size in (4, 4, 4, 1))
    if which == "constant":
        w = w.detach()
    if which == "long":
        w = dt.from_numpy(rng.uniform(0.5, 1.5, 9), grad=True)

    def step(t: Any) -> None:
        if which == "order":
            go(x, v, w)
        push(x, v, 0.3 if which == "number" else 0.01 * t)
        if which != "order":
            go(x, v, v if which == "alias" else w)
        if which == "twice":
            go(x, v, w)
        tick(x, n)

    if which == "plain":
        dt.repeat(step, 7)
        return [one.to_numpy() for one in (x, v, n)]
    with dt.Tape() as tape:
        dt.repeat(step, 7)
    tape.backward({x: np.ones(4)})
    graded = [one for one in (x, v, w) if one.has_grads]
    return [one.to_numpy() for one in (x, v, n, *(one.grad for one in graded))]


def fused(which: str) -> tuple[list[Any], set[str]]:
    """Return the results of a run that is fused, and what was computed."""
    with Calls() as calls:
        found = run_of(which)
    end()
    return found, calls.names()


@pytest.mark.parametrize("form", fusing.FORMS)
def test_runs_are_read_and_are_those_of_their_launches(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for (owner, name), value in fusing._FORMS[form].items():
        monkeypatch.setattr(owner, name, value)
    expected = {which: fused(which)[0] for which in RUNS}
    with keeping(tmp_path):
        for which in RUNS:
            for again in (False, True):
                found, computed = fused(which)
                assert ("placed" in computed, bool(computed)) == (not again, not again)
                for one, other in zip(found, expected[which], strict=True):
                    np.testing.assert_array_equal(one, other, err_msg=which)
    kernels = 4  # `move` also for a field that is there twice
    assert len([*tmp_path.iterdir()]) == kernels + len(RUNS)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_edited_programs_are_compiled_as_they_are(seed: int, tmp_path: Path) -> None:
    count = 400 if seed else 25
    assert edited_programs.run(count, seed, tmp_path) == count
    assert [*(tmp_path / "kept").iterdir()]


PROGRAM = """
import sys
import difftile as dt

dt.init(arch="cpu", {options})

@dt.kernel
def f(x, y):
    for i in x:
        y[i] = {factor} * x[i] ** 2

x, y = dt.ones(4, grad=True), dt.zeros(4, grad=True)
with dt.Tape() as tape:
    dt.repeat(lambda: f(x, y), 3)
tape.backward({{y: 1.0}})
print(y.tolist()[0], x.grad.tolist()[0])
"""


def start(folder: Path, options: str = "", factor: int = 3, **more: str) -> subprocess.Popen[str]:
    """Start a process with a program."""
    text = PROGRAM.format(options=options, factor=factor)
    file = folder / f"program{factor}{len(options)}.py"  # a place is part of a program
    if not file.exists():
        file.write_text(text, encoding="utf-8")
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "DIFFTILE_KEEP": "1"}
    return subprocess.Popen(
        [sys.executable, str(file)],
        env={**environment, **more},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def outcome(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "Error" not in err
    return out.splitlines()[-1]


def files_in(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"cache/**/*{kept_code.SUFFIX}*"))


def test_processes(tmp_path: Path) -> None:
    """Several at once, with damaged files, without a place, and told not to keep anything."""
    time.sleep(max(0.0, newest() + 10.0 - time.time()))
    assert outcome(start(tmp_path, DIFFTILE_KEEP="0")) == "3.0 6.0"
    assert not files_in(tmp_path)
    assert [outcome(one) for one in [start(tmp_path) for _ in range(3)]] == ["3.0 6.0"] * 3
    assert len(files_in(tmp_path)) == 2  # the kernel, and the run
    for file in files_in(tmp_path):
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    others = start(tmp_path), start(tmp_path, factor=5), start(tmp_path, "fast_math=False")
    assert [outcome(one) for one in others] == ["3.0 6.0", "5.0 10.0", "3.0 6.0"]
    assert len(files_in(tmp_path)) == 6
    assert outcome(start(tmp_path, "offline_cache=False", factor=7)) == "7.0 14.0"
    assert len(files_in(tmp_path)) == 6


def made(folder: Path, number: int = 1) -> KeptResults:
    """Return results with an entry of their own."""
    found = kept_for(folder, (), (number,))
    found.get("key", lambda: "x" * 1000)
    return found


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kept_code.OFF, "1")
    monkeypatch.setattr(kept_code, "_library", lambda: "of this process")


@pytest.mark.usefixtures("on")
def test_the_oldest_files_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_code, "_MOST_BYTES", 3500)
    monkeypatch.setattr(kept_code, "_MOST_OFTEN", 500)
    for number in range(6):
        made(tmp_path, number)
        gc.collect()
        for age, file in enumerate(sorted(tmp_path.iterdir(), key=os.path.getmtime, reverse=True)):
            os.utime(file, (1e9 - age, 1e9 - age))
        known = kept_for(tmp_path, (), (0,))  # is used, and stays
        assert "key" in known._found
    assert len([*tmp_path.iterdir()]) == 3


@pytest.mark.usefixtures("on")
def test_a_damaged_file_is_written_anew(tmp_path: Path) -> None:
    made(tmp_path)
    gc.collect()
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    assert kept_for(tmp_path, (), (1,))._found == {"key": "x" * 1000}
    for damaged in (b"", whole[:100], whole[:-1], whole[:-1] + b"?", b"x" * len(whole)):
        file.write_bytes(damaged)
        assert not kept_for(tmp_path, (), (1,))._found
        made(tmp_path)
        gc.collect()
        assert file.read_bytes() == whole


@pytest.mark.usefixtures("on")
def test_a_place_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "file" / "below")
    gc.collect()
    (tmp_path / "plain").write_text("")
    made(tmp_path / "plain")
    gc.collect()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as context:
        context.setattr(Path, "write_bytes", full)
        made(tmp_path / "full")
        gc.collect()
    assert not [*(tmp_path / "full").iterdir()]


@pytest.mark.usefixtures("on")
def test_files_make_nothing_of_other_packages(tmp_path: Path) -> None:
    for found, name in ((SimpleNamespace(), "types"), (eval, "builtins.eval")):
        with pytest.raises(pickle.UnpicklingError, match=name):
            kept_code.loads(pickle.dumps({"key": found}), ())


def newest() -> float:
    """Return when the library was changed."""
    seen = [file.stat() for file in Path(dt.__file__).parent.rglob("*.py")]
    return max(max(one.st_mtime, one.st_ctime) for one in seen)


def test_a_process_with_an_older_library_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kept_code.OFF, "1")
    for after, kept in ((60, 1), (1, 0), (-60, 0)):
        imported = newest() + after
        kept_code._library.cache_clear()
        monkeypatch.setattr(kept_code, "_IMPORTED", imported)
        made(tmp_path / str(imported))
        gc.collect()
        assert len([*(tmp_path / str(imported)).glob("*")]) == kept
    kept_code._library.cache_clear()


def test_a_process_with_files_from_elsewhere_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installers and `rsync -a` put files in place with the times that they had before."""
    library = tmp_path / "difftile"
    place = library / "substrate" / "kept_code.py"
    place.parent.mkdir(parents=True)
    monkeypatch.setattr(kept_code, "__file__", str(place))
    monkeypatch.setattr(kept_code, "_IMPORTED", time.time() - 60.0)
    place.write_text("")
    os.utime(place, (1e9, 1e9))
    kept_code._library.cache_clear()
    assert kept_code._library() is None
    monkeypatch.setattr(kept_code, "_IMPORTED", time.time() + 60.0)
    kept_code._library.cache_clear()
    assert kept_code._library() is not None
    kept_code._library.cache_clear()


class InStep(list[Var]):
    """Objects of a program, of which two threads take one at the same time."""

    barrier = threading.Barrier(2)

    def __getitem__(self, number: Any) -> Any:
        self.barrier.wait(10.0)
        return super().__getitem__(number)


def test_threads_read_at_once() -> None:
    """Each finds the objects of its own program."""
    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(finds_its_own, range(2)))


def finds_its_own(number: int) -> bool:
    own = InStep(Var(f"v{number}_{k}", F64) for k in range(5))
    found = kept_code.loads(kept_code.dumps({"key": tuple(own)}, own), own)["key"]
    return all(one is other for one, other in zip(found, own, strict=True))


@pytest.mark.usefixtures("on")
def test_what_cannot_be_kept_is_computed(tmp_path: Path) -> None:
    found = kept_for(tmp_path, (), (1,))
    assert found.get("key", lambda: lambda: 3)() == 3
    del found
    gc.collect()
    assert not [*tmp_path.iterdir()]
    assert kept_for(tmp_path, (), (object(),)).get("key", lambda: 4) == 4
    assert not [*tmp_path.iterdir()]
