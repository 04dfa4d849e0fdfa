from __future__ import annotations

import pytest

from tests.faults.__main__ import main
from tests.faults.entries import Fault, FaultError, changed, chosen, load, parse

SOURCE = "def f(x):\n    y = x\n\n    return y\n\n\ndef g(x):\n    y = x\n    return -y\n"
ENTRY = """
= lost-sign
The sign is lost.
@ difftile/ad/toy.py
      y = x
-     return -y
+     return y
"""


def _change(entry: str, source: str = SOURCE) -> str:
    (fault,) = parse(entry, "ad.txt")
    (text,) = changed(fault, {"difftile/ad/toy.py": source}.__getitem__).values()
    return text


@pytest.mark.always
def test_all_faults_apply() -> None:
    for fault in load():
        changed(fault)


def test_a_hunk_changes_its_one_place() -> None:
    assert _change(ENTRY) == SOURCE.replace("-y", "y")


def test_an_empty_line_is_its_prefix_alone() -> None:
    entry = "= a\nb\n@ difftile/ad/toy.py\n      y = x\n  \n-     return y\n+     return x\n\n"
    assert _change(entry) == SOURCE.replace("return y", "return x")
    assert _change(entry.replace("\n  \n", "\n- \n")) == SOURCE.replace(
        "\n\n    return y", "\n    return x"
    )


def test_hunks_follow_each_other() -> None:
    entry = ENTRY + "@ difftile/ad/toy.py\n- def f(x):\n+ def f(x, z=0):\n"
    assert _change(entry) == SOURCE.replace("-y", "y").replace("f(x)", "f(x, z=0)")


WRONG = {
    "no file": ("= a\nb\n", "ad.txt: a: no file: write '@ difftile/...' above the lines"),
    "no sentence": (
        "= a\n@ difftile/x.py\n- y\n",
        "ad.txt: a: no sentence says what is wrong then",
    ),
    "text before": ("b\n= a\n", "ad.txt:1: a fault begins with '= NAME', not 'b'"),
    "other file": ("= a\nb\n@ tests/x.py\n- y\n", "'tests/x.py' is no source file of difftile"),
    "prefix": ("= a\nb\n@ difftile/x.py\n-y\n", "'- ' or '+ ', not '-y'"),
    "nothing changes": ("= a\nb\n@ difftile/x.py\n  y\n", "a hunk has a line that stays or goes"),
    "nothing stays": ("= a\nb\n@ difftile/x.py\n+ y\n", "a hunk has a line that stays or goes"),
    "in two places": (ENTRY.replace("-     return -y\n", ""), "stand in 2 places"),
    "in no place": (
        ENTRY.replace("return -y", "return"),
        "ad.txt: lost-sign: difftile/ad/toy.py: the",
    ),
    "no Python": (ENTRY.replace("+     return y", "+     return ("), "is no Python then"),
    "only a comment": (ENTRY.replace("+     return y", "+     return -y  # y"), "the same program"),
}


@pytest.mark.parametrize("entry, message", WRONG.values(), ids=WRONG)
def test_a_fault_that_does_not_fit_is_one_line(entry: str, message: str) -> None:
    with pytest.raises(FaultError) as raised:
        _change(entry)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    (fault,) = parse(ENTRY, "ad.txt")
    with pytest.raises(FaultError, match=r"ad.txt: lost-sign: there is no difftile/ad/toy.py"):
        changed(fault)


def test_two_faults_of_one_name(tmp_path) -> None:
    (tmp_path / "a.txt").write_text(ENTRY)
    (tmp_path / "b.txt").write_text(ENTRY)
    with pytest.raises(FaultError, match=r"b.txt: lost-sign: a.txt has this name already"):
        load(tmp_path)


def _faults() -> list[Fault]:
    other = ENTRY.replace("lost-sign", "other").replace("difftile/ad/toy", "difftile/toy")
    return [*parse(ENTRY, "ad.txt"), *parse(other.replace("The sign", "Equivalent: it"), "top.txt")]


def test_faults_are_chosen_by_name_and_by_package() -> None:
    first, second = _faults()
    assert (first.package, first.counts, second.package, second.counts) == (
        "ad",
        True,
        "top",
        False,
    )
    assert chosen(_faults(), []) == [first, second]
    assert chosen(_faults(), ["ad"]) == [first]
    assert chosen(_faults(), ["other"]) == [second]
    with pytest.raises(FaultError, match="no fault 'lost-sing'; did you mean 'lost-sign'"):
        chosen(_faults(), ["lost-sing"])


@pytest.mark.parametrize("argv", [["no-such-fault"], ["--tier", "9"], ["--bad"]], ids=" ".join)
def test_bad_use_is_one_line(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(argv)
    assert raised.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
