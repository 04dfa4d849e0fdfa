"""Queries of meshes in Warp, for `benchmarks.meshes`."""

# pyrefly: ignore-errors

import warp as wp


@wp.kernel
def shoot(
    mesh: wp.uint64,
    origins: wp.array(dtype=wp.vec3),
    directions: wp.array(dtype=wp.vec3),
    found: wp.array(dtype=wp.float32),
):
    i = wp.tid()
    hit = wp.mesh_query_ray(mesh, origins[i], directions[i], 1.0e30)
    found[i] = hit.t if hit.result else wp.inf


@wp.kernel
def measure(mesh: wp.uint64, points: wp.array(dtype=wp.vec3), found: wp.array(dtype=wp.float32)):
    i = wp.tid()
    near = wp.mesh_query_point_no_sign(mesh, points[i], 1.0e30)
    at = wp.mesh_eval_position(mesh, near.face, near.u, near.v)
    found[i] = wp.length(at - points[i])
