"""The files of cases, read and written.

==== A sentence that says what the case documents
option: value
---- in
the text of a program
---- out
what the pass makes of it
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Options:
    """What stands between the title of a case and its program: arguments of the pass, and inputs.

    An option with the name of a parameter gives a number, the contents of a field, or its shape.
    """

    given: Mapping[str, str]
    used: set[str] = field(default_factory=set[str])

    def text(self, name: str, default: str = "") -> str:
        self.used.add(name)
        return self.given.get(name, default)

    def names(self, name: str) -> list[str]:
        return self.text(name).replace(",", " ").split()

    def flag(self, name: str, *, default: bool) -> bool:
        return {"yes": True, "no": False}[self.text(name, "yes" if default else "no")]


@dataclass(slots=True)
class Case:
    """One case, and the file that holds it; `after` is what is expected."""

    file: str
    title: str
    options: Options
    before: str
    after: str

    @property
    def text(self) -> str:
        options = "".join(f"{name}: {value}\n" for name, value in self.options.given.items())
        return f"==== {self.title}\n{options}---- in\n{self.before}---- out\n{self.after}"


def read(file: str) -> list[Case]:
    """Return the cases of a file."""
    parts = re.split(r"^==== ", (FOLDER / f"{file}.txt").read_text(), flags=re.MULTILINE)
    assert not parts[0].strip(), f"{file}.txt begins with a case, and says nothing before it"
    return [_read_case(file, part) for part in parts[1:]]


def _read_case(file: str, text: str) -> Case:
    head, rest = re.split(r"^---- in\n", text, maxsplit=1, flags=re.MULTILINE)
    before, *after = re.split(r"^---- out\n?", rest, maxsplit=1, flags=re.MULTILINE)
    title, *options = head.strip().splitlines()
    given = dict(re.split(r": *", option, maxsplit=1) for option in options)
    program, result = before.strip("\n") + "\n", "".join(after).strip("\n") + "\n"
    return Case(file, title, Options(given), program, result)


def write(file: str, cases: list[Case]) -> None:
    """Write the cases of a file."""
    (FOLDER / f"{file}.txt").write_text("\n".join(case.text for case in cases))
