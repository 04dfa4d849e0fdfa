"""The faults of `*.txt`: reading them, and applying them to texts of sources."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from difftile.arguments import did_you_mean

ROOT = Path(__file__).parents[2]
TOP = "top"  # of the modules that are in no package
_PREFIXES = ("  ", "- ", "+ ")


class FaultError(Exception):
    """A fault that cannot be read, or that does not fit the sources: one line."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of a file that stand in one place of it, and what comes instead."""

    path: str
    before: str
    after: str

    def apply(self, source: str) -> str:
        """Change the text of the file.

        Raises:
            FaultError: The lines stand in no place of it, or in several.
        """
        # Only whole lines are found.
        places = ("\n" + source).count("\n" + self.before)
        if places != 1:
            found = "in no place" if places == 0 else f"in {places} places"
            raise FaultError(f"{self.path}: the lines of a hunk stand {found}")
        return ("\n" + source).replace("\n" + self.before, "\n" + self.after)[1:]


@dataclass(frozen=True, slots=True)
class Fault:
    """A wrong change.

    Args:
        name: Its name, which no other fault has.
        sentence: What is wrong then.
        hunks: The changed places.
        file: The name of the file that describes it.
    """

    name: str
    sentence: str
    hunks: tuple[Hunk, ...]
    file: str

    @property
    def counts(self) -> bool:
        """Whether a test could notice it."""
        return not self.sentence.startswith("Equivalent:")

    @property
    def package(self) -> str:
        """The package of the first place, such as ``ad``."""
        return package_of(self.hunks[0].path)

    @property
    def paths(self) -> tuple[str, ...]:
        """The changed files."""
        return tuple(dict.fromkeys(hunk.path for hunk in self.hunks))


def package_of(path: str) -> str:
    """Return the package of a source file: the folder below ``difftile``."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else TOP


def read_source(path: str) -> str:
    """Return the text of a source file of this tree."""
    return (ROOT / path).read_text(encoding="utf-8")


def changed(fault: Fault, read: Callable[[str], str] = read_source) -> dict[str, str]:
    """Return the texts of the files that a fault changes, by path.

    Raises:
        FaultError: The fault does not fit, changes nothing, or gives no Python.
    """
    texts: dict[str, str] = {}
    for hunk in fault.hunks:
        try:
            source = texts[hunk.path] if hunk.path in texts else read(hunk.path)
            texts[hunk.path] = hunk.apply(source)
        except FileNotFoundError:
            raise FaultError(f"{_place(fault)}: there is no {hunk.path}") from None
        except FaultError as error:
            raise FaultError(f"{_place(fault)}: {error}") from None
    for path, text in texts.items():
        try:
            tree = ast.parse(text)
        except SyntaxError as error:
            raise FaultError(f"{_place(fault)}: {path} is no Python then: {error}") from None
        if ast.dump(tree) == _tree_of(read(path)):
            raise FaultError(f"{_place(fault)}: {path} is the same program as before")
    return texts


@functools.lru_cache(maxsize=512)
def _tree_of(source: str) -> str:
    return ast.dump(ast.parse(source))


def _place(fault: Fault) -> str:
    return f"{fault.file}: {fault.name}"


def parse(text: str, file: str) -> list[Fault]:
    """Read the faults of a file.

    Raises:
        FaultError: The text is malformed.
    """
    entries: list[list[str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("= "):
            entries.append([line])
        elif entries:
            entries[-1].append(line)
        elif line.strip():
            raise FaultError(f"{file}:{number}: a fault begins with '= NAME', not {line!r}")
    return [_parse_entry(entry, file) for entry in entries]


def _parse_entry(lines: list[str], file: str) -> Fault:
    name = lines[0].removeprefix("= ").strip()
    starts = [k for k, line in enumerate(lines) if line.startswith("@ ")]
    if not starts:
        raise FaultError(f"{file}: {name}: no file: write '@ difftile/...' above the lines")
    sentence = " ".join(" ".join(lines[1 : starts[0]]).split())
    if not sentence:
        raise FaultError(f"{file}: {name}: no sentence says what is wrong then")
    ends = [*starts[1:], len(lines)]
    hunks = [
        _parse_hunk(lines[start:end], f"{file}: {name}")
        for start, end in zip(starts, ends, strict=True)
    ]
    return Fault(name, sentence, tuple(hunks), file)


def _parse_hunk(lines: list[str], place: str) -> Hunk:
    path = lines[0].removeprefix("@ ").strip()
    if not path.startswith("difftile/") or not path.endswith(".py"):
        raise FaultError(f"{place}: {path!r} is no source file of difftile")
    body = lines[1:]
    while body and not body[-1]:
        body.pop()
    before, after = "", ""
    for line in body:
        prefix, code = line[:2].ljust(2), line[2:] + "\n"
        if prefix not in _PREFIXES:
            raise FaultError(f"{place}: a line begins with two spaces, '- ' or '+ ', not {line!r}")
        before += code if prefix != "+ " else ""
        after += code if prefix != "- " else ""
    if not before or before == after:
        raise FaultError(f"{place}: a hunk has a line that stays or goes, and changes one")
    return Hunk(path, before, after)


def load(folder: Path = Path(__file__).parent) -> list[Fault]:
    """Read all faults, in the order of their files.

    Raises:
        FaultError: A file is malformed, or two faults have one name.
    """
    faults: dict[str, Fault] = {}
    for file in sorted(folder.glob("*.txt")):
        for fault in parse(file.read_text(encoding="utf-8"), file.name):
            if fault.name in faults:
                other = faults[fault.name].file
                raise FaultError(f"{fault.file}: {fault.name}: {other} has this name already")
            faults[fault.name] = fault
    return list(faults.values())


def sizes() -> dict[str, int]:
    """Return the number of lines of each package of this tree."""
    lines: dict[str, int] = {}
    for path in sorted((ROOT / "difftile").rglob("*.py")):
        package = package_of(path.relative_to(ROOT).as_posix())
        lines[package] = lines.get(package, 0) + len(path.read_bytes().splitlines())
    return lines


def chosen(faults: Iterable[Fault], words: Iterable[str]) -> list[Fault]:
    """Return the faults that are named: each word is a fault, or a package for all of its faults.

    Raises:
        FaultError: A word is neither.
    """
    faults, words = list(faults), list(words)
    known = {fault.name for fault in faults} | {fault.package for fault in faults}
    for word in words:
        if word not in known:
            raise FaultError(f"there is no fault {word!r}{did_you_mean(word, known)}")
    if not words:
        return faults
    return [fault for fault in faults if {fault.name, fault.package} & {*words}]
