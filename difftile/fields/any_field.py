"""The name of fields on the floors below them."""

from __future__ import annotations

from typing import Any, TypeAlias

AnyField: TypeAlias = Any
"""A field, or a part of one, for those below the class that only pass it on.

Whoever uses the value names the class: `Field`, or `ArrayLike`.
"""
