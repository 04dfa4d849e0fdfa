"""Projection of gaussians in space to the image plane, by an affine map at each centre (EWA).

Source: Zwicker, Pfister, van Baar and Gross, EWA Splatting, 2002; constants as in gsplat 1.6.
"""

from __future__ import annotations

import math

import difftile as dt
from difftile import ti
from difftile.render.compositing import MIN_ALPHA

MARGIN = 0.3  # of the field of view around the image, to which the point of the map is clamped
REACH = 3.33  # standard deviations; an opacity of 1 is 1/255 there
MIN_COMPENSATION = 0.005
_NEAR_AXIS = 1e-12  # squared distance from the axis at depth 1
_LARGEST = 1e9  # the largest radius, as radii are integers


@dt.func
def is_sound(scale, opacity):
    """Return whether scale and opacity are finite, whose functions could be finite otherwise.

    The mean and the quaternion need no test: a position or covariance made of them is not finite
    either.
    """
    return math.isfinite(scale).all() and math.isfinite(opacity)


@dt.func
def flattened(p, axes, lens, width, height):
    """Return centre, covariance xx, xy, yy and its determinant on the image plane.

    They are in pixels, pixels^2 and pixels^4. The map is linearised at p, or at the edge of the
    margin if p is outside of it.

    Args:
        p: The centre in the frame of the camera, in front of it.
        axes: A matrix whose columns are the half axes of the gaussian, in the frame of the camera.
        lens: fx, fy, cx, cy [pixels].
        width: The width of the image [pixels].
        height: The height of the image [pixels].
    """
    fx, fy, cx, cy = lens[0], lens[1], lens[2], lens[3]
    x, y = p.x / p.z, p.y / p.z
    half_x, half_y = MARGIN * 0.5 * width / fx, MARGIN * 0.5 * height / fy
    tx = ti.math.clamp(x, -(cx / fx + half_x), (width - cx) / fx + half_x)
    ty = ti.math.clamp(y, -(cy / fy + half_y), (height - cy) / fy + half_y)
    across = ti.Vector([axes[0, k] - tx * axes[2, k] for k in ti.static(range(3))]) * (fx / p.z)
    down = ti.Vector([axes[1, k] - ty * axes[2, k] for k in ti.static(range(3))]) * (fy / p.z)
    centre = ti.Vector([fx * x + cx, fy * y + cy])
    flat = ti.Vector([across.dot(across), across.dot(down), down.dot(down)])
    area = across.cross(down)  # xx yy - xy^2 would cancel for a needle
    return centre, flat, area.dot(area)


@dt.func
def fisheye(p):
    """Return where a fisheye with the focal length 1 shows a point: its angle from the axis.

    The equidistant projection, as the camera model "fisheye" of gsplat. Up to 1e-6 from the axis
    the first terms of a series, whose derivatives are smooth there.
    """
    r2 = p.x * p.x + p.y * p.y
    factor = (1.0 - r2 / (3.0 * p.z * p.z)) / p.z
    if r2 > _NEAR_AXIS * p.z * p.z:
        r = ti.sqrt(r2)
        factor = ti.atan2(r, p.z) / r
    return ti.Vector([p.x, p.y]) * factor


@dt.func
def bent(p, axes, lens):
    """Return what `flattened` returns, for a fisheye: its map is linearised at p."""
    focal = ti.Vector([lens[0], lens[1]])
    across, down = ti.zero(p), ti.zero(p)
    for k in ti.static(range(3)):
        axis = ti.Vector([axes[0, k], axes[1, k], axes[2, k]])
        moved = focal * dt.fwd_diff(fisheye)(p, axis)
        across[k] = moved.x
        down[k] = moved.y
    centre = focal * fisheye(p) + ti.Vector([lens[2], lens[3]])
    area = across.cross(down)
    flat = ti.Vector([across.dot(across), across.dot(down), down.dot(down)])
    return centre, flat, area.dot(area)


