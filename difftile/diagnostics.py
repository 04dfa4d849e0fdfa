"""Source spans, the family of errors, and the one renderer of code frames."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from difftile.records import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one line of the user's source.

    Args:
        file: Path of the file, as Python knows it.
        line: Line number, from 1.
        column: First column, from 0.
        end_column: Column after the last one.
        text: The whole line, without its newline.
        inner: The span of the code itself, if this one is the call of a func of the library.
    """

    file: str
    line: int
    column: int
    end_column: int
    text: str
    inner: Span | None = None

    @property
    def shown(self) -> str:
        """The source text of the span."""
        return self.text[self.column : self.end_column]


@dataclass(frozen=True, slots=True)
class Label:
    """A span and a remark about it."""

    span: Span
    text: str


def _shown_path(file: str) -> str:
    """Shorten a path below the working directory; leave every other one whole."""
    try:
        relative = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return file if relative.startswith("..") or file.startswith("<") else relative


def cell_of(file: str) -> str | None:
    """Return the name of the cell of a notebook that a file stands for: 'Cell In[2]', or None."""
    if "IPython" not in sys.modules:
        return None
    compiler: Any = getattr(sys.modules["IPython"].get_ipython(), "compile", None)
    if not hasattr(compiler, "format_code_name"):  # before IPython 8
        return None
    name: tuple[str, str] | None = compiler.format_code_name(file)
    return None if name is None else " ".join(name)


def place(file: str, line: int) -> str:
    """Return the name of a line: 'File "a.py", line 3', or in a notebook 'Cell In[2], line 3'."""
    cell = cell_of(file)
    if cell is not None:
        return f"{cell}, line {line}"
    return f'File "{_shown_path(file)}", line {line}'


def _frame(label: Label) -> list[str]:
    span = label.span
    number = str(span.line)
    gutter = " " * len(number)
    # Tabs stay tabs, so that the carets are under the words for any width of a tab.
    padding = "".join("\t" if c == "\t" else " " for c in span.text[: span.column])
    carets = "^" * max(1, span.end_column - span.column)
    return [
        f"  {place(span.file, span.line)}",
        f"  {number} | {span.text.rstrip()}",
        f"  {gutter} | {padding}{carets} {label.text}".rstrip(),
    ]


def located(span: Span | None) -> str:
    """Return a span in one line: the file, the number of the line and the source text."""
    if span is None:
        return "in code that difftile made"
    return f"{place(span.file, span.line).removeprefix('File ')}: {span.shown}"


def render(title: str, labels: Iterable[Label], notes: Iterable[str], hint: str | None) -> str:
    """Return the text of an error: a title, a frame of code for each label, notes, a hint."""
    lines, inside = [title], dict[str, None]()
    for label in labels:
        lines += _frame(label)
        if label.span.inner is not None:
            file = os.path.basename(label.span.inner.file)
            inside[f"inside the library, '{label.span.inner.shown}' in {file}."] = None
    lines += [f"  Note: {note}" for note in (*inside, *notes)]
    if hint is not None:
        lines.append(f"  Hint: {hint}")
    return "\n".join(lines)


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """Return a question that names the closest candidate, or None."""
    close = difflib.get_close_matches(name, list(candidates), n=1)
    return f"did you mean '{close[0]}'?" if close else None


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number and its noun: 'no arguments', '1 argument', '2 arguments'."""
    if number == 1:
        return f"1 {noun}"
    return f"{number or 'no'} {plural or noun + 's'}"


def with_article(noun: str) -> str:
    """Return the name of a type with its article: 'a list', 'an int', 'an ndarray'."""
    return f"{'an' if noun[0].lower() in 'aeiou' or noun == 'ndarray' else 'a'} {noun}"


def abbreviated(value: object) -> str:
    """Return the beginning of the text of a value."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more than 4,300 digits
        text = "an integer of thousands of digits"
    return text if len(text) <= 40 else f"{text[:37]}..."


_LONG = (int, str, bytes, list, tuple, dict, set, frozenset)


def brief(value: object) -> str:
    """Return a value in the words of an error: an array by shape and type, not by its numbers."""
    if type(value).__module__.partition(".")[0] == __name__.partition(".")[0]:
        return repr(value)
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(shape, tuple) and dtype is not None:
        return f"an array of shape {tuple(shape)}, {dtype}"
    return abbreviated(value) if isinstance(value, _LONG) else repr(value)


