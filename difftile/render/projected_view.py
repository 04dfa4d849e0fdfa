"""Gaussians as cameras see them: boxes, splats and colours in one launch, `see`.

A launch reads each gaussian once for each camera. Its derivative is a rule, which reads each
gaussian once, skips cameras that do not see it, and writes each gradient once, summed over the
cameras. It consists of the derivatives of the functions that the launch is made of.
"""

from __future__ import annotations

import math

import difftile as dt
from difftile import ti
from difftile.render.ewa import box_of, conic_of, is_in_range, splat_of
from difftile.render.harmonics import BAND0, harmonics, is_finite, lit, spherical_harmonics
from difftile.textures.directions import unit


@dt.func
def _toward(mean, place):
    """Return the direction from a camera to a gaussian."""
    return unit(mean - place)


@dt.func
def _sum_bar(degree, d, sh0, shN, k, colour, colour_bar):
    """Return the adjoint of the sum of harmonics, given the adjoint of the colour.

    Only where the colour is 0 it takes the sum to tell what the clamp has done.
    """
    found = colour_bar
    if colour.min() <= 0.0:
        found = dt.bwd_diff(lit)(spherical_harmonics(degree, d, sh0, shN, k), colour_bar)
    return found


@dt.kernel
def see(
    means,
    scales,
    quaternions,
    opacities,
    sh0,
    shN,
    features,
    rotation,
    translation,
    places,
    intrinsics,
    width: int,
    height: int,
    near: float,
    far: float,
    blur: float,
    antialiased: ti.template(),
    degree: ti.template(),
    posed: ti.template(),
    single: ti.template(),
    in_order: ti.template(),
    is_fisheye: ti.template(),
    radii,
    moved,
    centres,
    conics,
    covers,
    depths,
    colours,
):
    """Find the boxes, the splats and the colours of gaussians, all 0 for those not seen.

    This is `cull`, `project` and `shade` for gaussians as in files. A gaussian is left out as well
    if its colour is not finite.

    Args:
        means: Centres [scene units], shape (n,) of vec3.
        scales: Logarithms of standard deviations, shape (n,) of vec3.
        quaternions: Orientations w, x, y, z of any length, shape (n,) of vec4.
        opacities: Logits, shape (n,).
        sh0: The coefficients of band 0, shape (n,) of vectors; None if there are features.
        shN: Coefficients of the other bands, shape (n, 3, 8 or 15) of vectors; None for degree 0.
        features: Colours in all directions, shape (n,) of vectors; or None.
        rotation: The rotation from the world to the cameras, see `cameras.Poses`, shape (cameras,
            copies) of mat3.
        translation: The translation [scene units], shape (cameras, copies) of vec3.
        places: The positions of the cameras, shape (cameras, copies) of vec3.
        intrinsics: fx, fy, cx, cy [pixels], shape (cameras, copies) of vec4.
        width: The width of the images [pixels].
        height: The height of the images [pixels].
        near: The least depth [scene units].
        far: The largest depth [scene units].
        blur: A variance added on the image plane [pixels^2].
        antialiased: Whether opacities are lowered by as much as the blur adds to the area.
        degree: The last band of harmonics, 0 to 3.
        posed: Whether the cameras have gradients. All copies hold the same; gaussians add to the
            gradients of the copies in turn.
        single: Whether there is one camera, and nothing to be summed over several.
        in_order: Whether the rule writes the gradients of `shN` in a loop of their own, in the
            order of memory. A GPU writes numbers of neighbours faster, and has no registers for
            sums of so many; a CPU would compute the harmonics again for each.
        is_fisheye: Whether the cameras are fisheyes, and not pinholes.
        radii: Is set to half the sides of the boxes [pixels], shape (cameras, n) of vec2 of
            integers.
        moved: An offset added to the centres, shape (cameras, n) of vec2, which receives their
            gradient.
        centres: Is set [pixels], shape (cameras, n) of vec2.
        conics: Is set to the inverse covariances xx, xy, yy, shape (cameras, n) of vec3.
        covers: Is set to the opacities, shape (cameras, n).
        depths: Is set to the depths in front of the cameras [scene units], shape (cameras, n).
        colours: Is set, shape (cameras, n) of vectors.
    """
    for c, k in ti.ndrange(rotation.shape[0], means.shape[0]):
        box = ti.Vector([0, 0])
        centre = ti.zero(centres[c, k])
        conic = ti.zero(conics[c, k])
        cover = 0.0
        depth = 0.0
        colour = ti.zero(colours[c, k])
        mean, scale, opacity = means[k], scales[k], opacities[k]
        turn, shift, lens = rotation[c, 0], translation[c, 0], intrinsics[c, 0]
        if is_in_range(mean, scale, opacity, turn, shift, lens, near, far):
            at, wide, det_wide, left, z = splat_of(
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
                True,
                is_fisheye,
            )
            found = box_of(at, wide, det_wide, left, width, height)
            if found.x > 0:
                plain = ti.zero(colour)
                finite = False
                if ti.static(features is not None):
                    plain = features[k]
                    finite = math.isfinite(plain).all()
                else:
                    finite = is_finite(degree, sh0, shN, k)
                    d = _toward(mean, places[c, 0])
                    plain = lit(spherical_harmonics(degree, d, sh0, shN, k))
                if finite:
                    box = found
                    centre = at + moved[c, k]
                    conic = conic_of(wide, det_wide)
                    cover = left
                    depth = z
                    colour = plain
        radii[c, k] = box
        centres[c, k] = centre
        conics[c, k] = conic
        covers[c, k] = cover
        depths[c, k] = depth
        colours[c, k] = colour