@dt.func
def placed(
    mean,
    scale,
    quaternion,
    rotation,
    translation,
    lens,
    width,
    height,
    raw: ti.template(),
    is_fisheye: ti.template(),
):
    """Return centre, covariance, its determinant and depth of a gaussian as a camera sees it."""
    p = rotation @ mean + translation
    s = scale
    if ti.static(raw):
        s = ti.exp(s)
    axes = rotation @ dt.rotations.quat_to_matrix(quaternion)
    for i, j in ti.static(ti.ndrange(3, 3)):
        axes[i, j] *= s[j]
    centre, flat, det = flattened(p, axes, lens, width, height)
    if ti.static(is_fisheye):
        centre, flat, det = bent(p, axes, lens)
    return centre, flat, det, p.z


@dt.func
def blurred(flat, det, opacity, blur, antialiased):
    """Return a covariance with blur, its determinant, and the compensated opacity."""
    wide = flat + ti.Vector([blur, 0.0, blur])
    det_wide = det + blur * (flat.x + flat.z + blur)
    left = opacity
    if ti.static(antialiased):
        left *= ti.sqrt(max(det / det_wide, MIN_COMPENSATION * MIN_COMPENSATION))
    return wide, det_wide, left


@dt.func
def opacity_of(given, raw):
    """Return an opacity in 0..1."""
    return dt.sigmoid(given) if ti.static(raw) else given


@dt.func
def splat_of(
    mean,
    scale,
    quaternion,
    opacity,
    rotation,
    translation,
    lens,
    width,
    height,
    blur,
    antialiased: ti.template(),
    raw: ti.template(),
    is_fisheye: ti.template(),
):
    """Return centre, blurred covariance, its determinant, opacity and depth of a splat."""
    at, flat, det, z = placed(
        mean, scale, quaternion, rotation, translation, lens, width, height, raw, is_fisheye
    )
    wide, det_wide, left = blurred(flat, det, opacity_of(opacity, raw), blur, antialiased)
    return at, wide, det_wide, left, z


@dt.func
def conic_of(wide, det_wide):
    """Return the inverse of a covariance: its elements xx, xy, yy."""
    return ti.Vector([wide.z, -wide.y, wide.x]) / det_wide


@dt.func
def is_in_range(mean, scale, opacity, rotation, translation, lens, near, far):
    """Return whether a gaussian can be seen by a camera, as far as numbers in space tell."""
    z = (rotation @ mean + translation).z
    sound = is_sound(scale, opacity) and math.isfinite(z)
    return sound and near <= z <= far and lens[0] > 0.0 and lens[1] > 0.0


@dt.func
def box_of(at, wide, det_wide, left, width, height):
    """Return half the sides of the box that holds the visible part of a splat; 0 if it is empty."""
    box = ti.Vector([0, 0])
    finite = math.isfinite(at).all() and math.isfinite(det_wide) and math.isfinite(left)
    if finite and det_wide > 0.0 and left >= MIN_ALPHA:
        reach = min(REACH, ti.sqrt(2.0 * ti.log(left / MIN_ALPHA)))
        rx = min(ti.ceil(reach * ti.sqrt(wide.x)), _LARGEST)
        ry = min(ti.ceil(reach * ti.sqrt(wide.z)), _LARGEST)
        inside = at.x + rx > 0.0 and at.x - rx < width
        if inside and at.y + ry > 0.0 and at.y - ry < height and rx > 0.0 and ry > 0.0:
            box = ti.Vector([ti.cast(rx, ti.i32), ti.cast(ry, ti.i32)])
    return box


