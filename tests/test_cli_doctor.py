"""`difftile doctor`: the report on this machine, and its exit code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from difftile.cli import main
from difftile.commands import doctor
from difftile.commands.doctor import ARCHS, OPTIONAL, Outcome, read_outcome, self_test
from difftile.substrate import BACKEND

ROOT = Path(__file__).parents[1]


def report(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    outcomes: dict[str, Outcome],
) -> tuple[int, str]:
    """Run the command with outcomes in place of processes; return the exit code and the text."""
    absent = Outcome(False, "not available")
    monkeypatch.setattr(doctor, "self_test", lambda arch: outcomes.get(arch, absent))
    code = main(["doctor"])
    out, err = capsys.readouterr()
    assert err == ""
    return code, out


def test_a_machine_with_a_cpu_is_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "ticache").mkdir()
    (tmp_path / "ticache" / "kernel.tic").write_bytes(bytes(3 * 2**20))
    monkeypatch.setenv("TI_SOMETHING", "1")
    works = Outcome(True, "works, 0.4 s", str(tmp_path))
    code, text = report(monkeypatch, capsys, {"cpu": works})
    assert code == 0
    assert f"Python   {sys.version.split()[0]}, {sys.executable}\n" in text
    assert "Taichi   1.7.4\n" in text
    assert "Environment  TI_SOMETHING=1\n" in text
    assert "  cpu      works, 0.4 s\n  cuda     not available\n" in text
    assert f"  {tmp_path}, 3.0 MiB in 1 files\n" in text
    assert all(f"\n  {name} " in text for name in OPTIONAL)


def test_a_machine_whose_cpu_fails_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = Outcome(False, "crashed with SIGSEGV: nothing on stderr")
    code, text = report(monkeypatch, capsys, {"cpu": broken, "cuda": Outcome(True, "works, 1.0 s")})
    assert code == 1
    assert text.endswith("\nThe CPU does not work: nothing of difftile does.\n")
    assert "Cache" not in text


@pytest.mark.parametrize("installed", [True, False])
def test_a_package_that_is_missing_comes_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], installed: bool
) -> None:
    real = doctor._version
    got = "1.11" if installed else "not installed"
    monkeypatch.setattr(doctor, "_version", lambda name: got if name == "scipy" else real(name))
    _, text = report(monkeypatch, capsys, {})
    line = next(line for line in text.splitlines() if line.startswith("  scipy "))
    way = "" if installed else " (pip install difftile[scipy])"
    assert line.split(maxsplit=1)[1] == f"{got}{way}: dt.optim.scipy_minimize"


def test_another_taichi_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "_version", lambda name: "1.6.0")
    assert "Taichi   1.6.0, but difftile needs 1.7.4\n" in report(monkeypatch, capsys, {})[1]


@pytest.mark.parametrize(
    ("code", "out", "err", "text"),
    [
        (0, 'noise\n{"seconds": 1.25, "cache": "/c"}\n', "", "works, 1.2 s"),
        (0, '{"error": "arch \'cuda\' is not available on this machine."}', "", "not available"),
        (0, '{"error": "the gradient is wrong: [1.0], not [2.0]"}', "",
         "the gradient is wrong: [1.0], not [2.0]"),
        (1, "", "Traceback ...\nImportError: no taichi\n",
         "ended with exit code 1: ImportError: no taichi"),
        (-11, "", "", "crashed with SIGSEGV: nothing on stderr"),
        (-99, "", "bang", "crashed with signal 99: bang"),
        (0, "", "", "ended with exit code 0: nothing on stderr"),
    ],
)  # fmt: skip
def test_what_a_process_says_is_understood(code: int, out: str, err: str, text: str) -> None:
    outcome = read_outcome(code, out, err)
    assert outcome.text == text
    assert outcome.works == text.startswith("works")


def test_the_cpu_passes_the_self_test() -> None:
    outcome = self_test("cpu")
    assert outcome.works, outcome.text
    assert outcome.text.startswith("works, ")
    assert Path(outcome.cache).name == "difftile"


def test_a_backend_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(command: list[str], **options: Any) -> None:
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(subprocess, "run", hang)
    assert self_test("vulkan") == Outcome(False, "no answer within 120 s")


def test_every_extra_for_users_is_listed() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = tomllib.loads(text)["project"]["optional-dependencies"]
    for_users = set(extras) - {"dev", "dist", "docs", "quadrants"}  # the last is a substrate
    assert {row.extra for row in OPTIONAL.values() if row.extra} == for_users
    for name, row in OPTIONAL.items():
        assert not row.extra or any(line.startswith(name) for line in extras[row.extra])


def test_backends_are_those_of_init() -> None:
    assert set(ARCHS) == set(BACKEND.devices.ARCHS) - {"gpu"}


def test_measured_costs_are_listed(tmp_path: Path) -> None:
    (tmp_path / "costs-0123-2.json").write_text('{"waking": 61000.0, "plain": 1.5}')
    (tmp_path / "costs-0123-4.json").write_text("[1")
    assert doctor.measured_costs(tmp_path) == [
        "Costs of sums into shared elements, 2 threads [ns]: waking 61000, plain 1.5",
        "Costs of sums into shared elements, 4 threads [ns]: "
        "unreadable, and measured again when needed",
    ]
