"""difftile: differentiable kernels over mutable fields.

Names load on first use, so that the command line answers without starting Taichi.
"""

from __future__ import annotations

import importlib
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from difftile import datasets, optim, render, training, viewer
    from difftile.compile.annotations import In, InOut, Out, template
    from difftile.compile.functions import (
        cholesky,
        exact,
        expm1,
        inverse,
        log1p,
        logit,
        logsumexp,
        safe_divide,
        safe_norm,
        sigmoid,
        softplus,
        solve,
        solve_triangular,
        stop_grad,
        unique,
    )
    from difftile.compile.generated import call_id, grid, rand, randint, randn
    from difftile.compile.methods import data_oriented
    from difftile.compile.rules import (
        bwd_diff,
        fwd_diff,
        register_backward,
        register_forward,
        register_substitute,
    )
    from difftile.compile.surrogates import surrogate_if
    from difftile.diagnostics import (
        DatasetError,
        DifftileError,
        FieldError,
        GradientCut,
        GradientMismatch,
        GradientWarning,
        KernelError,
        LaunchError,
        NotConverged,
        SolverError,
        TapeError,
        ViewerError,
    )
    from difftile.fields.create import (
        empty,
        empty_like,
        field,
        from_numpy,
        full,
        full_like,
        mat,
        ones,
        ones_like,
        vec,
        zeros,
        zeros_like,
    )
    from difftile.fields.field import Field, zero_grads
    from difftile.fields.rows import Rows
    from difftile.fields.structs import StructField
    from difftile.launch.start import init
    from difftile.runtime.checkpoint import checkpoint
    from difftile.runtime.custom_op import custom_op
    from difftile.runtime.funcs import (
        clip_grad,
        finite_difference,
        func,
        lookup,
        scale_grad,
        straight_through,
        surrogate,
    )
    from difftile.runtime.kernel import kernel
    from difftile.runtime.tape import Tape, no_grad
    from difftile.solvers.fixed_point import fixed_point
    from difftile.solvers.linear import linear_solve
    from difftile.solvers.minimize import minimize_implicit
    from difftile.solvers.odeint import odeint
    from difftile.solvers.root import root
    from difftile.testing.gradcheck import gradcheck
    from difftile.testing.gradcheck_report import GradCheck
    from difftile.testing.rulecheck import check_rule
    from difftile.testing.rulecheck_report import RuleCheck
    from difftile.textures.texture import Texture
    from difftile.transforms.forward_mode import hvp, jvp, linearize
    from difftile.transforms.jacobians import hessian, jacfwd, jacrev
    from difftile.transforms.reverse_mode import grad, value_and_grad, vjp
    from difftile.transforms.sparse import sparse_jacobian