class DifftileError(Exception):
    """The base of every error that difftile raises about a user's program."""


class KernelError(DifftileError):
    """A mistake inside a kernel or func, shown with the lines that hold it."""

    def __init__(
        self,
        title: str,
        span: Span | None,
        label: str = "",
        *,
        related: Iterable[Label] = (),
        notes: Iterable[str] = (),
        hint: str | None = None,
    ) -> None:
        self.title = title
        self.span = span
        self.hint = hint
        own = () if span is None else (Label(span, label),)
        super().__init__(render(title, (*own, *related), notes, hint))


class UnsupportedSyntax(KernelError):
    """Python that is not part of the kernel language."""

    def __init__(self, span: Span | None, construct: str, hint: str) -> None:
        title = f"Unsupported Python syntax: {construct}."
        super().__init__(title, span, "not part of the kernel language", hint=hint)


class UndefinedName(KernelError):
    """A name that is neither a local with a value, nor a parameter, nor captured."""

    def __init__(
        self,
        span: Span | None,
        name: str,
        reason: str = "not defined here",
        *,
        related: Iterable[Label] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(f"Undefined name: '{name}'.", span, reason, related=related, hint=hint)


class UndefinedAttribute(KernelError):
    """An attribute or method that a kernel value does not have."""

    def __init__(
        self,
        span: Span | None,
        owner: str,
        name: str,
        candidates: Iterable[str] = (),
        *,
        hint: str | None = None,
    ) -> None:
        if hint is None:
            hint = did_you_mean(name, sorted(candidates))
        super().__init__(f"{owner} has no attribute '{name}'.", span, "unknown", hint=hint)


class TypeMismatch(KernelError):
    """An expression whose types or shapes do not go together."""

    def __init__(
        self,
        span: Span | None,
        message: str,
        label: str = "",
        *,
        related: Iterable[Label] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(f"Type error: {message}", span, label, related=related, hint=hint)


class CallMismatch(KernelError):
    """A call whose arguments do not fit the function."""

    def __init__(
        self, span: Span | None, message: str, hint: str | None = None, *, label: str = ""
    ) -> None:
        super().__init__(f"Wrong call: {message}", span, label, hint=hint)


class Race(KernelError):
    """Two iterations of one parallel loop that touch the same element, one of them writing.

    Or two `turns` of a loop over `dt.lanes`, which also share local arrays, and locals.
    """

    def __init__(
        self,
        span: Span | None,
        field: str,
        what: str,
        other: Label | None,
        hint: str,
        *,
        turns: bool = False,
    ) -> None:
        title = f"Race on field '{field}': iterations of one parallel loop run in any order."
        if turns:
            title = f"Race on '{field}': the turns of a loop over 'dt.lanes' run in any order."
        super().__init__(title, span, what, related=() if other is None else (other,), hint=hint)


class RoleMismatch(KernelError):
    """A field declared `dt.In` that is written, or `dt.Out` that is read."""

    def __init__(self, span: Span | None, field: str, role: str, act: str, hint: str) -> None:
        super().__init__(f"Field '{field}' is declared {role}.", span, act, hint=hint)


class ReadOnlyMemory(KernelError):
    """A field that is written, over memory of others that is read-only."""

    def __init__(self, span: Span | None, field: str) -> None:
        super().__init__(
            f"Field '{field}' is over memory of others that is read-only.",
            span,
            "written here",
            hint=f"copy it first: '{field} = dt.from_dlpack(array, copy=True)'.",
        )


Ends: TypeAlias = tuple[int, int]


class IndexRefused(KernelError, IndexError):
    """An access outside a shape, in a kernel that runs as Python without debug checks.

    Args:
        span: The access.
        message: What NumPy says.
    """

    def __init__(self, span: Span | None, message: str) -> None:
        super().__init__(
            f"Index out of range: {message}.",
            span,
            hint="dt.init(debug=True) names the field and its shape.",
        )


class DivisionByZero(KernelError, ZeroDivisionError):
    """An integer is divided by zero in a kernel.

    Found before a launch where it follows from shapes and integer arguments, otherwise while a
    kernel runs under `dt.init(debug=True)`.

    Args:
        span: The division.
        operation: The operation, as it is written.
        refused: The kernel was not launched.
    """

    def __init__(self, span: Span | None, operation: str, *, refused: bool = False) -> None:
        super().__init__(
            f"Integer division by zero: '{operation}'.",
            span,
            "the divisor is 0",
            notes=["nothing was launched."] if refused else [],
            hint="test the divisor with an 'if', or write 'a // b if b != 0 else 0', which "
            "computes one side only.",
        )


class IntegerTooLarge(KernelError, OverflowError):
    """An index or a bound of a loop that is no integer of 32 bits.

    Found before a launch where it follows from shapes and integer arguments, otherwise while a
    kernel runs under `dt.init(debug=True)`.

    Args:
        span: The integer.
        what: What it is, in the user's words.
        number: The integer.
        refused: The kernel was not launched.
        hint: What to write instead.
    """

    def __init__(
        self,
        span: Span | None,
        what: str,
        number: int,
        *,
        refused: bool = False,
        hint: str = "loop over a part at a time; where the last 32 bits are meant, write "
        "'ti.cast(..., ti.i32)'.",
    ) -> None:
        super().__init__(
            f"Integer too large: {what} is {number}, which does not fit 32 bits.",
            span,
            "indices and bounds of loops are of ti.i32",
            notes=["nothing was launched."] if refused else [],
            hint=hint,
        )


class IndexOutOfRange(KernelError, IndexError):
    """An access outside a shape.

    Found before a launch where it follows from shapes and integer arguments, otherwise while a
    kernel runs under `dt.init(debug=True)`.

    Args:
        span: The access.
        what: The indexed object, in the user's words.
        shape: Its shape.
        index: For each axis the index, or the first and the last one of a launch that was refused;
            None for one that depends on the contents of fields.

    Attributes:
        index: An index outside; None along axes where it is not known.
    """

    def __init__(
        self,
        span: Span | None,
        what: str,
        shape: tuple[int, ...],
        index: tuple[int | Ends | None, ...],
    ) -> None:
        ends = [(one, one) if isinstance(one, int) else one for one in index]
        outside = [_outside(one, n) for one, n in zip(ends, shape, strict=True)]
        self.index = tuple(
            one if one is not None or where is None else where[0]
            for one, where in zip(outside, ends, strict=True)
        )
        self.shape = shape
        axis = next(k for k, one in enumerate(outside) if one is not None)
        hint = f"it goes from 0 to {shape[axis] - 1}"
        if len(shape) > 1:
            hint = f"index {axis} goes from 0 to {shape[axis] - 1}"
        if (outside[axis] or 0) < 0:
            hint += "; kernels do not count from the end"
        title = f"Index out of range: {what} has the shape {shape}."
        refused = not all(isinstance(one, int) for one in index)
        notes = ["nothing was launched."] if refused else []
        if refused:
            hint += "; change the range of the loop or the shape, or test the index with an 'if'"
        label = f"index {_shown_index(ends) if refused else index}"
        super().__init__(title, span, label, notes=notes, hint=f"{hint}.")


def _outside(ends: Ends | None, size: int) -> int | None:
    """Return an index between two ends that is outside a size, preferably one past the end."""
    if ends is None:
        return None
    return ends[1] if ends[1] >= size else ends[0] if ends[0] < 0 else None


def _shown_index(index: Sequence[Ends | None]) -> str:
    parts = [
        "?" if ends is None else str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
        for ends in index
    ]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


class NotUnique(KernelError):
    """An index given to `dt.unique` that two iterations share, found under `debug=True`."""

    def __init__(self, span: Span | None, field: str, first: str, second: str) -> None:
        title = f"Broken promise: an index into '{field}' is not unique."
        what = f"stored here by {first}, and to the same element by {second}"
        super().__init__(title, span, what, hint="run the loop in order, or add with '+='.")


class AssertionFailure(KernelError, AssertionError):
    """An `assert` of a kernel that did not hold under `dt.init(debug=True)`."""

    def __init__(self, span: Span | None, test: str, message: str) -> None:
        self.message = message
        said = (message or test).rstrip(".")
        super().__init__(f"Assertion failed: {said}.", span, "does not hold")


class NotDifferentiable(KernelError):
    """A program whose gradient cannot be derived; it runs, but not under a tape that needs it."""

    def __init__(
        self,
        span: Span | None,
        message: str,
        label: str,
        *,
        related: Iterable[Label] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(f"No gradient: {message}", span, label, related=related, hint=hint)


class NotLocal(KernelError):
    """A program that is not a sum of local terms, whose Hessian is therefore not sparse."""

    def __init__(
        self,
        span: Span | None,
        message: str,
        label: str,
        *,
        related: Iterable[Label] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(
            f"Not a sum of local energies: {message}", span, label, related=related, hint=hint
        )


class RuleMismatch(KernelError):
    """A rule whose parameters or results do not fit the function that it belongs to."""

    def __init__(
        self,
        span: Span | None,
        message: str,
        label: str,
        *,
        notes: Iterable[str] = (),
        hint: str | None = None,
    ) -> None:
        super().__init__(f"Wrong rule: {message}", span, label, notes=notes, hint=hint)


class ScheduleMismatch(KernelError):
    """Steps that `kernel.schedule` sets for a loop that cannot run so, or that is not there."""

    def __init__(
        self, span: Span | None, message: str, label: str = "", *, hint: str | None = None
    ) -> None:
        super().__init__(f"Wrong schedule: {message}", span, label, hint=hint)


class CompileError(KernelError):
    """A kernel that difftile accepted and the substrate refused: a limit of Taichi, or a bug."""


class FieldError(DifftileError, ValueError):
    """A field used in a way it cannot be: shape, dtype, lifetime, missing gradient."""


class OutOfMemory(FieldError, MemoryError):
    """There is no memory for a field, or for old values of one."""


class FieldIndexError(FieldError, IndexError):
    """An index outside the shape of a field."""


class DatasetError(DifftileError, ValueError):
    """An invalid file or folder of splats, cameras or images.

    Args:
        path: The file or folder.
        found: The fault, in words.
        expected: The expected contents, in words.
        hint: A remedy.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        found: str,
        expected: str | None = None,
        *,
        hint: str | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self.found = found
        self.expected = expected
        self.hint = hint
        said = found if expected is None else f"{found}; expected {expected}"
        super().__init__(render(f"{_shown_path(self.path)}: {said}.", (), (), hint))


class UnknownName(DifftileError, AttributeError):
    """An attribute that an object of difftile does not have."""


class LaunchError(DifftileError, TypeError):
    """Arguments that do not fit the kernel they are passed to."""


class UnknownArgument(LaunchError):
    """A keyword that a function of difftile does not take.

    Attributes:
        name: The keyword.
        known: The keywords that it takes.
    """

    name: str = ""
    known: tuple[str, ...] = ()


class TapeError(DifftileError, RuntimeError):
    """A tape used out of order, or asked for a gradient that it does not hold."""


class StepsError(DifftileError, RuntimeError):
    """Something in the body of `dt.repeat` that only a loop of Python can do."""


class LossNotFinite(TapeError):
    """A loss that is infinite or NaN, which has no gradient."""


class SolverError(DifftileError, RuntimeError):
    """A solver that cannot go on: its numbers are not finite, or it makes no progress."""


class RankError(DifftileError, RuntimeError):
    """Ranks could not work together: one failed, or waited for others in vain."""


class ViewerError(DifftileError, RuntimeError):
    """A viewer that cannot be opened here, or a request that it cannot show or record."""


class NotConverged(UserWarning):
    """A solver stopped before it reached its tolerance."""


class GradientMismatch(DifftileError, AssertionError):
    """A gradient or a rule that differs from the derivative of its function."""


class GradientCut(UserWarning):
    """A wanted gradient stops at a field that has no gradient buffer."""


class GradientWarning(UserWarning):
    """A finding of `Tape(diagnose=True)`: numbers that are not finite, gradients that are zero."""


class NarrowProduct(UserWarning):
    """A product or left shift of integers in 32 bits, stored where there are 64."""


class StaleHalo(UserWarning):
    """Under debug: a kernel reads a halo that was not exchanged since the field was written."""


class SlowCompile(UserWarning):
    """Code that took more than five seconds to compile, or that unrolls a long loop."""
