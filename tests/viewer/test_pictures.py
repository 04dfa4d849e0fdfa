"""Pictures for canvases of other shapes."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("viser", reason="pip install 'difftile[viewer]'", exc_type=ImportError)

from difftile.viewer.backends.page_pictures import framed, sheet
from difftile.viewer.theme import BACKGROUND

PICTURE = np.random.default_rng(0).integers(30, 256, (60, 90, 3), np.uint8)


@pytest.mark.parametrize(("aspect", "size"), [(3.0, (180, 60)), (0.5, (90, 180)), (1.5, (90, 60))])
def test_a_picture_is_in_the_middle_of_a_canvas_of_another_shape(
    aspect: float, size: tuple[int, int]
) -> None:
    whole = framed(PICTURE, aspect)
    width, height = size
    assert sheet(90, 60, aspect) == size
    assert whole.shape == (height, width, 3)
    rows = slice((height - 60) // 2, (height + 60) // 2)
    columns = slice((width - 90) // 2, (width + 90) // 2)
    np.testing.assert_array_equal(whole[rows, columns], PICTURE)
    margin = np.ones((height, width), bool)
    margin[rows, columns] = False
    assert (whole[margin] == BACKGROUND).all()


def test_a_canvas_of_nearly_the_same_shape_stretches_the_picture() -> None:
    assert framed(PICTURE, 1.51) is PICTURE
