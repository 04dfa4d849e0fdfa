"""The pictures and depth maps of a data set, all decoded once before they are needed."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat

from difftile.datasets.dataset import Dataset, View
from difftile.datasets.faults import check_pictures
from difftile.datasets.images import check_picture
from difftile.diagnostics import DatasetError
from difftile.progress import progress_bar

_THREADS = 8


def verify(
    data: Dataset, *, depths: bool = False, masks: bool = False, progress: bool = False
) -> None:
    """Decode the pictures of all views, in several threads, and report all faulty ones together.

    Args:
        data: The data set.
        depths: Whether to read the depth maps of views that have one, too.
        masks: Whether to read the masks of views that have one, too, of which a pixel has to count.
        progress: Whether to show a progress bar, if stderr is a terminal.

    Raises:
        DatasetError: Pictures or maps cannot be read, or pictures have other sizes than when the
            data set was loaded; they are counted, and the first ten named.
    """
    by_path = {
        (view.path, view.depth if depths else None, view.mask_file if masks else None): view
        for view in data.views
    }
    faults: list[DatasetError] = []
    pool = ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1))
    with progress_bar(
        total=len(by_path), unit="picture", desc="verify", leave=False, shown=progress
    ) as bar:
        try:
            for fault in pool.map(_fault_of, by_path.values(), repeat(depths), repeat(masks)):
                bar.update()
                if fault is not None:
                    faults.append(fault)
        finally:  # also for Ctrl-C
            pool.shutdown(cancel_futures=True)
    check_pictures(data.folder, faults, len(by_path))


def _fault_of(view: View, depths: bool, masks: bool) -> DatasetError | None:
    try:
        width, height = check_picture(view.path)
        view.check_size(width, height)
        if depths and view.depth is not None:
            view.depths()
        if masks and view.mask_file is not None:
            view.mask(empty=False)
    except DatasetError as error:
        return error
    return None
