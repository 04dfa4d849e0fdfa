"""The messages that a page accepts from browsers, and their validation.

viser dispatches messages by type and sets the attributes that they name. The table here lists the
messages that a page needs and the permitted values; others are dropped before viser sees them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any, TypeAlias, cast

import msgspec

Check: TypeAlias = Callable[[Any], bool]

MOST_BYTES = 1 << 16  # of a message
_FAR = 1e9  # limit of positions in a scene [units]
_BESIDE = 16.0  # limit of positions of the mouse, in sizes of a canvas
_KEYS = ("cmd/ctrl", "alt", "shift")
_MODIFIERS = tuple("+".join(keys) for n in (1, 2, 3) for keys in combinations(_KEYS, n))


def _number(low: float, high: float) -> Check:
    def is_one(value: Any) -> bool:
        plain = isinstance(value, (int, float)) and not isinstance(value, bool)
        return plain and math.isfinite(value) and low <= value <= high

    return is_one


def _numbers(count: int, check: Check) -> Check:
    return lambda value: (
        isinstance(value, list)
        and len(cast("list[Any]", value)) == count
        and all(map(check, cast("list[Any]", value)))
    )


def _text(most: int) -> Check:
    return lambda value: isinstance(value, str) and len(value) <= most


def _one_of(*values: str | None) -> Check:
    return lambda value: (value is None or isinstance(value, str)) and value in values


def _none_or(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _is_update(update: Any) -> bool:
    """Return whether an update sets only the value of a control, to one that some control has."""
    if not isinstance(update, dict) or cast("dict[Any, Any]", update).keys() != {"value"}:
        return False
    value = cast("dict[Any, Any]", update)["value"]
    if isinstance(value, list):
        several = cast("list[Any]", value)
        return len(several) <= 16 and all(map(_number(-_BIG, _BIG), several))
    return isinstance(value, bool) or _number(-_BIG, _BIG)(value) or _text(1000)(value)


_BIG = 9e18  # fits in 64 bits: viser converts such values to integers for all browsers
_NAME = _text(200)
_POINT = _numbers(3, _number(-_FAR, _FAR))
_PLACE = _numbers(2, _number(-_BESIDE, _BESIDE))
_SIZE = _number(0, 2**31)
_POSITIVE = _number(0, _BIG)
_COUNT = _none_or(_number(0, 2**31))
_MODIFIER = _one_of(None, *_MODIFIERS)

# The required members of each type of message.
FORMS: Mapping[str, Mapping[str, Check]] = {
    "ViewerCameraMessage": {
        "wxyz": _numbers(4, _number(-2, 2)),
        "position": _POINT,
        "fov": _number(0, math.pi),
        "near": _POSITIVE,
        "far": _POSITIVE,
        "image_height": _SIZE,
        "image_width": _SIZE,
        "look_at": _POINT,
        "up_direction": _POINT,
    },
    "SceneNodeClickMessage": {
        "name": _NAME,
        "instance_index": _COUNT,
        "ray_origin": _POINT,
        "ray_direction": _POINT,
        "screen_pos": _PLACE,
        "modifier": _MODIFIER,
    },
    "SceneNodeDragMessage": {
        "phase": _one_of("start", "update", "end"),
        "name": _NAME,
        "instance_index": _COUNT,
        "start_position": _POINT,
        "start_screen_pos": _PLACE,
        "end_position": _POINT,
        "end_screen_pos": _PLACE,
        "button": _one_of("left", "middle", "right"),
        "modifier": _MODIFIER,
    },
    "GuiUpdateMessage": {"uuid": _NAME, "updates": _is_update},
    "CommandTriggerMessage": {"uuid": _NAME},
    "LocalStorageGetItemResponseMessage": {
        "value": _none_or(_text(1000)),
        "error": _none_or(_text(1000)),
        "request_uuid": _NAME,
    },
}
_OPTIONAL: Mapping[str, Check] = {"owner": _NAME}


def fault_of(raw: object) -> str | None:
    """Return why a message is dropped, or None for one that viser may see."""
    if not isinstance(raw, bytes):
        return "it is text"
    if len(raw) > MOST_BYTES:
        return f"it has {len(raw)} bytes"
    try:
        message: Any = msgspec.msgpack.decode(raw)
    except Exception:  # a decoder may raise anything on arbitrary bytes
        return "it is not MessagePack"
    if not isinstance(message, dict):
        return "it is not an object"
    parts = cast("dict[Any, Any]", message)
    kind = parts.pop("type", None)
    form = FORMS.get(kind) if isinstance(kind, str) else None
    if form is None:
        return f"its type is {_shown(kind)}"
    checks = {**_OPTIONAL, **form}
    for name in form.keys() - parts.keys():
        return f"{kind} without {name}"
    for name, value in parts.items():
        check = checks.get(name) if isinstance(name, str) else None
        if check is None:
            return f"{kind} with {_shown(name)}"
        if not check(value):
            return f"{kind}, whose {name} is {_shown(value)}"
    return None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."
