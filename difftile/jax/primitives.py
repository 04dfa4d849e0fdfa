"""The JAX primitives for calls of an operation, with their rules.

Each kind of `Call` has a primitive. The derivatives of a call are calls again, so JAX's own
transformations compose: `jvp`, `grad`, `vmap`, `jit`, in any nesting, up to second derivatives. The
rules:

| call | its tangent along (x', ...) | its transpose |
|---|---|---|
| run(x) | push(x, x') | |
| push(x, v) | push(x, v') + bend(x, v, x') | pull(x, s) |
| pull(x, s) | pull(x, s') + second(x, s, x') | push(x, v) |
| second(x, s, v) | in s and v | second(x, s, w), with `along` and `wrt` exchanged |
| bend(x, v, w) | in v and w | second(x, s, v) |

The fourth row is the symmetry of the second derivatives of <s, f(x)>, and so is the last.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from difftile.diagnostics import LaunchError
from difftile.jax.calls import Call, Positions, Shape
from difftile.jax.library import jax
from difftile.jax.lowering import lower

# The rules of primitives are registered here, as JAX's guide to new primitives has it.
ad: Any = importlib.import_module("jax.interpreters.ad")
batching: Any = importlib.import_module("jax.interpreters.batching")
mlir: Any = importlib.import_module("jax.interpreters.mlir")
core: Any = importlib.import_module("jax.extend.core")
jnp: Any = jax.numpy


def bind(call: Call, batch: int, operands: Sequence[Any]) -> list[Any]:
    """Make a call, under the current transformations of JAX.

    Args:
        call: The call.
        batch: How many axes of batches the operands have in front.
        operands: The arrays.
    """
    return _primitives()[call.kind].bind(*_alike(operands), call=call, batch=batch)


def _varying(aval: Any) -> frozenset[str]:
    """Return the axes of a mesh, inside of `jax.shard_map`, along which devices differ."""
    kind = getattr(aval, "mat", aval)
    return getattr(kind, "varying", None) or getattr(kind, "vma", frozenset())


def _alike(operands: Sequence[Any]) -> Sequence[Any]:
    """Return operands that differ along the same axes of a mesh, as JAX has it for its own calls.

    The transpose of what is added here sums the gradient of an operand that devices share.
    """
    axes = [_varying(jax.typeof(one)) for one in operands]
    every = frozenset[str]().union(*axes)
    if all(one == every for one in axes):
        return operands
    found: list[Any] = []
    for one, own in zip(operands, axes, strict=True):
        missing = tuple(sorted(every - own))
        if not missing:
            found.append(one)
        elif hasattr(jax.lax, "pcast"):
            found.append(jax.lax.pcast(one, missing, to="varying"))
        else:  # before JAX 0.8
            found.append(jax.lax.pvary(one, missing))
    return found


@cache
def _primitives() -> dict[str, Any]:
    """Return the primitive of each kind of call."""
    return {kind: _primitive(kind) for kind in ("run", "push", "pull", "second", "bend")}


def _primitive(kind: str) -> Any:
    primitive = core.Primitive(f"difftile_{kind}")
    primitive.multiple_results = True
    primitive.def_impl(_now)
    primitive.def_abstract_eval(_shapes)
    mlir.register_lowering(primitive, lower)
    batching.primitive_batchers[primitive] = _batch
    ad.primitive_jvps[primitive] = _jvp
    if kind != "run":
        ad.primitive_transposes[primitive] = _transpose
    return primitive


def _now(*operands: Any, call: Call, batch: int) -> list[Any]:
    """Run a call on arrays, outside of any transformation: as a compiled program of its own."""
    with jax.disable_jit(False):
        return _compiled(call, batch)(*operands)


@cache
def _compiled(call: Call, batch: int) -> Any:
    def program(*operands: Any) -> list[Any]:
        return bind(call, batch, operands)

    program.__name__ = f"difftile_{call.kind}_{call.site.name}"
    return jax.jit(program)


def _shapes(*avals: Any, call: Call, batch: int) -> list[Any]:
    """Return shapes and types of the results, without a run."""
    sizes = np.broadcast_shapes(*[one.shape[:batch] for one in avals])
    varying = next((one for one in avals if _varying(one)), None)
    return [_aval((*sizes, *one.shape), one.dtype, varying) for one in call.results]


def _aval(shape: Shape, dtype: Any, varying: Any) -> Any:
    """Return the type of an array that differs along the axes of a mesh along which another does.

    Args:
        shape: The shape.
        dtype: The type of its numbers.
        varying: The type of the other array; None where no device differs.
    """
    if varying is None:
        return jax.core.ShapedArray(shape, dtype)
    spec = jax.sharding.PartitionSpec(*[None] * len(shape))
    sharding = jax.sharding.NamedSharding(varying.sharding.mesh, spec)
    return varying.update(shape=shape, dtype=dtype, weak_type=False, sharding=sharding)


def _batch(operands: Sequence[Any], axes: Sequence[Any], *, call: Call, batch: int) -> Any:
    """Give the operands a new first axis, of size 1 for operands without the mapped axis."""
    if not call.site.source.batches:
        raise LaunchError(
            f"{call.site.name}: the op was made with vmap=None, so jax.vmap does not map it; leave "
            "that out to run it for each element, or write a loop: jax.lax.map."
        )
    moved = [
        jnp.moveaxis(one, axis, 0) if isinstance(axis, int) else jnp.expand_dims(one, 0)
        for one, axis in zip(operands, axes, strict=True)
    ]
    results = bind(call, batch + 1, moved)
    return results, [0] * len(results)


# Derivatives


class _Groups:
    """The operands of a call by their roles.

    Attributes:
        arrays: The arrays of the operation.
        linear: Groups in each of which the call is linear.
    """

    def __init__(self, call: Call, operands: Sequence[Any]) -> None:
        rest = list(operands)

        def take(count: int) -> list[Any]:
            taken, rest[:] = rest[:count], rest[count:]
            return taken

        self.arrays = take(len(call.site.arrays))
        self.linear = [take(count) for count in call.linear]


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, call: Call, batch: int) -> Any:
    values = bind(call, batch, primals)
    now, moved = _Groups(call, primals), _Groups(call, tangents)
    terms: list[list[Any]] = []
    active = tuple([k for k, one in enumerate(moved.arrays) if not _is_zero(one)])
    if active:
        along = [moved.arrays[k] for k in active]
        operands = [*now.arrays, *chain(*now.linear), *along]
        terms.append(bind(_derivative(call, active), batch, operands))
    for k, group in enumerate(moved.linear):
        if not all(map(_is_zero, group)):
            groups = list(now.linear)
            groups[k] = [ad.instantiate_zeros(one) for one in group]
            terms.append(bind(call, batch, [*now.arrays, *chain(*groups)]))
    if not terms:
        return values, [_zero(one) for one in values]
    dots = iter([sum(some[1:], some[0]) for some in zip(*terms, strict=True)])
    return values, [next(dots) if one.dtype.kind == "f" else _zero(one) for one in values]


def _derivative(call: Call, along: Positions) -> Call:
    """Return the derivative of a call along arrays; the tangents of these follow its operands."""
    match call.kind:
        case "run":
            return Call("push", call.site, along=along)
        case "push":
            return Call("bend", call.site, along=call.along, wrt=along)
        case "pull":
            return Call("second", call.site, along=along, wrt=call.wrt)
        case _:
            raise LaunchError(
                f"{call.site.name}: ops have first and second derivatives, and this is a third; "
                "stop one of them with jax.lax.stop_gradient."
            )


def _transpose(cotangents: Sequence[Any], *operands: Any, call: Call, batch: int) -> list[Any]:
    groups = _Groups(call, operands)
    unknown = [[ad.is_undefined_primal(one) for one in group] for group in groups.linear]
    at = next(k for k, group in enumerate(unknown) if any(group))
    found: list[Any] = [None] * len(operands)
    if all(map(_is_zero, cotangents)):
        return found
    others = chain(*[group for k, group in enumerate(groups.linear) if k != at])
    cts = [ad.instantiate_zeros(one) for one in cotangents]
    first = len(groups.arrays) + sum(map(len, groups.linear[:at]))
    wanted = [k for k, is_unknown in enumerate(unknown[at]) if is_unknown]
    transposed, order = _transposed(call, at, wanted)
    given: dict[str, Iterable[Any]] = {"others": others, "cotangents": cts}
    results = bind(transposed, batch, [*groups.arrays, *chain(*[given[name] for name in order])])
    if len(results) > len(wanted):
        results = [results[k] for k in wanted]
    for k, result in zip(wanted, results, strict=True):
        found[first + k] = _summed(result, groups.linear[at][k].aval.shape, batch)
    return found


def _transposed(call: Call, at: int, wanted: Sequence[int]) -> tuple[Call, tuple[str, ...]]:
    """Return the transpose of a call in one of its groups, and the order of its operands.

    Args:
        call: The call.
        at: The number of the group.
        wanted: The positions of the unknown ones there.
    """

    def some(positions: Positions) -> Positions:
        return tuple([positions[k] for k in wanted])

    site, along, wrt = call.site, call.along, call.wrt
    match call.kind, at:
        case "push", _:
            return Call("pull", site, wrt=some(along)), ("cotangents",)
        case "pull", _:
            return Call("push", site, along=wrt), ("cotangents",)
        case "second", 0:
            return Call("bend", site, along=along, wrt=wrt), ("others", "cotangents")
        case "second", _:
            return Call("second", site, along=wrt, wrt=some(along)), ("others", "cotangents")
        case "bend", 0:
            return Call("second", site, along=wrt, wrt=some(along)), ("cotangents", "others")
        case _:
            return Call("second", site, along=along, wrt=some(wrt)), ("cotangents", "others")


def _summed(cotangent: Any, shape: Shape, batch: int) -> Any:
    """Return a cotangent as one of an operand that elements of a batch share."""
    shared = [k for k in range(batch) if shape[k] < cotangent.shape[k]]
    return jnp.sum(cotangent, axis=tuple(shared), keepdims=True) if shared else cotangent


def _is_zero(tangent: Any) -> bool:
    return type(tangent) is ad.Zero or tangent.dtype == jax.dtypes.float0


def _zero(value: Any) -> Any:
    is_float = value.dtype.kind == "f"
    dtype = value.dtype if is_float else jax.dtypes.float0
    aval = jax.typeof(value)
    return ad.Zero(_aval(value.shape, dtype, aval if _varying(aval) else None))
