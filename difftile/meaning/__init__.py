"""The meaning of programs: each as Python text over NumPy scalars, run by Python itself.

This is the oracle of the tests, and `dt.init(arch="python")` runs programs in the same way
(`substrate/python`). `operations.py` has the text of each op, and `text.py` the text of each
statement.
"""

from difftile.meaning.memory import memory_of
from difftile.meaning.run import Machine, run
from difftile.meaning.text import Printed, print_python

__all__ = ["Machine", "Printed", "memory_of", "print_python", "run"]
