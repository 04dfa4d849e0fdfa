"""The command line: its output on stdout and stderr, and its exit codes."""

import ast
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

import difftile.arguments
import difftile.cli
import difftile.commands.demo
from difftile.announcing import announce, announced, durations
from difftile.arguments import Parser, did_you_mean, positive_float, positive_int
from difftile.cli import main
from tests.complaints import complaint

DEMO = '''\
"""Swing a pendulum.

More about it.
"""

from difftile.arguments import Parser, positive_int


def main(argv=None):
    parser = Parser("difftile demo pendulum", __doc__)
    parser.add_argument("--frames", type=positive_int, default=1)
    options = parser.parse_args(argv)
    print("frames", options.frames)
    return 3
'''
FIRST_LINE = "pendulum: Swing a pendulum.\n"


@pytest.fixture
def demos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Demos in place of those of the checkout: a good one and a broken one."""
    package = tmp_path / "demos"
    package.mkdir()
    (tmp_path / "scenes").mkdir()
    (package / "__init__.py").touch()
    (package / "pendulum.py").write_text(DEMO, encoding="utf-8")
    (package / "broken.py").write_text('"""Break."""\nraise ImportError\n', encoding="utf-8")
    kept = {name: sys.modules.pop(name) for name in own_modules()}
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(difftile.commands.demo, "gallery", lambda: tmp_path)
    yield
    for name in own_modules():
        del sys.modules[name]
    sys.modules.update(kept)


def own_modules() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == "demos"]


@pytest.mark.usefixtures("demos")
@pytest.mark.parametrize(
    ("argv", "line"),
    [
        ([], "difftile: error: a command is missing; 'difftile --help' lists them"),
        (["dmeo"], "difftile: error: unknown command 'dmeo'; did you mean 'demo'?"),
        (
            ["simulate"],
            "difftile: error: unknown command 'simulate'; 'difftile --help' lists the commands",
        ),
        (
            ["--verison"],
            "difftile: error: unknown option '--verison'; did you mean '--version'?",
        ),
        (["--quux", "demo"], "difftile: error: unknown option '--quux'"),
        (
            ["demo"],
            "difftile demo: error: a name is missing; 'difftile demo --list' lists the demos",
        ),
        (
            ["demo", "pendulm"],
            "difftile demo: error: unknown demo 'pendulm'; did you mean 'pendulum'?",
        ),
        (
            ["demo", "zebra"],
            "difftile demo: error: unknown demo 'zebra'; 'difftile demo --list' lists the demos",
        ),
        (
            ["demo", "a\nb"],
            r"difftile demo: error: unknown demo 'a\nb'; 'difftile demo --list' lists the demos",
        ),
        (
            ["demo", "--lsit"],
            "difftile demo: error: unknown option '--lsit'; did you mean '--list'?",
        ),
        (
            ["demo", "--li"],
            "difftile demo: error: unknown option '--li'; did you mean '--list'?",
        ),
        (
            ["demo", "--list", "pendulum"],
            "difftile demo: error: --list takes no name; leave out 'pendulum'",
        ),
        (
            ["demo", "pendulum", "--frame=2"],
            "difftile demo pendulum: error: unknown option '--frame'; did you mean '--frames'?",
        ),
        (
            ["demo", "pendulum", "extra"],
            "difftile demo pendulum: error: unexpected argument 'extra'",
        ),
        (
            ["demo", "pendulum", "--frames", "0"],
            "difftile demo pendulum: error: argument --frames: "
            "expected a whole number above 0, not '0'",
        ),
        (
            ["demo", "pendulum", "--frames"],
            "difftile demo pendulum: error: argument --frames: expected one argument",
        ),
    ],
)
def test_a_mistake_is_answered_with_one_line(
    capsys: pytest.CaptureFixture[str], argv: list[str], line: str
) -> None:
    said = FIRST_LINE if argv[:2] == ["demo", "pendulum"] else ""  # before the demo's mistakes
    assert complaint(capsys, argv, said) == line


@pytest.mark.usefixtures("demos")
def test_list_shows_first_lines_in_order_and_imports_no_demo(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo", "--list"]) == 0
    assert capsys.readouterr() == (
        "broken    Break.\npendulum  Swing a pendulum.\n",
        "",
    )
    assert "demos.pendulum" not in sys.modules


def test_list_without_demos_prints_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(difftile.commands.demo, "gallery", lambda: tmp_path)
    assert main(["demo", "--list"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("argv", [["--source", "water-renderer"], ["water-renderer", "--source"]])
def test_source_prints_the_physics_of_a_demo(
    capsys: pytest.CaptureFixture[str], argv: list[str]
) -> None:
    assert main(["demo", *argv]) == 0
    scene = Path(__file__).parents[2] / "scenes" / "wave.py"
    assert capsys.readouterr() == (scene.read_text(encoding="utf-8"), "")


@pytest.mark.usefixtures("demos")
def test_a_demo_gets_its_arguments_and_gives_the_exit_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo", "pendulum", "--frames", "7"]) == 3
    assert capsys.readouterr() == (f"{FIRST_LINE}frames 7\n", "")


@pytest.mark.usefixtures("demos")
@pytest.mark.parametrize(
    ("took", "said"),
    [
        ("12.4", " Takes about 0:10 (minutes:seconds) of processor time."),
        ("3", " Takes about 0:05 (minutes:seconds) of processor time."),
        ("131", " Takes about 2:00 (minutes:seconds) of processor time."),
        (">120", " Takes more than 2:00 (minutes:seconds) of processor time."),
    ],
)
def test_a_demo_says_what_it_shows_and_how_long_it_takes_before_it_is_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], took: str, said: str
) -> None:
    (tmp_path / "demos" / "support").mkdir()
    (tmp_path / "demos" / "support" / "durations.txt").write_text(f"broken {took}\n")
    with pytest.raises(ImportError):
        main(["demo", "broken"])
    assert capsys.readouterr().out == f"broken: Break.{said}\n"


def test_a_demo_announces_itself_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with announced("pendulum", "Swing.", tmp_path):
        announce("pendulum", "Swing.", tmp_path)
    assert capsys.readouterr().out == "pendulum: Swing.\n"
    announce("pendulum", "Swing.", tmp_path)  # started in another way
    assert capsys.readouterr().out == "pendulum: Swing.\n"


def test_each_demo_with_a_duration_exists() -> None:
    root = Path(__file__).parents[2]
    assert durations(root).keys() <= difftile.commands.demo.find_demos(root).keys()


@pytest.mark.usefixtures("demos")
def test_help_after_a_demo_is_the_help_of_the_demo(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["demo", "pendulum", "--help"])
    assert stop.value.code == 0
    out, err = capsys.readouterr()
    assert out.startswith(
        "usage: difftile demo pendulum [-h] [--frames FRAMES]\n\nSwing a pendulum."
    )
    assert err == ""


@pytest.mark.parametrize("argv", [["--help"], ["-h"], ["demo", "--help"]])
def test_help_goes_to_stdout(capsys: pytest.CaptureFixture[str], argv: list[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(argv)
    assert stop.value.code == 0
    out, err = capsys.readouterr()
    assert out.startswith("usage: difftile ")
    assert "NAME" in out or "  demo     run a demo" in out
    assert err == ""


def test_an_interrupted_demo_ends_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(difftile.commands.demo, "gallery", interrupt)
    assert main(["demo", "--list"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("argv", "code", "out", "err"),
    [
        (["--version"], 0, f"difftile {version('difftile')}\n", ""),
        (["dem"], 2, "", "difftile: error: unknown command 'dem'; did you mean 'demo'?\n"),
    ],
)
def test_as_a_process(argv: list[str], code: int, out: str, err: str) -> None:
    command = [sys.executable, "-m", "difftile", *argv]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, out, err)


# As the console script does it, and the modules loaded by then.
START = """
import os, sys
from difftile.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
heavy = {"taichi", "numpy", "matplotlib"} & set(sys.modules)
print(sum(os.times()[:2]), *heavy)
"""


@pytest.mark.parametrize(
    "argv",
    [
        ["--version"],
        ["--help"],
        ["demo", "--list"],
        ["bench", "--list"],
        ["explain", "--help"],
        ["explain", "nowhere.py"],
        ["doctor", "--help"],
        ["train", "--help"],
    ],
    ids=" ".join,
)
def test_it_starts_in_less_than_three_tenths_of_a_second(argv: list[str]) -> None:
    command = [sys.executable, "-c", START, *argv]
    least = 1.0
    for _ in range(3):  # of the processor, which two of its threads share when others compute
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds, *heavy = done.stdout.splitlines()[-1].split()
        assert not heavy
        least = min(least, float(seconds))
        if least < 0.3:
            break
    assert least < 0.3


def test_a_reader_that_has_seen_enough_is_no_error() -> None:
    command = f"{sys.executable} -m difftile demo --list | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert int(done.stdout) in (0, 141)


@pytest.mark.parametrize("module", [difftile.cli, difftile.arguments])
def test_the_command_line_imports_nothing_of_the_language(module: object) -> None:
    imported: set[str] = set()
    for node in ast.walk(ast.parse(Path(module.__file__).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or ".")
    foreign = {name for name in imported if name.partition(".")[0] not in sys.stdlib_module_names}
    assert foreign <= {"difftile.arguments"}


def test_parser_fills_a_namespace_that_it_is_given() -> None:
    parser = Parser("program")
    parser.add_argument("--n", type=int)
    given = Namespace()
    assert parser.parse_args(["--n", "4"], given) is given
    assert given.n == 4


def test_an_error_of_several_lines_becomes_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        Parser("program").error("first\n  second")
    assert stop.value.code == 2
    assert capsys.readouterr() == ("", "program: error: first second\n")


@pytest.mark.parametrize(
    ("word", "otherwise", "end"),
    [
        ("clothe", "", "; did you mean 'cloth'?"),
        ("clothe", "see the list", "; did you mean 'cloth'?"),
        ("sm", "", "; did you mean 'smoke'?"),
        ("", "see the list", "; see the list"),
        ("zebra", "see the list", "; see the list"),
        ("zebra", "", ""),
    ],
)
def test_did_you_mean(word: str, otherwise: str, end: str) -> None:
    assert did_you_mean(word, ["cloth", "smoke"], otherwise) == end


def test_positive_numbers_are_read() -> None:
    assert positive_int("12") == 12
    assert positive_float("2.5e-3") == 2.5e-3


@pytest.mark.parametrize("kind", [positive_int, positive_float])
@pytest.mark.parametrize("text", ["0", "-1", "", "one", "inf", "nan", "0x10"])
def test_other_numbers_are_refused(
    capsys: pytest.CaptureFixture[str], kind: type, text: str
) -> None:
    parser = Parser("program")
    parser.add_argument("--size", type=kind)
    with pytest.raises(SystemExit):
        parser.parse_args([f"--size={text}"])
    what = "a whole number" if kind is positive_int else "a number"
    expected = f"program: error: argument --size: expected {what} above 0, not {text!r}\n"
    assert capsys.readouterr().err == expected