@dt.kernel
def cull(
    means,
    scales,
    quaternions,
    opacities,
    rotation,
    translation,
    intrinsics,
    width: int,
    height: int,
    near: float,
    far: float,
    blur: float,
    antialiased: ti.template(),
    raw: ti.template(),
    radii,
):
    """Find the boxes on the image planes of cameras that hold the visible part of gaussians.

    The box is empty for a gaussian that is nearer or farther than allowed, less opaque than 1/255,
    outside the image, or not finite, in space or on the image plane; and for all gaussians if the
    camera is not finite, or its focal lengths are not positive.

    Args:
        means: Centres [scene units], shape (n,) of vec3.
        scales: Standard deviations [scene units], shape (n,) of vec3; their logarithms if `raw`.
        quaternions: Orientations w, x, y, z of any length, shape (n,) of vec4.
        opacities: In 0..1, shape (n,); their logits if `raw`.
        rotation: The rotation from the world to the cameras, see `cameras.Poses`, shape (cameras,
            copies) of mat3.
        translation: The translation [scene units], shape (cameras, copies) of vec3.
        intrinsics: fx, fy, cx, cy [pixels], shape (cameras, copies) of vec4.
        width: The width of the images [pixels].
        height: The height of the images [pixels].
        near: The least depth [scene units].
        far: The largest depth [scene units].
        blur: A variance added on the image plane [pixels^2].
        antialiased: Whether opacities are lowered by as much as the blur adds to the area.
        raw: Whether scales and opacities are given as in files.
        radii: Is set to half the sides of the boxes [pixels], shape (cameras, n) of vec2 of
            integers; 0 for empty boxes.
    """
    for k, c in ti.ndrange(means.shape[0], rotation.shape[0]):
        box = ti.Vector([0, 0])
        mean, scale, opacity = means[k], scales[k], opacities[k]
        turn, shift, lens = rotation[c, 0], translation[c, 0], intrinsics[c, 0]
        if is_in_range(mean, scale, opacity, turn, shift, lens, near, far):
            at, wide, det_wide, left, _ = splat_of(
                mean,
                scale,
                quaternions[k],
                opacity,
                turn,
                shift,
                lens,
                width,
                height,
                blur,
                antialiased,
                raw,
                False,
            )
            box = box_of(at, wide, det_wide, left, width, height)
        radii[c, k] = box


@dt.kernel
def project(
    means,
    scales,
    quaternions,
    opacities,
    rotation,
    translation,
    intrinsics,
    width: int,
    height: int,
    blur: float,
    antialiased: ti.template(),
    raw: ti.template(),
    radii,
    moved,
    centres,
    conics,
    covers,
    depths,
):
    """Project the gaussians whose box in `cull` is not empty; the others are set to zero.

    Args:
        means: Centres; up to `raw` see `cull`.
        scales: Standard deviations.
        quaternions: Orientations.
        opacities: Opacities.
        rotation: The rotation from the world to the cameras.
        translation: The translation from the world to the cameras.
        intrinsics: The intrinsics of the cameras.
        width: The width of the images.
        height: The height of the images.
        blur: A variance added on the image plane.
        antialiased: Whether opacities are compensated for it.
        raw: Whether scales and opacities are given as in files.
        radii: The result of `cull`, shape (cameras, n) of vec2 of integers.
        moved: An offset added to the centres, shape (cameras, n) of vec2, which receives their
            gradient; or None.
        centres: Is set [pixels], shape (cameras, n) of vec2.
        conics: Is set to the inverse covariances xx, xy, yy, shape (cameras, n) of vec3.
        covers: Is set to the opacities, shape (cameras, n).
        depths: Is set to the depths in front of the cameras [scene units], shape (cameras, n).
    """
    for k, c in ti.ndrange(means.shape[0], rotation.shape[0]):
        centre = ti.zero(centres[c, k])
        conic = ti.zero(conics[c, k])
        cover = 0.0
        depth = 0.0
        if radii[c, k].x > 0:
            copy = k % rotation.shape[1]
            at, wide, det_wide, left, z = splat_of(
                means[k],
                scales[k],
                quaternions[k],
                opacities[k],
                rotation[c, copy],
                translation[c, copy],
                intrinsics[c, copy],
                width,
                height,
                blur,
                antialiased,
                raw,
                False,
            )
            centre = at
            if ti.static(moved is not None):
                centre += moved[c, k]
            conic = conic_of(wide, det_wide)
            cover = left
            depth = z
        centres[c, k] = centre
        conics[c, k] = conic
        covers[c, k] = cover
        depths[c, k] = depth
