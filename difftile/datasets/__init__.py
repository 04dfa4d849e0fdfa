"""`dt.datasets`: scenes as files: splats, cameras, pictures."""

from difftile.datasets.files import read_splats, write_splats
from difftile.datasets.load import load
from difftile.datasets.pictures import read_image
from difftile.datasets.splats import Splats
from difftile.datasets.views import Dataset, Points, View

__all__ = [
    "Dataset",
    "Points",
    "Splats",
    "View",
    "load",
    "read_image",
    "read_splats",
    "write_splats",
]
