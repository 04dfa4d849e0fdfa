"""The meaning of programs: each as Python text over NumPy scalars, run by Python itself."""

from difftile.meaning.memory import memory_of
from difftile.meaning.run import Machine, run

__all__ = ["Machine", "memory_of", "run"]
