"""The public names of difftile, each with the module that defines it.

Type checkers read this file, and `__init__.py` finds names by it, which load on first use.
"""

from difftile import (
    datasets as datasets,
    distributed as distributed,
    geometry as geometry,
    jax as jax,
    optim as optim,
    packed as packed,
    render as render,
    rotations as rotations,
    torch as torch,
    training as training,
    viewer as viewer,
)
from difftile import lang as _lang
from difftile.compile.annotations import (
    In as In,
    InOut as InOut,
    Out as Out,
    template as template,
)
from difftile.compile.language_functions import (
    cholesky as cholesky,
    exact as exact,
    expm1 as expm1,
    inverse as inverse,
    log1p as log1p,
    logit as logit,
    logsumexp as logsumexp,
    safe_divide as safe_divide,
    safe_norm as safe_norm,
    sigmoid as sigmoid,
    softplus as softplus,
    solve as solve,
    solve_triangular as solve_triangular,
    stop_grad as stop_grad,
    unique as unique,
)
from difftile.compile.generated import (
    call_id as call_id,
    grid as grid,
    rand as rand,
    randint as randint,
    randn as randn,
)
from difftile.compile.methods import (
    data_oriented as data_oriented,
)
from difftile.compile.rules import (
    bwd_diff as bwd_diff,
    fwd_diff as fwd_diff,
    register_backward as register_backward,
    register_forward as register_forward,
    register_substitute as register_substitute,
)
from difftile.compile.surrogates import (
    surrogate_if as surrogate_if,
)
from difftile.diagnostics import (
    DatasetError as DatasetError,
    DifftileError as DifftileError,
    FieldError as FieldError,
    GradientCut as GradientCut,
    GradientMismatch as GradientMismatch,
    GradientWarning as GradientWarning,
    KernelError as KernelError,
    LaunchError as LaunchError,
    NarrowProduct as NarrowProduct,
    NotConverged as NotConverged,
    RankError as RankError,
    SlowCompile as SlowCompile,
    StaleHalo as StaleHalo,
    SolverError as SolverError,
    StepsError as StepsError,
    TapeError as TapeError,
    ViewerError as ViewerError,
)
from difftile.fields.array_like import (
    ArrayLike as ArrayLike,
)
from difftile.fields.as_field import (
    asarray as asarray,
)
from difftile.fields.create import (
    empty as empty,
    empty_like as empty_like,
    field as field,
    from_numpy as from_numpy,
    full as full,
    full_like as full_like,
    mat as mat,
    ones as ones,
    ones_like as ones_like,
    vec as vec,
    zeros as zeros,
    zeros_like as zeros_like,
)
from difftile.fields.derived import (
    DerivedField as DerivedField,
)
from difftile.fields.field import Field as Field
from difftile.fields.gradients import zero_grads as zero_grads
from difftile.fields.foreign import (
    from_dlpack as from_dlpack,
)
from difftile.fields.numbers import (
    Number as Number,
)
from difftile.fields.recording import (
    is_recording as is_recording,
    no_grad as no_grad,
    stop_recording as stop_recording,
)
from difftile.fields.rows import (
    Rows as Rows,
)
from difftile.fields.saved import (
    load as load,
    save as save,
)
from difftile.fields.step_number import (
    table as table,
)
from difftile.fields.storage import scratch as scratch
from difftile.fields.structs import (
    StructField as StructField,
)
from difftile.lang.lanes import (
    lanes as lanes,
)
from difftile.lang.local_arrays import (
    local as local,
)
from difftile.launch.start import (
    init as init,
)
from difftile.ops.special import (
    digamma as digamma,
    erf as erf,
    erfc as erfc,
    erfinv as erfinv,
    lgamma as lgamma,
    trigamma as trigamma,
)
from difftile.prefix_sums import prefix_sum as prefix_sum
from difftile.runtime.batched import (
    batch as batch,
)
from difftile.runtime.checkpoint import (
    checkpoint as checkpoint,
)
from difftile.runtime.custom_op import (
    custom_op as custom_op,
)
from difftile.runtime.funcs import (
    clip_grad as clip_grad,
    finite_difference as finite_difference,
    func as func,
    lookup as lookup,
    scale_grad as scale_grad,
    straight_through as straight_through,
    surrogate as surrogate,
)
from difftile.runtime.kernel import (
    kernel as kernel,
)
from difftile.runtime.number_operations import (
    value as value,
)
from difftile.runtime.repeat import repeat as repeat
from difftile.runtime.step import (
    Step as Step,
)
from difftile.runtime.steps import (
    steps as steps,
)
from difftile.runtime.tape import (
    Tape as Tape,
)
from difftile.solvers.fixed_point import (
    fixed_point as fixed_point,
)
from difftile.solvers.linear import (
    linear_solve as linear_solve,
)
from difftile.solvers.minimize import (
    minimize_implicit as minimize_implicit,
)
from difftile.solvers.odeint import (
    odeint as odeint,
)
from difftile.solvers.root import (
    root as root,
)
from difftile.sorting import sort as sort
from difftile.testing.gradcheck import (
    gradcheck as gradcheck,
)
from difftile.testing.gradcheck_report import (
    GradCheck as GradCheck,
)
from difftile.testing.rulecheck import (
    check_rule as check_rule,
)
from difftile.testing.rulecheck_report import (
    RuleCheck as RuleCheck,
)
from difftile.textures.texture import (
    Texture as Texture,
)
from difftile.transforms.forward_mode import (
    hvp as hvp,
    jvp as jvp,
    linearize as linearize,
)
from difftile.transforms.jacobians import (
    hessian as hessian,
    jacfwd as jacfwd,
    jacrev as jacrev,
)
from difftile.transforms.linear_operator import (
    hessian_operator as hessian_operator,
    linear_operator as linear_operator,
)
from difftile.transforms.reverse_mode import (
    grad as grad,
    value_and_grad as value_and_grad,
    vjp as vjp,
)
from difftile.transforms.sparse import (
    sparse_jacobian as sparse_jacobian,
)
from difftile.transforms.sparse_hessian import (
    sparse_hessian as sparse_hessian,
)

__version__: str

ti = _lang
