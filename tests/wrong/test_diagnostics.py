"""Every diagnostic: a wrong program and its exact message.

The programs are in `tests/wrong/`, one file a subject. After a line of four equals signs and a name
comes the program as a user writes it; `dt`, `ti`, `np` and `math` are imported. After four dashes
comes the error: its class and its text. `pytest --update-golden` rewrites the errors.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.frontend.syntax import LITERALS, REFUSED
from difftile.substrate import current_session

FOLDER = Path(__file__).parent
FILES = sorted(FOLDER.glob("*.txt"))


@dataclass(frozen=True)
class Wrong:
    """A wrong program and its error."""

    name: str
    program: str
    error: str


def read(path: Path) -> list[Wrong]:
    """Return the programs of a file."""
    found: list[Wrong] = []
    for block in re.split(r"^==== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        name, _, rest = block.partition("\n")
        program, _, error = rest.partition("----\n")
        found.append(Wrong(name, program.rstrip("\n") + "\n", error.strip("\n")))
    return found


def write(path: Path, programs: list[Wrong]) -> None:
    """Write the programs of a file."""
    blocks = [f"==== {one.name}\n{one.program}----\n{one.error}\n" for one in programs]
    path.write_text("\n".join(blocks), encoding="utf-8")


def run(program: str, folder: Path) -> None:
    """Run a program as a file of its own; warnings are raised."""
    file = folder / "wrong.py"
    file.write_text(program, encoding="utf-8")
    names: dict[str, Any] = {"dt": dt, "ti": ti, "np": np, "math": math, "__name__": "wrong"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(program, str(file), "exec", dont_inherit=True), names)


WARNINGS = (dt.GradientCut, dt.GradientWarning, dt.NarrowProduct, dt.SlowCompile)


def error_of(program: str, folder: Path) -> str:
    """Return the class and text of the error that a program raises."""
    try:
        run(program, folder)
    except (dt.DifftileError, *WARNINGS, IndexError) as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory of its own, which errors show paths relative to."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def without_debug() -> Iterator[None]:
    """A program that starts difftile under debug leaves it without."""
    yield
    if current_session().debug:
        dt.init(arch="cpu")


CASES = [(path, one) for path in FILES for one in read(path)]
OF_TAICHI = {"architecture that is none", "Taichi field from outside"}


@pytest.mark.parametrize(
    ("path", "one"),
    [
        pytest.param(
            path,
            one,
            id=f"{path.stem}-{one.name}",
            marks=[pytest.mark.taichi] if one.name in OF_TAICHI else [],
        )
        for path, one in CASES
    ],
)
def test_wrong_program(
    path: Path, one: Wrong, folder: Path, request: pytest.FixtureRequest
) -> None:
    error = error_of(one.program, folder)
    if request.config.getoption("--update-golden"):
        found = {other.name: other for other in read(path)}
        found[one.name] = Wrong(one.name, one.program, error)
        write(path, list(found.values()))
        return
    assert error == one.error


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_names_of_programs_are_unique(path: Path) -> None:
    names = [one.name for one in read(path)]
    assert len(names) == len(set(names))


def test_errors_are_sentences_and_frames() -> None:
    for _, one in CASES:
        frame = r"  (File \"wrong.py\", line \d+|\d* +\|.*|Note: .*|Hint: .*[.?:'])"
        name, _, text = one.error.partition(": ")
        assert name.isidentifier()
        for part in text.split("\n\n"):  # a diagnosis may find several things
            title, *rest = part.splitlines()
            assert re.fullmatch(r".*[.?]", title), title
            for line in rest:
                assert re.fullmatch(frame, line)


def test_every_refused_construct_has_a_wrong_program() -> None:
    texts = "\n".join(one.error for _, one in CASES)
    never_parsed = {"'await'", "'async for'", "'async with'"}  # in an `async def` only
    for construct, hint in (*REFUSED.values(), *LITERALS.values()):
        if construct not in never_parsed:
            assert f"Unsupported Python syntax: {construct}." in texts, construct
            assert f"Hint: {hint}" in texts, hint


ODD = read(Path(__file__).parents[1] / "odd_programs.txt")


@pytest.mark.parametrize("one", ODD, ids=[one.name for one in ODD])
def test_odd_program_runs_or_is_refused(one: Wrong, folder: Path) -> None:
    """Odd but plausible programs give a result or an error of difftile, never one of Python."""
    error_of(one.program, folder)
