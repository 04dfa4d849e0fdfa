"""Kernels whose text is in no file: `python -c`, standard input, `exec`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

PROGRAM = """
import difftile as dt; from difftile import ti
é = 2.0

@dt.kernel
def move(x):
    for i in x:
        x[i] += 1.5 * é

double = dt.func(lambda a: 2.0 * a); triple = lambda a: 3.0 * a

@dt.kernel
def both(x):
    for i in x:
        x[i] = double(x[i]) + triple(x[i])

def error(call, *args):
    try:
        call(*args)
    except dt.DifftileError as found:
        print(found)

x = dt.zeros(2)
move(x)
both(x)
print(x.to_numpy().tolist())

@dt.kernel
def wrong(x):
    for i in x:
        x[i] = qqq

error(wrong, x)
exec('''
@dt.kernel
def move(x):
    for i in x:
        x[i] += 100.0
''')
error(move, x)
print(x.to_numpy().tolist())
"""
OUTPUT = """[15.0, 15.0]
Undefined name: 'qqq'.
  File "{}", line 31
  31 |         x[i] = qqq
     |                ^^^ not defined here
The source of 'move' cannot be found.
  Hint: exec() keeps no text; import the function from a file, or write the text to one and run \
'exec(compile(text, path, "exec"))'.
[15.0, 15.0]
"""
REFUSED = """The source of 'move' cannot be found.
  Hint: Python keeps no text of a program that it reads from a pipe or a terminal; run it from a \
file, 'python program.py', or in a notebook.
"""


def _run(*command: str, stdin: IO[bytes] | None = None, text: str | None = None) -> str:
    """Return the output of Python, or its complaint where it fails."""
    process = subprocess.run(
        [sys.executable, "-X", "utf8", *command],
        stdin=stdin,
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    said = process.stderr if process.returncode else process.stdout
    lines = said.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("[Taichi]"))


@pytest.mark.parametrize("options", [("-c",), ("-Bc",)])
def test_kernels_of_a_command(options: tuple[str, ...]) -> None:
    assert _run(*options, PROGRAM) == OUTPUT.format("<string>")


def test_kernels_of_a_file_on_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    with file.open("rb") as stdin:
        assert _run(stdin=stdin) == OUTPUT.format("<stdin>")


def test_kernels_of_a_pipe() -> None:
    assert _run("-", text=PROGRAM).endswith(f"KernelError: {REFUSED}")
