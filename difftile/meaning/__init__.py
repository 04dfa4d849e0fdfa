"""The meaning of programs: each as Python text over NumPy scalars, run by Python itself."""

from difftile.meaning.memory import memory_of
from difftile.meaning.run import Machine, run
from difftile.meaning.text import Printed, print_python

__all__ = ["Machine", "Printed", "memory_of", "print_python", "run"]
