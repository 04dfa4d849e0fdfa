"""Arrays of others as blocks of memory, and blocks as arrays of others: the DLPack protocol.

The structures follow DLPack 1.1 (`dlpack.h`). An array of others is read from its capsule by
`ctypes`. Capsules of our own are NumPy's, whose deleter is compiled and waits for no interpreter
that has ended; for memory of a device, the capsule of an array that is never read is given the
device.
"""

from __future__ import annotations

import ctypes
import weakref
from math import prod
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from difftile.diagnostics import FieldError
from difftile.records import dataclass
from difftile.substrate.session import current_session

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13
_DEVICES = {4: "OpenCL", 7: "Vulkan", 8: "Metal", 10: "ROCm", 14: "oneAPI", 15: "WebGPU"}
_KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}
_NAMES = {3: "opaque handles", 4: "bfloat16", 5: "complex numbers"}
_READ_ONLY = 1
_VERSION = (1, 1)


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("number", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("type", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (
        ("tensor", _Tensor),
        ("context", ctypes.c_void_p),
        ("deleter", _Deleter),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


# The names of capsules, before and after somebody has taken the array; CPython keeps the pointers.
_UNUSED: dict[type[Any], bytes] = {_Managed: b"dltensor", _Versioned: b"dltensor_versioned"}
_USED: dict[type[Any], bytes] = {kind: b"used_" + name for kind, name in _UNUSED.items()}

_is_valid: Any = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_int
_pointer: Any = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_void_p
_rename: Any = ctypes.pythonapi.PyCapsule_SetName
_rename.argtypes, _rename.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_int


@dataclass(frozen=True, slots=True)
class ForeignBlock:
    """An array of others, as its owner describes it.

    Args:
        address: Where the first element is.
        shape: Its sizes.
        strides: The distance between neighbours along each axis [elements].
        dtype: The type of its numbers.
        device: The number of the CUDA device; None for memory of the host.
        read_only: Whether the memory must not be written.
        keeper: Keeps the memory alive.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    device: int | None
    read_only: bool
    keeper: object

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements follow each other without gaps, the last axis fastest."""
        if 0 in self.shape:
            return True
        expected = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if size != 1 and stride != expected:
                return False
            expected *= size
        return True

    def array(self) -> npt.NDArray[Any]:
        """Return memory of the host as a NumPy array."""
        itemsize = self.dtype.itemsize
        if 0 in self.shape:
            return np.empty(self.shape, self.dtype)
        lowest = sum(min(0, s * (n - 1)) for n, s in zip(self.shape, self.strides, strict=True))
        highest = sum(max(0, s * (n - 1)) for n, s in zip(self.shape, self.strides, strict=True))
        nbytes = (highest - lowest + 1) * itemsize
        memory: Any = (ctypes.c_char * nbytes).from_address(self.address + lowest * itemsize)
        strides = tuple(stride * itemsize for stride in self.strides)
        return np.ndarray(self.shape, self.dtype, memory, -lowest * itemsize, strides)


class _Keeper:
    """Keeps an array of others until it is dropped, and tells its owner then."""

    __slots__ = ("__weakref__",)


def block_of(x: Any) -> ForeignBlock:
    """Return the memory of an array of others, which the block keeps alive.

    Args:
        x: A NumPy array, or an array with `__dlpack__`.

    Raises:
        FieldError: Fields cannot share such memory; the message says why.
    """
    if isinstance(x, np.ndarray):
        return _of_numpy(cast("npt.NDArray[Any]", x))
    if not hasattr(x, "__dlpack__"):
        raise FieldError(
            f"A {type(x).__name__} has no memory to share: arrays of NumPy, torch, JAX and CuPy "
            "have. For lists and numbers use dt.from_numpy(x)."
        )
    if getattr(x, "requires_grad", False):
        raise FieldError(
            "A torch tensor that requires grad is not shared, since writes and gradients of one "
            "side would be missed by the other. Pass x.detach(), or use dt.torch.op."
        )
    if getattr(x, "is_neg", bool)():  # as of x.conj().imag; DLPack does not tell
        raise FieldError(
            "A torch tensor that is negated when it is read is not shared, since its memory has "
            "the numbers without the sign. Pass x.resolve_neg()."
        )
    return _of_capsule(_asked(x))


def _of_numpy(x: npt.NDArray[Any]) -> ForeignBlock:
    if x.dtype.kind not in "biuf" or x.dtype.itemsize > 8:
        raise FieldError(f"Fields cannot hold {x.dtype}; cast the array first.")
    if not x.dtype.isnative:
        raise FieldError(
            f"An array of {x.dtype} in the other byte order is not shared. Copy it: "
            "dt.from_numpy(x)."
        )
    itemsize = x.dtype.itemsize
    address: int = x.__array_interface__["data"][0]
    if any(stride % itemsize for stride in x.strides):
        raise FieldError(
            "The elements of the array overlap fields of a record, and are not shared. Copy them: "
            "dt.from_numpy(x)."
        )
    strides = tuple(stride // itemsize for stride in x.strides)
    return ForeignBlock(address, x.shape, strides, x.dtype, None, not x.flags.writeable, x)


def _asked(x: Any) -> Any:
    """Return the capsule of an array, ready to be used on the stream of launches."""
    kind, _ = x.__dlpack_device__()
    given: dict[str, Any] = {}
    if kind in (CUDA, CUDA_MANAGED):
        given["stream"] = current_session().stream
    try:
        return x.__dlpack__(max_version=_VERSION, **given)
    except TypeError:  # a version of the protocol before 1.0
        return x.__dlpack__(**given)
    except (BufferError, RuntimeError) as error:
        raise FieldError(f"A {type(x).__name__} does not share its memory: {error}") from None


def _of_capsule(capsule: Any) -> ForeignBlock:
    for kind, name in _UNUSED.items():
        if _is_valid(capsule, name):
            managed = kind.from_address(_pointer(capsule, name))
            break
    else:
        raise FieldError("The array gave a DLPack capsule of a kind that is not known.")
    if kind is _Versioned and managed.major != _VERSION[0]:
        raise FieldError(f"The array speaks version {managed.major} of DLPack, and not 1.")
    tensor: _Tensor = managed.tensor
    device, ndim = tensor.device, tensor.ndim
    shape = tuple(tensor.shape[:ndim]) if ndim else ()
    strides = tuple(tensor.strides[:ndim]) if ndim and tensor.strides else _packed(shape)
    dtype = _dtype(tensor.type)
    if device.kind not in (CPU, CUDA, CUDA_HOST, CUDA_MANAGED):
        where = _DEVICES.get(device.kind, f"device type {device.kind}")
        raise FieldError(f"Memory of {where} is not shared. Copy the array to the host first.")
    on_host = device.kind in (CPU, CUDA_HOST)
    _rename(capsule, _USED[kind])  # from here on the memory is given back by us
    keeper = _Keeper()
    if managed.deleter:
        # Only the code: the structure, and references to its fields, end with the call.
        code: Any = ctypes.cast(managed.deleter, ctypes.c_void_p).value
        deleter, address = _Deleter(code), ctypes.addressof(managed)
        weakref.finalize(keeper, deleter, address).atexit = False
    return ForeignBlock(
        (tensor.data or 0) + tensor.offset,
        shape,
        strides,
        dtype,
        None if on_host else device.number,
        kind is _Versioned and bool(managed.flags & _READ_ONLY),
        keeper,
    )


def _dtype(type_: _Type) -> np.dtype[Any]:
    kind, bits = _KINDS.get(type_.code), type_.bits
    if kind is None or type_.lanes != 1 or bits not in (8, 16, 32, 64):
        name = _NAMES.get(type_.code, f"numbers of {bits} bits, of type {type_.code}")
        raise FieldError(f"Fields cannot hold {name}; cast the array first.")
    return np.dtype(f"{kind}{bits // 8}")


def _packed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of an array without gaps."""
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def capsule_of(array: npt.NDArray[Any], device: int | None, max_version: Any = None) -> Any:
    """Return the capsule of an array, which keeps the array alive.

    Args:
        array: The array; for memory of a device, one at the address, which is never read.
        device: The number of the CUDA device; None for memory of the host.
        max_version: The latest version of the protocol that the consumer knows; None for those
            before 1.0.

    Raises:
        BufferError: The array is read-only, which older versions cannot say.
    """
    try:
        capsule: Any = array.__dlpack__(max_version=max_version)
    except TypeError:  # NumPy before 2.1
        capsule = array.__dlpack__()
    if device is not None:
        for kind, name in _UNUSED.items():
            if _is_valid(capsule, name):
                managed = kind.from_address(_pointer(capsule, name))
                managed.tensor.device.kind, managed.tensor.device.number = CUDA, device
    return capsule
