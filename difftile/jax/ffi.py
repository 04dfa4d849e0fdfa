"""Calls from compiled XLA programs into Python, by XLA's foreign function interface.

One handler serves every op. An attribute of the call is the number of a target, and a target is a
Python function of addresses. The structures come from `xla/ffi/api/c_api.h`, version 0.1 and later:
later versions only add to their ends, and `struct_size` tells the members that are there.

XLA calls the handler on threads of its own, and several calls may run at once. ctypes takes
Python's lock for each. The handler and the targets live as long as the process, since a compiled
program that still refers to them may run at any time.
"""

from __future__ import annotations

import ctypes
import itertools
import secrets
from collections.abc import Callable
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from difftile.jax.library import jax

NAME = "difftile_call"
ATTRIBUTE = "target"
_PLATFORMS = ("cpu", "CUDA")

_METADATA = 1  # the type of the extension by which XLA asks for a handler's properties
_EXECUTE = 3  # the stage in which a handler runs
_BUFFER = 1  # the type of arguments and results that are arrays
_SCALAR = 3  # the type of attributes that are numbers
_INVALID_ARGUMENT, _INTERNAL = 3, 13

# XLA's numbers of the element types that fields may have.
_DTYPES = {
    np.dtype(name): code
    for name, code in {
        "bool": 1,
        "int8": 2,
        "int16": 3,
        "int32": 4,
        "int64": 5,
        "uint8": 6,
        "uint16": 7,
        "uint32": 8,
        "uint64": 9,
        "float16": 10,
        "float32": 11,
        "float64": 12,
    }.items()
}


class _Extension(Structure):
    _fields_ = (("struct_size", c_size_t), ("type", c_int), ("next", c_void_p))


class _Version(Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("major", c_int),
        ("minor", c_int),
    )


class _Metadata(Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("api_version", _Version),
        ("traits", c_uint32),
        ("state_type_id", c_int64),
    )


class _MetadataExtension(Structure):
    _fields_ = (("base", _Extension), ("metadata", POINTER(_Metadata)))


class _Api(Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("version", _Version),
        ("internal_api", c_void_p),
        ("error_create", c_void_p),
        ("error_get_message", c_void_p),
        ("error_destroy", c_void_p),
        ("handler_register", c_void_p),
        ("stream_get", c_void_p),
        ("_between", c_void_p * 12),
        ("device_ordinal_get", c_void_p),  # since version 0.3
    )


class _XlaBuffer(Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("dtype", c_int),
        ("data", c_void_p),
        ("rank", c_int64),
        ("dims", POINTER(c_int64)),
    )


class _Arrays(Structure):
    """Arguments or results, one after the other."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("size", c_int64),
        ("types", POINTER(c_int)),
        ("buffers", POINTER(POINTER(_XlaBuffer))),
    )


class _Span(Structure):
    _fields_ = (("text", c_void_p), ("length", c_size_t))


class _Scalar(Structure):
    _fields_ = (("dtype", c_int), ("value", POINTER(c_int64)))


class _Attributes(Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("size", c_int64),
        ("types", POINTER(c_int)),
        ("names", POINTER(POINTER(_Span))),
        ("values", POINTER(POINTER(_Scalar))),
    )


class _Frame(Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", POINTER(_Extension)),
        ("api", POINTER(_Api)),
        ("context", c_void_p),
        ("stage", c_int),
        ("arguments", _Arrays),
        ("results", _Arrays),
        ("attributes", _Attributes),
    )


class _ErrorCreate(Structure):
    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("message", c_char_p),
        ("code", c_int),
    )


class _ErrorDestroy(Structure):
    _fields_ = (("struct_size", c_size_t), ("extension_start", c_void_p), ("error", c_void_p))


class _Question(Structure):
    """The argument of functions that return one property of a call."""

    _fields_ = (
        ("struct_size", c_size_t),
        ("extension_start", c_void_p),
        ("context", c_void_p),
        ("answer", c_int64),
    )


# Functions of XLA's that return at once: Python's lock stays where it is.
_Function = ctypes.PYFUNCTYPE(c_void_p, c_void_p)


@dataclass(frozen=True, slots=True)
class ArraySignature:
    """The arrays that a target takes or gives: their element types and shapes."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class CallTarget:
    """The code of a call, with the signatures that are checked.

    Attributes:
        run: A function of the addresses of the arguments, which are only read, the addresses of
            the results, and the stream of CUDA, 0 on the CPU.
        arguments: The required types and shapes of the arguments.
        results: The required types and shapes of the results.
        device: The ordinal of the device of CUDA; None is the CPU.
    """

    run: Callable[[list[int], list[int], int], None]
    arguments: tuple[ArraySignature, ...]
    results: tuple[ArraySignature, ...]
    device: int | None = None


_targets: dict[int, CallTarget] = {}
# JAX may keep compiled programs in files, for other processes. The first number is drawn, so that
# a program of another process does not find a target here that is not its own.
_numbers = itertools.count(secrets.randbits(62))
_outcomes: dict[int, int] = {}


def target_number(target: CallTarget) -> int:
    """Return the number of a target, which is the attribute of its calls; the target stays."""
    _handler()
    number = next(_numbers)
    _targets[number] = target
    return number


