"""Kernels as users hold them: launched, recorded, differentiated.

Operators, reductions and numbers of fields are kernels, which this package puts into `fields`.
"""

from difftile.runtime import field_operators as field_operators
from difftile.runtime import field_reductions as field_reductions
from difftile.runtime import number_operations as number_operations