_HOME = {
    "difftile.diagnostics": (
        "DatasetError",
        "DifftileError",
        "FieldError",
        "GradientCut",
        "GradientMismatch",
        "GradientWarning",
        "KernelError",
        "LaunchError",
        "NotConverged",
        "SolverError",
        "TapeError",
        "ViewerError",
    ),
    "difftile.fields.create": (
        "empty",
        "empty_like",
        "field",
        "from_numpy",
        "full",
        "full_like",
        "mat",
        "ones",
        "ones_like",
        "vec",
        "zeros",
        "zeros_like",
    ),
    "difftile.fields.field": ("Field", "zero_grads"),
    "difftile.fields.rows": ("Rows",),
    "difftile.fields.structs": ("StructField",),
    "difftile.runtime.checkpoint": ("checkpoint",),
    "difftile.compile.functions": (
        "cholesky",
        "exact",
        "expm1",
        "inverse",
        "log1p",
        "logit",
        "logsumexp",
        "safe_divide",
        "safe_norm",
        "sigmoid",
        "softplus",
        "solve",
        "solve_triangular",
        "stop_grad",
        "unique",
    ),
    "difftile.runtime.custom_op": ("custom_op",),
    "difftile.runtime.funcs": (
        "clip_grad",
        "finite_difference",
        "func",
        "lookup",
        "scale_grad",
        "straight_through",
        "surrogate",
    ),
    "difftile.runtime.kernel": ("kernel",),
    "difftile.solvers.fixed_point": ("fixed_point",),
    "difftile.solvers.linear": ("linear_solve",),
    "difftile.solvers.minimize": ("minimize_implicit",),
    "difftile.solvers.odeint": ("odeint",),
    "difftile.solvers.root": ("root",),
    "difftile.compile.methods": ("data_oriented",),
    "difftile.compile.annotations": ("In", "InOut", "Out", "template"),
    "difftile.compile.rules": (
        "bwd_diff",
        "fwd_diff",
        "register_backward",
        "register_forward",
        "register_substitute",
    ),
    "difftile.launch.start": ("init",),
    "difftile.compile.surrogates": ("surrogate_if",),
    "difftile.compile.generated": ("call_id", "grid", "rand", "randint", "randn"),
    "difftile.runtime.tape": ("Tape", "no_grad"),
    "difftile.transforms.reverse_mode": ("grad", "value_and_grad", "vjp"),
    "difftile.transforms.jacobians": ("hessian", "jacfwd", "jacrev"),
    "difftile.transforms.sparse": ("sparse_jacobian",),
    "difftile.transforms.forward_mode": ("hvp", "jvp", "linearize"),
    "difftile.testing.gradcheck": ("gradcheck",),
    "difftile.testing.gradcheck_report": ("GradCheck",),
    "difftile.testing.rulecheck": ("check_rule",),
    "difftile.testing.rulecheck_report": ("RuleCheck",),
    "difftile.textures.texture": ("Texture",),
}
_PACKAGES = ("datasets", "optim", "render", "training", "viewer")  # used whole: `dt.optim.Adam`
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

try:
    __version__ = version("difftile")
except PackageNotFoundError:  # run from a checkout that is not installed
    __version__ = "0+unknown"

__all__ = [
    "DatasetError",
    "DifftileError",
    "Field",
    "FieldError",
    "GradCheck",
    "GradientCut",
    "GradientMismatch",
    "GradientWarning",
    "In",
    "InOut",
    "KernelError",
    "LaunchError",
    "NotConverged",
    "Out",
    "Rows",
    "RuleCheck",
    "SolverError",
    "StructField",
    "Tape",
    "TapeError",
    "Texture",
    "ViewerError",
    "bwd_diff",
    "call_id",
    "check_rule",
    "checkpoint",
    "cholesky",
    "clip_grad",
    "custom_op",
    "data_oriented",
    "datasets",
    "empty",
    "empty_like",
    "exact",
    "expm1",
    "field",
    "finite_difference",
    "fixed_point",
    "from_numpy",
    "full",
    "full_like",
    "func",
    "fwd_diff",
    "grad",
    "gradcheck",
    "grid",
    "hessian",
    "hvp",
    "init",
    "inverse",
    "jacfwd",
    "jacrev",
    "jvp",
    "kernel",
    "linear_solve",
    "linearize",
    "log1p",
    "logit",
    "logsumexp",
    "lookup",
    "mat",
    "minimize_implicit",
    "no_grad",
    "odeint",
    "ones",
    "ones_like",
    "optim",
    "rand",
    "randint",
    "randn",
    "register_backward",
    "register_forward",
    "register_substitute",
    "render",
    "root",
    "safe_divide",
    "safe_norm",
    "scale_grad",
    "sigmoid",
    "softplus",
    "solve",
    "solve_triangular",
    "sparse_jacobian",
    "stop_grad",
    "straight_through",
    "surrogate",
    "surrogate_if",
    "template",
    "training",
    "unique",
    "value_and_grad",
    "vec",
    "viewer",
    "vjp",
    "zero_grads",
    "zeros",
    "zeros_like",
]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"difftile.{name}")
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module 'difftile' has no attribute '{name}'")
    if module.startswith("difftile.fields"):
        importlib.import_module("difftile.runtime.arithmetic")  # the operators of fields
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return sorted((*__all__, "__version__"))
