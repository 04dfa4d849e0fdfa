"""Programs short enough to read as a tutorial; each runs headless and writes its pictures."""

import os

# Taichi announces itself when imported, and a demo imports it before difftile can ask it not to.
os.environ.setdefault("ENABLE_TAICHI_HEADER_PRINT", "0")
