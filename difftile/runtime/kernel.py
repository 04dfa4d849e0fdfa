"""`@dt.kernel`: specialising a function on its arguments, and launching it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Hashable
from contextlib import suppress
from types import FunctionType
from typing import Any

from difftile.compile.arguments import Arguments, field_at
from difftile.compile.compile_function import check_rule, compile_kernel
from difftile.compile.definition import Body, Definition
from difftile.compile.func import Func, plain, watch
from difftile.compile.methods import BoundKernel, check_class, is_data_oriented
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import Adjoint
from difftile.diagnostics import IndexOutOfRange, LaunchError, did_you_mean
from difftile.fields.recording import RECORDING, Recording
from difftile.ir.nodes import Array
from difftile.ir.types import (
    Type,
    is_float,
)
from difftile.launch.captured import captured
from difftile.launch.parse_arguments import ParsedArguments, current_captures, parse_arguments
from difftile.launch.prepared_launch import PreparedLaunch, RecentLaunches, invariant_key
from difftile.ops.vocabulary import RuleMeaning, is_lambda
from difftile.recording.access_observer import observe_launch
from difftile.recording.perform import perform
from difftile.runtime.explanation import explain
from difftile.runtime.explicit import (
    run_adjoint,
    run_adjoint_of_step,
    run_tangents,
    run_tangents_of_step,
)
from difftile.runtime.ruled_launch import RuledLaunch, rule_arguments
from difftile.substrate import LOCK, Session, current_session, raise_first


class Kernel:
    """A kernel: call it with fields and numbers to launch it.

    It is compiled for the types of its arguments on the first call; shapes are run-time values.
    """

    _is_difftile_kernel = True

    def __init__(self, function: FunctionType, body: Body | None = None) -> None:
        self.function = function
        functools.update_wrapper(self, function)
        self._body = Definition(function) if body is None else body
        self._parameters = self._body.parameters
        self._names = [p.name for p in self._parameters]
        self._specialisations: dict[Hashable, list[Specialisation]] = {}
        self._latest: Specialisation | None = None
        self._calls = RecentLaunches()
        self._rules: dict[str, RuleMeaning] = {}
        watch(self)

    def forget(self) -> None:
        """Have the kernel compiled again at its next launch: funcs that it calls have changed."""
        self._specialisations = {}
        self._calls.clear()

    def forget_launch(self) -> None:
        """Have the next launch prepared anew: fields have changed their types."""
        self._calls.clear()

    def __repr__(self) -> str:
        return self._body.title

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Return the kernel as a method of an object."""
        if instance is None:
            return self
        if not is_data_oriented(instance):
            check_class(f"Kernel '{self.function.__name__}'", instance)
        return BoundKernel(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Launch the kernel; on an open tape the launch is recorded.

        Returns:
            What the kernel returns: a Python number, an array of the components of a vector or
            matrix, or a tuple of those. A tape takes it for a constant.

        Raises:
            LaunchError: The arguments do not fit the parameters.
            KernelError: The body is not a program of the kernel language.
            IndexOutOfRange: An index would leave a shape; nothing was launched. Or, under debug, it
                depends on what fields hold; the launch has run to its end.
            AssertionFailure: Under debug an assertion does not hold; the launch has run to its end.
        """
        call, values = self._ready(args, kwargs)
        if call.suspect is not None and call.suspect(values):
            call.check(values)
        if call.exclusive:
            LOCK.acquire()
        try:
            for one in call.derived:
                one.refresh()
            if call.code.streams:
                call.draw_anew(values)
            recording = RECORDING.get()
            recorder = recording.recorder
            if recorder is not None and "backward" in self._rules:
                perform(self._step("backward", call, values, args, kwargs))
            elif recorder is None:
                if Recording.open or recording.observer is not None:
                    self._heed(recording, call, values)
                call.run(values)
            else:
                if len(Recording.open) > 1:
                    self._heed(recording, call, values)
                recorder.launch(call, values)
            if call.session.debug:
                raise_first()
            return None if call.code.result is None else call.code.returned()
        finally:
            if call.exclusive:
                LOCK.release()

    def bwds(self, *args: Any, **kwargs: Any) -> None:
        """Run the adjoint of one launch, without a tape.

        It takes the arguments of the launch. Fields hold what they held before that launch, and
        hold it afterwards as well. The adjoint reads `grad_in` of the fields that the launch writes
        and adds to `grad_out` of those that it reads. The gradient of a field that is written alone
        stays as it is; where a field is both, its one gradient changes from that of the contents
        after the launch to that of the contents before. Kernels that draw random numbers draw
        those of their last launch.

        Raises:
            LaunchError: The arguments do not fit, a tape is open, or no gradient comes in.
            KernelError: The body is not a program of the kernel language, or has no adjoint.
        """
        with LOCK:
            call, values = self._ready_alone("bwds", args, kwargs)
            if call.code.streams:
                call.draw_again(values)
            if "backward" in self._rules:
                run_adjoint_of_step(repr(self), self._step("backward", call, values, args, kwargs))
            else:
                run_adjoint(repr(self), call, values)

    def fwds(self, *args: Any, **kwargs: Any) -> None:
        """Launch the kernel and push tangents through the launch, without a tape.

        Gradient buffers hold the tangents: `grad_out` those of what a field holds before the
        launch, `grad_in` those of what it holds after it; one buffer serves as both by default.
        Tangents are set and not added to.

        Raises:
            LaunchError: The arguments do not fit, a tape is open, or no field has a gradient.
            KernelError: The body is not a program of the kernel language.
        """
        with LOCK:
            call, values = self._ready_alone("fwds", args, kwargs)
            if call.code.streams:
                call.draw_anew(values)
            if "forward" in self._rules:
                run_tangents_of_step(repr(self), self._step("forward", call, values, args, kwargs))
            elif "backward" in self._rules:
                raise LaunchError(
                    f"{self!r} has a backward rule alone: write "
                    f"'@{self.function.__name__}.forward'."
                )
            else:
                run_tangents(repr(self), call, values)
            if call.session.debug:
                raise_first()

    # Rules

    def backward(self, rule: Any = None, *, approx: bool = False) -> Any:
        """Give the kernel a backward rule; a decorator.

        The rule is a kernel over the same parameters. It reads `grad_in` of the fields that the
        kernel writes, and adds to `grad_out` of those that it reads: `x.grad_out[i] += ...`. Fields
        hold what they held before the launch; those that the kernel writes and does not read hold
        what they held after it; `x.before[i]` and `x.after[i]` ask for either. Elements that the
        kernel stores have lost the gradient of what was there before, as always. The body of the
        kernel is not differentiated any more.

        Args:
            rule: A function, or a kernel.
            approx: It is no exact derivative, and says so in reports.

        Raises:
            LaunchError: It is none, or has other parameters, or there is one already.
        """
        return self._with_rule("backward", rule, approx)

    def forward(self, rule: Any = None, *, approx: bool = False) -> Any:
        """Give the kernel a forward rule; a decorator.

        As `backward`, but `grad_out` of a field is the tangent of what it held before the launch,
        which the rule reads, and `grad_in` that of what it holds afterwards, which the rule sets.

        Args:
            rule: A function, or a kernel.
            approx: It is no exact derivative, and says so in reports.

        Raises:
            LaunchError: It is none, or has other parameters, or there is one already.
        """
        return self._with_rule("forward", rule, approx)

    @property
    def rules(self) -> dict[str, RuleMeaning]:
        """The rules of the kernel: 'backward', 'forward'."""
        return dict(self._rules)

    def _with_rule(self, word: str, rule: Any, approx: bool) -> Any:
        if rule is None:
            return functools.partial(self._with_rule, word, approx=approx)
        function = rule.function if isinstance(rule, Kernel) else plain(rule)
        if word in self._rules:
            raise LaunchError(f"{self!r} has a {word} rule already.")
        check_rule(self.function, function, word)
        self._rules[word] = RuleMeaning(function, approx)
        self.forget()
        return rule

    def _step(
        self,
        word: str,
        call: PreparedLaunch,
        values: list[Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> RuledLaunch:
        """Return a launch whose derivative is that of a rule."""
        args = self._bind(args, kwargs)
        known = {name: args[position] for name, position, _ in call.objects}
        own = values[: call.captured_at]
        rules = {
            word: (rule, rule_arguments(rule, own, call.arrays, known))
            for word, rule in call.code.rules.items()
        }
        approximate = self._rules[word].approximate
        name = self.function.__name__
        return RuledLaunch(name, call, values, rules, word, approximate=approximate)

    def _heed(self, recording: Recording, call: PreparedLaunch, values: Arguments) -> None:
        """Tell an observer of a launch, and check that no tape of another thread misses it.

        Raises:
            LaunchError: A tape of another thread would miss it.
        """
        if recording.observer is not None and recording.recorder is None:
            observe_launch(recording.observer, call, values)
        if recording.is_missed(field_at(values, k).storage for k in call.code.writes):
            raise LaunchError(
                f"{self!r} is launched while a tape that has recorded a field which it writes is "
                "open in another thread or task, and would miss it. Write the field from one "
                "thread, or after the 'with' block."
            )

    def _ready_alone(
        self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[PreparedLaunch, list[Any]]:
        """Return the prepared launch for derivatives without a tape."""
        if RECORDING.get().recorder is not None:
            raise LaunchError(
                f"{self!r}: {method}() is for launches without a tape, and one is open."
            )
        call, values = self._ready(args, kwargs)
        if call.suspect is not None and call.suspect(values):
            call.check(values)
        for one in call.derived:
            one.refresh()
            if one.has_grads:
                raise LaunchError(
                    f"{self!r}: {method}() passes derivatives of one launch alone, and {one!r} "
                    "follows from other fields: launch the kernel on a tape."
                )
        return call, values

    def _ready(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[PreparedLaunch, list[Any]]:
        """Return the prepared launch for some arguments, and the values of its parameters."""
        if kwargs or len(args) != len(self._names):
            args = self._bind(args, kwargs)
        session = current_session()
        found = self._calls.find(args, session)
        if found is None:
            with LOCK:
                call = self._prepare(args, session)
            found = call, call.values.copy()
        self._latest = found[0].code
        return found

    def _prepare(self, args: tuple[Any, ...], session: Session) -> PreparedLaunch:
        """Find or compile the specialisation for some arguments."""
        taken = parse_arguments(self, self._body.kinds, args, session)
        code, outside = self._specialise(taken, session)
        pick = invariant_key(taken.others)
        drawn = [0, 0] if code.streams else []
        values: Arguments = [*taken.values, *outside, *drawn, *code.temps]
        arguments = {name: position for name, position, _ in taken.objects}
        call = PreparedLaunch(
            code,
            values,
            tuple(taken.numbers),
            tuple(taken.objects),
            pick,
            pick(args),
            session,
            captured(code.captures, args, arguments, values, len(taken.values)),
            taken.arrays,
            len(taken.values),
        )
        if session is not current_session():
            raise LaunchError(f"{self!r}: dt.init() was called while its launch was prepared.")
        if call.suspect is not None:
            # Before other threads see the call: it learns which numbers need not be looked at.
            with suppress(IndexOutOfRange):  # said by the launch
                call.check(call.values)
        self._calls.add(call)
        return call

    def result_types(self, *args: Any, **kwargs: Any) -> tuple[Type, ...]:
        """Return the types of what the kernel returns for some arguments, without a launch."""
        result = self._ready(args, kwargs)[0].code.result
        return () if result is None else result.types

    # Arguments

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        for name in kwargs:
            if name not in self._names:
                guess = did_you_mean(name, self._names) or f"it has {', '.join(self._names)}."
                raise LaunchError(f"{self!r} has no argument '{name}'; {guess}")
        try:
            bound = inspect.Signature(self._parameters).bind(*args, **kwargs)
        except TypeError as error:
            raise LaunchError(f"{self!r}: {error}.") from None
        bound.apply_defaults()
        return tuple(bound.arguments[name] for name in self._names)

    # Specialisation

    def _specialise(
        self, taken: ParsedArguments, session: Session
    ) -> tuple[Specialisation, Arguments]:
        key = tuple(taken.key)
        for code in self._specialisations.get(key, ()):
            if code.session is session:
                outside = current_captures(code.captures, taken.arrays, taken.known)
                if outside is not None:
                    return code, outside
        name, meanings = self.function.__name__, taken.meanings
        code = compile_kernel(name, self._body, self._rules, taken.signature, meanings, session)
        self._specialisations.setdefault(key, []).append(code)
        outside = current_captures(code.captures, taken.arrays, taken.known)
        if outside is None:
            raise LaunchError(f"{self!r}: a captured name changed while it was compiled.")
        return code, outside

    # Looking inside

    def source(self, mode: str = "forward") -> str:
        """Return the Taichi source of the latest specialisation.

        Args:
            mode: "forward" or "adjoint"; the adjoint is that for gradients of all float fields.

        Raises:
            LaunchError: The kernel has not been launched yet, or the mode is unknown.
        """
        if mode not in ("forward", "adjoint"):
            raise LaunchError(f"source(mode) is 'forward' or 'adjoint', not {mode!r}.")
        if self._latest is None:
            raise LaunchError(f"{self!r} is compiled on its first launch; launch it before.")
        texts: list[str] = []
        for stage in self._latest.stages:
            if mode == "forward":
                texts.append(stage.primal.code.source())
                continue
            params = (*stage.program.params, *stage.program.temps)
            wanted = frozenset(
                p for p in params if isinstance(p, Array) and is_float(p.type.element)
            )
            adjoint = stage.code(Adjoint(wanted))
            if adjoint is not None:
                texts.append(adjoint.code.source())
        return "\n\n".join(texts if mode == "forward" else reversed(texts))

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """Return what the kernel does with its parameters, and what its adjoint needs.

        That is: roles, what a tape keeps and which expressions need it, what is atomic, how loops
        run backwards, where gradients are cut, rules, and what compiling took.

        Args:
            args: The arguments of a launch, which is compiled and not run; none for the latest one.
            kwargs: The same by name.

        Raises:
            LaunchError: The kernel has not been launched yet and no arguments are given, or they do
                not fit.
        """
        if args or kwargs or not self._names:
            self._ready(args, kwargs)
        if self._calls.latest is None:
            raise LaunchError(
                f"{self!r} is compiled on its first launch; launch it before, or give explain() "
                "the arguments of a launch."
            )
        codes = [code for several in self._specialisations.values() for code in several]
        return explain(repr(self), self._calls.latest, codes)


def kernel(function: Any) -> Kernel:
    """Make a function a kernel; the decorator `@dt.kernel`.

    Raises:
        LaunchError: It is not a plain Python function.
    """
    if isinstance(function, (Kernel, Func)):
        kind = "a kernel" if isinstance(function, Kernel) else "a func"
        raise LaunchError(f"{function!r} is {kind} already; remove one of the two decorators.")
    if not isinstance(function, FunctionType):
        raise LaunchError(f"@dt.kernel decorates a function, not {function!r}.")
    if is_lambda(function):
        raise LaunchError("@dt.kernel decorates a 'def': a lambda can be a func alone.")
    return Kernel(function)
