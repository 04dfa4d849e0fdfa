"""Runs of launches; `perform_run` is in `runtime.perform_run`."""

from __future__ import annotations

from difftile.runtime.perform_run import perform_run

__all__ = ["perform_run"]