@see.backward
@dt.kernel
def _(
    means,
    scales,
    quaternions,
    opacities,
    sh0,
    shN,
    features,
    rotation,
    translation,
    places,
    intrinsics,
    width: int,
    height: int,
    near: float,
    far: float,
    blur: float,
    antialiased: ti.template(),
    degree: ti.template(),
    posed: ti.template(),
    single: ti.template(),
    in_order: ti.template(),
    is_fisheye: ti.template(),
    radii,
    moved,
    centres,
    conics,
    covers,
    depths,
    colours,
):
    for k in range(means.shape[0]):
        mean, scale, quaternion, opacity = means[k], scales[k], quaternions[k], opacities[k]
        d_mean = ti.zero(mean)
        d_scale = ti.zero(scale)
        d_quaternion = ti.zero(quaternion)
        d_opacity = 0.0
        d_colour = ti.zero(colours[0, k])
        # The coefficients of other bands are many: their sums take more registers than there are.
        way = ti.zero(mean)
        d_rest = ti.zero(harmonics(max(degree, 1), mean)).outer_product(d_colour)
        for c in range(1 if ti.static(single) else rotation.shape[0]):
            d_centre = ti.zero(centres[c, k])
            if radii[c, k].x > 0:
                d_centre = centres.grad_in[c, k]
                turn, shift, lens = rotation[c, 0], translation[c, 0], intrinsics[c, 0]
                shape = (width, height, blur, antialiased, True, is_fisheye)
                _, wide, det_wide, _, _ = splat_of(
                    mean, scale, quaternion, opacity, turn, shift, lens, *shape
                )
                d_wide, d_det = dt.bwd_diff(conic_of)(wide, det_wide, conics.grad_in[c, k])
                bars = (d_centre, d_wide, d_det, covers.grad_in[c, k], depths.grad_in[c, k])
                found = dt.bwd_diff(splat_of)(
                    mean, scale, quaternion, opacity, turn, shift, lens, *shape, bars
                )
                d_mean += found[0]
                d_scale += found[1]
                d_quaternion += found[2]
                d_opacity += found[3]
                seed = colours.grad_in[c, k]
                d_place = ti.zero(mean)
                if ti.static(features is not None):
                    d_colour += seed
                else:
                    place = places[c, 0]
                    d = _toward(mean, place)
                    seed = _sum_bar(degree, d, sh0, shN, k, colours[c, k], seed)
                    d_colour += seed
                    if ti.static(degree >= 1):
                        weights = harmonics(degree, d)
                        d_weights = ti.zero(weights)
                        for j in ti.static(range((degree + 1) ** 2 - 1)):
                            d_weights[j] = shN[k, j].dot(seed)
                            if ti.static(not (single or in_order)):
                                d_rest[j, :] += weights[j] * seed
                        way = d
                        d_d = dt.bwd_diff(harmonics)(degree, d, d_weights)
                        from_mean, d_place = dt.bwd_diff(_toward)(mean, place, d_d)
                        d_mean += from_mean
                if ti.static(posed):
                    copy = k % rotation.shape[1]
                    rotation.grad_out[c, copy] += found[4]
                    translation.grad_out[c, copy] += found[5]
                    intrinsics.grad_out[c, copy] += found[6]
                    places.grad_out[c, copy] += d_place
            moved.grad_out[c, k] += d_centre
        means.grad_out[k] += d_mean
        scales.grad_out[k] += d_scale
        quaternions.grad_out[k] += d_quaternion
        opacities.grad_out[k] += d_opacity
        if ti.static(features is not None):
            features.grad_out[k] += d_colour
        else:
            sh0.grad_out[k] += BAND0 * d_colour
            if ti.static(degree >= 1 and not in_order):
                weights = harmonics(degree, way)
                for j in ti.static(range((degree + 1) ** 2 - 1)):
                    shN.grad_out[k, j] += (
                        weights[j] * d_colour if ti.static(single) else d_rest[j, :]
                    )
    if ti.static(features is None and degree >= 1 and in_order):
        for k, j in ti.ndrange(means.shape[0], (degree + 1) ** 2 - 1):
            d_coefficient = ti.zero(colours[0, k])
            for c in range(1 if ti.static(single) else rotation.shape[0]):
                if radii[c, k].x > 0:
                    d = _toward(means[k], places[c, 0])
                    weights = harmonics(degree, d)
                    weight = weights[0]
                    for other in ti.static(range(1, (degree + 1) ** 2 - 1)):
                        weight = ti.select(j == other, weights[other], weight)
                    seed = colours.grad_in[c, k]
                    seed = _sum_bar(degree, d, sh0, shN, k, colours[c, k], seed)
                    d_coefficient += weight * seed
            shN.grad_out[k, j] += d_coefficient
