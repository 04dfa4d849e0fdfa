"""The memory that varies with some fields, as steps go on."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import field, replace

from difftile.compile.arguments import field_at
from difftile.diagnostics import LaunchError
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.frontend.parameters import as_written
from difftile.ir.types import is_float
from difftile.recording.gradient_cuts import warn_of_array
from difftile.recording.opaque import Opaque
from difftile.recording.steps import Launch, TapeStep
from difftile.recording.uses import Use
from difftile.recording.work_fields import zeros_of
from difftile.recording.write import Write
from difftile.records import dataclass
from difftile.user_line import UserLine


@dataclass(slots=True)
class Active:
    """The memory that varies with some fields, as steps go on.

    A field that is cut, as detached ones are, is constant unless it is requested itself.
    """

    wanted: Collection[Field]
    storages: set[Storage] = field(init=False)

    def __post_init__(self) -> None:
        self.storages = {one.storage for one in self.wanted}

    def __contains__(self, one: Field) -> bool:
        if one.storage not in self.storages:
            return False
        return not one.is_cut or one.origin in self.wanted

    def along(self, step: Launch, *, constant: bool = False) -> tuple[bool, ...]:
        """Return which parameters of a launch carry derivatives: all written ones if any does.

        Args:
            step: The launch.
            constant: Whether its results are constants, as inside `dt.no_grad()`.

        Raises:
            LaunchError: The kernel writes a field that it is also given detached, or updates a
                detached field.
        """
        fields = [v if isinstance(v, Field) and is_float(v.element) else None for v in step.values]
        if not any(one is not None and one.storage in self.storages for one in fields):
            return (False,) * len(fields)
        code = step.prepared.code
        if step.prepared.mixed:
            raise LaunchError(step.prepared.mixed)
        writes = frozenset(code.writes)
        cut = [k for k in writes if (one := fields[k]) is not None and self._hides(one)]
        for k in cut:
            if not constant and any(code.params[k] in stage.loaded for stage in code.stages):
                raise _updated(as_written(code.params[k].name), code.name)
        if not cut and not any(one is not None and one in self for one in fields):
            return (False,) * len(fields)
        return tuple(
            one is not None and (k in writes or one in self) for k, one in enumerate(fields)
        )

    def carries(self, use: Use, *, constant: bool = False) -> bool:
        """Tell whether derivatives pass through a use, or are overwritten in memory that varies.

        Args:
            use: The use of a field by a step.
            constant: Whether the results of the step are constants.
        """
        written = use.writes is not False if constant else use.writes and not use.updates
        return use.field in self or bool(written and self._hides(use.field))

    def check_updates(self, opaque: Opaque, uses: Iterable[Use]) -> None:
        """Check that a step which has run has updated no detached field whose memory varies.

        Args:
            opaque: The step.
            uses: Its uses, which say what it has written.

        Raises:
            LaunchError: It has.
        """
        if opaque.constant:
            return
        for use, found in zip(opaque.uses, uses, strict=True):
            if found.updates and self._hides(use.field):
                raise _updated(use.name, opaque.step.title)

    def _hides(self, one: Field) -> bool:
        """Tell whether reads of a field are constant, though its memory varies."""
        return one.storage in self.storages and one not in self

    def launched(self, step: Launch) -> tuple[bool, ...]:
        """Return which parameters carry derivatives, and add the memory that varies after it."""
        grads = self.along(step)
        code, values = step.prepared.code, step.values
        self.storages |= {field_at(values, k).storage for k in code.writes if grads[k]}
        return grads

    def wrote(self, step: Write) -> Write | None:
        """Return how a write from Python changes derivatives; add the memory that varies after it.

        Returns:
            A copy of a field that varies, else a write of constants into one that varies.
        """
        if step.source is not None and step.source.base in self:
            self.storages.add(step.field.storage)
            return Write(step.field, step.where, step.source)
        varied = step.field.storage in self.storages
        return Write(step.field, step.where) if varied else None

    def follow(self, step: TapeStep) -> None:
        """Add the memory that varies after a step, and remove memory that is now constant."""
        match step:
            case Launch():
                self.launched(step)
            case Opaque(uses=uses):
                if any(use.reads and self.carries(use) for use in uses):
                    self.storages |= {use.field.storage for use in uses if use.writes}
            case Write(field=field, where=None, source=None):
                self.storages.discard(field.storage)
            case Write():
                self.wrote(step)
            case _:
                raise NotImplementedError(step)


def _updated(name: str, title: str) -> LaunchError:
    return LaunchError(
        f"'{name}' of {title} is detached, or another field has the gradient of its memory: reads "
        f"of it are constant, and {title} updates it. Pass a field that carries derivatives, or a "
        "copy."
    )


def warn_of_arrays(launch: Launch, active: Active, line: UserLine | None = None) -> None:
    """Warn at a line of the arrays of other libraries that hold varying values after a launch."""
    for k in launch.prepared.code.writes:
        one = field_at(launch.values, k)
        if one.storage.is_array and one in active:
            name = as_written(launch.prepared.code.params[k].name)
            warn_of_array(name, None, line, readers="NumPy reads of it")


def varying_uses(opaque: Opaque, active: Active) -> tuple[Use, ...]:
    """Return the uses of a step, with gradients only for the fields that vary."""
    grads = {
        use.field.storage: active.carries(use, constant=opaque.constant) for use in opaque.uses
    }
    if any(grads[use.field.storage] for use in opaque.uses if use.reads) and not opaque.constant:
        grads |= {use.field.storage: True for use in opaque.uses if use.writes is not False}
    return tuple(
        replace(use, field=_with_or_without(use.field.origin, grads[use.field.storage]))
        for use in opaque.uses
    )


def _with_or_without(one: Field, grad: bool) -> Field:
    """Return a field in the same memory, with or without a gradient."""
    bar = zeros_of(one) if grad and is_float(one.element) else None
    return one.over(one.storage, bar, bar)
