"""`dt.render.rasterize`: the triangles that the pixels of cameras show."""

from __future__ import annotations

import math
from typing import Any

import difftile as dt
from difftile import ti
from difftile.diagnostics import FieldError, counted
from difftile.render.antialiasing import blend
from difftile.render.cameras import PINHOLE, Cameras, Poses
from difftile.render.checks import check_integers, check_range
from difftile.render.edge_samples import EdgeSamples
from difftile.render.homogeneous import project, seen_from, side, side_changes
from difftile.render.raster_search import Search, sources_of
from difftile.tracebacks import boundary

vec2 = ti.math.vec2


@dt.data_oriented
class Raster:
    """The triangles that the pixels of cameras show, as kernels ask for them.

    `hit`, `interpolate` and `changes` are funcs. Which triangle a pixel shows has no derivative;
    depths, weights and attributes are computed from it, with derivatives to the vertices of the
    mesh, to the poses and intrinsics of cameras, and to attributes. What silhouettes cover has them
    by `antialias`, or by `add_edges`.

    The triangles follow the vertices and the cameras: before a kernel or Python reads them after a
    change, they are found again.

    Attributes:
        mesh: The mesh.
        cameras: The cameras.
        faces: The triangles of pixels, or -1, shape (layers, cameras, height, width): in layer 0
            the nearest ones, then those behind.
    """

    def __init__(
        self, mesh: dt.geometry.Mesh, cameras: Cameras, layers: int, near: float, far: float
    ) -> None:
        self.mesh, self.cameras = mesh, cameras
        self.near, self.far = near, far
        sources = sources_of(mesh, cameras)
        number = mesh.vertices.numpy_dtype
        self.poses = Poses(len(cameras), number, grad=cameras.has_grads)
        self.projected = dt.DerivedField(
            dt.vec(3, number), (len(cameras), mesh.vertices.shape[-1]), sources, self._project
        )
        shape = layers, len(cameras), cameras.height, cameras.width
        constants = [one.detach() for one in sources]
        self.faces = dt.DerivedField(ti.i32, shape, constants, self._find)
        self._search = Search(mesh, cameras, near, far, self.faces)
        self._edges = EdgeSamples(self)

    def _project(self, projected: Any) -> None:
        self.poses.set(self.cameras)
        camera = self.poses.rotation, self.poses.translation, self.poses.intrinsics
        project(self.mesh.vertices, *camera, projected)

    def _find(self, _: Any) -> None:
        self._search()

    @dt.func
    def hit(self, camera, row, column, layer=0):
        """Return what the middle of a pixel shows.

        Args:
            camera: The camera.
            row: The row of the pixel.
            column: Its column.
            layer: 0 for the nearest triangle, 1 for the next one behind it.

        Returns:
            A struct: `face`, -1 for none, `u` and `v`, the weights of its second and third vertex
            in space, `depth`, infinite for none, `right` and `down`, the changes of (u, v) from
            pixel to pixel, and `front`, whether the outside of the face is seen.
        """
        return self.measure(camera, column + 0.5, row + 0.5, self.faces[layer, camera, row, column])

    @dt.func
    def measure(self, camera, x, y, face):
        """Return where a point of an image is on the plane of a triangle, as `hit` does.

        Args:
            camera: The camera.
            x: The column of the point [pixels].
            y: Its row.
            face: The triangle, -1 for none.
        """
        u, v, depth, front = 0.0 * x, 0.0 * x, 0.0 * x + math.inf, False
        right, down = vec2(0.0, 0.0), vec2(0.0, 0.0)
        if face >= 0:
            at = self.mesh.faces[face]
            p = seen_from(self.projected, camera, at[0], x, y)
            q = seen_from(self.projected, camera, at[1], x, y)
            r = seen_from(self.projected, camera, at[2], x, y)
            of_p, of_q, of_r = side(q, r), side(r, p), side(p, q)
            whole = of_p + of_q + of_r
            if whole != 0.0:
                front = whole < 0.0
                u, v = of_q / whole, of_r / whole
                depth = (of_p * p[2] + of_q * q[2] + of_r * r[2]) / whole
                by_q, by_r = side_changes(r, p), side_changes(p, q)
                by = side_changes(q, r) + by_q + by_r
                u_by, v_by = (by_q - u * by) / whole, (by_r - v * by) / whole
                right, down = vec2(u_by[0], v_by[0]), vec2(u_by[1], v_by[1])
        return ti.Struct(face=face, u=u, v=v, depth=depth, right=right, down=down, front=front)

    @dt.func
    def interpolate(self, attribute, hit, faces=None):
        """Return an attribute of vertices at a hit, in perspective.

        Args:
            attribute: A field of numbers or vectors, one for each vertex.
            hit: A hit that has a face.
            faces: The elements of the attribute at the corners of each triangle, a field of vectors
                of three integers; by default the vertices of the mesh.
        """
        at = self.corners_of(hit.face, faces)
        a, b, c = attribute[at[0]], attribute[at[1]], attribute[at[2]]
        return a + hit.u * (b - a) + hit.v * (c - a)

    @dt.func
    def changes(self, attribute, hit, faces=None):
        """Return the changes of an attribute to the next pixel on the right, and below.

        With them `texture.sample_grad` finds the level of detail. The arguments are those of
        `interpolate`.
        """
        at = self.corners_of(hit.face, faces)
        a = attribute[at[0]]
        by_u, by_v = attribute[at[1]] - a, attribute[at[2]] - a
        right, down = hit.right, hit.down
        return right[0] * by_u + right[1] * by_v, down[0] * by_u + down[1] * by_v

    @dt.func
    def corners_of(self, face, faces):
        """Return the numbers of the corners of a triangle, in the mesh or other faces."""
        at = self.mesh.faces[face]
        if ti.static(faces is not None):
            at = faces[face]
        return at

    @boundary
    def antialias(self, image: dt.Field, layer: int = 0) -> dt.Field:
        """Return an image whose silhouettes are smooth, with derivatives to what moves them.

        Where neighbours show different surfaces and one of them ends in between, the two pixels are
        blended by the areas on both sides of the edge. For straight edges between even colours this
        is the mean over each pixel. Edges at which two surfaces cross, and those of `near`, stay.

        Args:
            image: Colours, numbers or vectors, shape (cameras, height, width).
            layer: The layer that the image shows.

        Raises:
            FieldError: The image has another shape, or there is no such layer.
        """
        self._check(image)
        if not 0 <= layer < self.faces.shape[0]:
            raise FieldError(f"antialias: layers are 0 to {self.faces.shape[0] - 1}, not {layer}.")
        out = dt.zeros(image.shape, image.dtype, grad=image.has_grads or self.projected.has_grads)
        mesh = self.mesh
        blend(self.projected, mesh.faces, mesh.adjacent, self.faces, layer, image, out)
        return out

    @boundary
    def add_edges(self, image: dt.Field, shade: Any, samples: float = 4.0) -> None:
        """Add to an image the derivatives of its pixels by what silhouettes sweep, and no value.

        In expectation they are the derivatives of the means over pixels, for any number of edges in
        a pixel, whatever hides them. The colours on both sides of each sample come from `shade`, at
        points that rays find: this takes as long as two rays for each sample, and a new tree.

        Args:
            image: Colours, numbers or vectors, shape (cameras, height, width).
            shade: A func of a camera and a hit, which may have no face, that returns a colour.
            samples: The number of samples on a pixel's length of an edge.

        Raises:
            FieldError: The image has another shape, or `samples` is not positive.
        """
        self._check(image)
        check_range("add_edges", FieldError, 0.0, open=True, samples=samples)
        self._edges.add(image, shade, float(samples))

    def _check(self, image: dt.Field) -> None:
        if image.shape != self.faces.shape[1:]:
            raise FieldError(
                f"An image of {self!r} has the shape {self.faces.shape[1:]}, not {image.shape}."
            )

    def __reduce__(self) -> Any:
        return Raster, (self.mesh, self.cameras, self.faces.shape[0], self.near, self.far)

    def __repr__(self) -> str:
        return f"<raster of {self.mesh!r} for {self.cameras!r}>"