@cache
def _handler() -> Any:
    """Register the handler, and return the objects that have to stay alive."""
    inner = ctypes.PYFUNCTYPE(None, c_void_p)(_run)
    # An interrupt before the first line of `_run` is only printed by ctypes: XLA would take the
    # call for successful. `_settle` is called in either case.
    inner.errcheck = cast(Any, _settle)
    outer = ctypes.CFUNCTYPE(c_void_p, c_void_p)(inner)
    for platform in _PLATFORMS:
        jax.ffi.register_ffi_target(NAME, jax.ffi.pycapsule(outer), platform=platform)
    return inner, outer


def _run(address: int) -> None:
    """Execute a call frame, and note the error, 0 for none."""
    try:
        frame = _Frame.from_address(address)
        try:
            if frame.extension_start:
                _describe(frame)
            elif frame.stage == _EXECUTE:
                _execute(frame)
            error = 0
        except ForeignCallError as exc:
            error = _error(frame, str(exc), _INVALID_ARGUMENT)
        except BaseException as exc:
            text = f"{type(exc).__name__}: {exc}" if str(exc) else type(exc).__name__
            error = _error(frame, text, _INTERNAL)
        _outcomes[address] = error
    except BaseException:  # an interrupt in one of the handlers above
        _outcomes.pop(address, None)


def _settle(_: None, __: Any, arguments: tuple[Any, ...]) -> int:
    """Return the error that was noted for a call; a call without a note was interrupted."""
    address: int = arguments[0]
    error = _outcomes.pop(address, None)
    if error is None:
        error = _error(_Frame.from_address(address), "KeyboardInterrupt", _INTERNAL)
    return error


class ForeignCallError(RuntimeError):
    """A call of XLA's that no target of this process matches."""


def _describe(frame: Any) -> None:
    """Tell XLA which version of the interface the handler has: the caller's own."""
    extension = frame.extension_start
    if extension.contents.type != _METADATA:
        return
    asked = ctypes.cast(extension, POINTER(_MetadataExtension)).contents.metadata.contents
    version = asked.api_version
    version.struct_size = ctypes.sizeof(_Version)
    version.extension_start = None
    version.major, version.minor = 0, 1
    if frame.api:
        version.major, version.minor = (
            frame.api.contents.version.major,
            frame.api.contents.version.minor,
        )
    asked.traits = 0
    if asked.struct_size >= _Metadata.state_type_id.offset + _Metadata.state_type_id.size:
        asked.state_type_id = 0


def _execute(frame: Any) -> None:
    target = _targets.get(_number(frame.attributes))
    if target is None:
        raise ForeignCallError(
            "the program was compiled in another process, and calls an op of difftile that is not "
            "here; compile it again (jax.clear_caches(), or another jax_compilation_cache_dir)."
        )
    arguments = _addresses(frame.arguments, target.arguments, "argument")
    results = _addresses(frame.results, target.results, "result")
    stream = 0 if target.device is None else _stream(frame, target.device)
    target.run(arguments, results, stream)


def _number(attributes: Any) -> int:
    if attributes.size == 1 and attributes.types[0] == _SCALAR:
        return attributes.values[0].contents.value[0]
    raise ForeignCallError(f"{NAME} has one attribute, {ATTRIBUTE!r}.")


def _addresses(arrays: Any, expected: tuple[ArraySignature, ...], what: str) -> list[int]:
    """Return the addresses of the arrays.

    Raises:
        ForeignCallError: The arrays do not have the types and shapes of the target.
    """
    if arrays.size != len(expected):
        raise ForeignCallError(f"expected {len(expected)} {what}s, got {arrays.size}.")
    found: list[int] = []
    for k, signature in enumerate(expected):
        if arrays.types[k] != _BUFFER:
            raise ForeignCallError(f"{what} {k} is not an array.")
        buffer = arrays.buffers[k].contents
        shape = tuple(buffer.dims[: buffer.rank])
        if buffer.dtype != _DTYPES.get(signature.dtype) or shape != signature.shape:
            raise ForeignCallError(
                f"{what} {k} should be {signature}, and has the shape {shape} and XLA's element "
                f"type {buffer.dtype}."
            )
        found.append(buffer.data or 0)
    return found


def _stream(frame: Any, device: int) -> int:
    """Return the stream on which XLA works.

    Raises:
        ForeignCallError: The arrays are on another device than the fields.
    """
    api = frame.api.contents
    if api.struct_size >= ctypes.sizeof(_Api):
        ordinal = _ask(frame, api.device_ordinal_get) & 0xFFFFFFFF
        if ordinal != device:
            raise ForeignCallError(
                f"the arrays are on device {ordinal}, and fields on device {device}; move them "
                "there with jax.device_put(x, jax.devices()[0])."
            )
    return _ask(frame, api.stream_get)


def _ask(frame: Any, function: int) -> int:
    asked = _Question(ctypes.sizeof(_Question), None, frame.context, 0)
    if error := _Function(function)(ctypes.addressof(asked)):
        dropped = _ErrorDestroy(ctypes.sizeof(_ErrorDestroy), None, error)
        _Function(frame.api.contents.error_destroy)(ctypes.addressof(dropped))
        raise ForeignCallError("XLA does not tell on which stream it works.")
    return asked.answer


def _error(frame: Any, text: str, code: int) -> int:
    """Return a new error, which XLA frees."""
    message = text.encode(errors="replace").replace(b"\0", b"?")
    asked = _ErrorCreate(ctypes.sizeof(_ErrorCreate), None, message, code)
    created: int = _Function(frame.api.contents.error_create)(ctypes.addressof(asked))
    return created
