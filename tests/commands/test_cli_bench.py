"""`difftile bench`: the search for benchmarks, and their exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from difftile.cli import main
from difftile.commands import bench
from difftile.commands.bench import find_benchmarks
from tests.complaints import complaint

ROOT = Path(__file__).parents[2]
FAST = '"""Be fast.\n\nMore."""\nimport sys\n\n\ndef main():\n    print(sys.argv[1:], flush=True)\n'
END = '\n\nif __name__ == "__main__":\n    main()\n'


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two benchmarks, one of which fails, and a module that is not a benchmark."""
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    (tmp_path / "pyproject.toml").touch()
    (folder / "__init__.py").touch()
    (folder / "meter.py").write_text('"""Measure."""\n', encoding="utf-8")
    (folder / "fast.py").write_text(FAST + END, encoding="utf-8")
    fails = "def main():\n    raise SystemExit(3)" + END
    (folder / "fails.py").write_text(fails, encoding="utf-8")
    monkeypatch.setattr(bench, "_ROOT", tmp_path)
    return tmp_path


def test_those_of_this_checkout_are_found() -> None:
    found = find_benchmarks(ROOT)
    assert {"kernels", "tape", "rendering"} <= set(found)
    assert "meter" not in found


@pytest.mark.usefixtures("checkout")
def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--list"]) == 0
    assert capsys.readouterr() == ("fails\nfast   Be fast.\n", "")


@pytest.mark.usefixtures("checkout")
def test_arguments_follow_the_names(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "fast", "--rounds", "3"]) == 0
    assert capfd.readouterr().out == "['--rounds', '3']\n"


@pytest.mark.usefixtures("checkout")
def test_without_a_name_all_run_and_failures_are_named(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["bench"]) == 3
    assert capfd.readouterr() == ("== fails\n== fast\n[]\n", "difftile bench: failed: fails\n")


@pytest.mark.usefixtures("checkout")
@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["bench", "fsat"], "unknown benchmark 'fsat'; did you mean 'fast'?"),
        (
            ["bench", "fast", "meter"],
            "unknown benchmark 'meter'; 'difftile bench --list' lists the benchmarks",
        ),
        (["bench", "--list", "fast"], "--list takes no names; leave out 'fast'"),
        (["bench", "--lst"], "unknown option '--lst'; did you mean '--list'?"),
    ],
)
def test_a_mistake_is_one_line(
    capsys: pytest.CaptureFixture[str], argv: list[str], line: str
) -> None:
    assert complaint(capsys, argv) == f"difftile bench: error: {line}"


@pytest.mark.parametrize("argv", [["bench"], ["bench", "--list"]])
def test_an_installation_without_benchmarks_says_so(
    capsys: pytest.CaptureFixture[str], checkout: Path, argv: list[str]
) -> None:
    (checkout / "pyproject.toml").unlink()  # the rest might be an unrelated package
    assert complaint(capsys, argv) == (
        f"difftile bench: error: there are no benchmarks in {checkout}; clone the repository of "
        "difftile and install it with 'pip install -e .'"
    )


@pytest.mark.parametrize(("code", "exit_code"), [(0, 0), (2, 2), (-9, 137)])
def test_a_signal_is_reported_as_a_shell_does(code: int, exit_code: int) -> None:
    assert bench.exit_code(code) == exit_code
