"""Every program once more on a CUDA device, where there is one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from benchmarks import lanes
from difftile.ir.types import SCALARS
from difftile.render.tiles import TileLists
from difftile.schedule import device_loops
from difftile.sorting import Sorter
from tests import harness, programs
from tests.distributed import test_loops, test_smoke
from tests.fields import test_field_numbers, test_rows
from tests.ops import test_exact, test_nan, test_special
from tests.optim import test_optim
from tests.passes import test_lanes
from tests.programs import shared_sums
from tests.render import (
    blend_scenes,
    test_coverage,
    test_losses,
    test_sorting,
    test_splats2d,
    test_tiles,
)
from tests.rotations import test_rotations
from tests.substrate import test_device_memory, test_vector_additions
from tests.textures import test_sampling, test_texture
from tests.training import test_corrections, test_train
from tests.transforms import test_sparse_hessian

programs.load()

# A field in another shape shares memory only on the CPU.
RESHAPING = {"another_shape", "elements_of_vectors", "slices_of_another_shape"}


@pytest.fixture(scope="module")
def cuda() -> Iterator[None]:
    """Start difftile on CUDA, and on the CPU again for the tests that follow."""
    try:
        dt.init(arch="cuda")
    except dt.FieldError as error:
        dt.init(arch="cpu")
        pytest.skip(f"no CUDA device: {error}")
    yield
    dt.init(arch="cpu")


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("one", harness.PROGRAMS, ids=lambda one: one.name)
def test_program_on_cuda(one: harness.Program) -> None:
    if one.function.__name__ in RESHAPING:
        with pytest.raises(dt.FieldError, match="reshaped on the CPU alone"):
            harness.check(one)
    else:
        harness.check(one)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize(
    "one",
    [one for one in harness.PROGRAMS if one.function.__module__ == shared_sums.__name__],
    ids=lambda one: one.name,
)
def test_rows_of_any_length_by_warps(one: harness.Program) -> None:
    with mock.patch.object(device_loops, "_ROW", 1), mock.patch.object(device_loops, "_LONG", 1):
        harness.check(one)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("name", test_lanes.KERNELS)
def test_lanes_share_the_memory_of_a_block(name: str) -> None:
    test_lanes.check_on_cuda(name)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_lanes_blend_as_threads_do() -> None:
    picture = lanes.Picture(2000, 200)
    found = lanes.compared("", picture.results(lanes.blend), picture.results(lanes.by_threads))
    assert lanes.DIFFERENT not in found[0]


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_numbers_of_double_precision_stay_so_on_cuda() -> None:
    for x in (dt.full(3, 0.1, ti.f64), dt.full((), 0.1, ti.f64), dt.zeros(3, ti.f64)):
        x.fill(0.1)
        assert (x.to_numpy() == 0.1).all()
    assert (dt.full(2, 2**40 + 1, ti.i64).to_numpy() == 2**40 + 1).all()


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_contents_move_on_cuda_without_kernels() -> None:
    test_device_memory.move(SCALARS, test_device_memory.ELEMENTS)
    test_device_memory.reverse_one_launch()


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("name", test_optim.RUNS)
def test_iterates_on_cuda_are_those_of_torch(name: str) -> None:
    test_optim.test_iterates_are_those_of_torch(name)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_single_elements_and_vectors_move_on_cuda() -> None:
    test_optim.test_single_numbers_make_the_same_steps_and_share_a_norm()
    test_optim.test_elements_of_any_shape_make_the_same_steps("vectors")
    test_optim.test_elements_of_any_shape_make_the_same_steps("matrix of shape ()")
    x, y, steps = test_optim.broken(np.nan, nonfinite="skip")
    assert not steps.step()
    assert (x.to_numpy() == 1.0).all()
    assert (y.to_numpy() == 1.0).all()


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_rows_change_on_cuda_as_they_do_on_the_host() -> None:
    test_rows.test_any_sequence_of_changes_is_that_of_arrays()
    test_rows.test_adam_of_rows_that_grow_and_shrink_is_adam_of_each_row()


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_sorts_and_lists_on_cuda() -> None:
    test_sorting.test_sums_what_comes_before_down_the_columns(None, (9001, 3))
    for n in (1, 1000, 70_001):
        test_sorting.test_sorts_as_numpy(None, n)
    test_tiles.test_lists_are_those_of_a_search(3, 50, 8)
    test_tiles.test_room_grows_and_stays()
    test_tiles.test_a_tape_uses_the_lists_of_each_step(None)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("n", [1, 31, 32, 33, 1023, 4097, (1 << 20) + 3])
def test_native_sums_are_those_of_numpy(n: int) -> None:
    test_sorting.test_sums_what_comes_before_down_the_columns(None, (n, 1))
    test_sorting.test_a_sum_may_be_beyond_its_counts(None)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize(("components", "axes"), test_vector_additions.CASES)
def test_warps_add_vectors_as_numpy(components: int, axes: int) -> None:
    test_vector_additions.check(components, axes)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 4095, 4096, 4097, (1 << 20) + 3])
def test_native_sorts_are_those_of_numpy(n: int) -> None:
    rng = np.random.default_rng(n)
    sorter = Sorter(n)
    for bits, keys in (
        (32, rng.integers(0, 2**32, n, dtype=np.uint32)),
        (32, np.full(n, 2**32 - 1, np.uint32)),
        (32, np.sort(rng.integers(0, 2**32, n, dtype=np.uint32))),
        (32, np.sort(rng.integers(0, 2**32, n, dtype=np.uint32))[::-1]),
        (1, rng.integers(0, 2**32, n, dtype=np.uint32)),
        (13, rng.integers(0, 2**32, n, dtype=np.uint32)),
        (17, np.zeros(n, np.uint32)),
    ):
        test_sorting.check_sort(sorter, np.ascontiguousarray(keys), bits)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("scene", blend_scenes.SCENES, ids=str)
def test_native_blending_is_that_of_the_language(scene: blend_scenes.Scene) -> None:
    blend_scenes.check(scene)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_blending_in_double_precision_is_that_of_the_language() -> None:
    blend_scenes.check_other_ways()


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("seed", range(3))
def test_native_lists_are_those_of_a_search(seed: int) -> None:
    for cameras, n, tile in ((1, 1, 16), (3, 50, 8), (2, 20_001, 16)):
        centres, radii, depths = test_tiles.splats(cameras, n, seed)
        lists = TileLists(test_tiles.WIDTH, test_tiles.HEIGHT, tile, cameras)
        arrays = centres, radii.astype(np.int32), depths
        lists.build(*test_tiles.fields(arrays))
        test_tiles.check(lists, arrays)
    for tile in (8, 16):
        given = test_tiles.ellipses(300, seed, np.float32)
        lists = TileLists(test_tiles.WIDTH, test_tiles.HEIGHT, tile)
        lists.build(*test_tiles.fields_of(given))
        test_tiles.check_ellipses(lists, given)
    test_tiles.test_what_is_no_ellipse_is_in_all_tiles_of_its_box()
    test_tiles.test_opacities_that_are_no_numbers_leave_no_tile_out_and_small_ones_all()
    test_tiles.test_too_long_lists_are_refused()


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_splats_on_the_image_plane_on_cuda() -> None:
    test_splats2d.test_sum_agrees_with_numpy(3)
    test_splats2d.test_a_gaussian_of_any_size_is_drawn()
    test_splats2d.test_alpha_agrees_with_numpy(False)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_losses_of_images_on_cuda() -> None:
    for case in test_losses.CASES:
        test_losses.test_losses_and_gradients_are_those_of_numpy(*case)
    test_losses.test_metrics()


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("strategy", ["default", "mcmc"])
def test_gaussians_learn_on_cuda(strategy: str, tmp_path: Path) -> None:
    test_train.test_gaussians_learn(strategy, tmp_path)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_poses_and_exposures_are_corrected_on_cuda(tmp_path: Path) -> None:
    data = test_corrections.scene(tmp_path / "balls")
    wanted = {"optimise_poses": True, "exposure": True}
    _, found = test_corrections.trained(data, 60, **wanted)
    dt.init(arch="cpu")
    _, reference = test_corrections.trained(data, 60, **wanted)
    dt.init(arch="cuda")
    assert abs(found - reference) < 0.5


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_rotations_on_cuda() -> None:
    test_rotations.test_values_are_those_of_scipy(ti.f64)
    test_rotations.test_rigid_motions_are_those_of_scipy(ti.f64)
    test_rotations.test_zeros_and_half_turns()
    test_rotations.test_derivatives_of_the_exponential()
    test_rotations.test_gradients_on_a_tape()


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_coverage_on_cuda() -> None:
    test_coverage.test_area_and_derivatives_of_triangles_are_exact(ti.f32)
    test_coverage.test_area_and_derivatives_of_triangles_are_exact(ti.f64)
    test_coverage.test_a_disc_against_many_samples_of_each_pixel()
    test_coverage.test_an_edge_on_the_border_of_pixels_has_its_whole_derivative()


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.skipif(test_sparse_hessian.sparse is None, reason="SciPy is not installed")
@pytest.mark.parametrize(
    "check",
    [
        test_sparse_hessian.test_springs_that_share_points_and_have_equal_ends,
        test_sparse_hessian.test_several_energies_add_up,
        test_sparse_hessian.test_neighbours_in_loops_and_branches,
        test_sparse_hessian.test_fields_of_numbers_and_matrices_and_grids,
        test_sparse_hessian.test_the_pattern_stays_while_indices_do,
        partial(test_sparse_hessian.test_terms_made_positive_semidefinite, case="springs"),
        partial(test_sparse_hessian.test_terms_made_positive_semidefinite, case="hinges"),
    ],
)
def test_sparse_hessians_on_cuda(check: Callable[[Any], None]) -> None:
    check(np.random.default_rng(19))


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_fields_as_numbers_on_cuda() -> None:
    for seed in range(4):
        test_field_numbers.test_indices_pick_and_set_as_in_numpy(seed)
        test_field_numbers.test_reductions_are_those_of_numpy(seed)
        test_field_numbers.test_long_texts_are_shortened_as_in_numpy(seed)
    test_field_numbers.test_sums_of_ten_million_numbers_are_exact_to_a_few_ulps()
    test_field_numbers.test_sums_of_integers_are_exact()
    test_field_numbers.test_copies_are_fields_of_their_own()
    for name in ("sum", "mean", "min", "max", "norm"):
        test_field_numbers.test_reductions_on_a_tape_carry_gradients(name)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_textures_on_cuda() -> None:
    for name in test_sampling.SINGLE:
        for precision in test_sampling.TOLERANCES:
            test_sampling.test_sampling(name, precision)
    test_texture.test_levels_follow_the_texels()


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_comparisons_on_cuda_are_those_of_python(dtype: Any, tmp_path: Path) -> None:
    test_nan.compare_with_python(dtype, tmp_path)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize(("dtype", "factor"), [(np.float32, 2**12 + 1), (np.float64, 2**27 + 1)])
def test_compensated_arithmetic_on_cuda(dtype: Any, factor: float) -> None:
    test_exact.test_compensated_sums_are_those_of_numpy(dtype)
    test_exact.test_errors_of_sums_and_products_are_exact(dtype, factor)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_functions_on_cuda(dtype: Any) -> None:
    test_special.test_limits_and_poles(dtype, fast_math=True, arch="cuda")
    test_special.test_errors_in_units_in_the_last_place(dtype)


@pytest.mark.gpu
@pytest.mark.usefixtures("cuda")
def test_smoke_and_loops_on_grids_on_cuda() -> None:
    test_smoke.plain.cache_clear()
    test_smoke.test_one_rank()
    for body in test_loops.BODIES:
        test_loops.test_one_rank(body)
