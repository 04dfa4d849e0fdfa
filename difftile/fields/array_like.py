"""Fields and parts of fields, where either will do."""

from __future__ import annotations

from typing import TypeAlias

from difftile.fields.field import Field
from difftile.fields.view import View

ArrayLike: TypeAlias = Field | View
"""A field, or a part of one."""
