"""`dt.datasets`: scenes in files: splats, cameras and images."""

from difftile.datasets.dataset import Dataset, Points, View
from difftile.datasets.files import read_splats, write_splats
from difftile.datasets.images import read_image
from difftile.datasets.load import load
from difftile.datasets.splats import Splats
from difftile.datasets.verify import verify

__all__ = [
    "Dataset",
    "Points",
    "Splats",
    "View",
    "load",
    "read_image",
    "read_splats",
    "verify",
    "write_splats",
]