@boundary
def rasterize(
    mesh: dt.geometry.Mesh,
    cameras: Cameras,
    *,
    layers: int = 1,
    near: float = 0.01,
    far: float = 1e10,
) -> Raster:
    """Return the triangles that the pixels of cameras show.

    A pixel shows a triangle if its middle is inside or on an edge; of several the nearest one, and
    at the same depth, compared in single precision, the one with the lowest number. Triangles
    without area, as the camera sees them, and those with a corner that is not finite are not shown.
    Both sides of triangles are.

    Args:
        mesh: The mesh. Of a mesh with several worlds camera k sees world k.
        cameras: The cameras, of the same precision.
        layers: The number of triangles of a pixel that are found, one behind the other.
        near: The least depth that is shown [scene units].
        far: The largest depth.

    Raises:
        FieldError: Cameras are not pinholes; the precisions differ, or the numbers of worlds and
            cameras; no depths are between `near` and `far`, or `layers` is not from 1 to 256.
    """
    if cameras.model != PINHOLE:
        raise FieldError(
            f"rasterize: edges of triangles are straight in a pinhole, not in {cameras}."
        )
    number, seen = mesh.vertices.numpy_dtype, cameras.twist.numpy_dtype
    if number != seen:
        raise FieldError(
            f"rasterize: the vertices are in {number}, and the cameras in {seen}; make both with "
            "one dtype."
        )
    worlds = mesh.vertices.shape[0] if len(mesh.vertices.shape) == 2 else len(cameras)
    if worlds != len(cameras):
        raise FieldError(
            f"rasterize: camera k sees world k, and there are {worlds} worlds and "
            f"{counted(len(cameras), 'camera')}."
        )
    check_integers("rasterize", FieldError, 256, layers=layers)
    check_range("rasterize", FieldError, 0.0, open=True, near=near)
    check_range("rasterize", FieldError, near, open=True, far=far)
    return Raster(mesh, cameras, layers, float(near), float(far))
