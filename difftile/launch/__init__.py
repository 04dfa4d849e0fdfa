"""Launches: parsed arguments, programs bound to memory, and prepared launches."""
