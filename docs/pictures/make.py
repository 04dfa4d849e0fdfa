"""Make the picture of README.md again: `make demo`, then `.venv/bin/python docs/pictures/make.py`.

The picture is the animation of the demo mass-spring, with fewer pixels and colours.
"""

from pathlib import Path

import numpy as np
from PIL import Image, ImageSequence

SOURCE = Path("out/mass_spring/walk.gif")
PICTURE = Path(__file__).with_name("walk.gif")
WIDTH = 480  # pixels; two thirds of the original, and still sharp
COLOURS = 64


def make(source: Path = SOURCE, picture: Path = PICTURE) -> None:
    """Write a small version of an animation.

    Args:
        source: The animation that a demo wrote.
        picture: The GIF to write.
    """
    small, durations = [], []
    with Image.open(source) as animation:
        size = WIDTH, round(WIDTH * animation.height / animation.width)
        for frame in ImageSequence.Iterator(animation):
            small.append(frame.convert("RGB").resize(size, Image.Resampling.LANCZOS))
            durations.append(frame.info["duration"])
    # One palette for all frames, and no dithering: pixels that do not change cost nothing.
    everything = Image.fromarray(np.concatenate([np.asarray(frame) for frame in small]))
    palette = everything.quantize(COLOURS, Image.Quantize.MAXCOVERAGE)
    drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in small]
    drawn[0].save(picture, append_images=drawn[1:], save_all=True, duration=durations, loop=0)


if __name__ == "__main__":
    make()
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1e3:.0f} kB")
