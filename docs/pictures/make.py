"""Make the pictures of README.md and of the gallery again, from those that the demos wrote.

Run the demos with their default options first, `make demo DEMO=NAME` for each, then
`.venv/bin/python docs/pictures/make.py`. A demo without pictures in `out/` keeps the one it has.
"""

from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, ImageSequence

OUT = Path("out")
PICTURES = Path(__file__).parent
WIDTH = 480  # pixels of the animation; two thirds of the original, and still sharp
COLOURS = 64
SIZE = 200, 200  # pixels of a picture of the gallery
SHADES = 128

Box = tuple[int, int, int, int]  # left, top, right and bottom [pixels]


def image(column: int, row: int = 0, height: float = 1.0, margin: int = 1) -> Box:
    """Return where an image stands in a strip, its height relative to its width, less a margin."""
    side, title, name, gap = 253, 33, 35, 9
    top, left = round(title + row * (side * height + title)), name + column * (side + gap)
    bottom, right = top + round(side * height), left + side
    return left + margin, top + margin, right - margin, bottom - margin


# The file of a demo, whose last frame counts, and the part of it that is shown.
IMAGES: dict[str, tuple[str, Box]] = {
    "brdf-fit": ("strip.png", image(2)),
    "fit-image": ("strip.png", image(2)),
    "fit-mesh": ("views.png", image(1, 2)),
    "fit-splats": ("strip.png", image(2, 0, 0.75)),
    "fit-texture": ("strip.png", image(2)),
    "path-replay": ("strip.png", image(2)),
    "sdf-torus": ("strip.png", image(2)),
    "smoke": ("before_after.png", image(4)),
    "soft-raster": ("strip.png", image(2)),
    "volume-grid": ("strip.png", image(2)),
    "volume-renderer": ("before_after.png", image(1, 1, margin=36)),
    "water-renderer": ("before_after.png", image(4)),
    "wave": ("before_after.png", image(4)),
}
DRAWINGS: dict[str, tuple[str, Box]] = {
    "ant-policy": ("strip.png", (505, 75, 755, 250)),
    "arm-throw": ("strip.png", (1000, 65, 1250, 275)),
    "billiards": ("billiards.gif", (24, 323, 484, 558)),
    "biped-balance": ("strip.png", (735, 65, 985, 240)),
    "box-friction": ("strip.png", (190, 540, 400, 668)),
    "chain-drape": ("chain.png", (60, 30, 450, 400)),
    "cloth": ("cloth.gif", (665, 85, 855, 275)),
    "cloth-newton": ("cloth.gif", (27, 70, 880, 605)),
    "dam-break": ("dam.gif", (264, 40, 484, 260)),
    "diffmpm": ("motion.gif", (150, 213, 390, 341)),
    "diffmpm3d": ("motion.gif", (190, 238, 470, 392)),
    "echoes": ("rooms.png", (428, 60, 750, 305)),
    "electric": ("chase.gif", (364, 25, 693, 354)),
    "hopper-plan": ("strip.png", (600, 40, 900, 340)),
    "implicit-equilibrium": ("strip.png", (0, 10, 680, 700)),
    "implicit-fluid": ("smoke.gif", (5, 25, 392, 413)),
    "lennard-jones": ("fluid.png", (0, 20, 480, 500)),
    "mass-spring": ("walk.gif", (450, 350, 690, 590)),
    "mpm-velocity": ("throw.gif", (264, 40, 484, 260)),
    "newton-spring": ("arm.png", (10, 8, 760, 525)),
    "policy": ("walk.gif", (440, 335, 690, 585)),
    "rigid-body": ("crawl.gif", (250, 264, 483, 444)),
    "soft-drop": ("throws.png", (100, 208, 242, 350)),
}


def make_picture(source: Path, box: Box, picture: Path) -> None:
    """Cut a picture out of a file of a demo; images fill it, drawings have a white margin."""
    with Image.open(source) as whole:
        whole.seek(getattr(whole, "n_frames", 1) - 1)
        part = whole.convert("RGB").crop(box)
    if picture.stem in IMAGES:
        fitted = ImageOps.fit(part, SIZE)
    else:
        fitted = ImageOps.pad(part, SIZE, color="white")
    fitted.quantize(SHADES, dither=Image.Dither.NONE).save(picture, optimize=True)


def make_animation(source: Path, picture: Path) -> None:
    """Write a small version of an animation."""
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


def make(out: Path = OUT, pictures: Path = PICTURES) -> list[Path]:
    """Write the pictures of all demos that have written theirs.

    Args:
        out: The folder in which each demo has one.
        pictures: The folder to write to.

    Returns:
        The written files.
    """
    written: list[Path] = []
    for demo, (name, box) in (IMAGES | DRAWINGS).items():
        source = out / demo.replace("-", "_") / name
        if source.exists():
            written.append(pictures / f"{demo}.png")
            make_picture(source, box, written[-1])
    walk = out / "mass_spring" / "walk.gif"
    if walk.exists():
        written.append(pictures / "walk.gif")
        make_animation(walk, written[-1])
    return written


if __name__ == "__main__":
    for file in make():
        print(f"{file}: {file.stat().st_size / 1e3:.0f} kB")
